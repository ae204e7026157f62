"""Node counts: how many sequences of legal actions a fixed position has, and how those that end a deal end it.

A file in ``perft/`` names a deal and the actions that lead to the position (``after``); ``nodes`` counts the sequences
of 1, 2, … actions from there, ``endings`` and ``paid`` (by seat) sum up the deals that are over by then. A change of
a rule, of what is legal, or of a payment changes a number.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

import msgspec
import pytest

from engine.go_stop import GO_STOP
from engine.go_stop.types import State
from tests.engine.go_stop.positions import WrittenDeal, play


class Perft(WrittenDeal):
    after: tuple[str, ...]
    nodes: tuple[int, ...]
    endings: dict[str, int]
    paid: tuple[int, int]

    def position(self) -> State:
        return play(self.deal().state, *self.after).state


FILES: Final = sorted((Path(__file__).parent / "perft").glob("*.json"))


def count(states: list[State], depth: int) -> tuple[tuple[int, ...], dict[str, int], tuple[int, int]]:
    """Nodes level by level, endings by reason, points paid by seat."""
    nodes = []
    endings: Counter[str] = Counter()
    paid = [0, 0]
    for _ in range(depth):
        states = [
            GO_STOP.apply(state, state.table.turn, action).state
            for state in states
            for action in GO_STOP.legal_at(state, state.table.turn)
        ]
        nodes.append(len(states))
        for state in states:
            outcome = GO_STOP.outcome(state)
            if outcome is not None:
                endings[outcome.reason] += 1
                paid = [total + score for total, score in zip(paid, outcome.scores, strict=True)]
    return tuple(nodes), dict(endings), (paid[0], paid[1])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_node_counts(file: Path) -> None:
    perft = msgspec.json.decode(file.read_bytes(), type=Perft)
    assert count([perft.position()], len(perft.nodes)) == (perft.nodes, perft.endings, perft.paid)


def test_there_are_positions_to_count() -> None:
    assert len(FILES) >= 4
