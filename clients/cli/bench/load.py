"""All rooms of a load, and what is measured while they play."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import starmap
from random import Random
from typing import Final, TypeAlias

from msgspec import Struct

from clients.cli.bench.figures import MS, percentile, spread_of
from clients.cli.bench.line import Line, Refused, connect
from clients.cli.bench.processes import KNOWN, OwnTime, Used, children, own_time, used
from clients.cli.bench.report import (
    Arrivals,
    Generator,
    Load,
    Measured,
    Memory,
    Processor,
    Report,
    Second,
    Stored,
    Traffic,
    faults_of,
)
from clients.cli.bench.room import CannotOpen, Player, Room, Tally

clock: Final = time.perf_counter
SETTLE_SECONDS: Final = 1.0
"""After connections and rooms were opened, before memory is read; and before rooms that play are measured."""
_CONNECTING_AT_ONCE: Final = 32
_OPENING_AT_ONCE: Final = 16
"""A server takes at most thirty codes from one address at the same time: they might be guesses."""
_AGAIN_SECONDS: Final = (0.5, 1.0)
_LAG_SECONDS: Final = 0.01
_LAST_SECONDS: Final = 5.0
"""How long the last moves may take to arrive."""
_SETUP_SECONDS: Final = 60.0
_SETUP_SECONDS_PER_CONNECTION: Final = 0.1
_MICRO: Final = 1e6
_KIB: Final = 1024


class Stage(StrEnum):
    """What a load is doing."""

    CONNECTING = "connecting"
    OPENING = "opening"
    PLAYING = "playing"
    RETURNING = "returning"


Coming: TypeAlias = Callable[[Callable[[], None]], Awaitable[None]]
"""Brings a connection; calls what it is given for each attempt that has to be repeated."""
Watch: TypeAlias = Callable[[Stage, float, float], None]
"""Told how much of a stage is done, of how much."""


class CannotLoad(Exception):
    """The load cannot be made; the message is the server's, or the system's, reason."""


class Accounts(Struct, frozen=True):
    """The processes of servers of our own."""

    servers: tuple[int, ...]
    store: int

    def read(self) -> dict[int, Used]:
        """What each has used: servers, store, and AI processes (everything else below a server)."""
        below = {one for server in self.servers for child in children(server) for one in (child, *children(child))}
        return {pid: spent for pid in (*self.servers, self.store, *below) if (spent := used(pid))}


class _Mark(Struct, frozen=True):
    """A moment, with everything that is counted."""

    at: float
    own: OwnTime
    spent: dict[int, Used]
    received: int
    sent: int
    ai_moves: int
    answers: int


class Bench:
    """Makes a load on the nodes at ``urls`` (at least one) and measures it: the seats of a room are spread over them.

    ``accounts``: where the server is our own.
    """

    def __init__(
        self,
        urls: Sequence[str],
        load: Load,
        *,
        seed: int = 1,
        settle: float = SETTLE_SECONDS,
        options: dict[str, str | int] | None = None,
        accounts: Accounts | None = None,
        started: float | None = None,
        watch: Watch = lambda _stage, _done, _all: None,
    ) -> None:
        self._urls = urls
        self._load = load
        self._rng = Random(seed)
        self._settle = settle
        self._options = options or {}
        self._accounts = accounts if KNOWN else None
        self._started = started
        """When the server's process was started, by ``clock``."""
        self._watch = watch
        self._tally = Tally(clock)
        self._lines: list[Line] = []
        self._rooms: list[Room] = []
        self._lags: list[float] = []

    async def run(self) -> Report:
        """Connect, open the rooms, let them play, and end it all.

        Raises:
            CannotLoad: says why.
        """
        try:
            return await self._run()
        finally:
            self._tally.running = False
            for room in self._rooms:
                room.stop()
            for line in self._lines:
                line.abort()

    async def _run(self) -> Report:
        load = self._load
        count = (load.rooms + load.idle) * load.persons
        patience = _SETUP_SECONDS + _SETUP_SECONDS_PER_CONNECTION * count
        with _explained():
            async with asyncio.timeout(patience):
                start_ms = await self._break_in()
                empty = await self._settled()
                connecting = await self._connect(count)
                connected = await self._settled()
                await self._open()
                dealt = await self._settled()
        begin, end = await self._measure()
        for room in self._rooms:
            room.stop()
        await self._last_moves()
        generator = Generator(
            busy=end.own.since(begin.own) / (end.at - begin.at),
            ran=(end.own.ran - begin.own.ran) / (end.at - begin.at),
            late_ms=percentile(sorted(self._lags), 0.99) * MS if self._lags else 0.0,
        )
        measured = self._measured(begin, end)
        faults = faults_of(load, generator, measured.moves)
        returning = None
        if load.storm:
            with _explained():
                async with asyncio.timeout(patience):
                    returning = await self._return()
        return Report(
            load=load,
            start_ms=start_ms,
            connecting=connecting,
            returning=returning,
            memory=self._memory(empty, connected, dealt, end.spent),
            generator=generator,
            discarded=faults,
            measured=None if faults else measured,
        )

    # Setting up -----------------------------------------------------------------------------------------------

    async def _break_in(self) -> float | None:
        """Milliseconds from the server's start to the first welcome. Then open a room and leave it, so that the server
        has everything in memory that it needs once, however many rooms there are, and its AI has begun to think.
        """
        self._lines.append(await connect(self._urls[0], self._rng))
        start_ms = None if self._started is None else (clock() - self._started) * MS
        while len(self._lines) < self._load.persons:
            self._lines.append(await connect(self._url_of(len(self._lines)), self._rng))
        tally = Tally()
        tally.running = self._load.ai > 0
        room = Room([Player(line, self._rng) for line in self._lines], tally)
        await room.open(self._load.game, self._options)
        if self._load.ai:
            await tally.ai_has_moved.wait()
            tally.running = False
        await room.leave()
        while self._lines:
            self._lines.pop().abort()
        return start_ms

    async def _connect(self, count: int) -> Arrivals:
        placed: dict[int, Line] = {}

        def coming(number: int) -> Coming:
            async def come(repeat: Callable[[], None]) -> None:
                placed[number] = await self._line(number, repeat)
                self._lines.append(placed[number])

            return come

        arrivals = await self._arrivals(Stage.CONNECTING, list(map(coming, range(count))))
        self._lines = [placed[number] for number in range(count)]
        return arrivals

    async def _return(self) -> Arrivals:
        """Everybody is cut off, and comes back at once."""
        for line in self._lines:
            line.abort()

        def coming(number: int, player: Player) -> Coming:
            async def come(repeat: Callable[[], None]) -> None:
                line = await self._line(number, repeat)
                self._lines.append(line)
                await player.come_back(line)

            return come

        players = [player for room in self._rooms for player in room.players]
        return await self._arrivals(Stage.RETURNING, list(starmap(coming, enumerate(players))))

    async def _arrivals(self, stage: Stage, comings: Sequence[Coming]) -> Arrivals:
        took: list[float] = []
        failed = 0

        def repeat() -> None:
            nonlocal failed
            failed += 1

        def timed(come: Coming) -> Callable[[], Awaitable[None]]:
            async def one() -> None:
                began = clock()
                await come(repeat)
                took.append(clock() - began)

            return one

        before, began, count = self._spent(), clock(), len(comings)
        await self._each(stage, map(timed, comings), count, count if self._load.storm else _CONNECTING_AT_ONCE)
        seconds, spent, spread = clock() - began, self._cpu(before, self._spent()), spread_of(took)
        assert spread is not None, "a load has connections"
        return Arrivals(
            per_second=count / seconds,
            took_ms=spread,
            server_us=None if spent is None else spent[0] / count * _MICRO,
            failed=failed,
        )

    def _url_of(self, number: int) -> str:
        """The node for a connection: neighbours at a table are on different nodes, if there are several."""
        return self._urls[number % self._load.persons % len(self._urls)]

    async def _line(self, number: int, repeat: Callable[[], None]) -> Line:
        """A connection; in a storm, for which not every server has room, tried again until there is one."""
        while True:
            try:
                return await connect(self._url_of(number), self._rng)
            except (OSError, Refused):
                if not self._load.storm:
                    raise
            repeat()
            await asyncio.sleep(self._rng.uniform(*_AGAIN_SECONDS))

    async def _open(self) -> None:
        load = self._load
        size, count = load.persons, load.rooms + load.idle
        for number in range(count):
            players = [Player(line, self._rng) for line in self._lines[number * size : (number + 1) * size]]
            self._rooms.append(Room(players, self._tally, idle=number >= load.rooms))

        def opening(room: Room) -> Callable[[], Awaitable[None]]:
            return lambda: room.open(load.game, self._options)

        await self._each(Stage.OPENING, map(opening, self._rooms), count, _OPENING_AT_ONCE)

    async def _each(
        self, stage: Stage, jobs: Iterable[Callable[[], Awaitable[None]]], count: int, at_once: int
    ) -> None:
        """Do ``jobs``, so many at once."""
        remaining, done = iter(jobs), 0

        async def work() -> None:
            nonlocal done
            for job in remaining:
                await job()
                done += 1
                self._watch(stage, done, count)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(at_once, count)):
                group.create_task(work())

    async def _settled(self) -> dict[int, Used]:
        await asyncio.sleep(self._settle)
        return self._spent()

    # Measuring ------------------------------------------------------------------------------------------------

    async def _measure(self) -> tuple[_Mark, _Mark]:
        load = self._load
        self._tally.running = True
        playing = self._rooms[: load.rooms]
        interval = load.rooms / load.rate if load.rate else 0.0
        now = clock()
        for number, room in enumerate(playing):
            # spread evenly over the interval, so that the load is steady
            room.start(now + number / load.rate if load.rate else None, interval)
        await asyncio.sleep(self._settle)
        lag = asyncio.create_task(self._watch_lag())
        begin = self._mark()
        whole = int(load.seconds)
        for second in range(whole):
            await asyncio.sleep(max(0.0, begin.at + second + 1 - clock()))
            self._watch(Stage.PLAYING, second + 1, load.seconds)
        await asyncio.sleep(max(0.0, begin.at + load.seconds - clock()))
        end = self._mark()
        lag.cancel()
        self._tally.running = False
        return begin, end

    async def _watch_lag(self) -> None:
        while True:
            began = clock()
            await asyncio.sleep(_LAG_SECONDS)
            self._lags.append(clock() - began - _LAG_SECONDS)

    async def _last_moves(self) -> None:
        until = clock() + _LAST_SECONDS
        while any(room.in_flight for room in self._rooms) and clock() < until:  # noqa: ASYNC110 - of many, the last
            await asyncio.sleep(_LAG_SECONDS)

    def _mark(self) -> _Mark:
        return _Mark(
            clock(),
            own_time(),
            self._spent(),
            sum(line.received for line in self._lines),
            sum(line.sent for line in self._lines),
            self._tally.ai_moves,
            self._tally.answers,
        )

    def _spent(self) -> dict[int, Used]:
        return self._accounts.read() if self._accounts else {}

    # What it comes to -----------------------------------------------------------------------------------------

    def _cpu(self, before: dict[int, Used], after: dict[int, Used]) -> tuple[float, float, float] | None:
        """Seconds of processor time: server, store, AI."""
        accounts = self._accounts
        if accounts is None or not {*accounts.servers, accounts.store} <= after.keys():
            return None
        spent = {pid: now.cpu - (before[pid].cpu if pid in before else 0.0) for pid, now in after.items()}
        servers, store = sum(spent.pop(pid) for pid in accounts.servers), spent.pop(accounts.store)
        return servers, store, sum(spent.values())

    def _measured(self, begin: _Mark, end: _Mark) -> Measured:
        tally, seconds = self._tally, end.at - begin.at
        now = clock()
        moves = sum(begin.at <= at < end.at for at in tally.ended)
        ai_moves = end.ai_moves - begin.ai_moves
        counted = [
            (at, took) for at, took in zip(tally.ended, tally.took, strict=True) if begin.at <= at - took < end.at
        ]
        # What had not arrived in the end has waited at least so long.
        late = [due for room in self._rooms[: self._load.rooms] for due in room.waiting(end.at) if due >= begin.at]
        cpu = self._cpu(begin.spent, end.spent)
        return Measured(
            moves=moves,
            moves_per_second=moves / seconds,
            ai_moves=ai_moves,
            answers=end.answers - begin.answers,
            took_ms=spread_of([*(took for _at, took in counted), *(now - due for due in late)]),
            unfinished=len(late),
            processor=None if cpu is None else _processor(cpu, moves + ai_moves, seconds),
            traffic=None
            if not moves
            else Traffic(received=(end.received - begin.received) / moves, sent=(end.sent - begin.sent) / moves),
            stored=self._stored(begin, end, moves + ai_moves),
            refused=dict(tally.refused),
            lost=tally.lost.total(),
            each_second=_each_second(counted, begin.at, self._load.seconds),
        )

    def _stored(self, begin: _Mark, end: _Mark, moves: int) -> Stored | None:
        store = None if self._accounts is None else self._accounts.store
        if store not in begin.spent or store not in end.spent or not moves:
            return None
        before, after = begin.spent[store], end.spent[store]
        return Stored(memory=(after.resident - before.resident) / moves, disk=(after.written - before.written) / moves)

    def _memory(
        self, empty: dict[int, Used], connected: dict[int, Used], dealt: dict[int, Used], played: dict[int, Used]
    ) -> Memory | None:
        accounts = self._accounts
        if accounts is None:
            return None
        ours, store = accounts.servers, (accounts.store,)
        if not all({*ours, *store} <= each.keys() for each in (empty, connected, dealt, played)):
            return None
        rooms = self._load.rooms + self._load.idle

        def held(pids: Sequence[int], at: dict[int, Used]) -> float:
            return sum(at[pid].resident for pid in pids) / _KIB

        def each(pids: Sequence[int], before: dict[int, Used], after: dict[int, Used], count: int) -> float:
            return (held(pids, after) - held(pids, before)) / count

        return Memory(
            empty=held(ours, empty),
            connection=each(ours, empty, connected, rooms * self._load.persons),
            room=each(ours, connected, dealt, rooms),
            room_with_connections=each(ours, empty, dealt, rooms),
            played_room=each(ours, empty, played, rooms),
            store_room=each(store, connected, dealt, rooms),
        )


@contextmanager
def _explained() -> Iterator[None]:
    """What a server, or the system, can do to us while we set up becomes ``CannotLoad``."""
    foreseen = (OSError, Refused, CannotOpen)  # a TimeoutError is an OSError
    try:
        yield
    except foreseen as problem:
        raise CannotLoad(_reason(problem)) from problem
    except ExceptionGroup as group:
        known, others = group.split(foreseen)
        if others is not None or known is None:
            raise
        raise CannotLoad(_reason(known.exceptions[0])) from group


def _reason(problem: Exception) -> str:
    return f"{type(problem).__name__} {problem}".strip()


def _processor(cpu: tuple[float, float, float], moves: int, seconds: float) -> Processor:
    server_us, store_us, ai_us = (spent / moves * _MICRO if moves else None for spent in cpu)
    server_share, store_share, ai_share = (spent / seconds for spent in cpu)
    return Processor(
        server_us=server_us,
        store_us=store_us,
        ai_us=ai_us,
        server_share=server_share,
        store_share=store_share,
        ai_share=ai_share,
    )


def _each_second(moves: Sequence[tuple[float, float]], begin: float, seconds: float) -> tuple[Second, ...]:
    """The moves of each whole second, by when they had arrived."""
    found: list[list[float]] = [[] for _ in range(int(seconds))]
    for at, took in moves:
        if 0 <= (second := int(at - begin)) < len(found):
            found[second].append(took)
    spreads = [(len(each), spread_of(each)) for each in found]
    return tuple(Second(count, spread.p50 if spread else 0, spread.p99 if spread else 0) for count, spread in spreads)
