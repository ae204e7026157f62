"""A log and an index in memory that keep the same promises as the store's. ``test_log`` and ``test_index`` hold both
to them.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable

from server.index import ORDERS_KEPT, OUTAGE_MS, OUTAGES_KEPT, Archived, Due, Heard, Order, Outage
from server.log import EMPTY, UNKNOWN, Conflict, Head, Stored, StoreFull, StoreUnavailable, successor


class MemoryLog:
    """A ``RoomLog``. Several hosts may share one, like several nodes one store."""

    def __init__(self) -> None:
        self.entries: defaultdict[str, list[Stored]] = defaultdict(list)
        self.forgotten: dict[str, int] = {}
        """Seconds to live, by room."""
        self.available = True
        """False: every call raises ``StoreUnavailable`` and does nothing."""
        self.full = False
        """True: appends raise ``StoreFull``."""
        self.lose_replies = 0
        """So many appends are written and then raise ``StoreUnavailable``."""
        self._watchers: defaultdict[str, dict[int, Callable[[int], None]]] = defaultdict(dict)
        self._numbers = itertools.count()

    async def append(self, room: str, head: Head, data: bytes) -> Head:
        await self._reach()
        log = self.entries[room]
        actual = log[-1].head if log else EMPTY
        if head != actual:
            raise Conflict(actual)
        if self.full:
            raise StoreFull
        after = successor(head, data)
        log.append(Stored(after.version, after.hash, data))
        self.wake(room, after.version)
        if self.lose_replies:
            self.lose_replies -= 1
            raise StoreUnavailable("the reply was lost")
        return after

    async def read(self, room: str, after: int = 0) -> list[Stored]:
        await self._reach()
        return self.entries[room][after:] if room in self.entries else []

    async def heads(self, rooms: Iterable[str]) -> dict[str, Head]:
        await self._reach()
        logs = {room: self.entries.get(room) for room in rooms}
        return {room: log[-1].head if log else EMPTY for room, log in logs.items()}

    async def forget(self, room: str, after_seconds: int) -> None:
        await self._reach()
        if room in self.entries:
            self.forgotten[room] = after_seconds

    async def is_forgotten(self, room: str) -> bool:
        await self._reach()
        return room in self.forgotten or not self.entries.get(room)

    def watch(self, room: str, wake: Callable[[int], None]) -> Callable[[], None]:
        number = next(self._numbers)
        self._watchers[room][number] = wake
        asyncio.get_running_loop().call_soon(self._wake_one, room, number, UNKNOWN)

        def stop() -> None:
            self._watchers[room].pop(number, None)

        return stop

    async def rooms(self) -> AsyncIterator[str]:
        await self._reach()
        for room in [room for room, log in self.entries.items() if log]:
            yield room

    def wake(self, room: str, version: int) -> None:
        """What the store's pub/sub does."""
        loop = asyncio.get_running_loop()
        for number in self._watchers[room]:
            loop.call_soon(self._wake_one, room, number, version)

    def _wake_one(self, room: str, number: int, version: int) -> None:
        wake = self._watchers[room].get(number)
        if wake is not None:
            wake(version)

    def roll_back(self, room: str, version: int) -> None:
        """Lose what came after ``version``, as a failover can."""
        del self.entries[room][version:]

    async def _reach(self) -> None:
        await asyncio.sleep(0)  # a store is never reached without giving others a turn
        if not self.available:
            raise StoreUnavailable("switched off")


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class MemoryIndex:
    """An ``Index`` that has room for everything. ``now_ms`` is its clock: milliseconds since the epoch."""

    def __init__(
        self, now_ms: Callable[[], int] = _wall_ms, *, code_ttl_ms: int = 86_400_000, lobby_ttl_ms: int = 30_000
    ) -> None:
        self.available = True
        self.now_ms = now_ms
        self._code_ttl = code_ttl_ms
        self._lobby_ttl = lobby_ttl_ms
        self._codes: dict[str, tuple[str, int]] = {}
        self._lobby: dict[str, tuple[str, bytes, int]] = {}
        self._due: dict[str, int] = {}
        self._nodes: dict[str, int] = {}
        self._alive_at: int | None = None
        self._outages: list[Outage] = []
        self._orders: list[Order] = []
        """All there ever were, from the first one."""
        self._archive: dict[tuple[str, str, int, int], bytes] = {}

    async def claim_code(self, code: str, room: str) -> bool:
        await self._reach()
        holder, until = self._codes.get(code, (room, 0))
        if holder != room and until > self.now_ms():
            return False
        self._codes[code] = room, self.now_ms() + self._code_ttl
        return True

    async def release_code(self, code: str, room: str, after_seconds: int) -> None:
        await self._reach()
        holder, until = self._codes.get(code, (None, 0))
        if holder == room:
            self._codes[code] = room, min(until, self.now_ms() + after_seconds * 1000)

    async def room_of(self, code: str) -> str | None:
        await self._reach()
        room, until = self._codes.get(code, (None, 0))
        return room if until > self.now_ms() else None

    async def list_room(self, room: str, game: str, summary: bytes) -> int:
        await self._reach()
        self._lobby.pop(room, None)
        self._lobby[room] = game, summary, self.now_ms() + self._lobby_ttl
        return 0

    async def keep_listed(self, room: str) -> bool:
        await self._reach()
        if room not in self._lobby:
            return False
        game, summary, _ = self._lobby.pop(room)
        self._lobby[room] = game, summary, self.now_ms() + self._lobby_ttl
        return True

    async def unlist(self, room: str) -> None:
        await self._reach()
        self._lobby.pop(room, None)

    async def listed(self, game: str | None, limit: int) -> list[bytes]:
        await self._reach()
        now = self.now_ms()
        shown = [summary for of, summary, until in reversed(self._lobby.values()) if until > now and game in (None, of)]
        return shown[:limit]

    async def set_due(self, room: str, at_ms: int | None) -> None:
        await self._reach()
        if at_ms is None:
            self._due.pop(room, None)
        else:
            self._due[room] = at_ms

    async def due(self, until_ms: int, limit: int) -> list[Due]:
        await self._reach()
        due = sorted((at, room) for room, at in self._due.items() if at <= until_ms)
        return [Due(room, at) for at, room in due[:limit]]

    async def count_live(self) -> int:
        await self._reach()
        return len(self._due)

    async def has_due(self, room: str) -> bool:
        await self._reach()
        return room in self._due

    async def all_live(self, cursor: str | None = None) -> tuple[str | None, list[str]]:
        await self._reach()
        return None, list(self._due)

    async def beat(self, node: str, ttl_ms: int) -> list[str]:
        await self._reach()
        now = self.now_ms()
        if self._alive_at is not None and now - self._alive_at > OUTAGE_MS:
            self._outages = [*self._outages, Outage(self._alive_at, now)][-OUTAGES_KEPT:]
        self._alive_at = now
        self._nodes[node] = now + ttl_ms
        return await self.nodes()

    async def outages(self) -> list[Outage]:
        await self._reach()
        return list(self._outages)

    async def nodes(self) -> list[str]:
        await self._reach()
        return sorted(node for node, until in self._nodes.items() if until > self.now_ms())

    async def order(self, order: Order) -> None:
        await self._reach()
        self._orders.append(order)

    async def orders(self, after: str | None) -> Heard:
        await self._reach()
        count = len(self._orders)
        seen = count if after is None else int(after)
        first = max(seen, count - ORDERS_KEPT)
        return Heard(orders=self._orders[first:], missed=first - seen, cursor=str(count))

    async def archive(self, room: str, match: str, deal: int, record: bytes, *, attempt: int = 1) -> int:
        await self._reach()
        self._archive.setdefault((room, match, deal, attempt), record)
        return 0

    async def archived(self, *, room: str | None = None, match: str | None = None) -> AsyncIterator[Archived]:
        await self._reach()
        for (of_room, of_match, deal, attempt), record in sorted(self._archive.items()):
            if room in (None, of_room) and match in (None, of_match):
                yield Archived(room=of_room, match=of_match, deal=deal, attempt=attempt, record=record)

    async def _reach(self) -> None:
        await asyncio.sleep(0)
        if not self.available:
            raise StoreUnavailable("switched off")
