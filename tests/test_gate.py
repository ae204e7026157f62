"""Which failures the gate looks at twice."""

from __future__ import annotations

import pytest

from tests.__main__ import SECOND_CHANCES, forgivable

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
