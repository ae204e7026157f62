"""Whole deals with every event written out and the remarkable steps explained, as clients are shown them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
import pytest

from engine.game import Outcome, Seat
from engine.go_stop import GO_STOP
from engine.go_stop.types import Event
from tests.engine.go_stop.positions import WrittenDeal


class GoldenStep(msgspec.Struct, forbid_unknown_fields=True):
    seat: Seat
    action: str
    note: str
    events: tuple[Event, ...]


class Golden(WrittenDeal):
    dealt: tuple[Event, ...]
    steps: tuple[GoldenStep, ...]
    result: Outcome


FILES: Final = sorted((Path(__file__).parent / "golden").glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_event_of_a_golden_deal(file: Path) -> None:
    golden = msgspec.json.decode(file.read_bytes(), type=Golden)
    step = golden.deal()
    assert step.events == golden.dealt
    for expected in golden.steps:
        assert GO_STOP.awaiting(step.state) == {expected.seat}
        step = GO_STOP.apply(step.state, expected.seat, GO_STOP.parse(expected.action))
        assert step.events == expected.events, expected.note
    assert GO_STOP.outcome(step.state) == golden.result


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_golden_deal_is_written_as_clients_are_shown_it(file: Path) -> None:
    golden = msgspec.json.decode(file.read_bytes(), type=Golden)
    assert msgspec.json.decode(msgspec.json.encode(golden)) == msgspec.json.decode(file.read_bytes())


def test_there_are_golden_deals() -> None:
    assert len(FILES) >= 3
