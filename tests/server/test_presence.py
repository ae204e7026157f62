"""Who lives, as a node sees it."""

from __future__ import annotations

import asyncio

import pytest

from server.log import StoreUnavailable
from server.presence import BEAT_TTL_MS, Presence
from tests.server.hallkit import Clock
from tests.server.memory import MemoryIndex


def live(presence: Presence) -> list[str]:
    return list(presence.nodes)


class Loop:
    """The event loop's clock, moved together with the index's."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
        self._clock = clock
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: clock.now / 1000)


async def test_a_silent_node_is_taken_for_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    index = MemoryIndex(clock)
    one, other = Presence(index, "one"), Presence(index, "other")
    Loop(monkeypatch, clock)
    await other.beat()
    await one.beat()
    assert live(one) == ["one", "other"]

    for _ in range(4):
        clock.now += 400
        await one.beat()

    assert live(one) == ["one"]


async def test_after_a_silence_of_the_store_the_others_have_time_to_speak(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    index = MemoryIndex(clock)
    one, other, dead = (Presence(index, name) for name in ("one", "other", "dead"))
    Loop(monkeypatch, clock)
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


async def test_a_beat_is_repeated_before_an_append_only_when_the_last_one_is_old(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    index = MemoryIndex(clock)
    presence = Presence(index, "one")
    Loop(monkeypatch, clock)
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
