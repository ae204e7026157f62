"""What a room's log can hold, and how it becomes bytes.

Belongs here: the entries, their schema version, encoding and decoding. What an entry *does* to a room is
``server.room``'s business. An entry tells an outcome, never a wish: whatever was random or timed stands in it as a
value, so that folding the same entries gives the same room anywhere and at any time.

The log is inside the trust boundary (it holds decks, seeds and sealed answers); of tokens it holds only hashes.

Growing: a new optional field (with a default that means what was true before) or a new kind of entry that only new
rooms write keeps the schema's number. Whatever would make an older reader fold something else raises ``SCHEMA``. Old
entries stay readable for ever: live rooms are upgraded under the hands of their players.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from engine.game import Card, OptionValue, Seat
from protocol.events import Signal, WhyClosed, WhyFreed
from protocol.messages import Settings

SCHEMA: Final = 2
"""The version of the entries written here, and the latest that can be read; all earlier ones can be read as well."""


class Actor(StrEnum):
    """Who acted for a seat."""

    PERSON = "person"
    AI = "ai"
    """An AI that holds the seat or stands in for its person."""
    CLOCK = "clock"
    """Nobody did in time: the game's default action."""


class Timing(Struct, frozen=True, gc=False, kw_only=True):
    """How long a room waits for what, in milliseconds. The operator's settings when the room was opened; they stand in
    the log so that every node sees the same deadlines.
    """

    contributions_ms: int = 5_000
    """For contributions to the shuffle."""
    question_ms: int = 10_000
    """From a sealed question to the publication of the answers: always, also when all have answered (H10)."""
    pause_ms: int = 15_000
    """Between two deals."""
    redeal_ms: int = 5_000
    """Before a redeal, so that everybody can read why."""
    grace_ms: int = 30_000
    """From a lost connection to the AI sitting in."""
    person_idle_ms: int = 24 * 3_600_000
    """For a decision of a person without a turn limit; then an AI stands in."""
    ai_limit_ms: int = 60_000
    """For a decision of an AI; then the default action. A net below the drivers' own, much shorter, limits."""
    abandoned_ms: int = 300_000
    """From the last person's leaving to the end of the room. It stands still meanwhile."""
    lobby_idle_ms: int = 3_600_000
    """Without any command before a match."""
    finished_idle_ms: int = 900_000
    """Without any command after a match."""


# Bodies ----------------------------------------------------------------------------------------------------------


class Body(Struct, frozen=True, kw_only=True, tag_field="b"):
    """What an entry says."""


class Created(Body, frozen=True, tag="created"):
    """The room was opened; its creator sat down as the host. Always the first entry, and only that."""

    room: str
    code: str
    game: str
    options: dict[str, OptionValue]
    """Complete."""
    settings: Settings
    timing: Timing
    seat: Seat
    name: str
    token: bytes
    """SHA-256 of the seat's token."""
    node: str = ""
    """The node that holds the connection."""
    salt: bytes = b""
    """16 random bytes that nobody outside is told: they make every hash of this log unforeseeable, so that pieces of it
    may be shown (``server.marks``). Empty: an older server wrote this."""


class Joined(Body, frozen=True, tag="joined"):
    """A person sat down in an open seat or in the place of an AI."""

    seat: Seat
    name: str
    token: bytes
    """SHA-256 of the seat's token."""
    node: str = ""
    unnamed: bool = False
    """They are not called by ``name`` before the deal in play is over (since schema 2)."""


class Returned(Body, frozen=True, tag="returned"):
    """A person proved who they are on a new connection and got a new token."""

    seat: Seat
    token: bytes
    """SHA-256 of the new token."""
    kept: bytes
    """SHA-256 of the token that stays valid until the new one is first used."""
    by_token: bool
    """The person showed a token; otherwise they repeated the command that seated them, whose answer was lost."""
    node: str = ""


class Moved(Body, frozen=True, tag="moved"):
    """A person changed seats before a match."""

    seat: Seat
    to: Seat


class AiSat(Body, frozen=True, tag="ai-sat"):
    """An AI was put into a seat, or its level changed."""

    seat: Seat
    level: str


class AiCleared(Body, frozen=True, tag="ai-cleared"):
    """An AI was taken out of a seat."""

    seat: Seat


class Freed(Body, frozen=True, tag="freed"):
    """A person lost their seat. During a match an AI plays on."""

    seat: Seat
    why: WhyFreed


class Opened(Body, frozen=True, tag="opened"):
    """A match was opened: AI took the open seats, and the seeds' commitments were published."""

    level: str
    """Of the AI that took open seats, and of those that will stand in or play on."""
    match: str
    rules: int
    """``Game.rules_version``."""
    seeds: tuple[bytes, ...]
    """32 bytes for each deal, from the first."""


class Contributed(Body, frozen=True, tag="contributed"):
    """A person's client contributed to the shuffle."""

    seat: Seat
    value: bytes
    """32 bytes."""


class Dealt(Body, frozen=True, tag="dealt"):
    """A deck was dealt. For the first deal of a match this also fixes the contributions."""

    deck: tuple[Card, ...]
    drawn: Seat
    """The seat drawn for rules and options that draw a beginner (``engine.shuffle.beginner_of``)."""


class Acted(Body, frozen=True, tag="acted"):
    """An action was performed for a seat."""

    seat: Seat
    action: str
    """In the notation of the game."""
    actor: Actor


class Answered(Body, frozen=True, tag="answered"):
    """A seat gave its sealed answer. It stays unseen, and makes no event, until ``Published``."""

    seat: Seat
    action: str
    actor: Actor


class Silent(Struct, frozen=True):
    """What counts as the sealed answer of a seat that gave none."""

    seat: Seat
    action: str


class Published(Body, frozen=True, tag="published"):
    """The sealed answers took effect together."""

    silent: tuple[Silent, ...]


class Readied(Body, frozen=True, tag="readied"):
    """A person is ready for the next deal."""

    seat: Seat


class Rematched(Body, frozen=True, tag="rematched"):
    """Back to the state before the match."""


class Said(Body, frozen=True, tag="said"):
    """A person said something."""

    seat: Seat
    text: str
    """Normalised."""


class Winked(Body, frozen=True, tag="winked"):
    """A person gave their partners an eye signal."""

    seat: Seat
    signal: Signal


class Muted(Body, frozen=True, tag="muted"):
    """A person does not want to read another, or wants to again; the host may decide so for everyone."""

    seat: Seat
    other: Seat
    on: bool
    everyone: bool = False


class Locked(Body, frozen=True, tag="locked"):
    """The host lets nobody new sit down, or opens the room again."""

    on: bool


class Dropped(Body, frozen=True, tag="dropped"):
    """A person's connection is gone."""

    seat: Seat


class StoodIn(Body, frozen=True, tag="stood-in"):
    """An AI moves for a person from now on: the grace period is over, or they did nothing for far too long."""

    seat: Seat


class Refunded(Body, frozen=True, tag="refunded"):
    """Time that an outage of ours took is given back: everything this room waits for happens that much later."""

    ms: int


class Closed(Body, frozen=True, tag="closed"):
    """The room takes no more commands. Always the last entry."""

    why: WhyClosed


AnyBody: TypeAlias = (
    Created
    | Joined
    | Returned
    | Moved
    | AiSat
    | AiCleared
    | Freed
    | Opened
    | Contributed
    | Dealt
    | Acted
    | Answered
    | Published
    | Readied
    | Rematched
    | Said
    | Winked
    | Muted
    | Locked
    | Dropped
    | StoodIn
    | Refunded
    | Closed
)


class Entry(Struct, frozen=True, kw_only=True):
    """One entry of a room's log."""

    schema: int = SCHEMA
    at: int
    """Milliseconds since the epoch; never before the entry before it."""
    command: str | None = None
    """The id of the command that it answers; None for what clocks, drivers and connections report."""
    body: AnyBody


# Bytes -----------------------------------------------------------------------------------------------------------


class UnreadableEntry(Exception):
    """The bytes are no entry that this version knows: a bug, a damaged log, or a newer writer (``schema``)."""

    def __init__(self, problem: str, schema: int | None = None) -> None:
        super().__init__(problem)
        self.schema = schema
        """The entry's schema, if that is what is unknown."""


class _Envelope(Struct):
    schema: int


_encoder: Final = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder(Entry)
_envelope_decoder: Final = msgspec.json.Decoder(_Envelope)


def encode_entry(entry: Entry) -> bytes:
    """The entry as JSON; bytes in it as base64. The same entry gives the same bytes."""
    return _encoder.encode(entry)


def decode_entry(data: bytes) -> Entry:
    """The entry in ``data``. Unknown fields are skipped: a later writer of the same schema may have optional ones.

    Raises:
        UnreadableEntry: there is none, or its schema is newer than ``SCHEMA``.
    """
    try:
        entry = _decoder.decode(data)
    except msgspec.MsgspecError as problem:
        raise _unreadable(data, str(problem)) from problem
    if not 0 < entry.schema <= SCHEMA:
        raise _unreadable(data, "")
    return entry


def _unreadable(data: bytes, problem: str) -> UnreadableEntry:
    """Why ``data`` could not be read; a foreign schema explains any other problem and is named first."""
    try:
        schema = _envelope_decoder.decode(data).schema
    except msgspec.MsgspecError:
        return UnreadableEntry(f"not an entry: {problem}")
    if not 0 < schema <= SCHEMA:
        return UnreadableEntry(f"an entry of schema {schema}; this version reads up to {SCHEMA}", schema)
    return UnreadableEntry(f"not an entry of schema {schema}: {problem}")
