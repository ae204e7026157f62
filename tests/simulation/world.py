"""Nodes, a store and people in one virtual world. Everything is the real thing but the wires and the store's program.

Real: the client's ``Core`` and ``Session``; the server's ``Gateway``, ``Hall``, ``RoomHost``, ``Driver``, ``Keeper``.
Made here: the lines between nodes and store, the connections between people and nodes, and what goes wrong with both.
Every line and connection draws from a generator of its own, so that what one does never depends on how others were
ordered.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from random import Random
from types import SimpleNamespace
from typing import Any, Final, cast

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Close as CloseFrame
from websockets.protocol import State

from clients.cli.connection import CannotConnect, Dropped, Trouble, Wire
from engine.game import AnyGame
from server.driver import Driver
from server.entries import Timing
from server.gateway import Gateway
from server.hall import Hall
from server.health import Health
from server.host import Node
from server.index import Index
from server.keeper import Keeper
from server.log import UNKNOWN, RoomLog, StoreUnavailable
from server.metrics import Metrics
from server.presence import Presence
from server.session import Session
from server.settings import Settings
from server.thinkers import Missed, NoAnswer
from server.worker import Answer, Question
from tests.server.memory import MemoryIndex, MemoryLog
from tests.server.roomkit import Dice
from tests.simulation.loop import VirtualLoop, context_of

START_MS: Final = 1_000_000_000
TIMING: Final = Timing(
    contributions_ms=3_000, question_ms=1_000, pause_ms=2_000, redeal_ms=500, grace_ms=4_000, person_idle_ms=60_000
)
SETTINGS: Final = Settings(
    data="", commands_per_second=1e6, command_burst=1_000_000, rooms_per_minute=1e6, talk_per_minute=1e6
)
EXCHANGE_SECONDS: Final = 3.0
PING_SECONDS: Final = 20.0
"""After which silence an end of a connection is taken for gone."""
NODES: Final = 3
OUTSIDE: Final = context_of(None)


class Line:
    """Between a node and the store: stands for a ``RoomLog`` and an ``Index``, whichever ``target`` is."""

    def __init__(self, world: World, node: SimNode, target: MemoryLog | MemoryIndex, name: str) -> None:
        self._world = world
        self._node = node
        self._target = target
        self._rng = Random(f"{world.seed}/line/{name}")

    def __getattr__(self, name: str) -> Callable[..., Any]:
        call = getattr(self._target, name)
        return lambda *args, **options: self._exchange(lambda: call(*args, **options), name)

    async def rooms(self) -> AsyncIterator[str]:
        async def all_of_them() -> list[str]:
            return [room async for room in self._world.memory.rooms()]

        for room in await self._exchange(all_of_them, "rooms"):
            yield room

    def watch(self, room: str, wake: Callable[[int], None]) -> Callable[[], None]:
        """Wake-ups come late, and not at all while the node is deaf."""
        context = context_of(self._node.name)

        def later(version: int) -> None:
            if not self._node.deaf:
                self._world.loop.call_later(self._rng.expovariate(200), wake, version, context=context)

        self._node.wakes.append(later)
        stop = self._world.memory.watch(room, later)

        def stop_both() -> None:
            if later in self._node.wakes:
                self._node.wakes.remove(later)
            stop()

        return stop_both

    async def _exchange(self, call: Callable[[], Any], what: str) -> Any:
        """There, done, and back. On the way either direction may be late, or lost; then nobody knows."""
        loop, rng, node = self._world.loop, self._rng, self._node
        reply: asyncio.Future[Any] = loop.create_future()
        there, back = (rng.expovariate(300) + node.slow * rng.random() for _ in range(2))

        def settle(result: Any, problem: BaseException | None) -> None:
            if reply.done():
                return
            if problem is None:
                reply.set_result(result)
            else:
                reply.set_exception(problem)

        async def do() -> None:
            if self._world.store_down:
                loop.call_later(back, settle, None, StoreUnavailable("nobody there"))
                return
            try:
                result, problem = await call(), None
            except Exception as raised:  # noqa: BLE001 - it travels to the caller
                result, problem = None, raised
            heard = not (node.cut or rng.random() < node.lossy)
            if what in {"append", "read"}:
                self._world.note(f"{node.name} {what}s {'' if heard else '(unheard) '}{problem or result!r}")
            if heard:
                loop.call_later(back, settle, result, problem)

        def arrive() -> None:
            loop.create_task(do(), context=OUTSIDE.copy())

        loop.call_later(EXCHANGE_SECONDS, settle, None, StoreUnavailable("no answer"), context=OUTSIDE)
        if node.cut or rng.random() < node.lossy:
            if rng.random() < 0.5:  # it was on its way, and comes when nobody waits for it any more
                loop.call_later(rng.uniform(1, 2 * EXCHANGE_SECONDS), arrive, context=OUTSIDE)
        else:
            loop.call_later(there, arrive, context=OUTSIDE)
        return await reply


class Thinker:
    """Moves AI seats, mostly."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    async def think(self, question: Question) -> Answer:
        await asyncio.sleep(self._rng.expovariate(5))
        if self._rng.random() < 0.05:
            raise NoAnswer(Missed.LATE)
        return Answer(question.number, self._rng.choice(question.legal))


class SimNode:
    """A node in its process."""

    def __init__(self, world: World, name: str) -> None:
        self.name = name
        self.cut = self.deaf = False
        """It does not reach the store; it is not woken."""
        self.lossy = self.slow = 0.0
        """The part of requests and replies that is lost; seconds that they may be late."""
        self.wakes: list[Callable[[int], None]] = []
        self.links: list[Link] = []
        self.metrics = Metrics()
        rng = Random(f"{world.seed}/node/{name}")
        skew = rng.randint(-5, 5)
        log = cast("RoomLog", Line(world, self, world.memory, f"{name}/log"))
        index = cast("Index", Line(world, self, world.index, f"{name}/index"))
        node = Node(
            name,
            log,
            world.games,
            lambda: world.now_ms() + skew,
            Dice(f"{world.seed}/{name}"),
            self.metrics,
            Presence(index, name, world.loop.time),
        )
        self.hall = Hall(node, index, TIMING)
        self.driver = Driver(self.hall, index, Thinker(rng), secret=name.encode(), pause_ms=rng.choice((0, 300)))
        self.keeper = Keeper(
            index,
            log,
            drives=self.driver.drives,
            holds=self.hall.hosts.__contains__,
            forget_seconds=60,
            metrics=self.metrics,
        )
        self.hall.observers += [self.driver, self.keeper]
        clock = world.loop.time
        self.gateway = Gateway(self.hall, Health(clock), SETTINGS, version="simulated", clock=clock)
        for work in (self.driver.run(), self.keeper.run()):
            world.loop.create_task(work, context=context_of(name))


class Link(Wire):
    """A connection: to the client's ``Core`` this, to the server's session ``end``."""

    def __init__(self, world: World, node: SimNode, person: str, rng: Random) -> None:
        self._loop = world.loop
        self._note: Callable[[str], None] = lambda what: world.note(f"{person} at {node.name} {what}")
        self._rng = rng
        self._node = context_of(node.name)
        self._down: asyncio.Queue[bytes | int | None] = asyncio.Queue()
        """Frames, then a close code, or None for a loss."""
        self._up: asyncio.Queue[str | None] = asyncio.Queue()
        self._last = {"up": 0.0, "down": 0.0}
        self.dark = False
        """Carries nothing, and says nothing about it."""
        self._over = False
        self.end = SimpleNamespace(
            loop=world.loop,
            remote_address=("192.0.2.1", 1),
            request=None,
            send_in_progress=None,
            protocol=SimpleNamespace(state=State.OPEN, extensions=()),
            recv=self._recv,
            close=self._close_from_server,
            transport=SimpleNamespace(
                write=self._write,
                is_closing=lambda: False,
                get_write_buffer_size=lambda: 0,
                abort=self.lose,
            ),
        )

    # The client's side

    async def send(self, frame: bytes) -> None:
        if self._over:
            raise Dropped(None)
        self._travel("up", frame.decode())

    async def receive(self) -> bytes:
        frame = await self._down.get()
        if isinstance(frame, bytes):
            return frame
        self._over = True
        raise Dropped(frame)

    async def close(self) -> None:
        self._travel("up", None)
        self._over = True

    # The server's side

    async def _recv(self) -> str:
        frame = await self._up.get()
        if frame is None:
            raise ConnectionClosedError(None, None)
        return frame

    def _write(self, frames: bytes) -> None:
        for payload in payloads(frames):
            self._travel("down", payload)

    def _hear(self, frame: str | None) -> None:
        """Something has come to the server, None for the end; that is known before anybody reads it."""
        if frame is None:
            self.end.protocol.state = State.CLOSED
        self._up.put_nowait(frame)

    async def _close_from_server(self, code: int, reason: str) -> None:
        if self.end.protocol.state is State.OPEN:
            self.end.protocol.state = State.CLOSING
            self._travel("down", int(CloseFrame(code, reason).code))
            self._travel("up", None)

    # What goes wrong

    def lose(self, client_after: float = 0.0, server_after: float = 0.0) -> None:
        """It breaks, and each side notices after so many seconds. What is on its way is lost."""
        self.dark = True
        self._loop.call_later(client_after, self._down.put_nowait, None, context=OUTSIDE)
        self._loop.call_later(server_after, self._hear, None, context=self._node)

    def _travel(self, way: str, what: Any) -> None:
        at = self._last[way] = max(self._last[way], self._loop.time() + self._rng.expovariate(50))
        self._loop.call_at(at, self._arrive, way, what, context=self._node if way == "up" else OUTSIDE)

    def _arrive(self, way: str, what: Any) -> None:
        self._note(f"{way} {'(lost) ' if self.dark else ''}{what!r}")
        if self.dark:
            return
        if way == "up":
            self._hear(what)
        else:
            self._down.put_nowait(what)


def payloads(frames: bytes) -> Iterator[bytes]:
    """What unmasked frames carry (RFC 6455 section 5.2)."""
    while frames:
        size, head = frames[1], 2
        if size > 125:
            head = 4 if size == 126 else 10
            size = int.from_bytes(frames[2:head], "big")
        yield frames[head : head + size]
        frames = frames[head + size :]


class World:
    """One installation, and its time."""

    def __init__(self, seed: str, games: Mapping[str, AnyGame]) -> None:
        self.seed = seed
        self.games = games
        self.loop = VirtualLoop()  # type: ignore[abstract]  # what is not there is not asked for
        self.memory = MemoryLog()
        self.index = MemoryIndex(self.now_ms)
        self.store_down = False
        self.nodes: list[SimNode] = []
        self.buried: list[SimNode] = []
        """Those that were killed."""
        self.links: dict[str, Link] = {}
        """The latest connection of each person."""
        self.note: Callable[[str], None] = lambda _: None
        """Told everything that is sent and written."""
        self._born = 0
        self._dialled = 0

    def now_ms(self) -> int:
        return START_MS + int(self.loop.time() * 1000)

    def start(self) -> None:
        """Start the nodes; from within the loop."""
        for _ in range(NODES):
            self.nodes.append(self._new_node())

    def _new_node(self) -> SimNode:
        self._born += 1
        return context_of(f"n{self._born}").run(SimNode, self, f"n{self._born}")

    def kill(self, place: int) -> None:
        """SIGKILL; ``restart`` puts another one into its place."""
        node = self.nodes[place]
        self.note(f"{node.name} is killed")
        self.loop.kill_process(node.name)
        self.buried.append(node)
        for link in node.links:
            link.lose()

    def restart(self, place: int) -> None:
        if self.nodes[place] in self.buried:
            self.nodes[place] = self._new_node()

    async def stall(self, place: int, seconds: float) -> None:
        """SIGSTOP, and SIGCONT after so long; clients lose patience with it sooner."""
        node = self.nodes[place]
        self.note(f"{node.name} stands still")
        self.loop.stop_process(node.name)
        if seconds > PING_SECONDS:
            for link in node.links:
                link.lose(client_after=PING_SECONDS, server_after=PING_SECONDS)
        await asyncio.sleep(seconds)
        self.note(f"{node.name} goes on")
        self.loop.go_on(node.name)

    async def dial(self, person: str) -> Wire:
        """Connect to the next node in turn."""
        self._dialled += 1
        place = self._dialled % len(self.nodes)
        rng = Random(f"{self.seed}/wire/{person}/{self._dialled}")
        await asyncio.sleep(rng.expovariate(20))
        node = self.nodes[place]
        if node in self.buried:
            raise CannotConnect(Trouble.NOBODY_THERE)
        if not self.loop.running(node.name):
            await asyncio.sleep(10)
            raise CannotConnect(Trouble.TOO_SLOW)
        link = Link(self, node, person, rng)
        node.links.append(link)
        self.links[person] = link
        self.loop.create_task(self._serve(node.gateway, link), context=context_of(node.name))
        return link

    async def _serve(self, gateway: Gateway, link: Link) -> None:
        """What ``Gateway`` does with a connection after its handshake."""
        session = Session(gateway.shared, cast("ServerConnection", link.end))
        gateway.sessions.add(session)
        try:
            await session.run()
        finally:
            gateway.sessions.discard(session)

    def wake_all(self, node: SimNode) -> None:
        """A subscription was made anew: whoever listens is told to look."""
        for wake in tuple(node.wakes):
            wake(UNKNOWN)
