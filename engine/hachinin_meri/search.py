"""The searching levels: what actions come to in sampled worlds, one trick ahead.

Belongs here: how much is searched, and which actions are the same. How worlds are compared is ``engine.search``'s, how
they are played on and judged is ``ahead``'s, how they are drawn is ``seen``'s. ``HARD`` needs nothing but Python;
where the kernel is installed it plays the worlds on, to the same numbers: the same is chosen, sooner. ``EXPERT``
leaves the drawing of worlds to the kernel too, and looks at many more.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from random import Random
from typing import Final

from engine import search as frame
from engine.game import Level
from engine.hachinin_meri import ahead, kernel
from engine.hachinin_meri.flat import BITS, DECLARE, PASS, SUITS, TRUMP_SHIFT, Flat, Move, flat_move
from engine.hachinin_meri.kernel import KERNEL, Oracle
from engine.hachinin_meri.quick import UNIT
from engine.hachinin_meri.scoring import PAIRS
from engine.hachinin_meri.seen import Seen
from engine.hachinin_meri.types import SEATS, TRICKS, Action, View
from engine.search import Findings, Plan

HARD_CARDS: Final = 3_000
EXPERT_CARDS: Final = 40_000
"""Cards to be played for one decision, so that early and late decisions cost about the same."""
LEAST_CARDS: Final = 5
"""What a rollout costs at least, counted in cards: there is more to it than playing."""
PLAN: Final = Plan(margin=1.0)
MOST_BATCHED: Final = 16
"""Worlds that the kernel tries at a time; their mean is one observation."""
LEAST_OBSERVED: Final = 32
"""Observations of each action that a search with batches should at least have."""
_SEED_BITS: Final = 64


def played_as(level: Level) -> Level:
    """What ``level``, one of those that search, comes to here: without the kernel ``EXPERT`` plays as ``HARD``."""
    return level if KERNEL is not None else Level.HARD


def own_rollouts(level: Level, view: View) -> int:
    """How often ``level`` looks ahead from an action at ``view``, if nothing else is said."""
    cards = EXPERT_CARDS if played_as(level) is Level.EXPERT else HARD_CARDS
    return cards // max(LEAST_CARDS, _cards_ahead(view))


def _cards_ahead(view: View) -> int:
    """How many cards are played when an action at ``view`` is tried: to the end of the trick, or of the deal."""
    table = view.table
    placed = 0 if table.trick is None else len(table.trick.cards)
    tricks = 1 if len(table.tricks) < ahead.JUDGED else TRICKS - 1 - len(table.tricks)
    return SEATS * tricks - placed


def search(
    view: View, legal: Sequence[Action], favourite: Action, *, rng: Random, level: Level, rollouts: int | None
) -> Findings:
    """Search ``legal`` and keep ``favourite`` unless another action proves better. Values are points of the team.

    Args:
        view: a seat's, whose turn it is.
        legal: its actions, at least one.
        favourite: one of them.
        rng: all chance comes from it.
        level: ``HARD`` or ``EXPERT``.
        rollouts: how often actions are played out in all; None for the level's own number.
    """
    moves = [flat_move(action, view.table.okie[0]) for action in legal]
    seen = Seen(view)
    spend = own_rollouts(level, view) if rollouts is None else rollouts
    at = list(legal).index(favourite)
    same = likenesses(view, moves)
    if played_as(level) is Level.EXPERT:
        batch = max(1, min(MOST_BATCHED, spend // (LEAST_OBSERVED * len(legal))))
        oracle = Oracle(seen)

        def means(seed: int, tried: Sequence[Move], _seed: int) -> list[float]:
            return [total / (UNIT * batch) for total in oracle.evaluate(tried, seed, batch)]

        return frame.search(moves, at, _seed_of, means, rng=rng, rollouts=max(1, spend // batch), plan=PLAN, same=same)

    outcomes = ahead.outcomes if KERNEL is None else kernel.outcomes  # the same numbers either way

    def results(world: Flat, tried: Sequence[Move], seed: int) -> list[float]:
        return [total / UNIT for total in outcomes(world, tried, ahead.plain_seats(seed))]

    return frame.search(moves, at, seen.sample, results, rng=rng, rollouts=spend, plan=PLAN, same=same)


def _seed_of(rng: Random) -> int:
    """The kernel's worlds are known by the seed that draws them."""
    return rng.getrandbits(_SEED_BITS)


def likenesses(view: View, moves: Sequence[Move]) -> list[Hashable]:
    """For each move a key that it shares with those that come to the same.

    Cards of a suit do if nobody else has one between them, and neither makes a combination.
    """
    table = view.table
    bits = BITS[table.okie[0]]
    known = {*view.hand, table.discard, *(table.side or ()), *(card for trick in table.tricks for card in trick.cards)}
    others = sum(bit for card, bit in bits.items() if card not in known)
    paired = {bits[card] for pair in PAIRS[table.okie[0]] for card in pair}
    keys: list[Hashable] = []
    for move in moves:
        if move in (PASS, DECLARE) or move in paired:
            keys.append(move)
        elif move >> TRUMP_SHIFT:
            keys.append((0, (others & -move).bit_count()))
        else:
            suit = next(suit for suit in SUITS if suit & move)
            keys.append((suit, (others & suit & -move).bit_count()))
    return keys
