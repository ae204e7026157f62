"""People and AI of three levels at the tables of every game: the matches are played, and the loop never thinks."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import types
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from statistics import median, quantiles
from typing import Any, Final, NoReturn

import pytest

from engine.game import AnyGame, Budget, Level
from engine.registry import GAMES
from server.entries import Acted, Actor
from server.metrics import Metrics
from server.thinkers import Thinkers
from server.worker import Answer, Question
from tests.security.guests import Guest
from tests.security.nodes import OneNode, nodes
from tests.stores import StoreServer, fresh_prefix

LEVELS: Final = (Level.EASY, Level.MEDIUM, Level.HARD)
PATIENCE_SECONDS: Final = 240.0
HEARTBEAT_SECONDS: Final = 0.002
MATCHES: Final = 6
"""So many at most at one table, until one is played: a deal in forty, at most, ends with the hands that are dealt."""


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


THINKS: Final = ("think", "search")
"""What functions are called, anywhere in the rule book, that think or search."""


@pytest.fixture
def thought_here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads of this process, the loop's, in which somebody began to think or search: nobody may."""
    threads: list[str] = []

    def caught(*_: object, **__: object) -> NoReturn:
        threads.append(threading.current_thread().name)
        raise AssertionError("the hall must not think")

    for name, module in tuple(sys.modules.items()):
        for function in THINKS:
            if name.startswith("engine.") and isinstance(getattr(module, function, None), types.FunctionType):
                monkeypatch.setattr(module, function, caught)
    return threads


def tables(game: AnyGame) -> list[dict[int, Level]]:
    """The levels of the AI at each table, by seat: all levels in all. The other seats are people's: one of two, and two
    of eight, who are opponents; of the AI of each team each is of another level.
    """
    if game.seats == 2:
        return [{1: level} for level in LEVELS]
    return [{seat: LEVELS[(seat - 2) % 3] for seat in range(2, game.seats)}]


@pytest.mark.parametrize("name", sorted(GAMES))
async def test_people_and_ai_of_three_levels_play_a_match_and_nothing_thinks_on_the_loop(
    name: str, shared_valkey: StoreServer, thought_here: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    game: AnyGame = GAMES[name]
    async with (
        thinking() as thinkers,
        nodes(shared_valkey.url, fresh_prefix(), count=1, thinker=thinkers) as (node,),
        heartbeat() as late,
    ):
        for levels in tables(game):
            for _match in range(MATCHES):
                if await play(game, node, levels):
                    break  # a deal can end with the hands that are dealt, or before everybody's turn
            else:
                raise AssertionError(f"in no match did all move: {levels}")

    assert thought_here == []
    assert set(thinkers.asked) == set(LEVELS)
    with capsys.disabled():
        measured = {
            "game": name,
            "loop late, ms": {"p50": median(late), "p99": quantiles(late, n=100)[98], "max": max(late)},
            "beats": len(late),
            "asked": thinkers.asked,
        }
        sys.stdout.write(f"\n{json.dumps(measured)}\n")


async def play(game: AnyGame, node: OneNode, levels: dict[int, Level]) -> bool:
    """A match of people with AI of these levels, who are told one end; whether all of them moved."""
    seats = [seat for seat in range(game.seats) if seat not in levels]
    people = [Guest(f"Person {seat}", game, [node.port], Random(f"{levels}/{seat}")) for seat in seats]
    for person in people:
        await person.connect()
    host = people[0]
    created = await host.ask("create", game=game.name, name=host.name, seat=0)
    for seat, person in zip(seats[1:], people[1:], strict=True):
        await person.ask("join", code=created["place"]["code"], name=person.name, seat=seat)
    for seat, level in levels.items():
        assert (await host.ask("seat-ai", seat=seat, level=level))["t"] == "accepted"
    assert (await host.ask("start"))["t"] == "accepted"
    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.gather(*(person.over.wait() for person in people))
    for person in people:
        await person.leave()

    entries = await node.entries(created["place"]["room"])
    played = [entry.body for entry in entries if isinstance(entry.body, Acted)]
    assert all(ended(person) == ended(host) for person in people)
    moved = {actor: {each.seat for each in played if each.actor is actor} for actor in Actor}
    assert moved[Actor.AI] <= set(levels)
    assert moved[Actor.PERSON] <= set(seats)
    return moved[Actor.AI] == set(levels) and moved[Actor.PERSON] == set(seats)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", sorted(GAMES))
def test_a_thought_in_the_hall_would_be_found_out(name: str, level: Level, thought_here: list[str]) -> None:
    """What the first test relies on."""
    choose: Callable[..., object] = GAMES[name].choose
    with pytest.raises(AssertionError, match="the hall must not think"):
        choose(None, (), Random(0), Budget(level))

    assert thought_here == ["MainThread"]


def test_a_search_in_the_hall_would_be_found_out(thought_here: list[str]) -> None:
    """All searching levels of all games use one, which some know by a name of their own."""
    for module in ("engine.search", "engine.koi_koi.search"):
        search: Callable[..., object] = vars(sys.modules[module])["search"]
        with pytest.raises(AssertionError, match="the hall must not think"):
            search()

    assert thought_here == ["MainThread"] * 2


def ended(guest: Guest) -> dict[str, Any]:
    """The end of the match as ``guest`` was told it."""
    events = [event for each in guest.frames for event in json.loads(each.text).get("events", ())]
    (end,) = [event for event in events if event["e"] == "match-ended"]
    found: dict[str, Any] = end
    return found
