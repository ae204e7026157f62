"""Two people and AI of three levels at one table of Hachinin Meri: the match is played, and the loop never thinks."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from statistics import median, quantiles
from typing import Any, Final, NoReturn

import pytest

from engine import search as frame
from engine.game import AnyGame, Level
from engine.hachinin_meri import bot
from engine.registry import GAMES
from server.entries import Acted, Actor
from server.metrics import Metrics
from server.thinkers import Thinkers
from server.worker import Answer, Question
from tests.security.guests import Guest
from tests.security.nodes import nodes
from tests.stores import StoreServer, fresh_prefix

MERI: Final[AnyGame] = GAMES["hachinin-meri"]
LEVELS: Final = {2: Level.EASY, 3: Level.MEDIUM, 4: Level.HARD, 5: Level.EASY, 6: Level.MEDIUM, 7: Level.HARD}
"""By seat; both teams have one of each. The people have 0 and 1: opponents."""
PATIENCE_SECONDS: Final = 240.0
HEARTBEAT_SECONDS: Final = 0.002


class Counting:
    """The AI's processes, and how often each level was asked."""

    def __init__(self, thinkers: Thinkers) -> None:
        self._thinkers = thinkers
        self.asked: Counter[str] = Counter()

    async def think(self, question: Question) -> Answer:
        self.asked[question.level] += 1
        return await self._thinkers.think(question)


@asynccontextmanager
async def thinking() -> AsyncIterator[Counting]:
    thinkers = Thinkers(processes=1, deadline_seconds=20.0, tasks_per_process=100_000, metrics=Metrics())
    thinkers.start()
    try:
        yield Counting(thinkers)
    finally:
        await thinkers.stop()


@asynccontextmanager
async def heartbeat() -> AsyncIterator[list[float]]:
    """How late this loop was each time that it should have come round, in milliseconds."""
    late: list[float] = []
    loop = asyncio.get_running_loop()

    async def beat() -> None:
        while True:
            due = loop.time() + HEARTBEAT_SECONDS
            await asyncio.sleep(HEARTBEAT_SECONDS)
            late.append((loop.time() - due) * 1_000)

    task = asyncio.create_task(beat())
    try:
        yield late
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def thought_here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads of this process, the loop's, in which somebody began to think or search: nobody may."""
    threads: list[str] = []

    def caught(*_: object, **__: object) -> NoReturn:
        threads.append(threading.current_thread().name)
        raise AssertionError("the hall must not think")

    monkeypatch.setattr(bot, "think", caught)
    monkeypatch.setattr(frame, "search", caught)
    return threads


async def test_two_people_and_ai_of_three_levels_play_a_match_and_nothing_thinks_on_the_loop(
    shared_valkey: StoreServer, thought_here: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    async with thinking() as thinkers, nodes(shared_valkey.url, fresh_prefix(), count=1, thinker=thinkers) as (node,):
        ann, bob = (Guest(name, MERI, [node.port], Random(name)) for name in ("Ann", "Bob"))
        await ann.connect()
        await bob.connect()
        created = await ann.ask("create", game=MERI.name, name="Ann", seat=0)
        room = created["place"]["room"]
        await bob.ask("join", code=created["place"]["code"], name="Bob", seat=1)
        for seat, level in LEVELS.items():
            assert (await ann.ask("seat-ai", seat=seat, level=level))["t"] == "accepted"
        async with heartbeat() as late:
            assert (await ann.ask("start"))["t"] == "accepted"
            async with asyncio.timeout(PATIENCE_SECONDS):
                await asyncio.gather(ann.over.wait(), bob.over.wait())
        await ann.leave()
        await bob.leave()
        entries = await node.entries(room)

    assert thought_here == []
    assert set(thinkers.asked) == {Level.EASY, Level.MEDIUM, Level.HARD}
    played = [entry.body for entry in entries if isinstance(entry.body, Acted)]
    assert {each.seat for each in played if each.actor is Actor.AI} == set(LEVELS)
    assert {each.seat for each in played if each.actor is Actor.PERSON} == {0, 1}
    assert ended(ann) == ended(bob)
    with capsys.disabled():
        measured = {
            "loop late, ms": {"p50": median(late), "p99": quantiles(late, n=100)[98], "max": max(late)},
            "beats": len(late),
            "asked": thinkers.asked,
        }
        sys.stdout.write(f"\n{json.dumps(measured)}\n")


def test_a_search_in_the_hall_would_be_found_out(thought_here: list[str]) -> None:
    """What the first test relies on."""
    choose: Callable[..., object] = MERI.choose
    with pytest.raises(AssertionError, match="the hall must not think"):
        choose(None, (), Random(0), None)

    assert thought_here == ["MainThread"]


def ended(guest: Guest) -> dict[str, Any]:
    """The end of the match as ``guest`` was told it."""
    events = [event for each in guest.frames for event in json.loads(each.text).get("events", ())]
    (end,) = [event for event in events if event["e"] == "match-ended"]
    found: dict[str, Any] = end
    return found
