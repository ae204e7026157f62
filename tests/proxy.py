"""A loopback TCP proxy that misbehaves on request: holds, drops, delays, cuts, half-closes, refuses.

``up`` is what clients send, ``down`` what the server answers. A test waits for bytes to arrive here (``arrived``)
rather than for time to pass::

    async with Proxy.to_port(port) as proxy:
        proxy.down.hold()
        call = asyncio.create_task(...)
        await proxy.down.arrived()      # the server has done it; the caller does not know
        proxy.cut()
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from enum import StrEnum, auto
from functools import partial
from types import TracebackType
from typing import Final, NamedTuple, Self

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

_CHUNK: Final = 65_536


class _Mode(StrEnum):
    FLOW = auto()
    HOLD = auto()
    DROP = auto()


class Flow:
    """One direction of all connections. A mode lasts until another is chosen, also for connections to come."""

    def __init__(self) -> None:
        self.delay = 0.0
        """Seconds by which each chunk is late."""
        self.ended: set[asyncio.StreamWriter] = set()
        """Connections that were ended in this direction; what still comes for them is lost."""
        self._mode = _Mode.FLOW
        self._bytes = 0
        self._news = asyncio.Event()
        self._marks: list[tuple[bytes, Callable[[], None]]] = []

    def at(self, mark: bytes, do: Callable[[], None]) -> None:
        """Call ``do`` once, when bytes with ``mark`` have come and before they are passed on."""
        self._marks.append((mark, do))

    def flow(self) -> None:
        """Pass on what is held and what comes."""
        self._choose(_Mode.FLOW)

    def hold(self) -> None:
        """Keep what comes, and everything behind it: the peer seems to be silent."""
        self._choose(_Mode.HOLD)

    def drop(self) -> None:
        """Lose what is held and what comes."""
        self._choose(_Mode.DROP)

    async def arrived(self, least: int = 1) -> None:
        """Wait until ``least`` bytes have come since the mode was chosen."""
        await self._until(lambda: self._bytes >= least)

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Move one connection's bytes until its end, which is passed on as well."""
        while chunk := await reader.read(_CHUNK):
            self._bytes += len(chunk)
            for mark in [mark for mark in self._marks if mark[0] in chunk]:
                self._marks.remove(mark)
                mark[1]()
            self._tell()
            if self.delay:
                await asyncio.sleep(self.delay)
            await self._until(lambda: self._mode is not _Mode.HOLD)
            if self._mode is _Mode.FLOW and writer not in self.ended:
                writer.write(chunk)
                await writer.drain()
        if writer not in self.ended:
            writer.write_eof()
        self.ended.discard(writer)

    def _choose(self, mode: _Mode) -> None:
        self._mode = mode
        self._bytes = 0
        self._tell()

    def _tell(self) -> None:
        told, self._news = self._news, asyncio.Event()
        told.set()

    async def _until(self, true: Callable[[], bool]) -> None:
        while not true():
            await self._news.wait()


class _Link(NamedTuple):
    """A client's connection and the one to the server that stands behind it."""

    to_client: asyncio.StreamWriter
    to_server: asyncio.StreamWriter


class Proxy:
    """Listens on ``port`` of the loopback interface while its context is open. ``reach`` connects to the server."""

    def __init__(self, reach: Callable[[], Awaitable[Streams]]) -> None:
        self.up = Flow()
        self.down = Flow()
        self.refusing = False
        """Hang up on new connections at once."""
        self.port = 0
        self._reach = reach
        self._links: set[_Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @classmethod
    def to_port(cls, port: int) -> Self:
        """In front of a TCP server on the loopback interface."""
        return cls(partial(asyncio.open_connection, "127.0.0.1", port))

    @classmethod
    def to_socket(cls, path: str) -> Self:
        """In front of a server on a Unix socket."""
        return cls(partial(asyncio.open_unix_connection, path))

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._links)

    def lead_to(self, port: int) -> None:
        """Connections from now on go to another server on the loopback interface."""
        self._reach = partial(asyncio.open_connection, "127.0.0.1", port)

    def cut(self) -> None:
        """Break all connections, on both sides; what is held is lost."""
        for link in self._links:
            link.to_client.transport.abort()
            link.to_server.transport.abort()

    def half_close(self) -> None:
        """End the server's side of all connections; what clients send still gets through, and is not answered."""
        for link in self._links:
            self.down.ended.add(link.to_client)
            link.to_client.write_eof()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if not self.refusing:
                await self._join(from_client, to_client)
        except (OSError, asyncio.CancelledError):
            pass  # either side is gone, or we are closing; asyncio reports a handler that ends as cancelled
        finally:
            to_client.close()
            self._tasks.discard(task)

    async def _join(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        from_server, to_server = await self._reach()
        link = _Link(to_client, to_server)
        self._links.add(link)
        try:
            await asyncio.gather(self.up.pump(from_client, to_server), self.down.pump(from_server, to_client))
        finally:
            self._links.discard(link)
            to_server.close()
