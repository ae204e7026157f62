"""Complete deals with every event, annotated (``golden/*.json``): what koi-koi announces, and in which order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from engine.game import OptionValue, Outcome, Seat
from engine.koi_koi import KOI_KOI
from tests.engine.koi_koi.scenes import act, cards, deal

FILES = sorted((Path(__file__).parent / "golden").glob("*.json"))


class GoldenStep(Struct, forbid_unknown_fields=True):
    seat: int
    action: str
    note: str
    events: list[dict[str, Any]]


class Golden(Struct, forbid_unknown_fields=True):
    about: str
    options: dict[str, OptionValue]
    first: int
    deck: list[str]
    dealt: list[dict[str, Any]]
    steps: list[GoldenStep]
    result: Outcome


def read(file: Path) -> Golden:
    return msgspec.json.decode(file.read_bytes(), type=Golden)


def as_told(events: tuple[Struct, ...]) -> Any:
    """Events as a reader of the wire gets them."""
    return msgspec.json.decode(msgspec.json.encode(events))


def test_there_are_golden_deals_with_every_step_annotated() -> None:
    assert len(FILES) >= 3
    assert all(step.note for file in FILES for step in read(file).steps)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_golden_deal_is_told_event_by_event(file: Path) -> None:
    golden = read(file)
    step = deal(cards(" ".join(golden.deck)), Seat(golden.first), golden.options)
    assert as_told(step.events) == golden.dealt
    for told in golden.steps:
        assert KOI_KOI.awaiting(step.state) == {told.seat}
        step = act(step.state, told.action)
        assert as_told(step.events) == told.events, told.note
    assert KOI_KOI.outcome(step.state) == golden.result
