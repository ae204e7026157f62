"""The players that others are measured against have not changed."""

from __future__ import annotations

import json

import pytest

from engine.game import AnyGame
from engine.registry import GAMES
from tests.conformance.frozen import RECORDS, decisions, file_of


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_medium_and_the_yardsticks_choose_as_they_did_when_they_were_measured(game: AnyGame) -> None:
    written = json.loads(file_of(game).read_text())
    assert written.keys() == {"medium", *game.yardsticks}
    assert all(len(deals) == RECORDS for deals in written.values())
    assert sum(len(deal.split()) for deals in written.values() for deal in deals) > 100
    assert decisions(game) == written
