"""Nothing hidden reaches anybody: everything that is sent, logged, counted and published is read and judged."""

from __future__ import annotations

import asyncio
import io
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Final

import pytest
from msgspec.structs import replace

from engine.registry import GAMES
from server.entries import Timing
from server.store.keys import Keys
from tests.security.matches import Place, Played, log_kept, play, some_dealt_twice
from tests.security.nodes import QUICK, nodes
from tests.stores import StoreServer, fresh_prefix

MATCHES: Final = 20
MANY_MATCHES: Final = 1_000
AT_ONCE: Final = 4
"""Matches that are played at the same time on the same nodes: so one room's cards could also reach another's people."""
NODES_PLAY: Final = 20
"""Matches after which nodes are replaced by new ones, so that finished rooms do not pile up before those played."""


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    with log_kept() as stream:
        yield stream


class Heard:
    """What has been read of so many matches."""

    def __init__(self) -> None:
        self.matches = 0
        self.events = 0
        self.frames: Counter[str] = Counter()
        """By the kind of message."""
        self.notices: Counter[str] = Counter()
        """By their code."""
        self.bytes_read = 0
        self.log_bytes = 0
        self.commands_logged = 0
        self.wakeups = 0
        self.viewers: set[bool] = set()
        """Whether seats read, and whether others did."""

    def add(self, match: Played) -> None:
        self.matches += 1
        self.events += match.truth.last
        self.wakeups += len(match.wakeups)
        for frame in match.frames:
            self.frames[(kind := frame.text.partition('"t":"')[2].partition('"')[0])] += 1
            if kind == "notice":
                self.notices[json.loads(frame.text)["code"]] += 1
            self.bytes_read += len(frame.text.encode())
            self.viewers.add(frame.viewer is None)

    def report(self, name: str, seconds: float) -> None:
        told = {"game": name, "matches": self.matches, "events": self.events, "seconds": round(seconds)}
        read = {"frames": self.frames.total(), "bytes": self.bytes_read, "log_bytes": self.log_bytes}
        sys.stdout.write(
            json.dumps({**told, **read, "wake_ups": self.wakeups, "by_kind": self.frames, "notices": self.notices})
            + "\n"
        )
        sys.stdout.flush()


async def overhear(name: str, count: int, store: StoreServer, log: io.StringIO, *, timing: Timing = QUICK) -> Heard:
    """``count`` matches are played and judged; what was read of them is printed (``-s``).

    Raises:
        AssertionError: somebody was told what they may not know.
    """
    heard, began = Heard(), time.perf_counter()
    while heard.matches < count:
        prefix = fresh_prefix()
        async with nodes(store.url, prefix, timing=timing) as opened:
            place = Place(opened, Keys(prefix), lambda _: store.url, log, set())
            seeds = iter(range(heard.matches, min(count, heard.matches + NODES_PLAY)))

            async def play_on(place: Place = place, seeds: Iterator[int] = seeds) -> None:
                for seed in seeds:
                    match = await play(GAMES[name], place, seed)
                    assert match.leaks == [], f"match {seed}"
                    heard.add(match)

            with some_dealt_twice():
                async with asyncio.TaskGroup() as group:
                    for _ in range(AT_ONCE):
                        group.create_task(play_on())
        heard.log_bytes += len(log.getvalue().encode())
        heard.commands_logged += log.getvalue().count('"event":"command"')
        log.seek(0)
        log.truncate()
        heard.report(name, time.perf_counter() - began)
    return heard


@pytest.mark.parametrize("name", sorted(GAMES))
async def test_nobody_is_ever_sent_what_they_may_not_know(
    name: str, shared_valkey: StoreServer, log: io.StringIO
) -> None:
    heard = await overhear(name, MATCHES, shared_valkey, log)

    kinds = {"welcome", "accepted", "refused", "events", "turn", "snapshot", "notice"}
    assert set(heard.frames) == kinds, "all kinds were read"
    assert set(heard.notices) >= {"superseded", "removed", "room-closed", "rolled-back", "time-runs-out"}
    assert heard.viewers == {True, False}
    assert heard.wakeups > heard.matches
    assert heard.commands_logged > heard.matches


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(GAMES))
async def test_nobody_is_ever_sent_what_they_may_not_know_in_a_thousand_matches(
    name: str, shared_valkey: StoreServer, log: io.StringIO
) -> None:
    assert (await overhear(name, MANY_MATCHES, shared_valkey, log)).matches == MANY_MATCHES


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(GAMES))
async def test_nor_while_nodes_and_store_stand_still_again_and_again(
    name: str, valkey: StoreServer, log: io.StringIO
) -> None:
    """Nodes take each other for dead, connections are sent away and come again, outcomes are unknown, time is given
    back: every way back to a seat is gone, and every match ends.
    """
    standing = [asyncio.create_task(_stand_still(Random(1))), asyncio.create_task(_hold(valkey, Random(2)))]
    try:
        heard = await overhear(name, 5 * MATCHES, valkey, log, timing=replace(QUICK, grace_ms=20_000))
    finally:
        for each in standing:
            each.cancel()
        await asyncio.gather(*standing, return_exceptions=True)
        valkey.signal(signal.SIGCONT)
    assert heard.matches == 5 * MATCHES


async def _stand_still(rng: Random) -> None:
    """Hold the loop of both nodes now and then."""
    while True:
        await asyncio.sleep(rng.uniform(0.05, 1.0))
        time.sleep(rng.choice((0.02, 0.1, 0.3, 0.6, 0.9)))  # noqa: ASYNC251 - that is what it is for


async def _hold(store: StoreServer, rng: Random) -> None:
    """Stop the store's process now and then, for less than anybody waits for it."""
    while True:
        await asyncio.sleep(rng.uniform(0.1, 1.5))
        store.signal(signal.SIGSTOP)
        await asyncio.sleep(rng.choice((0.02, 0.2, 0.5, 1.3, 2.0)))
        store.signal(signal.SIGCONT)
