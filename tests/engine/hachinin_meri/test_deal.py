"""H6–H14: seats, the deal, the declaration, the Okie, the opening lead."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.game import BadDeck, Card, IllegalAction, Seat
from engine.game import Why as Shared
from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri.cards import CARDS
from engine.hachinin_meri.types import (
    AsideShown,
    Dealt,
    Declared,
    Discarded,
    DiscardRule,
    HouseRules,
    OkieTaken,
    Phase,
    TrickLed,
    Why,
)
from engine.match import Need, act, begin, deal
from tests.engine.hachinin_meri.positions import ALL_SEATS, answered, dealt, events_of, legal, moved, words


def test_H6_even_seats_against_odd_ones_and_left_is_the_next_number() -> None:
    assert [GAME.side(seat) for seat in ALL_SEATS] == [0, 1] * 4
    assert dealt("K5", dealer=7).table.dealer == 7
    state = moved(answered(dealt("K5", {7: "P1 P2"}, dealer=7)), "-P2 P1")
    assert state.table.turn == 0


@pytest.mark.parametrize("deals", GAME.options["deals"])
def test_H7_a_match_has_its_number_of_deals_and_the_deal_moves_left(deals: int) -> None:
    rng = Random(deals)
    match = begin(GAME, {"deals": deals})
    dealers = []
    while match.need is Need.DECK:
        match = deal(GAME, match, rng.sample(GAME.cards, 75), Seat(5)).match
        dealers.append(match.state.table.dealer)
        while match.need is Need.ACTION:
            seat = min(GAME.awaiting(match.state))
            match = act(GAME, match, seat, rng.choice(GAME.legal_at(match.state, seat))).match
    assert dealers == [(5 + number) % 8 for number in range(deals)]
    assert sum(match.totals) == 9 * deals


def test_H7_level_totals_are_a_draw() -> None:
    rng = Random(2)
    winners = set()
    for _ in range(40):
        match = begin(GAME, {"deals": 2})
        while match.need is not Need.NOTHING:
            if match.need is Need.DECK:
                progress = deal(GAME, match, rng.sample(GAME.cards, 75), Seat(0))
            else:
                seat = min(GAME.awaiting(match.state))
                progress = act(GAME, match, seat, rng.choice(GAME.legal_at(match.state, seat)))
            match = progress.match
        even, odd = match.totals
        winner = progress.events[-1].winner
        assert winner == (None if even == odd else int(odd > even))
        winners.add(winner)
    assert winners == {None, 0, 1}


@pytest.mark.parametrize("first", range(8))
def test_H7_the_first_dealer_is_drawn_or_named_by_the_option(first: int) -> None:
    assert GAME.first_beginner(GAME.complete_options({}), Seat(first)) == first
    assert GAME.first_beginner(GAME.complete_options({"first_dealer": first}), Seat(3)) == first


@pytest.mark.parametrize("dealer", range(8))
def test_H8_three_packets_of_three_from_the_dealers_left_then_okie_and_side_cards(dealer: int) -> None:
    state = GAME.deal(GAME.complete_options({}), CARDS, Seat(dealer)).state
    left = (dealer + 1) % 8
    assert state.hands[left] == tuple(sorted((*CARDS[0:3], *CARDS[24:27], *CARDS[48:51])))
    assert state.hands[(left + 1) % 8] == tuple(sorted((*CARDS[3:6], *CARDS[27:30], *CARDS[51:54])))
    assert state.hands[dealer] == tuple(sorted((*CARDS[21:24], *CARDS[45:48], *CARDS[69:72])))
    assert (state.table.okie, state.table.side) == (CARDS[72], (CARDS[73], CARDS[74]))


def test_H8_a_deck_that_is_no_permutation_is_refused() -> None:
    for deck in (CARDS[:-1], (*CARDS[:-1], CARDS[0]), (*CARDS, CARDS[0])):
        with pytest.raises(BadDeck):
            GAME.deal(GAME.complete_options({}), deck, Seat(0))


@pytest.mark.parametrize("okie", ["Psu", "I1", "Kro", "O9", "Gka"])
def test_H9_the_suit_printed_on_the_okie_is_trump(okie: str) -> None:
    assert dealt(okie).table.trump == okie[0]


def test_H9_H11_case_tenka_as_okie_makes_pao_trump_and_the_dealer_takes_it() -> None:
    """— | the Okie is Pro | trump Pao, the dealer takes it."""
    state = dealt("Pro", dealer=3)
    assert state.table.trump == "P"
    assert all(legal(state, seat) == ["pass"] for seat in ALL_SEATS)
    assert answered(state).table.taker == 3


def test_H10_every_seat_is_asked_and_only_the_holder_of_the_native_robai_can_declare() -> None:
    state = dealt("K5", {4: "Kro", 2: "Pro"})
    assert GAME.awaiting(state) == frozenset(ALL_SEATS)
    assert [seat for seat in ALL_SEATS if legal(state, seat) != ["pass"]] == [4]
    assert legal(state, 4) == ["declare", "pass"]
    refusal = GAME.why(GAME.view(state, Seat(2)), GAME.parse("declare"))
    assert refusal is not None
    assert (refusal.code, refusal.params) == (Why.ONLY_ROBAI_DECLARES, {"robai": "Kro"})


def test_H10_answers_come_in_any_order_make_no_event_and_leave_no_trace() -> None:
    state = dealt("K5", {4: "Kro"})
    before = [GAME.view(state, viewer) for viewer in (None, *ALL_SEATS)]
    for count, seat in enumerate(map(Seat, (4, 7, 0, 3, 1, 6, 2)), 1):
        step = GAME.apply(state, seat, GAME.parse("declare" if seat == 4 else "pass"))
        state = step.state
        assert step.events == ()
        assert [GAME.view(state, viewer) for viewer in (None, *ALL_SEATS)] == before
        assert len(GAME.awaiting(state)) == 8 - count
        assert seat not in GAME.awaiting(state)
        with pytest.raises(IllegalAction) as refused:
            GAME.apply(state, seat, GAME.parse("pass"))
        assert refused.value.refusal.code == Shared.ALREADY_ANSWERED
    events = GAME.apply(state, Seat(5), GAME.parse("pass")).events
    assert events == (Declared(Seat(4)), OkieTaken(Seat(4), Card("K5")))


@given(st.permutations(ALL_SEATS))
def test_H10_the_order_of_the_answers_changes_nothing(order: list[Seat]) -> None:
    state = dealt("K5", {4: "Kro"})
    expected = answered(state, declarer=4)
    for seat in order:
        state = GAME.apply(state, seat, GAME.parse("declare" if seat == 4 else "pass")).state
    assert state == expected


def test_H11_the_declarer_takes_the_okie_and_keeps_the_robai() -> None:
    state = answered(dealt("K5", {4: "Kro"}), declarer=4)
    assert (state.table.declarer, state.table.taker, state.table.turn) == (4, 4, 4)
    assert {"Kro", "K5"} < set(state.hands[4])
    assert len(state.hands[4]) == 10


@pytest.mark.parametrize("holder", [4, 0])
def test_H11_if_nobody_declares_the_dealer_takes_it(holder: int) -> None:
    state = answered(dealt("K5", {holder: "Kro"}, dealer=0))
    assert (state.table.declarer, state.table.taker) == (None, 0)
    assert "K5" in state.hands[0]


@pytest.mark.parametrize(("okie", "side"), [("Kro", ""), ("K5", "Kro"), ("P5", "P1 Pro")])
def test_H11_with_the_robai_turned_up_or_aside_nobody_can_declare(okie: str, side: str) -> None:
    state = dealt(okie, side=side)
    assert all(legal(state, seat) == ["pass"] for seat in ALL_SEATS)


def test_H12_taking_is_compulsory_and_a_non_trump_is_discarded() -> None:
    state = answered(dealt("K5", {0: "P1 P2 Pro Ksu K9"}))
    assert state.table.phase is Phase.DISCARDING
    possible = legal(state)
    assert {"-P1", "-P2"} < set(possible)
    assert not {"-Pro", "-Ksu", "-K9", "-K5"} & set(possible)
    refusal = GAME.why(GAME.view(state, Seat(0)), GAME.parse("-K9"))
    assert refusal is not None
    assert refusal.code == Why.DISCARD_NO_TRUMP
    assert refusal.params == {"card": "K9", "cards": tuple(move[1:] for move in possible)}


TEN_TRUMPS = "Ksu Kun Kso Kro Kre Kka K1 K2 K3"


def test_H12_a_taker_of_ten_trumps_discards_any() -> None:
    state = answered(dealt("K5", {0: TEN_TRUMPS}))
    assert legal(state) == sorted(f"-{card}" for card in words(f"{TEN_TRUMPS} K5"))
    assert moved(state, "-K5").table.discard == "K5"


def test_H12_option_any_lets_a_trump_be_discarded() -> None:
    house = HouseRules(discard=DiscardRule.ANY)
    state = answered(dealt("K5", {0: "P1 P2 Pro Ksu K9"}, house=house))
    assert len(legal(state)) == 10
    for move in ("-K5", "-Pro", "-P1"):
        assert moved(state, move).table.discard == move[1:]


def test_H13_the_opening_lead_is_a_non_trump_while_the_taker_holds_one() -> None:
    state = moved(answered(dealt("K5", {0: "P1 P2 Pro Ksu K9"})), "-P1")
    possible = legal(state)
    assert "P2" in possible
    assert not {"Pro", "Ksu", "K9", "K5"} & set(possible)
    refusal = GAME.why(GAME.view(state, Seat(0)), GAME.parse("Pro"))
    assert refusal is not None
    assert (refusal.code, refusal.params) == (Why.LEAD_NO_TRUMP, {"card": "Pro", "cards": tuple(possible)})


def test_H13_H18_otherwise_the_trump_is_forced_and_it_is_meri() -> None:
    state = moved(answered(dealt("K5", {0: "P1 Ksu Kun Kso Kro Kre Kka K1 K2"})), "-P1")
    assert legal(state) == sorted(words("Ksu Kun Kso Kro Kre Kka K1 K2 K5"))
    led = events_of(state, "K5")[0]
    assert led == TrickLed(1, Seat(0), Card("K5"), meri=True)


def test_H14_discard_and_side_cards_are_shown_with_the_opening_lead_and_not_before() -> None:
    state = answered(dealt("K5", {0: "P1 P2"}, side="I5 I6"))
    events = events_of(state, "-P1")
    assert events == (Discarded(Seat(0), Card("P1")),)
    for viewer in (None, *ALL_SEATS):
        seen = GAME.view(moved(state, "-P1"), viewer).table
        assert seen.discard == ("P1" if viewer == 0 else None)
        assert seen.side is None
        assert GAME.redact(events[0], viewer) == (events[0] if viewer == 0 else Discarded(Seat(0), None))
    lead = events_of(moved(state, "-P1"), "P2")
    shown = AsideShown(Seat(0), Card("P1"), (Card("I5"), Card("I6")))
    assert lead == (TrickLed(1, Seat(0), Card("P2"), meri=False), shown)
    for viewer in (None, *ALL_SEATS):
        assert GAME.redact(shown, viewer) is shown
        assert GAME.view(moved(state, "-P1 P2"), viewer).table.side == ("I5", "I6")


def test_H14_the_deal_shows_each_seat_its_own_cards_and_the_okie() -> None:
    (event,) = GAME.deal(GAME.complete_options({}), CARDS, Seat(2)).events
    assert isinstance(event, Dealt)
    for viewer in (None, *ALL_SEATS):
        seen = GAME.redact(event, viewer)
        assert isinstance(seen, Dealt)
        assert seen.okie == event.okie
        assert seen.side is None
        assert [seat for seat, hand in enumerate(seen.hands) if hand is not None] == [
            s for s in (viewer,) if s is not None
        ]


def test_a_refused_action_says_which_phase_it_is() -> None:
    state = dealt("K5", {0: "P1 P2"})
    for moves, wrong, phase in (("", "P1", "discarding"), ("-P2", "-P1", "playing"), ("-P2", "pass", "playing")):
        at = moved(answered(state), moves)
        refusal = GAME.why(GAME.view(at, Seat(0)), GAME.parse(wrong))
        assert refusal is not None
        assert (refusal.code, refusal.params) == (Why.NOT_IN_THIS_PHASE, {"phase": phase})
    early = GAME.why(GAME.view(state, Seat(0)), GAME.parse("P1"))
    assert early is not None
    assert early.params == {"phase": "declaring"}


def test_only_the_seat_whose_turn_it_is_may_act_and_a_spectator_never() -> None:
    state = moved(answered(dealt("K5", {0: "P1 P2"})), "-P2 P1")
    for viewer in (None, *ALL_SEATS):
        view = GAME.view(state, viewer)
        if viewer == 1:
            assert GAME.legal(view)
            continue
        assert GAME.legal(view) == ()
        refusal = GAME.why(view, GAME.parse("P3"))
        assert refusal is not None
        assert refusal.code == Shared.NOT_YOUR_TURN


def test_a_card_that_is_not_held_is_refused_by_name() -> None:
    state = moved(answered(dealt("K5", {0: "P1 P2", 1: "P3"})), "-P2 P1")
    refusal = GAME.why(GAME.view(state, Seat(1)), GAME.parse("P1"))
    assert refusal is not None
    assert (refusal.code, refusal.params) == (Shared.NOT_IN_HAND, {"card": "P1"})
