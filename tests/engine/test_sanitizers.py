"""Whatever bytes a kernel is given, it neither reads nor writes out of bounds, nor computes what C does not define."""

from __future__ import annotations

import pytest

from tests.engine import sanitizers

GAMES = ("go_stop", "hachinin_meri", "koi_koi")

pytestmark = pytest.mark.skipif(not sanitizers.are_here(), reason="there is no C compiler with sanitizers")


def found_nothing(game: str, rounds: int) -> None:
    done = sanitizers.run(game, rounds)
    assert done.returncode == 0, done.stderr
    refused, accepted = map(int, done.stdout.split())
    assert refused > rounds / 20
    assert accepted > rounds / 20, "what is refused at the door proves little about the house"


@pytest.mark.parametrize("game", GAMES)
def test_sanitizers_find_nothing(game: str) -> None:
    found_nothing(game, 1_000)


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES)
def test_sanitizers_find_nothing_in_many_rounds(game: str) -> None:
    found_nothing(game, 100_000)
