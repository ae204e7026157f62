"""What is derived from the logs and heals itself: codes, the lobby, due times, live nodes, the archive.

Nothing here decides anything: joining is decided by the room's log, driving twice is settled by the append. So each
call is idempotent, touches one hash slot at a time, and may be repeated or lost; everything in here is bounded and
expires or is refreshed by whoever holds the room.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, Protocol

from msgspec import Struct


class Due(Struct, frozen=True):
    """A room and when something is due there."""

    room: str
    at_ms: int
    """Milliseconds since the epoch."""


class Archived(Struct, frozen=True, kw_only=True):
    """The record of a finished deal."""

    room: str
    match: str
    deal: int
    attempt: int
    record: bytes


class Outage(Struct, frozen=True):
    """A time in which no node could say that it lives: all were down, or the store was. Milliseconds of the epoch."""

    since_ms: int
    until_ms: int


LONG_AGO: Final = 0
"""A due time that is a question: who can read this room? Whoever can looks into it, drives it from then on, and answers
with its real time, within a round of repair.
"""

OUTAGE_MS: Final = 3_000
"""Shorter silences are none: another node takes over sooner, and a failover of the store takes about as long."""
OUTAGES_KEPT: Final = 16


class Order(Struct, frozen=True, kw_only=True):
    """What an operator tells nodes that are up. Orders are no state: who starts later never hears of them."""

    what: str
    """``announce`` (``text`` to every person who is connected) or ``drain`` (``node`` ends in order)."""
    node: str = ""
    text: str = ""


ORDERS_KEPT: Final = 64


class Heard(Struct, frozen=True, kw_only=True):
    """What a node hears of orders."""

    orders: list[Order]
    """The earliest first."""
    missed: int
    """How many more there were before these, which are kept no more."""
    cursor: str
    """What to ask with next time."""


class Index(Protocol):
    """What nodes tell each other about rooms besides their logs.

    Every call may raise ``server.log.StoreUnavailable``; those that write may raise ``StoreFull``.
    """

    async def claim_code(self, code: str, room: str) -> bool:
        """Make ``code`` lead to ``room`` for a while; repeated, it prolongs. False: the code leads elsewhere."""
        ...

    async def release_code(self, code: str, room: str, after_seconds: int) -> None:
        """Let ``code`` lead to ``room`` for so long at most, if it does; never for longer than it would have."""
        ...

    async def room_of(self, code: str) -> str | None:
        """The room that ``code`` leads to."""
        ...

    async def list_room(self, room: str, game: str, summary: bytes) -> int:
        """Show the room in the lobby for a while; repeat it, with news or without, to keep it there.

        How many rooms dropped out for it because the lobby was full: those told least recently.
        """
        ...

    async def keep_listed(self, room: str) -> bool:
        """Keep the room in the lobby for a while longer, as somebody told it last; whether it is there."""
        ...

    async def unlist(self, room: str) -> None:
        """Take the room out of the lobby."""
        ...

    async def listed(self, game: str | None, limit: int) -> list[bytes]:
        """Up to ``limit`` summaries, of ``game`` only or of all games; the latest told first."""
        ...

    async def set_due(self, room: str, at_ms: int | None) -> None:
        """The room is alive and has something due at ``at_ms``; None: it is over and needs nobody.

        Call it before a room's first append, too, so that no crash leaves a room that nobody drives.
        """
        ...

    async def due(self, until_ms: int, limit: int) -> list[Due]:
        """Up to ``limit`` rooms with something due at or before ``until_ms``, the earliest first."""
        ...

    async def count_live(self) -> int:
        """How many rooms are alive."""
        ...

    async def has_due(self, room: str) -> bool:
        """Whether the room has a due time. One that is alive and has none was lost to the index."""
        ...

    async def all_live(self, cursor: str | None = None) -> tuple[str | None, list[str]]:
        """Some of the live rooms and the cursor for the next ones, None at the end. Begin with None.

        Each room that is alive throughout comes at least once. Times are hints that a crash can leave too late:
        whoever starts, or inherits rooms of a node that is gone, walks this and reads the rooms' logs.
        """
        ...

    async def beat(self, node: str, ttl_ms: int) -> list[str]:
        """``node`` is alive for another ``ttl_ms``; all live nodes, sorted. Notes the outage that this beat ends."""
        ...

    async def outages(self) -> list[Outage]:
        """The latest outages, up to ``OUTAGES_KEPT``, the earliest first."""
        ...

    async def nodes(self) -> list[str]:
        """All live nodes, sorted."""
        ...

    async def order(self, order: Order) -> None:
        """Tell all nodes that are up. The latest ``ORDERS_KEPT`` are kept."""
        ...

    async def orders(self, after: str | None) -> Heard:
        """What was ordered since ``after``, the ``cursor`` of the last time. None: only what comes from now on."""
        ...

    async def archive(self, room: str, match: str, deal: int, record: bytes, *, attempt: int = 1) -> int:
        """Keep the record of a finished deal. The first one told stays. ``attempt`` counts redeals of the deal.

        How many records were given up for it because the archive was full: the oldest.
        """
        ...

    def archived(self, *, room: str | None = None, match: str | None = None) -> AsyncIterator[Archived]:
        """Records that are kept, of one room or match or all. Those of one match come in order of deal and attempt."""
        ...
