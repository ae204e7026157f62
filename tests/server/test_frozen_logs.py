"""Logs that servers have written stay readable for ever: rooms are upgraded under the hands of their players."""

from __future__ import annotations

from pathlib import Path
from typing import Final, get_args

import msgspec
import pytest

from engine.registry import GAMES
from server.entries import SCHEMA, AnyBody, UnreadableEntry, decode_entry
from tests.faults.successor import NEXT, decode_next, encode_next, schema_of
from tests.server.freeze import LOGS, lines_of, told

FROZEN: Final = sorted(LOGS.glob("*/*.log"))
each_log: Final = pytest.mark.parametrize("log", FROZEN, ids=lambda log: f"{log.parent.name}-{log.stem}")


def test_a_log_of_each_game_is_kept_of_every_schema_there_ever_was() -> None:
    """Where this fails after a change of the schema: ``python -m tests.server.freeze``."""
    kept = {(int(log.parent.name), log.stem) for log in FROZEN}

    assert kept == {(schema, game) for schema in range(1, SCHEMA + 1) for game in GAMES}


def test_the_kept_logs_hold_every_kind_of_entry() -> None:
    """Where this fails after a new kind: let it happen in ``tests.server.freeze``, and keep logs under another name."""
    kinds = {type(decode_entry(entry).body) for log in FROZEN for entry in log.read_bytes().splitlines()}

    assert kinds == set(get_args(AnyBody))


@each_log
def test_an_old_log_makes_what_it_made_when_it_was_written(log: Path) -> None:
    stored = lines_of(log.read_bytes())
    expected = [msgspec.json.decode(line) for line in log.with_suffix(".jsonl").read_bytes().splitlines()]

    assert {schema_of(each.data) for each in stored} == {int(log.parent.name)}
    for made, was in zip(told(stored), expected, strict=True):
        assert made == was


@each_log
def test_the_next_version_of_the_upgrade_tests_reads_old_logs_and_only_itself_its_own(log: Path) -> None:
    """What the rolling upgrade's test relies on."""
    for data in log.read_bytes().splitlines():
        entry = msgspec.structs.replace(decode_entry(data), schema=SCHEMA)
        written = encode_next(entry)

        assert decode_next(data) == decode_next(written) == entry
        assert schema_of(written) == NEXT
        with pytest.raises(UnreadableEntry) as problem:
            decode_entry(written)
        assert problem.value.schema == NEXT
