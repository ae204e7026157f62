"""What a reason says of the cards is so, at every decision of the golden deals."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest

from engine.flowers import matching
from engine.game import Budget, Card, Level, Message
from engine.koi_koi import KOI_KOI
from engine.koi_koi.scoring import COUNTS, SETS, VIEWING_SETS, cards_of, mask_of, yaku_in
from engine.koi_koi.table import other
from engine.koi_koi.types import Action, Choose, Play, Reason, View, Yaku
from engine.record import read_record

VECTORS = Path(__file__).parents[2] / "vectors" / "koi-koi.jsonl"
BUDGETS = {Level.MEDIUM: Budget(Level.MEDIUM), Level.HARD: Budget(Level.HARD, rollouts=40)}
LEVELS = pytest.mark.parametrize("level", BUDGETS)
WANTED = {each.yaku: frozenset(cards_of(each.cards)) for each in (*SETS, *COUNTS, *VIEWING_SETS)}
"""The cards of each yaku but those of brights."""


def views() -> Iterator[View]:
    with VECTORS.open("rb") as file:
        for line in file:
            record = read_record(line, {KOI_KOI.name: KOI_KOI})
            options = KOI_KOI.complete_options(record.options)
            state = KOI_KOI.deal(options, record.deck, record.beginner, record.carry).state
            for step in record.steps:
                yield KOI_KOI.view(state, step.seat)
                state = KOI_KOI.apply(state, step.seat, KOI_KOI.parse(step.action)).state


@cache
def reasoned(level: Level) -> tuple[tuple[View, Action, Message], ...]:
    found = []
    for number, view in enumerate(views()):
        chosen = KOI_KOI.think(view, KOI_KOI.legal(view), Random(number), BUDGETS[level])
        assert chosen.reason is not None
        found.append((view, chosen.action, chosen.reason))
    return tuple(found)


def given(level: Level, code: Reason) -> list[tuple[View, Action, Message]]:
    found = [each for each in reasoned(level) if each[2].code == code]
    assert found, f"no golden decision is made for {code}: nothing is tested"
    return found


def capture(view: View, action: Action) -> tuple[Card, tuple[Card, ...]]:
    """The card that an action places, and what it takes from the board."""
    if isinstance(action, Choose):
        assert view.table.turned is not None
        return view.table.turned, (action.take,)
    assert isinstance(action, Play)
    return action.card, (action.take,) if action.take else matching(action.card, view.table.board)


def serves(card: Card, yaku: str) -> bool:
    return card in WANTED[Yaku(yaku)] if Yaku(yaku) in WANTED else card.endswith("b")


@LEVELS
def test_what_it_is_said_to_make_is_made_and_is_worth_as_much_more(level: Level) -> None:
    for view, action, why in given(level, Reason.COMPLETES):
        card, taken = capture(view, action)
        table = view.table
        before = mask_of(table.captured[table.turn])
        had = {yaku: points for yaku, points, _ in yaku_in(before, table.rules)}
        has = {yaku: points for yaku, points, _ in yaku_in(before | mask_of((card, *taken)), table.rules)}
        yaku = Yaku(str(why.params["yaku"]))
        assert has[yaku] > had.get(yaku, 0)
        assert why.params["points"] == sum(has.values()) - sum(had.values())


@LEVELS
def test_what_the_other_player_could_use_is_taken_and_serves_what_they_can_still_make(level: Level) -> None:
    for view, action, why in given(level, Reason.DENIES):
        cards = why.params["cards"]
        assert isinstance(cards, tuple)
        assert set(cards) <= set(capture(view, action)[1])
        assert all(serves(Card(str(card)), str(why.params["yaku"])) for card in cards)
        mine, theirs = (set(view.table.captured[seat]) for seat in (view.table.turn, other(view.table.turn)))
        yaku = Yaku(str(why.params["yaku"]))
        assert not any(each.yaku == yaku and set(cards_of(each.cards)) & mine for each in SETS), "out of their reach"
        made = {name for name, *_ in yaku_in(mask_of(tuple(theirs)), view.table.rules)}
        assert yaku not in made, "they have it"


@LEVELS
def test_what_brings_a_yaku_nearer_serves_it_and_as_many_are_missing_as_it_says(level: Level) -> None:
    for view, action, why in given(level, Reason.BUILDS):
        card, taken = capture(view, action)
        cards, yaku, missing = why.params["cards"], Yaku(str(why.params["yaku"])), why.params["missing"]
        assert isinstance(cards, tuple)
        assert set(cards) <= {card, *taken}
        assert all(serves(Card(str(each)), yaku) for each in cards)
        pile = {*view.table.captured[view.table.turn], card, *taken}
        least = {each.yaku: len(WANTED[each.yaku]) for each in (*SETS, *VIEWING_SETS)}
        least |= {each.yaku: each.least for each in COUNTS}
        if yaku in least:
            assert missing == least[yaku] - len(pile & WANTED[yaku])


@LEVELS
def test_what_is_laid_down_takes_nothing_and_what_is_said_to_be_taken_is(level: Level) -> None:
    for view, action, why in given(level, Reason.LAYS):
        assert capture(view, action) == (why.params["card"], ())
    for view, action, why in given(level, Reason.CAPTURES):
        card, taken = capture(view, action)
        assert taken
        assert set(why.params["cards"]) == {card, *taken}  # type: ignore[arg-type] # they are cards


@LEVELS
def test_the_points_to_be_had_are_those_of_a_stop(level: Level) -> None:
    for code in (Reason.TAKES_POINTS, Reason.HOPES_FOR_MORE):
        for view, _, why in given(level, code):
            assert why.params["score"] == view.table.standings[view.table.turn].score > 0
