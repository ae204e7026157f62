"""A server of the next version: it writes entries of the next schema, which this version cannot read, and reads both.

``python -m tests.faults.successor`` takes the place of ``python -m server`` in the rolling upgrade's test.

The next schema counts time in microseconds, under the name that this one has for milliseconds, and tells who acted and
how in one field: an older entry that were read without being migrated would mean something else, or nothing.
"""

from __future__ import annotations

import sys
from typing import Any, Final

import msgspec

from server import entries
from server.entries import Entry, UnreadableEntry, decode_entry, encode_entry
from server.main import main

NEXT: Final = entries.SCHEMA + 1


def encode_next(entry: Entry) -> bytes:
    """``entry`` as the next version writes it."""
    return msgspec.json.encode(_migrated(msgspec.json.decode(encode_entry(entry))))


def decode_next(data: bytes) -> Entry:
    """The entry in ``data``, which the next version or an earlier one wrote.

    Raises:
        UnreadableEntry: a version after the next one wrote it.
    """
    entry = msgspec.json.decode(data)
    if entry["schema"] > NEXT:
        raise UnreadableEntry("a later schema", entry["schema"])
    if entry["schema"] < NEXT:
        entry = _migrated(entry)
    return decode_entry(msgspec.json.encode(_understood(entry)))


def schema_of(data: bytes) -> int:
    """The schema of the entry in ``data``."""
    schema: int = msgspec.json.decode(data)["schema"]
    return schema


def _migrated(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry of an earlier schema in the next one's form."""
    body = dict(entry["body"])
    if body["b"] == "acted":
        body["act"] = [body.pop("actor"), body.pop("action")]
    return entry | {"schema": NEXT, "at": entry["at"] * 1_000, "body": body}


def _understood(entry: dict[str, Any]) -> dict[str, Any]:
    """What an entry in the next schema's form means to the rest of the server, which is this version's."""
    body = dict(entry["body"])
    if body["b"] == "acted":
        body["actor"], body["action"] = body.pop("act")
    return entry | {"schema": entries.SCHEMA, "at": entry["at"] // 1_000, "body": body}


def become_the_next_version() -> None:
    """From now on this process is of the next version."""
    for name, module in tuple(sys.modules.items()):
        if name.startswith("server."):
            for function, replacement in (("encode_entry", encode_next), ("decode_entry", decode_next)):
                if hasattr(module, function) and module is not entries:
                    setattr(module, function, replacement)


if __name__ == "__main__":
    become_the_next_version()
    sys.exit(main())
