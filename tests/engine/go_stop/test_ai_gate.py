"""The levels of go-stop in order: what a decision costs them, and deals against the yardstick.

The quick tests see whether a level has collapsed; the long ones hold the bars, with the seeds and numbers of
``docs/ai/go-stop.md``.
"""

from __future__ import annotations

import pytest

from engine.game import Level
from engine.go_stop import GO_STOP
from tests.engine.go_stop.judged import judged, regret
from tests.engine.go_stop.strength import at_random, easy, expert, greedy, hard, margin, medium, of_level

TOO_GOOD = 11
"""Points a deal over greedy that honest play has never been sure of; who sees cards is above."""

compiled = pytest.mark.skipif(
    not GO_STOP.kernel_available(), reason="the kernel of go-stop is not compiled here (python hatch_build.py)"
)


def test_each_level_decides_better_than_the_one_below() -> None:
    positions = judged()
    costs = [regret(level, positions) for level in (Level.EASY, Level.MEDIUM, Level.HARD)]
    assert costs[1] < 0.4 * costs[0], costs
    assert costs[2] < 0.8 * costs[1], costs


@compiled
def test_expert_seldom_misses_what_very_many_worlds_show() -> None:
    positions = judged()
    assert regret(Level.EXPERT, positions) < 0.4 * regret(Level.HARD, positions)


def test_greedy_is_a_yardstick_worth_the_name() -> None:
    assert margin(greedy, at_random, pairs=150, seed=41).low > 5


def test_medium_is_ahead_of_greedy() -> None:
    assert margin(medium, greedy, pairs=250, seed=42).low > 0


def test_a_short_search_is_ahead_of_greedy_but_not_too_good() -> None:
    found = margin(of_level(Level.HARD, rollouts=60), greedy, pairs=100, seed=43)
    assert 0 < found.low < TOO_GOOD


@pytest.mark.long
def test_greedy_beats_random_play_by_the_bar() -> None:
    assert margin(greedy, at_random, pairs=3000, seed=51).low >= 7


@pytest.mark.long
def test_hard_beats_greedy_by_the_bar_but_not_by_too_much() -> None:
    assert 2 < margin(hard, greedy, pairs=1500, seed=52).low < TOO_GOOD


@pytest.mark.long
@compiled
def test_expert_beats_greedy_by_the_bar_but_not_by_too_much() -> None:
    assert 3 < margin(expert, greedy, pairs=1500, seed=53).low < TOO_GOOD


@pytest.mark.long
def test_each_level_beats_the_one_below() -> None:
    assert margin(medium, easy, pairs=3000, seed=54).low > 0
    assert margin(hard, medium, pairs=3000, seed=55).low > 0


@pytest.mark.long
@compiled
def test_expert_beats_hard() -> None:
    assert margin(expert, hard, pairs=2000, seed=56).low > 0
