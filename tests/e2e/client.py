"""A person at a table, as a program: plays to the end of the match through whatever happens to its connection.

It checks what every client may rely on: numbers come without holes and never twice, every command is answered, and a
command whose answer was lost is sent again with its old id.
"""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Subprotocol

from protocol.codec import decode_message, encode
from protocol.limits import SUBPROTOCOL
from protocol.messages import (
    Accepted,
    Act,
    AnyCommand,
    AnyServerMessage,
    Command,
    Contribute,
    Create,
    Events,
    Join,
    Notice,
    Place,
    Ready,
    RefusedMessage,
    Resume,
    Snapshot,
    Start,
    Turn,
    Watch,
)

PATIENCE_SECONDS: Final = 60.0
_RETRY_SECONDS: Final = 0.05
_HARMLESS: Final = frozenset({"not-now", "stale", "already-answered"})
"""What a command can meet that time has overtaken."""

T = TypeVar("T")


class Player:
    """One person. ``sit`` or ``join`` first, then ``play`` until the match is over."""

    def __init__(self, port: Callable[[], int], name: str, seed: int = 0) -> None:
        self.name = name
        self.place: Place | None = None
        self.events: dict[int, dict[str, Any]] = {}
        """By number, as this person was shown them."""
        self.first = 0
        """The number of the first event that was shown rather than told in a snapshot."""
        self.number = 0
        self.mark: str | None = None
        """Of the last event, as it came with it."""
        self.notices: list[str] = []
        self.announced: list[str] = []
        """The texts of announcements."""
        self.accepted: dict[str, Accepted] = {}
        self.resumed = 0
        self.result: dict[str, Any] | None = None
        """The ``match-ended`` event."""
        self._progressed = asyncio.Event()
        self._port = port
        self._rng = random.Random(seed)
        self._session = secrets.token_urlsafe(12)
        self._sent = 0
        self._socket: ClientConnection | None = None
        self._pending: dict[str, AnyCommand] = {}
        """Commands without an answer, in the order in which they were given."""

    # Sitting down ---------------------------------------------------------------------------------------------

    async def connect(self) -> None:
        """Connect, again and again until somebody answers."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                try:
                    self._socket = await connect(
                        f"ws://127.0.0.1:{self._port()}",
                        subprotocols=[Subprotocol(SUBPROTOCOL)],
                        compression=None,
                        close_timeout=1,
                    )
                except (OSError, InvalidHandshake):
                    await asyncio.sleep(_RETRY_SECONDS)
                else:
                    return

    async def sit(self, game: str, **options: str | int) -> str:
        """Open a room; its code."""
        await self.connect()
        return await self._enter(Create(id=self.next_id(), game=game, name=self.name, options=options))

    async def join(self, code: str, seat: int | None = None) -> str:
        await self.connect()
        return await self._enter(Join(id=self.next_id(), code=code, name=self.name, seat=seat))

    async def watch(self, code: str) -> str:
        await self.connect()
        return await self._enter(Watch(id=self.next_id(), code=code))

    async def start(self, level: str = "medium") -> None:
        await self._give(Start(id=self.next_id(), level=level))

    # Playing --------------------------------------------------------------------------------------------------

    async def play(self) -> None:
        """Play until the match is over; come back whenever the connection breaks."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while self.result is None:
                try:
                    await self._take(await self.hear())
                except ConnectionClosed:
                    await self._come_back()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait, while somebody else lets this person play, until ``holds``."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not holds():
                self._progressed.clear()
                await self._progressed.wait()

    async def hear(self) -> AnyServerMessage:
        """The next message."""
        assert self._socket is not None
        message = decode_message(await self._socket.recv(decode=False))
        assert message is not None
        return message

    async def expect(self, kind: type[T]) -> T:
        """The next message of ``kind``; others are taken on the way."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                message = await self.hear()
                await self._take(message)
                if isinstance(message, kind):
                    return message

    async def ask(self, command: AnyCommand) -> Accepted | RefusedMessage:
        """Send a command once and wait for its answer, whatever that is."""
        await self._send(command)
        while True:
            message = await self.hear()
            if isinstance(message, Accepted | RefusedMessage) and message.id == command.id:
                return message
            await self._take(message)

    async def leave_the_room(self) -> None:
        """Close the connection without a word to the room."""
        assert self._socket is not None
        await self._socket.close()

    async def close_code(self) -> int | None:
        """Read until the connection is closed; the code."""
        assert self._socket is not None
        while True:
            try:
                message = await self.hear()
            except ConnectionClosed:
                return self._socket.close_code
            with suppress(ConnectionClosed):  # what it wants to answer may come too late; there may be more to read
                await self._take(message)

    async def _enter(self, command: Create | Join | Watch) -> str:
        self._pending[command.id] = command
        await self._send(command)
        while self.place is None:
            await self._take(await self.hear())
        await self.expect(Snapshot)
        return self.place.code

    async def _come_back(self) -> None:
        """Resume from the last event seen, then send again what was not answered."""
        while True:
            await self.connect()
            try:
                command = self._resume()
                await self._send(command)
                while True:
                    message = await self.hear()
                    await self._take(message)
                    if isinstance(message, Accepted) and message.id == command.id:
                        break
                self.resumed += 1
                self._progressed.set()
                for pending in tuple(self._pending.values()):
                    await self._send(pending)
            except ConnectionClosed:
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                return

    def _resume(self) -> Resume:
        """The command with which this person comes back to where they were."""
        assert self.place is not None
        assert self.place.token is not None
        return Resume(
            id=self.next_id(), room=self.place.room, token=self.place.token, after=self.number, mark=self.mark
        )

    async def _take(self, message: AnyServerMessage) -> None:
        match message:
            case Accepted():
                self._pending.pop(message.id, None)
                self.accepted[message.id] = message
                self.place = message.place or self.place
            case RefusedMessage(code="draining"):
                pass  # the node is about to stop and did nothing: sent again, with its id, to the next one
            case RefusedMessage():
                command = self._pending.pop(message.id or "", None)
                assert message.code in _HARMLESS, f"{command} was refused: {message}"
            case Snapshot():
                assert message.at >= self.number, "a snapshot of the past"
                self.number, self.mark = message.at, message.mark
                self.first = message.at + 1
                self.events.clear()
            case Events():
                for place, raw in enumerate(message.events):
                    await self._saw(message.first + place, msgspec.json.decode(raw))
                self.mark = message.mark
            case Turn():
                await self._give(Act(id=self.next_id(), action=self._rng.choice(message.legal), at=message.at))
            case Notice():
                self.notices.append(message.code)
                if message.code == "announcement":
                    self.announced.append(str(message.params["text"]))
            case _:
                pass
        self._progressed.set()

    async def _saw(self, number: int, event: dict[str, Any]) -> None:
        assert number == self.number + 1, f"event {number} came after {self.number}"
        self.events[number] = event
        self.number = number
        if event["e"] == "match-ended":
            self.result = event
        seat = None if self.place is None else self.place.seat
        if seat is None:
            return
        if event["e"] == "match-opened" and seat in event["contributors"]:
            await self._give(Contribute(id=self.next_id(), value=secrets.token_hex(32)))
        elif event["e"] == "deal-ended":
            await self._give(Ready(id=self.next_id()))

    async def _give(self, command: AnyCommand) -> None:
        self._pending[command.id] = command
        await self._send(command)

    async def _send(self, command: Command) -> None:
        assert self._socket is not None
        await self._socket.send(encode(command), text=True)

    def next_id(self) -> str:
        """The id for another command."""
        self._sent += 1
        return f"{self._session}.{self._sent}"
