"""The kernel under the address and undefined-behaviour sanitizers, fed with deals, spoilt deals and noise.

python -m tests.engine.go_stop.sanitized 100000

compiles ``_kernel.c`` anew into a temporary directory and starts itself with it. Exits with 0 if nothing was found.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from engine.go_stop import GO_STOP, kernel, playout
from engine.go_stop.flat import Seen, flat_state
from tests.engine.go_stop.differential import WORD, play_together, random_state

SOURCE: Final = Path(kernel.__file__).with_name("_kernel.c")
FLAGS: Final = ("-g", "-O1", "-fPIC", "-shared", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def compiler() -> str | None:
    """A C compiler that has the sanitizers' runtime."""
    found = shutil.which("gcc")
    return found if found and Path(_runtime(found)).is_absolute() else None


def _runtime(gcc: str) -> str:
    asked = subprocess.run([gcc, "-print-file-name=libasan.so"], check=True, capture_output=True, text=True)
    return asked.stdout.strip()


def compiled(gcc: str, where: Path) -> Path:
    """The kernel with the sanitizers in it."""
    built = where / "_kernel.so"
    include = f"-I{sysconfig.get_path('include')}"
    subprocess.run([gcc, *FLAGS, "-DPy_LIMITED_API=0x030B0000", include, str(SOURCE), "-o", str(built)], check=True)
    return built


def loaded(path: Path) -> Any:
    loader = ExtensionFileLoader("_kernel", str(path))
    spec = spec_from_loader("_kernel", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    module.configure(kernel.tables(playout.WEIGHTS))
    return module


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


def feed(native: Any, rounds: int) -> None:
    """Ask ``native`` about everything. It may refuse (ValueError); what must not be is for the sanitizers to say."""
    rng = Random(1)
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
    assert 0 < refused < rounds, "some of it must be refused, and some answered"


def main() -> None:
    rounds = int(sys.argv[1])
    if len(sys.argv) > 2:
        feed(loaded(Path(sys.argv[2])), rounds)
        return
    gcc = compiler()
    assert gcc is not None, "there is no compiler with sanitizers here"
    with TemporaryDirectory() as scratch:
        built = compiled(gcc, Path(scratch))
        environment = {**os.environ, "LD_PRELOAD": _runtime(gcc), "ASAN_OPTIONS": "detect_leaks=0"}
        run = [sys.executable, "-m", "tests.engine.go_stop.sanitized", str(rounds), str(built)]
        sys.exit(subprocess.run(run, check=False, env=environment).returncode)


if __name__ == "__main__":
    main()
