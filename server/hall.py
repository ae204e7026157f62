"""The rooms that this node holds: opened, found, loaded once, let go.

Belongs here: which rooms are in memory, and the way from a code or an id to a room. Must not be known here: what
happens in a room (``server.host``), who drives it (``server.driver``), sockets.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Final, TypeAlias

import msgspec
import structlog

from protocol.codes import Refused
from protocol.messages import Create, RoomSummary
from server import room as rooms
from server.entries import Created, Timing
from server.host import Node, Observer, Outcome, RoomHost
from server.index import Index
from server.log import EMPTY, Conflict, StoreUnavailable
from server.outbox import Outbox
from server.reading import RoomElsewhere, RoomGone
from server.room import Append, FinishedDeal, Refuse

_CODES_TRIED: Final = 8
"""Of a billion codes few are taken; this many taken in a row mean that something is broken."""
_LISTED: Final = 100
"""Rooms in one answer to ``list``."""
_LISTING_MS: Final = 500
"""So old may be what ``list`` is answered. To look for a rare game's rooms among ten thousand holds the store for as
long as a hundred moves do: whoever asks for that without end must not slow everybody down.
"""

BeforeReading: TypeAlias = Callable[[], Awaitable[None]]
"""What is waited for before a room's log is read, which is much more work than any command to a room in memory."""

_log = structlog.get_logger()


async def _at_once() -> None:
    """Before what nobody asks for too often."""


class _HallFull(Exception):
    """No more rooms are opened."""


class Hall:
    """All rooms in this node's memory. Tells its observers what happens to any of them."""

    def __init__(self, node: Node, index: Index, timing: Timing, *, max_rooms: int = 20_000) -> None:
        self.node = node
        self.index = index
        self.hosts: dict[str, RoomHost] = {}
        self.observers: list[Observer] = []
        self._codes: dict[str, str] = {}
        """The ids of ``hosts`` by their codes."""
        self._timing = timing
        self._max_rooms = max_rooms
        """Live rooms, on all nodes together, at which no more are opened; nodes that open some at the same moment can
        go beyond it by these.
        """
        self._opening = 0
        """Rooms that this node has decided to open and the index may not have counted yet."""
        self._flights: dict[str, asyncio.Task[RoomHost]] = {}
        self._listings: dict[str | None, tuple[int, asyncio.Task[tuple[RoomSummary, ...]]]] = {}
        """What the store was last asked for, by game, and when (the node's clock)."""
        self._summaries = msgspec.json.Decoder(RoomSummary)

    # Observer: what every host tells goes to all who want to know.

    def changed(self, host: RoomHost) -> None:
        """A room is another than before."""
        for observer in self.observers:
            observer.changed(host)

    def finished(self, host: RoomHost, deal: FinishedDeal) -> None:
        """A deal is over."""
        for observer in self.observers:
            observer.finished(host, deal)

    async def room(self, room_id: str, *, before: BeforeReading = _at_once) -> RoomHost:
        """The room, from memory or, after ``before``, from its log; however many ask at once, it is read once.

        Raises:
            RoomGone: there is none, or this version cannot read it.
            StoreUnavailable: the store does not answer.
        """
        if self._held(room_id) is None:
            await before()
        return self._held(room_id) or await self._once(room_id, lambda: self._load(room_id))

    async def find(self, code: str, *, before: BeforeReading = _at_once) -> RoomHost | None:
        """The room that ``code`` leads to; letters may be small. ``before`` as for ``room``.

        Raises:
            RoomElsewhere: only a server of another version can read it.
            StoreUnavailable: the store does not answer.
        """
        code = code.upper()
        # An index that was lost or is away must not hide a room that is in our hands.
        room_id = self._codes.get(code) or await self.index.room_of(code)
        if room_id is None:
            return None
        try:
            return await self.room(room_id, before=before)
        except RoomElsewhere:
            raise
        except RoomGone:
            return None

    async def create(self, command: Create, outbox: Outbox) -> tuple[RoomHost, Outcome] | Refuse:
        """Open the room that ``command`` asks for and answer it at ``outbox``, or say why not.

        The room's id derives from the command's id, so the same command, sent again or to two nodes, opens one room.

        Raises:
            StoreUnavailable: the outcome is unknown.
            StoreFull: nothing was done.
            RoomGone: the room was opened by this command before, and has ended.
        """
        first = self._first_entry(command)
        if isinstance(first, Refuse):
            return first
        room_id = rooms.room_id_of(command.id)
        greeted: Outcome | None = None

        async def open_or_load() -> RoomHost:
            nonlocal greeted
            if (await self.node.log.heads([room_id]))[room_id] != EMPTY:
                return await self._load(room_id)  # the command was done before, perhaps by another node
            if await self.index.count_live() + self._opening >= self._max_rooms:
                raise _HallFull
            self._opening += 1
            try:
                entry = await self._with_free_code(command, first)
                # Before the first append, so that no crash leaves a room that nobody drives.
                await self.index.set_due(room_id, entry.entry.at)
                host, greeted = await RoomHost.open(self.node, command, entry, outbox, self)
            except Conflict:
                return await self._load(room_id)
            finally:
                self._opening -= 1
            return self._keep(host)

        host = self._held(room_id)
        while host is None:
            ours = room_id not in self._flights
            try:
                host = await self._once(room_id, open_or_load)
            except _HallFull:
                return Refuse(Refused.HALL_FULL)
            except RoomGone:
                if ours:
                    raise
        return host, greeted or await host.submit(command, None, outbox)

    async def listed(self, game: str | None) -> tuple[RoomSummary, ...]:
        """Public rooms, of ``game`` (one of the node's) only or of all games, as they were a moment ago.

        Raises:
            StoreUnavailable: the store does not answer.
        """
        now = self.node.clock()
        asked_at, listing = self._listings.get(game, (0, None))
        if listing is None or not 0 <= now - asked_at < _LISTING_MS:
            listing = asyncio.get_running_loop().create_task(self._listing(game))
            listing.add_done_callback(lambda task: self._listed(game, task))
            self._listings[game] = now, listing
        # Shielded: one asker who gives up must not take the answer from the others.
        return await asyncio.shield(listing)

    def let_go(self, host: RoomHost) -> None:
        """Forget a room that nobody watches here and in which nothing is under way; its log keeps it."""
        if (host.gone or host.retire()) and self.hosts.get(host.room.id) is host:
            del self.hosts[host.room.id]
            self._codes.pop(host.room.code, None)
            self._count()

    async def settle(self) -> None:
        """Be where the logs are: what was given up under way may have been appended all the same.

        Raises:
            StoreUnavailable: the store does not answer.
        """
        heads = await self.node.log.heads(tuple(self.hosts))
        behind = [host for room_id, head in heads.items() if (host := self._held(room_id)) and head != host.head]
        for found in await asyncio.gather(*(host.check() for host in behind), return_exceptions=True):
            if isinstance(found, BaseException) and not isinstance(found, RoomGone):
                raise found

    async def close(self) -> None:
        """Do nothing more in any room, after what is under way."""
        listings = (listing for _, listing in self._listings.values())
        await asyncio.gather(*self._flights.values(), *listings, return_exceptions=True)
        for host in tuple(self.hosts.values()):
            await host.close()
        self.hosts.clear()
        self._codes.clear()
        self._count()

    async def _listing(self, game: str | None) -> tuple[RoomSummary, ...]:
        return tuple(self._summaries.decode(each) for each in await self.index.listed(game, _LISTED))

    def _listed(self, game: str | None, task: asyncio.Task[tuple[RoomSummary, ...]]) -> None:
        """Keep what was found, and no failure: whoever asks next tries anew."""
        if (task.cancelled() or task.exception() is not None) and self._listings[game][1] is task:
            del self._listings[game]

    def _held(self, room_id: str) -> RoomHost | None:
        host = self.hosts.get(room_id)
        return None if host is None or host.gone else host

    async def _once(self, room_id: str, make: Callable[[], Coroutine[None, None, RoomHost]]) -> RoomHost:
        """``make`` the host unless it is being made already: a room has at most one on this node."""
        flight = self._flights.get(room_id)
        if flight is None:
            flight = self._flights[room_id] = asyncio.get_running_loop().create_task(make())
            flight.add_done_callback(lambda task: self._landed(room_id, task))
        # Shielded: one asker who gives up must not take the room from the others.
        return await asyncio.shield(flight)

    def _landed(self, room_id: str, flight: asyncio.Task[RoomHost]) -> None:
        del self._flights[room_id]
        if not flight.cancelled():
            flight.exception()  # whoever asked has been told; nobody may be left to be

    async def _load(self, room_id: str) -> RoomHost:
        began = time.perf_counter()
        host = await RoomHost.load(self.node, room_id, self)
        milliseconds = round((time.perf_counter() - began) * 1000, 2)
        _log.debug("room-loaded", room=room_id, version=host.head.version, ms=milliseconds)
        return self._keep(host)

    def _first_entry(self, command: Create) -> Append | Refuse:
        node = self.node
        return rooms.open_room(
            command, node.clock(), node.entropy, timing=self._timing, node=node.name, games=node.games
        )

    async def _with_free_code(self, command: Create, first: Append) -> Append:
        """``first`` or another like it, with a code that leads to no other room."""
        attempt: Append | Refuse = first
        for _ in range(_CODES_TRIED):
            assert isinstance(attempt, Append), "what was possible a moment ago is so still"
            body = attempt.entry.body
            assert isinstance(body, Created)
            if await self.index.claim_code(body.code, body.room):
                return attempt
            attempt = self._first_entry(command)
        raise StoreUnavailable(f"{_CODES_TRIED} codes in a row were taken")

    def _keep(self, host: RoomHost) -> RoomHost:
        self.hosts[host.room.id] = host
        self._codes[host.room.code] = host.room.id
        self._count()
        return host

    def _count(self) -> None:
        self.node.metrics.rooms.set(len(self.hosts))
