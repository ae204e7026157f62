"""Feeds the compiled kernel deals, spoilt deals and noise: ``python -m tests.engine.go_stop.kernel_fuzz KERNEL SEED
ROUNDS``. ``tests.engine.sanitizers`` starts it with a kernel that ends the process at the first fault.
"""

from __future__ import annotations

import sys
from random import Random
from typing import Any

from engine.go_stop import GO_STOP, kernel, playout
from engine.go_stop.flat import Seen, flat_state
from tests.engine.go_stop.differential import WORD, play_together, random_state
from tests.engine.sanitizers import load


def spoilt(given: bytes, rng: Random) -> bytes:
    """``given`` with a few words or bytes changed, or of another length."""
    made = bytearray(given)
    for _ in range(rng.randrange(4)):
        if made:
            made[rng.randrange(len(made))] = rng.randrange(256)
    if len(made) >= 8 and rng.random() < 0.3:
        word = 8 * rng.randrange(len(made) // 8)
        made[word : word + 8] = rng.choice((0, 1, WORD - 1, 1 << rng.randrange(64))).to_bytes(8, "little")
    return bytes(made[: rng.randrange(len(made) + 1)] if rng.random() < 0.05 else made)


def fuzz(native: Any, rng: Random, rounds: int) -> tuple[int, int]:
    """Ask ``native`` about everything; returns how many questions it refused (ValueError) and how many it answered."""
    native.configure(kernel.tables(playout.WEIGHTS))
    refused = 0
    for round_number in range(rounds):
        if round_number % 100 == 0:
            play_together(round_number, native)
            state = random_state(rng)
            flat, seen = flat_state(state), Seen(GO_STOP.view(state, state.table.turn))
        deal, moves = kernel.packed(flat), kernel.words_of_moves(flat.legal())
        view, unseen, rests = kernel.packed(seen.table), kernel.words(seen.unseen), kernel.words(seen.impossible)
        move = rng.choice(flat.legal())
        questions: list[Any] = [
            lambda: native.legal(spoilt(deal, rng)),  # noqa: B023 - asked at once
            lambda: native.apply(spoilt(deal, rng), move[0], move[1] % WORD),  # noqa: B023
            lambda: native.outcomes(spoilt(deal, rng), spoilt(moves, rng)),  # noqa: B023
            lambda: native.sample(spoilt(view, rng), spoilt(unseen, rng), rng.randrange(12), spoilt(rests, rng), 1),  # noqa: B023
            lambda: native.evaluate(spoilt(view, rng), unseen, seen.rival_cards, rests, moves, 1, rng.randrange(3)),  # noqa: B023
            lambda: native.configure(rng.randbytes(rng.randrange(64))),
        ]
        try:
            rng.choice(questions)()
        except ValueError:
            refused += 1
            native.configure(kernel.tables(playout.WEIGHTS))
    return refused, rounds - refused


if __name__ == "__main__":
    path, seed, rounds = sys.argv[1:]
    print(*fuzz(load(path), Random(int(seed)), int(rounds)))  # noqa: T201 - a command line tool
