"""How a sampled world is played on, and what it is judged to be worth where that stops.

Belongs here: looking ahead from a card to the end of its trick, and what the trumps that are left then are good for.
Two things make this stronger than playing every world out to the end of the deal, and much quicker:

* **A judgement takes the luck out.** Where play stops the points are estimated from who holds which trumps
  (``PROSPECTS``); that explains seven tenths of what deals come to from there, and the other three are chance that
  a comparison of two cards is better without.
* **Two kinds of players.** In every world one seat in four, at random, is the plain player below, who just takes what
  a partner does not have; the others are the ``quick`` player, who weighs odds. What is best against a single way to
  play is often poor against another.

The last tricks are played on to the end of the deal.
``_ahead.h`` does the same, to the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.hachinin_meri.flat import DECLARING, DISCARDING, OVER, TRUMP_SHIFT, Flat, Move
from engine.hachinin_meri.quick import UNIT, quick_move
from engine.hachinin_meri.types import SEATS, TRICKS

PROSPECTS: Final = (
    (0,) * 16,
    (974, 652, 618, 569, 508, 432, 390, 336, 293, 226, 203, 146, 127, 92, 56, 37),
    (855, 620, 570, 504, 424, 366, 322, 253, 218, 164, 133, 79, 60, 28, 10, 10),
    (786, 593, 512, 426, 369, 307, 249, 192, 141, 90, 70, 33, 20, 10, 10, 10),
    (729, 558, 446, 356, 289, 221, 162, 113, 71, 50, 16, 10, 10, 10, 10, 10),
    (687, 513, 379, 279, 201, 136, 72, 51, 35, 30, 10, 10, 10, 10, 10, 10),
    (645, 440, 288, 172, 90, 42, 26, 19, 10, 10, 10, 10, 10, 10, 10, 10),
)
"""What a trump in a hand is good for, in thousandths of a point for its team, and as much against the other: by tricks
settled, and by how many trumps in hands are above it. Before the first trick nothing is judged.

From ``python -m tests.engine.hachinin_meri.prospects 30000 1``, but for the ends of the rows, where there are few
examples: they were levelled by hand.
"""
JUDGED: Final = len(PROSPECTS) - 1
"""With more tricks settled than this a deal is played to its end."""


def plain_seats(number: int) -> int:
    """The seats (as bits) that play as the plain player: one in four, from sixteen random bits."""
    return number & number >> SEATS & (1 << SEATS) - 1


def plain_move(deal: Flat) -> Move:
    """What the plain player does whose turn it is: takes what a partner does not have, as cheaply as it can, in the
    second half of a trick; else plays, leads or discards what is cheapest. It declares.
    """
    if deal.phase == DECLARING:
        return deal.legal()[-1]
    cards = deal.playable()
    cheapest = cards & -cards
    count = deal.count
    if not count or deal.phase == DISCARDING or cards == cheapest:
        return cheapest
    down = deal.down  # nobody can be face down in Meri
    if down & (down - 1) == 0:
        holder = down.bit_length() - 1 if down else deal.top_trump_seat if deal.meri else deal.top_plain_seat
        if not (holder ^ deal.turn) & 1:
            return cheapest
    trumps = cards >> TRUMP_SHIFT
    if deal.meri:
        trumps &= -(max(deal.tops) << 1)
    elif count == SEATS - 1 and not down:
        over = cards & deal.led & -(deal.top_plain << 1)
        if over:
            return over & -over
    return (trumps & -trumps) << TRUMP_SHIFT if trumps and (deal.meri or count >= SEATS // 2) else cheapest


def judged(deal: Flat) -> int:
    """What the even seats' team may expect of a deal between two tricks, in thousandths of a point."""
    hands = deal.hands
    mine = (hands[0] | hands[2] | hands[4] | hands[6]) >> TRUMP_SHIFT
    left = mine | (hands[1] | hands[3] | hands[5] | hands[7]) >> TRUMP_SHIFT
    value = deal.points * UNIT + (TRICKS - deal.settled) * UNIT // 2
    for good_for in PROSPECTS[deal.settled]:
        if not left:
            break
        top = 1 << left.bit_length() - 1
        value += good_for if mine & top else -good_for
        left ^= top
    return value


def horizon(deal: Flat) -> int:
    """How many tricks are to be settled when play from here stops."""
    return deal.settled + 1 if deal.settled < JUDGED else TRICKS


def play_on(deal: Flat, until: int, plain: int) -> int:
    """What the even seats' team may expect, in thousandths of a point, once ``until`` tricks are settled.

    Seats in ``plain`` (as bits) play as the plain player, the others as the quick one.
    """
    while deal.phase != OVER:
        if deal.settled >= until and not deal.count:
            return judged(deal)
        deal.apply(plain_move(deal) if plain >> deal.turn & 1 else quick_move(deal))
    return deal.points * UNIT


def outcomes(world: Flat, moves: Sequence[Move], plain: int) -> list[int]:
    """What each of ``moves`` comes to in ``world``: thousandths of a point for the team whose turn it is.

    Seats in ``plain`` (as bits) play as the plain player, the others as the quick one.
    """
    until, odd = horizon(world), world.turn & 1
    found = []
    for move in moves:
        deal = world.copy()
        deal.apply(move)
        value = play_on(deal, until, plain)
        found.append(TRICKS * UNIT - value if odd else value)
    return found
