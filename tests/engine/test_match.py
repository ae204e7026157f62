"""A match of several deals: who begins, what is dealt again, what adds up, when it is over."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from engine.game import BadDeck, BadOption, Card, IllegalAction, OptionValue, Outcome, Seat, Why
from engine.match import REDEAL, DealBegan, DealEnded, Match, MatchEnded, Need, act, begin, deal, upcoming
from tests.conformance.laws import random_deck
from tests.toy import DUEL

# Beginner's two cards, the other's two, the card turned up, the card unseen.
WON_BY_THE_BEGINNER = ("d4", "d6", "d1", "d2", "d5", "d3")
WON_BY_THE_OTHER = ("d1", "d2", "d4", "d6", "d5", "d3")
NARROW = ("d1", "d4", "d2", "d3", "d5", "d6")
REDEALT = ("d1", "d2", "d3", "d4", "d6", "d5")


def deck(codes: tuple[str, ...]) -> tuple[Card, ...]:
    return tuple(map(Card, codes))


def play_deal(match: Match, codes: tuple[str, ...], drawn: int = 0) -> tuple[Match, list[Any]]:
    """Deal, let nobody double, and let both play the first of their cards."""
    progress = deal(DUEL, match, deck(codes), Seat(drawn))
    events = list(progress.events)
    while progress.match.need is Need.ACTION:
        seat = min(DUEL.awaiting(progress.match.state))
        legal = DUEL.legal_at(progress.match.state, seat)
        texts = [DUEL.text(action) for action in legal]
        progress = act(DUEL, progress.match, seat, legal[texts.index("single") if "single" in texts else 0])
        events += progress.events
    return progress.match, events


def a_match(**options: OptionValue) -> Match:
    return begin(DUEL, options)


def test_a_match_begins_with_nothing_won_and_a_deck_needed() -> None:
    match = a_match(deals=3)
    assert (match.totals, match.deal, match.need, match.over) == ((0, 0), 0, Need.DECK, False)
    assert upcoming(match) == (1, 1)


def test_options_are_completed_and_numbers_may_come_as_text() -> None:
    assert a_match(deals="3").options == {"deals": 3, "next_first": "alternating", "stakes": "double"}


@pytest.mark.parametrize("options", [{"deal": 1}, {"deals": 2}, {"deals": True}, {"stakes": "triple"}, {"deals": ""}])
def test_a_wrong_option_is_refused_with_what_is_possible(options: dict[str, OptionValue]) -> None:
    with pytest.raises(BadOption) as refused:
        begin(DUEL, options)
    key = "known" if refused.value.refusal.code == Why.UNKNOWN_OPTION else "allowed"
    assert refused.value.refusal.params[key]


def test_a_deck_that_is_none_is_refused() -> None:
    match = a_match()
    for wrong in (WON_BY_THE_OTHER[:5], (*WON_BY_THE_OTHER, "d1"), ("d1",) * 6, ("d7", *WON_BY_THE_OTHER[1:])):
        with pytest.raises(BadDeck):
            deal(DUEL, match, deck(wrong), Seat(0))
    assert match == a_match()


def test_the_drawn_seat_begins_the_first_deal() -> None:
    for drawn in (0, 1):
        match, events = play_deal(a_match(), WON_BY_THE_OTHER, drawn)
        assert match.beginner == drawn
        assert events[0] == DealBegan(1, 1, Seat(drawn), 0)


def test_a_match_of_one_deal_ends_with_it() -> None:
    match, events = play_deal(a_match(), WON_BY_THE_OTHER, 0)
    assert events[-2:] == [DealEnded(1, "won", (0, 1), (0, 1)), MatchEnded((0, 1), 1)]
    assert match.over
    assert match.need is Need.NOTHING


def test_totals_add_up_over_deals_and_the_highest_wins() -> None:
    match = a_match(deals=3)
    match, _ = play_deal(match, WON_BY_THE_BEGINNER, 0)
    match, _ = play_deal(match, WON_BY_THE_OTHER)
    assert (match.totals, match.over) == ((2, 0), False)
    match, events = play_deal(match, WON_BY_THE_OTHER)
    assert (match.deal, match.totals) == (3, (2, 1))
    assert events[-1] == MatchEnded((2, 1), 0)


def test_level_totals_are_a_draw_without_another_deal() -> None:
    match, events = play_deal(a_match(), NARROW)
    assert events[-1] == MatchEnded((0, 0), None)
    assert match.over


def test_a_redeal_does_not_count_and_the_beginner_stays() -> None:
    match, events = play_deal(a_match(), REDEALT, 1)
    assert events[-1] == DealEnded(1, REDEAL, (0, 0), (0, 0))
    assert (match.over, match.need, upcoming(match)) == (False, Need.DECK, (1, 2))
    match, events = play_deal(match, REDEALT, 0)
    assert events[0] == DealBegan(1, 2, Seat(1), 0)
    match, events = play_deal(match, WON_BY_THE_BEGINNER, 0)
    assert events[0] == DealBegan(1, 3, Seat(1), 0)
    assert events[-1] == MatchEnded((0, 1), 1)


def test_a_redeal_in_the_last_deal_does_not_end_the_match() -> None:
    match = a_match(deals=3)
    for codes in (WON_BY_THE_OTHER, WON_BY_THE_OTHER, REDEALT):
        match, _ = play_deal(match, codes)
    assert (match.deal, match.over) == (3, False)
    match, _ = play_deal(match, NARROW)
    assert match.over


@pytest.mark.parametrize(
    ("next_first", "codes", "second"),
    [
        ("alternating", WON_BY_THE_BEGINNER, 1),
        ("alternating", WON_BY_THE_OTHER, 1),
        ("winner", WON_BY_THE_BEGINNER, 0),
        ("winner", WON_BY_THE_OTHER, 1),
        ("winner", NARROW, 0),
        ("random", WON_BY_THE_OTHER, 0),
    ],
)
def test_the_game_says_who_begins_the_next_deal(next_first: str, codes: tuple[str, ...], second: int) -> None:
    match, _ = play_deal(a_match(deals=3, next_first=next_first), codes, 0)
    match, _ = play_deal(match, codes, 0)
    assert match.beginner == second


def test_what_a_deal_leaves_is_carried_through_redeals_to_the_next_that_counts() -> None:
    match = a_match(deals=3)
    carries = []
    for codes in (NARROW, REDEALT, NARROW, WON_BY_THE_OTHER):
        match, events = play_deal(match, codes)
        carries.append(events[0].carry)
    assert carries == [0, 1, 1, 2]
    assert match.totals in {(3, 0), (0, 3)}


def test_a_refused_action_changes_nothing() -> None:
    match = deal(DUEL, a_match(), deck(WON_BY_THE_OTHER), Seat(0)).match
    before = repr(match)
    with pytest.raises(IllegalAction):
        act(DUEL, match, Seat(0), DUEL.parse("d1"))
    assert repr(match) == before


def test_a_deck_in_the_middle_of_a_deal_and_a_move_outside_of_one_are_bugs() -> None:
    match = deal(DUEL, a_match(), deck(WON_BY_THE_OTHER), Seat(0)).match
    with pytest.raises(AssertionError):
        deal(DUEL, match, deck(WON_BY_THE_OTHER), Seat(0))
    for outside in (a_match(), play_deal(a_match(), NARROW)[0]):
        with pytest.raises(AssertionError):
            act(DUEL, outside, Seat(0), DUEL.parse("single"))


def test_the_same_decks_and_actions_make_the_same_match() -> None:
    def whole(seed: int) -> str:
        rng = Random(seed)
        match = a_match(deals=3, next_first="random")
        story = []
        while not match.over:
            match, events = play_deal(match, random_deck(DUEL, rng), rng.randrange(2))
            story += events
        return repr((match, story))

    assert [whole(seed) for seed in range(20)] == [whole(seed) for seed in range(20)]
    assert len({whole(seed) for seed in range(20)}) > 10


def test_the_outcome_of_the_last_deal_stays_readable_after_the_match() -> None:
    match, _ = play_deal(a_match(), WON_BY_THE_OTHER)
    assert match.outcome == Outcome("won", (0, 1))
