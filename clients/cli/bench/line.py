"""One connection of a load generator: a WebSocket client that does the least that is correct (RFC 6455).

A generator must be cheaper than what it measures. So this knows text frames, pings and closing, reads frames where they
lie, and nothing else: no extensions, no fragments, which the server does not send.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
from collections.abc import Callable
from random import Random
from typing import Final, cast
from urllib.parse import urlsplit

from protocol.limits import SUBPROTOCOL

_ACCEPT: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455 section 4.2.2
_END_OF_HEAD: Final = b"\r\n\r\n"
_TEXT, _CLOSE, _PING, _PONG = 0x1, 0x8, 0x9, 0xA
_FINAL: Final = 0x80
_MASKED: Final = 0x80
_LENGTH_16, _LENGTH_64 = 126, 127
_TO_BIG: Final = 1 << 16


class Refused(Exception):
    """The server did not take the connection; the message is the first line of its answer."""


class Line(asyncio.Protocol):
    """A connection. ``connect`` makes one; ``take`` is given every text frame, ``lost`` a close code when it ends."""

    def __init__(self, host: str, masks: Random) -> None:
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the server's first frame, its welcome, has come."""
        self.take: Callable[[bytes], None] = _ignore
        self.lost: Callable[[int | None], None] = _ignore_end
        self.received = 0
        """Bytes, framing included."""
        self.sent = 0
        self._host = host
        self._masks = masks
        self._key = base64.b64encode(secrets.token_bytes(16))
        self._transport: asyncio.Transport | None = None
        self._rest = b""
        self._upgraded = False
        self._code: int | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the WebSocket."""
        transport = cast("asyncio.Transport", transport)  # uvloop's is one, but not by descent
        self._transport = transport
        head = (
            f"GET / HTTP/1.1\r\nHost: {self._host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {self._key.decode()}\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
        )
        transport.write(head.encode())

    def data_received(self, data: bytes) -> None:
        """Read whole frames; keep what is left."""
        self.received += len(data)
        buffer = self._rest + data if self._rest else data
        if not self._upgraded:
            end = buffer.find(_END_OF_HEAD)
            if end < 0:
                self._rest = buffer
                return
            if not self._upgrade(buffer[:end]):
                return
            buffer = buffer[end + len(_END_OF_HEAD) :]
        self._rest = self._frames(buffer)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell whoever uses the connection."""
        self._transport = None
        if not self.opened.done():
            self.opened.set_exception(exc or ConnectionResetError())
        self.lost(self._code)

    def send(self, payload: bytes) -> None:
        """Send a text frame; nothing if the connection has ended, which ``lost`` has said."""
        self._write(_TEXT, payload)

    @property
    def ended(self) -> bool:
        """Whether nothing can be sent any more."""
        return self._transport is None or self._transport.is_closing()

    def abort(self) -> None:
        """End the connection at once, without a word and without ``lost``."""
        self.lost = _ignore_end
        if self._transport is not None:
            self._transport.abort()

    def _upgrade(self, head: bytes) -> bool:
        lines = head.split(b"\r\n")
        accept = base64.b64encode(hashlib.sha1(self._key + _ACCEPT, usedforsecurity=False).digest())
        values = {name.strip().lower(): value.strip() for name, _colon, value in (row.partition(b":") for row in lines)}
        if lines[0].split(b" ")[1:2] != [b"101"] or values.get(b"sec-websocket-accept") != accept:
            self.opened.set_exception(Refused(lines[0].decode("ascii", "replace")))
            self.abort()
            return False
        self._upgraded = True
        return True

    def _frames(self, buffer: bytes) -> bytes:
        """Take every whole frame in ``buffer``; what is left of it."""
        start, end = 0, len(buffer)
        while end - start >= 2:
            length, body = buffer[start + 1], start + 2
            if length == _LENGTH_16:
                body += 2
                length = int.from_bytes(buffer[start + 2 : body], "big")
            elif length == _LENGTH_64:
                body += 8
                length = int.from_bytes(buffer[start + 2 : body], "big")
            if body + length > end:
                break
            self._frame(buffer[start], buffer[body : body + length])
            start = body + length
        return buffer[start:]

    def _frame(self, head: int, payload: bytes) -> None:
        if head == _FINAL | _TEXT:
            if self.opened.done():
                self.take(payload)
            else:
                self.opened.set_result(None)
        elif head == _FINAL | _PING:
            self._write(_PONG, payload)
        elif head == _FINAL | _CLOSE:
            self._code = int.from_bytes(payload[:2], "big") if len(payload) >= 2 else None
            self._write(_CLOSE, payload[:2])
            if self._transport is not None:
                self._transport.close()
        elif head != _FINAL | _PONG:
            raise AssertionError(f"a frame that the server does not send: {head:#x}")

    def _write(self, kind: int, payload: bytes) -> None:
        if self._transport is None:
            return
        size = len(payload)
        assert size < _TO_BIG, size
        head = bytes((_FINAL | kind, _MASKED | size)) if size < _LENGTH_16 else _long_head(kind, size)
        mask = self._masks.getrandbits(32).to_bytes(4, "big")
        key = (mask * (size // 4 + 1))[:size]
        masked = (int.from_bytes(payload, "big") ^ int.from_bytes(key, "big")).to_bytes(size, "big")
        frame = head + mask + masked
        self.sent += len(frame)
        self._transport.write(frame)


async def connect(url: str, masks: Random) -> Line:
    """A connection to ``url`` (``ws://HOST:PORT``) that the server has welcomed.

    Raises:
        OSError: nobody is there, or they hung up.
        Refused: somebody is, and says no.
    """
    parts = urlsplit(url)
    assert parts.hostname is not None
    _transport, line = await asyncio.get_running_loop().create_connection(
        lambda: Line(parts.netloc, masks), parts.hostname, parts.port or 80
    )
    try:
        await line.opened
    except BaseException:
        line.abort()
        raise
    return line


def _long_head(kind: int, size: int) -> bytes:
    return bytes((_FINAL | kind, _MASKED | _LENGTH_16)) + size.to_bytes(2, "big")


def _ignore(_frame: bytes) -> None:
    """Nobody listens."""


def _ignore_end(_code: int | None) -> None:
    """Nobody needs to know."""
