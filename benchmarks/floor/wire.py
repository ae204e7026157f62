"""What travels between the floor's server and its load."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct


class Sit(Struct, tag="sit", tag_field="t", frozen=True):
    """Take the next seat of a table."""

    table: int


class Act(Struct, tag="act", tag_field="t", frozen=True):
    """A move; about 70 bytes, as a real one."""

    id: str
    action: str
    at: int


class Shown(Struct, frozen=True):
    """One of many small parts of an event."""

    card: str
    place: str


class Event(Struct, frozen=True):
    """What every seat is shown of a move: about 1.1 KB."""

    t: str
    first: int
    events: tuple[Shown, ...]


class Seen(Struct):
    """What a load reads of an event."""

    first: int = 0


class Entry(Struct, frozen=True):
    """What the log keeps of a move."""

    schema: int
    at: int
    command: str
    body: Act


PARTS: Final = tuple(Shown(card=f"{number:02}a", place="captured") for number in range(30))

command_decoder: Final = msgspec.json.Decoder(Sit | Act)
seen_decoder: Final = msgspec.json.Decoder(Seen)
encode: Final = msgspec.json.Encoder().encode
