"""Thousands of short rooms: afterwards a node and its store hold no more than before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from protocol.messages import Accepted, Leave
from server.store.keys import ARCHIVE_SHARDS, Keys
from tests.faults.installation import Installation, Node, installed
from tests.faults.people import Guest
from tests.faults.test_sessions import fewest_tasks, metric
from tests.stores import StoreServer

pytestmark = pytest.mark.asyncio(loop_scope="session")
PATIENCE: Final = 60.0
AT_ONCE: Final = 20
SETTLED_SECONDS: Final = 30.0
TIMING: Final = "pause_ms=0,redeal_ms=0,question_ms=10,contributions_ms=500,abandoned_ms=100"
FLAGS: Final = (
    *("--timing", TIMING, "--forget-hours", "0.0003"),
    *("--connections-per-second", "1000", "--connection-burst", "100000", "--max-rooms", "100000"),
)


@pytest_asyncio.fixture(loop_scope="session")
async def one(tmp_path: Path, valkey: StoreServer) -> AsyncIterator[Installation]:
    """A single node that forgets closed rooms after a second."""
    async with installed(tmp_path, valkey, *FLAGS, count=1) as installation:
        yield installation


async def short_life(port: int, number: int) -> None:
    """A room, a match that begins, and everybody goes."""
    ann = Guest([port], "Ann", seed=number)
    await ann.sit("koi-koi", deals=1)
    if number % 4 == 0:
        await ann.start()
        await ann.play()
    answer = await ann.ask(Leave(id=ann.next_id()))
    assert isinstance(answer, Accepted)
    await ann.vanish()


def resident_kib(pid: int) -> int:
    """Memory that a process has, in KiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def keys_of_rooms(store: StoreServer) -> int:
    """How many keys there are beside those that do not grow with the number of rooms: what is kept of finished deals,
    and what nodes tell one another. Limits of addresses are counted: they are gone once they are full again.
    """
    keys = Keys()
    staying = (*keys.nodes, keys.orders, *(key for shard in range(ARCHIVE_SHARDS) for key in keys.archive(shard)))
    return integer(store.ask("DBSIZE")) - integer(store.ask("EXISTS", *staying))


def integer(reply: bytes) -> int:
    """The number in a reply that is one."""
    assert reply.startswith(b":"), reply
    return int(reply[1:])


async def settled(nodes: Installation) -> None:
    """Wait until nothing is left of rooms that are over."""
    node = nodes.nodes[0]
    async with asyncio.timeout(PATIENCE + SETTLED_SECONDS):
        while keys_of_rooms(nodes.store) or await metric(node, "fudaza_rooms_loaded"):
            await asyncio.sleep(0.2)
        while nodes.store.ask("PUBSUB", "SHARDCHANNELS") != b"*0\r\n":
            await asyncio.sleep(0.2)


async def until_tasks(node: Node, most: float) -> None:
    """Wait until the node has no more tasks than that."""
    async with asyncio.timeout(PATIENCE):
        while await metric(node, "fudaza_tasks") > most:
            await asyncio.sleep(0.5)


@pytest.mark.parametrize("rooms", [60, pytest.param(5_000, marks=pytest.mark.long)])
async def test_after_so_many_short_rooms_memory_keys_and_subscriptions_are_back_where_they_were(
    one: Installation, rooms: int, tell: Callable[..., None]
) -> None:
    node = one.nodes[0]
    gate = asyncio.Semaphore(AT_ONCE)

    async def live(number: int) -> None:
        async with gate:
            await short_life(node.port, number)

    async def live_all(count: int) -> int:
        await asyncio.gather(*map(live, range(count)))
        await settled(one)
        return resident_kib(node.pid)

    half = rooms // 2
    # What is loaded once stays, and what the allocator took for as many rooms as there ever were at a time.
    warm = await live_all(half)
    tasks = await fewest_tasks(node)
    after_half = await live_all(half)
    after_all = await live_all(rooms - half)

    await until_tasks(node, tasks)
    assert await metric(node, "fudaza_connections") == 0
    assert await metric(node, "fudaza_internal_errors_total") == 0
    # a leak of a room would be tens of KiB; what the allocator keeps does not grow with their number
    most = max(8_192, 2 * rooms)
    assert after_half - warm < most, (warm, after_half, after_all)
    assert after_all - after_half < most, (warm, after_half, after_all)
    tell(rooms=rooms, kib_warm=warm, kib_after_half=after_half, kib_after_all=after_all)
