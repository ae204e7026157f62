"""Feeds the compiled kernel bytes of every kind: ``python -m tests.engine.koi_koi.kernel_fuzz KERNEL SEED ROUNDS``.

KERNEL is an extension built as ``build`` builds it, with the address and the undefined-behaviour sanitizers: they end
the process at the first access out of bounds. ``test_ai_fuzz`` runs it so.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import engine.koi_koi
from engine.game import Seat
from engine.koi_koi import KOI_KOI
from engine.koi_koi.flat import Deal, places_of
from engine.koi_koi.search import root_of
from engine.koi_koi.worths import worths_for
from tests.engine.koi_koi.scenes import deal, shuffled

SOURCE = Path(engine.koi_koi.__file__).parent / "_kernel.c"
SANITIZERS = "-fsanitize=address,undefined,bounds-strict"


def build(where: Path) -> Path:
    """Compile the kernel with sanitizers into ``where``."""
    made = where / "_kernel.so"
    include = sysconfig.get_paths()["include"]
    command = ["cc", "-O1", "-g", SANITIZERS, "-fno-sanitize-recover=all", "-shared", "-fPIC", f"-I{include}"]
    subprocess.run([*command, str(SOURCE), "-o", str(made)], check=True)
    return made


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("_kernel", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fuzz(kernel: Any, rng: Random, rounds: int) -> int:
    """Call everything with sound and with broken bytes; returns how many calls were accepted."""
    accepted = 0

    def tried(call: Callable[..., Any], *arguments: bytes) -> Any:
        nonlocal accepted
        try:
            answer = call(tables, *arguments)
        except ValueError:
            return b""
        accepted += 1
        return answer

    for _ in range(rounds):
        options = {key: rng.choice(values) for key, values in KOI_KOI.options.items()}
        state = deal(shuffled(rng), Seat(rng.randrange(2)), options).state
        tables, seat = worths_for(state.table.rules).packed, state.table.turn
        position = Deal(state.table, state.hands, state.stock).packed()
        root = root_of(KOI_KOI.view(state, seat)).packed()
        hidden = places_of((*state.hands[1 - seat], *state.stock))
        for _ in range(40):
            moves = tried(kernel.legal, broken(position, rng))
            tried(
                kernel.playouts, broken(root, rng), broken(hidden, rng), broken((moves * 4)[: rng.randrange(40)], rng)
            )
            position = tried(kernel.apply, broken(position, rng), broken(moves[-2:], rng)) or position
    return accepted


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
    print(fuzz(load(Path(path)), Random(int(seed)), int(rounds)))  # noqa: T201 - a command line tool
