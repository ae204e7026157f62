"""One connection, from its welcome to its end.

Belongs here: frames to commands, limits, which room and seat a connection is in, one answer for every command. Must not
be known here: what commands do, and who else is in the room. A connection's seat is what the room gave it; no message
names it.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple

import structlog
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from protocol import codec
from protocol.codes import Close, Refused
from protocol.messages import (
    Accepted,
    AnyCommand,
    Chat,
    Create,
    Join,
    ListRooms,
    RefusedMessage,
    Resume,
    ServerMessage,
    Watch,
    Wink,
)
from server import logs
from server.audience import Viewer
from server.door import address_of
from server.hall import Hall
from server.health import Health
from server.host import Outcome, RoomHost
from server.limits import Bucket, Buckets, Rate, Rates
from server.log import StoreFull, StoreUnavailable
from server.logs import CommandLine
from server.outbox import Encoded, SocketOutbox, encoded
from server.reading import RoomElsewhere, RoomGone
from server.room import Refuse
from server.settings import Settings

_GUESSES: Final = Rate(per_second=0.5, burst=30)
"""Wrong codes from one address, over all nodes: 2^30 codes take their guesser sixty years."""
_ALL_GUESSES: Final = Rate(per_second=50.0, burst=3_000)
"""Wrong codes from everywhere. Beyond it somebody guesses from many addresses …"""
_GUESS_WHILE_MANY_GUESS: Final = 10
"""… and each wrong code counts for so many; who comes with a right one is not hindered."""
_READING_PATIENCE: Final = 2.0
"""Seconds that a command waits at most for its turn to have a room read."""
_STRIKES: Final = 20
"""Malformed or too fast commands at once …"""
_STRIKES_PER_SECOND: Final = 0.2
"""… and in the long run, before the connection is closed."""

_log = structlog.get_logger()

_SEATING = (Create, Join, Watch, Resume)
"""The commands that bring a connection into a room."""


class _TooFast(Exception):
    """It can be done in so many ``seconds``."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Shared(NamedTuple):
    """What all sessions of a node work with."""

    hall: Hall
    health: Health
    settings: Settings
    welcome: Encoded
    frames: Buckets
    """By address. Of this node alone: what is protected is its processor."""
    readings: Buckets
    """Rooms that are read from their logs for an address: likewise of this node alone."""
    rates: Rates
    """Shared with all nodes on the same store; of this node alone where none are given."""
    openings: Rate
    """Rooms opened from one address, over all nodes."""
    talk: Rate
    """Lines, winks and newcomers from one address, over all nodes. A room measures each person; this measures who comes
    and goes, for a name is something said, too.
    """
    clock: Callable[[], float]
    """Seconds, for limits."""
    sleep: Callable[[float], Awaitable[None]]


class Session:
    """One connection, from its welcome to its end."""

    __slots__ = (
        *("_address", "_commands", "_draining", "_given_up", "_hall", "_metrics", "_name", "_outbox", "_place"),
        *("_seated_by", "_shared", "_strikes", "_task", "_working", "connection"),
    )

    def __init__(self, shared: Shared, connection: ServerConnection) -> None:
        self._shared = shared
        self._hall = shared.hall
        self._metrics = shared.hall.node.metrics
        self.connection = connection
        self._outbox = SocketOutbox(connection, limit=shared.settings.write_buffer, metrics=self._metrics)
        now = shared.clock()
        self._commands = Bucket(shared.settings.commands_per_second, shared.settings.command_burst, now)
        self._strikes = Bucket(_STRIKES_PER_SECOND, _STRIKES, now)
        self._address = address_of(connection, shared.settings.proxies)
        self._place: tuple[RoomHost, Viewer] | None = None
        self._seated_by: tuple[str, Encoded] | None = None
        """The command that brought the connection to its place, and the answer: for when it comes twice."""
        self._working = False
        self._draining = False
        self._given_up = False
        self._task: asyncio.Task[Any] | None = None
        self._name = secrets.token_hex(4)
        """What the log calls it."""

    @property
    def _log(self) -> Any:
        return _log.bind(session=self._name)

    async def run(self) -> None:
        """Welcome, then command after command until the connection ends; then tell the room."""
        self._task = asyncio.current_task()
        self._outbox.send(self._shared.welcome)
        try:
            while not self._outbox.closing:
                frame = await self._next_frame()
                held = await self._turn_of_address()
                if (held and self._outbox.gone) or self._outbox.closing:
                    break
                self._working = True
                await self._take(frame)
                self._working = False
                if self._draining:
                    self._outbox.close(Close.SERVICE_RESTART)
        except (ConnectionClosed, TimeoutError):
            pass
        finally:
            await self._outbox.closed()
            await self._lost()

    def _next_frame(self) -> Awaitable[str | bytes]:
        """The next frame. Who is in no room and says nothing is sent away (TimeoutError); a room has limits of its own,
        and closes the connections of those whom it sends away.
        """
        return self.connection.recv() if self._is_in_a_room() else self._frame_in_time()

    async def _frame_in_time(self) -> str | bytes:
        try:
            async with asyncio.timeout(self._shared.settings.idle_seconds):
                return await self.connection.recv()
        except TimeoutError:
            self._outbox.close(Close.IDLE)
            raise

    async def _turn_of_address(self) -> bool:
        """Wait until this address may be answered again; whether that took any time. Its connections wait with one
        frame each, so who floods slows their neighbours down and gets none of them refused; and a new connection gains
        nothing by being new. Who has gone meanwhile is not answered: sessions that outlived their sockets by a turn for
        each frame left unread would soon be more than the hall takes.
        """
        return await self._hold(self._shared.frames.reserve(self._address, self._shared.clock()))

    async def _hold(self, wait: float) -> bool:
        """Wait so many seconds; whether there were any."""
        if wait:
            self._metrics.held.inc()
            await self._shared.sleep(wait)
        return wait > 0

    def tell(self, notice: Encoded) -> None:
        """Send something that is no answer."""
        self._outbox.send(notice)

    def drain(self, notice: Encoded) -> None:
        """This node is about to stop: say so, and close once the command in work is answered."""
        self._draining = True
        self.tell(notice)
        if not self._working:
            self._outbox.close(Close.SERVICE_RESTART)

    def give_up(self) -> None:
        """This node has waited for long enough: what is in work has an unknown outcome."""
        self._given_up = True
        if self._task is not None:
            self._task.cancel()

    async def _take(self, frame: str | bytes) -> None:
        """Answer one frame: exactly once, whatever happens."""
        now = self._shared.clock()
        if isinstance(frame, bytes):
            self._strike(None, Refused.NOT_JSON, {}, now)
            return
        try:
            command = codec.decode_command(frame.encode())
        except codec.Malformed as problem:
            self._strike(problem.command_id, problem.code, problem.params, now)
            return
        wait = self._commands.take(now)
        if wait:
            self._strike(command.id, Refused.TOO_FAST, _retry_in(wait), now)
            return
        began = time.perf_counter()
        try:
            outcome = await self._do(command)
        except StoreUnavailable:
            outcome = self._refuse(command.id, Refused.STORE_UNAVAILABLE)
        except StoreFull:
            outcome = self._refuse(command.id, Refused.STORE_FULL)
        except RoomElsewhere:  # an upgrade rolls through, and will reach this node
            outcome = self._refuse(command.id, Refused.DRAINING)
            self._outbox.close(Close.SERVICE_RESTART)
        except RoomGone:
            self._place = None
            outcome = self._refuse(command.id, Refused.UNKNOWN_ROOM)
        except asyncio.CancelledError:
            if not self._given_up or self._task is None:
                raise
            self._task.uncancel()
            outcome = self._refuse(command.id, Refused.STORE_UNAVAILABLE)
        except Exception:  # noqa: BLE001 - whatever the fault is, it ends this command alone
            self._metrics.internal_errors.inc()
            self._log.exception("command-failed", command=_tag(command))
            outcome = self._refuse(command.id, Refused.INTERNAL)
        self._note(command, outcome, time.perf_counter() - began)

    async def _do(self, command: AnyCommand) -> str:
        """Do and answer ``command``; what became of it."""
        if self._shared.health.draining:
            return self._refuse(command.id, Refused.DRAINING)
        if isinstance(command, ListRooms):
            return await self._list(command)
        if isinstance(command, _SEATING):
            if not self._is_in_a_room():
                return await self._enter(command)
            if self._seated_by is not None and self._seated_by[0] == command.id:
                self._outbox.send(self._seated_by[1])
                return "accepted"
            return self._refuse(command.id, Refused.ALREADY_IN_A_ROOM)
        if not self._is_in_a_room():
            return self._refuse(command.id, Refused.NOT_IN_A_ROOM)
        assert self._place is not None
        if isinstance(command, Chat | Wink):
            wait = await self._talk()
            if wait:
                return self._too_fast(command, wait)
        host, viewer = self._place
        return self._settle(host, await host.submit(command, viewer, self._outbox))

    async def _list(self, command: ListRooms) -> str:
        games = self._hall.node.games
        if command.game is not None and command.game not in games:
            return self._refuse(command.id, Refused.UNKNOWN_GAME, {"game": command.game, "known": tuple(games)})
        self._send(Accepted(id=command.id, rooms=await self._hall.listed(command.game)))
        return "accepted"

    async def _enter(self, command: Create | Join | Watch | Resume) -> str:
        """Bring this connection into a room."""
        wait = await self._measure(command)
        if wait:
            return self._too_fast(command, wait)
        if isinstance(command, Create):
            created = await self._hall.create(command, self._outbox)
            if isinstance(created, Refuse):
                return self._refuse(command.id, created.code, created.params)
            return self._settle(*created, command)
        for _ in range(2):  # a room may be let go from memory just as it was found
            try:
                host = await self._find(command)
            except _TooFast as problem:
                await self._guessed(command, right=True)
                return self._too_fast(command, problem.seconds)
            if host is None:
                break
            await self._guessed(command, right=True)
            if isinstance(command, Join) and (wait := await self._talk()):
                return self._too_fast(command, wait)
            try:
                return self._settle(host, await host.submit(command, None, self._outbox), command)
            except RoomGone:
                continue
        if isinstance(command, Resume):  # nothing was read: who tries ids keeps no neighbour waiting
            self._shared.readings.give(self._address, 1, self._shared.clock())
        await self._guessed(command, right=False)
        return self._refuse(command.id, Refused.UNKNOWN_ROOM)

    async def _measure(self, command: Create | Join | Watch | Resume) -> float:
        """Take from the measure of this address: 0, or the seconds to wait. Who names a code pays for a wrong guess and
        has it back if it was right (``_guessed``): so guesses made all at once do not slip through.
        """
        rates = self._shared.rates
        match command:
            case Create():
                return await rates.take("create", self._address, self._shared.openings)
            case Resume():
                return 0.0  # nobody guesses 256 bits, and no guesser shall keep a neighbour from their seat
            case Join() | Watch():
                return await rates.take("guess", self._address, _GUESSES)

    async def _talk(self) -> float:
        """Take from what this address may say, and from the names it may bring: 0, or the seconds to wait."""
        return await self._shared.rates.take("talk", self._address, self._shared.talk)

    async def _guessed(self, command: Join | Watch | Resume, *, right: bool) -> None:
        """The code that ``command`` named led to a room, or to none."""
        if isinstance(command, Resume):
            return
        rates = self._shared.rates
        if right:
            with suppress(StoreUnavailable, StoreFull):  # what is not given back comes back by itself
                await rates.take("guess", self._address, _GUESSES, -1)
        elif await rates.take("guess", "everybody", _ALL_GUESSES):
            await rates.take("guess", self._address, _GUESSES, _GUESS_WHILE_MANY_GUESS - 1)

    async def _find(self, command: Join | Watch | Resume) -> RoomHost | None:
        if not isinstance(command, Resume):
            return await self._hall.find(command.code, before=self._turn_to_read)
        try:
            return await self._hall.room(command.room, before=self._turn_to_read)
        except RoomElsewhere:
            raise
        except RoomGone:
            return None

    async def _turn_to_read(self) -> None:
        """Wait until one more room may be read for this address. Those in memory need none: nobody is kept from a seat
        at a table where people are.

        Raises:
            _TooFast: it would take too long. Otherwise connections that have gone would wait here in any number.
        """
        readings, now = self._shared.readings, self._shared.clock()
        wait = readings.reserve(self._address, now)
        if wait > _READING_PATIENCE:
            readings.give(self._address, 1, now)
            raise _TooFast(wait)
        await self._hold(wait)

    def _is_in_a_room(self) -> bool:
        """Whether this connection still is where it was: the room may have closed, or sent it away."""
        if self._place is not None and self._place[1] not in self._place[0].audience.viewers:
            self._place = None
        return self._place is not None

    def _settle(self, host: RoomHost, outcome: Outcome, command: AnyCommand | None = None) -> str:
        """Note where the connection is after a command; ``command`` if it was to bring it there."""
        self._place = None if outcome.viewer is None else (host, outcome.viewer)
        if command is not None and outcome.answer is not None:
            self._seated_by = command.id, outcome.answer
        return outcome.code

    async def _lost(self) -> None:
        """The connection is gone."""
        if self._place is None or self._given_up:
            return  # what could not be told before this node ends, others find out
        host, viewer = self._place
        try:
            await host.lost(viewer)
        except (StoreUnavailable, StoreFull, RoomGone) as problem:
            self._log.info("loss-not-reported", room=host.room.id, problem=str(problem))  # ``reconcile`` will
        except Exception:  # noqa: BLE001 - there is nobody left to answer
            self._metrics.internal_errors.inc()
            self._log.exception("loss-failed", room=host.room.id)

    # Answers --------------------------------------------------------------------------------------------------

    def _send(self, message: ServerMessage) -> None:
        self._outbox.send(encoded(message, self._metrics))

    def _refuse(
        self, command_id: str | None, code: str, params: dict[str, str | int | tuple[str, ...]] | None = None
    ) -> str:
        self._send(RefusedMessage(id=command_id, code=code, params=params or {}))
        return str(code)

    def _too_fast(self, command: AnyCommand, wait: float) -> str:
        return self._refuse(command.id, Refused.TOO_FAST, _retry_in(wait))

    def _strike(
        self, command_id: str | None, code: Refused, params: dict[str, str | int | tuple[str, ...]], now: float
    ) -> None:
        """Refuse a frame that should not have been sent; too many of them end the connection."""
        self._refuse(command_id, code, params)
        self._metrics.strikes.inc()
        self._metrics.command("frame", code.value)
        if self._strikes.take(now):
            self._log.info("too-many-strikes", code=code.value)
            self._outbox.close(Close.TOO_MANY_STRIKES)

    def _note(self, command: AnyCommand, outcome: str, seconds: float) -> None:
        """The command's line in the log: what an operator needs, and nothing that could be held against a player."""
        self._metrics.command(_tag(command), outcome)
        place = self._place
        logs.note_command(
            CommandLine(
                session=self._name,
                command=_tag(command),
                outcome=outcome,
                ms=round(seconds * 1000, 2),
                room=None if place is None else place[0].room.id,
                seat=None if place is None else place[1].seat,
            )
        )


def _retry_in(seconds: float) -> dict[str, str | int | tuple[str, ...]]:
    """The parameters of ``too-fast``: never a moment too early."""
    return {"retry_ms": int(seconds * 1000) + 1}


def _tag(command: AnyCommand) -> str:
    return str(command.__struct_config__.tag)
