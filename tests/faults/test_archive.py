"""A node ends while the store takes its records slowly, or not at all: it ends in order, and no record is lost."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from server import room as server_room
from server.entries import decode_entry
from server.store import StoredIndex, open_store
from tests.faults.installation import Installation, during, installed
from tests.faults.invariants import check
from tests.faults.people import Guest
from tests.stores import StoreServer

pytestmark = pytest.mark.asyncio(loop_scope="session")
BOUND_SECONDS: Final = 30.0
"""What supervisors commonly give before they kill."""
PATIENCE: Final = 60.0
ARCHIVE: Final = b"_archive\r\n"


@pytest_asyncio.fixture(loop_scope="session")
async def one(tmp_path: Path, valkey: StoreServer) -> AsyncIterator[Installation]:
    async with installed(tmp_path, valkey, count=1) as installation:
        yield installation


async def records(installation: Installation, room: str) -> list[int]:
    """The deals of ``room`` whose records are kept."""
    store = await open_store(installation.store.url)
    try:
        return [found.deal async for found in StoredIndex(store).archived(room=room)]
    finally:
        await store.aclose()


async def tables(nodes: Installation, count: int, deals: int) -> list[Guest]:
    guests = [Guest(nodes.ports, f"Guest {number}", seed=number) for number in range(count)]
    for guest in guests:
        await guest.sit("koi-koi", deals=deals)
    await asyncio.gather(*(guest.start() for guest in guests))
    return guests


@pytest.mark.parametrize("rooms", [8, pytest.param(200, marks=pytest.mark.long)])
async def test_a_node_that_ends_while_records_are_taken_slowly_ends_when_all_of_them_are_kept(
    one: Installation, rooms: int, tell: Callable[..., None]
) -> None:
    node = one.nodes[0]
    guests = await tables(one, rooms, deals=12)
    playing = asyncio.gather(*(guest.play() for guest in guests))
    first = asyncio.Event()

    def slow_down() -> None:
        node.line.up.delay = node.line.down.delay = 0.2
        first.set()

    node.line.up.at(ARCHIVE, slow_down)
    await during(playing, happened(first))

    began = time.monotonic()
    assert await node.drain() == 0
    seconds = time.monotonic() - began
    finished = {guest.room: await finished_deals(one, guest.room) for guest in guests}
    kept = {guest.room: await records(one, guest.room) for guest in guests}
    node.line.up.delay = node.line.down.delay = 0.0
    await node.start()
    await playing

    assert sum(map(len, finished.values())) >= 1
    assert kept == finished, [line for line in node.errors().splitlines() if '"command"' not in line]
    assert seconds < BOUND_SECONDS
    await all_kept(one, guests, 12)
    tell(rooms=rooms, seconds_to_end_with_slow_records=round(seconds, 1), records=sum(map(len, kept.values())))


async def all_kept(installation: Installation, guests: list[Guest], deals: int) -> None:
    """Each room's log is whole with so many deals, and soon their records are kept, those of redeals included."""
    async with asyncio.timeout(PATIENCE):
        for guest in guests:
            check(await installation.log(guest.room), [guest])
            finished = await finished_deals(installation, guest.room)
            assert len(set(finished)) == deals
            while await records(installation, guest.room) != finished:
                await asyncio.sleep(0.1)


async def finished_deals(installation: Installation, room_id: str) -> list[int]:
    """The deals that are over by the log of a room."""
    room: server_room.Room | None = None
    found: list[int] = []
    for stored in await installation.log(room_id):
        folded = server_room.fold(room, decode_entry(stored.data))
        room = folded.room
        found += [deal.deal for deal in folded.finished]
    return found


async def happened(event: asyncio.Event) -> None:
    async with asyncio.timeout(PATIENCE):
        await event.wait()


async def test_a_node_that_ends_while_the_store_is_silent_ends_in_time_and_its_records_are_kept_later(
    one: Installation, tell: Callable[..., None]
) -> None:
    node = one.nodes[0]
    guests = await tables(one, 4, deals=12)
    playing = asyncio.gather(*(guest.play() for guest in guests))
    silent = asyncio.Event()

    def hang() -> None:
        node.line.up.hold()
        silent.set()

    node.line.up.at(ARCHIVE, hang)
    await during(playing, happened(silent))
    began = time.monotonic()
    node.signal(signal.SIGTERM)
    node.runs = False
    assert await node.ended() == 0
    seconds = time.monotonic() - began
    node.line.cut()
    node.line.up.flow()
    assert not any([await records(one, guest.room) for guest in guests])

    await node.start()
    await playing

    assert seconds < BOUND_SECONDS
    await all_kept(one, guests, 12)
    tell(seconds_to_end_with_a_silent_store=round(seconds, 1))
