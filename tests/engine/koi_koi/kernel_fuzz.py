"""Feeds the compiled kernel bytes of every kind: ``python -m tests.engine.koi_koi.kernel_fuzz KERNEL SEED ROUNDS``.
``tests.engine.sanitizers`` starts it with a kernel that ends the process at the first fault.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from random import Random
from typing import Any

from engine.game import Seat
from engine.koi_koi import KOI_KOI
from engine.koi_koi.flat import Deal, places_of
from engine.koi_koi.search import root_of
from engine.koi_koi.worths import worths_for
from tests.engine.koi_koi.scenes import deal, shuffled
from tests.engine.sanitizers import load

POSITIONS = 40
"""How many positions of a deal are tried in a row."""


def fuzz(kernel: Any, rng: Random, rounds: int) -> tuple[int, int]:
    """Ask ``kernel`` about everything; returns how many calls it refused (ValueError) and how many it answered."""
    refused = accepted = 0

    def tried(call: Callable[..., Any], *arguments: bytes) -> Any:
        nonlocal accepted, refused
        try:
            answer = call(tables, *arguments)
        except ValueError:
            refused += 1
            return b""
        accepted += 1
        return answer

    for _ in range(rounds // POSITIONS):
        options = {key: rng.choice(values) for key, values in KOI_KOI.options.items()}
        state = deal(shuffled(rng), Seat(rng.randrange(2)), options).state
        tables, seat = worths_for(state.table.rules).packed, state.table.turn
        position = Deal(state.table, state.hands, state.stock).packed()
        root = root_of(KOI_KOI.view(state, seat)).packed()
        hidden = places_of((*state.hands[1 - seat], *state.stock))
        for _ in range(POSITIONS):
            moves = tried(kernel.legal, broken(position, rng))
            tried(
                kernel.playouts, broken(root, rng), broken(hidden, rng), broken((moves * 4)[: rng.randrange(40)], rng)
            )
            position = tried(kernel.apply, broken(position, rng), broken(moves[-2:], rng)) or position
    return refused, accepted


def broken(given: bytes, rng: Random) -> bytes:
    """Now and then some bytes are others, or one is missing."""
    if rng.random() < 0.6 or not given:
        return given
    changed = bytearray(given)
    for _ in range(rng.randrange(1, 4)):
        # Half of them in what is neither cards nor masks, of which a position has some bytes before its stock.
        place = (
            rng.randrange(max(0, len(changed) - 33), len(changed))
            if rng.random() < 0.5
            else rng.randrange(len(changed))
        )
        changed[place] = rng.choice([0, 1, 2, 3, 8, 23, 24, 25, 30, 47, 48, 255, rng.randrange(256)])
    return bytes(changed[1:] if rng.random() < 0.02 else changed)


if __name__ == "__main__":
    path, seed, rounds = sys.argv[1:]
    print(*fuzz(load(path), Random(int(seed)), int(rounds)))  # noqa: T201 - a command line tool
