"""Node counts of fixed deals, as files: how many sequences of 1, 2, 3, … actions there are. The counts were agreed
with a second, throw-away implementation; a change of the rules that slips in shows here.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

from engine.game import OptionValue, Seat
from engine.koi_koi.types import State
from tests.engine.koi_koi.scenes import act, cards, deal, legal

FILES = sorted((Path(__file__).parent / "perft").glob("*.json"))


class Perft(Struct, forbid_unknown_fields=True):
    about: str
    options: dict[str, OptionValue]
    first: int
    deck: list[str]
    before: list[str]
    """Actions that lead to the position from which is counted."""
    nodes: list[int]
    """By depth, from 1; a last 0 says that every line has come to its end."""


def count(state: State, depth: int) -> int:
    moves = legal(state)
    if depth == 1:
        return len(moves)
    return sum(count(act(state, move).state, depth - 1) for move in moves)


def test_there_are_files_for_the_opening_and_for_whole_endgames() -> None:
    read = [msgspec.json.decode(file.read_bytes(), type=Perft) for file in FILES]
    assert sum(perft.before == [] for perft in read) >= 2
    assert sum(perft.nodes[-1] == 0 for perft in read) >= 2


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_node_counts(file: Path) -> None:
    perft = msgspec.json.decode(file.read_bytes(), type=Perft)
    state = deal(cards(" ".join(perft.deck)), Seat(perft.first), perft.options).state
    state = act(state, *perft.before).state
    assert [count(state, depth) for depth in range(1, len(perft.nodes) + 1)] == perft.nodes
