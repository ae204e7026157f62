"""Sockets and sessions: a connection's way in and out.

Belongs here: the handshake, frames to commands, limits, which room and seat a connection is in, one answer for every
command. Must not be known here: what commands do, and who else is in the room. A connection's seat is what the room
gave it; no message names it.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import structlog
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed, NegotiationError
from websockets.http11 import Request, Response
from websockets.typing import Origin, Subprotocol

from engine.game import AnyGame
from protocol import codec
from protocol.codes import Close, Notified, Refused
from protocol.limits import MAX_COMMAND_BYTES, SUBPROTOCOL, VERSION
from protocol.messages import (
    Accepted,
    AnyCommand,
    Chat,
    Create,
    GameInfo,
    Join,
    ListRooms,
    Notice,
    RefusedMessage,
    Resume,
    ServerMessage,
    Watch,
    Welcome,
    Wink,
)
from server import logs
from server.audience import Viewer
from server.door import Door, GuardedConnection, address_in, network_of
from server.hall import Hall
from server.health import Health
from server.host import Outcome, RoomHost
from server.limits import Bucket, Buckets, LocalRates, Rate, Rates
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
_STRIKES: Final = 20
"""Malformed or too fast commands at once …"""
_STRIKES_PER_SECOND: Final = 0.2
"""… and in the long run, before the connection is closed."""
_CLOSE_SECONDS: Final = 2.0
_DRAIN_SECONDS: Final = 10.0
"""How long a node that ends waits for answers to what is in work, which a silent store can keep back."""
_FRAMES_WAITING: Final = 8
"""Frames read ahead of the command in work; then TCP holds the sender back."""
_BACKLOG: Final = 4_096
"""Connections that the kernel keeps until we take them. All clients of a node that has ended come at once, and whoever
the kernel drops tries again only after a second, then after two more.
"""
_RETRY_AFTER_SECONDS: Final = "5"

_log = structlog.get_logger()

_SEATING = (Create, Join, Watch, Resume)
"""The commands that bring a connection into a room."""


class Gateway:
    """Takes connections and gives each a session."""

    def __init__(
        self,
        hall: Hall,
        health: Health,
        settings: Settings,
        *,
        version: str,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        rates: Rates | None = None,
    ) -> None:
        self.hall = hall
        self.health = health
        self.settings = settings
        self.metrics = hall.node.metrics
        self.clock = clock
        """Seconds, for limits."""
        self.sleep = sleep
        self.sessions: set[Session] = set()
        self.empty = asyncio.Event()
        """Set while nobody is connected."""
        self.empty.set()
        self.occupied = asyncio.Event()
        """Set while somebody is."""
        self.rates = rates or LocalRates(clock)
        """Shared with all nodes on the same store; of this node alone where none are given."""
        self.openings = Rate(settings.rooms_per_minute / 60, max(1, int(settings.rooms_per_minute)))
        self.talk = Rate(settings.talk_per_minute / 60, max(1, int(settings.talk_per_minute / 2)))
        """Lines, winks and newcomers from one address, over all nodes. A room measures each person; this measures who
        comes and goes, for a name is something said, too.
        """
        worth = settings.commands_per_address
        self.frames = Buckets(settings.commands_per_second * worth, settings.command_burst * worth)
        """By address. Of this node alone: what is protected is its processor."""
        self.door = Door(settings, self.metrics, clock)
        games = tuple(map(_info, hall.node.games.values()))
        self.welcome = encoded(Welcome(server=version, protocol=VERSION, games=games), self.metrics)
        self._server: Server | None = None

    async def listen(self, host: str, port: int) -> int:
        """Take connections from now on; the port, where any free one was asked for.

        Raises:
            OSError: the port is in use, or the address is none of this machine's.
        """
        origins: list[Any] = [*map(Origin, self.settings.origins), None]  # None: clients that are no browsers
        self._server = await serve(
            self._connected,
            host,
            port,
            origins=origins,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            select_subprotocol=_select_subprotocol,
            compression=None,  # sizes would tell secrets, and fan-out would cost three times as much
            process_request=self._request,
            server_header=None,
            create_connection=partial(GuardedConnection, self.door),  # type: ignore[arg-type]  # a factory is one too
            open_timeout=self.settings.handshake_seconds,
            ping_interval=self.settings.ping_seconds,
            ping_timeout=self.settings.ping_seconds,
            close_timeout=_CLOSE_SECONDS,
            max_size=MAX_COMMAND_BYTES,
            max_queue=_FRAMES_WAITING,
            backlog=_BACKLOG,
        )
        return int(self._server.sockets[0].getsockname()[1])

    def announce(self, text: str) -> None:
        """What the operator says, to everybody who is connected."""
        notice = encoded(Notice(code=Notified.ANNOUNCEMENT, params={"text": text}), self.metrics)
        for session in tuple(self.sessions):
            session.tell(notice)

    async def drain(self) -> None:
        """Take no more connections, tell everybody to come again elsewhere, and wait until all have gone."""
        self.health.draining = True
        if self._server is None:
            return
        self._server.close(close_connections=False)
        notice = encoded(Notice(code=Notified.DRAINING), self.metrics)
        for session in tuple(self.sessions):
            session.drain(notice)
        try:
            async with asyncio.timeout(_DRAIN_SECONDS):
                await self._server.wait_closed()
        except TimeoutError:
            _log.warning("drain-given-up", connections=len(self.sessions))
            for session in tuple(self.sessions):
                session.give_up()
            await self._server.wait_closed()

    def _request(self, connection: ServerConnection, request: Request) -> Response | None:
        """Answer what is no WebSocket handshake, and handshakes that cannot be taken now."""
        path = request.path.partition("?")[0]
        if request.method not in {"GET", "HEAD"}:
            response = connection.respond(HTTPStatus.METHOD_NOT_ALLOWED, "GET and HEAD are answered here.\n")
            response.headers["Allow"] = "GET, HEAD"
        elif path != "/":
            response = connection.respond(*self.health.http(path))
        elif self.health.draining or len(self.sessions) >= self.settings.max_connections:
            why = Refused.DRAINING if self.health.draining else Refused.HALL_FULL
            response = connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, f"{why.value}\n")
            response.headers["Retry-After"] = _RETRY_AFTER_SECONDS
        elif not self._counted(connection):
            self.metrics.turned_away.inc()
            response = connection.respond(HTTPStatus.TOO_MANY_REQUESTS, f"{Refused.TOO_FAST.value}\n")
            response.headers["Retry-After"] = _RETRY_AFTER_SECONDS
        else:
            return None
        if request.method == "HEAD":
            response.body = b""
        return response

    def _counted(self, connection: ServerConnection) -> bool:
        """Whether the client whom a proxy brings may have another connection; who comes directly was counted before."""
        assert isinstance(connection, GuardedConnection)
        peer = str(connection.remote_address[0]) if connection.remote_address else ""
        proxies = self.settings.proxies
        return peer not in proxies or connection.is_from(address_of(connection, proxies))

    async def _connected(self, connection: ServerConnection) -> None:
        session = Session(self, connection)
        assert isinstance(connection, GuardedConnection)
        connection.forget_handshake()
        self.sessions.add(session)
        self._count()
        try:
            await session.run()
        finally:
            self.sessions.discard(session)
            self._count()

    def _count(self) -> None:
        self.metrics.connections.set(len(self.sessions))
        now, before = (self.occupied, self.empty) if self.sessions else (self.empty, self.occupied)
        before.clear()
        now.set()


class Session:
    """One connection, from its welcome to its end."""

    __slots__ = (
        *("_address", "_commands", "_draining", "_gateway", "_given_up", "_hall", "_metrics", "_name", "_outbox"),
        *("_place", "_seated_by", "_strikes", "_task", "_working", "connection"),
    )

    def __init__(self, gateway: Gateway, connection: ServerConnection) -> None:
        self._gateway = gateway
        self._hall = gateway.hall
        self._metrics = gateway.metrics
        self.connection = connection
        self._outbox = SocketOutbox(connection, limit=gateway.settings.write_buffer, metrics=gateway.metrics)
        now = gateway.clock()
        self._commands = Bucket(gateway.settings.commands_per_second, gateway.settings.command_burst, now)
        self._strikes = Bucket(_STRIKES_PER_SECOND, _STRIKES, now)
        self._address = address_of(connection, gateway.settings.proxies)
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
        self._outbox.send(self._gateway.welcome)
        try:
            while not self._outbox.closing:
                frame = await self._next_frame()
                await self._turn_of_address()
                if self._outbox.closing:
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
            async with asyncio.timeout(self._gateway.settings.idle_seconds):
                return await self.connection.recv()
        except TimeoutError:
            self._outbox.close(Close.IDLE)
            raise

    async def _turn_of_address(self) -> None:
        """Wait until this address may be answered again. Its connections wait with one frame each, so who floods slows
        their neighbours down and gets none of them refused; and a new connection gains nothing by being new.
        """
        wait = self._gateway.frames.reserve(self._address, self._gateway.clock())
        if wait:
            self._metrics.held.inc()
            await self._gateway.sleep(wait)

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
        now = self._gateway.clock()
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
            self._strike(command.id, Refused.TOO_FAST, {"retry_ms": int(wait * 1000) + 1}, now)
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
        if self._gateway.health.draining:
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
            host = await self._find(command)
            if host is None:
                break
            if isinstance(command, Join) and (wait := await self._talk()):
                await self._guessed(command, right=True)
                return self._too_fast(command, wait)
            try:
                outcome = await host.submit(command, None, self._outbox)
            except RoomGone:
                continue
            settled = self._settle(host, outcome, command)
            await self._guessed(command, right=True)
            return settled
        await self._guessed(command, right=False)
        return self._refuse(command.id, Refused.UNKNOWN_ROOM)

    async def _measure(self, command: Create | Join | Watch | Resume) -> float:
        """Take from the measure of this address: 0, or the seconds to wait. Who names a code pays for a wrong guess and
        has it back if it was right (``_guessed``): so guesses made all at once do not slip through.
        """
        rates = self._gateway.rates
        match command:
            case Create():
                return await rates.take("create", self._address, self._gateway.openings)
            case Resume():
                return 0.0  # nobody guesses 256 bits, and no guesser shall keep a neighbour from their seat
            case Join() | Watch():
                return await rates.take("guess", self._address, _GUESSES)

    async def _talk(self) -> float:
        """Take from what this address may say, and from the names it may bring: 0, or the seconds to wait."""
        return await self._gateway.rates.take("talk", self._address, self._gateway.talk)

    async def _guessed(self, command: Join | Watch | Resume, *, right: bool) -> None:
        """The code that ``command`` named led to a room, or to none."""
        if isinstance(command, Resume):
            return
        rates = self._gateway.rates
        if right:
            with suppress(StoreUnavailable, StoreFull):  # answered already; what is not given back comes back by itself
                await rates.take("guess", self._address, _GUESSES, -1)
        elif await rates.take("guess", "everybody", _ALL_GUESSES):
            await rates.take("guess", self._address, _GUESSES, _GUESS_WHILE_MANY_GUESS - 1)

    async def _find(self, command: Join | Watch | Resume) -> RoomHost | None:
        if not isinstance(command, Resume):
            return await self._hall.find(command.code)
        try:
            return await self._hall.room(command.room)
        except RoomElsewhere:
            raise
        except RoomGone:
            return None

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
        return self._refuse(command.id, Refused.TOO_FAST, {"retry_ms": int(wait * 1000) + 1})

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


def address_of(connection: ServerConnection, proxies: Sequence[str]) -> str:
    """Who the limits of addresses are for: the peer, or whom a trusted proxy names; of IPv6 the first 64 bits. Where it
    names what is no address, the proxy itself: whoever could write anything there would have a new one each time.
    """
    peer = str(connection.remote_address[0]) if connection.remote_address else ""
    request = connection.request
    if peer in proxies and request is not None:
        lines = request.headers.get_all("X-Forwarded-For")
        named = [address_in(part) for line in lines for part in line.split(",")]
        peer = next((each for each in reversed(named) if each not in proxies), peer) or peer
    return network_of(peer)


def _select_subprotocol(_connection: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol:
    for each in offered:
        if each == SUBPROTOCOL:
            return each
    raise NegotiationError(f"offer the subprotocol {SUBPROTOCOL}; nothing else is spoken here")


def _info(game: AnyGame) -> GameInfo:
    return GameInfo(
        name=game.name,
        seats=game.seats,
        sides=game.sides,
        options={name: tuple(values) for name, values in game.options.items()},
        levels=tuple(level.value for level in game.levels),
    )


def _tag(command: AnyCommand) -> str:
    return str(command.__struct_config__.tag)
