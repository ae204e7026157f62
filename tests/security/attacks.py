"""Bad clients: what they send, byte by byte, and what became of their connections."""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import sys
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random
from typing import Final

from websockets.frames import Frame, Opcode

from protocol.limits import SUBPROTOCOL

PATIENCE_SECONDS: Final = 30.0
HANDSHAKE: Final = (
    "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: {SUBPROTOCOL}\r\n"
)


_chance = Random()
"""What attackers draw from; ``main`` seeds it."""
_dialling = asyncio.Semaphore(50)
"""More at once than the server's queue holds would only wait in the kernel, unseen by anybody."""
BOMB: Final = zlib.compress(b" " * 4_000_000, 9, -15)[:4_000]


class Raw:
    """A socket that speaks WebSocket by hand."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def dial(cls, port: int, *, receive_buffer: int | None = None) -> Raw:
        """A bare TCP connection."""
        plain = socket.socket()
        if receive_buffer is not None:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        plain.setblocking(False)
        async with _dialling:
            await asyncio.get_running_loop().sock_connect(plain, ("127.0.0.1", port))
            await asyncio.sleep(0.02)  # for the server to take it out of its queue
        return cls(*await asyncio.open_connection(sock=plain))

    @classmethod
    async def open(cls, port: int, extra: str = "", *, receive_buffer: int | None = None) -> Raw:
        """After a handshake that was taken."""
        raw = await cls.dial(port, receive_buffer=receive_buffer)
        raw.writer.write(f"{HANDSHAKE}{extra}\r\n".encode())
        async with asyncio.timeout(PATIENCE_SECONDS):
            head = await raw.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101"), head
        return raw

    async def send(self, data: bytes) -> bool:
        """Send as fast as is taken; False once the server has hung up."""
        with suppress(OSError):
            self.writer.write(data)
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self.writer.drain()
            return not self.writer.is_closing() and not self.reader.at_eof()
        return False

    async def close_code(self) -> int | None:
        """Read to the end, which the server makes though it is sent no close frame: the code of its own, None if there
        is none.

        Raises:
            TimeoutError: it does not end the connection.
        """
        data = b""
        async with asyncio.timeout(PATIENCE_SECONDS):
            with suppress(ConnectionError):
                while part := await self.reader.read(65_536):
                    data += part
        self.writer.transport.abort()
        code = None
        while len(data) >= 2:
            size, at = data[1] & 127, 2
            if size >= 126:
                width = 2 if size == 126 else 8
                size, at = int.from_bytes(data[2 : 2 + width], "big"), 2 + width
            if data[0] & 15 == Opcode.CLOSE and size >= 2:
                code = int.from_bytes(data[at : at + 2], "big")
            data = data[at + size :]
        return code


def masked(opcode: Opcode, data: bytes = b"", *, fin: bool = True) -> bytes:
    return Frame(opcode, data, fin=fin).serialize(mask=True)


def command(kind: str, **fields: object) -> bytes:
    """A command as a frame."""
    return masked(Opcode.TEXT, json.dumps({"t": kind, "id": f"{secrets.token_urlsafe(16)}.1", **fields}).encode())


def oversized(length: int) -> bytes:
    """The head of a text frame that announces ``length`` bytes."""
    return bytes((0x81, 0xFF)) + length.to_bytes(8, "big") + bytes(4)


async def deflate_bomb(port: int) -> int | None:
    """Megabytes of spaces in 4,000 bytes, sent as if compression had been agreed to."""
    raw = await Raw.open(port, "Sec-WebSocket-Extensions: permessage-deflate\r\n")
    frame = bytearray(masked(Opcode.TEXT, BOMB))
    frame[0] |= 0x40  # RSV1: compressed (RFC 7692)
    await raw.send(bytes(frame))
    return await raw.close_code()


async def endless_fragments(port: int) -> int | None:
    """A message that never ends."""
    raw = await Raw.open(port)
    fragment = masked(Opcode.TEXT, b" " * 500, fin=False)
    while await raw.send(fragment):
        fragment = masked(Opcode.CONT, b" " * 500, fin=False)
    return await raw.close_code()


async def tiny_fragments(port: int) -> int | None:
    """A hundred thousand empty fragments."""
    raw = await Raw.open(port)
    await raw.send(masked(Opcode.TEXT, b"", fin=False))
    many = masked(Opcode.CONT, b"", fin=False) * 1_000
    for _ in range(100):
        if not await raw.send(many):
            break
    return await raw.close_code()


async def ping_flood(port: int) -> int | None:
    """Pings as fast as they go, and no answer read."""
    raw = await Raw.open(port)
    many = masked(Opcode.PING, b"x" * 125) * 200
    for _ in range(500):
        if not await raw.send(many):
            break
    return await raw.close_code()


async def huge_frame(port: int) -> int | None:
    """Ten megabytes, announced and sent."""
    raw = await Raw.open(port)
    if await raw.send(oversized(10_000_000)):
        for _ in range(10):
            if not await raw.send(bytes(1_000_000)):
                break
    return await raw.close_code()


async def header_then_silence(port: int) -> int | None:
    """A frame that is announced and never comes; pings cannot be answered within it."""
    raw = await Raw.open(port)
    await raw.send(bytes((0x81, 0x80 | 100)) + bytes(4) + b"{")
    return await raw.close_code()


async def dribbled_handshake(port: int) -> int | None:
    """A handshake of one byte at a time."""
    raw = await Raw.dial(port)
    for byte in HANDSHAKE.encode() * 10:
        if not await raw.send(bytes((byte,))):
            break
        await asyncio.sleep(0.02)  # the dribble itself
    return await raw.close_code()


async def dribbled_frame(port: int) -> int | None:
    """A frame of one byte at a time."""
    raw = await Raw.open(port)
    for byte in masked(Opcode.TEXT, b" " * 4_000):
        if not await raw.send(bytes((byte,))):
            break
        await asyncio.sleep(0.02)  # the dribble itself
    return await raw.close_code()


async def header_flood(port: int) -> int | None:
    """Headers without end."""
    raw = await Raw.dial(port)
    await raw.send(b"GET / HTTP/1.1\r\n")
    while await raw.send(b"X-Flood: " + b"x" * 2_000 + b"\r\n"):
        pass
    return await raw.close_code()


async def long_header(port: int) -> int | None:
    """One header without end."""
    raw = await Raw.dial(port)
    await raw.send(b"GET / HTTP/1.1\r\nX-Flood: ")
    while await raw.send(b"x" * 65_536):
        pass
    return await raw.close_code()


async def never_ponging(port: int) -> int | None:
    """Somebody who is connected and dead."""
    raw = await Raw.open(port)
    return await raw.close_code()


async def never_reading(port: int) -> int | None:
    """Asks for much and reads nothing."""
    raw = await Raw.open(port, receive_buffer=2_048)
    raw.writer.transport.pause_reading()  # type: ignore[attr-defined]  # a socket's transport can
    ask = command("list") * 50
    for _ in range(50):
        if not await raw.send(ask):
            break
        await asyncio.sleep(0.6)  # below the measure of commands, or that would end it
    raw.writer.transport.abort()
    return None


async def half_open(port: int) -> int | None:
    """A socket without a word."""
    raw = await Raw.dial(port)
    return await raw.close_code()


async def nonsense(port: int) -> int | None:
    """Sequences of frames, right and wrong in every way a frame can be."""
    rng = Random(_chance.getrandbits(32))
    raw = await Raw.open(port)
    for _ in range(30):
        if not await raw.send(some_frame(rng)):
            break
    raw.writer.transport.abort()
    return None


def some_frame(rng: Random) -> bytes:
    """A frame of the library's making with something changed, or bytes at random."""
    kind = rng.randrange(8)
    body = rng.choice((b"", b"{}", b"\xff\xfe", b'{"t":"list"}', rng.randbytes(125), b"[" * 2_000))
    opcode = rng.choice(list(Opcode))
    if opcode in {Opcode.CLOSE, Opcode.PING, Opcode.PONG}:
        body = body[:125]
    fin = rng.random() < 0.8 or opcode in {Opcode.CLOSE, Opcode.PING, Opcode.PONG}
    frame = bytearray(Frame(opcode, body, fin=fin).serialize(mask=True))
    match kind:
        case 0:
            frame[0] |= rng.choice((0x40, 0x20, 0x10))  # a reserved bit
        case 1:
            frame[0] = frame[0] & 0xF0 | rng.randrange(16)  # another opcode
        case 2:
            frame[1] ^= 0x80  # not masked
        case 3:
            frame[0] &= 0x7F  # not the last fragment
        case 4:
            frame = frame[: rng.randrange(1, len(frame))]  # cut off
        case 5:
            frame = bytearray(rng.randbytes(rng.randrange(1, 200)))
        case 6:
            frame = bytearray(masked(Opcode.CLOSE, rng.randrange(65_536).to_bytes(2, "big") + b"\xff" * 3))
        case _:
            pass
    return bytes(frame)


async def nonsense_commands(port: int) -> int | None:
    """Bytes that are no JSON, as well formed frames."""
    rng = Random(_chance.getrandbits(32))
    raw = await Raw.open(port)
    for _ in range(40):
        if not await raw.send(masked(Opcode.TEXT, bytes(rng.choices(b'{}[]",:0123e-tfn \\u', k=rng.randrange(60))))):
            break
    return await raw.close_code()


Attack = Callable[[int], Awaitable[int | None]]

ATTACKS: Final[dict[Attack, tuple[int, frozenset[int | None]]]] = {
    deflate_bomb: (20, frozenset({1002})),
    endless_fragments: (20, frozenset({1009, None})),
    tiny_fragments: (5, frozenset({4004, None})),
    ping_flood: (5, frozenset({4004, None})),
    huge_frame: (20, frozenset({1009, None})),
    header_then_silence: (50, frozenset({1011, None})),
    dribbled_handshake: (50, frozenset({None})),
    dribbled_frame: (20, frozenset({1011, None})),
    header_flood: (20, frozenset({None})),
    long_header: (5, frozenset({None})),
    never_ponging: (50, frozenset({1011, None})),
    never_reading: (10, frozenset({None})),
    half_open: (400, frozenset({None})),
    nonsense: (60, frozenset({None})),
    nonsense_commands: (20, frozenset({4004})),
}
"""Each with how many attack at once, and the close codes that may be seen. None: the socket was simply closed, or reset
before the close frame was read, because more was sent than the server reads.
"""


def main() -> None:
    """``python -m tests.security.attacks NAME PORT SEED``: attack from a process of one's own, so that its work is not
    taken for the server's; writes the close codes.
    """
    _chance.seed(int(sys.argv[3]))
    attack = next(each for each in ATTACKS if each.__name__ == sys.argv[1])

    async def run() -> list[int | None]:
        return await asyncio.gather(*(attack(int(sys.argv[2])) for _ in range(ATTACKS[attack][0])))

    sys.stdout.write(json.dumps(asyncio.run(run())))


if __name__ == "__main__":
    main()
