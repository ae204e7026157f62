"""The compiled kernel keeps the rules, plays as the Python rollouts, and trusts no bytes."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from math import sqrt
from random import Random
from statistics import fmean, stdev
from typing import Any

import pytest

from engine.game import Budget, Level, Thought
from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri import ahead, kernel, search
from engine.hachinin_meri.flat import flat_move, flat_state
from engine.hachinin_meri.kernel import Oracle
from engine.hachinin_meri.seen import Seen
from engine.hachinin_meri.types import Action, State, View
from engine.hachinin_meri.worlds import Worlds
from tests.engine.hachinin_meri.differential import awaited, play_together, random_deal, random_state
from tests.engine.hachinin_meri.positions import answered, dealt, moved, opened
from tests.engine.hachinin_meri.test_worlds import late_positions


def view_of(state: State) -> View:
    return GAME.view(state, awaited(state))


NATIVE: Any = kernel.KERNEL
pytestmark = pytest.mark.skipif(
    NATIVE is None, reason="the kernel of Hachinin Meri is not compiled here (python hatch_build.py)"
)


@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_legal_moves_positions_and_results_are_those_of_the_rules(first: int) -> None:
    assert sum(play_together(seed, NATIVE) for seed in range(first, first + 100)) > 6000


@pytest.mark.long
def test_legal_moves_positions_and_results_are_those_of_the_rules_in_very_many_deals() -> None:
    assert sum(play_together(seed, NATIVE) for seed in range(100_000)) > 6_000_000


@pytest.mark.parametrize("seed", range(200))
def test_rollouts_come_to_what_the_python_ones_come_to(seed: int) -> None:
    rng = Random(seed)
    flat = flat_state(random_state(rng))
    plain = ahead.plain_seats(rng.getrandbits(32))
    assert kernel.outcomes(flat, flat.legal(), plain) == ahead.outcomes(flat, flat.legal(), plain)


@pytest.mark.parametrize("seed", range(12))
def test_hard_finds_the_same_with_the_kernel_and_without(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    state = random_state(Random(seed))
    with_kernel = thought(state, Level.HARD, 80)
    monkeypatch.setattr(search, "KERNEL", None)
    assert thought(state, Level.HARD, 80) == with_kernel


def test_expert_plays_as_hard_without_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    state = random_state(Random(3))
    view = GAME.view(state, awaited(state))
    assert search.own_rollouts(Level.EXPERT, view) > search.own_rollouts(Level.HARD, view)
    monkeypatch.setattr(search, "KERNEL", None)
    assert search.own_rollouts(Level.EXPERT, view) == search.own_rollouts(Level.HARD, view)
    assert thought(state, Level.EXPERT, None) == thought(state, Level.HARD, None)


def thought(state: State, level: Level, rollouts: int | None) -> Thought[Action]:
    seat = awaited(state)
    return GAME.think(GAME.view(state, seat), GAME.legal_at(state, seat), Random(1), Budget(level, rollouts))


# Worlds drawn by the kernel ------------------------------------------------------------------------------------


def oracle(view: View) -> Oracle:
    return Oracle(Seen(view))


def test_the_kernel_draws_every_possible_world_equally_often() -> None:
    """Chi-square against all the worlds there are."""
    for position in late_positions(20, 400, 12, played_by_the_viewer=True):
        worlds, rng = Worlds(position.view), Random(position.seed)
        possible = {kernel.packed(flat_state(worlds.draw(rng))) for _ in range(25 * worlds.ways)}
        assert len(possible) == worlds.ways, position.seed
        asked = oracle(position.view)
        counts = Counter(asked.world(rng.getrandbits(64)) for _ in range(25 * worlds.ways))
        assert set(counts) <= possible, position.seed
        chi_square = sum((counts[world] - 25) ** 2 / 25 for world in possible)
        freedom = worlds.ways - 1
        assert abs(chi_square - freedom) < 5 * sqrt(2 * freedom), position.seed


def telling_positions() -> list[State]:
    """One for every fact about worlds (``test_worlds``): it is somebody's turn, and there is much to be concluded."""
    taken = answered(dealt("K5", {0: "P1", 5: "Kro"}))
    plain = {1: "G1 G2 G3 G4 I1 I2", 2: "G7 O9"}
    return [
        taken,  # H10, H14: nobody declared, and the side cards are unseen
        moved(taken, "-P1"),  # H12: and the taker is to lead
        dealt("K5", {0: "Kro"}),  # H10: the question itself
        opened("K5", "P9 Ksu P1 . . . . ."),  # H17
        opened("K5", "P9 ? ? . . . . .", hands={0: "Kro"}, declarer=0),  # H11
        opened("K5", "P9 ? Psu ? ? ? ? ?", "K5 . . . . . . .", hands={0: "K1 K2"}),  # H11: the Okie may lie face down
        opened("K5", "P9 P1 O1 P2 P3 P4 P5 P6", "K4 ? ? ? . . . .", hands=plain),  # H18, H19
        opened("K5", "P9 G8 ? ? ? ? ? ?", "Ksu K9 ? ? ? ? ? ?", "P8 G6 . . . . . .", hands=plain),  # H20
        *(random_state(Random(seed)) for seed in range(12)),
    ]


@pytest.mark.parametrize("number", range(len(telling_positions())))
def test_the_kernel_draws_worlds_as_the_python_sampler_does(number: int) -> None:
    """Every fact of the deal, card by card and seat by seat, is as frequent in one as in the other."""
    view, draws = view_of(telling_positions()[number]), 3000
    seen, asked, rng = Seen(view), oracle(view), Random(number)
    theirs, ours = (Counter[tuple[int, int]]() for _ in range(2))
    for _ in range(draws):
        theirs.update(facts(kernel.packed(seen.sample(rng))))
        ours.update(facts(asked.world(rng.getrandbits(64))))
    for fact in theirs.keys() | ours.keys():
        both = (theirs[fact] + ours[fact]) / (2 * draws)
        assert abs(theirs[fact] - ours[fact]) <= 5.5 * sqrt(2 * draws * both * (1 - both)), fact


def facts(deal: bytes) -> Iterator[tuple[int, int]]:
    """The words of a deal that are piles bit by bit, the other ones as they are."""
    for number, word in enumerate(memoryview(deal).cast("Q")):
        if number < PILES:
            yield from ((number, place) for place in range(64) if word >> place & 1)
        else:
            yield number, word


PILES = 25
"""The first words of the kernel's ``Deal`` are sets of cards."""


def test_a_seed_draws_one_world_and_another_seed_another() -> None:
    asked = oracle(view_of(random_deal(Random(1))))
    assert asked.world(1) == asked.world(1)
    assert asked.world(1) != asked.world(2)


def test_what_is_summed_over_worlds_is_what_they_come_to() -> None:
    """On average: the dice that seat the players of a world are not told."""
    view = view_of(random_state(Random(4)))
    moves = [flat_move(action, view.table.okie[0]) for action in GAME.legal(view)]
    seen, rng, draws = Seen(view), Random(5), 4000
    summed = [total / draws for total in oracle(view).evaluate(moves, 6, draws)]
    rows = [kernel.outcomes(seen.sample(rng), moves, ahead.plain_seats(rng.getrandbits(32))) for _ in range(draws)]
    for mine, theirs in zip(summed, zip(*rows, strict=True), strict=True):
        assert abs(mine - fmean(theirs)) < 5 * stdev(theirs) * sqrt(2 / draws) + 1e-9


# Bytes that are no deal -----------------------------------------------------------------------------------------


def packed(seed: int) -> tuple[bytes, bytes, bytes]:
    flat = flat_state(random_deal(Random(seed)))
    return kernel.packed_terms(flat.terms), kernel.packed(flat), kernel.packed_moves(flat.legal())


def test_what_is_no_deal_is_refused() -> None:
    terms, deal, _ = packed(1)
    for wrong in (b"", deal[:-1], deal + b"\0", b"\xff" * len(deal), bytes(len(deal))):
        with pytest.raises(ValueError, match="not a deal"):
            NATIVE.legal(terms, wrong)
    for wrong in (b"", terms[:-1], b"\xff" * len(terms), bytes(len(terms))):
        with pytest.raises(ValueError, match="not terms"):
            NATIVE.legal(wrong, deal)


def test_H17_a_trump_face_down_of_a_seat_that_has_not_followed_is_refused() -> None:
    state = opened("K5", "P9 K4 . . . . . .", hands={1: "K4"})
    flat = flat_state(state)
    assert flat.down == 1 << 1
    terms, moves = kernel.packed_terms(flat.terms), kernel.packed_moves(flat.legal())
    assert NATIVE.legal(terms, kernel.packed(flat)) == moves
    for seat in set(range(8)) - {1}:
        flat.down = 1 << 1 | 1 << seat
        with pytest.raises(ValueError, match="not a deal"):
            NATIVE.legal(terms, kernel.packed(flat))


def test_what_is_not_legal_is_refused() -> None:
    terms, deal, moves = packed(1)
    with pytest.raises(ValueError, match="not legal"):
        NATIVE.apply(terms, deal, b"\0")
    with pytest.raises(ValueError, match="not legal"):
        NATIVE.outcomes(terms, deal, moves + b"\0", 0)
    with pytest.raises(ValueError, match="not one move"):
        NATIVE.apply(terms, deal, b"")


def test_what_no_seat_sees_is_refused() -> None:
    terms, seen, cases, branches = oracle(view_of(random_deal(Random(1)))).sight
    for wrong in ((terms, b"", cases, branches), (terms, seen, b"", branches), (terms, seen, cases + cases, b"\0")):
        with pytest.raises(ValueError, match="not w"):
            NATIVE.world(*wrong, 1)
    with pytest.raises(ValueError, match="not a number of worlds"):
        NATIVE.evaluate(terms, seen, cases, branches, b"", 1, 0)


def test_wrong_tables_are_refused_and_the_right_ones_work_again() -> None:
    right = kernel.tables()
    terms, deal, moves = packed(1)
    more_than_certain = (1001).to_bytes(4, sys.byteorder)
    for wrong in (b"", right[:-4], b"\xff" * len(right), more_than_certain + right[4:]):
        with pytest.raises(ValueError, match="not the tables"):
            NATIVE.configure(wrong)
        with pytest.raises(ValueError, match="not configured"):
            NATIVE.legal(terms, deal)
    NATIVE.configure(right)
    assert NATIVE.legal(terms, deal) == moves
