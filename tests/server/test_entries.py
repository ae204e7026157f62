"""Entries as bytes: exact, tolerant of later optional fields, and clear about what cannot be read."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from engine.game import Seat
from protocol.events import WhyClosed
from server.entries import (
    SCHEMA,
    Acted,
    Actor,
    AnyBody,
    Closed,
    Entry,
    Joined,
    UnreadableEntry,
    decode_entry,
    encode_entry,
)
from tests.server.roomkit import Hall

ENTRY = Entry(at=5, command="c" * 24 + ".1", body=Acted(seat=Seat(1), action="d3", actor=Actor.AI))


def changed(**fields: Any) -> bytes:
    return msgspec.json.encode(msgspec.json.decode(encode_entry(ENTRY)) | fields)


def test_every_entry_says_schema_time_and_kind() -> None:
    assert msgspec.json.decode(encode_entry(ENTRY)) == {
        "schema": SCHEMA,
        "at": 5,
        "command": "c" * 24 + ".1",
        "body": {"b": "acted", "seat": 1, "action": "d3", "actor": "ai"},
    }


def test_every_entry_of_a_match_comes_back_from_its_bytes_and_makes_the_same_bytes_again() -> None:
    hall = Hall(options={"deals": 3})
    hall.join("Bob", 1)
    hall.start()
    hall.play_on()

    for entry, data in zip(hall.entries, hall.log, strict=True):
        assert decode_entry(data) == entry
        assert encode_entry(decode_entry(data)) == data


def test_optional_fields_of_a_later_writer_are_skipped() -> None:
    body = msgspec.json.decode(encode_entry(ENTRY))["body"] | {"mood": "bold"}

    assert decode_entry(changed(body=body, trace="x")) == ENTRY


def test_an_entry_of_the_first_schema_is_read_and_means_what_it_meant() -> None:
    data = b'{"schema":1,"at":5,"body":{"b":"joined","seat":1,"name":"Bob","token":"dA==","node":"n1"}}'

    assert decode_entry(data) == Entry(schema=1, at=5, body=Joined(seat=Seat(1), name="Bob", token=b"t", node="n1"))
    assert not Joined(seat=Seat(1), name="Bob", token=b"t").unnamed


def test_an_entry_of_a_newer_schema_is_refused_and_named() -> None:
    for data in (changed(schema=SCHEMA + 1), changed(schema=SCHEMA + 1, body={"b": "teleported"})):
        with pytest.raises(UnreadableEntry, match=f"schema {SCHEMA + 1}; this version reads up to {SCHEMA}") as caught:
            decode_entry(data)
        assert caught.value.schema == SCHEMA + 1


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "not an entry"),
        (b"{}", "not an entry"),
        (b"\xff", "not an entry"),
        (changed(body={"b": "teleported"}), f"not an entry of schema {SCHEMA}: Invalid value 'teleported'"),
        (changed(at="noon"), f"not an entry of schema {SCHEMA}: Expected `int`"),
    ],
)
def test_what_is_no_entry_is_refused_with_the_reason(data: bytes, problem: str) -> None:
    with pytest.raises(UnreadableEntry, match=problem) as caught:
        decode_entry(data)
    assert caught.value.schema is None


def test_the_kinds_of_entries_have_tags_of_their_own() -> None:
    tags = [kind.__struct_config__.tag for kind in AnyBody.__args__]

    assert len(tags) == len(set(tags))
    assert Closed(why=WhyClosed.IDLE).__struct_config__.tag_field == "b"
