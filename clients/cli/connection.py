"""One WebSocket connection to a server, and what can be wrong with it.

Belongs here: dialling, the library's exceptions, addresses. Must not be known here: sessions, what frames mean.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Final, Protocol, TypeAlias
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidStatus, WebSocketException
from websockets.typing import Subprotocol

from protocol.limits import SUBPROTOCOL

DEFAULT_PORT: Final = 8750
DEFAULT_URL: Final = f"ws://127.0.0.1:{DEFAULT_PORT}"
OPEN_TIMEOUT: Final = 10.0
"""Seconds for TCP, TLS and the handshake."""
PING_SECONDS: Final = 10.0
"""A server that does not answer a ping in this time, asked every so often, is gone."""
CLOSE_TIMEOUT: Final = 2.0
MAX_FRAME: Final = 1 << 20
"""Bytes; a snapshot is a few kilobytes."""


class Trouble(StrEnum):
    """What is wrong with the connection."""

    NOBODY_THERE = "nobody-there"
    NO_SUCH_HOST = "no-such-host"
    TOO_SLOW = "too-slow"
    BUSY = "busy"
    NO_FUDAZA = "no-fudaza"
    """What answers does not speak this protocol."""
    NO_TRUST = "no-trust"
    """The certificate is not trusted. ``detail``."""
    DROPPED = "dropped"
    """It was there and is gone."""
    NOT_UNDERSTOOD = "not-understood"
    """A message was not what it claims to be. ``detail``."""
    LOCAL_SERVER_DIED = "local-server-died"
    """The server that this client started has stopped and does not start again. ``detail``: its log file."""


LASTING: Final = frozenset({Trouble.NO_FUDAZA, Trouble.NO_TRUST, Trouble.NOT_UNDERSTOOD, Trouble.LOCAL_SERVER_DIED})
"""Troubles that trying again does not cure."""


class CannotConnect(Exception):
    """There is no connection."""

    def __init__(self, trouble: Trouble, detail: str = "") -> None:
        super().__init__(f"{trouble} {detail}".strip())
        self.trouble = trouble
        self.detail = detail


class Dropped(Exception):
    """The connection has ended; ``code`` is its close code, None if none came."""

    def __init__(self, code: int | None) -> None:
        super().__init__(f"closed with {code}")
        self.code = code


class Wire(Protocol):
    """A connection: text frames as bytes."""

    async def send(self, frame: bytes) -> None:
        """Send a frame.

        Raises:
            Dropped: the connection has ended.
        """

    async def receive(self) -> bytes:
        """The next frame.

        Raises:
            Dropped: the connection has ended.
        """

    async def close(self) -> None:
        """End the connection in good order; does nothing if it has ended."""


Dial: TypeAlias = Callable[[str], Awaitable[Wire]]
"""Makes a connection to a URL, or raises CannotConnect."""


def server_url(text: str) -> str:
    """The URL that a person means: ``ws://…`` and ``wss://…`` as they are; ``host``, ``host:port``.

    Raises:
        ValueError: it is no address; the message says what one looks like.
    """
    bare = "://" not in text
    candidate = f"ws://{text.strip()}" if bare else text.strip()
    wrong = ValueError(f"{text!r} is no server address: use ws://HOST:PORT, wss://HOST, or HOST:PORT")
    try:
        parts = urlsplit(candidate)
        port = parts.port
        (parts.hostname or "").encode("idna")  # as it will be looked up: no label is empty or too long
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("ws", "wss") or not parts.hostname or parts.username or any(map(str.isspace, candidate)):
        raise wrong
    if bare and port is None:
        candidate = f"ws://{parts.netloc}:{DEFAULT_PORT}{parts.path}"
    return candidate.rstrip("/")


class _WebSocket:
    """A ``Wire`` over the websockets library."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def send(self, frame: bytes) -> None:
        try:
            await self._connection.send(frame, text=True)
        except ConnectionClosed as closed:
            raise _dropped(closed) from closed

    async def receive(self) -> bytes:
        try:
            return await self._connection.recv(decode=False)
        except ConnectionClosed as closed:
            raise _dropped(closed) from closed

    async def close(self) -> None:
        await self._connection.close()


def _dropped(closed: ConnectionClosed) -> Dropped:
    return Dropped(None if closed.rcvd is None else closed.rcvd.code)


async def dial(url: str) -> Wire:
    """Connect to the server at ``url``.

    Raises:
        CannotConnect: says what is wrong.
    """
    local = urlsplit(url).hostname in ("127.0.0.1", "::1", "localhost")
    try:
        connection = await connect(
            url,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            compression=None,
            proxy=None if local else True,
            open_timeout=OPEN_TIMEOUT,
            ping_interval=PING_SECONDS,
            ping_timeout=PING_SECONDS,
            close_timeout=CLOSE_TIMEOUT,
            max_size=MAX_FRAME,
        )
    except (TimeoutError, OSError, WebSocketException) as problem:
        raise CannotConnect(*_explained(problem)) from problem
    if connection.subprotocol != SUBPROTOCOL:
        await connection.close()
        raise CannotConnect(Trouble.NO_FUDAZA)
    return _WebSocket(connection)


def _explained(problem: Exception) -> tuple[Trouble, str]:
    match problem:
        case ssl.SSLCertVerificationError():
            return Trouble.NO_TRUST, problem.verify_message
        case ssl.SSLError():
            return Trouble.NO_FUDAZA, str(problem)
        case socket.gaierror():
            return Trouble.NO_SUCH_HOST, str(problem)
        case TimeoutError():
            return Trouble.TOO_SLOW, ""
        case InvalidStatus() if problem.response.status_code in (429, 500, 502, 503, 504):
            return Trouble.BUSY, str(problem.response.status_code)
        case InvalidMessage() if isinstance(problem.__cause__, EOFError | OSError):
            return Trouble.NOBODY_THERE, str(problem)  # the listener went away during the handshake
        case WebSocketException():
            return Trouble.NO_FUDAZA, str(problem)
        case _:
            return Trouble.NOBODY_THERE, str(problem)
