"""Nodes for tests: halls on a shared log and index in memory, with a clock and entropy held in hand, and outboxes that
remember. No sockets, no store.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from random import Random
from typing import Any, Final, TypeVar

import msgspec

from engine.codec import codec_of
from engine.game import AnyGame, Budget, Level
from protocol.codec import decode_message
from protocol.codes import Close
from protocol.events import ROOM_EVENTS
from protocol.messages import (
    Accepted,
    Act,
    AnyServerMessage,
    Contribute,
    Create,
    Events,
    Join,
    Notice,
    Place,
    RefusedMessage,
    Resume,
    Snapshot,
    Start,
    Turn,
    Watch,
)
from server.audience import Viewer
from server.driver import Driver
from server.entries import Timing, decode_entry
from server.hall import Hall
from server.health import Health
from server.host import Node, Outcome, RoomHost
from server.keeper import Keeper
from server.log import RoomLog
from server.metrics import Metrics
from server.outbox import Encoded
from server.presence import BEAT_SECONDS, BEAT_TTL_MS, GONE_SECONDS, Presence
from server.room import Games, Refuse, Room, RoomCommand
from server.worker import Answer, Question
from tests.server.memory import MemoryIndex, MemoryLog
from tests.server.roomkit import Client, Dice
from tests.toy import DUEL

GAMES: Final[dict[str, AnyGame]] = {DUEL.name: DUEL}
TIMING: Final = Timing(contributions_ms=5_000, question_ms=1_000, pause_ms=2_000, redeal_ms=1_000, grace_ms=30_000)
START_MS: Final = 1_000_000
PATIENCE_SECONDS: Final = 10.0

T = TypeVar("T")


class Clock:
    """Milliseconds since the epoch, moved by the test."""

    def __init__(self) -> None:
        self.now = START_MS

    def __call__(self) -> int:
        return self.now


class Steady:
    """By which heartbeats are counted, in seconds: the real one, moved ahead by tests that are about those."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


class Remembering:
    """An outbox that keeps what it was given."""

    def __init__(self) -> None:
        self.sent: list[Encoded] = []
        self.closed: Close | None = None
        self.gone = False

    def send(self, message: Encoded) -> None:
        self.sent.append(message)

    def close(self, code: Close) -> None:
        assert self.closed is None, "closed twice"
        self.closed = code

    @property
    def messages(self) -> list[AnyServerMessage]:
        decoded = [decode_message(each.payload) for each in self.sent]
        return [message for message in decoded if message is not None]

    def all(self, kind: type[T]) -> list[T]:
        return [message for message in self.messages if isinstance(message, kind)]

    @property
    def numbers(self) -> list[int]:
        """The numbers of the events received, in the order in which they came."""
        return [events.first + place for events in self.all(Events) for place in range(len(events.events))]

    @property
    def mark(self) -> str | None:
        """That of the last event received."""
        return [message.mark for message in self.messages if isinstance(message, Events | Snapshot)][-1]

    @property
    def event_tags(self) -> list[str]:
        """What happened, as far as it was told."""
        decode: Callable[[msgspec.Raw], Any] = codec_of(DUEL, ROOM_EVENTS).event
        return [str(decode(raw).__struct_config__.tag) for events in self.all(Events) for raw in events.events]

    @property
    def notices(self) -> list[str]:
        return [notice.code for notice in self.all(Notice)]


class Person:
    """Somebody with a connection: what a session does, without a socket."""

    def __init__(self, house: House, name: str) -> None:
        self.house = house
        self.name = name
        self.client = Client(name)
        self.outbox = Remembering()
        self.host: RoomHost | None = None
        self.viewer: Viewer | None = None
        self.place: Place | None = None

    async def create(self, command: Create | None = None, **options: str | int) -> str:
        """Open a room of Duel; the answer's code."""
        command = command or Create(id=self.client.id(), game="duel", name=self.name, options=options)
        created = await self.house.hall.create(command, self.outbox)
        if isinstance(created, Refuse):
            return str(created.code)
        return self._settle(*created)

    async def join(self, code: str, seat: int | None = None) -> str:
        return await self._enter(code, Join(id=self.client.id(), code=code, name=self.name, seat=seat))

    async def watch(self, code: str) -> str:
        return await self._enter(code, Watch(id=self.client.id(), code=code))

    async def resume(self, other: Person, after: int = 0, mark: str | None = None) -> str:
        """Take up the seat that ``other`` held."""
        assert other.place is not None
        assert other.place.token is not None
        command = Resume(id=self.client.id(), room=other.place.room, token=other.place.token, after=after, mark=mark)
        host = await self.house.hall.room(other.place.room)
        return self._settle(host, await host.submit(command, None, self.outbox))

    async def do(self, command: RoomCommand) -> str:
        assert self.host is not None
        return self._settle(self.host, await self.host.submit(command, self.viewer, self.outbox))

    async def start(self, level: str = "easy") -> str:
        return await self.do(Start(id=self.client.id(), level=level))

    async def contribute(self) -> str:
        return await self.do(Contribute(id=self.client.id(), value="ab" * 32))

    async def act(self, action: str | None = None) -> str:
        """Answer the last ``turn``."""
        turn = self.turns[-1]
        return await self.do(Act(id=self.client.id(), action=action or turn.legal[0], at=turn.at))

    async def vanish(self) -> None:
        """Lose the connection."""
        assert self.host is not None
        assert self.viewer is not None
        await self.host.lost(self.viewer)

    @property
    def answers(self) -> list[Accepted | RefusedMessage]:
        return [each for each in self.outbox.messages if isinstance(each, Accepted | RefusedMessage)]

    @property
    def turns(self) -> list[Turn]:
        return self.outbox.all(Turn)

    @property
    def snapshots(self) -> list[Snapshot]:
        return self.outbox.all(Snapshot)

    @property
    def room(self) -> Room:
        assert self.host is not None
        return self.host.room

    async def _enter(self, code: str, command: Join | Watch) -> str:
        host = await self.house.hall.find(code)
        assert host is not None, f"no room {code}"
        return self._settle(host, await host.submit(command, None, self.outbox))

    def _settle(self, host: RoomHost, outcome: Outcome) -> str:
        self.host, self.viewer = host, outcome.viewer
        if outcome.answer is not None:
            answer = decode_message(outcome.answer.payload)
            assert isinstance(answer, Accepted)
            self.place = answer.place
        return outcome.code


class Instant:
    """Answers for AI seats at once, on the spot; or as the test says."""

    def __init__(self) -> None:
        self.asked: list[Question] = []
        self.answer: Callable[[Question], str] = self._choose

    async def think(self, question: Question) -> Answer:
        self.asked.append(question)
        await asyncio.sleep(0)
        return Answer(len(self.asked), self.answer(question))

    def _choose(self, question: Question) -> str:
        game = GAMES[question.game]
        view = codec_of(game).view(question.view)
        legal = [game.parse(text) for text in question.legal]
        return game.text(game.choose(view, legal, Random(question.seed), Budget(Level(question.level))))


class Timer:
    """See ``server.warning.Timer``."""

    def __init__(self, at: float, do: Callable[[], None]) -> None:
        self.at = at
        self.do = do
        self.off = False

    def cancel(self) -> None:
        self.off = True


class Timers:
    """``server.warning.Later`` by a clock held in hand."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._timers: list[Timer] = []

    def later(self, seconds: float, do: Callable[[], None]) -> Timer:
        self._timers.append(Timer(self._clock() + seconds * 1000, do))
        return self._timers[-1]

    @property
    def waiting(self) -> list[Timer]:
        return [timer for timer in self._timers if not timer.off]

    def ring(self) -> None:
        """Let what is due by the clock happen."""
        for timer in self.waiting:
            if timer.at <= self._clock():
                timer.off = True
                timer.do()


class House:
    """One node: its hall, driver and keeper. Several may share a log, an index and a clock."""

    def __init__(
        self, name: str = "n1", *, beside: House | None = None, log: RoomLog | None = None, games: Games | None = None
    ) -> None:
        """``games`` are those of Duel unless given."""
        self.clock: Clock = beside.clock if beside else Clock()
        self.steady: Steady = beside.steady if beside else Steady()
        self.memory: MemoryLog = beside.memory if beside else MemoryLog()
        self.index: MemoryIndex = beside.index if beside else MemoryIndex(self.clock)
        self.metrics = Metrics()
        presence = Presence(self.index, name, self.steady)
        self.timers = Timers(self.clock)
        self.node = Node(
            name,
            log or self.memory,
            GAMES if games is None else games,
            self.clock,
            Dice(name),
            self.metrics,
            presence,
            self.timers.later,
        )
        self.hall = Hall(self.node, self.index, TIMING)
        self.health = Health(lambda: self.clock() / 1000)
        self.thinker = Instant()
        self.slept: list[float] = []
        self.driver = Driver(
            *(self.hall, self.index, self.thinker),
            secret=b"s" * 32,
            pause_ms=0,
            forget_seconds=60,
            sleep=self._sleep,
        )
        self.keeper = Keeper(
            self.index,
            self.node.log,
            drives=self.driver.drives,
            holds=self.hall.hosts.__contains__,
            forget_seconds=60,
            metrics=self.metrics,
        )
        self.hall.observers += [self.driver, self.keeper]

    def person(self, name: str) -> Person:
        return Person(self, name)

    async def close(self) -> None:
        await self.driver.stop()
        await self.hall.close()

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)

    def counted(self, name: str, **labels: str) -> float:
        """What a metric says."""
        return self.metrics.registry.get_sample_value(name, labels) or 0.0


async def until(holds: Callable[[], bool]) -> None:
    """Give everybody else turns until ``holds``."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():  # noqa: ASYNC110 - what is waited for is a state of several tasks, not one event
            await asyncio.sleep(0)


async def silence(house: House) -> None:
    """Let the node hear of no other for so long that those are gone."""
    until_ms = house.clock.now + BEAT_TTL_MS + int((GONE_SECONDS + BEAT_SECONDS) * 1000)
    while house.clock.now < until_ms:
        house.clock.now += int(BEAT_SECONDS * 1000)
        house.steady.ahead += BEAT_SECONDS
        await house.driver.beat()
        await house.driver.heal()


async def table(house: House, *, guest_at: House | None = None) -> tuple[Person, Person]:
    """Ann, who hosts, and Bob; the match has been opened and dealt, and both are asked."""
    ann, bob = house.person("Ann"), (guest_at or house).person("Bob")
    await ann.create()
    assert await bob.join(ann.room.code) == "accepted"
    await until(lambda: ann.room.version == bob.room.version)
    await ann.start()
    await until(lambda: ann.room.version == bob.room.version)
    await ann.contribute()
    await until(lambda: ann.room.version == bob.room.version)
    await bob.contribute()
    await until(lambda: ann.room.version == bob.room.version)
    assert ann.host is not None
    await ann.host.fire()
    await until(lambda: ann.room.version == bob.room.version)
    assert ann.room.phase == "playing"
    return ann, bob


def bodies(house: House, room: str) -> list[object]:
    return [decode_entry(stored.data).body for stored in house.memory.entries[room]]
