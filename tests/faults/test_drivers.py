"""The node that moves a room's AI and clock dies: another one does it, soon, whoever is watching or nobody."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from server.driver import ranking
from server.entries import decode_entry
from server.room import Phase, room_id_of
from server.store import StoredLog, open_store
from tests.faults.installation import Installation, Node, installed, until
from tests.faults.invariants import check, story_of
from tests.faults.people import Guest
from tests.stores import StoreServer

pytestmark = pytest.mark.asyncio(loop_scope="session")
PATIENCE: Final = 60.0
TIMING: Final = "pause_ms=0,redeal_ms=0,question_ms=100,contributions_ms=50,grace_ms=50"


@pytest_asyncio.fixture(loop_scope="session")
async def slow(tmp_path: Path, valkey: StoreServer) -> AsyncIterator[Installation]:
    """Nodes whose AI take their time, so that they can be killed while they think."""
    async with installed(tmp_path, valkey, "--ai-pause-ms", "60", "--timing", TIMING) as installation:
        yield installation


def driver_of(nodes: Installation, room: str) -> Node:
    """The node that drives the room, of those that run."""
    names = {str(node.lines("nodes")[-1]["node"]): node for node in nodes.nodes if node.runs}
    return names[ranking(room, tuple(names))[0]]


async def length(nodes: Installation, room: str, least: int) -> int:
    """How long the log of ``room`` is, once it is at least so long."""
    async with asyncio.timeout(PATIENCE):
        while (found := len(await nodes.log(room))) < least:
            await asyncio.sleep(0.02)
    return found


async def test_a_room_of_ai_that_nobody_watches_is_finished_though_one_driver_after_the_other_dies(
    slow: Installation, tell: Callable[..., None]
) -> None:
    ann = Guest(slow.ports, "Ann")
    await ann.sit("hachinin-meri", deals=2)
    await ann.start()
    await ann.until_started()
    await ann.vanish()
    room = ann.room
    waits: list[float] = []

    reached = await length(slow, room, 12)
    for _ in range(3):
        driver = driver_of(slow, room)
        await driver.kill()
        began = time.monotonic()
        dead = len(await slow.log(room))
        reached = await length(slow, room, dead + 1)
        waits.append(round(time.monotonic() - began, 2))
        await length(slow, room, reached + 3)
        await driver.start()

    async with asyncio.timeout(PATIENCE):
        while story_of(await slow.log(room)).room.phase is not Phase.FINISHED:
            await asyncio.sleep(0.2)
    story = check(await slow.log(room), [])
    assert {type(entry.body).__name__ for entry in story.entries} >= {"Dropped", "StoodIn", "Acted"}
    tell(seconds_from_a_drivers_death_to_the_next_entry=waits)


async def test_a_clock_that_runs_out_while_its_driver_is_dead_is_fired_once_by_another_node(slow: Installation) -> None:
    ann = Guest([slow.nodes[0].port], "Ann", seed=1)
    await ann.sit("hachinin-meri", deals=1)
    driver = driver_of(slow, ann.room)
    survivor = next(node for node in slow.nodes if node is not driver)
    await ann.vanish()  # her grace of 50 ms begins, and is over before anybody notices the death
    await driver.kill()

    await until(lambda: survivor.runs)
    async with asyncio.timeout(PATIENCE):
        while not [entry for entry in await entries(slow, ann.room) if entry == "Freed"]:
            await asyncio.sleep(0.05)
    await driver.start()
    assert (await entries(slow, ann.room)).count("Dropped") == 1
    assert (await entries(slow, ann.room)).count("Freed") == 1


async def entries(nodes: Installation, room: str) -> list[str]:
    return [type(entry.body).__name__ for entry in story_of(await nodes.log(room)).entries]


# Many rooms --------------------------------------------------------------------------------------------------------


@pytest_asyncio.fixture(loop_scope="session")
async def busy(tmp_path: Path, valkey: StoreServer) -> AsyncIterator[Installation]:
    """Nodes whose AI seem to think for less time than it takes to notice that a driver is dead: then every room of a
    dead one waits for the next.
    """
    async with installed(tmp_path, valkey, "--ai-pause-ms", "600", "--timing", TIMING) as installation:
        yield installation


async def left_to_ai(nodes: Installation, victim: Node, count: int) -> list[str]:
    """So many matches that ``victim`` drives, which nobody watches: their rooms."""
    names = {node: str(node.lines("nodes")[-1]["node"]) for node in nodes.nodes}

    async def leave_one(number: int) -> str:
        ann = Guest([victim.port], f"Ann {number}")
        while ranking(room_id_of(f"{ann._session}.1"), tuple(names.values()))[0] != names[victim]:
            ann._session = secrets.token_urlsafe(12)
        await ann.sit("koi-koi", deals=12)
        await ann.start(level="easy")
        await ann.until_started()
        await ann.vanish()
        return ann.room

    return await asyncio.gather(*map(leave_one, range(count)))


async def next_entries(url: str, rooms: Sequence[str], since_ms: int) -> list[float]:
    """How many seconds after ``since_ms`` each room has had its next entry; waits for the last."""
    waiting = set(rooms)
    seconds: list[float] = []
    store = await open_store(url)
    log = StoredLog(store)
    try:
        async with asyncio.timeout(PATIENCE):
            while waiting:
                await asyncio.sleep(0.2)
                for room in tuple(waiting):
                    times = (decode_entry(stored.data).at for stored in await log.read(room))
                    after = next((at for at in times if at > since_ms), None)
                    if after is not None:
                        waiting.discard(room)
                        seconds.append((after - since_ms) / 1000)
    finally:
        await log.aclose()
        await store.aclose()
    return sorted(seconds)


@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.long)])
async def test_all_rooms_of_a_dead_driver_go_on(busy: Installation, tell: Callable[..., None], count: int) -> None:
    victim = busy.nodes[0]
    rooms = await left_to_ai(busy, victim, count)
    await asyncio.gather(*(length(busy, room, 12) for room in rooms))
    assert {driver_of(busy, room) for room in rooms} == {victim}

    await victim.kill()
    seconds = await next_entries(busy.store.url, rooms, time.time_ns() // 1_000_000)

    tell(rooms=len(rooms), first=seconds[0], median=seconds[len(seconds) // 2], last=seconds[-1])
