"""The floor's server: ``python -m benchmarks.floor.server --store unix:///…/store.sock --seats 8``.

Says ``{"ready": {"port": …, "pid": …}}`` on standard output and serves until it is ended.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import unquote, urlsplit

import hiredis
import uvloop
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.typing import Subprotocol

from benchmarks.floor.wire import PARTS, Act, Entry, Event, Sit, command_decoder, encode
from protocol.limits import SUBPROTOCOL

_NOTHING: Final = bytes(32)
_WELCOME: Final = '{"t":"welcome"}'


class StoreLine(asyncio.Protocol):
    """Commands to the store, pipelined: whatever is asked within one turn of the event loop goes out as one write.

    Errors end the program: this is a yardstick, and need not survive anything.
    """

    def __init__(self) -> None:
        self._reader = hiredis.Reader()
        self._replies: deque[asyncio.Future[Any]] = deque()
        self._packed: list[bytes] = []
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what to write to."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's own class

    def close(self) -> None:
        """Hang up."""
        self._transport.close()

    def call(self, *command: str | bytes | int) -> asyncio.Future[Any]:
        """The reply to come."""
        if not self._packed:
            self._loop.call_soon(self._flush)
        self._packed.append(hiredis.pack_command(command))  # type: ignore[arg-type]  # stub: a tuple of one
        reply = self._loop.create_future()
        self._replies.append(reply)
        return reply

    def _flush(self) -> None:
        self._transport.write(b"".join(self._packed))
        self._packed.clear()

    def data_received(self, data: bytes) -> None:
        """Give replies to those who asked, in order."""
        self._reader.feed(data)
        while (reply := self._reader.gets()) is not False:
            if isinstance(reply, hiredis.ReplyError):
                self._replies.popleft().set_exception(reply)
            else:
                self._replies.popleft().set_result(reply)


class Table:
    """Where a log ends, and who sits there."""

    def __init__(self, name: str) -> None:
        self.key = f"floor:{{{name}}}:log"
        self.channel = f"floor:{{{name}}}:wake"
        self.version = 0
        self.hash = _NOTHING
        self.seats: list[ServerConnection] = []


class Floor:
    """All tables."""

    def __init__(self, store: StoreLine, seats: int) -> None:
        self._store = store
        self._seats = seats
        self._name = secrets.token_hex(4)
        self._tables: dict[int, Table] = {}

    async def connected(self, connection: ServerConnection) -> None:
        """One seat, from its coming to its going."""
        await connection.send(_WELCOME)
        table = None
        with suppress(ConnectionClosed):  # the load goes without a word
            async for frame in connection:
                command = command_decoder.decode(frame)
                if isinstance(command, Sit):
                    table = self._tables.setdefault(command.table, Table(f"{self._name}-{command.table}"))
                    table.seats.append(connection)
                    if len(table.seats) == self._seats:
                        _show(table)
                else:
                    assert table is not None, "sit first"
                    await self._move(table, command)

    async def _move(self, table: Table, command: Act) -> None:
        data = encode(Entry(schema=1, at=time.time_ns() // 1_000_000, command=command.id, body=command))
        after = sha256(table.hash + data).digest()
        elsewhere = await self._store.call(
            *("FCALL", "floor_append", 1, table.key, table.version, table.hash, data, after, table.channel)
        )
        assert not elsewhere, "nobody else writes here"
        table.version += 1
        table.hash = after
        _show(table)


def _show(table: Table) -> None:
    payload = encode(Event(t="events", first=table.version, events=PARTS))
    frame = bytes(Frame(Opcode.TEXT, payload).serialize(mask=False))
    for seat in table.seats:
        seat.transport.write(frame)


async def connect(url: str) -> StoreLine:
    """A line to the store at ``url`` (``unix://PATH``), which then has ``floor.lua``."""
    loop = asyncio.get_running_loop()
    _, line = await loop.create_unix_connection(StoreLine, unquote(urlsplit(url).path))
    await line.call("FUNCTION", "LOAD", "REPLACE", Path(__file__).with_name("floor.lua").read_text("utf-8"))
    return line


async def run(store: str, seats: int, ready: Callable[[int], None]) -> None:
    """Serve for ever; ``ready`` is told the port."""
    line = await connect(store)
    floor = Floor(line, seats)
    try:
        async with serve(
            floor.connected, "127.0.0.1", 0, compression=None, subprotocols=[Subprotocol(SUBPROTOCOL)]
        ) as server:
            ready(int(server.sockets[0].getsockname()[1]))
            await server.serve_forever()
    finally:
        line.close()


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.floor.server", description=__doc__)
    parser.add_argument("--store", required=True, metavar="URL", help="unix://PATH of a Redis or Valkey")
    parser.add_argument("--seats", type=int, default=2)
    asked = parser.parse_args()
    uvloop.run(
        run(
            asked.store,
            asked.seats,
            lambda port: print(encode({"ready": {"port": port, "pid": os.getpid()}}).decode(), flush=True),
        )
    )


if __name__ == "__main__":
    main()
