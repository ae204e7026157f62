"""What a reason says of the cards is so, at every decision of the golden deals."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest

from engine.flowers import matching
from engine.game import Budget, Card, Level, Message
from engine.go_stop import GO_STOP
from engine.go_stop.scoring import SET_ROWS, cards_of, pile_of, score
from engine.go_stop.table import other
from engine.go_stop.types import Action, Choose, JunkTaken, Phase, Play, Reason, State, View
from engine.record import read_record

VECTORS = Path(__file__).parents[2] / "vectors" / "go-stop.jsonl"
BUDGETS = {Level.MEDIUM: Budget(Level.MEDIUM), Level.HARD: Budget(Level.HARD, rollouts=40)}
LEVELS = pytest.mark.parametrize("level", BUDGETS)


def positions() -> Iterator[tuple[State, View]]:
    with VECTORS.open("rb") as file:
        for line in file:
            record = read_record(line, {GO_STOP.name: GO_STOP})
            options = GO_STOP.complete_options(record.options)
            state = GO_STOP.deal(options, record.deck, record.beginner, record.carry).state
            for step in record.steps:
                yield state, GO_STOP.view(state, step.seat)
                state = GO_STOP.apply(state, step.seat, GO_STOP.parse(step.action)).state


@cache
def reasoned(level: Level) -> tuple[tuple[State, View, Action, Message], ...]:
    found = []
    for number, (state, view) in enumerate(positions()):
        chosen = GO_STOP.think(view, GO_STOP.legal(view), Random(number), BUDGETS[level])
        assert chosen.reason is not None
        found.append((state, view, chosen.action, chosen.reason))
    return tuple(found)


def given(level: Level, code: Reason) -> list[tuple[State, View, Action, Message]]:
    found = [each for each in reasoned(level) if each[3].code == code]
    assert found, f"no golden decision is made for {code}: nothing is tested"
    return found


def capture(view: View, action: Action) -> tuple[Card, ...]:
    """The card that an action places and what it matches."""
    if isinstance(action, Choose):
        assert view.table.pending is not None
        assert view.table.pending.revealed is not None
        return view.table.pending.revealed, action.take
    assert isinstance(action, Play)
    return action.card, *((action.take,) if action.take else matching(action.card, view.table.layout))


def piles(view: View) -> tuple[set[Card], set[Card]]:
    """Mine, with what this turn has taken already, and the other player's."""
    assert view.viewer is not None
    pending = view.table.pending
    held = () if pending is None or not pending.matched else (pending.card, *pending.matched)
    return {*view.table.captured[view.viewer], *held}, set(view.table.captured[other(view.viewer)])


def raised(pile: set[Card], cards: tuple[Card, ...]) -> set[str]:
    """The combinations that ``cards`` make or raise."""
    before = {each.name: each.points for each in score(pile_of(pile)).combinations}
    after = score(pile_of({*pile, *cards})).combinations
    return {each.name for each in after if each.points > before.get(each.name, 0)}


@LEVELS
def test_what_it_is_said_to_make_or_raise_it_does(level: Level) -> None:
    for _, view, action, why in given(level, Reason.COMPLETES):
        assert set(why.params["combos"]) == raised(piles(view)[0], capture(view, action))  # type: ignore[arg-type]


@LEVELS
def test_what_the_other_player_could_use_would_raise_what_they_have(level: Level) -> None:
    for _, view, action, why in given(level, Reason.DENIES):
        assert len(capture(view, action)) > 1, "something is taken"
        assert why.params["combo"] in raised(piles(view)[1], capture(view, action))


@LEVELS
def test_junk_is_only_said_to_be_taken_where_it_is(level: Level) -> None:
    settled = 0
    for state, _, action, why in given(level, Reason.TAKES_JUNK):
        after = GO_STOP.apply(state, state.table.turn, action)
        if after.state.table.phase is not Phase.CHOOSE:
            settled += 1
            junk = [event for event in after.events if isinstance(event, JunkTaken)]
            assert any(event.bonus == why.params["bonus"] and event.cards for event in junk)
    assert settled


@LEVELS
def test_what_it_works_towards_can_still_be_made_and_as_many_are_there_as_it_says(level: Level) -> None:
    rows = {row.name: set(cards_of(row.cards)) for row in SET_ROWS}
    for _, view, action, why in given(level, Reason.WORKS_TOWARDS):
        row, (mine, theirs) = rows[why.params["combo"]], piles(view)  # type: ignore[index] # a name
        taken = set(capture(view, action))
        assert row & taken
        assert not row & theirs
        assert (len(row & (mine | taken)), len(row)) == (why.params["have"], why.params["need"])


@LEVELS
def test_what_is_laid_down_takes_nothing_and_what_is_said_to_be_taken_is(level: Level) -> None:
    for _, view, action, why in given(level, Reason.LAYS):
        assert capture(view, action) == (why.params["card"],)
    for _, view, action, why in given(level, Reason.CAPTURES):
        assert len(capture(view, action)) > 1
        assert set(why.params["cards"]) == set(capture(view, action))  # type: ignore[arg-type] # they are cards


@LEVELS
def test_the_points_of_the_other_player_are_theirs(level: Level) -> None:
    for code in (Reason.STOPS, Reason.GOES):
        for _, view, _, why in given(level, code):
            assert why.params["points"] == score(pile_of(piles(view)[1])).points
