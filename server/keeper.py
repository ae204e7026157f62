"""Keeps the index true: due times, the lobby's list, codes, records of finished deals, logs' time to live.

Belongs here: what was told to the index and what has to be told again. Everything here is derived from logs, so any of
it may be late or lost; it is told again. Must not be known here: who acts on it.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import Final

import msgspec
import structlog

from server import room as rooms
from server.host import RoomHost
from server.index import LONG_AGO, Index
from server.log import RoomLog, StoreFull, StoreUnavailable
from server.metrics import Metrics
from server.room import FinishedDeal, Phase, Room

_GATHER_SECONDS: Final = 0.1
"""Changes of so long a time are told together: a room of quick AI changes a hundred times a second."""
_RETRY_SECONDS: Final = 0.5
REFRESH_SECONDS: Final = 5.0
"""How often everything is looked over."""
_LIST_SECONDS: Final = 10.0
"""A listing is repeated after so long; it lives three times as long."""
_CODE_SECONDS: Final = 3600.0
_RECORDS_AT_ONCE: Final = 100

_log = structlog.get_logger()


class _Told:
    """What the index was told of a room, and when (the event loop's clock)."""

    __slots__ = ("code_at", "due", "listed_at", "room", "summary")

    def __init__(self, room: Room, now: float) -> None:
        self.room = room
        """The latest that is known here."""
        self.due: int | None = None
        self.summary: bytes | None = None
        self.listed_at = now
        """Of a room that is not in memory: when it was last found to be listed, or if it is private to live."""
        self.code_at = -math.inf


class Keeper:
    """Tells the index about the rooms that change on this node, and again and again about those that it drives."""

    def __init__(
        self,
        index: Index,
        log: RoomLog,
        *,
        drives: Callable[[str], bool],
        holds: Callable[[str], bool],
        forget_seconds: int,
        metrics: Metrics,
        most_records: int = 10_000,
    ) -> None:
        self._index = index
        self._log = log
        self._drives = drives
        """Whether this node drives the room with this id."""
        self._holds = holds
        """Whether it has the room in memory. Of one that it has let go others may know more."""
        self._forget_seconds = forget_seconds
        """How long the log of a closed room stays."""
        self._told: dict[str, _Told] = {}
        self._changed: set[str] = set()
        self._metrics = metrics
        self._records: deque[tuple[str, FinishedDeal]] = deque(maxlen=most_records)
        """Of so many that wait the oldest is given up. It is told again when its room's log is next read."""
        self._writing = asyncio.Lock()
        """To write a record plays its deal once more: one in a turn of the event loop, so that moves go between."""
        self._news = asyncio.Event()

    # Observer

    def changed(self, host: RoomHost) -> None:
        """Note the room as it is now."""
        room = host.room
        told = self._told.get(room.id)
        if told is None:
            self._told[room.id] = _Told(room, asyncio.get_running_loop().time())
        else:
            before, told.room = told.room, room
            if _alike(before, room) and told.due is not None and told.due <= due_at(room):
                return  # as after most moves: there is nothing to tell
        self._changed.add(room.id)
        self._news.set()

    def finished(self, host: RoomHost, deal: FinishedDeal) -> None:
        """Note the record to keep."""
        if len(self._records) == self._records.maxlen:
            self._metrics.records_given_up.inc()
        self._records.append((host.room.id, deal))
        self._news.set()

    async def run(self) -> None:
        """Tell the index, until cancelled."""
        loop = asyncio.get_running_loop()
        refresh_at = loop.time() + REFRESH_SECONDS
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(refresh_at):
                    await self._news.wait()
            if loop.time() >= refresh_at:  # also where there are always news
                refresh_at = loop.time() + REFRESH_SECONDS
                self._review(loop.time())
            try:
                await self.flush()
            except (StoreUnavailable, StoreFull) as problem:
                _log.info("index-behind", problem=str(problem), rooms=len(self._changed), records=len(self._records))
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                await asyncio.sleep(_GATHER_SECONDS)

    async def flush(self) -> None:
        """Tell everything that is not told yet; what changes meanwhile is told next time, for records shall not wait
        until nothing changes any more.

        Raises:
            StoreUnavailable, StoreFull: the rest is told next time.
        """
        self._news.clear()
        try:
            # What is over goes first: its log's time to live is what makes room in a store that is full.
            await self._tell_all(room for room in self._changed if self._told[room].room.phase is Phase.CLOSED)
            while self._records:
                await self._archive(tuple(islice(self._records, _RECORDS_AT_ONCE)))
            await self._tell_all(self._changed)
        except (StoreUnavailable, StoreFull):
            self._news.set()
            raise

    async def _tell_all(self, changed: Iterable[str]) -> None:
        for room_id in tuple(changed):
            if room_id not in self._changed:
                continue
            self._changed.discard(room_id)
            try:
                await self._tell(self._told[room_id])
            except (StoreUnavailable, StoreFull, asyncio.CancelledError):
                self._changed.add(room_id)
                raise
            except Exception:  # noqa: BLE001 - one room's fault must not end the telling of all others
                self._fault("room-not-told", room_id)
                self._told.pop(room_id, None)  # until it changes again
                self._changed.discard(room_id)

    async def _archive(self, records: tuple[tuple[str, FinishedDeal], ...]) -> None:
        """Keep the first ``records``, all at once: a store that takes them slowly takes many as slowly as one."""
        kept = await asyncio.gather(*(self._archive_one(*each) for each in records), return_exceptions=True)
        self._metrics.records_dropped.inc(sum(dropped for dropped in kept if isinstance(dropped, int)))
        for problem in kept:
            if isinstance(problem, BaseException):
                raise problem  # those that were kept are told again, which does nothing
        for each in records:
            if self._records and self._records[0] is each:  # otherwise it was given up meanwhile
                self._records.popleft()

    async def _archive_one(self, room_id: str, deal: FinishedDeal) -> int:
        """Keep the record of ``deal``; how many were given up for it."""
        try:
            async with self._writing:
                record = deal.record
                await asyncio.sleep(0)
            return await self._index.archive(room_id, deal.match, deal.deal, record, attempt=deal.attempt)
        except (StoreUnavailable, StoreFull):
            raise
        except Exception:  # noqa: BLE001 - one record's fault must not keep all others from being kept
            self._fault("record-failed", room_id)
            return 0

    def _fault(self, failure: str, room_id: str) -> None:
        """Count and log what is being handled."""
        self._metrics.internal_errors.inc()
        _log.exception(failure, room=room_id)

    async def _tell(self, told: _Told) -> None:
        room, now = told.room, asyncio.get_running_loop().time()
        if room.phase is Phase.CLOSED:
            await lay_aside(self._index, self._log, room.id, self._forget_seconds)
            await self._index.release_code(room.code, room.id, self._forget_seconds)
            del self._told[room.id]
            self._changed.discard(room.id)  # nothing has changed since: it was only looked at once more
            return
        due = due_at(room)
        # A time told too early makes the driver look for nothing; one told too late makes a room wait. So an earlier
        # time is told at once and a later one when everything is looked over.
        if told.due is None or due < told.due:
            await self._index.set_due(room.id, due)
            told.due = due
        repeat = now - told.listed_at >= _LIST_SECONDS
        summary = None if room.settings.private else msgspec.json.encode(rooms.summary(room))
        if summary == told.summary and repeat and not self._holds(room.id):
            if not await self._is_kept(told, now):
                return
        elif summary is not None and (summary != told.summary or repeat):
            dropped = await self._index.list_room(room.id, room.game, summary)
            self._metrics.lobby_overflows.inc(dropped)
            told.summary, told.listed_at = summary, now
        if now - told.code_at >= _CODE_SECONDS:
            await self._index.claim_code(room.code, room.id)
            told.code_at = now

    async def _is_kept(self, told: _Told, now: float) -> bool:
        """Keep a room that this node has let go in the lobby as others told it last; False if it is over: forgotten."""
        room_id = told.room.id
        if not await self._index.has_due(room_id):
            if self._told.get(room_id) is told and room_id not in self._changed:
                del self._told[room_id]
            return False
        if told.summary is None or await self._index.keep_listed(room_id):
            told.listed_at = now
        else:
            await self._index.set_due(room_id, LONG_AGO)  # it has dropped out: its driver looks into it and lists it
        return True

    def _review(self, now: float) -> None:
        """Mark what is to be told again, and forget rooms that others drive."""
        for room_id, told in tuple(self._told.items()):
            if room_id in self._changed:
                continue
            if not self._drives(room_id):
                del self._told[room_id]
                continue
            if told.due is not None and told.due < due_at(told.room):
                told.due = None
                self._changed.add(room_id)
            repeated = told.summary is not None or not self._holds(room_id)
            if (repeated and now - told.listed_at >= _LIST_SECONDS) or now - told.code_at >= _CODE_SECONDS:
                self._changed.add(room_id)


async def lay_aside(index: Index, log: RoomLog, room_id: str, seconds: int) -> None:
    """The room is over: nobody looks after it any more, and its log lives for so many ``seconds``. May be repeated.

    Raises:
        StoreUnavailable, StoreFull: it is done in part, or not at all.
    """
    await index.set_due(room_id, None)
    await index.unlist(room_id)
    await log.forget(room_id, seconds)


def _alike(before: Room, after: Room) -> bool:
    """Whether the lobby has nothing to learn: what ``rooms.summary`` tells of the room, which is open, is the same."""
    return (
        before.seats is after.seats
        and before.phase is after.phase is not Phase.CLOSED
        and before.host == after.host
        and before.locked == after.locked
    )


def due_at(room: Room) -> int:
    """When somebody has to look after a room that is not closed: milliseconds since the epoch, long past for AI."""
    due = rooms.next_due(room)
    assert due is not None, "a room that is not closed has a way out by time"
    return min(due, room.at) if rooms.ai_moves(room) else due
