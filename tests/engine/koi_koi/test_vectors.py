"""The vectors: random deals with every legal list, made by an implementation independent of this one."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

from engine.game import Outcome, Seat
from engine.koi_koi import KOI_KOI
from tests.engine.koi_koi.scenes import act, cards, deal, legal

VECTORS = Path(__file__).parents[2] / "vectors" / "koi-koi.jsonl"


class VectorStep(Struct):
    seat: int
    action: str
    legal: list[str]


class Vector(Struct):
    game: str
    first: int
    deck: list[str]
    steps: list[VectorStep]
    result: Outcome


RECORDS = msgspec.json.Decoder(Vector).decode_lines(VECTORS.read_bytes())


def test_the_vectors_are_many_and_end_in_every_way() -> None:
    assert len(RECORDS) >= 70
    reasons = {record.result.reason for record in RECORDS}
    assert reasons == {"stop", "draw", "redeal", "four-of-a-month", "four-pairs"}


@pytest.mark.parametrize("record", RECORDS, ids=[str(number) for number, _ in enumerate(RECORDS, 1)])
def test_every_legal_list_and_result_agrees(record: Vector) -> None:
    state = deal(cards(" ".join(record.deck)), Seat(record.first)).state
    for step in record.steps:
        assert KOI_KOI.awaiting(state) == {step.seat}
        assert legal(state) == step.legal
        state = act(state, step.action).state
    assert KOI_KOI.outcome(state) == record.result
