"""What ``Index`` promises, held to by the index in memory and by the one in real stores alike."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from server.index import ORDERS_KEPT, OUTAGE_MS, OUTAGES_KEPT, Due, Index, Order, Outage
from server.store import Bounds, Store, StoredIndex, open_store
from tests.server.memory import MemoryIndex
from tests.stores import StoreServer, fresh_prefix

LOBBY_MS = Bounds().lobby_ms


class Clock:
    """The time that an index sees: milliseconds since the epoch, moved by hand."""

    def __init__(self, index: MemoryIndex | StoredIndex) -> None:
        self._index = index
        self.now = 1_764_500_000_123
        self.forward(0)

    def forward(self, milliseconds: int) -> None:
        self.now += milliseconds
        if isinstance(self._index, StoredIndex):
            self._index.time_source = self.now
        else:
            self._index.now_ms = lambda: self.now


@pytest_asyncio.fixture(params=["memory", "valkey", "redis"])
async def index(request: pytest.FixtureRequest) -> AsyncIterator[MemoryIndex | StoredIndex]:
    if request.param == "memory":
        yield MemoryIndex()
        return
    server: StoreServer = request.getfixturevalue(f"shared_{request.param}")
    store = await open_store(server.url, prefix=fresh_prefix())
    yield StoredIndex(store)
    await store.aclose()


@pytest.fixture
def clock(index: MemoryIndex | StoredIndex) -> Clock:
    return Clock(index)


async def live(index: Index) -> list[str]:
    rooms: list[str] = []
    cursor, some = await index.all_live()
    rooms += some
    while cursor is not None:
        cursor, some = await index.all_live(cursor)
        rooms += some
    return sorted(set(rooms))


async def test_a_code_leads_to_the_room_that_claimed_it_first(index: Index) -> None:
    assert await index.claim_code("AB12CD", "first")
    assert not await index.claim_code("AB12CD", "second")
    assert await index.claim_code("AB12CD", "first")  # as a repetition does

    assert await index.room_of("AB12CD") == "first"
    assert await index.room_of("ZZZZZZ") is None


async def test_the_code_of_a_room_that_is_over_leads_there_for_a_while_yet_and_nobody_ends_anothers(
    index: Index,
) -> None:
    await index.claim_code("AB12CD", "over")
    await index.claim_code("EF34GH", "open")

    await index.release_code("AB12CD", "over", 60)
    await index.release_code("EF34GH", "over", 0)
    await index.release_code("ZZZZZZ", "over", 60)
    assert [await index.room_of(code) for code in ("AB12CD", "EF34GH", "ZZZZZZ")] == ["over", "open", None]

    await index.release_code("AB12CD", "over", 0)
    assert await index.room_of("AB12CD") is None
    assert await index.claim_code("AB12CD", "next")


async def test_the_lobby_shows_what_was_told_last_first_and_of_one_game_where_asked(index: Index, clock: Clock) -> None:
    await index.list_room("one", "koi-koi", b"1")
    clock.forward(1)
    await index.list_room("two", "go-stop", b"2")
    clock.forward(1)
    await index.list_room("three", "koi-koi", b"3\x00")

    assert await index.listed(None, 10) == [b"3\x00", b"2", b"1"]
    assert await index.listed("koi-koi", 10) == [b"3\x00", b"1"]
    assert await index.listed("koi-koi", 1) == [b"3\x00"]
    assert await index.listed("koi", 10) == []


async def test_telling_the_lobby_again_replaces_the_summary(index: Index, clock: Clock) -> None:
    await index.list_room("one", "koi-koi", b"old")
    clock.forward(1)
    await index.list_room("one", "koi-koi", b"new")

    assert await index.listed(None, 10) == [b"new"]


async def test_a_room_leaves_the_lobby_when_it_is_taken_out_or_no_longer_told(index: Index, clock: Clock) -> None:
    await index.list_room("stays", "koi-koi", b"stays")
    await index.list_room("silent", "koi-koi", b"silent")
    await index.list_room("closed", "koi-koi", b"closed")
    await index.unlist("closed")
    await index.unlist("nobody's")
    clock.forward(LOBBY_MS - 1)
    assert sorted(await index.listed(None, 10)) == [b"silent", b"stays"]

    await index.list_room("stays", "koi-koi", b"stays")
    clock.forward(1)

    assert await index.listed(None, 10) == [b"stays"]


async def test_a_room_is_kept_in_the_lobby_as_it_was_told_and_only_where_it_is(index: Index, clock: Clock) -> None:
    await index.list_room("one", "koi-koi", b"1")
    clock.forward(LOBBY_MS - 1)

    assert await index.keep_listed("one")
    assert not await index.keep_listed("never told")
    clock.forward(LOBBY_MS - 1)

    assert await index.listed("koi-koi", 10) == [b"1"]
    await index.unlist("one")
    assert not await index.keep_listed("one")
    assert await index.listed(None, 10) == []


async def test_a_long_lobby_is_searched_to_the_end(index: Index, clock: Clock) -> None:
    await index.list_room("rare", "go-stop", b"rare")
    for number in range(250):
        clock.forward(1)
        await index.list_room(f"room {number}", "koi-koi", b"common")

    assert await index.listed("go-stop", 10) == [b"rare"]
    assert len(await index.listed(None, 1_000)) == 251


async def test_rooms_that_are_due_come_with_their_time_the_earliest_first(index: Index) -> None:
    for room, at in (("late", 1_764_500_000_300), ("soon", 1_764_500_000_100), ("next", 1_764_500_000_200)):
        await index.set_due(room, at)

    assert await index.due(1_764_500_000_200, 10) == [Due("soon", 1_764_500_000_100), Due("next", 1_764_500_000_200)]
    assert await index.due(1_764_500_000_300, 1) == [Due("soon", 1_764_500_000_100)]
    assert await index.due(0, 10) == []


async def test_a_due_time_is_replaced_by_the_next_and_taken_away_when_the_room_is_over(index: Index) -> None:
    await index.set_due("room", 100)
    await index.set_due("room", 50)
    assert await index.due(1_000, 10) == [Due("room", 50)]

    await index.set_due("room", None)
    await index.set_due("nobody's", None)

    assert await index.due(1_000, 10) == []
    assert await live(index) == []


async def test_walking_over_the_live_rooms_finds_each_of_them(index: Index) -> None:
    rooms = [f"room {number}" for number in range(1_500)]
    for room in rooms:
        await index.set_due(room, 5)

    assert await live(index) == sorted(rooms)


async def test_a_node_is_alive_as_long_as_it_says_so(index: Index, clock: Clock) -> None:
    assert await index.nodes() == []
    assert await index.beat("b", 1_500) == ["b"]
    clock.forward(1_000)
    assert await index.beat("a", 1_500) == ["a", "b"]
    clock.forward(500)
    assert await index.nodes() == ["a"]
    assert await index.beat("b", 1_500) == ["a", "b"]


async def test_a_time_in_which_no_node_lived_is_noted_by_the_first_that_lives_again(index: Index, clock: Clock) -> None:
    await index.beat("a", 1_200)
    began = clock.now
    clock.forward(OUTAGE_MS)
    await index.beat("a", 1_200)
    assert await index.outages() == []

    clock.forward(OUTAGE_MS + 1)
    await index.nodes()
    assert await index.outages() == []
    await index.beat("b", 1_200)
    await index.beat("a", 1_200)

    assert await index.outages() == [Outage(began + OUTAGE_MS, clock.now)]


async def test_only_the_latest_outages_are_kept(index: Index, clock: Clock) -> None:
    for _ in range(OUTAGES_KEPT + 3):
        await index.beat("a", 1_200)
        clock.forward(OUTAGE_MS + 1)

    outages = await index.outages()
    assert len(outages) == OUTAGES_KEPT
    assert outages[-1].until_ms == clock.now - OUTAGE_MS - 1


async def test_the_record_of_a_deal_is_kept_once_and_found_by_room_and_match(index: Index) -> None:
    await index.archive("room", "match", 10, b"ten")
    await index.archive("room", "match", 2, b"two")
    await index.archive("room", "match", 2, b"two again", attempt=2)
    await index.archive("room", "match", 2, b"another two")
    await index.archive("other", "rematch", 1, b"one")

    of_match = [each async for each in index.archived(match="match")]

    assert [(each.deal, each.attempt, each.record) for each in of_match] == [
        (2, 1, b"two"),
        (2, 2, b"two again"),
        (10, 1, b"ten"),
    ]
    assert [each.match async for each in index.archived(room="other")] == ["rematch"]
    assert [each async for each in index.archived(room="other", match="match")] == []
    assert len([each async for each in index.archived()]) == 4


# What only the store's index has ------------------------------------------------------------------------------------


async def test_a_code_has_a_time_to_live_that_claiming_again_prolongs(store: Store) -> None:
    index = StoredIndex(store, Bounds(code_seconds=500))
    key = store.keys.code("AB12CD")
    await index.claim_code("AB12CD", "room")
    await store.call(key, "EXPIRE", key, 5)

    await index.claim_code("AB12CD", "another")
    assert await store.call(key, "TTL", key) <= 5
    await index.claim_code("AB12CD", "room")

    assert await store.call(key, "TTL", key) > 400


async def test_a_released_code_ends_when_it_is_said_to_and_never_later_than_it_would_have(store: Store) -> None:
    index = StoredIndex(store, Bounds(code_seconds=500))
    key = store.keys.code("AB12CD")
    await index.claim_code("AB12CD", "room")

    await index.release_code("AB12CD", "room", 5_000)
    assert 400 < await store.call(key, "TTL", key) <= 500
    await index.release_code("AB12CD", "room", 50)
    await index.release_code("AB12CD", "room", 100)

    assert 0 < await store.call(key, "TTL", key) <= 50


async def test_the_lobby_keeps_no_more_rooms_than_it_may(store: Store) -> None:
    index = StoredIndex(store, Bounds(lobby_rooms=3))
    clock = Clock(index)
    dropped = []
    for number in range(10):
        clock.forward(1)
        dropped.append(await index.list_room(f"room {number}", "koi-koi", str(number).encode()))

    assert dropped == [0, 0, 0, *[1] * 7]
    assert await index.listed(None, 100) == [b"9", b"8", b"7"]
    _, summaries = store.keys.lobby
    assert await store.call(summaries, "HLEN", summaries) == 3


async def test_orders_are_heard_once_by_whoever_listens_and_never_by_who_starts_later(index: Index) -> None:
    early = await index.orders(None)
    tea, end = Order(what="announce", text="tea"), Order(what="drain", node="n1")
    await index.order(tea)
    late = await index.orders(None)
    await index.order(end)

    heard = await index.orders(early.cursor)
    heard_later = await index.orders(late.cursor)
    heard_again = await index.orders(heard.cursor)

    assert [each.orders for each in (early, late, heard_again)] == [[], [], []]
    assert heard.orders == [tea, end]
    assert heard_later.orders == [end]
    assert not any(each.missed for each in (early, late, heard, heard_later, heard_again))


@pytest.mark.parametrize("before", [0, 1, ORDERS_KEPT + 5])
async def test_only_the_latest_orders_are_kept_and_who_looks_too_late_knows_how_many_it_missed(
    index: Index, before: int
) -> None:
    for _ in range(before):
        await index.order(Order(what="announce", text="before"))
    start = await index.orders(None)
    for number in range(ORDERS_KEPT):
        await index.order(Order(what="announce", text=str(number)))
    in_time = await index.orders(start.cursor)
    for number in range(ORDERS_KEPT, ORDERS_KEPT + 3):
        await index.order(Order(what="announce", text=str(number)))

    too_late = await index.orders(start.cursor)

    assert (len(in_time.orders), in_time.missed) == (ORDERS_KEPT, 0)
    assert [order.text for order in too_late.orders] == [str(number) for number in range(3, ORDERS_KEPT + 3)]
    assert too_late.missed == 3


async def another_millisecond(store: Store) -> None:
    """What is added from now on gets another id."""
    began = now = await store.call(store.keys.orders, "TIME")
    while now[0] == began[0] and int(now[1]) // 1_000 == int(began[1]) // 1_000:
        now = await store.call(store.keys.orders, "TIME")


async def test_orders_of_an_index_that_was_lost_are_not_taken_for_missed_ones(store: Store) -> None:
    index = StoredIndex(store)
    for _ in range(5):
        await index.order(Order(what="announce", text="before"))
    start = await index.orders(None)
    await store.call(store.keys.orders, "UNLINK", store.keys.orders)
    await another_millisecond(store)
    tea = Order(what="announce", text="tea")
    await index.order(tea)

    heard = await index.orders(start.cursor)

    assert (heard.orders, heard.missed) == ([tea], 0)


async def test_a_lobby_that_everybody_left_leaves_nothing_behind(store: Store) -> None:
    index = StoredIndex(store)
    clock = Clock(index)
    for number in range(10):
        await index.list_room(f"room {number}", "koi-koi", b"")
    clock.forward(LOBBY_MS)

    await index.list_room("last", "koi-koi", b"")
    await index.unlist("last")

    assert [await store.call(key, "EXISTS", key) for key in store.keys.lobby] == [0, 0]


async def test_the_archive_keeps_the_newest_records_and_none_too_old(store: Store) -> None:
    index = StoredIndex(store, Bounds(archive_records=16 * 3, archive_ms=1_000_000))
    clock = Clock(index)
    dropped = []
    for deal in range(1, 6):
        clock.forward(1)
        dropped.append(await index.archive("room", "match", deal, b""))
    assert dropped == [0, 0, 0, 1, 1]
    assert [each.deal async for each in index.archived(match="match")] == [3, 4, 5]

    clock.forward(1_000_000 - 1)
    assert await index.archive("room", "match", 6, b"") == 0, "what is too old had its time"

    assert [each.deal async for each in index.archived(match="match")] == [5, 6]
    order, records = store.keys.archive(store.keys.archive_shard("match"))
    assert await store.call(records, "HLEN", records) == 2
    assert 0 < await store.call(records, "PTTL", records) <= 1_000_000
    assert 0 < await store.call(order, "PTTL", order) <= 1_000_000
