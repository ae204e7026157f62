"""What a move costs, counted: appends, reads, frames, tasks, answers of the rules, writes. Nothing here is timed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, contextmanager
from random import Random
from types import SimpleNamespace
from typing import Any, Self, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.asyncio.connection import AbstractConnection
from websockets.asyncio.server import ServerConnection
from websockets.frames import Frame, Opcode
from websockets.protocol import State

from engine.game import AnyGame, Seat
from engine.registry import GAMES
from protocol.codes import Close, Notified
from protocol.messages import Create, Notice
from server.log import Head, Stored
from server.metrics import Metrics
from server.outbox import Encoded, SocketOutbox, encoded, framed
from server.room import Phase
from server.store.line import Line
from tests.server import hallkit
from tests.server.hallkit import House, Person
from tests.server.memory import MemoryLog

MOVES = 25


class Counting(MemoryLog):
    """A log that counts how often it is asked, and wakes its watchers before it answers an append, as a store may."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()

    async def append(self, room: str, head: Head, data: bytes) -> Head:
        self.asked["append"] += 1
        after = await super().append(room, head, data)
        for _ in range(3):
            await asyncio.sleep(0)
        return after

    async def read(self, room: str, after: int = 0) -> list[Stored]:
        self.asked["read"] += 1
        return await super().read(room, after)


class Asked:
    """A game that notes what it is asked."""

    def __init__(self, game: AnyGame) -> None:
        self._game = game
        self.legal: Counter[tuple[int, Seat]] = Counter()
        self.states: list[Any] = []
        """Kept, so that no two have the same identity."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def legal_at(self, state: Any, seat: Seat) -> Any:
        self.states.append(state)
        self.legal[id(state), seat] += 1
        return self._game.legal_at(state, seat)


class Table:
    """A whole table of persons at one node, and what they are asked."""

    def __init__(self, house: House, log: Counting, game: Asked) -> None:
        self.house = house
        self.log = log
        self.game = game
        self.persons: list[Person] = []
        self._rng = Random(7)

    async def sit_down(self) -> Self:
        for number in range(self.game.seats):
            person = self.house.person(f"person-{number}")
            self.persons.append(person)
            if number:
                await person.join(self.persons[0].room.code, seat=number)
            else:
                options = {"deals": max(self.game.options["deals"])}
                command = Create(id=person.client.id(), game=self.game.name, name=person.name, options=options)
                await person.create(command)
        await self.persons[0].start()
        for person in self.persons:
            await person.contribute()
        await self.go_on()
        return self

    async def go_on(self) -> None:
        """Until somebody is asked, and nobody in secret."""
        while self.asked is None:
            room = self.persons[0].room
            assert room.phase is not Phase.FINISHED, "the match is too short"
            self.house.clock.now += 600_000
            assert self.persons[0].host is not None
            await self.persons[0].host.fire()

    @property
    def asked(self) -> Person | None:
        """Who is asked, if it is one person alone."""
        table = self.persons[0].room.table
        seats = table.decision.seats if table is not None and table.decision is not None else ()
        return self.persons[seats[0]] if len(seats) == 1 else None

    async def move(self) -> list[list[Encoded]]:
        """One move at random; what each person was sent for it."""
        person = self.asked
        assert person is not None
        had = [len(person.outbox.sent) for person in self.persons]
        assert await person.act(self._rng.choice(person.turns[-1].legal)) == "accepted"
        return [each.outbox.sent[count:] for each, count in zip(self.persons, had, strict=True)]


@asynccontextmanager
async def table(name: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Table]:
    log, game = Counting(), Asked(GAMES[name])
    monkeypatch.setattr(hallkit, "GAMES", {name: game})
    house = House(log=log)
    await house.driver.beat()
    try:
        yield await Table(house, log, game).sit_down()
    finally:
        await house.close()


@contextmanager
def tasks_counted() -> Any:
    """The tasks that are made meanwhile."""
    loop, made = asyncio.get_running_loop(), list[str]()

    def make(loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any], **options: Any) -> asyncio.Task[Any]:
        made.append(str(coro))
        return asyncio.Task(coro, loop=loop, **options)

    loop.set_task_factory(cast("Any", make))
    try:
        yield made
    finally:
        loop.set_task_factory(None)


@pytest.mark.parametrize("name", GAMES)
async def test_a_move_is_one_append_and_no_read_and_starts_no_task(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with table(name, monkeypatch) as at:
        for _ in range(MOVES):
            at.log.asked.clear()
            with tasks_counted() as made:
                await at.move()
                await asyncio.sleep(0)
            assert at.log.asked == {"append": 1}
            assert made == []
            await at.go_on()


@pytest.mark.parametrize("name", GAMES)
async def test_a_move_is_encoded_once_for_each_distinct_view_of_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with table(name, monkeypatch) as at:
        for _ in range(MOVES):
            before = at.house.counted("fudaza_frames_encoded_total")
            sent = [message for messages in await at.move() for message in messages]
            events = [message for message in sent if message.payload.startswith(b'{"t":"events"')]

            assert at.house.counted("fudaza_frames_encoded_total") - before == len(set(map(id, sent)))
            assert len(set(map(id, events))) == len({message.payload for message in events})
            assert len(events) == at.game.seats
            await at.go_on()


@pytest.mark.parametrize("name", GAMES)
async def test_what_is_legal_is_worked_out_once_for_each_state_and_seat(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with table(name, monkeypatch) as at:
        for _ in range(MOVES):
            await at.move()
            await at.go_on()
        assert len(at.game.legal) >= MOVES
        assert set(at.game.legal.values()) == {1}


# Writing -------------------------------------------------------------------------------------------------------------


class Transport:
    """Keeps what is written."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.protocol: asyncio.Protocol | None = None
        self.unread = 0
        self.aborted = False

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def get_write_buffer_size(self) -> int:
        return self.unread

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        self.aborted = True
        if self.protocol is not None:
            self.protocol.connection_lost(None)

    def set_protocol(self, protocol: asyncio.Protocol) -> None:
        self.protocol = protocol


class Socket:
    """As much of a WebSocket connection as an outbox knows."""

    def __init__(self) -> None:
        self.transport = Transport()
        self.protocol = SimpleNamespace(state=State.OPEN, extensions=[])
        self.send_in_progress = None
        self.loop = asyncio.get_running_loop()
        self.closed: list[tuple[int, list[bytes]]] = []
        """Codes, and what had been written before."""

    async def close(self, code: int, _reason: str) -> None:
        self.closed.append((code, list(self.transport.written)))
        self.protocol.state = State.CLOSED


def outbox_of(socket: Socket, metrics: Metrics, limit: int = 1_000) -> SocketOutbox:
    return SocketOutbox(cast("ServerConnection", socket), limit=limit, metrics=metrics)


def notices(*texts: str) -> list[Encoded]:
    return [encoded(Notice(code=Notified.ANNOUNCEMENT, params={"text": text}), Metrics()) for text in texts]


@given(st.binary(max_size=300) | st.integers(65_000, 66_000).map(bytes))
def test_a_frame_is_what_the_library_makes_of_it(payload: bytes) -> None:
    assert framed(payload) == bytes(Frame(Opcode.TEXT, payload).serialize(mask=False))


async def test_what_a_reader_is_sent_in_one_turn_is_written_at_once_in_order() -> None:
    socket, metrics = Socket(), Metrics()
    outbox = outbox_of(socket, metrics)
    one, two, three = notices("one", "two", "three")
    outbox.send(one)
    outbox.send(two)
    assert socket.transport.written == []

    await asyncio.sleep(0)
    outbox.send(three)
    await asyncio.sleep(0)

    assert socket.transport.written == [one.frame + two.frame, three.frame]
    assert metrics.registry.get_sample_value("fudaza_frames_written_total") == 3


async def test_a_connection_is_closed_after_what_it_was_sent_also_in_the_same_turn() -> None:
    socket = Socket()
    outbox = outbox_of(socket, Metrics())
    one, two = notices("one", "two")
    outbox.send(one)
    outbox.close(Close.IDLE)
    outbox.send(two)

    await outbox.closed()

    assert socket.closed == [(Close.IDLE, [one.frame + two.frame])]


async def test_who_leaves_too_much_unread_is_cut_off_counting_what_waits_to_be_written() -> None:
    socket, metrics = Socket(), Metrics()
    message = notices("x" * 100)[0]
    outbox = outbox_of(socket, metrics, limit=2 * len(message.frame))
    socket.transport.unread = len(message.frame)
    outbox.send(message)
    outbox.send(message)
    assert not socket.transport.aborted

    outbox.send(message)

    assert socket.transport.aborted
    assert metrics.registry.get_sample_value("fudaza_outbox_overflows_total") == 1
    await asyncio.sleep(0)
    assert socket.transport.written == [], "nothing is written to who was cut off"


async def test_what_the_store_is_asked_in_one_turn_is_written_at_once_and_answered_in_order() -> None:
    transport = Transport()

    async def connected() -> AbstractConnection:
        return cast("AbstractConnection", SimpleNamespace(_reader=None, _writer=SimpleNamespace(transport=transport)))

    line = Line(connected, timeout=60)
    first = line.call("PING")
    for _ in range(3):
        await asyncio.sleep(0)
    assert transport.protocol is not None
    transport.protocol.data_received(b"+PONG\r\n")
    assert await first == b"PONG"
    transport.written.clear()

    with tasks_counted() as made:
        replies = [line.call("ECHO", text) for text in ("one", "two", "three")]
        replies[1].cancel()
        await asyncio.sleep(0)
    transport.protocol.data_received(b"$3\r\none\r\n$3\r\ntwo\r\n")
    transport.protocol.data_received(b"$5\r\nthree\r\n")

    assert len(transport.written) == 1
    assert [await replies[0], await replies[2]] == [b"one", b"three"]
    assert made == []
    await line.aclose()
