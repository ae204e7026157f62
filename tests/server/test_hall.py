"""The rooms of a node: opened once, found by code, read once, let go."""

from __future__ import annotations

import asyncio

import pytest

from protocol.messages import Accepted, Create, Lock
from server.log import Head, StoreUnavailable
from server.reading import RoomGone
from tests.server.hallkit import House, until
from tests.server.memory import MemoryIndex, MemoryLog


async def test_the_same_create_command_opens_one_room_also_on_two_nodes_at_once(house: House) -> None:
    second = House("n2", beside=house)
    ann, again = house.person("Ann"), second.person("Ann")
    command = Create(id=ann.client.id(), game="duel", name="Ann")

    codes = await asyncio.gather(ann.create(command), again.create(command))

    assert set(codes) == {"accepted"}
    assert len([room for room, log in house.memory.entries.items() if log]) == 1
    assert ann.place is not None
    assert again.place is not None
    assert ann.place.code == again.place.code
    assert ann.place.token != again.place.token, "the later one has taken over"
    await second.close()


async def test_a_create_whose_reply_was_lost_is_answered_when_it_is_sent_again(house: House) -> None:
    ann, again = house.person("Ann"), house.person("Ann")
    command = Create(id=ann.client.id(), game="duel", name="Ann")
    house.memory.lose_replies = 1
    with pytest.raises(StoreUnavailable):
        await ann.create(command)

    assert await again.create(command) == "accepted"

    assert again.place is not None
    assert len(house.memory.entries) == 1
    (answer,) = again.outbox.all(Accepted)
    assert answer.place == again.place


async def test_two_creates_at_the_same_moment_on_one_node_make_one_host(house: House) -> None:
    ann, twin = house.person("Ann"), house.person("Ann")
    command = Create(id=ann.client.id(), game="duel", name="Ann")

    await asyncio.gather(ann.create(command), twin.create(command))

    assert ann.host is twin.host
    assert len(house.hall.hosts) == 1


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"game": "poker"}, "unknown-game"),
        ({"options": {"deals": 7}}, "bad-option-value"),
        ({"options": {"colour": "red"}}, "unknown-option"),
        ({"seat": 2}, "no-such-seat"),
        ({"name": "\u200b"}, "bad-name"),
    ],
)
async def test_a_create_that_asks_for_the_impossible_opens_nothing(
    house: House, fields: dict[str, object], code: str
) -> None:
    ann = house.person("Ann")
    wanted = {"id": ann.client.id(), "game": "duel", "name": "Ann", **fields}

    assert await ann.create(Create(**wanted)) == code  # type: ignore[arg-type]

    assert not house.memory.entries
    assert await house.index.all_live() == (None, [])


async def test_a_code_that_leads_elsewhere_is_drawn_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    claimed: list[str] = []
    claim = MemoryIndex.claim_code

    async def first_is_taken(index: MemoryIndex, code: str, room: str) -> bool:
        claimed.append(code)
        return await claim(index, code, room) and len(claimed) > 1

    monkeypatch.setattr(MemoryIndex, "claim_code", first_is_taken)
    ann = house.person("Ann")

    assert await ann.create() == "accepted"

    assert len(set(claimed)) == 2
    assert ann.room.code == claimed[1]


async def test_a_room_is_found_by_its_code_in_small_letters_and_without_the_index(house: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    code = ann.room.code.lower()

    assert await house.hall.find(code) is ann.host

    house.index.available = False
    assert await house.hall.find(code) is ann.host
    house.index.available = True
    other = House("n2", beside=house)
    found = await other.hall.find(code)
    assert found is not None
    assert found.room == ann.room
    await other.close()


async def test_a_code_that_leads_nowhere_finds_nothing(house: House) -> None:
    assert await house.hall.find("ABCDEF") is None
    await house.index.claim_code("ABCDEF", "a" * 26)
    assert await house.hall.find("ABCDEF") is None


async def test_a_room_asked_for_by_many_at_once_is_read_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = house.person("Ann")
    await ann.create()
    await ann.start()
    reads: list[int] = []
    read = MemoryLog.read

    async def counted(log: MemoryLog, room: str, after: int = 0) -> object:
        reads.append(after)
        return await read(log, room, after)

    monkeypatch.setattr(MemoryLog, "read", counted)
    other = House("n2", beside=house)

    hosts = await asyncio.gather(*(other.hall.room(ann.room.id) for _ in range(20)))

    assert len(set(hosts)) == 1
    assert reads.count(0) == 1
    await other.close()


async def test_one_asker_who_gives_up_does_not_take_the_room_from_the_others(house: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    other = House("n2", beside=house)
    first = asyncio.create_task(other.hall.room(ann.room.id))
    second = asyncio.create_task(other.hall.room(ann.room.id))
    await asyncio.sleep(0)

    first.cancel()

    assert (await second).room == ann.room
    await other.close()


async def test_a_room_that_never_was_is_gone(house: House) -> None:
    with pytest.raises(RoomGone):
        await house.hall.room("a" * 26)
    assert not house.hall.hosts


async def test_a_room_let_go_is_read_again_when_somebody_asks(house: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    host = ann.host
    assert host is not None
    await ann.vanish()
    await host.check()  # after the wake-up with which watching begins

    house.hall.let_go(host)

    assert not house.hall.hosts
    assert (await house.hall.room(host.room.id)) is not host


async def test_a_closed_hall_follows_no_room_any_more(house: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    host = ann.host
    assert host is not None

    await house.hall.close()

    assert host.gone
    assert not house.hall.hosts


async def test_a_listed_room_tells_who_hosts_and_which_seats_can_be_taken(house: House) -> None:
    ann, cid = house.person("Ann"), house.person("Cid")
    await ann.create()
    await cid.create(deals=3)
    await house.keeper.flush()

    listed = await house.hall.listed("duel")

    assert {each.host for each in listed} == {"Ann", "Cid"}
    assert all(each.open == (1,) for each in listed)
    assert await house.hall.listed("koi-koi") == ()


class Unanswering(MemoryLog):
    """Appends, and answers only while ``answering``."""

    def __init__(self) -> None:
        super().__init__()
        self.answering = asyncio.Event()
        self.answering.set()

    async def append(self, room: str, head: Head, data: bytes) -> Head:
        after = await super().append(room, head, data)
        await self.answering.wait()
        return after


async def test_a_move_that_was_given_up_on_its_way_and_logged_all_the_same_is_found_before_the_end() -> None:
    """Its record, if it ended a deal, is kept before the node ends."""
    log = Unanswering()
    house = House(log=log)
    ann = house.person("Ann")
    await ann.create()
    log.answering.clear()
    locking = asyncio.create_task(ann.do(Lock(id=ann.client.id())))
    await until(lambda: len(log.entries[ann.room.id]) == 2)
    locking.cancel()
    await asyncio.gather(locking, return_exceptions=True)
    assert ann.room.version == 1

    await house.hall.settle()

    assert ann.room.version == 2
    await house.close()


async def test_rooms_opened_at_the_same_moment_are_no_more_than_there_may_be(house: House) -> None:
    house.hall._max_rooms = 3
    persons = [house.person(f"Person {number}") for number in range(8)]

    codes = await asyncio.gather(*(person.create() for person in persons))

    assert sorted(codes) == ["accepted"] * 3 + ["hall-full"] * 5
    assert await house.index.count_live() == 3


async def test_the_store_is_not_asked_for_the_list_each_time_somebody_wants_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str | None] = []
    find = MemoryIndex.listed

    async def counted(index: MemoryIndex, game: str | None, limit: int) -> list[bytes]:
        asked.append(game)
        return await find(index, game, limit)

    monkeypatch.setattr(MemoryIndex, "listed", counted)
    ann = house.person("Ann")
    await ann.create()
    await house.keeper.flush()

    lists = await asyncio.gather(*(house.hall.listed(game) for game in (None, "duel") for _ in range(50)))
    assert [len(each) for each in lists] == [1] * 100
    assert sorted(asked, key=str) == [None, "duel"]

    house.clock.now += 500
    await house.hall.listed("duel")
    assert len(asked) == 3


async def test_a_list_that_could_not_be_had_is_asked_for_again(house: House) -> None:
    house.index.available = False
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await house.hall.listed(None)
    house.index.available = True

    assert await house.hall.listed(None) == ()
