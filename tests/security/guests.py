"""People who play at random over real sockets, behave badly now and then, and keep everything they are sent."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from engine.game import AnyGame, Seat, Viewer
from protocol.events import Signal
from protocol.limits import SUBPROTOCOL
from tests.security.judge import Frame

PATIENCE_SECONDS: Final = 120.0
"""Matches take parts of a second; only what hangs, or a starved machine, takes so long."""
_NONSENSE: Final = ("{", "[]", '{"t":"act"}', '{"t":"fly","id":"q83Jxk0v_yP2sE1d.1"}')


class Guest:
    """One person: connections one after the other, and everything that came over them."""

    def __init__(self, name: str, game: AnyGame, ports: Sequence[int], rng: Random) -> None:
        self.name = name
        self.game = game
        self.rng = rng
        self.frames: list[Frame] = []
        self.secrets: set[str] = set()
        """Tokens and command ids."""
        self.place: dict[str, Any] = {}
        self.over = asyncio.Event()
        """The match has ended, as far as this person was told."""
        self.restless = 0.0
        """How likely something is done besides playing, after each frame."""
        self._ports = ports
        self._session = secrets.token_urlsafe(18)
        self._sent = 0
        self._named: set[str] = set()
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._asked: dict[str, str] = {}
        """Of each command that waits for its answer, what it is."""
        self._seat: Viewer = None
        self._number = 0
        self._muted: set[str] = set()
        self._hung_up = False
        self._socket: ClientConnection
        self._reader: asyncio.Task[None] | None = None
        self._doing: set[asyncio.Task[None]] = set()
        self._problems: list[BaseException] = []
        """What went wrong on this side, or came as nobody expected it."""
        self._troubled = asyncio.Event()
        self._one_thing_at_a_time = asyncio.Lock()

    # The connection -------------------------------------------------------------------------------------------

    async def connect(self) -> None:
        """Come through one of the doors, any of them."""
        port = self.rng.choice(self._ports)
        self._socket = await connect(
            f"ws://127.0.0.1:{port}", subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None, close_timeout=1
        )
        self._seat = None
        self._hung_up = False
        self._reader = asyncio.create_task(self._read(self._socket))

    async def drop(self) -> None:
        """Be cut off, without a word."""
        self._hung_up = True
        self._socket.transport.abort()
        await self._read_to_the_end()

    async def leave(self) -> None:
        """Hang up, and do nothing more."""
        self._hung_up = True
        for task in tuple(self._doing):
            task.cancel()
        await asyncio.gather(*self._doing, return_exceptions=True)
        await self._socket.close()
        await self._read_to_the_end()
        assert not self._problems, self._problems

    async def _read_to_the_end(self) -> None:
        assert self._reader is not None
        await asyncio.wait([self._reader])  # whoever gives up waiting must not end the reading

    async def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        """Do a command and wait for its answer; raises ConnectionClosed where none comes."""
        self._sent += 1
        command_id = f"{self._session}.{self._sent}"
        self.secrets.add(command_id)
        if "action" in fields:
            self._named.add(fields["action"])
        answer = self._waiting[command_id] = asyncio.get_running_loop().create_future()
        self._asked[command_id] = command
        try:
            await self._socket.send(json.dumps({"t": command, "id": command_id, **fields}))
            async with asyncio.timeout(PATIENCE_SECONDS):
                message: dict[str, Any] = await answer
                return message
        finally:
            del self._asked[command_id]

    async def insist(self, command: str, **fields: Any) -> dict[str, Any]:
        """``ask``, and again over the next connection where this one is cut off: for what a match cannot go without."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                try:
                    return await self.ask(command, **fields)
                except ConnectionClosed:
                    await asyncio.sleep(0.05)  # ``come_back`` is on its way

    # Reading --------------------------------------------------------------------------------------------------

    async def _read(self, socket: ClientConnection) -> None:
        try:
            with suppress(ConnectionClosed):
                while True:
                    text = str(await socket.recv())
                    message = json.loads(text)
                    self._seen(message)
                    self.frames.append(
                        Frame(self.name, self._seat, self._number, frozenset(self._muted), frozenset(self._named), text)
                    )
                    self._react(message)
        except Exception as problem:  # noqa: BLE001 - nobody waits for this task; whoever waits for its person is told
            self._trouble(problem)
            socket.transport.abort()
        finally:
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(ConnectionClosed(None, None))
                    answer.exception()  # whoever asked may have gone
            self._waiting.clear()
        if not self._hung_up and self.place:
            self._do(self.come_back)  # a node that was slow for a moment was taken for dead, and asks all to come again

    def _seen(self, message: dict[str, Any]) -> None:
        """Note who one is and what one knows, before judging what was read."""
        match message["t"]:
            case "accepted" if (place := message.get("place")) is not None:
                self._seat = None if place["seat"] is None else Seat(place["seat"])
                if place.get("token"):
                    self.place = place
                    self.secrets.add(place["token"])
            case "events":
                self._number = message["first"] + len(message["events"]) - 1
            case "snapshot":
                self._number = message["at"]
            case _:
                return

    def _react(self, message: dict[str, Any]) -> None:
        answer = self._waiting.pop(message.get("id") or "", None)
        if answer is not None and not answer.done():
            answer.set_result(message)
        tags = [event["e"] for event in message.get("events", ())]
        if "match-ended" in tags or message.get("phase") == "finished":
            self.over.set()
        if "match-opened" in tags:
            self._do(self._contribute)
        if message["t"] == "turn" and self._seat is not None:
            self._do(partial(self._act, message))
        elif message["t"] in {"events", "turn"} and self.rng.random() < self.restless and not self._doing:
            self._do(self._wander)

    def _do(self, what: Callable[[], Coroutine[Any, Any, None]]) -> None:
        task = asyncio.create_task(self._quietly(what))
        self._doing.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._doing.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            self._trouble(problem)

    async def in_trouble(self) -> None:
        """Wait for the first problem, and raise it."""
        await self._troubled.wait()
        raise self._problems[0]

    def _trouble(self, problem: BaseException) -> None:
        self._problems.append(problem)
        self._troubled.set()

    async def _quietly(self, what: Callable[[], Coroutine[Any, Any, None]]) -> None:
        with suppress(ConnectionClosed, OSError):
            async with self._one_thing_at_a_time:
                await what()

    # Playing --------------------------------------------------------------------------------------------------

    async def _contribute(self) -> None:
        if self._seat is not None:
            value = secrets.token_hex(32)
            await self.ask("contribute", value=value)
            await self.ask("look")  # others may not have contributed yet

    async def _act(self, turn: dict[str, Any]) -> None:
        if self.rng.random() < self.restless:
            await self._try_something(turn["at"])
        if self.rng.random() < self.restless / 2:
            await self.come_back()  # the turn comes again, or an AI has played by then
            return
        await self.ask("act", action=self.rng.choice(turn["legal"]), at=turn["at"])

    async def _try_something(self, at: int) -> None:
        """An action that is most likely illegal: the refusal must not tell more than one knows."""
        card, other = self.rng.choice(self.game.cards), self.rng.choice(self.game.cards)
        tries = (card, f"{card}*{other}", f"*{card}", f"-{card}", "declare", "koi", "go", "stop", "nonsense")
        await self.ask("act", action=self.rng.choice(tries), at=at)

    async def come_back(self, *, from_nothing: bool | None = None) -> None:
        """Lose the connection and take one's seat again: from the last number one has, or from nothing."""
        await self.drop()
        await self.connect()
        nothing = self.rng.random() < 0.3 if from_nothing is None else from_nothing
        after = 0 if nothing else max(0, self._number - self.rng.randrange(4))
        answer = await self.ask("resume", room=self.place["room"], token=self.place["token"], after=after)
        if answer["t"] == "refused":  # the match ended meanwhile, and who is away then loses the seat
            assert answer["code"] == "bad-token", answer
            self._muted.clear()  # a mute is its person's, who is nobody in the room any more
            await self.ask("watch", code=self.place["code"])

    async def _wander(self) -> None:
        match self.rng.randrange(8):
            case 0:
                await self.ask("look")
            case 1:
                await self.ask("list")
            case 2:
                await self.ask("chat", text=f"I am {self.name}")
            case 3:
                await self.ask("wink", signal=self.rng.choice(list(Signal)).value)
            case 4:
                await self._try_something(self._number)
            case 5:
                await self.ask("join", code="AAAAAA", name=self.name)
            case 6:
                await self._socket.send(self.rng.choice(_NONSENSE))
            case 7 if self._seat is not None:
                await self.come_back()

    async def stand_up(self) -> None:
        """Leave for good, and watch: on the same connection, which is no seat's any more."""
        async with self._one_thing_at_a_time:
            if (await self.ask("leave"))["t"] == "accepted":
                self._seat = None
                self._muted.clear()
            await self.ask("watch", code=self.place["code"])

    async def silence(self, seat: int) -> None:
        """Mute a person for everyone, as the host."""
        async with self._one_thing_at_a_time:
            await self.ask("mute", seat=seat, everyone=True)

    async def mute(self, seat: int, name: str) -> None:
        """Do not read ``name`` any more."""
        answer = await self.insist("mute", seat=seat)
        if answer["t"] == "accepted":
            self._muted.add(name)

    def told(self) -> dict[str, Any]:
        """Where this person stands: what is looked at when a match does not end."""
        return {
            "connected": self._socket.state.name,
            "close": self._socket.close_code,
            "reading": self._reader is not None and not self._reader.done(),
            "seat": self._seat,
            "number": self._number,
            "over": self.over.is_set(),
            "waits for": list(self._asked.values()),
            "does": [_where(task) for task in self._doing],
            "locked": self._one_thing_at_a_time.locked(),
            "problems": [repr(problem) for problem in self._problems],
            "last": [frame.text[:200] for frame in self.frames[-4:]],
        }

    def owned(self) -> Iterator[tuple[str, str]]:
        """Each secret, and whose it is."""
        return ((secret, self.name) for secret in self.secrets)


def _where(task: asyncio.Task[Any]) -> str:
    """Where in its work ``task`` waits: the awaited calls, the outermost first."""
    names: list[str] = []
    inner: Any = task.get_coro()
    while getattr(inner, "cr_frame", None) is not None:
        names.append(f"{inner.__name__}:{inner.cr_frame.f_lineno}")
        inner = inner.cr_await
    return " > ".join(names)
