"""A search kernel under the address and undefined-behaviour sanitizers, which end the process at the first fault.

python -m tests.engine.sanitizers go_stop 100000

compiles ``engine/go_stop/_kernel.c`` with them into a temporary directory and has ``tests.engine.go_stop.kernel_fuzz``
feed it in a process of its own. Exits with 0 if nothing was found.
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
from tempfile import TemporaryDirectory
from typing import Any, Final

ENGINE: Final = Path(__file__).parents[2] / "engine"
FLAGS: Final = ("-g", "-O1", "-fPIC", "-shared", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
RUNTIMES: Final = ("libasan.so", "libubsan.so")


def are_here() -> bool:
    """Whether there is a C compiler that has the sanitizers."""
    return bool(_runtimes())


def run(game: str, rounds: int, *, seed: int = 1) -> subprocess.CompletedProcess[str]:
    """Feed the kernel of the package ``game`` for so many rounds. Needs sanitizers that ``are_here``."""
    with TemporaryDirectory() as scratch:
        kernel = Path(scratch) / "_kernel.so"
        source, include = ENGINE / game / "_kernel.c", f"-I{sysconfig.get_path('include')}"
        command = ["cc", *FLAGS, "-DPy_LIMITED_API=0x030B0000", include, str(source), "-o", str(kernel)]
        subprocess.run(command, check=True)
        return subprocess.run(
            [sys.executable, "-m", f"tests.engine.{game}.kernel_fuzz", str(kernel), str(seed), str(rounds)],
            env={**os.environ, "LD_PRELOAD": " ".join(_runtimes()), "ASAN_OPTIONS": "detect_leaks=0"},
            capture_output=True,
            text=True,
            check=False,
        )


def load(path: str) -> Any:
    """The extension at ``path``, beside the one that is installed."""
    loader = ExtensionFileLoader("_kernel", path)
    spec = spec_from_loader("_kernel", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def _runtimes() -> list[str]:
    """Where the sanitizers' libraries are; the interpreter, which was built without, must have them loaded first."""
    if shutil.which("cc") is None:
        return []
    asked = [["cc", f"-print-file-name={name}"] for name in RUNTIMES]
    found = [subprocess.run(each, check=True, capture_output=True, text=True).stdout.strip() for each in asked]
    return found if all(Path(path).is_absolute() for path in found) else []


if __name__ == "__main__":
    done = run(sys.argv[1], int(sys.argv[2]))
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    sys.exit(done.returncode)
