"""One system measured once: its processes, where they run, what they use. Linux alone keeps such accounts for us."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from benchmarks.peers.figures import Discarded, Figure, Load, Result, judged
from benchmarks.peers.systems import Site, System
from server.embedded import EmbeddedStore

_READY_SECONDS: Final = 60.0
_MORE_SECONDS: Final = 20.0
"""How long an answer may take beyond the time that was to be measured."""
_END_SECONDS: Final = 5.0
_MICRO: Final = 1e6
_ENVIRONMENT: Final = {"NODE_ENV": "production"}


class TrialFailed(Exception):
    """A program did not do its part; the message says which and what it said last."""


class Cores:
    """The server gets one processor, the load, the store and this process another, where there are two."""

    def __init__(self) -> None:
        known = sorted(os.sched_getaffinity(0))
        self.pinned = len(known) > 1
        self._all, self._server, self._rest = set(known), {known[0]}, {known[-1]}
        os.sched_setaffinity(0, self._rest)

    @contextmanager
    def _on(self, cores: set[int]) -> Iterator[None]:
        os.sched_setaffinity(0, cores)
        try:
            yield
        finally:
            os.sched_setaffinity(0, self._rest)

    def server(self) -> AbstractContextManager[None]:
        """What is started inside runs on the server's processor."""
        return self._on(self._server)

    def all(self) -> AbstractContextManager[None]:
        """What is started inside finds its own places."""
        return self._on(self._all)


class _Program:
    """A process that is told and tells things in lines of JSON."""

    def __init__(self, name: str, process: Process, errors: IO[bytes], farewell: signal.Signals) -> None:
        self._name = name
        self._farewell = farewell
        self._process = process
        self._errors = errors

    def tell(self, what: object) -> None:
        """Write a line."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what).encode() + b"\n")

    async def said(self, key: str, seconds: float) -> dict[str, Any]:
        """The next thing it says that has ``key``.

        Raises:
            TrialFailed: it does not come in time, or at all.
        """
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(seconds):
                while line := await self._process.stdout.readline():
                    with suppress(ValueError):  # libraries greet as well
                        told = json.loads(line)
                        if isinstance(told, dict) and key in told:
                            return told
        except TimeoutError:
            raise TrialFailed(f"{self._name} did not answer within {seconds:g} s{self.last_words()}") from None
        raise TrialFailed(f"{self._name} ended{self.last_words()}")

    def cpu(self) -> float:
        """Seconds of processor time used so far."""
        return _cpu(self._process.pid)

    async def end(self) -> None:
        """Ask it to end, and see to it."""
        for signalled in (self._farewell, signal.SIGTERM, signal.SIGKILL):
            if self._process.returncode is None:
                with suppress(ProcessLookupError):
                    self._process.send_signal(signalled)
            with suppress(TimeoutError):
                async with asyncio.timeout(_END_SECONDS):
                    await self._process.wait()
                return

    def last_words(self) -> str:
        """What it wrote last to standard error, behind a colon; nothing if it wrote nothing."""
        self._errors.seek(0)
        said = [line for line in self._errors.read().decode("utf-8", "replace").splitlines() if line.strip()]
        return f": {said[-1].strip()}" if said else ""


async def trial(system: System, loads: Sequence[Load], *, scratch: Path, rooms: int, cores: Cores) -> list[Result]:
    """``system``, once warm, under each of ``loads``.

    Raises:
        scratch.CannotHave: it cannot be installed.
        TrialFailed: it does not work.
    """
    if system.programs is None:
        return [await _fudaza(system, load, rooms, cores) for load in loads]
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(_store()) if system.needs_store else None
        site = Site(scratch, _free_port(), store.url if store else "", rooms)
        programs = await asyncio.to_thread(system.programs, site)
        with cores.server():
            server = await stack.enter_async_context(_program("server", programs.server, programs.folder))
        ready = (await server.said("ready", _READY_SECONDS))["ready"]
        port = ready["port"] if isinstance(ready, dict) else site.port
        load = await stack.enter_async_context(_program("load", programs.load(port), programs.folder))
        await load.said("ready", _READY_SECONDS)
        warm_up = Load(rate=0, seconds=system.warm_up)
        running = _Running(server, load, store)
        found = [await _measured(system, each, running, rooms) for each in (warm_up, *loads)]
    return found[1:]


class _Running(NamedTuple):
    server: _Program
    load: _Program
    store: EmbeddedStore | None

    def cpu(self) -> tuple[float, float]:
        """Seconds that the server and the store have used."""
        return self.server.cpu(), _cpu(self.store.pid) if self.store else 0.0


async def _measured(system: System, wanted: Load, running: _Running, rooms: int) -> Result:
    load = running.load
    load.tell({"rate": wanted.rate / rooms, "seconds": wanted.seconds})
    await load.said("began", _MORE_SECONDS)
    before = running.cpu()
    told = await load.said("moves", wanted.seconds + _MORE_SECONDS)
    after = running.cpu()
    moves, seconds = told["moves"], told["seconds"]
    if not moves:
        return Discarded(system.name, wanted.name, f"no move was made{running.server.last_words()}")
    figure = Figure(
        system=system.name,
        load=wanted.name,
        moves_per_second=moves / seconds,
        server_us=(after[0] - before[0]) / moves * _MICRO,
        store_us=(after[1] - before[1]) / moves * _MICRO if running.store else None,
        p50_ms=told["p50"],
        p99_ms=told["p99"],
        max_ms=told["max"],
        load_busy=told["cpu"] / seconds,
    )
    return judged(figure, figure.moves_per_second / wanted.rate if wanted.rate else 1.0)


async def _fudaza(system: System, wanted: Load, rooms: int, cores: Cores) -> Result:
    """``fudaza bench`` starts server and store, pins them like ours, and does the accounts."""
    command = [sys.executable, "-m", "clients.cli.main", "bench", "--serve", "--json"]
    command += ["--game", system.game, "--rooms", str(rooms), "--seconds", f"{wanted.seconds:g}"]
    for option in system.options:
        command += ["--option", option]
    if wanted.rate:
        command += ["--rate", f"{wanted.rate:g}"]
    if cores.pinned:
        command.append("--pin")
    async with AsyncExitStack() as stack:
        with cores.all():
            # Ctrl-C is what makes it end its own server
            bench = await stack.enter_async_context(_program("fudaza bench", command, farewell=signal.SIGINT))
        report = await bench.said("load", wanted.seconds + _READY_SECONDS)
    measured = report["measured"]
    if measured is None:
        return Discarded(system.name, wanted.name, " ".join(report["discarded"]))
    spread, processor = measured["took_ms"], measured["processor"]
    figure = Figure(
        system=system.name,
        load=wanted.name,
        moves_per_second=measured["moves_per_second"],
        server_us=processor["server_us"],
        store_us=processor["store_us"],
        p50_ms=spread["p50"],
        p99_ms=spread["p99"],
        max_ms=spread["max"],
        load_busy=report["generator"]["ran"],
    )
    # its clock stands still while the rules let nobody move, so fewer moves than the rate says may be due
    return judged(figure, measured["moves"] / (measured["moves"] + measured["unfinished"]) if wanted.rate else 1.0)


@asynccontextmanager
async def _program(
    name: str, command: Sequence[str], folder: Path | None = None, farewell: signal.Signals = signal.SIGTERM
) -> AsyncIterator[_Program]:
    with tempfile.TemporaryFile() as errors:
        process = await asyncio.create_subprocess_exec(
            *command, cwd=folder, stdin=PIPE, stdout=PIPE, stderr=errors, env={**os.environ, **_ENVIRONMENT}
        )
        program = _Program(name, process, errors, farewell)
        try:
            yield program
        finally:
            await program.end()


@asynccontextmanager
async def _store() -> AsyncIterator[EmbeddedStore]:
    """A store of its own, with the durability that a Fudaza server has by default."""
    with tempfile.TemporaryDirectory(prefix="fudaza-benchmark-") as directory:
        store = EmbeddedStore(Path(directory))
        await store.start()
        try:
            yield store
        finally:
            await store.stop()


def _cpu(pid: int) -> float:
    """Seconds of processor time that all threads of process ``pid`` have used, to the nanosecond.

    Raises:
        TrialFailed: it has ended.
    """
    try:
        return time.clock_gettime((~pid << 3) | 2)  # clock_getcpuclockid(3): the kernel's number of that clock
    except OSError:
        raise TrialFailed("a server or a store has ended") from None


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])
