"""Numbers of move sequences from fixed positions, by depth: kept as files, counted by the engine, partly a second time.

A position is a deck, a dealer and the moves up to it. Of several awaited seats the lowest answers first.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.game import Seat
from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri.types import State
from tests.engine.hachinin_meri.naive import Move, Naive

FILES = sorted((Path(__file__).parent / "perft").glob("*.json"))
TWICE = 130
"""Counts up to this are made a second time, with ``naive``."""


def read(file: Path) -> dict[str, Any]:
    """The position and its counts."""
    position: dict[str, Any] = json.loads(file.read_text())
    return position


def sequences(state: State, depth: int) -> int:
    """How many sequences of ``depth`` moves there are; a deal that ends before counts as one."""
    awaited = sorted(GAME.awaiting(state))
    if not depth or not awaited:
        return 1
    seat = awaited[0]
    return sum(sequences(GAME.apply(state, seat, action).state, depth - 1) for action in GAME.legal_at(state, seat))


def naive_sequences(options: dict[str, str], position: dict[str, Any], moves: list[Move], depth: int) -> int:
    """The same with the rules written a second time."""
    naive = Naive(options, position["dealer"], position["deck"], moves)
    if not depth or naive.over:
        return 1
    seat = next(seat for seat in range(8) if seat not in naive.answers) if len(moves) < 8 else naive.turn
    return sum(naive_sequences(options, position, [*moves, (seat, text)], depth - 1) for text in naive.legal(seat))


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_the_number_of_move_sequences_is_what_the_file_says(file: Path) -> None:
    position = read(file)
    options = GAME.complete_options(position["options"])
    state = GAME.deal(options, position["deck"], Seat(position["dealer"])).state
    for seat, text in position["moves"]:
        state = GAME.apply(state, Seat(seat), GAME.parse(text)).state
    counts = position["counts"]
    assert [sequences(state, depth) for depth in range(1, len(counts) + 1)] == counts


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_the_small_counts_hold_for_the_rules_written_a_second_time(file: Path) -> None:
    position = read(file)
    options = {name: str(value) for name, value in GAME.complete_options(position["options"]).items()}
    moves: list[Move] = [(seat, text) for seat, text in position["moves"]]
    for depth, count in enumerate(position["counts"], 1):
        if count <= TWICE:
            assert naive_sequences(options, position, moves, depth) == count


def test_the_positions_are_there() -> None:
    assert len(FILES) == 6
