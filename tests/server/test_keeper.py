"""What the index is told about rooms."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable

import msgspec
import pytest
from structlog.testing import capture_logs

from engine.game import Seat
from protocol.messages import ChosenSettings, Create, Leave, RoomSummary
from server import room as rooms
from server.entries import Actor
from server.keeper import Keeper, due_at
from server.log import StoreFull, StoreUnavailable
from server.metrics import Metrics
from server.room import FinishedDeal, Room, ai_moves, next_due, question
from server.worker import Question
from tests.server.hallkit import TIMING, House, Person
from tests.server.memory import MemoryIndex


async def due(house: House) -> dict[str, int]:
    return {each.room: each.at_ms for each in await house.index.due(2**60, 100)}


async def played(house: House, name: str = "Ann") -> Person:
    """One person alone against an AI, to the end of a deal, without a driver."""
    house.node.presence.nodes = ()
    ann = house.person(name)
    await ann.create()
    await ann.start()
    await ann.contribute()
    assert ann.host is not None
    while ann.room.phase != "finished":
        for move in ai_moves(ann.room):
            await ann.host.move(move, house.thinker._choose(question_for(house, ann, move.seat)), Actor.AI)
        if ann.turns and ann.turns[-1].at == ann.host.room.number and not ann.turns[-1].sealed:
            await ann.act()
        house.clock.now += 1_000
        await ann.host.fire()
    return ann


def question_for(house: House, ann: Person, seat: int) -> Question:
    asked = question(ann.room, Seat(seat), games=house.node.games)
    return Question(0, "duel", asked.view, asked.legal, "easy", b"seed")


async def test_a_new_room_is_announced_before_its_first_entry(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    set_due = MemoryIndex.set_due

    async def announced(index: MemoryIndex, room: str, at_ms: int | None) -> None:
        order.append(f"announced with {len(house.memory.entries.get(room, []))} entries")
        await set_due(index, room, at_ms)

    monkeypatch.setattr(MemoryIndex, "set_due", announced)
    await house.person("Ann").create()

    assert order[0] == "announced with 0 entries"


async def test_the_index_is_told_at_once_when_a_room_is_due_earlier_and_that_ai_is_due_now(house: House) -> None:
    house.node.presence.nodes = ()
    ann = house.person("Ann")
    await ann.create()
    await house.keeper.flush()
    assert await due(house) == {ann.room.id: next_due(ann.room)}

    await ann.start()
    await ann.contribute()
    assert ann.host is not None
    await ann.host.fire()
    await house.keeper.flush()

    assert ai_moves(ann.room)
    assert due_at(ann.room) <= house.clock.now < (next_due(ann.room) or 0)
    assert (await due(house))[ann.room.id] <= house.clock.now


async def test_a_later_time_is_told_only_when_everything_is_looked_over(house: House) -> None:
    house.node.presence.nodes = ()
    ann = house.person("Ann")
    await ann.create()
    await ann.start()
    await ann.contribute()
    assert ann.host is not None
    await ann.host.fire()
    await house.keeper.flush()
    (move,) = ai_moves(ann.room)
    await ann.host.move(move, "single", Actor.AI)
    await house.keeper.flush()
    assert (await due(house))[ann.room.id] < (next_due(ann.room) or 0)

    house.node.presence.nodes = ("n1",)
    house.keeper._review(asyncio.get_running_loop().time())
    await house.keeper.flush()

    assert await due(house) == {ann.room.id: next_due(ann.room)}


async def test_a_closed_room_is_unlisted_due_no_more_and_its_log_ends_after_a_while(house: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    await house.keeper.flush()
    assert await house.hall.listed(None)
    house.clock.now += TIMING.lobby_idle_ms
    assert ann.host is not None

    await ann.host.fire()
    await house.keeper.flush()

    assert await due(house) == {}
    assert await house.hall.listed(None) == ()
    assert house.memory.forgotten == {ann.room.id: 60}
    assert await house.index.room_of(ann.room.code) == ann.room.id
    house.clock.now += 60_000
    assert await house.index.room_of(ann.room.code) is None
    assert not house.keeper._told


async def test_a_closed_room_that_is_looked_at_while_the_index_is_told_is_told_once(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = house.person("Ann")
    await ann.create()
    await house.keeper.flush()
    await ann.do(Leave(id=ann.client.id()))
    house.clock.now += TIMING.abandoned_ms
    host = ann.host
    assert host is not None
    await host.fire()
    unlist = MemoryIndex.unlist

    async def looked_at(index: MemoryIndex, room: str) -> None:
        house.keeper.changed(host)
        await unlist(index, room)

    monkeypatch.setattr(MemoryIndex, "unlist", looked_at)
    await house.keeper.flush()
    await house.keeper.flush()

    assert await house.index.all_live() == (None, [])


async def test_a_private_room_is_never_listed(house: House) -> None:
    ann = house.person("Ann")
    settings = ChosenSettings(private=True)
    await ann.create(Create(id=ann.client.id(), game="duel", name="Ann", settings=settings))
    await house.keeper.flush()

    assert await house.hall.listed(None) == ()
    assert await house.hall.find(ann.room.code) is ann.host


async def test_a_listing_is_repeated_before_it_expires_and_only_when_it_must(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    list_room = MemoryIndex.list_room

    async def counted(index: MemoryIndex, room: str, game: str, summary: bytes) -> int:
        told.append(room)
        return await list_room(index, room, game, summary)

    monkeypatch.setattr(MemoryIndex, "list_room", counted)
    await house.person("Ann").create()
    await house.keeper.flush()
    now = asyncio.get_running_loop().time()

    house.keeper._review(now + 5)
    await house.keeper.flush()
    assert len(told) == 1
    for record in house.keeper._told.values():
        record.listed_at -= 11
    house.keeper._review(now)
    await house.keeper.flush()
    assert len(told) == 2


async def test_rooms_that_others_drive_are_left_to_them(house: House) -> None:
    await house.person("Ann").create()
    await house.keeper.flush()
    house.node.presence.nodes = ("somebody-else",)

    house.keeper._review(asyncio.get_running_loop().time())

    assert not house.keeper._told


async def let_go_by_its_driver(house: House, command: Callable[[Person], Create]) -> tuple[Person, House]:
    """Ann, in the room of ``command``, and another node that drives the room and has it no longer in memory."""
    second = House("second", beside=house)
    house.node.presence.nodes = second.node.presence.nodes = ("second",)
    ann = house.person("Ann")
    await ann.create(command(ann))
    await house.keeper.flush()
    host = await second.hall.room(ann.room.id)
    second.hall.changed(host)
    await second.keeper.flush()
    second.hall.let_go(host)
    assert not second.hall.hosts
    return ann, second


async def looked_over_later(house: House) -> None:
    """The next time at which listings are repeated."""
    for told in house.keeper._told.values():
        told.listed_at -= 11
    house.keeper._review(asyncio.get_running_loop().time())
    await house.keeper.flush()


async def test_the_driver_of_a_room_that_it_has_let_go_keeps_it_listed_as_others_tell_it(house: House) -> None:
    ann, second = await let_go_by_its_driver(house, lambda ann: Create(id=ann.client.id(), game="duel", name="Ann"))
    (before,) = await house.index.listed(None, 10)
    bob = house.person("Bob")
    await bob.join(ann.room.code)
    await house.keeper.flush()
    (told,) = await house.index.listed(None, 10)
    assert told != before
    house.clock.now += 29_000

    await looked_over_later(second)
    house.clock.now += 29_000

    assert await house.index.listed(None, 10) == [told]
    await second.close()


@pytest.mark.parametrize("private", [False, True])
async def test_a_room_that_its_driver_has_let_go_and_that_is_over_elsewhere_is_neither_listed_nor_kept_in_mind(
    house: House, private: bool
) -> None:
    settings = ChosenSettings(private=private)
    ann, second = await let_go_by_its_driver(
        house, lambda ann: Create(id=ann.client.id(), game="duel", name="Ann", settings=settings)
    )
    await ann.do(Leave(id=ann.client.id()))
    house.clock.now += TIMING.abandoned_ms
    assert ann.host is not None
    await ann.host.fire()
    await house.keeper.flush()
    assert await due(house) == {}

    await looked_over_later(second)
    await looked_over_later(second)

    assert await house.index.listed(None, 10) == []
    assert await due(house) == {}
    assert not second.keeper._told
    await second.close()


async def test_a_room_that_its_driver_has_let_go_and_that_dropped_out_of_the_lobby_comes_back(house: House) -> None:
    ann, second = await let_go_by_its_driver(house, lambda ann: Create(id=ann.client.id(), game="duel", name="Ann"))
    await house.index.unlist(ann.room.id)

    await looked_over_later(second)
    await second.driver.heal()
    await looked_over_later(second)

    assert len(await house.index.listed(None, 10)) == 1
    await second.close()


async def test_the_record_of_a_finished_deal_is_kept_once(house: House) -> None:
    ann = await played(house)
    await house.keeper.flush()

    records = [archived async for archived in house.index.archived(room=ann.room.id)]
    assert [(each.deal, each.attempt) for each in records] == [(1, 1)]
    assert msgspec.json.decode(records[0].record)["game"] == "duel"


async def test_a_record_that_its_node_could_not_keep_is_kept_by_whoever_reads_the_room_next(house: House) -> None:
    ann = await played(house)
    assert [each async for each in house.index.archived()] == []
    heir = House("heir", beside=house)

    await heir.hall.room(ann.room.id)
    await heir.keeper.flush()

    assert len([each async for each in house.index.archived()]) == 1
    await heir.close()


async def test_what_could_not_be_told_is_told_later(house: House) -> None:
    ann = await played(house)
    house.index.available = False
    with pytest.raises(StoreUnavailable):
        await house.keeper.flush()
    house.index.available = True

    await house.keeper.flush()

    assert len([each async for each in house.index.archived()]) == 1
    assert ann.room.id in await due(house)


class Restless(MemoryIndex):
    """An index whose every due time is overtaken by another change of the room."""

    def __init__(self, restless: Callable[[], None]) -> None:
        super().__init__()
        self._again = restless

    async def set_due(self, room: str, at_ms: int | None) -> None:
        await super().set_due(room, at_ms)
        self._again()


async def test_records_do_not_wait_until_nothing_changes_any_more(house: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    assert ann.host is not None
    host = ann.host
    changes = iter(range(1_000))

    def change() -> None:
        if next(changes, None) is not None:
            keeper._told.clear()
            keeper.changed(host)

    keeper = Keeper(
        Restless(change), house.memory, drives=lambda _: True, holds=lambda _: True, forget_seconds=1, metrics=Metrics()
    )
    keeper.changed(host)

    await keeper.flush()

    assert next(changes) < 10
    assert keeper._changed


async def test_records_are_written_one_in_a_turn_so_that_moves_go_between(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await played(house)
    assert ann.host is not None
    ((_, deal),) = house.keeper._records
    for _ in range(19):
        house.keeper.finished(ann.host, deal)
    written: list[FinishedDeal] = []

    def record(deal: FinishedDeal) -> bytes:
        written.append(deal)
        return b"{}"

    monkeypatch.setattr(FinishedDeal, "record", property(record))
    flushing = asyncio.create_task(house.keeper.flush())
    counts = [0]
    while not flushing.done():
        await asyncio.sleep(0)
        counts.append(len(written))

    await flushing
    assert counts[-1] == 20
    assert max(after - before for before, after in itertools.pairwise(counts)) == 1


async def test_a_room_that_trips_an_assertion_keeps_no_other_from_being_told_nor_its_record(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    poisoned, ann = await played(house, "Bob"), await played(house)
    original = rooms.summary

    def summary(room: Room) -> RoomSummary:
        assert room.id != poisoned.room.id, "tripped"
        return original(room)

    def record(deal: FinishedDeal) -> bytes:
        assert deal.match != (poisoned.room.table and poisoned.room.table.id), "tripped"
        return b"{}"

    monkeypatch.setattr(rooms, "summary", summary)
    monkeypatch.setattr(FinishedDeal, "record", property(record))

    with capture_logs() as logged:
        await house.keeper.flush()

    assert [archived.room async for archived in house.index.archived()] == [ann.room.id]
    assert [each.code for each in await house.hall.listed(None)] == [ann.room.code]
    assert {(line["event"], line["room"]) for line in logged} == {
        ("record-failed", poisoned.room.id),
        ("room-not-told", poisoned.room.id),
    }
    assert house.counted("fudaza_internal_errors_total") == 2


async def test_in_a_full_store_the_logs_of_closed_rooms_get_their_time_to_live_all_the_same(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise nothing would ever make room in it."""
    ann = await played(house)
    assert ann.host is not None
    await ann.do(Leave(id=ann.client.id()))
    house.clock.now += TIMING.abandoned_ms
    await ann.host.fire()
    await house.person("Bob").create()

    async def refused(*_: object, **__: object) -> None:
        raise StoreFull

    for writes in ("archive", "claim_code", "list_room"):
        monkeypatch.setattr(MemoryIndex, writes, refused)
    with pytest.raises(StoreFull):
        await house.keeper.flush()

    assert house.memory.forgotten == {ann.room.id: 60}
    assert house.keeper._records, "the record still waits"
