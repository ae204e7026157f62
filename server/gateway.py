"""Where connections come in: each gets a session.

Belongs here: listening, what is answered before a handshake, draining. Must not be known here: what is said afterwards.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import structlog
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import NegotiationError
from websockets.http11 import Request, Response
from websockets.typing import Origin, Subprotocol

from engine.game import AnyGame
from protocol.codes import Notified, Refused
from protocol.limits import MAX_COMMAND_BYTES, SUBPROTOCOL, VERSION
from protocol.messages import GameInfo, Notice, Welcome
from server.door import Door, GuardedConnection, address_of
from server.hall import Hall
from server.health import Health
from server.limits import Buckets, LocalRates, Rate, Rates
from server.outbox import encoded
from server.session import Session, Shared
from server.settings import Settings

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
_CONNECTIONS_PER_READING: Final = 5
"""In the long run. At once as many as there are connections: the people of a node that has ended come back together,
and may all have been in rooms of their own.
"""

_log = structlog.get_logger()


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
        self.sessions: set[Session] = set()
        self.empty = asyncio.Event()
        """Set while nobody is connected."""
        self.empty.set()
        self.occupied = asyncio.Event()
        """Set while somebody is."""
        self.door = Door(settings, self.metrics, clock)
        games = tuple(map(_info, hall.node.games.values()))
        worth = settings.commands_per_address
        self.shared = Shared(
            hall=hall,
            health=health,
            settings=settings,
            welcome=encoded(Welcome(server=version, protocol=VERSION, games=games), self.metrics),
            frames=Buckets(settings.commands_per_second * worth, settings.command_burst * worth),
            readings=Buckets(settings.connections_per_second / _CONNECTIONS_PER_READING, settings.connection_burst),
            rates=rates or LocalRates(clock),
            openings=Rate(settings.rooms_per_minute / 60, max(1, int(settings.rooms_per_minute))),
            talk=Rate(settings.talk_per_minute / 60, max(1, int(settings.talk_per_minute / 2))),
            clock=clock,
            sleep=sleep,
        )
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
        session = Session(self.shared, connection)
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
