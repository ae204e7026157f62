"""What ``RoomLog`` promises, held to by the log in memory and by the one in real stores alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from server.log import EMPTY, UNKNOWN, Conflict, Forked, Head, RoomLog, Stored, chained, follow, successor
from server.store import StoredLog, open_store
from tests.server.memory import MemoryLog
from tests.stores import StoreServer, fresh_prefix

PATIENCE = 20.0


@pytest_asyncio.fixture(params=["memory", "valkey-unix", "valkey-tcp", "redis-tcp"])
async def log(request: pytest.FixtureRequest) -> AsyncIterator[RoomLog]:
    if request.param == "memory":
        yield MemoryLog()
        return
    server: StoreServer = request.getfixturevalue(
        "shared_redis" if request.param.startswith("redis") else "shared_valkey"
    )
    url = server.url if request.param.endswith("unix") else server.tcp_url
    store = await open_store(url, prefix=fresh_prefix())
    stored = StoredLog(store)
    yield stored
    await stored.aclose()
    await store.aclose()


class Woken(NamedTuple):
    """A watcher that a test can wait for."""

    versions: asyncio.Queue[int]

    @classmethod
    def on(cls, log: RoomLog, room: str) -> Woken:
        woken = cls(asyncio.Queue())
        log.watch(room, woken.versions.put_nowait)
        return woken

    async def until(self, version: int) -> list[int]:
        """The wake-ups up to the first for ``version``."""
        seen: list[int] = []
        async with asyncio.timeout(PATIENCE):
            while not seen or seen[-1] != version:
                seen.append(await self.versions.get())
        return seen


async def appended(log: RoomLog, room: str, *entries: bytes, head: Head = EMPTY) -> Head:
    for entry in entries:
        head = await log.append(room, head, entry)
    return head


async def test_the_first_entry_has_version_1_and_the_next_ones_follow_without_a_hole(log: RoomLog) -> None:
    head = await appended(log, "room", b"one", b"two", b"three")

    assert head.version == 3
    assert [(entry.version, entry.data) for entry in await log.read("room")] == [
        (1, b"one"),
        (2, b"two"),
        (3, b"three"),
    ]


async def test_each_hash_covers_everything_before_it(log: RoomLog) -> None:
    head = await appended(log, "room", b"one", b"two")

    assert head == Head(2, chained(chained(bytes(32), b"one"), b"two"))
    assert follow(EMPTY, await log.read("room")) == head


async def test_an_append_to_another_version_is_told_where_the_log_ends_and_changes_nothing(log: RoomLog) -> None:
    first = await appended(log, "room", b"one")
    second = await appended(log, "room", b"two", head=first)

    for elsewhere in (EMPTY, first, Head(3, second.hash)):
        with pytest.raises(Conflict) as refused:
            await log.append("room", elsewhere, b"late")
        assert refused.value.head == second
    assert len(await log.read("room")) == 2


async def test_an_append_to_the_right_version_of_another_history_conflicts(log: RoomLog) -> None:
    head = await appended(log, "room", b"one")

    with pytest.raises(Conflict) as refused:
        await log.append("room", Head(1, chained(bytes(32), b"another")), b"two")

    assert refused.value.head == head


async def test_an_append_to_a_room_without_a_log_conflicts_unless_it_is_the_first(log: RoomLog) -> None:
    with pytest.raises(Conflict) as refused:
        await log.append("room", Head(1, bytes(32)), b"two")

    assert refused.value.head == EMPTY
    assert await log.read("room") == []


async def test_of_writers_at_the_same_time_one_wins_each_version_and_nothing_is_lost(log: RoomLog) -> None:
    async def write(writer: int) -> list[bytes]:
        head, accepted = EMPTY, []
        for number in range(20):
            data = f"{writer}.{number}".encode()
            while True:
                try:
                    head = await log.append("room", head, data)
                except Conflict as conflict:
                    head = conflict.head
                else:
                    accepted.append(data)
                    break
        return accepted

    accepted = await asyncio.gather(*(write(writer) for writer in range(8)))

    entries = await log.read("room")
    assert follow(EMPTY, entries).version == 160
    assert sorted(entry.data for entry in entries) == sorted(data for each in accepted for data in each)


async def test_entries_are_any_bytes(log: RoomLog) -> None:
    entries = [b"", bytes(range(256)), b"\r\n$5\r\n", b"x" * 100_000]

    await appended(log, "room", *entries)

    assert [entry.data for entry in await log.read("room")] == entries


async def test_reading_begins_after_the_version_given(log: RoomLog) -> None:
    await appended(log, "room", b"one", b"two", b"three")

    assert [entry.version for entry in await log.read("room", after=1)] == [2, 3]
    assert await log.read("room", after=3) == []
    assert await log.read("room", after=7) == []
    assert await log.read("nobody's") == []


async def test_a_long_log_is_read_whole(log: RoomLog) -> None:
    head = await appended(log, "room", *(str(number).encode() for number in range(1_203)))

    assert follow(EMPTY, await log.read("room")) == head
    assert len(await log.read("room", after=3)) == 1_200


async def test_logs_of_different_rooms_have_nothing_to_do_with_each_other(log: RoomLog) -> None:
    one, other = await asyncio.gather(appended(log, "one", b"1", b"2"), appended(log, "other", b"1"))

    assert (one.version, other.version) == (2, 1)
    assert await log.heads(["one", "other", "nobody's"]) == {"one": one, "other": other, "nobody's": EMPTY}
    assert await log.heads([]) == {}
    assert {room async for room in log.rooms()} == {"one", "other"}


async def test_a_watcher_is_told_to_look_when_listening_begins_and_then_each_version(log: RoomLog) -> None:
    head = await appended(log, "room", b"before")
    woken = Woken.on(log, "room")
    await woken.until(UNKNOWN)

    await appended(log, "room", b"two", b"three", head=head)

    assert await woken.until(3) == [2, 3]


async def test_every_watcher_of_a_room_is_woken_also_one_that_comes_later(log: RoomLog) -> None:
    first = Woken.on(log, "room")
    await first.until(UNKNOWN)
    second = Woken.on(log, "room")
    await second.until(UNKNOWN)

    await appended(log, "room", b"one")

    assert (await first.until(1))[-1] == (await second.until(1))[-1] == 1


async def test_equal_watchers_are_woken_each_and_stop_each(log: RoomLog) -> None:
    calls: asyncio.Queue[int] = asyncio.Queue()
    stop = log.watch("room", calls.put_nowait)
    log.watch("room", calls.put_nowait)
    async with asyncio.timeout(PATIENCE):
        assert [await calls.get(), await calls.get()] == [UNKNOWN, UNKNOWN]

    stop()
    stop()
    await appended(log, "room", b"one")

    async with asyncio.timeout(PATIENCE):
        assert await calls.get() == 1
    assert calls.empty()


async def test_who_has_stopped_watching_is_left_alone_and_the_others_are_not(log: RoomLog) -> None:
    gone: list[int] = []
    stop = log.watch("room", gone.append)
    there = Woken.on(log, "room")
    other = Woken.on(log, "other room")
    await there.until(UNKNOWN)
    await other.until(UNKNOWN)

    stop()
    told = list(gone)
    await appended(log, "room", b"one")
    await there.until(1)

    assert gone == told
    assert other.versions.empty()


async def test_watching_again_after_stopping_works(log: RoomLog) -> None:
    for version, head in enumerate((EMPTY, successor(EMPTY, b"one"), successor(successor(EMPTY, b"one"), b"two"))):
        woken = asyncio.Queue[int]()
        stop = log.watch("room", woken.put_nowait)
        watcher = Woken(woken)
        await watcher.until(UNKNOWN)
        await appended(log, "room", (b"one", b"two", b"three")[version], head=head)
        await watcher.until(version + 1)
        stop()


async def test_a_room_to_be_forgotten_can_still_be_read(log: RoomLog) -> None:
    await appended(log, "room", b"one")

    await log.forget("room", 1_000)
    await log.forget("nobody's", 1_000)

    assert len(await log.read("room")) == 1


# The chain itself ------------------------------------------------------------------------------------------------


def written(*entries: bytes) -> list[Stored]:
    log, head = [], EMPTY
    for data in entries:
        head = successor(head, data)
        log.append(Stored(head.version, head.hash, data))
    return log


@given(st.lists(st.binary(max_size=20), max_size=8), st.integers(0, 8))
def test_a_reader_can_follow_from_anywhere(entries: list[bytes], start: int) -> None:
    log = written(*entries)
    known = follow(EMPTY, log[:start])

    assert follow(known, log[start:]) == follow(EMPTY, log)


def test_following_refuses_a_hole_a_change_and_another_history() -> None:
    log = written(b"one", b"two", b"three")
    changed = Stored(2, log[1].hash, b"TWO")
    head = log[0].head

    for wrong in ([log[2]], [log[0]], [changed], written(b"uno", b"two")[1:]):
        with pytest.raises(Forked):
            follow(head, wrong)
