"""The course of a deal as searches know it, in Python and compiled, against the exact rules: every legal set, every
transition, every score; and the two against each other in every playout.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from types import ModuleType
from typing import Any

import pytest

from engine.game import Budget, Level, OptionValue, Seat
from engine.koi_koi import KOI_KOI, scoring, search
from engine.koi_koi.flat import Deal, move_of, places_of
from engine.koi_koi.playouts import Playouts
from engine.koi_koi.rules import rules_of
from engine.koi_koi.types import State
from engine.koi_koi.worths import PLACES, mask_of, worths_for
from tests.engine.koi_koi.scenes import deal, shuffled

kernel: Any = search.KERNEL
NEEDS_KERNEL = pytest.mark.skipif(kernel is None, reason="the compiled kernel is not built: no C compiler")


def flat(state: State) -> Deal:
    return Deal(state.table, state.hands, state.stock)


def options(rng: Random) -> dict[str, OptionValue]:
    return {key: rng.choice(values) for key, values in KOI_KOI.options.items()}


def deals(seed: int, number: int) -> Iterator[tuple[State, Random]]:
    """States just dealt, under random options, with a generator to play them."""
    rng = Random(seed)
    for _ in range(number):
        yield deal(shuffled(rng), Seat(rng.randrange(2)), options(rng)).state, rng


def moves_in(packed: bytes) -> list[bytes]:
    return sorted(packed[at : at + 2] for at in range(0, len(packed), 2))


def hold_python(state: State, rng: Random) -> None:
    """Play a deal at random, and the same with ``Deal``."""
    twin = flat(state)
    while KOI_KOI.outcome(state) is None:
        seat = state.table.turn
        legal = KOI_KOI.legal_at(state, seat)
        assert sorted(twin.legal()) == sorted(map(move_of, legal))
        action = rng.choice(legal)
        state = KOI_KOI.apply(state, seat, action).state
        twin.apply(move_of(action))
        assert twin.packed() == flat(state).packed()
    assert twin.legal() == []
    assert tuple(twin.scores) == state.table.outcome.scores if state.table.outcome else False


def hold_kernel(state: State, rng: Random) -> None:
    """Play a deal at random, and the same with the kernel."""
    tables, position = worths_for(state.table.rules).packed, flat(state).packed()
    while KOI_KOI.outcome(state) is None:
        seat = state.table.turn
        legal = KOI_KOI.legal_at(state, seat)
        assert moves_in(kernel.legal(tables, position)) == sorted(map(move_of, legal))
        action = rng.choice(legal)
        state = KOI_KOI.apply(state, seat, action).state
        position = kernel.apply(tables, position, move_of(action))
        assert position == flat(state).packed()
    assert kernel.legal(tables, position) == b""


def test_the_flat_deal_takes_the_course_of_the_rules() -> None:
    for state, rng in deals(1, 400):
        hold_python(state, rng)


@NEEDS_KERNEL
def test_the_kernel_takes_the_course_of_the_rules() -> None:
    for state, rng in deals(2, 2000):
        hold_kernel(state, rng)


@NEEDS_KERNEL
@pytest.mark.long
def test_the_kernel_takes_the_course_of_the_rules_in_100_000_deals() -> None:
    for state, rng in deals(3, 100_000):
        hold_kernel(state, rng)


def compare_playouts(number: int, seed: int) -> None:
    for state, rng in deals(seed, number):
        now = state
        while KOI_KOI.outcome(now) is None:
            view, legal = KOI_KOI.view(now, now.table.turn), KOI_KOI.legal_at(now, now.table.turn)
            root, hidden, moves = search.root_of(view), search.worlds_of(view)(rng), list(map(move_of, legal))
            assert list(search.compiled(root)(hidden, moves)) == Playouts(root)(hidden, moves)
            now = KOI_KOI.apply(now, now.table.turn, rng.choice(legal)).state


@NEEDS_KERNEL
def test_playouts_come_out_the_same_in_python_and_compiled() -> None:
    compare_playouts(60, seed=4)


@NEEDS_KERNEL
@pytest.mark.long
def test_playouts_come_out_the_same_in_python_and_compiled_in_many_deals() -> None:
    compare_playouts(3000, seed=5)


@NEEDS_KERNEL
def test_hard_thinks_the_same_with_the_kernel_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def thoughts() -> list[object]:
        found: list[object] = []
        for state, rng in deals(6, 12):
            if KOI_KOI.outcome(state) is None:
                view, legal = KOI_KOI.view(state, state.table.turn), KOI_KOI.legal_at(state, state.table.turn)
                found.append(KOI_KOI.think(view, legal, rng, Budget(Level.HARD, 300)))
        return found

    compiled = thoughts()
    monkeypatch.setattr(search, "KERNEL", None)
    assert not KOI_KOI.kernel_available()
    assert thoughts() == compiled


@pytest.mark.parametrize("viewing", KOI_KOI.options["viewing"])
@pytest.mark.parametrize("points", KOI_KOI.options["points"])
def test_K7_totals_of_piles_are_those_of_the_rules(viewing: str, points: str) -> None:
    rules = rules_of(KOI_KOI.complete_options({"viewing": viewing, "points": points}))
    worths, rng = worths_for(rules), Random(7)
    for _ in range(4000):
        pile = rng.sample(PLACES, rng.randrange(1, 40))
        assert worths.total(mask_of(pile)) == scoring.total(scoring.mask_of(pile), rules)


def test_every_card_has_one_place() -> None:
    assert sorted(PLACES) == sorted(KOI_KOI.cards)
    assert list(places_of(PLACES)) == list(range(48))


@NEEDS_KERNEL
def test_the_kernel_refuses_bytes_that_are_no_position() -> None:
    (state, _), *_ = deals(8, 1)
    tables, position = worths_for(state.table.rules).packed, flat(state).packed()
    hidden, move = bytes(range(32)), kernel.legal(tables, position)[:2]
    module: ModuleType = kernel
    for call, arguments in (
        (module.legal, (tables[:-1], position)),
        (module.legal, (tables, position[:-1])),
        (module.legal, (tables, position[:48] + b"\x02" + position[49:])),  # a third seat
        (module.apply, (tables, position, b"\xff\xff")),
        (module.apply, (tables, position, move[:1])),
        (module.apply, (tables, position[:53] + b"\x30" * 24, move)),  # cards that there are not
        (module.playouts, (tables, position, hidden, move)),  # nothing is hidden here
        (module.playouts, (tables, position, b"\x30" * 32, move)),
        (module.playouts, (tables, position, hidden, move * 17)),
    ):
        with pytest.raises(ValueError, match="not "):
            call(*arguments)
