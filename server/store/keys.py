"""Every key and channel that Fudaza uses in a store. No other file makes one.

All keys of a room share its hash tag, so a Function may touch them together in a cluster. Anything else in a tag of its
own is touched alone.
"""

from __future__ import annotations

import re
from typing import Final
from zlib import crc32

from server.store.address import CannotOpen
from wording import _

DUE_SHARDS: Final = 8
ARCHIVE_SHARDS: Final = 16
# Changing a number above moves what is stored: rooms would lose their due times, and records be hidden.

_PREFIX: Final = re.compile(r"[A-Za-z0-9_.:-]{0,64}")
_LOG: Final = re.compile(rb"\{([^{}]+)\}:log")


class Keys:
    """The names under one prefix; several installations can share a store by different ones."""

    def __init__(self, prefix: str = "fudaza:") -> None:
        if not _PREFIX.fullmatch(prefix):
            raise CannotOpen(
                _("the key prefix {prefix!r} may have only letters, digits and _ . : -").format(prefix=prefix)
            )
        self._prefix = prefix

    def log(self, room: str) -> str:
        """A stream: entry ``7-0`` is version 7, with fields ``h`` (hash) and ``d`` (data)."""
        return f"{self._prefix}{{{room}}}:log"

    def wake(self, room: str) -> str:
        """A sharded channel; its messages are versions."""
        return f"{self._prefix}{{{room}}}:wake"

    @property
    def logs(self) -> str:
        """A SCAN pattern for the logs of all rooms."""
        return f"{self._prefix}{{*}}:log"

    def room_of_log(self, key: bytes) -> str:
        """The room whose log has this key."""
        found = _LOG.fullmatch(key.removeprefix(self._prefix.encode()))
        assert found, key
        return found[1].decode()

    def code(self, code: str) -> str:
        """A string: the room that a short code leads to."""
        return f"{self._prefix}code:{{{code}}}"

    @property
    def nodes(self) -> tuple[str, str, str]:
        """A sorted set, nodes by when they count as gone; a string, when one last said that it lives; and a list, the
        latest outages, each as ``since:until``.
        """
        return f"{self._prefix}{{nodes}}", f"{self._prefix}{{nodes}}:alive", f"{self._prefix}{{nodes}}:outages"

    @property
    def orders(self) -> str:
        """A short stream: what operators tell nodes."""
        return f"{self._prefix}{{orders}}"

    def rate(self, what: str, whose: str) -> str:
        """A hash that expires: what is left of somebody's measure of something."""
        return f"{self._prefix}{{rate-{what}-{whose}}}"

    @property
    def lobby(self) -> tuple[str, str]:
        """A sorted set, rooms by when they drop out; and a hash, their games and summaries."""
        return f"{self._prefix}{{lobby}}:until", f"{self._prefix}{{lobby}}:rooms"

    def due_shard(self, room: str) -> int:
        """Which of ``due`` has the room."""
        return crc32(room.encode()) % DUE_SHARDS

    def due(self, shard: int) -> str:
        """A sorted set: live rooms by when something is due."""
        return f"{self._prefix}{{due-{shard}}}"

    def archive_shard(self, match: str) -> int:
        """Which of ``archive`` has the match."""
        return crc32(match.encode()) % ARCHIVE_SHARDS

    def archive(self, shard: int) -> tuple[str, str]:
        """A sorted set, record names by when they came; and a hash, the records."""
        return f"{self._prefix}{{archive-{shard}}}:order", f"{self._prefix}{{archive-{shard}}}:records"
