"""How strong the levels are: ``python -m tests.engine.koi_koi.strength --pairs 1500 --seed 1``.

Each deal is played twice with the seats swapped, from the same deck and first player; the mean of such a pair is one
observation. Deals that an opening check ends are not counted: nobody plays them.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Final, TypeAlias

from msgspec import Struct

from engine.game import Budget, Level, Options
from engine.koi_koi import KOI_KOI
from engine.koi_koi.types import Action, State, View
from engine.koi_koi.yardstick import greedy
from tests.engine.koi_koi.scenes import FIRST, deal, shuffled

Player: TypeAlias = Callable[[View, Sequence[Action], Random], Action]


class Measured(Struct, frozen=True):
    """Points a deal of the first player over the second, with the half-width of the 95 % interval."""

    mean: float
    half_width: float
    pairs: int

    @property
    def lower(self) -> float:
        return self.mean - self.half_width


def at_random(_: View, legal: Sequence[Action], rng: Random) -> Action:
    return rng.choice(legal)


def plain_greedy(view: View, legal: Sequence[Action], _: Random) -> Action:
    return greedy(view, legal)


def level(which: Level, rollouts: int | None = None) -> Player:
    def choose(view: View, legal: Sequence[Action], rng: Random) -> Action:
        return KOI_KOI.choose(view, legal, rng, Budget(which, rollouts))

    return choose


PLAYERS: Final[Mapping[str, Player]] = {
    "random": at_random,
    "greedy": plain_greedy,
    "easy": level(Level.EASY),
    "medium": level(Level.MEDIUM),
}


def measure(one: Player, other: Player, pairs: int, seed: int, options: Options | None = None) -> Measured:
    rng = Random(seed)
    observed: list[float] = []
    while len(observed) < pairs:
        dealt = deal(shuffled(rng), FIRST, options).state
        if KOI_KOI.outcome(dealt) is None:
            observed.append((_margin(dealt, (one, other), rng) - _margin(dealt, (other, one), rng)) / 2)
    mean = sum(observed) / pairs
    variance = sum((value - mean) ** 2 for value in observed) / (pairs - 1)
    return Measured(mean, 1.96 * math.sqrt(variance / pairs), pairs)


def _margin(state: State, players: tuple[Player, Player], rng: Random) -> int:
    """What seat 0 scores more than seat 1."""
    while (ended := KOI_KOI.outcome(state)) is None:
        seat = state.table.turn
        action = players[seat](KOI_KOI.view(state, seat), KOI_KOI.legal_at(state, seat), rng)
        state = KOI_KOI.apply(state, seat, action).state
    return ended.scores[0] - ended.scores[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for one, other in (("medium", "random"), ("easy", "random"), ("medium", "easy")):
        found = measure(PLAYERS[one], PLAYERS[other], given.pairs, given.seed)
        print(f"{one} over {other}: {found.mean:+.2f} ± {found.half_width:.2f} points a deal, {found.pairs} pairs")  # noqa: T201 - a command line tool


if __name__ == "__main__":
    main()
