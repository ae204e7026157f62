"""H15–H21: tricks, Meri, Monchi, face-down trumps, the ninth trick."""

from __future__ import annotations

import pytest

from engine.game import Card, Message, Seat
from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri.types import (
    CardPlayed,
    DealScored,
    DiscardRule,
    HouseRules,
    Monchi,
    MonchiBegan,
    NinthRevealed,
    NinthTrick,
    State,
    TrickLed,
    TrickSettled,
    Why,
)
from tests.engine.hachinin_meri.positions import ALL_SEATS, answered, dealt, events_of, late, legal, moved, opened, rows

SUIT_FIRST = HouseRules(monchi=Monchi.SUIT_FIRST)
LED = HouseRules(ninth_trick=NinthTrick.LED)


def why(state: State, action: str) -> Message:
    """What forbids ``action`` to the seat whose turn it is."""
    assert state.table.turn is not None
    refusal = GAME.why(GAME.view(state, state.table.turn), GAME.parse(action))
    assert refusal is not None, f"{action} is allowed"
    return refusal


@pytest.mark.parametrize(
    ("cards", "winner"),
    [
        ("P4 P5 I1 K9 P6 G1 O1 I2", 3),  # the only trump
        ("P4 K9 K1 Pro I1 G1 O1 I2", 3),  # the highest trump
        ("P4 P5 Isu Psu P6 Gsu Osu Iun", 3),  # no trump: the highest of the led suit
        ("P4 I1 Isu Gsu G1 O1 Osu Iun", 0),  # other plain suits cannot win
    ],
)
def test_H15_highest_trump_or_else_highest_of_the_led_suit_wins_and_leads(cards: str, winner: int) -> None:
    state = opened("K5", cards)
    assert state.table.tricks[0].winner == winner
    assert state.table.turn == winner


def test_H15_play_goes_clockwise_from_the_leader() -> None:
    state = answered(dealt("K5", {0: "P1 P2"}))
    turns = []
    for move in ("-P1", "P2", *[""] * 6):
        turns.append(state.table.turn)
        state = moved(state, move or legal(state)[0])
    assert turns == [0, 0, 1, 2, 3, 4, 5, 6]


def test_H16_no_duty_to_follow_until_a_trump_has_been_led() -> None:
    state = moved(answered(dealt("K5", {0: "P1 P2", 1: "P3 Ksu I1 G2 O9"})), "-P1 P2")
    assert legal(state) == sorted(state.hands[1])


def test_H17_a_trump_to_a_plain_lead_lies_face_down_and_only_its_player_knows_it() -> None:
    state = moved(answered(dealt("K5", {0: "P1 P2", 1: "Kso", 2: "P9"})), "-P1 P2")
    (played,) = events_of(state, "Kso")
    assert played == CardPlayed(Seat(1), Card("Kso"), face_down=True)
    after = moved(state, "Kso")
    for viewer in (None, *ALL_SEATS):
        expected = played if viewer == 1 else CardPlayed(Seat(1), None, face_down=True)
        assert GAME.redact(played, viewer) == expected
        trick = GAME.view(after, viewer).table.trick
        assert trick is not None
        assert trick.cards == ("P2", "Kso" if viewer == 1 else None)
        assert trick.face_down == (1,)
    (plain,) = events_of(after, "P9")
    assert plain == CardPlayed(Seat(2), Card("P9"), face_down=False)
    assert GAME.redact(plain, None) is plain


def test_H17_all_turn_up_together_with_the_eighth_card() -> None:
    cards = "P1 Ksu P2 K9 P3 Pro P4"
    state = answered(dealt("K5", {**dict(enumerate(cards.split())), 7: "Kun", 0: "P1 I9"}))
    before = moved(moved(state, "-I9"), cards)
    trick = GAME.view(before, Seat(4)).table.trick
    assert trick is not None
    assert trick.cards == ("P1", None, "P2", None, "P3", None, "P4")
    played, settled = events_of(before, "Kun")
    assert GAME.redact(played, Seat(4)) == CardPlayed(Seat(7), None, face_down=True)
    assert isinstance(settled, TrickSettled)
    assert GAME.redact(settled, Seat(4)) is settled
    assert settled.trick.cards == tuple(f"{cards} Kun".split())
    assert settled.trick.face_down == (1, 3, 5, 7)


def test_H18_a_trump_lead_is_meri_face_up_and_takes_a_trump_from_who_holds_one() -> None:
    state = late("K5", {0: "K9 P1", 1: "Ksu K1", 2: "Kso P9", 3: "I1 I2"})
    assert events_of(state, "K9") == (TrickLed(8, Seat(0), Card("K9"), meri=True),)
    at_one = moved(state, "K9")
    assert legal(at_one) == ["K1", "Ksu"]
    assert events_of(at_one, "Ksu") == (CardPlayed(Seat(1), Card("Ksu"), face_down=False),)
    at_two = moved(at_one, "Ksu")
    assert legal(at_two) == ["Kso"]
    assert why(at_two, "P9") == Message(Why.MERI, {"card": "P9", "cards": ("Kso",)})
    at_three = moved(at_two, "Kso")
    assert legal(at_three) == ["I1", "I2"]


def test_H18_case_tenka_counts_both_ways() -> None:
    """Isu | trump led; a player holds Pro and plain cards | must play Pro."""
    state = late("I5", {0: "I1 P1", 1: "Pro O3", 2: "G1 G2"})
    assert legal(moved(state, "I1")) == ["Pro"]
    (led,) = events_of(late("I5", {0: "Pro O3"}), "Pro")
    assert led == TrickLed(8, Seat(0), Card("Pro"), meri=True)


def test_H19_case_a_lone_sun_need_not_be_played() -> None:
    """Koppu | Meri; dealt Ksu as only trump | free."""
    state = opened("K5", "P9 P1 O1 P2 P3 P4 P5 P6", "K4 ? . ? ? ? ? ?", hands={2: "Ksu I1 I2 I3 I4 I6 I7 I8"})
    assert state.table.turn == 2
    assert legal(state) == ["I1", "I2", "I3", "I4", "I6", "I7", "I8", "Ksu"]


def test_H19_case_a_sun_that_was_dealt_with_another_trump_must_be_played() -> None:
    """Koppu | Meri; dealt Ksu and Pro, Pro already gone | must play Ksu."""
    hands = {2: "Ksu I1 I2 I3 I4 I6 I7 I8"}
    state = opened("K5", "P9 P1 Pro P2 Kso P4 P5 P6", "? ? . ? K1 ? ? ?", hands=hands)
    assert state.table.turn == 2
    assert legal(state) == ["Ksu"]
    assert why(state, "I2") == Message(Why.MERI, {"card": "I2", "cards": ("Ksu",)})


def test_H19_the_okie_is_no_dealt_card_so_its_taker_is_free_when_it_is_gone() -> None:
    hands = {0: "Ksu I1 I2 I3 I4 I6 I7", 4: "K1 K2 K3"}
    second = opened("K5", "P9 P1 O1 P2 K1 P4 P5 P6", ". ? ? ? K2 ? ? ?", hands=hands)
    assert second.table.turn == 0
    assert legal(second) == ["K5", "Ksu"]
    third = rows(second, "K5 ? ? ? ? ? ? ?", ". ? ? ? K3 ? ? ?")
    assert third.table.turn == 0
    assert set(legal(third)) == set(third.hands[0])
    assert len(legal(third)) == 7


@pytest.mark.parametrize(("discarded", "free"), [("Kso", False), ("K5", True)])
def test_H19_a_discarded_trump_was_dealt_unless_it_was_the_okie(discarded: str, free: bool) -> None:
    """The taker has the Sun for its only trump when the second Meri comes."""
    held = {0: "P9 Ksu I1 I2 I3 I4 I6 I7", 1: "P1", 2: "O1", 3: "P2", 4: "K1 K2 K3", 5: "P4", 6: "P5", 7: "P6"}
    held[0] += " I8" if free else " Kso"
    state = moved(answered(dealt("K5", held, house=HouseRules(discard=DiscardRule.ANY))), f"-{discarded}")
    own = "." if free else "K5"
    state = rows(state, "P9 P1 O1 P2 K1 P4 P5 P6", f"{own} ? ? ? K2 ? ? ?")
    if not free:
        state = rows(state, ". ? ? ? K3 ? ? ?")
    assert state.table.turn == 0
    assert legal(state) == (sorted(state.hands[0]) if free else ["Ksu"])


def test_H19_a_sun_that_was_the_okie_was_not_dealt_and_must_be_played() -> None:
    hands = {0: "I1 I2 I3 I4 I6 I7 I8", 4: "K1 K2"}
    state = opened("Ksu", "P9 P1 O1 P2 K1 P4 P5 P6", ". ? ? ? K2 ? ? ?", hands=hands)
    assert state.table.turn == 0
    assert legal(state) == ["Ksu"]


def test_H20_case_monchi_wants_the_led_suit_or_a_trump() -> None:
    """Guru | Monchi, Pao led; holds P4, G9, Iun | P4 face up or G9 face down."""
    state = late("G5", {0: "P5 I5 I6", 1: "P4 G9 Iun"}, monchi=True)
    at_one = moved(state, "P5")
    assert legal(at_one) == ["G9", "P4"]
    assert events_of(at_one, "P4") == (CardPlayed(Seat(1), Card("P4"), face_down=False),)
    assert events_of(at_one, "G9") == (CardPlayed(Seat(1), Card("G9"), face_down=True),)
    assert why(at_one, "Iun") == Message(Why.MONCHI, {"card": "Iun", "suit": "P", "cards": ("G9", "P4")})


def test_H20_who_holds_no_card_of_the_led_suit_may_play_anything() -> None:
    state = late("G5", {0: "P5 I5", 1: "O3 G9", 2: "O4 O5"}, monchi=True)
    assert legal(moved(state, "P5")) == ["G9", "O3"]
    assert legal(moved(state, "P5 O3")) == ["O4", "O5"]


def test_H20_option_suit_first_allows_a_trump_only_to_the_void() -> None:
    state = late("G5", {0: "P5 I5 I6", 1: "P4 G9 Iun", 2: "Pro G8 O3"}, monchi=True, house=SUIT_FIRST)
    at_one = moved(state, "P5")
    assert legal(at_one) == ["P4"]
    assert why(at_one, "G9") == Message(Why.MONCHI_SUIT_FIRST, {"card": "G9", "suit": "P", "cards": ("P4",)})
    assert legal(moved(at_one, "P4")) == ["G8", "O3", "Pro"]


def test_H20_monchi_begins_with_the_trick_after_the_first_meri_and_stays() -> None:
    state = late("K5", {0: "K9 P1 I4", 1: "I1 P2 P3", 2: "I2 I3 P4"})
    assert not state.table.monchi
    state = moved(state, "K9")
    assert len(legal(state)) == 3
    while state.table.turn != 7:
        state = moved(state, legal(state)[0])
    *_, settled, began = events_of(state, legal(state)[0])
    assert isinstance(settled, TrickSettled)
    assert began == MonchiBegan()
    state = moved(state, legal(state)[0])
    assert state.table.monchi
    assert state.table.turn == 0
    assert legal(moved(state, "P1")) == ["P2", "P3"]
    again = moved(state, "P1 P2 P4")
    while len(again.table.tricks) == 7:
        again = moved(again, legal(again)[0])
    assert again.table.monchi


def test_H20_a_second_meri_announces_nothing_new() -> None:
    state = moved(late("K5", {0: "K9 K8 P1"}, monchi=True), "K9")
    while state.table.turn != 7:
        state = moved(state, legal(state)[0])
    events = events_of(state, legal(state)[0])
    assert not any(isinstance(event, MonchiBegan) for event in events)


def last_card(hands: str, *, leader: int, dealer: int, okie: str = "G5", house: HouseRules | None = None) -> State:
    """Before the eighth trick, which ``leader`` wins with a plain card; ``hands`` are the cards kept for the ninth."""
    low = ["O9", "O8", "O7", "O6", "O5", "O4", "O3", "O2"]
    low[leader] = "Osu"
    kept = dict(enumerate(f"{mine} {last}" for mine, last in zip(low, hands.split(), strict=True)))
    state = late(okie, kept, leader=leader, dealer=dealer, house=house or HouseRules())
    for place in range(7):
        state = moved(state, low[(leader + place) % 8])
    return state


def test_H21_all_last_cards_are_revealed_at_once_with_the_eighth_trick() -> None:
    state = last_card("I1 I2 I3 I4 I6 I7 I8 I9", leader=2, dealer=6)
    played, eighth, ninth, settled, scored = events_of(state, "O8")
    assert isinstance(played, CardPlayed)
    assert isinstance(eighth, TrickSettled)
    assert (eighth.number, eighth.trick.winner) == (8, 2)
    assert ninth == NinthRevealed(Seat(6), tuple(map(Card, ["I8", "I9", "I1", "I2", "I3", "I4", "I6", "I7"])))
    assert isinstance(settled, TrickSettled)
    assert (settled.number, settled.trick.winner) == (9, 7)
    assert isinstance(scored, DealScored)
    over = moved(state, "O8")
    assert GAME.awaiting(over) == frozenset()
    assert over.hands == ((),) * 8


def test_H21_case_without_a_trump_the_dealers_card_gives_the_led_suit() -> None:
    """Guru | ninth, no trump; dealer K5, winner of the eighth Isu, another K1 | K1 wins."""
    state = moved(last_card("K5 I1 Isu O1 P1 K1 P2 P3", leader=2, dealer=0), "O8")
    assert state.table.tricks[8].winner == 5


def test_H21_trumps_compete_and_it_is_never_meri() -> None:
    state = last_card("G3 I1 Isu G1 P1 K1 P2 P3", leader=2, dealer=0)
    *_, settled, _ = events_of(state, "O8")
    assert isinstance(settled, TrickSettled)
    assert (settled.trick.winner, settled.trick.meri) == (3, False)


def test_H21_a_meri_in_the_eighth_trick_announces_no_monchi_unless_the_ninth_is_led() -> None:
    kept = {0: "K9 P1", 1: "P2 P3"}
    for house, announced in ((HouseRules(), False), (LED, True)):
        state = moved(late("K5", kept, house=house), "K9")
        while state.table.turn != 7:
            state = moved(state, legal(state)[0])
        events = events_of(state, legal(state)[0])
        assert any(isinstance(event, MonchiBegan) for event in events) is announced


def test_H21_option_led_makes_the_ninth_an_ordinary_trick_of_the_winner_of_the_eighth() -> None:
    state = moved(last_card("K5 I1 Isu O1 P1 K1 P2 P3", leader=2, dealer=0, house=LED), "O8")
    assert state.table.turn == 2
    assert events_of(state, "Isu") == (TrickLed(9, Seat(2), Card("Isu"), meri=False),)
    over = moved(state, "Isu O1 P1 K1 P2 P3 K5 I1")
    assert over.table.tricks[8].winner == 2
    assert GAME.outcome(over) is not None


def test_H21_option_led_a_trump_lead_is_meri_in_the_ninth_too() -> None:
    state = moved(last_card("G9 I1 Gsu Gun P1 K1 P2 P3", leader=2, dealer=0, house=LED), "O8")
    over = moved(state, "Gsu Gun P1 K1 P2 P3 G9 I1")
    assert over.table.tricks[8].meri
    assert over.table.tricks[8].combination is None
