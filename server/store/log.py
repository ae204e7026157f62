"""The logs of rooms, in the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Final

from server.log import Conflict, Head, Stored, successor
from server.store.client import Store
from server.store.wakeups import Wakeups

_PAGE: Final = 500
"""Entries read at once."""
_FOR_EVER: Final = -1
"""What TTL says of a key without a time to live."""


class StoredLog:
    """A ``RoomLog`` in ``store``. ``aclose`` it before the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._keys = store.keys
        self._wakeups = Wakeups(store.route)

    async def append(self, room: str, head: Head, data: bytes) -> Head:
        """See ``RoomLog``."""
        after, channel = successor(head, data), self._keys.wake(room)
        heard = self._wakeups.hears(channel)
        elsewhere = await self._store.function(
            "append",
            [self._keys.log(room)],
            *(head.version, head.hash, data, after.hash, channel, int(heard)),
        )
        if elsewhere:
            raise Conflict(Head(*elsewhere))
        if heard:
            self._wakeups.wake(channel, after.version)
        return after

    async def read(self, room: str, after: int = 0) -> list[Stored]:
        """See ``RoomLog``."""
        entries: list[Stored] = []
        log = self._keys.log(room)
        while True:
            page = await self._store.call(log, "XRANGE", log, f"{after + 1}-0", "+", "COUNT", _PAGE)
            for identity, (_, digest, _, data) in page:
                after = int(identity.partition(b"-")[0])
                entries.append(Stored(after, digest, data))
            if len(page) < _PAGE:
                return entries

    async def heads(self, rooms: Iterable[str]) -> dict[str, Head]:
        """See ``RoomLog``."""
        asked = {self._keys.log(room): room for room in rooms}
        groups = self._store.route.together(asked)
        answers = await asyncio.gather(*(self._store.function("ends", logs, read=True) for logs in groups))
        return {
            asked[log]: Head(*end)
            for logs, ends in zip(groups, answers, strict=True)
            for log, end in zip(logs, ends, strict=True)
        }

    async def forget(self, room: str, after_seconds: int) -> None:
        """See ``RoomLog``."""
        log = self._keys.log(room)
        await self._store.call(log, "EXPIRE", log, after_seconds)

    async def is_forgotten(self, room: str) -> bool:
        """See ``RoomLog``."""
        log = self._keys.log(room)
        return bool(await self._store.call(log, "TTL", log) != _FOR_EVER)

    def watch(self, room: str, wake: Callable[[int], None]) -> Callable[[], None]:
        """See ``RoomLog``."""
        return self._wakeups.watch(self._keys.wake(room), wake)

    async def rooms(self) -> AsyncIterator[str]:
        """See ``RoomLog``."""
        async for key in self._store.scan(self._keys.logs):
            yield self._keys.room_of_log(key)

    async def aclose(self) -> None:
        """Stop waking watchers."""
        await self._wakeups.aclose()
