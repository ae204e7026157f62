"""Two whole deals, annotated, with every event: read them to see the game, change them only when the rules change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.game import Seat
from engine.hachinin_meri import HACHININ_MERI as GAME

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))


@pytest.mark.parametrize("file", GOLDEN, ids=[file.stem for file in GOLDEN])
def test_the_deal_makes_exactly_these_events(file: Path) -> None:
    game: dict[str, Any] = json.loads(file.read_text())
    step = GAME.deal(GAME.complete_options(game["options"]), game["deck"], Seat(game["dealer"]))
    assert json.loads(msgspec.json.encode(step.events)) == game["dealt"]
    for number, move in enumerate(game["steps"]):
        step = GAME.apply(step.state, Seat(move["seat"]), GAME.parse(move["action"]))
        assert json.loads(msgspec.json.encode(step.events)) == move["events"], number
    assert json.loads(msgspec.json.encode(GAME.outcome(step.state))) == game["result"]


def test_the_games_are_there_and_annotated() -> None:
    assert [file.stem for file in GOLDEN] == ["concealed-robai", "declared-robai"]
    for file in GOLDEN:
        notes = [move["note"] for move in json.loads(file.read_text())["steps"] if "note" in move]
        assert len(notes) >= 15


def test_together_they_show_every_kind_of_event() -> None:
    shown = set()
    for file in GOLDEN:
        game = json.loads(file.read_text())
        shown |= {
            event["e"] for events in (game["dealt"], *(move["events"] for move in game["steps"])) for event in events
        }
    assert shown == {event.__struct_config__.tag for event in GAME.event_types}
