"""Learns what trumps are good for: the table ``PROSPECTS`` of ``engine.hachinin_meri.ahead``.

python -m tests.engine.hachinin_meri.prospects 30000 1

plays so many deals among quick players, who now and then play any card, and fits by least squares, for every number of
tricks settled, what the even seats' team still gets to who holds the highest trump, the second highest, and so on.
Prints the rows, and how much of what comes they explain. A minute for thirty thousand deals.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from random import Random
from statistics import fmean
from typing import Final, NamedTuple

from engine.game import Seat
from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri.ahead import JUDGED
from engine.hachinin_meri.flat import OVER, TRUMP_SHIFT, Flat, flat_state
from engine.hachinin_meri.quick import quick_move
from engine.hachinin_meri.types import SEATS, TRICKS

CARELESS: Final = 0.08
"""How often any card is played, so that more is seen than one way to play."""
RANKS: Final = 16
WEIGHT_OF_NOTHING: Final = 3.0
"""Observations in which a trump was good for nothing: there are seldom sixteen left."""


class Example(NamedTuple):
    """A deal between two tricks, and what came of it."""

    settled: int
    owners: tuple[int, ...]
    """From the highest trump in hands down: 1 if the even seats' team holds it, else -1; 0 where there is none."""
    more: float
    """What that team got from there on, beyond half of the tricks."""


def examples(deals: int, seed: int) -> Iterator[Example]:
    """From so many deals."""
    rng = Random(seed)
    options = GAME.complete_options({})
    for _ in range(deals):
        deck, dealer = rng.sample(GAME.cards, len(GAME.cards)), Seat(rng.randrange(SEATS))
        yield from _played(flat_state(GAME.deal(options, deck, dealer).state), rng)


def _played(deal: Flat, rng: Random) -> list[Example]:
    between: list[tuple[int, tuple[int, ...], int]] = []
    while deal.phase != OVER:
        if 0 < deal.settled <= JUDGED and not deal.count:
            between.append((deal.settled, owners(deal), deal.points))
        deal.apply(rng.choice(deal.legal()) if rng.random() < CARELESS else quick_move(deal))
    return [Example(settled, held, deal.points - points - (TRICKS - settled) / 2) for settled, held, points in between]


def owners(deal: Flat) -> tuple[int, ...]:
    """Who holds the trumps that are left, from the highest down."""
    hands = [hand >> TRUMP_SHIFT for hand in deal.hands]
    signs = [
        1 - 2 * (seat % 2) for place in reversed(range(RANKS)) for seat, hand in enumerate(hands) if hand >> place & 1
    ]
    return (*signs, *[0] * (RANKS - len(signs)))


def fitted(rows: list[Example]) -> list[float]:
    """Least squares, by the normal equations."""
    left = [[sum(row.owners[i] * row.owners[j] for row in rows) + 0.0 for j in range(RANKS)] for i in range(RANKS)]
    right = [sum(row.owners[i] * row.more for row in rows) for i in range(RANKS)]
    for i in range(RANKS):
        left[i][i] += WEIGHT_OF_NOTHING
    for i in range(RANKS):  # the matrix is positive definite: no pivoting
        for j in range(i + 1, RANKS):
            factor = left[j][i] / left[i][i]
            left[j] = [there - factor * above for there, above in zip(left[j], left[i], strict=True)]
            right[j] -= factor * right[i]
    found = [0.0] * RANKS
    for i in reversed(range(RANKS)):
        found[i] = (right[i] - sum(left[i][j] * found[j] for j in range(i + 1, RANKS))) / left[i][i]
    return found


def falling(values: list[float]) -> list[int]:
    """In thousandths; no lower trump is better than a higher one: what breaks that is noise, and is pooled."""
    pools: list[list[float]] = []
    for value in values:
        pools.append([value])
        while len(pools) > 1 and fmean(pools[-2]) < fmean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    return [max(0, round(1000 * fmean(pool))) for pool in pools for _ in pool]


def explained(rows: list[Example], table: list[int]) -> float:
    """The share of the variance."""
    errors = [
        row.more - sum(owner * good for owner, good in zip(row.owners, table, strict=True)) / 1000 for row in rows
    ]
    mean = fmean(row.more for row in rows)
    return 1 - fmean(error * error for error in errors) / fmean((row.more - mean) ** 2 for row in rows)


def main() -> None:
    """What the module's docstring says."""
    deals, seed = map(int, sys.argv[1:])
    found = list(examples(deals, seed))
    for settled in range(1, JUDGED + 1):
        rows = [row for row in found if row.settled == settled]
        table = falling(fitted(rows))
        print(f"    ({', '.join(map(str, table))}),  # {explained(rows, table):.2f} explained")  # noqa: T201 - a tool


if __name__ == "__main__":
    main()
