"""A Redis Cluster for tests, started from the embedded store's program."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Final

import pytest_asyncio
from redis.crc import key_slot

from tests.stores import VALKEY, StoreServer

PATIENCE: Final = 30.0
SLOTS: Final = 16_384
SYNC_AT_ONCE: Final = ("--repl-diskless-sync-delay", "0")


def cluster_server() -> StoreServer:
    return StoreServer(VALKEY, "--cluster-enabled", "yes", "--cluster-node-timeout", "1000", *SYNC_AT_ONCE)


def reply(server: StoreServer, *command: str) -> str:
    """The text of a reply that is no error."""
    answer = server.ask(*command).decode()
    assert answer
    assert not answer.startswith("-"), answer
    return answer.partition("\r\n")[2].strip() if answer.startswith("$") else answer[1:].strip()


async def replicated(primary: StoreServer, replica: StoreServer) -> None:
    """Wait until ``replica`` has all that ``primary`` has now. (``WAIT`` waits for what its own connection has written:
    here that would be nothing.)
    """
    goal = _offset(primary, "master_repl_offset")
    await until(lambda: _offset(replica, "slave_repl_offset") >= goal)


def _offset(server: StoreServer, of: str) -> int:
    found = re.search(rf"^{of}:(\d+)", reply(server, "INFO", "replication"), re.MULTILINE)
    assert found, f"{of} is not told by a server in this role"
    return int(found[1])


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what servers settle among themselves, which they tell nobody."""
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


class ClusterServers:
    """Three primaries with a third of the slots each; a replica for the first one on request."""

    def __init__(self) -> None:
        self.servers = [cluster_server() for _ in range(3)]

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(f"127.0.0.1:{server.port}" for server in self.servers)

    async def start(self) -> None:
        for place, server in enumerate(self.servers):
            server.start()
            first, last = (place * SLOTS // 3, (place + 1) * SLOTS // 3 - 1)
            reply(server, "CLUSTER", "ADDSLOTSRANGE", str(first), str(last))
            reply(server, "CONFIG", "SET", "cluster-replica-validity-factor", "0")
            reply(server, "CLUSTER", "SET-CONFIG-EPOCH", str(place + 1))
            self._meet(server)
        await self.settled()

    async def add_replica(self) -> StoreServer:
        """A replica of the first primary."""
        replica = cluster_server()
        replica.start()
        self.servers.append(replica)
        self._meet(replica)
        primary, own = identity(self.servers[0]), identity(replica)
        await until(lambda: primary in reply(replica, "CLUSTER", "NODES"))
        reply(replica, "CLUSTER", "REPLICATE", primary)
        await until(lambda: "master_link_status:up" in reply(replica, "INFO", "replication"))
        await until(lambda: all(own in reply(server, "CLUSTER", "SLOTS") for server in self.servers))
        return replica

    async def add_primary(self) -> StoreServer:
        """A primary without any slot."""
        primary = cluster_server()
        primary.start()
        self.servers.append(primary)
        self._meet(primary)
        own = identity(primary)
        await until(lambda: all(own in reply(server, "CLUSTER", "NODES") for server in self.servers))
        await self.settled()
        return primary

    def _meet(self, server: StoreServer) -> None:
        reply(server, "CLUSTER", "MEET", "127.0.0.1", str(self.servers[0].port))

    async def settled(self) -> None:
        """Wait until every node that runs knows that all slots are served."""
        for server in self.servers:
            await until(partial(self._sees_all, server))

    def _sees_all(self, server: StoreServer) -> bool:
        info = reply(server, "CLUSTER", "INFO")
        return "cluster_state:ok" in info and f"cluster_known_nodes:{len(self.servers)}" in info

    def owner(self, key: str) -> StoreServer:
        """The primary that has ``key`` in the beginning."""
        return self.servers[key_slot(key.encode()) * 3 // SLOTS]

    def close(self) -> None:
        for server in self.servers:
            server.close()


def identity(server: StoreServer) -> str:
    return reply(server, "CLUSTER", "MYID")


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[ClusterServers]:
    servers = ClusterServers()
    try:
        await servers.start()
        yield servers
    finally:
        servers.close()
