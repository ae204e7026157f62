"""The flat deal and the compiled kernel beside the rules: played together, move by move.

A failure names the deal's seed. By hand: ``python -m tests.engine.hachinin_meri.differential 1000``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from random import Random
from typing import Any, Final

from engine.game import Seat
from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri import kernel
from engine.hachinin_meri.cards import TRUMPS
from engine.hachinin_meri.flat import OVER, Flat, Move, flat_move, flat_state
from engine.hachinin_meri.types import SEATS, Action, Pass, Phase, Play, State

_TRICK: Final = {"leader", "led", "down", "covered", "tops", "top_trump_seat", "top_plain", "top_plain_seat", "meri"}
"""Of the trick in play; between tricks they mean nothing."""
_OVER: Final = {"turn", "monchi"}
"""These mean nothing once the deal is over."""


def random_deal(rng: Random) -> State:
    """A deal with random options."""
    options = GAME.complete_options({key: rng.choice(values) for key, values in GAME.options.items()})
    return GAME.deal(options, rng.sample(GAME.cards, len(GAME.cards)), Seat(rng.randrange(SEATS))).state


def awaited(state: State) -> Seat:
    """Whose decision is due; of the eight who are asked, the one who holds the Robai."""
    waiting = sorted(GAME.awaiting(state))
    return max(waiting, key=lambda seat: len(GAME.legal_at(state, seat)))


def random_state(rng: Random) -> State:
    """A position of a random deal with something to choose."""
    while True:
        state, passed = random_deal(rng), rng.randrange(70)
        while GAME.awaiting(state):
            seat = awaited(state)
            legal = GAME.legal_at(state, seat)
            if passed <= 0 and len(legal) > 1:
                return state
            passed -= 1
            state = stepped(state, seat, _lively(legal, state, rng))


def stepped(state: State, seat: Seat, action: Action) -> State:
    """The state after ``action``; whoever else is asked passes (H10)."""
    if state.table.phase is not Phase.DECLARING:
        return GAME.apply(state, seat, action).state
    for other in map(Seat, range(SEATS)):
        state = GAME.apply(state, other, action if other == seat else Pass()).state
    return state


def _lively(legal: Sequence[Action], state: State, rng: Random) -> Action:
    """Trumps more often than there are, so that there is Meri and combinations."""
    trumps = TRUMPS[state.table.okie[0]]
    choice = [action for action in legal if isinstance(action, Play) and action.card in trumps]
    return rng.choice(choice if choice and rng.random() < 0.3 else legal)


def play_together(seed: int, native: Any = None) -> int:
    """Play a random deal in the rules, in ``Flat`` and, if given, in ``native``; all must agree on every set of legal
    moves, every position and the result. Says how many moves were made.
    """
    rng = Random(seed)
    state = random_deal(rng)
    flat = flat_state(state)
    trump = state.table.okie[0]
    moves = 0
    while GAME.awaiting(state):
        seat = awaited(state)
        legal = GAME.legal_at(state, seat)
        assert sorted(flat.legal()) == sorted(flat_move(action, trump) for action in legal), seed
        action = _lively(legal, state, rng)
        move = flat_move(action, trump)
        after = flat.copy()
        after.apply(move)
        if native is not None:
            _same_natively(native, flat, move, after, seed)
        state = stepped(state, seat, action)
        flat = after
        same(flat, flat_state(state), seed)
        moves += 1
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert outcome.scores == (flat.points, 9 - flat.points), seed
    return moves


def same(one: Flat, other: Flat, seed: int) -> None:
    """Both are the same position of a deal."""
    ignored = (set() if other.count else _TRICK) | (_OVER if other.phase == OVER else set())
    for field in sorted(set(Flat.__slots__) - ignored):
        assert getattr(one, field) == getattr(other, field), (seed, field)


def _same_natively(native: Any, before: Flat, move: Move, after: Flat, seed: int) -> None:
    terms, deal = kernel.packed_terms(before.terms), kernel.packed(before)
    assert native.legal(terms, deal) == kernel.packed_moves(before.legal()), seed
    assert native.apply(terms, deal, kernel.packed_moves([move])) == kernel.packed(after), seed


if __name__ == "__main__":
    total = sum(play_together(number, kernel.KERNEL) for number in range(int(sys.argv[1])))
    print(total, "moves, all the same")  # noqa: T201 - a script speaks
