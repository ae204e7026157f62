"""The shared vectors: deals with the legal moves of every step and the result, by an independent implementation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.game import Seat
from engine.hachinin_meri import HACHININ_MERI as GAME

VECTORS = Path(__file__).parents[2] / "vectors" / "hachinin-meri.jsonl"
RECORDS = [json.loads(line) for line in VECTORS.read_text().splitlines()]


@pytest.mark.parametrize("record", RECORDS, ids=[f"line{number}" for number, _ in enumerate(RECORDS, 1)])
def test_every_legal_list_and_result_matches_the_vector(record: dict[str, Any]) -> None:
    options = GAME.complete_options(record.get("options", {}))
    state = GAME.deal(options, record["deck"], Seat(record["dealer"])).state
    for number, step in enumerate(record["steps"]):
        seat = Seat(step["seat"])
        assert seat in GAME.awaiting(state), number
        assert [GAME.text(action) for action in GAME.legal_at(state, seat)] == step["legal"], number
        state = GAME.apply(state, seat, GAME.parse(step["action"])).state
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert {"reason": outcome.reason, "scores": list(outcome.scores)} == record["result"]


def test_the_vectors_are_all_there() -> None:
    assert len(RECORDS) == 66
    assert sum(len(record["steps"]) for record in RECORDS) == 66 * 73
