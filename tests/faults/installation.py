"""Several server processes on one store, each behind a proxy to it that a test can hold, drop and cut."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from server.log import Stored, StoreUnavailable
from server.store import StoredLog, open_store
from tests.e2e.serverprocess import QUICK, ServerProcess
from tests.proxy import Proxy
from tests.stores import StoreServer, free_port

NODES: Final = 3
FLAGS: Final = (*QUICK, "--rooms-per-minute", "100000")
PATIENCE_SECONDS: Final = 60.0


class Node(ServerProcess):
    """A server that reaches the store through ``line``."""

    def __init__(self, directory: Path, line: Proxy, *flags: str) -> None:
        directory.mkdir()
        self.metrics_port = free_port()
        store = ("--redis", f"redis://127.0.0.1:{line.port}", "--metrics-port", str(self.metrics_port))
        super().__init__(directory, *FLAGS, *store, *flags)
        self.line = line
        self.runs = False
        self.stalled = False

    async def start(self) -> None:
        await super().start()
        self.runs = True

    async def kill(self) -> None:
        """SIGKILL, and nothing that was on its way reaches the store any more."""
        self.runs = self.stalled = False
        await super().kill()
        self.line.cut()
        self.line.up.flow()
        self.line.down.flow()

    async def drain(self) -> int:
        """SIGTERM; the exit status."""
        self.runs = False
        self.signal(signal.SIGTERM)
        return await self.ended()

    def stall(self) -> None:
        """SIGSTOP."""
        self.stalled = True
        self.signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """SIGCONT."""
        self.stalled = False
        self.signal(signal.SIGCONT)


class Installation:
    """A store and its nodes. ``whole`` mends what the last test broke."""

    def __init__(self, directory: Path, store: StoreServer, *flags: str, count: int = NODES) -> None:
        self.store = store
        self.nodes: list[Node] = []
        self._directory = directory
        self._flags = flags
        self._count = count
        self._proxies: list[Proxy] = []

    async def start(self) -> None:
        for number in range(self._count):
            proxy = Proxy.to_port(self.store.port)
            await proxy.__aenter__()
            self._proxies.append(proxy)
            self.nodes.append(Node(self._directory / f"node-{number}", proxy, *self._flags))
        await asyncio.gather(*(node.start() for node in self.nodes))

    async def whole(self) -> None:
        """All nodes run and reach the store."""
        for node in self.nodes:
            node.line.up.flow()
            node.line.down.flow()
            if node.stalled:
                node.go_on()
        await asyncio.gather(*(node.start() for node in self.nodes if not node.runs))

    async def close(self) -> None:
        for node in self.nodes:
            if node.stalled:
                node.go_on()
            await node.close()
        for proxy in self._proxies:
            await proxy.__aexit__(None, None, None)

    @property
    def ports(self) -> list[int]:
        return [node.port for node in self.nodes]

    def ports_from(self, first: int) -> list[int]:
        """The ports of all nodes, that of node ``first`` first."""
        return [*self.ports[first:], *self.ports[:first]]

    async def log(self, room: str) -> list[Stored]:
        """The room's log, as soon as the store can be read."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                try:
                    return await read_log(self.store.url, room)
                except StoreUnavailable:
                    await asyncio.sleep(0.05)

    async def until_logged(self, room: str, command: str) -> None:
        """Wait until the log of ``room`` has the entry of ``command``."""
        mark = f'"command":"{command}"'.encode()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not any(mark in stored.data for stored in await self.log(room)):
                await asyncio.sleep(0.02)

    async def move_to(self, store: StoreServer) -> None:
        """A failover: from now on this is the store, for all nodes."""
        self.store = store
        for node in self.nodes:
            node.line.lead_to(store.port)
            node.line.cut()

    def assert_no_faults(self) -> None:
        """No node has met a fault of its own."""
        for node in self.nodes:
            assert "Traceback" not in node.errors(), node.errors()[-4000:]


@asynccontextmanager
async def installed(
    directory: Path, store: StoreServer, *flags: str, count: int = NODES
) -> AsyncIterator[Installation]:
    """An installation that runs, and in the end has met no fault of its own."""
    installation = Installation(directory, store, *flags, count=count)
    try:
        await installation.start()
        yield installation
        installation.assert_no_faults()
    finally:
        await installation.close()


async def read_log(url: str, room: str) -> list[Stored]:
    store = await open_store(url)
    log = StoredLog(store)
    try:
        return await log.read(room)
    finally:
        await log.aclose()
        await store.aclose()


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what other processes do, which they tell nobody here."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():
            await asyncio.sleep(0.02)


async def during(playing: asyncio.Future[Any], wanted: Awaitable[None]) -> None:
    """Wait for ``wanted`` while ``playing`` goes on, and no longer than it does."""
    waiting = asyncio.ensure_future(wanted)
    await asyncio.wait({playing, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if not waiting.done():
        waiting.cancel()
        playing.result()
        raise AssertionError("play was over before what it was to meet")
    await waiting
