"""The searching levels: what actions come to in sampled worlds, played out by the quick player.

Belongs here: how much is searched, and which actions are the same. How worlds are compared is ``engine.search``'s, how
they are played out is ``playout``'s. ``HARD`` needs nothing but Python; where the kernel is installed it plays the
worlds out, to the same numbers: the same is chosen, sooner. ``EXPERT`` leaves the drawing of worlds to the kernel
too, and looks at many more.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from engine import search as frame
from engine.game import Level
from engine.go_stop import kernel, playout
from engine.go_stop.flat import SAME_AS, Flat, Move, Seen, flat_move
from engine.go_stop.kernel import KERNEL, Oracle
from engine.go_stop.types import Action, View
from engine.search import Findings, Plan

HARD_TURNS: Final = 5_000
EXPERT_TURNS: Final = 200_000
"""Turns to be played out for one decision: a rollout at the beginning of a deal has twenty, so that early and late
decisions cost about the same.
"""
HARD_PLAN: Final = Plan(margin=1.5)
EXPERT_PLAN: Final = Plan(margin=1.0)
"""The fewer worlds, the more it takes to leave what one turn shows."""
MOST_BATCHED: Final = 16
"""Worlds that the kernel plays out at a time; their mean is one observation."""
LEAST_OBSERVED: Final = 32
"""Observations of each action that a search with batches should at least have."""
_SEED_BITS: Final = 64


def own_rollouts(level: Level, view: View) -> int:
    """How often ``level`` plays out an action at ``view``, if nothing else is said."""
    turns = EXPERT_TURNS if level is Level.EXPERT and KERNEL is not None else HARD_TURNS
    return turns // max(1, sum(view.table.hand_sizes))


def search(
    view: View, legal: Sequence[Action], favourite: Action, *, rng: Random, level: Level, rollouts: int | None
) -> Findings:
    """Search ``legal`` and keep ``favourite`` unless another action proves better. Values are points for the viewer.

    Args:
        view: a seat's, whose turn it is.
        legal: its actions, at least one.
        favourite: one of them.
        rng: all chance comes from it.
        level: ``HARD`` or ``EXPERT``.
        rollouts: how often actions are played out in all; None for the level's own number.
    """
    seen = Seen(view)
    moves = [flat_move(action, seen.table.layout) for action in legal]
    spend = own_rollouts(level, view) if rollouts is None else rollouts
    at = list(legal).index(favourite)
    same = [(SAME_AS.get(card, card), SAME_AS.get(taken, taken)) for card, taken in moves]
    if level is Level.EXPERT and KERNEL is not None:
        batch = max(1, min(MOST_BATCHED, spend // (LEAST_OBSERVED * len(legal))))
        oracle = Oracle(seen)

        def means(seed: int, tried: Sequence[Move], _rollout: int) -> list[float]:
            return [total / batch for total in oracle.evaluate(tried, seed, batch)]

        return frame.search(
            moves, at, _seed, means, rng=rng, rollouts=max(1, spend // batch), plan=EXPERT_PLAN, same=same
        )

    played_out = playout.outcomes if KERNEL is None else kernel.outcomes  # the same numbers either way

    def results(world: Flat, tried: Sequence[Move], _seed: int) -> Sequence[int]:
        return played_out(world, tried)

    return frame.search(moves, at, seen.sample, results, rng=rng, rollouts=spend, plan=HARD_PLAN, same=same)


def _seed(rng: Random) -> int:
    """The kernel's worlds are known by the seed that draws them."""
    return rng.getrandbits(_SEED_BITS)
