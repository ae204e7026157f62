"""Two nodes on one store, both on real ports, with AI that moves at random: what people in the tests connect to."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from prometheus_client import generate_latest

from engine.registry import GAMES
from server.driver import Driver, Thinker
from server.entries import Entry, Timing, decode_entry
from server.gateway import Gateway
from server.hall import Hall
from server.health import Health
from server.host import Node
from server.keeper import Keeper
from server.metrics import Metrics
from server.presence import Presence
from server.room import next_due, person_at, persons
from server.settings import Settings
from server.store import Store, StoredIndex, StoredLog, open_store
from server.warning import Timer, on_the_loop
from server.worker import Answer, Question

QUICK: Timing = Timing(
    contributions_ms=300, question_ms=25, pause_ms=20, redeal_ms=10, grace_ms=15, abandoned_ms=60_000
)
FREE: Settings = Settings(
    data="",
    commands_per_second=1e6,
    command_burst=1_000_000,
    rooms_per_minute=1e6,
    talk_per_minute=1e6,
    write_buffer=4_194_304,
)
"""No limits but those that cannot be lifted."""
SECRET = b"the server's own" * 2


class AtRandom:
    """Answers for AI seats: any legal action."""

    async def think(self, question: Question) -> Answer:
        return Answer(question.number, Random(question.seed).choice(question.legal))


def wall_ms() -> int:
    return time.time_ns() // 1_000_000


def at_once(_seconds: float, do: Callable[[], None]) -> Timer:
    """``server.warning.Later``: everybody whose time is limited is told at once that it runs out."""
    return on_the_loop(0, do)


class OneNode:
    """A node that listens."""

    def __init__(self, name: str, store: Store, thinker: Thinker, settings: Settings, timing: Timing) -> None:
        self.metrics = Metrics()
        self.log, self.index = StoredLog(store), StoredIndex(store)
        presence = Presence(self.index, name, time.monotonic)
        node = Node(name, self.log, GAMES, wall_ms, secrets.token_bytes, self.metrics, presence, at_once)
        self.hall = Hall(node, self.index, timing)
        self.driver = Driver(self.hall, self.index, thinker, secret=SECRET, pause_ms=0)
        self.keeper = Keeper(
            self.index,
            self.log,
            drives=self.driver.drives,
            holds=self.hall.hosts.__contains__,
            forget_seconds=60,
            metrics=self.metrics,
        )
        self.hall.observers += [self.driver, self.keeper]
        self.gateway = Gateway(self.hall, Health(time.monotonic), settings, version="test")
        self.port = 0

    async def entries(self, room: str) -> list[Entry]:
        """The room's log."""
        return [decode_entry(each.data) for each in await self.log.read(room)]

    def told(self, room: str) -> dict[str, Any]:
        """Where this node stands with a room: what is looked at when a match does not end."""
        host = self.hall.hosts.get(room)
        told: dict[str, Any] = {"node": self.hall.node.name, "live": self.hall.node.presence.nodes, "holds": bool(host)}
        if host is None:
            return told
        decision = host.room.table.decision if host.room.table is not None else None
        return told | {
            "version": host.head.version,
            "number": host.room.number,
            "phase": host.room.phase.value,
            "seats": [type(seat).__name__ for seat in host.room.seats],
            "away": [seat for seat in persons(host.room) if (person := person_at(host.room, seat)) and person.away],
            "asked": None if decision is None else {"at": decision.at, "seats": decision.seats},
            "due in ms": None if (due := next_due(host.room)) is None else due - wall_ms(),
            "drives": self.driver.drives(room),
            "scheduled": room in self.driver._schedule,
            "firing": room in self.driver._firing,
            "thinking": [key[1:] for key in self.driver._thinking if key[0] == room],
            "locked": host._lock.locked(),
            "pulling": host._pull is not None,
            "watching": [(viewer.seat, viewer.epoch, viewer.outbox.gone) for viewer in host.audience.viewers],
        }

    def metrics_text(self) -> str:
        return generate_latest(self.metrics.registry).decode()


@asynccontextmanager
async def nodes(
    url: str,
    prefix: str,
    *,
    count: int = 2,
    thinker: Thinker | None = None,
    settings: Settings = FREE,
    timing: Timing = QUICK,
) -> AsyncIterator[list[OneNode]]:
    """``count`` nodes on the store at ``url``."""
    opened: list[OneNode] = []
    stores: list[Store] = []
    tasks: list[asyncio.Task[None]] = []
    try:
        for number in range(count):
            stores.append(await open_store(url, prefix=prefix))
            node = OneNode(f"node{number}", stores[-1], thinker or AtRandom(), settings, timing)
            opened.append(node)
            await node.driver.beat()
            node.port = await node.gateway.listen("127.0.0.1", 0)
            tasks += [asyncio.create_task(node.driver.run()), asyncio.create_task(node.keeper.run())]
        yield opened
        failed = [task for task in tasks if task.done()]
        assert not failed, failed
    finally:
        for node in opened:
            await node.gateway.drain()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for node in opened:
            await node.driver.stop()
            await node.hall.close()
            await node.log.aclose()
        for store in stores:
            await store.aclose()
