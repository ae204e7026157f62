"""The compiled kernel keeps the rules, plays as the Python rollouts, and trusts no bytes."""

from __future__ import annotations

import subprocess
import sys
from random import Random
from typing import Any

import pytest

from engine.game import Budget, Level, Thought
from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri import kernel, playout, search
from engine.hachinin_meri.flat import flat_state
from engine.hachinin_meri.types import Action, State
from tests.engine.hachinin_meri.differential import awaited, play_together, random_deal, random_state
from tests.engine.hachinin_meri.sanitized import compiler

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
    flat = flat_state(random_state(Random(seed)))
    assert kernel.outcomes(flat, flat.legal()) == playout.outcomes(flat, flat.legal())


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


def test_what_is_not_legal_is_refused() -> None:
    terms, deal, moves = packed(1)
    with pytest.raises(ValueError, match="not legal"):
        NATIVE.apply(terms, deal, b"\0")
    with pytest.raises(ValueError, match="not legal"):
        NATIVE.outcomes(terms, deal, moves + b"\0")
    with pytest.raises(ValueError, match="not one move"):
        NATIVE.apply(terms, deal, b"")


def test_wrong_tables_are_refused_and_the_right_ones_work_again() -> None:
    right = kernel.tables()
    terms, deal, moves = packed(1)
    for wrong in (b"", right[:-4], b"\xff" * len(right)):
        with pytest.raises(ValueError, match="not the tables"):
            NATIVE.configure(wrong)
        with pytest.raises(ValueError, match="not configured"):
            NATIVE.legal(terms, deal)
    NATIVE.configure(right)
    assert NATIVE.legal(terms, deal) == moves


@pytest.mark.long
@pytest.mark.skipif(compiler() is None, reason="there is no compiler with sanitizers here")
def test_random_bytes_do_no_harm_under_the_sanitizers() -> None:
    run = [sys.executable, "-m", "tests.engine.hachinin_meri.sanitized", "100000"]
    done = subprocess.run(run, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
