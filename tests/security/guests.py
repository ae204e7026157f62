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
ANOTHER_HISTORY: Final = "facade"
"""A mark that most likely is none of the room's."""
_NONSENSE: Final = ("{", "[]", '{"t":"act"}', '{"t":"fly","id":"q83Jxk0v_yP2sE1d.1"}')


class Line:
    """One connection of a guest."""

    def __init__(self, socket: ClientConnection, number: int) -> None:
        self.socket = socket
        self.seat: Viewer = None
        self.number = number
        """The last event that is known over it."""
        self.hung_up = False
        """Its end is expected, and nobody comes again because of it."""
        self.waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        """By the id of the command."""
        self.reading: asyncio.Task[None]


class Guest:
    """One person: connections one after the other, now and then two at a time, and everything that came over them."""

    def __init__(self, name: str, game: AnyGame, ports: Sequence[int], rng: Random) -> None:
        self.name = name
        self.game = game
        self.rng = rng
        self.frames: list[Frame] = []
        self.closes: list[tuple[int | None, str | None]] = []
        """Code and reason of each connection's end."""
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
        self._actions: dict[str, str] = {}
        """Of each command that had one, by its id."""
        self._asked: dict[str, str] = {}
        """Of each command that waits for its answer, what it is."""
        self._mark: str | None = None
        """Of the last event."""
        self._muted: set[str] = set()
        self._lines: list[Line] = []
        """One's connections; the last is the one that is used."""
        self._doing: set[asyncio.Task[None]] = set()
        self._problems: list[BaseException] = []
        """What went wrong on this side, or came as nobody expected it."""
        self._troubled = asyncio.Event()
        self._one_thing_at_a_time = asyncio.Lock()

    @property
    def _line(self) -> Line:
        return self._lines[-1]

    # The connection -------------------------------------------------------------------------------------------

    async def connect(self) -> None:
        """Come through one of the doors, any of them."""
        port = self.rng.choice(self._ports)
        socket = await connect(
            f"ws://127.0.0.1:{port}", subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None, close_timeout=1
        )
        line = Line(socket, self._line.number if self._lines else 0)
        self._lines.append(line)
        line.reading = asyncio.create_task(self._read(line))

    async def drop(self) -> None:
        """Be cut off, without a word."""
        self._line.hung_up = True
        self._line.socket.transport.abort()
        await _read_to_the_end(self._line)

    async def stop(self) -> None:
        """Do nothing more; whatever ends the connection from now on is expected."""
        self._line.hung_up = True
        for task in tuple(self._doing):
            task.cancel()
        await asyncio.gather(*self._doing, return_exceptions=True)
        self._line.hung_up = True  # who was about to come again has another by now

    async def leave(self) -> None:
        """Hang up, and do nothing more."""
        await self.stop()
        await self._line.socket.close()
        await _read_to_the_end(self._line)
        assert not self._problems, self._problems

    async def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        """Do a command and wait for its answer; raises ConnectionClosed where none comes."""
        self._sent += 1
        command_id = f"{self._session}.{self._sent}"
        self.secrets.add(command_id)
        if "action" in fields:
            self._actions[command_id] = fields["action"]
        line = self._line
        answer = line.waiting[command_id] = asyncio.get_running_loop().create_future()
        self._asked[command_id] = command
        try:
            await line.socket.send(json.dumps({"t": command, "id": command_id, **fields}))
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

    async def _read(self, line: Line) -> None:
        try:
            with suppress(ConnectionClosed):
                while True:
                    text = str(await line.socket.recv())
                    message = json.loads(text)
                    self._seen(line, message)
                    action = self._actions.get(message.get("id") or "")
                    self.frames.append(Frame(self.name, line.seat, line.number, frozenset(self._muted), action, text))
                    self._react(line, message)
        except Exception as problem:  # noqa: BLE001 - nobody waits for this task; whoever waits for its person is told
            self._trouble(problem)
            line.socket.transport.abort()
        finally:
            for answer in line.waiting.values():
                if not answer.done():
                    answer.set_exception(ConnectionClosed(None, None))
                    answer.exception()  # whoever asked may have gone
            line.waiting.clear()
        self.closes.append((line.socket.close_code, line.socket.close_reason))
        if not line.hung_up and self.place:
            self._do(self.come_back)  # a node that was slow for a moment was taken for dead, and asks all to come again

    def _seen(self, line: Line, message: dict[str, Any]) -> None:
        """Note who one is and what one knows, before judging what was read."""
        match message["t"]:
            case "accepted" if (place := message.get("place")) is not None:
                line.seat = None if place["seat"] is None else Seat(place["seat"])
                if place.get("token"):
                    self.place = place
                    self.secrets.add(place["token"])
            case "events":
                line.number = message["first"] + len(message["events"]) - 1
                self._mark = message.get("mark")
            case "snapshot":
                line.number = message["at"]
                self._mark = message.get("mark")
            case _:
                return

    def _react(self, line: Line, message: dict[str, Any]) -> None:
        answer = line.waiting.pop(message.get("id") or "", None)
        if answer is not None and not answer.done():
            answer.set_result(message)
        tags = [event["e"] for event in message.get("events", ())]
        if "match-ended" in tags or message.get("phase") == "finished":
            self.over.set()
        if line is not self._line:
            return  # what is asked here was, or will be, asked over the newer one
        if "match-opened" in tags:
            self._do(self._contribute)
        if message["t"] == "turn" and line.seat is not None:
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
        if self._line.seat is not None:
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
        """Lose the connection, and take one's seat again: from the last number one has, or from nothing."""
        await self.drop()
        await self.connect()
        await self._resume(from_nothing=from_nothing)

    async def come_twice(self) -> None:
        """Take one's seat over another connection while the first is up: that is told so, and closed."""
        before = self._line
        before.hung_up = True
        await self.connect()
        if not await self._resume():
            before.socket.transport.abort()
        await _read_to_the_end(before)

    async def _resume(self, *, from_nothing: bool | None = None) -> bool:
        """Whether the seat is one's own again. Now and then with the mark of another history, or none."""
        nothing = self.rng.random() < 0.3 if from_nothing is None else from_nothing
        number = self._line.number
        after = 0 if nothing else max(0, number - self.rng.randrange(4))
        mark = self.rng.choice((None, self._mark if after == number else None, ANOTHER_HISTORY))
        fields = {} if mark is None else {"mark": mark}
        answer = await self.ask("resume", room=self.place["room"], token=self.place["token"], after=after, **fields)
        if answer["t"] == "refused":  # the match ended meanwhile, and who is away then loses the seat
            assert answer["code"] == "bad-token", answer
            self._muted.clear()  # a mute is its person's, who is nobody in the room any more
            await self.ask("watch", code=self.place["code"])
        return bool(answer["t"] == "accepted")

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
                await self._try_something(self._line.number)
            case 5:
                await self.ask("join", code="AAAAAA", name=self.name)
            case 6:
                await self._line.socket.send(self.rng.choice(_NONSENSE))
            case 7 if self._line.seat is not None:
                await (self.come_twice() if self.rng.random() < 0.3 else self.come_back())

    async def stand_up(self) -> None:
        """Leave for good, and watch: on the same connection, which is no seat's any more."""
        async with self._one_thing_at_a_time:
            if (await self.ask("leave"))["t"] == "accepted":
                self._line.seat = None
                self._muted.clear()
            await self.ask("watch", code=self.place["code"])

    async def silence(self, seat: int) -> None:
        """Mute a person for everyone, as the host."""
        async with self._one_thing_at_a_time:
            await self.ask("mute", seat=seat, everyone=True)

    async def remove(self, seat: int) -> None:
        """Take the seat from its person, as the host."""
        async with self._one_thing_at_a_time:
            await self.ask("clear-seat", seat=seat)

    async def be_there_twice(self) -> None:
        """``come_twice``, if one has a seat."""
        async with self._one_thing_at_a_time:
            if self._line.seat is not None:
                await self.come_twice()

    async def mute(self, seat: int, name: str) -> None:
        """Do not read ``name`` any more."""
        answer = await self.insist("mute", seat=seat)
        if answer["t"] == "accepted":
            self._muted.add(name)

    def told(self) -> dict[str, Any]:
        """Where this person stands: what is looked at when a match does not end."""
        return {
            "connected": self._line.socket.state.name,
            "close": self._line.socket.close_code,
            "reading": not self._line.reading.done(),
            "seat": self._line.seat,
            "number": self._line.number,
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


async def _read_to_the_end(line: Line) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.wait([line.reading])  # whoever gives up waiting must not end the reading


def _where(task: asyncio.Task[Any]) -> str:
    """Where in its work ``task`` waits: the awaited calls, the outermost first."""
    names: list[str] = []
    inner: Any = task.get_coro()
    while getattr(inner, "cr_frame", None) is not None:
        names.append(f"{inner.__name__}:{inner.cr_frame.f_lineno}")
        inner = inner.cr_await
    return " > ".join(names)
