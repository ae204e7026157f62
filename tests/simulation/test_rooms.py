"""Rooms that are listed, joined, left behind and closed, in virtual time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from random import Random
from typing import Any

import msgspec
import pytest
import structlog

from clients.cli import picture as pictures
from clients.cli.session import End, Ended
from protocol.events import WhyClosed
from protocol.messages import Create, Join, RoomSummary, Start
from server import room as rooms
from server.entries import Closed, Joined
from server.room import Phase
from tests.faults.invariants import Story, story_of
from tests.simulation.people import Guest
from tests.simulation.schedule import ALL
from tests.simulation.world import NODES, World
from tests.toy import DUEL


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(pictures, "game_named", ALL.__getitem__)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.reset_defaults()


def played(world: World, story: Coroutine[Any, Any, None]) -> None:
    try:
        world.loop.run(story)
        assert not world.loop.faults, world.loop.faults
    finally:
        world.loop.bury()


async def host(world: World, name: str) -> Guest:
    """Somebody who has opened a room."""
    guest = Guest(world, name)
    asyncio.get_running_loop().create_task(guest.play())
    guest.core.ask(Create, game=DUEL.name, name=name)
    await guest.until("lobby")
    return guest


async def listed(world: World) -> set[str]:
    """The codes of the rooms in the lobby's list."""
    return {msgspec.json.decode(each, type=RoomSummary).code for each in await world.index.listed(None, 1_000)}


def code_of(guest: Guest) -> str:
    assert guest.place is not None
    return guest.place.code


def story(world: World, guest: Guest) -> Story:
    assert guest.place is not None
    return story_of(world.memory.entries[guest.place.room], games=ALL)


@pytest.mark.parametrize("place", range(NODES))
def test_a_live_room_stays_listed_and_open_while_one_node_stands_still(place: int) -> None:
    """For twice as long as an entry in the list lives without being told again."""
    world = World(f"stall/{place}", ALL)

    async def live() -> None:
        world.start()
        ann = await host(world, "Ann")
        code = code_of(ann)
        await asyncio.sleep(1)
        stalling = asyncio.create_task(world.stall(place, 60))
        while not stalling.done():
            assert code in await listed(world)
            await asyncio.sleep(0.5)
        bob = Guest(world, "Bob")
        living = asyncio.create_task(bob.play())
        bob.core.ask(Join, code=code, name="Bob")
        await bob.until("lobby")
        assert story(world, ann).room.phase is Phase.LOBBY
        living.cancel()

    played(world, live())


def test_rooms_of_which_all_people_went_with_their_node_leave_the_list_and_the_others_stay() -> None:
    world = World("dead", ALL)

    async def live() -> None:
        world.start()
        ann = await host(world, "Ann")
        others = [await host(world, f"Guest {number}") for number in range(9)]
        dead = world.nodes[1]
        gone = [guest for guest in others if world.links[guest.name] in dead.links]
        assert len(gone) == 3
        await asyncio.sleep(1)
        assert len(await listed(world)) == 10
        for guest in gone:
            guest.leave_for_good()
        world.kill(1)
        await asyncio.sleep(400)

        assert await listed(world) == {code_of(guest) for guest in (ann, *others) if guest not in gone}
        assert all(story(world, guest).room.phase is Phase.CLOSED for guest in gone)
        ann.core.ask(Start, level="easy")
        await ann.until("finished")

    played(world, live())


@pytest.mark.parametrize("seed", range(30))
def test_who_joins_while_the_room_is_closed_is_in_and_told_of_its_end_or_is_refused(seed: int) -> None:
    world, rng = World(f"close/{seed}", ALL), Random(seed)

    async def close(room_id: str) -> None:
        await asyncio.sleep(rng.uniform(0, 0.1))
        found = await world.nodes[rng.randrange(NODES)].hall.room(room_id)
        await found._append_entry(lambda room: rooms.close(room, WhyClosed.OPERATOR, world.now_ms()))

    async def live() -> None:
        world.start()
        ann = await host(world, "Ann")
        bob = Guest(world, "Bob")
        living = asyncio.create_task(bob.play())
        await bob.until_online()
        assert ann.place is not None
        closing = asyncio.create_task(close(ann.place.room))
        await asyncio.sleep(rng.uniform(0, 0.1))
        join = bob.core.ask(Join, code=ann.place.code, name="Bob")
        await closing
        await asyncio.sleep(10)

        bodies = [type(entry.body) for entry in story(world, ann).entries]
        assert bodies[-1] is Closed
        assert ann.over == Ended(End.ROOM_CLOSED)
        if Joined in bodies:
            assert join.id in bob.accepted
            assert bob.over == Ended(End.ROOM_CLOSED)
        else:
            assert bob.refused[join.id] in {"not-now", "unknown-room"}
        living.cancel()

    played(world, live())
