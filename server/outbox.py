"""What one connection is sent. Never waits: a reader that falls too far behind is cut off, and resumes: from the number
that it has, or, if the room does not remember so much, from a snapshot.

Belongs here: frames, the write buffer, closing. Must not be known here: rooms, seats, what a message means.
"""

from __future__ import annotations

import asyncio
import struct
from typing import Final, Protocol

from msgspec import Struct
from websockets.asyncio.server import ServerConnection, broadcast
from websockets.exceptions import ConnectionClosed
from websockets.protocol import State

from protocol import codec
from protocol.codes import Close
from protocol.messages import ServerMessage, Turn
from server.metrics import Metrics

_TEXT: Final = 0x81
"""The first byte of a text frame that is whole."""
_MEDIUM: Final = struct.Struct("!BBH")
_LONG: Final = struct.Struct("!BBQ")
_TURN_BYTES: Final = 256
"""The length of a ``turn`` tells how much its seat may do, also those on the way who read none of it. So blanks, which
JSON allows, fill it up to a multiple of this, which is more than nearly every turn needs.
"""
_HEADER_BYTES: Final = {126: _MEDIUM.size, 127: _LONG.size}
"""What comes before the payload, by the second byte where that is not the length itself."""


class Encoded(Struct, frozen=True):
    """A message encoded once, to be written to any number of connections."""

    frame: bytes
    """An unmasked WebSocket text frame (RFC 6455 section 5)."""

    @property
    def payload(self) -> bytes:
        """The JSON text in it."""
        return self.frame[_HEADER_BYTES.get(self.frame[1], 2) :]


def encoded(message: ServerMessage, metrics: Metrics) -> Encoded:
    """Encode ``message`` and its frame. Nothing but messages can be sent: no state, room or entry, by mistake."""
    assert isinstance(message, ServerMessage), f"{type(message).__name__} is nothing to send"
    metrics.frames_encoded.inc()
    payload = codec.encode(message)
    if isinstance(message, Turn):
        payload = payload.ljust(-(-len(payload) // _TURN_BYTES) * _TURN_BYTES)
    return Encoded(framed(payload))


def framed(payload: bytes) -> bytes:
    """An unmasked text frame of its own (RFC 6455 section 5.2); what the library makes of it, ten times as fast."""
    length = len(payload)
    if length < 126:
        return bytes((_TEXT, length)) + payload
    if length < 65_536:
        return _MEDIUM.pack(_TEXT, 126, length) + payload
    return _LONG.pack(_TEXT, 127, length) + payload


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

    What is sent within one turn of the event loop is written at its end, at once: writing costs more than anything else
    that is done for a message, and a move brings most of its readers two.

    The bound is the transport's write buffer: websockets' own keep-alive does not notice a reader that stopped, as its
    ping waits behind the same buffer. So the buffer is looked at before every message.
    """

    __slots__ = ("_closing", "_connection", "_limit", "_metrics", "_size", "_waiting")

    def __init__(self, connection: ServerConnection, *, limit: int, metrics: Metrics) -> None:
        self._connection = connection
        self._limit = limit
        """Bytes in the transport's buffer from which the reader counts as too slow."""
        self._metrics = metrics
        self._closing: asyncio.Task[None] | None = None
        self._waiting: list[Encoded] = []
        """Sent in this turn."""
        self._size = 0
        """Bytes of these."""

    @property
    def gone(self) -> bool:
        """The connection is closed, or being closed."""
        return self._connection.protocol.state is not State.OPEN

    def send(self, message: Encoded) -> None:
        """Write soon, without waiting, or cut the connection off when too much is unread already."""
        connection = self._connection
        if connection.protocol.state is not State.OPEN:
            return
        transport = connection.transport
        if transport.is_closing():
            return
        if transport.get_write_buffer_size() + self._size > self._limit:
            # A close frame would only wait behind what is not being read.
            self._metrics.overflows.inc()
            transport.abort()
            return
        if not self._waiting:
            connection.loop.call_soon(self._write)
        self._waiting.append(message)
        self._size += len(message.frame)

    def _write(self) -> None:
        """Write what waits: serialised frames, which all connections share; a third cheaper than framing for each.

        Right only where nothing was negotiated that changes frames; otherwise the library frames the payloads.
        """
        waiting, self._waiting, self._size = self._waiting, [], 0
        connection = self._connection
        if not waiting or connection.protocol.state is not State.OPEN or connection.transport.is_closing():
            return
        if connection.protocol.extensions or connection.send_in_progress is not None:
            for message in waiting:
                broadcast([connection], message.payload, text=True)
        else:
            connection.transport.write(b"".join([message.frame for message in waiting]))
        self._metrics.frames_written.inc(len(waiting))

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
        self._write()
        try:
            await self._connection.close(code, code.name.lower().replace("_", "-"))
        except (ConnectionClosed, OSError):
            return  # gone already: what was wanted
