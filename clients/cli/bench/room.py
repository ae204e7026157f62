"""A table at which nobody thinks: every seat is a connection, and plays any legal move as soon as it is due."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

import msgspec
from msgspec import Struct

from clients.cli.bench.figures import Schedule
from clients.cli.bench.line import Line
from engine.match import MATCH_EVENTS, REDEAL
from protocol.codec import encode
from protocol.events import ROOM_EVENTS
from protocol.messages import Act, Command, Contribute, Create, Join, Leave, Look, Ready, Rematch, Resume, Start

_LOOK_AGAIN_SECONDS: Final = 1.0
"""After a refusal: a server that says "too fast" means it."""
_NOT_OF_THE_GAME: Final = frozenset(str(kind.__struct_config__.tag) for kind in (*ROOM_EVENTS, *MATCH_EVENTS))


class CannotOpen(Exception):
    """A command that opens a room was refused; the message is its code."""


class _Place(Struct):
    room: str
    code: str
    token: str | None = None


class _Happened(Struct):
    e: str
    reason: str = ""


class _Told(Struct):
    """What matters here of any message; the rest is not read."""

    t: str
    id: str | None = None
    first: int = 0
    events: tuple[_Happened, ...] = ()
    at: int | None = None
    legal: tuple[str, ...] = ()
    sealed: bool = False
    code: str = ""
    place: _Place | None = None


_decoder: Final = msgspec.json.Decoder(_Told)


class Tally:
    """What all rooms of a load have counted."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock = clock
        """Seconds."""
        self.running = False
        """Whether moves are made."""
        self.ended: list[float] = []
        """When each move had reached every seat."""
        self.took: list[float] = []
        """Seconds from when it was due until then."""
        self.answers = 0
        """Sealed answers: they are no moves, nobody is sent them."""
        self.ai_moves = 0
        self.ai_has_moved = asyncio.Event()
        self.refused: Counter[str] = Counter()
        self.lost: Counter[int | None] = Counter()
        """Connections that have ended by themselves, by close code."""


class Player:
    """Who holds a seat: a connection and the commands sent over it."""

    line: Line

    def __init__(self, line: Line, rng: Random) -> None:
        self.rng = rng
        self.room: Room | None = None
        self.number = 0
        """Of the last event seen."""
        self.last_act = ""
        """The id of the last move sent."""
        self._session = secrets.token_urlsafe(12)
        self._count = 0
        self._asked: dict[str, asyncio.Future[_Told]] = {}
        self._place: _Place | None = None
        self._take_over(line)

    async def sit_down(self, kind: type[Create | Join | Resume], **fields: Any) -> str:
        """Take a seat; the room's code. Raises as ``ask``."""
        self._place = (await self.ask(kind, **fields)).place
        assert self._place is not None, f"{kind.__name__} is answered with a place"
        return self._place.code

    async def come_back(self, line: Line) -> None:
        """Take one's seat again on a new connection. Raises as ``ask``."""
        assert self._place is not None, "who comes back has been there"
        self.line.abort()
        self._take_over(line)
        await self.sit_down(Resume, room=self._place.room, token=self._place.token, after=self.number)

    def command(self, kind: type[Command], **fields: Any) -> str:
        """Send a command; its id."""
        self._count += 1
        name = f"{self._session}.{self._count}"
        self.line.send(encode(kind(id=name, **fields)))
        return name

    def act(self, turn: _Told) -> None:
        """Answer a turn with any legal action."""
        self.last_act = self.command(Act, action=self.rng.choice(turn.legal), at=turn.at)

    async def ask(self, kind: type[Command], **fields: Any) -> _Told:
        """Send a command and wait until it is done.

        Raises:
            CannotOpen: it was refused.
        """
        answer: asyncio.Future[_Told] = asyncio.get_running_loop().create_future()
        self._asked[self.command(kind, **fields)] = answer
        told = await answer
        if told.t == "refused":
            raise CannotOpen(told.code)
        return told

    def _take_over(self, line: Line) -> None:
        self.line = line
        line.take = self._take
        line.lost = self._lost

    def _take(self, frame: bytes) -> None:
        told = _decoder.decode(frame)
        room = self.room
        match told.t:
            case "events" if room is not None:
                self.number = told.first + len(told.events) - 1
                room.happened(self, told)
            case "turn" if room is not None:
                room.asked(self, told)
            case "accepted" | "refused":
                answer = self._asked.pop(told.id or "", None)
                if answer is not None and not answer.done():
                    answer.set_result(told)
                elif told.t == "refused" and room is not None:
                    room.refused(self, told)
            case _:
                pass

    def _lost(self, code: int | None) -> None:
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(ConnectionResetError())
        if self.room is not None:
            self.room.tally.lost[code] += 1


class _Flying:
    """A move on its way."""

    __slots__ = ("missing", "start")

    def __init__(self, start: float, missing: int) -> None:
        self.start = start
        self.missing = missing
        """Seats that do not have it yet."""


class Room:
    """One room of a load. ``idle``: dealt, and nobody ever moves."""

    def __init__(self, players: Sequence[Player], tally: Tally, *, idle: bool = False) -> None:
        self.players = players
        self.tally = tally
        self.idle = idle
        self.dealt: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done at the first turn."""
        self.schedule: Schedule | None = None
        """None: the next move is due as soon as it can be made."""
        self._turn: tuple[Player, _Told, float] | None = None
        """Who is to move, and since when they know it."""
        self._flying: dict[int, _Flying] = {}
        """By the number of the first event that the move makes."""
        self._timer: asyncio.TimerHandle | None = None

    async def open(self, game: str, options: dict[str, str | int]) -> None:
        """Open the room, sit down in it and begin a match; AI take the seats that are left.

        Raises:
            CannotOpen: the server does not want it.
            ConnectionResetError: a connection has ended.
        """
        host, *others = self.players
        for player in self.players:
            player.room = self
        code = await host.sit_down(Create, game=game, name="bench", options=options)
        for player in others:
            await player.sit_down(Join, code=code, name="bench")
        host.command(Start)
        await self.dealt

    async def leave(self) -> None:
        """Everybody goes. Raises as ``open``."""
        for player in self.players:
            await player.ask(Leave)

    @property
    def in_flight(self) -> bool:
        """Whether a move has not reached every seat yet."""
        return bool(self._flying)

    def start(self, first: float | None, interval: float) -> None:
        """Begin to move: every ``interval`` seconds from ``first``, or as fast as the server allows."""
        self.schedule = None if first is None else Schedule(first, interval)
        self._move_when_due()

    def stop(self) -> None:
        """Make no more moves."""
        if self._timer is not None:
            self._timer.cancel()

    def waiting(self, end: float) -> list[float]:
        """When the moves were due that have not reached every seat, or have not been made, before ``end``."""
        late = [move.start for move in self._flying.values() if move.start < end]
        return late if self.schedule is None else late + self.schedule.missed(end)

    def happened(self, player: Player, told: _Told) -> None:
        """A seat is told what has happened."""
        move = self._flying.get(told.first)
        if move is not None:
            move.missing -= 1
            if not move.missing:
                del self._flying[told.first]
                now = self.tally.clock()
                self.tally.ended.append(now)
                self.tally.took.append(now - move.start)
        elif player is self.players[0] and told.events[0].e not in _NOT_OF_THE_GAME:
            self.tally.ai_moves += 1
            self.tally.ai_has_moved.set()
        kinds = [event.e for event in told.events]
        if "match-opened" in kinds:
            player.command(Contribute, value=secrets.token_hex(32))
        if "match-ended" in kinds:
            self._pause()
            if player is self.players[0]:
                player.command(Rematch)
                player.command(Start)
        elif "deal-ended" in kinds:
            self._pause()
            if all(event.reason != REDEAL for event in told.events):  # that one comes by itself
                player.command(Ready)
        elif "question-opened" in kinds:
            self._pause()

    def asked(self, player: Player, told: _Told) -> None:
        """A seat is to move."""
        if not self.dealt.done():
            self.dealt.set_result(None)
        if self.idle:
            return
        if told.sealed:
            self.tally.answers += 1
            player.act(told)
            return
        now = self.tally.clock()
        if self.schedule is not None:
            self.schedule.go_on(now)
        self._turn = (player, told, now)
        self._move_when_due()

    def refused(self, player: Player, told: _Told) -> None:
        """A command was not done. If it was a move, look where the room stands, in a moment: with the turn, if it is
        still open, it comes again.
        """
        self.tally.refused[told.code] += 1
        if told.id != player.last_act:
            return
        asyncio.get_running_loop().call_later(_LOOK_AGAIN_SECONDS, player.command, Look)

    def _pause(self) -> None:
        if self.schedule is not None:
            self.schedule.pause(self.tally.clock())

    def _move_when_due(self) -> None:
        if self._turn is None or not self.tally.running:
            return
        if self.schedule is not None:
            wait = self.schedule.due - self.tally.clock()
            if wait > 0:
                self._timer = asyncio.get_running_loop().call_later(wait, self._move_when_due)
                return
        player, told, since = self._turn
        self._turn = None
        now = self.tally.clock()
        start = now
        if self.schedule is not None:
            due = self.schedule.take()
            # Late because of the server: it counts from when it was due. Late because our own timer was: that is no
            # fault of the server's; a load whose timers are late is discarded.
            start = due if since > due else now
        assert told.at is not None
        self._flying[told.at + 1] = _Flying(start, len(self.players))
        player.act(told)
