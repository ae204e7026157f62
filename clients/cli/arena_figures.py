"""What the arena's observations amount to.

The points of a deal are, where every seat plays for itself, the difference of the scores (0 is equal); where sides are
teams, the team's own score (half of what a deal has to give is equal). A pair's mean over its two deals is one
observation, and intervals come from pairs: the two deals of a pair are not independent, pairs are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import sqrt
from statistics import fmean, stdev
from typing import Final

from msgspec import Struct

from clients.cli.arena_deals import Contest, Pair

Z95: Final = 1.96
"""Standard errors on each side of a 95 % interval."""
TRIM: Final = 0.05
"""What is left out at each end for the trimmed mean: in go-stop few deals make most of the spread."""


class Interval(Struct, frozen=True):
    """A mean and its 95 % interval."""

    mean: float
    half_width: float

    @property
    def low(self) -> float:
        """The lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + self.half_width


class Cost(Struct, frozen=True):
    """What a team's decisions cost, forced ones not counted."""

    decisions: int
    mean_ms: float
    p99_ms: float
    bad_answers: int


class Result(Struct, frozen=True):
    """The first team measured against the second."""

    teams: tuple[str, str]
    pairs: int
    points: Interval
    """The first team's points a deal."""
    equal: float
    """What two equal teams get."""
    trimmed: float
    """Mean of the pairs without the best and the worst 5 %."""
    won: int
    """Deals in which the first team was ahead."""
    drawn: int
    lost: int
    observed: tuple[float, ...]
    """The pairs in their order."""
    costs: tuple[Cost, Cost]
    """By team; the only figures that are not the same on every run."""

    @property
    def lead(self) -> Interval:
        """How far the first team is above equal."""
        return Interval(self.points.mean - self.equal, self.points.half_width)


def result_of(contest: Contest, pairs: Sequence[Pair]) -> Result:
    """What ``pairs`` (at least one) amount to."""
    game = contest.rules
    deals = list(chain.from_iterable(pair.scores for pair in pairs))
    teams = game.sides < game.seats
    observed = tuple(fmean(own if teams else own - other for own, other in pair.scores) for pair in pairs)
    return Result(
        teams=(contest.teams[0].name, contest.teams[1].name),
        pairs=len(pairs),
        points=interval(observed),
        equal=fmean(own + other for own, other in deals) / 2 if teams else 0.0,
        trimmed=trimmed_mean(observed),
        won=sum(own > other for own, other in deals),
        drawn=sum(own == other for own, other in deals),
        lost=sum(own < other for own, other in deals),
        observed=observed,
        costs=(_cost(pairs, 0), _cost(pairs, 1)),
    )


def interval(observed: Sequence[float]) -> Interval:
    """Mean and 95 % interval (normal); a single observation has no interval."""
    spread = stdev(observed) if len(observed) > 1 else float("inf")
    return Interval(fmean(observed), Z95 * spread / sqrt(len(observed)))


def trimmed_mean(observed: Sequence[float]) -> float:
    """The mean without the lowest and the highest 5 % (rounded down)."""
    cut = int(len(observed) * TRIM)
    return fmean(sorted(observed)[cut : len(observed) - cut])


def _cost(pairs: Sequence[Pair], team: int) -> Cost:
    efforts = [pair.efforts[team] for pair in pairs]
    spent = sorted(chain.from_iterable(effort.nanoseconds for effort in efforts))
    bad = sum(effort.bad_answers for effort in efforts)
    if not spent:
        return Cost(0, 0.0, 0.0, bad)
    return Cost(len(spent), fmean(spent) / 1e6, spent[(len(spent) - 1) * 99 // 100] / 1e6, bad)
