"""``python -m tests``: everything that must hold before a change is merged, in the order of how fast it fails.

Arguments after ``--`` go to pytest: ``python -m tests -- -k monchi -x``.

Tests of running processes share the machine with each other and draw real randomness. Up to three of them that fail
are run once more, alone; those that pass then are named at the end, for somebody to look at, and fail nothing. A test
of a function gets no second chance.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
BIN: Final = Path(sys.executable).parent

PYTEST: Final = (sys.executable, "-m", "pytest", "-q")
CHECKS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("format", (str(BIN / "ruff"), "format", "--check", "--quiet", ".")),
    ("lint", (str(BIN / "ruff"), "check", "--quiet", ".")),
    ("imports", (str(BIN / "lint-imports"),)),
    ("types", (sys.executable, "-m", "mypy")),
    ("tests", (*PYTEST, "-n", "2", "--dist", "loadfile", "--cache-clear")),
)

OF_PROCESSES: Final = ("tests/cli/", "tests/e2e/", "tests/faults/", "tests/security/")
SECOND_CHANCES: Final = 3
FAILED: Final = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
"""Pytest writes which tests failed: an object whose keys are their ids."""

REPORT: Final = (sys.executable, "-m", "benchmarks.ratios")
"""Printed for whoever reads the output. What it says, and whether it works, decides nothing."""


def forgivable(failed: Collection[str]) -> bool:
    """Whether the tests with these ids may be run once more."""
    single = all("::" in each and each.startswith(OF_PROCESSES) for each in failed)
    return single and 0 < len(failed) <= SECOND_CHANCES


def passes_alone() -> bool:
    """Whether the tests that have just failed pass when each has the machine to itself. Says so."""
    failed = sorted(json.loads(FAILED.read_text())) if FAILED.exists() else []
    if not forgivable(failed) or subprocess.run((*PYTEST, *failed), cwd=ROOT, check=False).returncode:
        return False
    print(f"== LOOK AT THIS: failed among others, passed alone: {', '.join(failed)}", flush=True)  # noqa: T201
    return True


def main(arguments: list[str]) -> int:
    """Run every check, say how long each took, and return the number of those that failed."""
    failed = []
    for name, command in CHECKS:
        extra = tuple(arguments) if name == "tests" else ()
        began = time.monotonic()
        print(f"== {name}: {' '.join(Path(part).name for part in command[:1])} {' '.join(command[1:])}", flush=True)  # noqa: T201 - a command line tool
        code = subprocess.run((*command, *extra), cwd=ROOT, check=False).returncode  # our own tools
        if name == "tests" and code == 1 and not arguments and passes_alone():  # 1: tests failed, and nothing else
            code = 0
        print(f"== {name}: {'ok' if code == 0 else f'FAILED ({code})'} in {time.monotonic() - began:.0f} s", flush=True)  # noqa: T201
        if code:
            failed.append(name)
    if not arguments:
        subprocess.run(REPORT, cwd=ROOT, check=False)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []))
