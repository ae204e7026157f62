"""Deals in a match: options ``deals``, ``next_first`` and ``nagari``."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final

import pytest

from engine.game import BadOption, OptionValue, Outcome, Seat
from engine.go_stop import GO_STOP
from engine.go_stop.types import EndReason
from engine.match import REDEAL, Match, Need, act, begin, deal
from engine.record import DealRecord, read_record
from engine.registry import GAMES

RECORDS: Final = [
    read_record(line, GAMES)
    for line in (Path(__file__).parents[2] / "vectors" / "go-stop.jsonl").read_bytes().splitlines()
]


def ending(reason: EndReason) -> DealRecord:
    """A deal that ended so."""
    return next(record for record in RECORDS if record.result is not None and record.result.reason == reason)


def play(match: Match, record: DealRecord) -> Match:
    """Play a recorded deal as the next of the match, in which the beginner is drawn."""
    match = deal(GO_STOP, match, record.deck, record.beginner).match
    for step in record.steps:
        match = act(GO_STOP, match, step.seat, GO_STOP.parse(step.action)).match
    assert match.outcome is not None
    return match


def a_match(**options: OptionValue) -> Match:
    return begin(GO_STOP, {"deals": 6, "next_first": "random", **options})


def stopped_points(record: DealRecord) -> int:
    assert record.result is not None
    return sum(record.result.scores)


def test_reasons_are_those_of_the_deal_record() -> None:
    assert set(EndReason) == {"stop", "nagari", "redeal", "four-of-a-month", "three-ppuk"}
    assert str(EndReason.REDEAL) == REDEAL


@pytest.mark.parametrize("deals", [1, 3, 6, 12])
def test_option_deals_is_how_many_are_played(deals: int) -> None:
    match = begin(GO_STOP, {"deals": deals, "next_first": "random"})
    for _ in range(deals):
        assert match.need is Need.DECK
        match = play(match, ending(EndReason.STOP))
    assert match.over


def test_option_deals_a_redeal_is_not_counted() -> None:
    match = play(play(begin(GO_STOP, {"next_first": "random"}), ending(EndReason.REDEAL)), ending(EndReason.STOP))
    assert match.over
    assert (match.deal, match.attempt) == (1, 2)


def test_option_deals_totals_are_compared() -> None:
    match = begin(GO_STOP, {"deals": 3, "next_first": "random"})
    totals = (0, 0)
    for record in (ending(EndReason.STOP), ending(EndReason.THREE_PPUK), ending(EndReason.FOUR_OF_A_MONTH)):
        assert record.result is not None
        totals = (totals[0] + record.result.scores[0], totals[1] + record.result.scores[1])
        match = play(match, record)
    assert match.totals == totals


STOP_BY_0: Final = Outcome("stop", (7, 0))
STOP_BY_1: Final = Outcome("stop", (0, 7))
FIXED_FOR_1: Final = Outcome("three-ppuk", (0, 5))
NAGARI: Final = Outcome("nagari", (0, 0))


@pytest.mark.parametrize(
    ("option", "outcome", "drawn", "beginner"),
    [
        ("alternating", STOP_BY_0, 0, 1),
        ("alternating", STOP_BY_1, 0, 1),
        ("alternating", NAGARI, 0, 1),
        ("winner", STOP_BY_0, 1, 0),
        ("winner", STOP_BY_1, 0, 1),
        ("winner", FIXED_FOR_1, 0, 1),
        ("winner", NAGARI, 1, 0),  # the same player again
        ("random", STOP_BY_1, 0, 0),
        ("random", STOP_BY_0, 1, 1),
    ],
)
def test_option_next_first(option: str, outcome: Outcome, drawn: int, beginner: int) -> None:
    options = GO_STOP.complete_options({"next_first": option})
    assert GO_STOP.next_beginner(options, Seat(0), outcome, Seat(drawn)) == beginner


def test_option_next_first_winner_keeps_player_one_after_a_nagari_of_theirs() -> None:
    options = GO_STOP.complete_options({"next_first": "winner"})
    assert GO_STOP.next_beginner(options, Seat(1), NAGARI, Seat(0)) == 1


def test_option_nagari_doubles_the_next_payment_and_only_that() -> None:
    won = ending(EndReason.STOP)
    match = play(a_match(nagari="doubles"), ending(EndReason.NAGARI))
    match = play(match, won)
    assert match.outcome is not None
    assert sum(match.outcome.scores) == 2 * stopped_points(won)
    match = play(match, won)
    assert match.outcome is not None
    assert sum(match.outcome.scores) == stopped_points(won)


@pytest.mark.parametrize("fixed", [EndReason.FOUR_OF_A_MONTH, EndReason.THREE_PPUK, EndReason.REDEAL])
def test_option_nagari_fixed_scores_are_not_doubled_and_leave_it_standing(fixed: EndReason) -> None:
    won = ending(EndReason.STOP)
    match = play(a_match(nagari="doubles"), ending(EndReason.NAGARI))
    match = play(match, ending(fixed))
    assert match.outcome is not None
    assert sum(match.outcome.scores) == (0 if fixed is EndReason.REDEAL else 5)
    match = play(match, won)
    assert match.outcome is not None
    assert sum(match.outcome.scores) == 2 * stopped_points(won)


def test_option_nagari_adds_up_over_several_draws_and_stops_at_eightfold() -> None:
    drawn, won = ending(EndReason.NAGARI), ending(EndReason.STOP)
    for draws in range(6):
        match = begin(GO_STOP, {"deals": 12, "next_first": "random", "nagari": "doubles"})
        for _ in range(draws):
            match = play(match, drawn)
        match = play(match, won)
        assert match.outcome is not None
        assert sum(match.outcome.scores) == stopped_points(won) * 2 ** min(draws, 3)


def test_option_nagari_nothing_carries_nothing() -> None:
    won = ending(EndReason.STOP)
    match = play(play(a_match(), ending(EndReason.NAGARI)), won)
    assert match.carry == 0
    assert match.outcome is not None
    assert sum(match.outcome.scores) == stopped_points(won)


def test_nothing_of_a_deal_is_left_in_the_next_one() -> None:
    rng = Random(2)
    match = play(a_match(go_bak="on"), ending(EndReason.STOP))
    fresh = deal(GO_STOP, match, tuple(rng.sample(GO_STOP.cards, 48)), Seat(0)).match.state.table
    assert (fresh.goes, fresh.go_points, fresh.ppuks, fresh.captured) == ((0, 0), (0, 0), (0, 0), ((), ()))


@pytest.mark.parametrize(
    "options",
    [{"sseul": "wide"}, {"go_bak": True}, {"deals": 4}, {"junk_doubling": "under-six"}, {"nagari": ""}, {"points": 3}],
)
def test_a_wrong_option_is_a_clear_error(options: dict[str, OptionValue]) -> None:
    with pytest.raises(BadOption):
        begin(GO_STOP, options)
