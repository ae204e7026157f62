"""The flat deal and the compiled kernel beside the rules: played together, move by move.

A failure names the deal's seed. By hand: ``python -m tests.engine.go_stop.differential 1000``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from random import Random
from typing import Any, Final

from engine.game import Outcome, Seat
from engine.go_stop import GO_STOP, kernel
from engine.go_stop.flat import Flat, Move, flat_move, flat_state
from engine.go_stop.types import Action, Phase, State

WORD: Final = 1 << 64
_FIELDS: Final = ("phase", "turn", "hands", "stock", "layout", "piles", "ppuk_stacks", "ppuks", "goes", "go_points")
_CHOICE: Final = ("card", "matched", "revealed")
"""Of a turn that is under way; between turns they mean nothing."""


def random_deal(rng: Random) -> State:
    """A deal with random options that was not over at once."""
    while True:
        options = GO_STOP.complete_options({key: rng.choice(values) for key, values in GO_STOP.options.items()})
        deck = rng.sample(GO_STOP.cards, len(GO_STOP.cards))
        state = GO_STOP.deal(options, deck, Seat(rng.randrange(2)), rng.randrange(6)).state
        if GO_STOP.outcome(state) is None:
            return state


def random_state(rng: Random) -> State:
    """A position of a random deal with something to choose."""
    while True:
        state, passed = random_deal(rng), rng.randrange(30)
        while GO_STOP.awaiting(state):
            legal = GO_STOP.legal_at(state, state.table.turn)
            if passed <= 0 and len(legal) > 1:
                return state
            passed -= 1
            state = GO_STOP.apply(state, state.table.turn, rng.choice(legal)).state


def play_together(seed: int, native: Any = None) -> int:
    """Play a random deal in the rules, in ``Flat`` and, if given, in ``native``; all must agree on every set of legal
    moves, every position and the result. Says how many moves were made.
    """
    rng = Random(seed)
    state = random_deal(rng)
    flat = flat_state(state)
    moves = 0
    while GO_STOP.awaiting(state):
        seat = state.table.turn
        legal = GO_STOP.legal_at(state, seat)
        assert sorted(flat.legal()) == sorted(flat_move(action, flat.layout) for action in legal), seed
        action = _lively(legal, rng)
        move = flat_move(action, flat.layout)
        after = flat.copy()
        after.apply(move)
        state = GO_STOP.apply(state, seat, action).state
        _same(after, flat_state(state), seed)
        if native is not None:
            _same_natively(native, flat, move, after, seed)
        flat = after
        moves += 1
    _same_result(flat, GO_STOP.outcome(state), seed)
    return moves


def _lively(legal: Sequence[Action], rng: Random) -> Action:
    """Mostly go where it is open, so that deals get long and goes many."""
    texts = [GO_STOP.text(action) for action in legal]
    return legal[texts.index("go")] if "go" in texts and rng.random() < 0.8 else rng.choice(legal)


def _same(one: Flat, other: Flat, seed: int) -> None:
    for field in _FIELDS if other.phase is not Phase.CHOOSE else (*_FIELDS, *_CHOICE):
        assert getattr(one, field) == getattr(other, field), (seed, field)


def _same_natively(native: Any, before: Flat, move: Move, after: Flat, seed: int) -> None:
    deal = kernel.packed(before)
    assert native.legal(deal) == kernel.words_of_moves(before.legal()), seed
    found = native.apply(deal, *(number % WORD for number in move))
    stock_at = len(found) - 8 * 20
    expected = kernel.packed(after)
    assert found[:stock_at] == expected[:stock_at], seed
    assert found[stock_at:][: 8 * len(after.stock)] == expected[stock_at:][: 8 * len(after.stock)], seed


def _same_result(flat: Flat, outcome: Outcome | None, seed: int) -> None:
    assert outcome is not None
    assert flat.phase is Phase.OVER
    assert outcome.scores[flat.turn] == flat.winnings, seed
    assert outcome.scores[1 - flat.turn] == 0, seed


if __name__ == "__main__":
    total = sum(play_together(seed, kernel.KERNEL) for seed in range(int(sys.argv[1])))
    print(total, "moves, all the same")  # noqa: T201 - a script speaks
