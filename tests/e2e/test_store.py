"""A real store, and what happens to those who use it when it, or the way to it, fails."""

from __future__ import annotations

import asyncio
import random
from collections import UserList
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from server.log import EMPTY, UNKNOWN, Conflict, StoreFull, StoreUnavailable, follow
from server.main import _loop_factory
from server.store import Store, StoredIndex, StoredLog, open_store
from server.store.client import LIBRARY
from tests.proxy import Proxy
from tests.stores import StoreServer, free_port

PATIENCE = 20.0


@asynccontextmanager
async def opened(url: str, *, exchange_seconds: float = PATIENCE) -> AsyncIterator[tuple[Store, StoredLog]]:
    store = await open_store(url, exchange_seconds=exchange_seconds)
    log = StoredLog(store)
    try:
        yield store, log
    finally:
        await log.aclose()
        await store.aclose()


@asynccontextmanager
async def through_proxy(
    server: StoreServer, *, exchange_seconds: float = PATIENCE
) -> AsyncIterator[tuple[Proxy, Store, StoredLog]]:
    """A store and log that are reached through a proxy that can be made to misbehave."""
    async with Proxy.to_socket(server.socket) as proxy:
        url = f"redis://127.0.0.1:{proxy.port}"
        async with opened(url, exchange_seconds=exchange_seconds) as (store, log):
            yield proxy, store, log


async def eventually(log: StoredLog, room: str) -> int:
    """The version of a log, as soon as the store can be reached."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return (await log.heads([room]))[room].version
            except StoreUnavailable:
                await asyncio.sleep(0.01)


def asked(store: Store, server: StoreServer) -> Callable[[], int]:
    """How many of our Function calls the server has seen, asked of the server itself."""

    def calls() -> int:
        stats = server.ask("INFO", "commandstats").decode()
        lines = [line for line in stats.splitlines() if line.startswith("cmdstat_fcall:")]
        return int(lines[0].split("calls=")[1].split(",")[0]) if lines else 0

    before = calls()
    return lambda: calls() - before


# Lost replies and cancelled callers ----------------------------------------------------------------------------------


async def test_an_append_whose_reply_is_lost_is_unknown_to_its_caller_and_in_the_log_once(valkey: StoreServer) -> None:
    async with through_proxy(valkey) as (proxy, store, log):
        calls = asked(store, valkey)
        proxy.down.hold()
        append = asyncio.create_task(log.append("room", EMPTY, b"one"))
        await proxy.down.arrived()
        proxy.cut()

        with pytest.raises(StoreUnavailable):
            await append

        proxy.down.flow()
        entries = await log.read("room")
        assert [entry.data for entry in entries] == [b"one"]
        assert calls() == 1  # nothing was sent twice
        assert (await log.append("room", follow(EMPTY, entries), b"two")).version == 2


async def test_an_append_that_did_not_reach_the_store_is_not_in_the_log(valkey: StoreServer) -> None:
    async with through_proxy(valkey) as (proxy, _, log):
        proxy.up.hold()
        append = asyncio.create_task(log.append("room", EMPTY, b"one"))
        await proxy.up.arrived()
        proxy.cut()

        with pytest.raises(StoreUnavailable):
            await append

        proxy.up.flow()
        assert await log.read("room") == []


async def test_everybody_who_waits_is_told_when_the_connection_breaks(valkey: StoreServer) -> None:
    async with through_proxy(valkey) as (proxy, _, log):
        proxy.down.hold()
        # more than one batch: some have been sent, others wait their turn
        appends = [asyncio.create_task(log.append(f"room {number}", EMPTY, b"one")) for number in range(600)]
        await proxy.down.arrived()
        proxy.cut()

        outcomes = await asyncio.gather(*appends, return_exceptions=True)

        assert {type(outcome) for outcome in outcomes} == {StoreUnavailable}


async def test_a_silent_store_counts_as_unavailable_after_the_time_for_an_exchange(valkey: StoreServer) -> None:
    async with through_proxy(valkey, exchange_seconds=0.2) as (proxy, store, log):
        proxy.down.hold()

        with pytest.raises(StoreUnavailable, match=r"did not answer within 0\.2 s"):
            await log.append("room", EMPTY, b"one")
        with pytest.raises(StoreUnavailable):
            await store.probe()

        proxy.down.flow()
        assert await eventually(log, "room") == 1


async def test_a_half_closed_connection_is_noticed_and_replaced(valkey: StoreServer) -> None:
    async with through_proxy(valkey) as (proxy, _, log):
        await log.append("room", EMPTY, b"one")
        proxy.half_close()
        proxy.down.flow()

        assert await eventually(log, "room") == 1


async def test_a_cancelled_caller_shifts_nobody_elses_reply(valkey: StoreServer) -> None:
    async with through_proxy(valkey) as (proxy, store, _):
        proxy.down.hold()
        impatient = asyncio.create_task(store.call("one", "ECHO", "one"))
        await proxy.down.arrived()
        impatient.cancel()
        patient = asyncio.create_task(store.call("two", "ECHO", "two"))
        with pytest.raises(asyncio.CancelledError):
            await impatient
        proxy.down.flow()

        assert await patient == b"two"
        assert await store.call("three", "ECHO", "three") == b"three"


async def test_replies_reach_their_callers_whoever_is_cancelled_when(valkey: StoreServer) -> None:
    seeded = random.Random(7)
    async with through_proxy(valkey) as (proxy, store, _):
        proxy.down.delay = 0.000_5

        async def one(number: int) -> None:
            assert await store.call("key", "ECHO", str(number)) == str(number).encode()

        calls = []
        for number in range(2_000):
            calls.append(asyncio.create_task(one(number)))
            if seeded.random() < 0.3:
                seeded.choice(calls).cancel()
            if seeded.random() < 0.2:
                await asyncio.sleep(seeded.choice((0, 0, 0.001)))
        outcomes = await asyncio.gather(*calls, return_exceptions=True)

        assert {type(outcome) for outcome in outcomes} == {type(None), asyncio.CancelledError}
        assert proxy.connections == 1  # no cancellation cost a connection


async def test_a_cancelled_append_is_in_the_log_whole_or_not_at_all(valkey: StoreServer) -> None:
    async with through_proxy(valkey) as (_, _, log):
        head = EMPTY
        for number in range(100):
            append = asyncio.create_task(log.append("room", head, str(number).encode()))
            for _ in range(number % 7):
                await asyncio.sleep(0)
            append.cancel()
            await asyncio.gather(append, return_exceptions=True)
            head = follow(head, await log.read("room", after=head.version))
            if head.version == 0 or (await log.read("room"))[-1].data != str(number).encode():
                # not there when it was looked for: it must not come later, over what is written now
                head = await log.append("room", head, b"instead")

        assert follow(EMPTY, await log.read("room")) == head


async def test_closing_tells_everybody_who_waits_and_everybody_who_comes_later(valkey: StoreServer) -> None:
    async with through_proxy(valkey) as (proxy, store, log):
        proxy.down.hold()
        append = asyncio.create_task(log.append("room", EMPTY, b"one"))
        await proxy.down.arrived()
        await store.aclose()

        with pytest.raises(StoreUnavailable, match="closed"):
            await append
        with pytest.raises(StoreUnavailable, match="closed"):
            await log.read("room")


async def test_the_queue_for_the_store_is_bounded(valkey: StoreServer) -> None:
    async with through_proxy(valkey) as (proxy, store, _):
        proxy.down.hold()
        calls = [asyncio.create_task(store.call("key", "ECHO", "x")) for _ in range(9_000)]
        await proxy.down.arrived()
        refused = [call for call in calls if call.done()]

        assert 500 < len(refused) < 1_000
        for call in refused:
            with pytest.raises(StoreUnavailable, match="too many"):
                call.result()
        proxy.down.flow()
        assert {await call for call in calls if call not in refused} == {b"x"}


# A store that dies, is full, forgets, or is no primary ---------------------------------------------------------------


async def test_what_was_accepted_is_there_after_the_store_was_killed_and_started_again(valkey: StoreServer) -> None:
    async with opened(valkey.url) as (_, log):
        head = await log.append("room", EMPTY, b"one")
        valkey.kill()
        with pytest.raises(StoreUnavailable):
            await log.append("room", head, b"lost")
        valkey.start()

        assert await eventually(log, "room") == 1
        assert (await log.append("room", head, b"two")).version == 2


async def test_an_idle_connection_to_a_restarted_store_is_replaced_before_it_is_used(valkey: StoreServer) -> None:
    async with opened(valkey.tcp_url) as (_, log):
        head = await log.append("room", EMPTY, b"one")
        valkey.kill()
        valkey.start()
        for _ in range(2):  # the loop sees that the server has hung up, and says so
            await asyncio.sleep(0)

        assert (await log.append("room", head, b"two")).version == 2


async def test_a_log_that_the_store_has_rolled_back_refuses_what_builds_on_the_lost_part(valkey: StoreServer) -> None:
    async with opened(valkey.url) as (_, log):
        one = await log.append("room", EMPTY, b"one")
        lost = await log.append("room", one, b"lost")
        valkey.ask("XDEL", "fudaza:{room}:log", "2-0")

        with pytest.raises(Conflict) as refused:
            await log.append("room", lost, b"three")

        assert refused.value.head == one


async def test_a_full_store_says_so_writes_nothing_and_can_still_be_read(valkey: StoreServer) -> None:
    async with opened(valkey.url) as (store, log):
        index = StoredIndex(store)
        head = await log.append("room", EMPTY, b"one")
        valkey.ask("CONFIG", "SET", "maxmemory", "1")

        with pytest.raises(StoreFull):
            await log.append("room", head, b"two")
        with pytest.raises(StoreFull):
            await store.probe()
        with pytest.raises(StoreFull):
            await index.set_due("room", 5)
        assert [entry.data for entry in await log.read("room")] == [b"one"]
        assert await index.beat("node", 1_000) == ["node"]  # nodes stay alive
        await index.unlist("room")
        await log.forget("room", 1_000)

        valkey.ask("CONFIG", "SET", "maxmemory", "0")
        await store.probe()
        assert (await log.append("room", head, b"two")).version == 2


async def test_a_store_that_has_lost_our_functions_is_given_them_again(valkey: StoreServer) -> None:
    async with opened(valkey.url) as (store, log):
        valkey.ask("FUNCTION", "FLUSH")
        head = await log.append("room", EMPTY, b"one")
        valkey.ask("FUNCTION", "FLUSH")
        await store.probe()
        valkey.ask("FUNCTION", "FLUSH")
        assert await log.heads(["room"]) == {"room": head}


async def test_a_store_that_has_an_older_state_of_our_functions_is_given_the_newer(valkey: StoreServer) -> None:
    old = f"#!lua name={LIBRARY}\nredis.register_function('{LIBRARY}_append', function() return 'old' end)"
    valkey.ask("FUNCTION", "LOAD", old)

    async with opened(valkey.url) as (_, log):
        assert (await log.append("room", EMPTY, b"one")).version == 1


async def test_a_replica_takes_no_append_and_a_primary_again_does(valkey: StoreServer) -> None:
    async with opened(valkey.url) as (store, log):
        head = await log.append("room", EMPTY, b"one")
        valkey.ask("REPLICAOF", "127.0.0.1", str(free_port()))

        with pytest.raises(StoreUnavailable):
            await log.append("room", head, b"two")
        with pytest.raises(StoreUnavailable):
            await store.probe()

        valkey.ask("REPLICAOF", "NO", "ONE")
        assert (await log.append("room", head, b"two")).version == 2


async def test_a_forgotten_log_has_a_time_to_live(valkey: StoreServer) -> None:
    async with opened(valkey.url) as (store, log):
        await log.append("room", EMPTY, b"one")
        key = store.keys.log("room")
        assert await store.call(key, "TTL", key) == -1

        await log.forget("room", 1_000)

        assert 990 < await store.call(key, "TTL", key) <= 1_000


async def test_the_clock_is_the_stores_not_the_nodes(valkey: StoreServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(valkey.url) as (store, _):
        monkeypatch.setattr("time.time", lambda: 0.0)
        await store.probe()
        seconds, _ = await store.call("any", "TIME")

        assert abs(int(seconds) * 1_000 - store.now_ms()) < 60_000


# Wake-ups ------------------------------------------------------------------------------------------------------------


async def test_killed_subscriptions_are_renewed_and_everybody_told_to_look(valkey: StoreServer) -> None:
    async with opened(valkey.url) as (_, log):
        woken: dict[str, asyncio.Queue[int]] = {"one": asyncio.Queue(), "two": asyncio.Queue()}
        for room, queue in woken.items():
            log.watch(room, queue.put_nowait)
        async with asyncio.timeout(PATIENCE):
            assert [await queue.get() for queue in woken.values()] == [UNKNOWN, UNKNOWN]

            valkey.ask("CLIENT", "KILL", "TYPE", "pubsub")

            assert [await queue.get() for queue in woken.values()] == [UNKNOWN, UNKNOWN]
            await log.append("two", EMPTY, b"one")
            assert await woken["two"].get() == 1
        assert woken["one"].empty()


def test_a_subscription_asked_for_as_its_connection_is_lost_is_made_anew_in_the_loop_that_servers_run_in(
    valkey: StoreServer,
) -> None:
    async def watched_as_the_connection_is_lost() -> None:
        async with opened(valkey.url) as (_, log), asyncio.timeout(PATIENCE):
            woken: asyncio.Queue[str] = asyncio.Queue()
            log.watch("one", lambda _: woken.put_nowait("one"))
            assert await woken.get() == "one"
            (ear,) = log._wakeups._ears.values()
            assert ear._connection._writer is not None
            ear._connection._writer.transport.abort()
            log.watch("two", lambda _: woken.put_nowait("two"))

            assert {await woken.get(), await woken.get()} == {"one", "two"}

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(watched_as_the_connection_is_lost())


async def test_the_store_wakes_nobody_where_nobody_but_the_appender_listens(valkey: StoreServer) -> None:
    async def wakeups(store: Store) -> bool:
        return b"cmdstat_spublish:" in await store.call("any", "INFO", "commandstats")

    async with opened(valkey.url) as (store, log), opened(valkey.url) as (_, elsewhere), asyncio.timeout(PATIENCE):
        here: asyncio.Queue[int] = asyncio.Queue()
        log.watch("room", here.put_nowait)
        assert await here.get() == UNKNOWN

        head = await log.append("room", EMPTY, b"one")
        assert await here.get() == 1
        assert not await wakeups(store)

        there: asyncio.Queue[int] = asyncio.Queue()
        elsewhere.watch("room", there.put_nowait)
        assert await there.get() == UNKNOWN
        head = await log.append("room", head, b"two")
        assert await there.get() == 2
        assert await wakeups(store)

        await elsewhere.append("room", head, b"three")
        while await here.get() != 3:
            pass


async def test_watchers_are_told_to_look_when_the_store_comes_back(valkey: StoreServer) -> None:
    async with opened(valkey.url) as (_, log):
        woken: asyncio.Queue[int] = asyncio.Queue()
        log.watch("room", woken.put_nowait)
        async with asyncio.timeout(PATIENCE):
            await woken.get()
            valkey.kill()
            with pytest.raises(StoreUnavailable):
                await log.read("room")
            valkey.start()
            assert await woken.get() == UNKNOWN
            await eventually(log, "room")
            await log.append("room", EMPTY, b"one")
            assert await woken.get() == 1


async def test_a_subscription_that_has_gone_silent_is_replaced(
    valkey: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.store.wakeups._KEEPALIVE_SECONDS", 0.1)
    async with through_proxy(valkey) as (proxy, _, log):
        woken: asyncio.Queue[int] = asyncio.Queue()
        log.watch("room", woken.put_nowait)
        async with asyncio.timeout(PATIENCE):
            await woken.get()
            proxy.down.drop()
            proxy.up.drop()  # the connection is open and carries nothing
            await proxy.up.arrived()
            proxy.down.flow()
            proxy.up.flow()

            assert await woken.get() == UNKNOWN


async def test_a_server_that_accepts_a_subscription_and_stays_silent_is_given_up(valkey: StoreServer) -> None:
    async with through_proxy(valkey, exchange_seconds=1.0) as (proxy, _, log):
        woken: asyncio.Queue[int] = asyncio.Queue()
        log.watch("room", woken.put_nowait)
        async with asyncio.timeout(PATIENCE):
            await woken.get()
            proxy.down.drop()
            proxy.cut()
            await proxy.down.arrived()  # the greeting of the new connection, and nobody will hear it
            proxy.down.flow()

            assert await woken.get() == UNKNOWN


class Steps(UserList[float]):
    """Delays that note which of them were taken."""

    def __init__(self, delays: list[float]) -> None:
        super().__init__(delays)
        self.taken: list[int] = []

    def __getitem__(self, step: Any) -> Any:
        self.taken.append(step)
        return super().__getitem__(step)


async def test_a_server_that_refuses_subscriptions_is_asked_ever_more_rarely_and_heard_when_it_gives_in(
    valkey: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps([0.01] * 5)
    monkeypatch.setattr("server.store.wakeups._BACKOFF_SECONDS", steps)
    valkey.ask("ACL", "SETUSER", "default", "resetchannels")
    async with opened(valkey.url) as (_, log):
        woken: asyncio.Queue[int] = asyncio.Queue()
        log.watch("room", woken.put_nowait)
        async with asyncio.timeout(PATIENCE):
            while len(steps.taken) < 7:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            assert steps.taken[:7] == [0, 1, 2, 3, 4, 4, 4]
            assert woken.empty()
            valkey.ask("ACL", "SETUSER", "default", "allchannels")

            assert await woken.get() == UNKNOWN


async def test_watching_thousands_of_rooms_takes_one_connection_and_leaves_nothing_behind(valkey: StoreServer) -> None:
    async with through_proxy(valkey) as (proxy, store, log):
        listening = 0
        everybody = asyncio.Event()

        def wake(version: int) -> None:
            nonlocal listening
            listening += version == UNKNOWN
            if listening == 3_000:
                everybody.set()

        stops = [log.watch(f"room {number}", wake) for number in range(3_000)]
        async with asyncio.timeout(PATIENCE):
            await everybody.wait()
            assert proxy.connections == 2  # and one for commands
            for stop in stops:
                stop()
            while await store.call("any", "PUBSUB", "SHARDCHANNELS"):  # noqa: ASYNC110 - the server does not tell
                await asyncio.sleep(0.01)
