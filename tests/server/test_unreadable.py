"""Rooms whose logs a node cannot read: of another version's rules or entries, or damaged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import ClassVar, Final

import pytest
import pytest_asyncio

from protocol.codes import Close
from protocol.messages import Leave
from server.admin import CannotDo, Store, close, listed
from server.driver import driver_of, ranking
from server.entries import Entry, Published, encode_entry
from server.keeper import due_at
from server.log import Stored, successor
from server.presence import BEAT_TTL_MS
from server.reading import NoSuchRoom, RoomElsewhere, RoomGone, RoomOutlived, read_whole
from server.room import Games, Phase, Room
from server.shut import PUT_OFF_MS
from tests.server.hallkit import House, Person, until
from tests.toy import Duel

PATIENCE_MS: Final = 15_000


class NextDuel(Duel):
    """The game after a change of its rules."""

    rules_version: ClassVar[int] = Duel.rules_version + 1


NEXT: Final = {"duel": NextDuel()}


@pytest_asyncio.fixture
async def next_house(house: House) -> AsyncIterator[House]:
    """A node of the next version, on the same store; it has not beaten yet."""
    made = House("next", beside=house, games=NEXT)
    yield made
    await made.close()


async def match_of(house: House, *, first: str | None = None) -> Person:
    """Ann plays against an AI, and it is her turn; of all nodes ``first`` would drive the room."""
    while True:
        ann = house.person("Ann")
        await ann.create(deals=3)
        if first is None or ranking(ann.room.id, ("n1", first))[0] == first:
            break
        await ann.do(Leave(id=ann.client.id()))
    await ann.start()
    await ann.contribute()
    assert ann.host is not None
    await ann.host.fire()
    await until(lambda: bool(ann.turns))
    await house.keeper.flush()
    return ann


async def due(house: House, room: str) -> int | None:
    """The room's time in the index."""
    return {each.room: each.at_ms for each in await house.index.due(2**60, 1_000)}.get(room)


async def pass_by(ms: int, *houses: House) -> None:
    """Let time pass as nodes that live spend it."""
    until_ms = houses[0].clock.now + ms
    while houses[0].clock.now < until_ms:
        for house in houses:
            house.clock.now += min(500, until_ms - house.clock.now)
            house.steady.ahead += 0.5
            await house.driver.beat()
            await house.driver.heal()


async def is_over(house: House, room: str) -> bool:
    """Whether the room is over for everybody: its time in the index, its place in the lobby, and its log's life."""
    return await due(house, room) is None and not house.index._lobby.get(room) and await house.memory.is_forgotten(room)


async def outlive(old: House, heir: House, room: str) -> None:
    """The ``old`` node is never heard of again; its ``heir`` finds that it cannot read the ``room``."""
    await old.close()
    old.clock.now += BEAT_TTL_MS + 1
    await heir.driver.beat()
    await until(lambda: heir.driver._shut.asked_at(room) is not None)


# Of older rules ----------------------------------------------------------------------------------------------------


async def test_a_match_under_older_rules_ends_when_no_node_is_left_that_can_read_it(
    house: House, next_house: House
) -> None:
    ann = await match_of(house)
    room = ann.room.id
    await outlive(house, next_house, room)
    with pytest.raises(RoomElsewhere):  # who comes is sent on: perhaps there still is one
        await next_house.hall.room(room)

    await pass_by(PATIENCE_MS - 500, next_house)
    assert not await is_over(next_house, room)
    await pass_by(1_000, next_house)

    assert await is_over(next_house, room)
    assert next_house.memory.forgotten == {room: 60}
    with pytest.raises(NoSuchRoom):
        await next_house.hall.room(room)
    assert await next_house.hall.find(ann.room.code) is None
    assert await next_house.index.count_live() == 0
    await next_house.driver.sweep()
    assert await next_house.index.count_live() == 0, "it has not come back"


async def test_a_match_under_older_rules_goes_on_at_an_older_node_as_long_as_that_lives(
    house: House, next_house: House
) -> None:
    """Though the newer node is the one to drive it, nothing is due for longer than its patience, and nobody moves."""
    ann = await match_of(house, first="next")
    room = ann.room.id
    await next_house.driver.beat()
    await house.driver.beat()
    assert driver_of(room, house.node.presence.nodes) == "next"
    seen: list[int | None] = []

    for _ in range(4):
        await pass_by(PATIENCE_MS, house, next_house)
        seen.append(await due(house, room))

    assert None not in seen
    assert not await is_over(house, room)
    assert ann.outbox.closed is None
    assert house.driver.drives(room)
    assert await ann.act() == "accepted"


async def test_the_question_who_can_read_a_room_is_answered_though_that_has_it_in_its_plans(
    house: House, next_house: House
) -> None:
    ann = await match_of(house)
    room = ann.room.id
    assert room in house.driver._schedule
    await house.index.set_due(room, 0)

    await house.driver.heal()

    assert await due(house, room) == due_at(ann.room) > 0


async def test_a_change_of_nodes_asks_anew_who_can_read_a_room(house: House, next_house: House) -> None:
    ann = await match_of(house)
    room = ann.room.id
    await outlive(house, next_house, room)
    await pass_by(PATIENCE_MS - 1_000, next_house)

    older = House("older", beside=house)
    await older.driver.beat()
    await pass_by(PATIENCE_MS, next_house, older)

    assert not await is_over(older, room)
    assert room in older.hall.hosts
    await older.close()


async def test_an_outage_of_the_store_is_no_time_in_which_nobody_answered(house: House, next_house: House) -> None:
    ann = await match_of(house)
    room = ann.room.id
    await outlive(house, next_house, room)

    house.clock.now += 60_000
    await next_house.driver.beat()  # which notes the outage
    await next_house.driver.heal()

    assert not await is_over(next_house, room)


async def test_a_match_under_newer_rules_is_never_ended_by_an_older_node(house: House, next_house: House) -> None:
    await next_house.driver.beat()
    ann = await match_of(next_house)
    room = ann.room.id
    await next_house.close()
    house.clock.now += BEAT_TTL_MS + 1
    await house.driver.beat()

    await pass_by(4 * PATIENCE_MS, house)

    assert await due(house, room) == 0
    assert not await house.memory.is_forgotten(room)
    with pytest.raises(RoomElsewhere) as caught:
        await house.hall.room(room)
    assert not isinstance(caught.value, RoomOutlived)


# Damaged -----------------------------------------------------------------------------------------------------------


async def damaged(house: House, name: str = "Ann") -> Room:
    """A room whose log has an entry that is none."""
    ann = house.person(name)
    await ann.create()
    await house.keeper.flush()
    room = ann.room
    nonsense = b"nonsense"
    after = successor(house.memory.entries[room.id][-1].head, nonsense)
    house.memory.entries[room.id].append(Stored(after.version, after.hash, nonsense))
    assert ann.host is not None
    with pytest.raises(RoomGone):
        await ann.host.check()
    house.driver._schedule.set(room.id, None)  # nobody fires here
    return room


@pytest.mark.parametrize("data", [b"", b'{"schema":0}', b'{"schema":1,"at":1,"body":{"b":"what"}}'])
async def test_what_is_no_entry_of_any_version_is_damage_and_nobody_elses(house: House, data: bytes) -> None:
    room = await damaged(house)
    kept = house.memory.entries[room.id][0]
    after = successor(kept.head, data)
    house.memory.entries[room.id] = [kept, Stored(after.version, after.hash, data)]

    with pytest.raises(RoomGone) as caught:
        await read_whole(house.memory, room.id, house.node.games)

    assert not isinstance(caught.value, RoomElsewhere)


async def test_a_damaged_room_is_left_alone_for_a_while_and_never_forgotten(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = await damaged(house)
    house.clock.now += 24 * 3_600_000
    read: list[str] = []
    original = house.memory.read

    async def counted(room_id: str, after: int = 0) -> list[Stored]:
        read.append(room_id)
        return await original(room_id, after)

    monkeypatch.setattr(house.memory, "read", counted)
    for _ in range(5):
        await house.driver.heal()
    assert read == [room.id]

    house.clock.now += PUT_OFF_MS
    await house.driver.heal()
    assert read == [room.id] * 2
    assert await due(house, room.id) is not None
    assert not await house.memory.is_forgotten(room.id)


async def test_rooms_that_stay_due_because_nobody_can_read_them_do_not_take_the_place_of_others(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.driver._DUE_AT_ONCE", 2)
    for number in range(5):
        await damaged(house, f"Bob {number}")
    ann = house.person("Ann")
    await ann.create()
    assert ann.host is not None
    await house.keeper.flush()
    await house.index.set_due(ann.room.id, house.clock.now + 24 * 3_600_000 - 1)
    house.hall.hosts.clear()
    house.driver._schedule.set(ann.room.id, None)

    house.clock.now += 24 * 3_600_000
    for _ in range(4):
        await house.driver.heal()

    assert ann.room.id in house.hall.hosts
    host = await house.hall.room(ann.room.id)
    assert host.room.phase is not Phase.CLOSED


# The lobby and the operator ----------------------------------------------------------------------------------------


async def test_a_node_no_longer_tells_the_index_of_a_room_that_it_can_read_no_more(
    house: House, next_house: House
) -> None:
    ann = house.person("Ann")
    await ann.create()
    room = ann.room.id
    next_house.hall.changed(await next_house.hall.room(room))
    assert room in next_house.keeper._told
    next_house.node.presence.nodes = ("next",)
    await ann.start()
    await until(lambda: next_house.hall.hosts[room].gone)
    await house.index.set_due(room, house.clock.now)

    await next_house.driver.heal()
    next_house.keeper._changed.clear()
    next_house.keeper._review(asyncio.get_running_loop().time() + 3_600)

    assert not next_house.driver.drives(room)
    assert room not in next_house.keeper._told


async def test_a_room_of_a_game_that_a_node_does_not_have_is_left_to_those_that_do(house: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    poor = House("poor", beside=house, games={})

    with pytest.raises(RoomElsewhere, match="a room of duel"):
        await poor.hall.room(ann.room.id)

    await poor.close()


def tool(house: House, games: Games) -> Store:
    """``fudaza admin`` of the version that has ``games``."""
    return Store(house.memory, house.index, house.clock, games)


async def test_an_operator_can_close_a_damaged_room_and_is_told_what_was_done(house: House) -> None:
    room = await damaged(house)
    admin = tool(house, house.node.games)

    told = await close(admin, room.id, 2.0)

    assert told is not None
    assert told.startswith(f"room {room.id} was closed without being read, and its log ends in 2 h: not an entry")
    assert await is_over(house, room.id)
    assert house.memory.forgotten == {room.id: 7_200}
    with pytest.raises(NoSuchRoom):
        await house.hall.room(room.id)
    with pytest.raises(CannotDo, match="there is no room"):
        await close(admin, room.id, 2.0)


async def test_an_operator_can_close_a_room_whose_log_trips_a_fault_of_ours(house: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    log = house.memory.entries[ann.room.id]
    data = encode_entry(Entry(at=house.clock.now, body=Published(silent=())))
    after = successor(log[-1].head, data)
    log.append(Stored(after.version, after.hash, data))
    admin = tool(house, house.node.games)
    await house.keeper.flush()
    assert [list(row) for row in [row async for row in listed(admin)]] == [["room", "problem"]]

    assert await close(admin, ann.room.id, 1.0) is not None

    assert [row async for row in listed(admin)] == []
    assert await house.memory.is_forgotten(ann.room.id)


async def test_an_operator_who_closes_an_outlived_room_ends_it_for_those_at_older_nodes_too(house: House) -> None:
    ann = await match_of(house)
    room = ann.room.id

    told = await close(tool(house, NEXT), room, 24.0)

    assert told is not None
    assert "rules version 1; this version has 2" in told
    await until(lambda: ann.outbox.closed is not None)
    assert ann.outbox.closed is Close.ROOM_CLOSED
    assert ann.outbox.event_tags[-1] == "room-closed"
    await house.keeper.flush()
    assert await is_over(house, room)


async def test_an_outlived_room_that_has_been_closed_is_not_closed_twice(house: House) -> None:
    ann = await match_of(house)
    assert await close(tool(house, house.node.games), ann.room.id, 24.0) is None
    entries = len(house.memory.entries[ann.room.id])

    assert await close(tool(house, NEXT), ann.room.id, 24.0) is not None

    assert len(house.memory.entries[ann.room.id]) == entries


async def test_an_operator_of_an_older_version_cannot_close_what_newer_servers_look_after(
    house: House, next_house: House
) -> None:
    ann = await match_of(next_house)

    with pytest.raises(CannotDo, match="a newer version looks after room"):
        await close(tool(house, house.node.games), ann.room.id, 24.0)

    assert not await house.memory.is_forgotten(ann.room.id)
    assert await due(house, ann.room.id) is not None


async def test_an_operator_is_told_of_a_room_that_is_closed_or_was_never_opened(house: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    admin = tool(house, house.node.games)
    assert await close(admin, ann.room.id, 24.0) is None

    with pytest.raises(CannotDo, match="is closed already"):
        await close(admin, ann.room.id, 24.0)
    with pytest.raises(CannotDo, match="there is no room"):
        await close(admin, "a" * 26, 24.0)
