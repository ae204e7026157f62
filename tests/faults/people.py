"""People who play on whatever breaks: they come again through another node and send what was not answered again."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.protocol import State
from websockets.typing import Subprotocol

from protocol.limits import SUBPROTOCOL
from protocol.messages import (
    Accepted,
    AnyCommand,
    AnyServerMessage,
    Command,
    Create,
    Join,
    Look,
    Notice,
    RefusedMessage,
    Resume,
    Snapshot,
    Turn,
    Watch,
)
from tests.e2e.client import Player

AGAIN: Final = frozenset({"store-unavailable", "store-full", "draining", "too-fast"})
"""Refusals after which the same command id is sent again."""
PATIENCE_SECONDS: Final = 90.0
_RETRY_SECONDS: Final = 0.05
SILENCE_SECONDS: Final = 2.0
"""So long a node may say nothing to a handshake or ping before a person tries another."""
_EVENTS_PER_LOOK: Final = 8
"""Who plays, or watches, asks after so many events for everything that they know."""


_everybody: list[Guest] = []


async def all_leave() -> None:
    """Everybody who has a connection loses it, and nobody comes again: not even in what a failed test left running."""
    while _everybody:
        guest = _everybody.pop()
        guest.has_left = True
        if guest._socket is not None:
            await guest.vanish()


class Guest(Player):
    """One person. ``ports`` are the nodes that they try in turn, beginning anew whenever a connection breaks; after so
    many ``silence_seconds`` they take it for broken.
    """

    def __init__(
        self,
        ports: Iterable[int] | Callable[[], int],
        name: str,
        seed: int = 0,
        *,
        silence_seconds: float = SILENCE_SECONDS,
    ) -> None:
        if callable(ports):
            port = ports
        else:
            turn = itertools.cycle(ports)
            port = lambda: next(turn)  # noqa: E731
        super().__init__(port, name, seed)
        _everybody.append(self)
        self.has_left = False
        self.silence_seconds = silence_seconds
        self.pace_seconds = 0.0
        """How long they think about a move."""
        self.given: dict[str, AnyCommand] = {}
        """Every command, by id."""
        self.refused: dict[str, str] = {}
        """The codes of commands that were refused for good."""
        self.rolled_back = 0
        """How often the server said that it had lost moves."""
        self.snapshots: list[Snapshot] = []
        """All, but those of a history that the server has lost."""
        self.interruptions: list[float] = []
        """From each connection's end to being back, in seconds."""
        self.before_giving: Callable[[AnyCommand], None] = lambda _: None
        """Told of each command before it is first sent."""
        self._looks = False
        self._looking = False
        """A ``look`` was accepted: the next message is its snapshot."""
        self._acted = 0
        """The decision that was last answered on this connection: a ``look`` is told again what is asked."""

    @property
    def room(self) -> str:
        assert self.place is not None
        return self.place.room

    async def connect(self) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                assert not self.has_left, "the test is over"
                try:
                    self._socket = await connect(
                        f"ws://127.0.0.1:{self._port()}",
                        subprotocols=[Subprotocol(SUBPROTOCOL)],
                        compression=None,
                        open_timeout=self.silence_seconds,
                        ping_interval=self.silence_seconds,
                        ping_timeout=self.silence_seconds,
                        close_timeout=0.2,
                    )
                except (OSError, InvalidHandshake):  # TimeoutError is an OSError
                    await asyncio.sleep(_RETRY_SECONDS)
                else:
                    self._looking, self._acted = False, 0
                    return

    @property
    def is_connected(self) -> bool:
        """As far as this side knows."""
        return self._socket is not None and self._socket.state is State.OPEN

    async def until_started(self) -> None:
        """Wait until the hall has taken the start of the match."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while self._pending:
                await self._take(await self.hear())

    async def vanish(self) -> None:
        """Lose the connection without a word."""
        assert self._socket is not None
        self._socket.transport.abort()
        await self._socket.wait_closed()

    async def play(self) -> None:
        self._looks = True
        async with asyncio.timeout(PATIENCE_SECONDS):
            while self.result is None:
                try:
                    await self._take(await self.hear())
                except ConnectionClosed:
                    began = time.monotonic()
                    await self._come_back()
                    self.interruptions.append(time.monotonic() - began)

    async def come_back(self) -> None:
        """Be seated again, and have seen everything up to then."""
        await self._come_back()

    async def seated_again(self, other: Guest) -> Snapshot | None:
        """Take the seat of ``other``, who is the same person, and see everything; None if it is theirs no more."""
        self.place = other.place
        while True:
            await self.connect()
            answer = await self.ask(self._resume())
            if isinstance(answer, Accepted):
                self.place = other.place = answer.place
                return await self.expect(Snapshot)
            if answer.code == "bad-token":
                return None
            assert answer.code in AGAIN, answer
            await self.vanish()
            await asyncio.sleep(_RETRY_SECONDS)

    async def _enter(self, command: Create | Join | Watch) -> str:
        """Sit down, however often it has to be asked, always with the same id."""
        self.given[command.id] = command
        while True:
            try:
                answer = await self.ask(command)
            except ConnectionClosed:
                await self.connect()
                continue
            if isinstance(answer, Accepted):
                break
            assert answer.code in AGAIN, answer
            await asyncio.sleep(_RETRY_SECONDS)
            if answer.code == "draining":
                await self.connect()
        await self._take(answer)
        assert self.place is not None
        return self.place.code

    async def _come_back(self) -> None:
        while True:
            await self.connect()
            command = self._return()
            try:
                answer = await self.ask(command)
                if isinstance(answer, Accepted):
                    await self._take(answer)
                    self.resumed += 1
                    for pending in tuple(self._pending.values()):
                        await self._send(pending)
                    return
            except ConnectionClosed:
                pass
            else:
                assert answer.code in AGAIN, answer
                await self.vanish()
            await asyncio.sleep(_RETRY_SECONDS)

    def _return(self) -> Resume | Watch:
        """The command that brings this person, or spectator, back."""
        assert self.place is not None
        return self._resume() if self.place.seat is not None else Watch(id=self.next_id(), code=self.place.code)

    async def _saw(self, number: int, event: dict[str, Any]) -> None:
        await super()._saw(number, event)
        if self._looks and number % _EVENTS_PER_LOOK == 0:
            await self._give(Look(id=self.next_id()))

    async def _give(self, command: AnyCommand) -> None:
        if self.pace_seconds:
            await asyncio.sleep(self.pace_seconds)
        self.given[command.id] = command
        self.before_giving(command)
        await super()._give(command)

    async def _take(self, message: AnyServerMessage) -> None:
        match message:
            case RefusedMessage(id=command, code=code) if code in AGAIN:
                await asyncio.sleep(_RETRY_SECONDS)
                if command in self._pending:
                    await self._send(self._pending[command])
            case RefusedMessage(id=command, code=code):
                assert command is not None, message
                self.refused[command] = code
                await super()._take(message)
            case Notice(code="rolled-back"):
                self.rolled_back += 1
                self.number = self._acted = 0
                self.snapshots.clear()
                await super()._take(message)
            case Snapshot():
                looked, self._looking = self._looking, False
                self.snapshots.append(message)
                if looked:
                    assert message.at == self.number, f"{self.name} looked at event {self.number} and saw {message.at}"
                else:
                    await super()._take(message)
                # what has come since the last one is all there is: a match that is over stays over
                if message.phase == "finished" and self.result is None:
                    self.result = {"e": "match-ended"}
            case Accepted(id=command):
                self._looking = isinstance(self._pending.get(command), Look)
                await super()._take(message)
            case Turn(at=decision):
                if decision != self._acted:
                    self._acted = decision
                    await super()._take(message)
            case _:
                await super()._take(message)

    async def _send(self, command: Command) -> None:
        try:
            await super()._send(command)
        except ConnectionClosed:
            if command.id not in self._pending:
                raise  # it is sent again after the return, which the reader notices to be needed
