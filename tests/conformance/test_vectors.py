"""Golden records: deals with everything that was legal and the result, made by an implementation that is not ours."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from engine.game import AnyGame
from engine.record import check, read_record, replay, write_record
from engine.registry import GAMES

VECTORS: Final = Path(__file__).parent.parent / "vectors"
EVERY_GAME = pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)


def lines(game: AnyGame) -> list[bytes]:
    return (VECTORS / f"{game.name}.jsonl").read_bytes().splitlines()


@EVERY_GAME
def test_every_game_has_golden_records_that_say_everything(game: AnyGame) -> None:
    records = [read_record(line, GAMES) for line in lines(game)]
    assert len(records) >= 50
    for record in records:
        assert record.game == game.name
        assert record.result is not None
        assert all(step.legal is not None for step in record.steps)


def test_every_file_of_vectors_belongs_to_a_game() -> None:
    assert {path.stem for path in VECTORS.glob("*.jsonl")} == set(GAMES)


@EVERY_GAME
def test_the_engine_agrees_with_every_golden_record(game: AnyGame) -> None:
    differing = {
        number: difference
        for number, line in enumerate(lines(game), 1)
        if (difference := check(game, read_record(line, GAMES))) is not None
    }
    assert differing == {}


@EVERY_GAME
def test_a_replay_of_a_golden_record_is_that_record_byte_for_byte(game: AnyGame) -> None:
    for line in lines(game):
        assert write_record(game, replay(game, read_record(line, GAMES))) == line


@EVERY_GAME
def test_golden_records_end_in_more_than_one_way_or_the_game_has_but_one(game: AnyGame) -> None:
    """Vectors that exercise a single ending would say little; Hachinin Meri is always played to its end."""
    reasons = Counter(record.result.reason for line in lines(game) if (record := read_record(line, GAMES)).result)
    assert len(reasons) >= 4 or set(reasons) == {"played"}
