"""A room's log: append by compare-and-set, read, watch.

What belongs here is the promise that the rest of the hall relies on, and the hash chain. How a store keeps it is
``server.store``'s business; what an entry means is ``server.entries``'s. To the log an entry is bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Final, Protocol

from msgspec import Struct

HASH_BYTES: Final = 32
UNKNOWN: Final = 0
"""The version in a wake-up that only says: something may have been missed, read."""


class Head(Struct, frozen=True):
    """Where a log ends: what the next append builds on."""

    version: int
    """Entries so far."""
    hash: bytes
    """32 bytes that stand for all of them (``chained``)."""


class Stored(Struct, frozen=True):
    """An entry that the log has accepted."""

    version: int
    """From 1, without holes."""
    hash: bytes
    data: bytes

    @property
    def head(self) -> Head:
        """The log's head when this was its last entry."""
        return Head(self.version, self.hash)


EMPTY: Final = Head(0, bytes(HASH_BYTES))
"""The head before the first entry."""


class Conflict(Exception):
    """The log does not end where the append says: somebody else was first, or the store lost entries.

    Nothing was written. ``head`` is where it ends.
    """

    def __init__(self, head: Head) -> None:
        super().__init__(f"the log ends at version {head.version}")
        self.head = head


class StoreUnavailable(Exception):
    """The store did not answer. An append's outcome is unknown: read, and look for the command id before retrying."""


class StoreFull(Exception):
    """The store has no room for more. Nothing was written."""


class Forked(Exception):
    """Entries do not continue what the reader knows: a failover or a restored backup took back what it had read.

    The reader starts again from ``EMPTY`` and shows everybody the room afresh.
    """


def chained(previous: bytes, data: bytes) -> bytes:
    """SHA-256 over the predecessor's hash (32 bytes) and the entry's bytes."""
    return hashlib.sha256(previous + data).digest()


def successor(head: Head, data: bytes) -> Head:
    """The head after ``data`` has been appended to ``head``."""
    return Head(head.version + 1, chained(head.hash, data))


def follow(head: Head, entries: Iterable[Stored]) -> Head:
    """The head after ``entries``, which must continue ``head`` without a hole.

    Raises:
        Forked: they do not: a version is missing or a hash does not fit.
    """
    for entry in entries:
        expected = successor(head, entry.data)
        if entry.head != expected:
            raise Forked(f"version {entry.version} does not continue version {head.version}")
        head = expected
    return head


class RoomLog(Protocol):
    """The logs of all rooms. Every method but ``watch`` may raise ``StoreUnavailable``."""

    async def append(self, room: str, head: Head, data: bytes) -> Head:
        """Append ``data`` to the log of ``room`` if that ends at ``head``; the new head.

        A cancelled call may or may not have appended, like one that raised ``StoreUnavailable``.

        Raises:
            Conflict: the log ends elsewhere; nothing was written.
            StoreFull: nothing was written.
            StoreUnavailable: outcome unknown.
        """
        ...

    async def read(self, room: str, after: int = 0) -> list[Stored]:
        """The entries after version ``after``, in order. Pass them through ``follow``: it finds a rolled-back log."""
        ...

    async def heads(self, rooms: Iterable[str]) -> dict[str, Head]:
        """Where each log ends; ``EMPTY`` for a room that has none. Cheap: for finding lost wake-ups and lost ends."""
        ...

    async def forget(self, room: str, after_seconds: int) -> None:
        """Give the room's log a time to live. A later call replaces it."""
        ...

    async def is_forgotten(self, room: str) -> bool:
        """Whether the log has a time to live, because its room is over, or is gone already."""
        ...

    def watch(self, room: str, wake: Callable[[int], None]) -> Callable[[], None]:
        """Call ``wake(version)`` on the event loop whenever the log of ``room`` has grown; returns "stop".

        Whenever listening begins (also again, after a broken connection) there is one ``wake(UNKNOWN)``, so what came
        in between is not missed. Wake-ups may come twice, out of order, or for one's own append. ``wake`` must
        neither block nor raise. Stopping twice is harmless.
        """
        ...

    def rooms(self) -> AsyncIterator[str]:
        """Every room that has a log, each at least once, in no order. Slow: for start-up, repair and administration."""
        ...
