"""Messages made from the published schema, right and nearly right, in any order: each has exactly one answer, the room
keeps its shape, and nothing is the server's fault. And any bytes, at the door.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, Final

from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from protocol.codec import encode
from protocol.codes import Close
from protocol.limits import MAX_COMMAND_BYTES, SUBPROTOCOL
from server.door import Door, GuardedConnection
from server.entries import decode_entry
from server.metrics import Metrics
from server.room import replay
from server.settings import Settings
from tests.security.attacks import HANDSHAKE, some_frame
from tests.server.hallkit import GAMES
from tests.wire.gatekit import Gate, Wire, gate

SCHEMA: Final = json.loads((Path(__file__).parents[2] / "docs/schema/fudaza.1.schema.json").read_text())["$defs"]
COMMANDS: Final = [reference["$ref"].rpartition("/")[2] for reference in SCHEMA["Command"]["anyOf"]]
FREE: Final = Settings(
    data="", commands_per_second=1e6, command_burst=1_000_000, rooms_per_minute=1e6, talk_per_minute=1e6
)

TAKEN_AWAY: Final = frozenset({4001, 4002, 4003})
"""Closed because another connection took the seat, the host removed it, or the room has ended."""

JSON: Final[st.SearchStrategy[Any]] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
HINTS: Final[dict[str, st.SearchStrategy[Any]]] = {
    "game": st.sampled_from(["duel", "poker"]),
    "seat": st.integers(0, 3),
    "action": st.sampled_from(["d1", "d2", "d9", "single", "double", "-d1", "declare"]),
    "at": st.integers(0, 12),
    "options": st.sampled_from([{}, {"deals": 1}, {"deals": 2}, {"colour": "red"}]),
    "text": st.text(min_size=1, max_size=20),
    "name": st.text(min_size=1, max_size=12),
}
"""Values that get further than those that the schema alone would suggest."""


def valid(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that ``schema``, as ours are written, allows."""
    match schema:
        case {"$ref": reference}:
            return valid(SCHEMA[reference.rpartition("/")[2]])
        case {"anyOf": kinds}:
            return st.one_of(*map(valid, kinds))
        case {"enum": values}:
            return st.sampled_from(values)
        case {"type": "integer"}:
            return st.integers(schema.get("minimum", -(2**60)), schema.get("maximum", 2**60))
        case {"type": "string", "pattern": pattern}:
            return st.from_regex(pattern.removesuffix("(?!\\n)$"), fullmatch=True)
        case {"type": "string"}:
            return st.text(min_size=schema.get("minLength", 0), max_size=min(schema.get("maxLength", 40), 40))
        case {"type": "boolean"}:
            return st.booleans()
        case {"type": "null"}:
            return st.none()
        case {"type": "object", "properties": properties}:
            required = set(schema.get("required", ()))
            made = {name: HINTS.get(name, valid(inner)) for name, inner in properties.items()}
            return st.fixed_dictionaries(
                {name: values for name, values in made.items() if name in required},
                optional={name: values for name, values in made.items() if name not in required},
            )
        case {"type": "object"}:
            return st.dictionaries(st.text(max_size=6), st.integers() | st.text(max_size=6), max_size=3)
        case _:
            raise NotImplementedError(schema)


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    """A command by the schema, most of the time with something changed."""
    message: dict[str, Any] = draw(valid(SCHEMA[draw(st.sampled_from(COMMANDS))]))
    match draw(st.integers(0, 5)):
        case 0:
            message[draw(st.sampled_from(sorted(message)))] = draw(JSON)
        case 1:
            del message[draw(st.sampled_from(sorted(message)))]
        case 2:
            message[draw(st.text(max_size=8))] = draw(JSON)
        case _:
            pass
    return message


def aimed(message: dict[str, Any], place: dict[str, Any], rng: Random) -> dict[str, Any]:
    """The message at the room that there is, most of the time: codes and tokens cannot be guessed."""
    real = {"code": place["code"], "room": place["room"], "token": place["token"]}
    return {name: real[name] if name in real and rng.random() < 0.8 else value for name, value in message.items()}


@settings(
    max_examples=40,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # a script of a dozen messages needs no shrinking
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(st.tuples(st.integers(0, 2), messages()), min_size=3, max_size=14), st.integers(0, 2**32))
def test_whatever_is_sent_in_whatever_order_each_message_has_one_answer(
    script: list[tuple[int, dict[str, Any]]], seed: int
) -> None:
    asyncio.run(scenario(script, Random(seed)))


async def scenario(script: list[tuple[int, dict[str, Any]]], rng: Random) -> None:
    async with gate(FREE) as opened, opened.wire("Ann") as ann:
        assert (await ann.ask("create", game="duel", name="Ann"))["t"] == "accepted"
        wires = [ann, await opened.wire("Bob").__aenter__(), await opened.wire("Eve").__aenter__()]
        for who, message in script:
            if rng.random() < 0.2:
                opened.house.clock.now += rng.randrange(6_000)
                for host in tuple(opened.house.hall.hosts.values()):
                    await host.fire()
            frame = json.dumps(aimed(message, ann.place, rng))
            if len(frame.encode()) <= MAX_COMMAND_BYTES:
                wires[who] = await sent(opened, wires[who], frame)
        for wire in wires:
            try:
                assert (await wire.ask("list"))["t"] == "accepted"
            except ConnectionClosed:
                assert wire.socket.close_code in TAKEN_AWAY
            await wire.socket.close()
        assert opened.house.counted("fudaza_internal_errors_total") == 0
        for host in opened.house.hall.hosts.values():
            entries = [decode_entry(each.data) for each in opened.house.memory.entries[host.room.id]]
            assert encode(replay(entries, games=GAMES)) == encode(host.room)


async def sent(opened: Gate, wire: Wire, frame: str) -> Wire:
    """Send and wait for the one answer; a new connection if this one had lost its seat to another, or the room closed.
    An answer too many would be taken for the next one's, which has another id.
    """
    try:
        await wire.socket.send(frame)
        answer = await wire.answer()
    except ConnectionClosed:
        assert wire.socket.close_code in TAKEN_AWAY
        return await opened.wire("again").__aenter__()
    assert answer["id"] in (None, json.loads(frame).get("id"))
    return wire


# Bytes -----------------------------------------------------------------------------------------------------------

MOST_FRAMES: Final = 10
"""Of a connection at once, here: few, so that many of those below are floods."""


class Cable(asyncio.Transport):
    """A transport without a socket: what is written is kept, and perhaps not read."""

    def __init__(self, *, reads: bool) -> None:
        super().__init__({"peername": ("203.0.113.7", 5123)})
        self.connection: GuardedConnection
        self.written = 0
        self.paused = False
        self._reads = reads
        self._closing = False
        self._loop = asyncio.get_running_loop()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self._closing, "written to a connection that was cut off"
        self.written += len(data)

    def get_write_buffer_size(self) -> int:
        return 0 if self._reads else self.written

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        pass

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        if not self._closing:
            self._closing = True
            self._loop.call_soon(self.connection.connection_lost, None)


class Reader:
    """What a connection takes for the library's server: it shakes hands, and reads until the end."""

    def __init__(self) -> None:
        self.handler_tasks: set[asyncio.Task[None]] = set()
        self.read = 0

    def is_serving(self) -> bool:
        return True

    async def handler(self, connection: GuardedConnection) -> None:
        await connection.handshake(server_header=None)
        if connection.state is State.OPEN:
            with suppress(ConnectionClosed):
                while True:
                    await connection.recv()
                    self.read += 1


@example(seed=0, cut=64, reads=True, greeting="broken")
@given(st.integers(0, 2**32), st.integers(1, 64), st.booleans(), st.sampled_from(["right", "none", "broken"]))
def test_the_door_takes_any_bytes_to_an_end(seed: int, cut: int, reads: bool, greeting: str) -> None:
    """Frames of every kind, right and wrong, cut anywhere, before a handshake or after one, from somebody who reads or
    does not: they are read, or the connection is ended with a code or cut off; no exception escapes to the event loop,
    nothing is written to who was cut off, and the door counts every socket out again.
    """
    asyncio.run(take_any_bytes(Random(seed), cut * 16, greeting, reads=reads))


async def take_any_bytes(rng: Random, cut: int, greeting: str, *, reads: bool) -> None:
    settings = Settings(data="", commands_per_second=1, command_burst=MOST_FRAMES // 10, write_buffer=4_096)
    escaped: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: escaped.append(context))
    metrics, seconds = Metrics(), 0.0
    door = Door(settings, metrics, clock=lambda: seconds)
    protocol = ServerProtocol(max_size=MAX_COMMAND_BYTES, subprotocols=[Subprotocol(SUBPROTOCOL)])
    reader, cable = Reader(), Cable(reads=reads)
    cable.connection = GuardedConnection(door, protocol, reader, max_queue=8)
    cable.connection.connection_made(cable)
    hello = {"right": HANDSHAKE + "\r\n", "none": "", "broken": HANDSHAKE.replace("Upgrade: w", "Upgrade: x") + "\r\n"}
    greeted = hello[greeting].encode()
    if rng.random() < 0.8:  # otherwise frames come before the handshake is answered
        cable.connection.data_received(greeted)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        greeted = b""
    frames = [some_frame(rng) for _ in range(rng.choice((6, 12, 40)))]
    data = greeted + b"".join(frames)

    for start in range(0, len(data), cut):
        if cable.is_closing():
            break
        cable.connection.data_received(data[start : start + cut])
        seconds += rng.choice((0.0, 0.0, 1.0))
        while rng.random() < 0.5 or cable.paused:
            await asyncio.sleep(0)
            if cable.is_closing():
                break
    if not cable.is_closing():
        cable.connection.eof_received()
        cable.close()
    await asyncio.gather(*reader.handler_tasks)

    assert escaped == []
    assert protocol.state is State.CLOSED
    assert door.sockets == 0
    assert door.claim("203.0.113.7"), "the address has its socket back"
    assert reader.read <= MOST_FRAMES * (1 + seconds)
    if protocol.close_sent is not None:
        assert (
            protocol.close_sent.code in {1000, 1002, 1007, 1009, Close.TOO_MANY_STRIKES}
            or 3000 <= protocol.close_sent.code < 5000
            or (protocol.close_rcvd is not None and protocol.close_sent.code == protocol.close_rcvd.code)
        )
