"""What one connection is sent. Never waits: a reader that falls too far behind is cut off and resumes by number.

Belongs here: frames, the write buffer, closing. Must not be known here: rooms, seats, what a message means.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from msgspec import Struct
from websockets.asyncio.server import ServerConnection, broadcast
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.protocol import State

from protocol import codec
from protocol.codes import Close
from protocol.messages import ServerMessage
from server.metrics import Metrics


class Encoded(Struct, frozen=True):
    """A message encoded once, to be written to any number of connections."""

    payload: bytes
    """The JSON text."""
    frame: bytes
    """The same as an unmasked WebSocket text frame (RFC 6455 section 5)."""


def encoded(message: ServerMessage, metrics: Metrics) -> Encoded:
    """Encode ``message`` and its frame. Nothing but messages can be sent: no state, room or entry, by mistake."""
    assert isinstance(message, ServerMessage), f"{type(message).__name__} is nothing to send"
    metrics.frames_encoded.inc()
    payload = codec.encode(message)
    return Encoded(payload, bytes(Frame(Opcode.TEXT, payload).serialize(mask=False)))


class Outbox(Protocol):
    """Where the hall leaves what a connection is to be sent. Calls never wait and never raise."""

    @property
    def gone(self) -> bool:
        """Nobody reads any more."""
        ...

    def send(self, message: Encoded) -> None:
        """Send after everything sent before; nothing is sent once the connection is closing."""
        ...

    def close(self, code: Close) -> None:
        """Close soon, after everything that is sent before the caller next waits."""
        ...


class SocketOutbox:
    """The outbox of a WebSocket.

    The bound is the transport's write buffer: websockets' own keep-alive does not notice a reader that stopped, as its
    ping waits behind the same buffer. So the buffer is looked at before every write.
    """

    def __init__(self, connection: ServerConnection, *, limit: int, metrics: Metrics) -> None:
        self._connection = connection
        self._limit = limit
        """Bytes in the transport's buffer from which the reader counts as too slow."""
        self._metrics = metrics
        self._closing: asyncio.Task[None] | None = None

    @property
    def gone(self) -> bool:
        """The connection is closed, or being closed."""
        return self._connection.protocol.state is not State.OPEN

    def send(self, message: Encoded) -> None:
        """Write without waiting, or cut the connection off when too much is unread already."""
        connection = self._connection
        if connection.protocol.state is not State.OPEN:
            return
        transport = connection.transport
        if transport.is_closing():
            return
        if transport.get_write_buffer_size() > self._limit:
            # A close frame would only wait behind what is not being read.
            self._metrics.overflows.inc()
            transport.abort()
            return
        _write(connection, message)
        self._metrics.frames_written.inc()

    def close(self, code: Close) -> None:
        """Begin the closing handshake in the background; ``closed`` waits for its end."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close(code))

    @property
    def closing(self) -> bool:
        """A close was begun: nothing more is sent, and nothing more should be done for this connection."""
        return self._closing is not None

    async def closed(self) -> None:
        """Wait until a close that was begun is over."""
        if self._closing is not None:
            await self._closing

    async def _close(self, code: Close) -> None:
        try:
            await self._connection.close(code, code.name.lower().replace("_", "-"))
        except (ConnectionClosed, OSError):
            return  # gone already: what was wanted


def _write(connection: ServerConnection, message: Encoded) -> None:
    """One serialised frame for every connection that shares it: a third cheaper than framing it for each.

    Right only where nothing was negotiated that changes frames; otherwise the library frames the payload.
    """
    if connection.protocol.extensions or connection.send_in_progress is not None:
        broadcast([connection], message.payload, text=True)
    else:
        connection.transport.write(message.frame)
