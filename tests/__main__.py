"""``python -m tests``: everything that must hold before a change is merged, in the order of how fast it fails.

Arguments after ``--`` go to pytest: ``python -m tests -- -k monchi -x``.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
BIN: Final = Path(sys.executable).parent

CHECKS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("format", (str(BIN / "ruff"), "format", "--check", "--quiet", ".")),
    ("lint", (str(BIN / "ruff"), "check", "--quiet", ".")),
    ("imports", (str(BIN / "lint-imports"),)),
    ("types", (sys.executable, "-m", "mypy")),
    ("tests", (sys.executable, "-m", "pytest", "-q", "-m", "not long", "-n", "2", "--dist", "loadfile")),
)


REPORT: Final = (sys.executable, "-m", "benchmarks.ratios")
"""Printed for whoever reads the output. What it says, and whether it works, decides nothing."""


def main(arguments: list[str]) -> int:
    """Run every check, say how long each took, and return the number of those that failed."""
    failed = []
    for name, command in CHECKS:
        extra = tuple(arguments) if name == "tests" else ()
        began = time.monotonic()
        print(f"== {name}: {' '.join(Path(part).name for part in command[:1])} {' '.join(command[1:])}", flush=True)  # noqa: T201 - a command line tool
        code = subprocess.run((*command, *extra), cwd=ROOT, check=False).returncode  # our own tools
        print(f"== {name}: {'ok' if code == 0 else f'FAILED ({code})'} in {time.monotonic() - began:.0f} s", flush=True)  # noqa: T201
        if code:
            failed.append(name)
    if not arguments:
        subprocess.run(REPORT, cwd=ROOT, check=False)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []))
