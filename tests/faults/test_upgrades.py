"""Nodes are replaced one by one while people play: by the same version, by one with another schema of entries, by one
that plays a game by other rules.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Final

import pytest
import pytest_asyncio

from protocol.messages import Accepted, Resume
from server.entries import Acted
from server.room import Phase
from tests.faults import invariants
from tests.faults.installation import Installation, during, installed
from tests.faults.invariants import check, check_nodes
from tests.faults.people import AGAIN, Guest
from tests.faults.successor import NEXT, decode_next, schema_of
from tests.stores import StoreServer

pytestmark = pytest.mark.asyncio(loop_scope="session")
PATIENCE: Final = 60.0


@pytest_asyncio.fixture(loop_scope="session")
async def fleet(tmp_path: Path, valkey: StoreServer) -> AsyncIterator[Installation]:
    """Nodes of their own, whose AI take a moment, so that a match lasts as long as an upgrade."""
    async with installed(tmp_path, valkey, "--ai-pause-ms", "30") as installation:
        yield installation


async def tables(nodes: Installation, count: int) -> list[list[Guest]]:
    """So many rooms with two people each, at different nodes; their matches are starting."""
    found = []
    for number in range(count):
        ann = Guest(nodes.ports_from(number % 3), f"Ann {number}", seed=number)
        bob = Guest(nodes.ports_from((number + 1) % 3), f"Bob {number}", seed=number + 100)
        await bob.join(await ann.sit("hachinin-meri", deals=4), seat=1)
        await ann.start()
        found.append([ann, bob])
    return found


async def seen(guests: list[Guest], events: int) -> None:
    """Wait until all have seen so many events more, or the end."""
    goals = [(guest, guest.number + events) for guest in guests]
    for guest, goal in goals:
        await guest.until(lambda guest=guest, goal=goal: guest.number >= goal or guest.result is not None)  # type: ignore[misc]


async def test_a_rolling_restart_under_load_loses_nothing_and_every_node_ends_in_order(
    fleet: Installation, tell: Callable[..., None]
) -> None:
    rooms = await tables(fleet, 6)
    guests = [guest for room in rooms for guest in room]
    playing = asyncio.gather(*(guest.play() for guest in guests))
    began = time.monotonic()

    for node in fleet.nodes:
        await during(playing, seen(guests, 6))
        assert await node.drain() == 0
        await node.start()
    await during(playing, seen(guests, 1))
    seconds = time.monotonic() - began
    await playing

    assert all(guest.resumed for guest in guests)
    assert not any(guest.rolled_back for guest in guests)
    for room in rooms:
        story = check(await fleet.log(room[0].room), room)
        assert story.room.phase is Phase.FINISHED
        assert room[0].place is not None
        await check_nodes(fleet.log, story, room[0].place.code, fleet.ports, room)
    away = sorted(seconds for guest in guests for seconds in guest.interruptions)
    tell(
        rolling_restart_of_three_nodes_seconds=round(seconds, 1),
        rooms=len(rooms),
        interruptions=len(away),
        interruption_ms={
            "p50": round(median(away) * 1_000),
            "p99": round(quantiles(away, n=100, method="inclusive")[98] * 1_000),
            "most": round(away[-1] * 1_000),
        },
    )


async def test_a_rolling_upgrade_to_another_schema_of_entries_keeps_every_live_room(
    fleet: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = await tables(fleet, 3)
    guests = [guest for room in rooms for guest in room]
    playing = asyncio.gather(*(guest.play() for guest in guests))

    for node in fleet.nodes:
        await during(playing, seen(guests, 6))
        assert await node.drain() == 0
        node.module = "tests.faults.successor"
        await node.start()
    await playing

    monkeypatch.setattr(invariants, "decode_entry", decode_next)  # reads both, as the next version does
    for room in rooms:
        stored = await fleet.log(room[0].room)
        schemas = [schema_of(each.data) for each in stored]
        assert set(schemas) == {NEXT - 1, NEXT}
        assert schemas[0] == NEXT - 1, "the room was opened by the version before"
        assert {schema_of(each.data) for each in stored if isinstance(decode_next(each.data).body, Acted)} == set(
            schemas
        )
        story = check(stored, room)
        assert story.room.phase is Phase.FINISHED
        assert room[0].place is not None
        await check_nodes(fleet.log, story, room[0].place.code, fleet.ports, room)


async def test_an_upgrade_to_other_rules_of_a_game_ends_its_matches_with_the_last_older_node_and_no_other_room(
    fleet: Installation,
) -> None:
    rooms = await tables(fleet, 1)
    guests = rooms[0]
    playing = asyncio.gather(*(guest.play() for guest in guests))
    ann = Guest(fleet.ports_from(0), "Ann", seed=1)
    bob = Guest(fleet.ports_from(1), "Bob", seed=2)
    await bob.join(await ann.sit("koi-koi", deals=12), seat=1)
    await ann.start()
    await ann.until_started()
    opened = (await fleet.log(ann.room))[-1].head.version

    for node in fleet.nodes[:-1]:
        assert await node.drain() == 0
        node.module = "tests.faults.other_rules"
        await node.start()
    for each in (ann, bob):
        await each.come_back()  # through whichever node can read the room
    assert (await fleet.log(ann.room))[-1].head.version > opened

    last = fleet.nodes[-1]
    assert await last.drain() == 0
    last.module = "tests.faults.other_rules"
    await last.start()

    assert [await told_in_the_end(each) for each in (ann, bob)] == ["unknown-room", "unknown-room"]
    await playing
    assert check(await fleet.log(guests[0].room), guests).room.phase is Phase.FINISHED


async def told_in_the_end(guest: Guest) -> str:
    """What a person hears who comes again, from one node or another, until they are not asked to try once more."""
    assert guest.place is not None
    assert guest.place.token is not None
    async with asyncio.timeout(PATIENCE):
        while True:
            await guest.connect()
            answer = await guest.ask(Resume(id=guest.next_id(), room=guest.room, token=guest.place.token))
            assert not isinstance(answer, Accepted), "nobody can read the room"
            if answer.code not in AGAIN:
                return answer.code
            await asyncio.sleep(0.2)
