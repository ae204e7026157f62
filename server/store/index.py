"""What is derived from the logs, in the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from server.index import ORDERS_KEPT, OUTAGE_MS, OUTAGES_KEPT, Archived, Due, Heard, Order, Outage
from server.store.client import Store
from server.store.keys import ARCHIVE_SHARDS, DUE_SHARDS

_PAGE: Final = 500
_BEFORE_ALL: Final = "0-0:0"
_RECORDS: Final = 100
"""Records fetched at once."""


class Bounds(Struct, frozen=True, kw_only=True):
    """How much is kept, and how long without being told again."""

    code_seconds: int = 86_400
    lobby_ms: int = 30_000
    lobby_rooms: int = 10_000
    archive_ms: int = 90 * 86_400_000
    archive_records: int = 200_000


_BOUNDS: Final = Bounds()


class StoredIndex:
    """An ``Index`` in ``store``. ``time_source`` is milliseconds since the epoch in tests, else the store's clock."""

    def __init__(self, store: Store, bounds: Bounds = _BOUNDS, *, time_source: int | None = None) -> None:
        self._store = store
        self._keys = store.keys
        self._bounds = bounds
        self.time_source: int | str = "" if time_source is None else time_source

    async def claim_code(self, code: str, room: str) -> bool:
        """See ``Index``."""
        key = self._keys.code(code)
        seconds = self._bounds.code_seconds
        holder = await self._store.call(key, "SET", key, room, "NX", "GET", "EX", seconds)
        if holder is None:
            return True
        if holder.decode() != room:
            return False
        await self._store.call(key, "EXPIRE", key, seconds)
        return True

    async def release_code(self, code: str, room: str, after_seconds: int) -> None:
        """See ``Index``."""
        if await self.room_of(code) == room:
            key = self._keys.code(code)
            await self._store.call(key, "EXPIRE", key, after_seconds, "LT")

    async def room_of(self, code: str) -> str | None:
        """See ``Index``."""
        key = self._keys.code(code)
        room = await self._store.call(key, "GET", key)
        return None if room is None else str(room.decode())

    async def list_room(self, room: str, game: str, summary: bytes) -> int:
        """See ``Index``."""
        bounds = self._bounds
        return int(
            await self._store.function(
                "list", self._keys.lobby, room, game, summary, bounds.lobby_ms, bounds.lobby_rooms, self.time_source
            )
        )

    async def keep_listed(self, room: str) -> bool:
        """See ``Index``."""
        until, _ = self._keys.lobby
        now = self.time_source if isinstance(self.time_source, int) else self._store.now_ms()
        _, there = await asyncio.gather(
            self._store.call(until, "ZADD", until, "XX", "GT", now + self._bounds.lobby_ms, room),
            self._store.call(until, "ZSCORE", until, room),
        )
        return there is not None

    async def unlist(self, room: str) -> None:
        """See ``Index``."""
        await self._store.function("unlist", self._keys.lobby, room)

    async def listed(self, game: str | None, limit: int) -> list[bytes]:
        """See ``Index``."""
        return list(
            await self._store.function("listed", self._keys.lobby, game or "", limit, self.time_source, read=True)
        )

    async def set_due(self, room: str, at_ms: int | None) -> None:
        """See ``Index``."""
        key = self._keys.due(self._keys.due_shard(room))
        if at_ms is None:
            await self._store.call(key, "ZREM", key, room)
        else:
            await self._store.call(key, "ZADD", key, at_ms, room)

    async def due(self, until_ms: int, limit: int) -> list[Due]:
        """See ``Index``."""
        keys = [self._keys.due(shard) for shard in range(DUE_SHARDS)]
        shards = await asyncio.gather(
            *(
                self._store.call(key, "ZRANGE", key, "-inf", until_ms, "BYSCORE", "LIMIT", 0, limit, "WITHSCORES")
                for key in keys
            )
        )
        found = sorted((int(at), room.decode()) for shard in shards for room, at in shard)
        return [Due(room, at) for at, room in found[:limit]]

    async def count_live(self) -> int:
        """See ``Index``."""
        keys = [self._keys.due(shard) for shard in range(DUE_SHARDS)]
        return sum(await asyncio.gather(*(self._store.call(key, "ZCARD", key) for key in keys)))

    async def has_due(self, room: str) -> bool:
        """See ``Index``."""
        key = self._keys.due(self._keys.due_shard(room))
        return await self._store.call(key, "ZSCORE", key, room) is not None

    async def all_live(self, cursor: str | None = None) -> tuple[str | None, list[str]]:
        """See ``Index``."""
        shard, position = (int(part) for part in (cursor or "0:0").split(":"))
        key = self._keys.due(shard)
        after, flat = await self._store.call(key, "ZSCAN", key, position, "COUNT", _PAGE)
        rooms = [room.decode() for room in flat[::2]]
        if after != b"0":
            return f"{shard}:{after.decode()}", rooms
        return (f"{shard + 1}:0" if shard + 1 < DUE_SHARDS else None), rooms

    async def beat(self, node: str, ttl_ms: int) -> list[str]:
        """See ``Index``."""
        return _sorted(
            await self._store.function(
                "beat", self._keys.nodes, node, ttl_ms, OUTAGE_MS, OUTAGES_KEPT, self.time_source
            )
        )

    async def outages(self) -> list[Outage]:
        """See ``Index``."""
        _, _, outages = self._keys.nodes
        listed = await self._store.call(outages, "LRANGE", outages, 0, -1)
        return [Outage(*map(int, outage.split(b":"))) for outage in listed]

    async def nodes(self) -> list[str]:
        """See ``Index``."""
        return _sorted(
            await self._store.function("beat", self._keys.nodes, "", 0, OUTAGE_MS, OUTAGES_KEPT, self.time_source)
        )

    async def order(self, order: Order) -> None:
        """See ``Index``."""
        await self._store.function("order", [self._keys.orders], msgspec.json.encode(order), ORDERS_KEPT)

    async def orders(self, after: str | None) -> Heard:
        """See ``Index``. A cursor is the id in the stream and the number of the last order that was heard."""
        key = self._keys.orders
        if after is None:
            last = await self._store.call(key, "XREVRANGE", key, "+", "-", "COUNT", 1)
            return Heard(orders=[], missed=0, cursor=_cursor(last) or _BEFORE_ALL)
        identity, number = after.split(":")
        entries = await self._store.call(key, "XRANGE", key, f"({identity}", "+")
        return Heard(
            orders=[msgspec.json.decode(fields[1], type=Order) for _, fields in entries],
            missed=max(0, _number(entries[0]) - int(number) - 1) if entries else 0,
            cursor=_cursor(entries) or after,
        )

    async def archive(self, room: str, match: str, deal: int, record: bytes, *, attempt: int = 1) -> int:
        """See ``Index``."""
        bounds = self._bounds
        return int(
            await self._store.function(
                "archive",
                self._keys.archive(self._keys.archive_shard(match)),
                _name(room, match, deal, attempt),
                record,
                bounds.archive_ms,
                bounds.archive_records // ARCHIVE_SHARDS,
                self.time_source,
            )
        )

    async def archived(self, *, room: str | None = None, match: str | None = None) -> AsyncIterator[Archived]:
        """See ``Index``."""
        shards = range(ARCHIVE_SHARDS) if match is None else (self._keys.archive_shard(match),)
        for shard in shards:
            order, records = self._keys.archive(shard)
            names = sorted(name.decode() for name in await self._store.call(order, "ZRANGE", order, 0, -1))
            wanted = [name for name in names if _fits(name, room, match)]
            for start in range(0, len(wanted), _RECORDS):
                page = wanted[start : start + _RECORDS]
                for name, record in zip(page, await self._store.call(records, "HMGET", records, *page), strict=True):
                    if record is not None:  # it may have expired meanwhile
                        yield _archived(name, record)


def _number(order: Any) -> int:
    """The number of an order as the stream has it; one of an earlier version has none."""
    _, fields = order
    return int(fields[3]) if len(fields) > 3 else 0


def _cursor(orders: Any) -> str | None:
    """What stands for the last of ``orders``, if there is one."""
    return f"{orders[-1][0].decode()}:{_number(orders[-1])}" if orders else None


def _name(room: str, match: str, deal: int, attempt: int) -> str:
    """A record's name: names of one match sort by deal and attempt."""
    assert ":" not in room + match, (room, match)
    return f"{room}:{match}:{deal:06}:{attempt:06}"


def _fits(name: str, room: str | None, match: str | None) -> bool:
    of_room, of_match, *_ = name.split(":")
    return room in (None, of_room) and match in (None, of_match)


def _archived(name: str, record: bytes) -> Archived:
    room, match, deal, attempt = name.split(":")
    return Archived(room=room, match=match, deal=int(deal), attempt=int(attempt), record=record)


def _sorted(names: Sequence[bytes]) -> list[str]:
    return sorted(name.decode() for name in names)
