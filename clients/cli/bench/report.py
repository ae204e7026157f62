"""What a load has measured: the shape of ``--json``, and when a measurement is worth nothing."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct

from clients.cli.bench.figures import Spread

BUSY: Final = 0.9
"""Share of the time that the generator may run or wait for a processor. Beyond it, it was the bottleneck."""
LATE_SECONDS: Final = 0.02
"""How late the generator's own timers may be (p99) where moves are due at fixed times."""


class Discarded(StrEnum):
    """Why a measurement is worth nothing."""

    GENERATOR_BUSY = "generator-busy"
    """The generator's processor was the bottleneck, not the server."""
    GENERATOR_LATE = "generator-late"
    """The generator could not keep its own schedule."""
    NOTHING_MOVED = "nothing-moved"
    """Rooms should have played, and no move was made."""


class Load(Struct, frozen=True, kw_only=True):
    """What was asked for."""

    game: str
    rooms: int
    """That play."""
    idle: int
    """Rooms beside them that are dealt and stand still."""
    persons: int
    """Connections of each room; AI hold its other seats."""
    ai: int
    """AI seats of each room."""
    rate: float | None
    """Moves a second, of all rooms together; None: as fast as the server allows."""
    seconds: float
    storm: bool
    """All connections were opened at once; and again in the end, to come back to their seats."""


class Generator(Struct, frozen=True, kw_only=True):
    """How the generator itself fared while it measured."""

    busy: float
    """Share of the time that it ran, or waited for a processor."""
    ran: float
    """Share of the time that it ran."""
    late_ms: float
    """How late its timers were (p99)."""


class Processor(Struct, frozen=True, kw_only=True):
    """Processor time while it was measured."""

    server_us: float | None
    """Microseconds a move (those of AI included), of the game server; None if nothing moved."""
    store_us: float | None
    ai_us: float | None
    """Of its AI processes."""
    server_share: float
    """Of one processor's time."""
    store_share: float
    ai_share: float


class Memory(Struct, frozen=True, kw_only=True):
    """Memory of the game server, in KiB: the growth of what it holds, divided."""

    empty: float
    """Before the first connection."""
    connection: float
    """Each, welcomed and in no room."""
    room: float
    """Each, dealt, without its connections."""
    room_with_connections: float
    played_room: float
    """Each, with its connections, after the measurement."""
    store_room: float
    """Each, dealt, in the store."""


class Arrivals(Struct, frozen=True, kw_only=True):
    """How connections came: from the first packet to the welcome, or until they had their seats back."""

    per_second: float
    took_ms: Spread
    server_us: float | None
    """Processor time of each."""
    failed: int
    """Attempts that were repeated; in a storm alone."""


class Traffic(Struct, frozen=True, kw_only=True):
    """Bytes a move, WebSocket framing included, TCP's not."""

    received: float
    """By all connections of the room together."""
    sent: float


class Stored(Struct, frozen=True, kw_only=True):
    """Bytes a move (those of AI included), of the store."""

    memory: float
    """By which its memory grew: what a move costs as long as the log of its room is kept."""
    disk: float
    """Written to disk."""


class Second(Struct, frozen=True):
    """One second of the measurement."""

    moves: int
    p50_ms: float
    p99_ms: float


class Measured(Struct, frozen=True, kw_only=True):
    """What came out."""

    moves: int
    """Made by persons, and at every seat within the time measured."""
    moves_per_second: float
    ai_moves: int
    answers: int
    """Sealed answers: no moves, for nobody is sent them."""
    took_ms: Spread | None
    """From when a move was sent (at a fixed rate: was due) until every seat had it."""
    unfinished: int
    """Of those: had not arrived in the end, and count with the time they had waited."""
    processor: Processor | None
    """None where the server's accounts cannot be read."""
    traffic: Traffic | None
    stored: Stored | None
    """None where the store's accounts cannot be read, or nothing moved."""
    refused: dict[str, int]
    lost: int
    """Connections that ended by themselves."""
    each_second: tuple[Second, ...]


class Report(Struct, frozen=True, kw_only=True):
    """A run."""

    load: Load
    start_ms: float | None
    """From the start of the server's process to the first connection's welcome; None where it ran already."""
    connecting: Arrivals
    returning: Arrivals | None
    """None but for a storm."""
    memory: Memory | None
    generator: Generator
    discarded: tuple[Discarded, ...]
    measured: Measured | None
    """None for a run that is discarded."""


def faults_of(load: Load, generator: Generator, moves: int) -> tuple[Discarded, ...]:
    """Why a run has to be discarded; nothing if it need not be."""
    found = []
    if generator.busy > BUSY:
        found.append(Discarded.GENERATOR_BUSY)
    if load.rate is not None and generator.late_ms / 1000 > LATE_SECONDS:
        found.append(Discarded.GENERATOR_LATE)
    if load.rooms and not moves:
        found.append(Discarded.NOTHING_MOVED)
    return tuple(found)
