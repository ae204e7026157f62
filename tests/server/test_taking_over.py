"""Many rooms change hands at once: in which order, how many at a time, and whatever is wrong with one of them."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import Final

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from engine.game import Seat
from server.driver import _ADOPTED_AT_ONCE
from server.entries import AnyBody, Dropped, Entry, Published, encode_entry
from server.host import RoomHost
from server.log import Stored, successor
from server.presence import BEAT_SECONDS, BEAT_TTL_MS
from server.shut import PUT_OFF_MS
from tests.server.hallkit import TIMING, House, Person, until
from tests.simulation.loop import VirtualLoop

MANY: Final = 3 * _ADOPTED_AT_ONCE


@pytest_asyncio.fixture
async def heir(house: House) -> AsyncIterator[House]:
    """A node that takes over what ``house`` drives when it first beats."""
    made = House("heir", beside=house)
    yield made
    await made.close()


async def opened(house: House, count: int) -> list[Person]:
    """So many rooms, in which nothing is due for long; the index knows them."""
    people = [house.person(f"Ann {number}") for number in range(count)]
    for person in people:
        await person.create()
    await house.keeper.flush()
    return people


def append_behind(house: House, room: str, *bodies: AnyBody) -> None:
    """Write to a room's log so that nobody is woken."""
    log = house.memory.entries[room]
    for body in bodies:
        data = encode_entry(Entry(at=house.clock.now, body=body))
        after = successor(log[-1].head, data)
        log.append(Stored(after.version, after.hash, data))


def poison(house: House, room: str) -> None:
    """Let the room's log have what trips an assertion of the fold."""
    append_behind(house, room, Published(silent=()))


async def inherit(house: House, heir: House) -> None:
    """``house`` is never heard of again."""
    house.clock.now += BEAT_TTL_MS + 1
    await heir.driver.beat()


async def test_rooms_in_which_something_is_due_are_taken_over_first_the_longest_due_before_all(
    house: House, heir: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = await opened(house, MANY)
    for behind, person in enumerate(people[-3:]):
        await house.index.set_due(person.room.id, house.clock.now - behind)
    read: list[str] = []
    original = house.memory.read

    async def noted(room: str, after: int = 0) -> list[Stored]:
        read.append(room)
        return await original(room, after)

    monkeypatch.setattr(house.memory, "read", noted)
    await inherit(house, heir)
    await until(lambda: len(heir.hall.hosts) == MANY)

    assert read[:3] == [person.room.id for person in reversed(people[-3:])]


async def test_rooms_are_taken_over_several_at_a_time_and_never_more(
    house: House, heir: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await opened(house, MANY)
    under_way = 0
    most = 0
    load = heir.hall._load

    async def slow(room: str) -> RoomHost:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        for _ in range(5):
            await asyncio.sleep(0)
        host = await load(room)
        under_way -= 1
        return host

    monkeypatch.setattr(heir.hall, "_load", slow)
    await inherit(house, heir)
    await until(lambda: len(heir.hall.hosts) == MANY)

    assert most == _ADOPTED_AT_ONCE


async def test_whoever_else_wants_the_loop_gets_it_between_few_rooms(house: House, heir: House) -> None:
    await opened(house, MANY)
    await inherit(house, heir)
    loaded = [0]

    while loaded[-1] < MANY:
        await asyncio.sleep(0)
        loaded.append(len(heir.hall.hosts))

    assert max(after - before for before, after in itertools.pairwise(loaded)) <= _ADOPTED_AT_ONCE


async def test_a_take_over_that_the_store_interrupts_is_completed(house: House, heir: House) -> None:
    people = await opened(house, MANY)
    house.memory.available = False
    await inherit(house, heir)
    await until(lambda: bool(heir.slept))
    assert not heir.hall.hosts

    house.memory.available = True

    await until(lambda: heir.hall.hosts.keys() == {person.room.id for person in people})
    assert heir.counted("fudaza_internal_errors_total") == 0


async def test_rooms_that_trip_an_assertion_keep_no_other_from_being_taken_over(house: House, heir: House) -> None:
    *poisoned, good = await opened(house, _ADOPTED_AT_ONCE + 2)
    for person in poisoned:
        poison(house, person.room.id)
        await house.index.set_due(person.room.id, 1)
    faults = {person.room.id for person in poisoned}

    with capture_logs() as logged:
        await inherit(house, heir)
        await until(lambda: good.room.id in heir.hall.hosts)
        assert heir.counted("fudaza_internal_errors_total") == len(faults)
        await heir.driver.heal()
        assert heir.counted("fudaza_internal_errors_total") == len(faults), "they are left alone for a while"
        house.clock.now += PUT_OFF_MS
        await heir.driver.heal()
        assert heir.counted("fudaza_internal_errors_total") == 2 * len(faults), "then they are tried again"

    assert {line["room"] for line in logged if line["event"] == "adoption-failed"} == faults


async def test_rooms_that_trip_an_assertion_when_they_are_due_keep_no_other_from_being_driven(house: House) -> None:
    *poisoned, good = await opened(house, _ADOPTED_AT_ONCE + 2)
    for person in (*poisoned, good):
        await house.index.set_due(person.room.id, 1 if person is not good else 2)
        house.driver._schedule.set(person.room.id, None)
    house.hall.hosts.clear()
    for person in poisoned:
        poison(house, person.room.id)

    with capture_logs():
        await house.driver.heal()

    assert list(house.hall.hosts) == [good.room.id]
    assert house.counted("fudaza_internal_errors_total") == len(poisoned)


async def test_a_room_that_trips_an_assertion_when_it_fires_is_left_alone_for_a_while(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ann,) = await opened(house, 1)
    assert ann.host is not None
    fired: list[int] = []

    async def trip() -> None:
        fired.append(house.clock.now)
        raise AssertionError("tripped")

    monkeypatch.setattr(ann.host, "fire", trip)
    await house.index.set_due(ann.room.id, house.clock.now)

    async def rounds() -> None:
        for _ in range(5):
            await house.driver.heal()
            for room_id in house.driver._schedule.pop(house.clock.now):
                house.driver._start_firing(room_id)
            await until(lambda: not house.driver._firing)

    with capture_logs():
        house.clock.now += TIMING.lobby_idle_ms
        await rounds()
        assert len(fired) == 1
        house.clock.now += PUT_OFF_MS
        await rounds()
        assert len(fired) == 2, "then it is tried again"

    assert house.counted("fudaza_internal_errors_total") == 2


async def test_a_room_in_memory_that_trips_an_assertion_keeps_no_other_from_being_compared_with_its_log(
    house: House,
) -> None:
    poisoned, good = await opened(house, 2)
    poison(house, poisoned.room.id)
    append_behind(house, good.room.id, Dropped(seat=Seat(0)))

    with capture_logs() as logged:
        await house.driver.heal()
        await house.driver.heal()

    assert good.room.version == 2
    assert [line["room"] for line in logged if line["event"] == "repair-failed"] == [poisoned.room.id]
    assert house.counted("fudaza_internal_errors_total") == 1
    assert house.counted("fudaza_rooms_driven") == 1


# The loop's lag ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("store_seconds", "blocked_seconds", "lag"), [(2.0, 0.0, 0.0), (0.0, 3.0, 2.8)])
def test_the_loops_lag_is_how_late_the_loop_was_and_not_how_slow_the_store(
    store_seconds: float, blocked_seconds: float, lag: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = VirtualLoop()  # type: ignore[abstract]  # what is not there is not asked for
    measured: list[float] = []

    async def story() -> None:
        house = House()
        beat = house.node.presence.beat

        async def slow_beat() -> None:
            await asyncio.sleep(store_seconds)
            await beat()

        monkeypatch.setattr(house.node.presence, "beat", slow_beat)
        beating = asyncio.get_running_loop().create_task(house.driver._beat_always())
        await asyncio.sleep(store_seconds + BEAT_SECONDS / 2)
        loop._now += blocked_seconds  # half a beat before it would have woken
        await asyncio.sleep(BEAT_SECONDS)
        measured.append(house.counted("fudaza_loop_lag_seconds"))
        beating.cancel()

    loop.run(story())
    loop.bury()

    assert measured == [pytest.approx(lag)]
