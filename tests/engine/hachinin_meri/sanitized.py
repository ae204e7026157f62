"""The kernel under the address and undefined-behaviour sanitizers, fed with deals, spoilt deals and noise.

python -m tests.engine.hachinin_meri.sanitized 100000

compiles ``_kernel.c`` anew into a temporary directory and starts itself with it. Exits with 0 if nothing was found.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from engine.hachinin_meri import kernel
from engine.hachinin_meri.flat import flat_state
from tests.engine.hachinin_meri.differential import play_together, random_state

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
    module.configure(kernel.tables())
    return module


def spoilt(given: bytes, rng: Random) -> bytes:
    """``given`` with a few words or bytes changed, or of another length."""
    made = bytearray(given)
    for _ in range(rng.randrange(3)):
        made[rng.randrange(len(made))] = rng.randrange(256)
    if len(made) >= 8 and rng.random() < 0.4:
        word = 8 * rng.randrange(len(made) // 8)
        made[word : word + 8] = rng.choice((0, 1, 2**64 - 1, 1 << rng.randrange(64))).to_bytes(8, "little")
    return bytes(made[: rng.randrange(len(made) + 1)] if rng.random() < 0.05 else made)


def feed(native: Any, rounds: int) -> None:
    """Ask ``native`` about everything. It may refuse (ValueError); what must not be is for the sanitizers to say."""
    rng = Random(1)
    refused = 0
    for number in range(rounds):
        if number % 100 == 0:
            play_together(number, native)
            flat = flat_state(random_state(rng))
            right = kernel.packed_terms(flat.terms), kernel.packed(flat), kernel.packed_moves(flat.legal())
        terms, deal, moves = (spoilt(given, rng) if rng.random() < 0.4 else given for given in right)
        questions: list[tuple[Callable[..., Any], tuple[bytes, ...]]] = [
            (native.legal, (terms, deal)),
            (native.apply, (terms, deal, moves[:1])),
            (native.outcomes, (terms, deal, moves)),
            (native.configure, (rng.randbytes(rng.randrange(64)),)),
            (native.configure, (spoilt(kernel.tables(), rng),)),
        ]
        ask, given = rng.choices(questions, (3, 3, 8, 1, 1))[0]
        try:
            ask(*given)
        except ValueError:
            refused += 1
            native.configure(kernel.tables())
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
        run = [sys.executable, "-m", "tests.engine.hachinin_meri.sanitized", str(rounds), str(built)]
        sys.exit(subprocess.run(run, check=False, env=environment).returncode)


if __name__ == "__main__":
    main()
