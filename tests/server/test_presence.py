"""Who lives, as a node sees it."""

from __future__ import annotations

import asyncio

import pytest

from server.index import Outage
from server.log import StoreUnavailable
from server.presence import BEAT_SECONDS, BEAT_TTL_MS, GONE_SECONDS, Presence
from tests.server.hallkit import Clock
from tests.server.memory import MemoryIndex


def present(clock: Clock, index: MemoryIndex, *names: str) -> list[Presence]:
    return [Presence(index, name, lambda: clock() / 1000) for name in names]


def live(presence: Presence) -> list[str]:
    return list(presence.nodes)


async def test_a_silent_node_is_taken_for_dead() -> None:
    clock = Clock()
    index = MemoryIndex(clock)
    one, other = present(clock, index, "one", "other")
    await other.beat()
    await one.beat()
    assert live(one) == ["one", "other"]

    for _ in range(4):
        clock.now += 400
        await one.beat()

    assert live(one) == ["one"]


async def test_after_a_silence_of_the_store_the_others_have_time_to_speak() -> None:
    clock = Clock()
    index = MemoryIndex(clock)
    one, other, dead = present(clock, index, "one", "other", "dead")
    for presence in (dead, other, one):
        await presence.beat()
    index.available = False
    clock.now += BEAT_TTL_MS + 1
    with pytest.raises(StoreUnavailable):
        await one.beat()
    index.available = True

    await one.beat()
    assert live(one) == ["dead", "one", "other"]
    await other.beat()
    for _ in range(5):
        clock.now += 300
        await other.beat()
        await one.beat()

    assert live(one) == ["one", "other"]


async def test_a_beat_is_repeated_before_an_append_only_when_the_last_one_is_old() -> None:
    clock = Clock()
    index = MemoryIndex(clock)
    (presence,) = present(clock, index, "one")
    await presence.refresh()
    assert live(presence) == ["one"]
    await index.beat("other", 10_000)
    await presence.refresh()
    assert live(presence) == ["one"]

    clock.now += 2_000
    await presence.refresh()

    assert live(presence) == ["one", "other"]
    index.available = False
    clock.now += 2_000
    await presence.refresh()  # what is known has to do


async def test_when_the_store_is_back_nobody_appends_without_having_heard_of_the_outage() -> None:
    clock = Clock()
    index = MemoryIndex(clock)
    (presence,) = present(clock, index, "one")
    await presence.beat()
    silent_since = clock.now
    index.available = False
    for _ in range(10):  # asked again and again, and never answered
        clock.now += 400
        with pytest.raises(StoreUnavailable):
            await presence.beat()
    index.available = True

    await presence.refresh()

    assert presence.outages == (Outage(silent_since, clock.now),)


async def test_an_append_does_not_wait_for_a_part_of_the_store_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.presence._PATIENCE_SECONDS", 0.0)
    index = MemoryIndex(Clock())

    async def hang(node: str, ttl_ms: int) -> list[str]:
        await asyncio.Event().wait()
        raise AssertionError((node, ttl_ms))

    monkeypatch.setattr(index, "beat", hang)

    await Presence(index, "one", lambda: 0.0).refresh()


async def test_who_is_unheard_of_for_a_moment_is_not_gone_and_who_stays_silent_is() -> None:
    clock = Clock()
    index = MemoryIndex(clock)
    one, other = present(clock, index, "one", "other")
    await one.beat()
    assert not one.is_gone("other"), "it may have come since this node last asked"
    await other.beat()

    beat_ms, gone_ms = int(BEAT_SECONDS * 1000), int(GONE_SECONDS * 1000)
    since = clock.now
    while clock.now < since + beat_ms + gone_ms:
        clock.now += beat_ms
        await one.beat()
        if "other" in one.nodes:
            since = clock.now
        gone = one.is_gone("other")
        assert gone == (clock.now - since - beat_ms >= gone_ms)
    assert gone

    await other.beat()
    await one.beat()
    assert not one.is_gone("other")
    clock.now += BEAT_TTL_MS + 1
    await one.beat()
    await one.beat()
    assert not one.is_gone("other"), "a new silence begins anew"


async def test_dead_nodes_that_nobody_asks_about_are_forgotten() -> None:
    clock = Clock()
    index = MemoryIndex(clock)
    (one,) = present(clock, index, "one")
    for number in range(10):
        assert not one.is_gone(f"dead-{number}")
    clock.now += 60_000
    await one.beat()

    assert not one._missed
