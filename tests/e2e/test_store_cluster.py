"""Stores of several servers, started here from the embedded store's program: a cluster, and a pair under Sentinel."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import Final

import pytest
import pytest_asyncio
from redis.crc import key_slot

from server.log import EMPTY, UNKNOWN, Head, StoreUnavailable, follow
from server.store import Store, StoredIndex, StoredLog, open_store
from server.store.line import Line
from server.store.routes import Cluster
from tests.clusters import SYNC_AT_ONCE, ClusterServers, identity, replicated, reply, until
from tests.stores import VALKEY, StoreServer

PATIENCE: Final = 30.0


@pytest_asyncio.fixture
async def cluster_store(cluster: ClusterServers) -> AsyncIterator[Store]:
    store = await open_store(cluster.url)
    yield store
    await store.aclose()


@pytest_asyncio.fixture
async def log(cluster_store: Store) -> AsyncIterator[StoredLog]:
    stored = StoredLog(cluster_store)
    yield stored
    await stored.aclose()


async def eventually_appended(log: StoredLog, room: str, head: Head, data: bytes) -> Head:
    """Append as a host does that meets an unavailable store: read back, and try again what is not there."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                known = await log.read(room, after=head.version)
                if known:
                    assert [entry.data for entry in known] == [data]
                    return follow(head, known)
                return await log.append(room, head, data)
            except StoreUnavailable:
                await asyncio.sleep(0.05)


async def test_rooms_on_all_primaries_can_be_written_read_watched_and_listed(
    cluster: ClusterServers, log: StoredLog, cluster_store: Store
) -> None:
    rooms = [f"room {number}" for number in range(30)]
    assert len({cluster.owner(f"{{{room}}}").port for room in rooms}) == 3
    woken: asyncio.Queue[tuple[str, int]] = asyncio.Queue()
    for room in rooms:
        log.watch(room, lambda version, room=room: woken.put_nowait((room, version)))  # type: ignore[misc]
    async with asyncio.timeout(PATIENCE):
        assert {await woken.get() for _ in rooms} == {(room, UNKNOWN) for room in rooms}

        heads = await asyncio.gather(*(log.append(room, EMPTY, room.encode()) for room in rooms))

        assert {await woken.get() for _ in rooms} == {(room, 1) for room in rooms}
    assert {head.version for head in heads} == {1}
    assert await log.heads(rooms) == dict(zip(rooms, heads, strict=True))
    assert sorted([room async for room in log.rooms()]) == sorted(rooms)
    assert [(await log.read(room))[0].data for room in rooms] == [room.encode() for room in rooms]
    await cluster_store.probe()


async def test_the_index_works_across_primaries(cluster_store: Store) -> None:
    index = StoredIndex(cluster_store)
    rooms = [f"room {number}" for number in range(50)]
    for room in rooms:
        await index.set_due(room, 5)
        await index.archive(room, f"match of {room}", 1, b"record")
        assert await index.claim_code(room, room)
        await index.list_room(room, "koi-koi", room.encode())

    assert len(await index.due(5, 100)) == len(await index.listed(None, 100)) == 50
    assert len([record async for record in index.archived()]) == 50
    assert await index.beat("node", 1_000) == ["node"]


async def test_a_room_goes_on_while_and_after_its_slot_moves_to_another_primary(
    cluster: ClusterServers, log: StoredLog
) -> None:
    key = "fudaza:{room}:log"
    source = cluster.owner("{room}")
    target = next(server for server in cluster.servers if server is not source)
    slot = str(key_slot(b"room"))
    ids = {server: identity(server) for server in cluster.servers}
    woken: asyncio.Queue[int] = asyncio.Queue()
    log.watch("room", woken.put_nowait)
    async with asyncio.timeout(PATIENCE):
        assert await woken.get() == UNKNOWN
        head = await log.append("room", EMPTY, b"before")
        assert await woken.get() == 1

        reply(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source])
        reply(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", ids[target])
        head = await log.append("room", head, b"slot is moving, room has not")
        reply(source, "MIGRATE", "127.0.0.1", str(target.port), key, "0", "5000")
        head = await log.append("room", head, b"room has moved, slot has not")
        assert len(await log.read("room")) == 3
        for server in cluster.servers:
            reply(server, "CLUSTER", "SETSLOT", slot, "NODE", ids[target])
        head = await log.append("room", head, b"slot has moved")

        # listened to at the new owner, and told to look
        while await woken.get() != UNKNOWN:
            pass
        await log.append("room", head, b"after")
        while await woken.get() != 5:
            pass
    assert follow(EMPTY, await log.read("room")).version == 5


async def test_a_room_goes_on_while_its_slot_moves_to_a_primary_that_has_nothing_yet(
    cluster: ClusterServers, log: StoredLog, cluster_store: Store
) -> None:
    source = cluster.owner("{room}")
    head = await log.append("room", EMPTY, b"before")
    target = await cluster.add_primary()
    slot = str(key_slot(b"room"))
    reply(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", identity(source))
    reply(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", identity(target))
    reply(source, "MIGRATE", "127.0.0.1", str(target.port), "fudaza:{room}:log", "0", "5000")

    head = await log.append("room", head, b"at the server that has no function of ours")

    assert head.version == 2
    assert (await log.heads(["room"]))["room"] == head
    await cluster_store.probe()


async def test_a_store_that_does_not_keep_functions_is_unavailable_and_no_fault_of_ours(
    cluster_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forgets() -> None:
        for node in await cluster_store.route.primaries():
            await cluster_store.at(node, "FUNCTION", "FLUSH")

    monkeypatch.setattr(cluster_store, "load", forgets)
    await forgets()

    with pytest.raises(StoreUnavailable):
        await StoredIndex(cluster_store).beat("node", 1_000)
    with pytest.raises(StoreUnavailable):
        await cluster_store.probe()


async def test_a_store_can_be_closed_while_somebody_asks_a_server_for_the_first_time(
    cluster: ClusterServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_store(cluster.url)
    close = Line.aclose

    async def close_and_ask(line: Line) -> None:
        route = store.route
        assert isinstance(route, Cluster)
        route._line(("127.0.0.1", 1 + len(route._lines)))
        await close(line)

    monkeypatch.setattr(Line, "aclose", close_and_ask)

    await store.aclose()


async def test_a_room_goes_on_after_its_primary_died_and_a_replica_took_over(
    cluster: ClusterServers, log: StoredLog, cluster_store: Store
) -> None:
    replica = await cluster.add_replica()
    room = next(room for room in map(str, range(99)) if cluster.owner(f"{{{room}}}") is cluster.servers[0])
    woken: asyncio.Queue[int] = asyncio.Queue()
    log.watch(room, woken.put_nowait)
    async with asyncio.timeout(PATIENCE):
        assert await woken.get() == UNKNOWN
        head = await log.append(room, EMPTY, b"before")
        assert await woken.get() == 1
        await replicated(cluster.servers[0], replica)
        cluster.servers[0].kill()
        with pytest.raises(StoreUnavailable):
            await log.append(room, head, b"lost")

        head = await eventually_appended(log, room, head, b"after")

        assert head.version == 2
        while await woken.get() != UNKNOWN:
            pass
        await log.append(room, head, b"later")
        while await woken.get() != 3:
            pass
        await cluster_store.probe()


# Sentinel ------------------------------------------------------------------------------------------------------------


class Sentinels:
    """A primary, its replica and one sentinel that is enough to decide."""

    def __init__(self) -> None:
        self.primary = StoreServer(VALKEY, *SYNC_AT_ONCE)
        self.replica = StoreServer(VALKEY, "--replicaof", f"127.0.0.1 {self.primary.port}")
        self.sentinel = StoreServer(VALKEY)

    @property
    def url(self) -> str:
        return f"redis+sentinel://127.0.0.1:1,127.0.0.1:{self.sentinel.port}/main"

    async def start(self, stack: ExitStack) -> None:
        for server in (self.primary, self.replica):
            stack.callback(server.close)
            server.start()
        stack.callback(self.sentinel.close)
        self.sentinel.start_sentinel(
            f"sentinel monitor main 127.0.0.1 {self.primary.port} 1",
            "sentinel down-after-milliseconds main 500",
            "sentinel failover-timeout main 3000",
        )
        await until(lambda: "master_link_status:up" in reply(self.replica, "INFO", "replication"))
        await until(lambda: "slaves=1" in reply(self.sentinel, "INFO", "sentinel"))


async def test_sentinels_that_say_nothing_do_not_keep_the_store_from_being_found_by_another() -> None:
    with ExitStack() as stack:
        servers = Sentinels()
        await servers.start(stack)
        silent = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(3)]
        hosts = ",".join(f"127.0.0.1:{each.getsockname()[1]}" for each in silent)

        store = await open_store(f"redis+sentinel://{hosts},127.0.0.1:{servers.sentinel.port}/main")

        await store.probe()
        await store.aclose()


async def test_after_a_failover_under_sentinel_a_room_goes_on_at_the_new_primary() -> None:
    with ExitStack() as stack:
        servers = Sentinels()
        await servers.start(stack)
        store = await open_store(servers.url)
        log = StoredLog(store)
        woken: asyncio.Queue[int] = asyncio.Queue()
        log.watch("room", woken.put_nowait)
        try:
            async with asyncio.timeout(PATIENCE):
                assert await woken.get() == UNKNOWN
                head = await log.append("room", EMPTY, b"before")
                assert await woken.get() == 1
                await replicated(servers.primary, servers.replica)
                servers.primary.kill()
                with pytest.raises(StoreUnavailable):
                    await log.append("room", head, b"lost")

                head = await eventually_appended(log, "room", head, b"after")

                while await woken.get() != UNKNOWN:
                    pass
                await log.append("room", head, b"later")
                while await woken.get() != 3:
                    pass
            assert "role:master" in reply(servers.replica, "INFO", "replication")
        finally:
            await log.aclose()
            await store.aclose()


async def test_a_primary_that_was_demoted_is_left_for_the_new_one() -> None:
    with ExitStack() as stack:
        servers = Sentinels()
        await servers.start(stack)
        store = await open_store(servers.url)
        log = StoredLog(store)
        try:
            head = await log.append("room", EMPTY, b"before")
            await replicated(servers.primary, servers.replica)
            # refused until the sentinel has heard enough from the replica
            await until(lambda: servers.sentinel.ask("SENTINEL", "FAILOVER", "main") == b"+OK\r\n")

            await until(lambda: "role:master" in reply(servers.replica, "INFO", "replication"))
            reply(servers.primary, "REPLICAOF", "127.0.0.1", str(servers.replica.port))  # sooner than the sentinel
            head = await eventually_appended(log, "room", head, b"after")

            assert head.version == 2
        finally:
            await log.aclose()
            await store.aclose()
