"""Feeds the compiled kernel deals, worlds, spoilt ones and noise: ``python -m tests.engine.hachinin_meri.kernel_fuzz
KERNEL SEED ROUNDS``. ``tests.engine.sanitizers`` starts it with a kernel that ends the process at the first fault.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from random import Random
from typing import Any

from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri import kernel
from engine.hachinin_meri.flat import flat_state
from engine.hachinin_meri.kernel import Oracle
from engine.hachinin_meri.seen import Seen
from tests.engine.hachinin_meri.differential import awaited, play_together, random_state
from tests.engine.sanitizers import load


def spoilt(given: bytes, rng: Random) -> bytes:
    """``given`` with a few words or bytes changed, or of another length."""
    made = bytearray(given)
    for _ in range(rng.randrange(3)):
        if made:
            made[rng.randrange(len(made))] = rng.randrange(256)
    if len(made) >= 8 and rng.random() < 0.4:
        word = 8 * rng.randrange(len(made) // 8)
        made[word : word + 8] = rng.choice((0, 1, 2**64 - 1, 1 << rng.randrange(64))).to_bytes(8, "little")
    return bytes(made[: rng.randrange(len(made) + 1)] if rng.random() < 0.05 else made)


def some_spoilt(given: Sequence[bytes], rng: Random) -> list[bytes]:
    """``given``, now and then spoilt."""
    return [spoilt(each, rng) if rng.random() < 0.3 else each for each in given]


def fuzz(native: Any, rng: Random, rounds: int) -> tuple[int, int]:
    """Ask ``native`` about everything; returns how many questions it refused (ValueError) and how many it answered."""
    native.configure(kernel.tables())
    refused = 0
    for number in range(rounds):
        if number % 100 == 0:
            play_together(number, native)
            state = random_state(rng)
            flat, sight = flat_state(state), Oracle(Seen(GAME.view(state, awaited(state)))).sight
        right = (kernel.packed_terms(flat.terms), kernel.packed(flat), kernel.packed_moves(flat.legal()))
        terms, deal, moves = some_spoilt(right, rng)
        seen = some_spoilt(sight, rng)
        questions: list[Any] = [
            lambda: native.legal(terms, deal),  # noqa: B023 - asked at once
            lambda: native.apply(terms, deal, moves[:1]),  # noqa: B023
            lambda: native.outcomes(terms, deal, moves, rng.randrange(-9, 300)),  # noqa: B023
            lambda: native.world(*seen, rng.getrandbits(64)),  # noqa: B023
            lambda: native.evaluate(*seen, moves, rng.getrandbits(64), rng.randrange(4)),  # noqa: B023
            lambda: native.configure(rng.choice((rng.randbytes(rng.randrange(64)), spoilt(kernel.tables(), rng)))),
        ]
        try:
            rng.choices(questions, (2, 2, 4, 4, 4, 1))[0]()
        except ValueError:
            refused += 1
            native.configure(kernel.tables())
    return refused, rounds - refused


if __name__ == "__main__":
    path, seed, rounds = sys.argv[1:]
    print(*fuzz(load(path), Random(int(seed)), int(rounds)))  # noqa: T201 - a command line tool
