"""Search by sampled worlds (perfect information Monte Carlo), for any game.

What belongs here: spending a number of rollouts on actions, comparing them, and saying what was found. What must not
be known here: any game. A game brings its flat worlds, its rollouts and a *favourite*: the action that its
rules of thumb would take.

* **Common random numbers**: every action is tried in the same worlds with the same rollout seed, so that what is
  compared is a difference *within* worlds; luck that favours all actions alike cancels out.
* **Keep the favourite**: it is played unless another action is better by a stated number of standard errors of that
  difference. Little search is worse than none, and this is what makes it harmless.
* **Equivalent actions** are searched once and share their value.
* **Halving**: after each round the worse half gets no more worlds (sequential halving, Karnin, Koren and Somekh 2013).

Deterministic for a generator's state, a plan and a budget: nothing here reads a clock, and how much is drawn from the
generator depends on the arguments alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import sqrt
from random import Random
from typing import TypeAlias, TypeVar

from msgspec import Struct

ActionT = TypeVar("ActionT")
WorldT = TypeVar("WorldT")

Sample: TypeAlias = Callable[[Random], WorldT]
"""Draws a world that is consistent with what the searching seat knows. Called once for each world."""

Evaluate: TypeAlias = Callable[[WorldT, Sequence[ActionT], int], Sequence[float]]
"""What each of the actions comes to in one world: the deal's points for the searcher's side, in the order of the
actions. The number seeds the rollouts, the same for every action; the world must be the same for each of them too (copy
it). One call for all actions, so that a compiled kernel is entered once a world.
"""

_SEED_BITS = 32


class Plan(Struct, frozen=True):
    """How a number of rollouts is spent, and what it takes to leave the favourite."""

    margin: float = 1.0
    """Standard errors by which an action must be better than the favourite."""
    least_worlds: int = 8
    """With fewer worlds than this an action cannot replace the favourite: too few to know their standard error."""
    halving: bool = True
    """Whether the worse half of the actions gets no more worlds after each round."""


class Findings(Struct, frozen=True):
    """What a search found. Sequences are in the order of the actions searched."""

    best: int
    """The index of the action to take."""
    values: tuple[float, ...]
    """What each action is worth: the favourite's mean plus the mean difference to it, in the worlds that tried it."""
    errors: tuple[float, ...]
    """Standard error of each action's difference to the favourite; 0 for the favourite and its equals."""
    worlds: int
    """Sampled in all."""
    rollouts: int
    """Actions times worlds that were played out."""


def search(
    actions: Sequence[ActionT],
    favourite: int,
    sample: Sample[WorldT],
    evaluate: Evaluate[WorldT, ActionT],
    *,
    rng: Random,
    rollouts: int,
    plan: Plan = Plan(),  # noqa: B008 - frozen
    same: Sequence[Hashable] = (),
) -> Findings:
    """Try ``actions`` (not empty) in sampled worlds and choose one of them.

    Args:
        actions: what is compared.
        favourite: the index of the action to keep unless another proves better.
        sample: draws a world from ``rng``.
        evaluate: plays actions out in a world.
        rng: everything random comes from it: the worlds, and one rollout seed a world.
        rollouts: how many times an action may be played out in all. Every action is tried in at least one world.
        plan: how the rollouts are spent.
        same: a key for each action; actions with equal keys are equivalent and searched once. Empty for none.
    """
    classes = _classes(same, len(actions), favourite)
    if len(classes) == 1:
        rollouts = 1  # there is nothing to compare
    race = _Race([first for first, _ in classes])
    alive = list(range(len(classes)))
    rounds = max(1, (len(alive) - 1).bit_length()) if plan.halving else 1
    spent = worlds = 0
    for left in range(rounds, 0, -1):
        tried = [actions[race.firsts[entrant]] for entrant in alive]
        more = max(0 if worlds else 1, (rollouts - spent) // left // len(alive))
        for _ in range(more):
            race.enter(alive, evaluate(sample(rng), tried, rng.getrandbits(_SEED_BITS)))
        worlds += more
        spent += more * len(alive)
        alive = sorted(sorted(alive, key=race.rank)[: (len(alive) + 1) // 2 if left > 1 else None])
    value, error = [0.0] * len(actions), [0.0] * len(actions)
    for entrant, (_, members) in enumerate(classes):
        for member in members:
            value[member] = race.base / worlds + race.lead(entrant)
            error[member] = race.error(entrant)
    return Findings(race.firsts[race.winner(plan)], tuple(value), tuple(error), worlds, spent)


def _classes(same: Sequence[Hashable], actions: int, favourite: int) -> list[tuple[int, list[int]]]:
    """The classes of equivalent actions, the favourite's first: who stands for each, and its members."""
    assert len(same) in (0, actions), "a key for each action, or none"
    keys: Sequence[Hashable] = same or range(actions)
    members: dict[Hashable, list[int]] = {keys[favourite]: []}
    for action, key in enumerate(keys):
        members.setdefault(key, []).append(action)
    return [(favourite if favourite in group else group[0], group) for group in members.values()]


class _Race:
    """Sums of differences to the favourite, who is entrant 0 and takes part in every world."""

    __slots__ = ("base", "counts", "firsts", "squares", "sums")

    def __init__(self, firsts: list[int]) -> None:
        self.firsts = firsts
        self.base = 0.0
        """Sum of the favourite's values."""
        self.sums = [0.0] * len(firsts)
        self.squares = [0.0] * len(firsts)
        self.counts = [0] * len(firsts)

    def enter(self, alive: list[int], values: Sequence[float]) -> None:
        """Book what the entrants ``alive`` came to in one world."""
        base = values[0]
        self.base += base
        sums, squares, counts = self.sums, self.squares, self.counts
        for entrant, value in zip(alive, values, strict=True):
            difference = value - base
            counts[entrant] += 1
            sums[entrant] += difference
            squares[entrant] += difference * difference

    def lead(self, entrant: int) -> float:
        """Mean difference to the favourite."""
        return self.sums[entrant] / self.counts[entrant]

    def error(self, entrant: int) -> float:
        """The standard error of ``lead``."""
        count = self.counts[entrant]
        if count < 2:
            return 0.0
        spread = max(0.0, self.squares[entrant] - self.sums[entrant] ** 2 / count) / (count - 1)
        return sqrt(spread / count)

    def rank(self, entrant: int) -> tuple[bool, float]:
        """For sorting: the favourite first, then the best."""
        return entrant != 0, -self.lead(entrant)

    def winner(self, plan: Plan) -> int:
        """The best of those that beat the favourite beyond doubt; the favourite if there is none."""
        proven = [
            entrant
            for entrant, count in enumerate(self.counts)
            if count >= plan.least_worlds and self.lead(entrant) > plan.margin * self.error(entrant)
        ]
        return max(proven, key=self.lead, default=0)
