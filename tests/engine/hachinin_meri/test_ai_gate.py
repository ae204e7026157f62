"""The levels are apart, and none is too good to be honest. Full figures: ``docs/ai/hachinin-meri.md``."""

from __future__ import annotations

from random import Random

import pytest

from clients.cli.arena_deals import Contest, play_pairs
from clients.cli.arena_figures import Interval, result_of
from clients.cli.arena_players import team_of
from engine.game import Budget, Level, Seat
from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri.types import Play, Reason
from engine.hachinin_meri.vetoes import vetoed
from tests.engine.hachinin_meri.positions import late, moved, opened

EQUAL = 4.5
TOO_GOOD = 6.8
"""Only who sees hidden cards gets near it."""
compiled = pytest.mark.skipif(not GAME.kernel_available(), reason="too slow without the compiled kernel")


def points(first: str, second: str, pairs: int, seed: int) -> Interval:
    """The first team's points of nine, from duplicate deals turned by one seat."""
    contest = Contest(GAME.name, GAME.complete_options({}), (team_of(first, GAME), team_of(second, GAME)), seed)
    return result_of(contest, list(play_pairs(contest, range(pairs)))).points


def test_greedy_is_well_above_random_play() -> None:
    assert points("greedy", "random", 100, 31).low > 4.9


@pytest.mark.long
def test_greedy_is_no_cheap_yardstick() -> None:
    assert points("greedy", "random", 1000, 206).low >= 5.1


def test_medium_is_above_greedy() -> None:
    assert points("medium", "greedy", 80, 32).low > EQUAL


@compiled
@pytest.mark.parametrize("level", ["hard", "expert"])
def test_a_level_that_searches_is_above_greedy_and_not_too_good(level: str) -> None:
    found = points(level, "greedy", 12, 33)
    assert EQUAL < found.low < TOO_GOOD


@pytest.mark.long
@compiled
def test_every_level_is_above_the_one_below() -> None:
    ladder = ("medium", "easy", 400, 41), ("hard", "medium", 500, 3162), ("expert", "hard", 800, 3161)
    for upper, lower, pairs, seed in ladder:
        assert points(upper, lower, pairs, seed).low > EQUAL


@pytest.mark.long
@compiled
def test_the_searching_levels_are_above_greedy_but_no_seers() -> None:
    for level, bar, pairs, seed in (("hard", 5.4, 500, 3144), ("expert", 5.6, 1500, 3171)):
        found = points(level, "greedy", pairs, seed)
        assert bar < found.low < TOO_GOOD


@pytest.mark.long
@compiled
def test_one_hard_seat_is_felt_by_its_team() -> None:
    assert points("hard+greedy*3", "greedy", 700, 3145).low > 4.7


# Vetoes -----------------------------------------------------------------------------------------------------------


def test_no_trump_is_spent_on_a_partners_certain_trick() -> None:
    """The last seat; seat 1, its partner, has the highest plain card and nobody a trump."""
    state = opened("K5", "O1 Osu O2 O3 O4 O6 O7 .", hands={7: "Ksu Kun G1 G2 G3 I1 I2 I3 I4"})
    view = GAME.view(state, Seat(7))
    cards = [action.card for action in GAME.legal(view) if isinstance(action, Play)]
    assert vetoed(view, cards) == {"Ksu", "Kun"}


def test_a_partners_trump_that_cannot_be_beaten_is_not_taken_over_but_may_be_followed_low() -> None:
    state = moved(late("K5", {0: "Kun P1 P2", 1: "P3 P4 P6", 2: "Ksu K9 I1"}), "Kun P3")
    view = GAME.view(state, Seat(2))
    assert vetoed(view, ["Ksu", "K9"]) == {"Ksu"}  # type: ignore[list-item]


def test_an_opponents_trick_may_be_taken_and_what_has_to_be_played_is_not_vetoed() -> None:
    state = opened("K5", "Osu O1 O2 O3 O4 O6 O7 .", hands={7: "Ksu K1 K9 G1 G2 G3 I1 I2 I3"})
    assert not vetoed(GAME.view(state, Seat(7)), ["Ksu", "G1"])  # type: ignore[list-item]
    state = moved(late("K5", {0: "Kun P1", 1: "P3 P4", 2: "Ksu I1"}), "Kun P3")
    assert not vetoed(GAME.view(state, Seat(2)), ["Ksu"])  # type: ignore[list-item]


def test_hard_does_not_overtrump_a_partner() -> None:
    state = opened("K5", "O1 Osu O2 O3 O4 O6 O7 .", hands={7: "Ksu Kun G1 G2 G3 I1 I2 I3 I4"})
    view = GAME.view(state, Seat(7))
    for seed in range(5):
        chosen = GAME.think(view, GAME.legal(view), Random(seed), Budget(Level.HARD, 60))
        assert GAME.text(chosen.action)[0] != "K"
        assert chosen.reason is not None
        assert chosen.reason.code in set(Reason)
