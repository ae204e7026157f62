"""A match on a cluster of three primaries, whose slot moves and whose primary dies while it is played."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Final

import pytest_asyncio
from redis.crc import key_slot

from protocol.messages import Create
from server.room import room_id_of
from tests.clusters import ClusterServers, identity, replicated, reply, until
from tests.e2e.serverprocess import ServerProcess
from tests.faults.installation import FLAGS, during, read_log
from tests.faults.invariants import _ONCE, check, check_nodes
from tests.faults.people import Guest
from tests.stores import StoreServer

PATIENCE: Final = 60.0


@pytest_asyncio.fixture
async def nodes(tmp_path: Path, cluster: ClusterServers) -> AsyncIterator[list[ServerProcess]]:
    started: list[ServerProcess] = []
    try:
        for number in range(2):
            directory = tmp_path / f"node-{number}"
            directory.mkdir()
            started.append(ServerProcess(directory, *FLAGS, "--redis", cluster.url))
        await asyncio.gather(*(node.start() for node in started))
        yield started
        for node in started:
            assert "Traceback" not in node.errors(), node.errors()[-4000:]
    finally:
        for node in started:
            await node.close()


class Chooser(Guest):
    """Makes the room that it opens one of ``cluster``'s first primary, by the choice of the command's id."""

    def __init__(self, cluster: ClusterServers, ports: list[int], name: str, seed: int) -> None:
        super().__init__(ports, name, seed)
        self._cluster = cluster

    def next_id(self) -> str:
        chosen = super().next_id()
        while self.place is None and self._cluster.owner(f"{{{room_id_of(chosen)}}}") is not self._cluster.servers[0]:
            chosen = super().next_id()
        return chosen


def move_slot(cluster: ClusterServers, key: str, source: StoreServer, target: StoreServer) -> None:
    """Move the slot of ``key``, with all its keys, while commands come."""
    slot = str(key_slot(key.encode()))
    ids = {server: identity(server) for server in (source, target)}
    reply(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source])
    reply(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", ids[target])
    reply(source, "MIGRATE", "127.0.0.1", str(target.port), key, "0", "5000")
    for server in (target, source):
        reply(server, "CLUSTER", "SETSLOT", slot, "NODE", ids[target])


async def progress(guests: list[Guest], events: int) -> None:
    for guest in guests:
        goal = guest.number + events
        await guest.until(lambda guest=guest, goal=goal: guest.number >= goal)  # type: ignore[misc]


async def test_a_match_goes_on_while_its_slot_moves_and_after_its_primary_was_failed_over(
    cluster: ClusterServers, nodes: list[ServerProcess]
) -> None:
    replica = await cluster.add_replica()
    ports = [node.port for node in nodes]
    ann = Chooser(cluster, ports, "Ann", 1)
    bob = Guest(ports[::-1], "Bob", 2)
    guests: list[Guest] = [ann, bob]
    code = await ann.sit("hachinin-meri", deals=4)
    await bob.join(code, seat=1)
    await ann.start()
    log = f"fudaza:{{{ann.room}}}:log"
    playing = asyncio.gather(ann.play(), bob.play())

    await during(playing, progress(guests, 20))
    primary = cluster.servers[0]
    await replicated(primary, replica)
    assert reply(replica, "CLUSTER", "FAILOVER") == "OK"  # in agreement with the primary: nothing is lost
    await during(playing, until(lambda: "role:master" in reply(replica, "INFO", "replication")))
    await during(playing, progress(guests, 15))

    move_slot(cluster, log, replica, cluster.servers[1])
    await during(playing, progress(guests, 15))
    move_slot(cluster, log, cluster.servers[1], replica)
    await during(playing, progress(guests, 15))

    # and now the new primary dies without a word; what it had not yet told its replica is lost, and told so
    await during(playing, until(lambda: "master_link_status:up" in reply(primary, "INFO", "replication")))
    await replicated(replica, primary)
    replica.kill()
    await asyncio.wait_for(playing, PATIENCE)

    stored = await read_log(cluster.url, ann.room)
    logged = {entry for each in stored for entry in [each.data]}
    lost = {
        command
        for guest in guests
        for command in guest.accepted
        if isinstance(guest.given[command], _ONCE)
        and not any(f'"command":"{command}"'.encode() in data for data in logged)
    }
    assert not lost or all(guest.rolled_back for guest in guests)
    story = check(stored, guests, lost=lost)
    await check_nodes(partial(read_log, cluster.url), story, code, ports)
    assert isinstance(next(iter(ann.given.values())), Create)
