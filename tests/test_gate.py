"""What the gate runs, and which failures it looks at twice."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.__main__ import PYTEST, ROOT, SECOND_CHANCES, forgivable

PROCESS = "tests/e2e/test_cli.py::test_a"


def test_a_few_tests_of_processes_get_a_second_chance() -> None:
    assert forgivable([PROCESS])
    assert forgivable([f"{PROCESS}[{number}]" for number in range(SECOND_CHANCES)])


@pytest.mark.parametrize(
    "failed",
    [
        [],
        [f"{PROCESS}[{number}]" for number in range(SECOND_CHANCES + 1)],
        ["tests/engine/test_match.py::test_a"],
        [PROCESS, "tests/server/test_room_play.py::test_a"],
        ["tests/e2e/test_cli.py"],
    ],
    ids=["none", "too many", "of a function", "one of a function", "a file that cannot be read"],
)
def test_nothing_else_does(failed: list[str]) -> None:
    assert not forgivable(failed)


def collected(*arguments: str) -> set[str]:
    """The tests of the shuffle that pytest would run with these arguments."""
    command = (*PYTEST, "--collect-only", "-p", "no:cacheprovider", *arguments, "tests/engine/test_shuffle.py")
    out = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"^tests/\S+::(\S+)$", out, re.MULTILINE))


def test_what_takes_minutes_is_run_when_it_is_asked_for_and_only_then() -> None:
    usual, long, everything = collected(), collected("-m", "long"), collected("-m", "")
    assert usual
    assert long
    assert usual.isdisjoint(long)
    assert usual | long == everything
