"""What ``docs/scaling.md`` is computed from: ``python -m benchmarks.capacity PART… [--rounds 3] [--into FILE]``.

Parts, each some minutes: ``moves`` (what a move costs in each game), ``rates`` (how long moves take the busier the
server is), ``flat`` (the same load on 10 to 5,000 rooms), ``standing`` (what rooms and connections cost while nothing
happens, and how fast everybody comes back), ``nodes`` (a room whose seats are on two nodes), ``ai`` (how fast AI
thinks). Every figure is the median of ``--rounds`` runs of ``fudaza bench --serve --pin``, interleaved; runs that it
discards are made again. Needs Linux and two processors. ``python -m benchmarks.scaling`` prints the tables.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from benchmarks.engine import decisions
from clients.cli.bench.load import Accounts, Bench
from clients.cli.bench.processes import cores, pin
from clients.cli.bench.report import Load, Processor, Report
from clients.cli.local import LocalServer
from engine.game import AnyGame, Level
from engine.registry import GAMES
from server.driver import driver_of
from server.embedded import socket_path

FILE: Final = Path(__file__).with_suffix(".json")
_ATTEMPTS: Final = 4
_SECONDS: Final = 10
_ROOMS: Final = 200
_RATE: Final = 1_250
"""Moves a second where what a move costs is measured. A server that is never without work does several things at each
turn of its loop and pays less for each; that would promise too much to whoever plans to leave some of a core free.
"""
_RATES: Final = (200, 500, 1_000, 1_500, 2_000)
_FLAT: Final = (10, 100, 1_000, 5_000)
_NODES_RATE: Final = 500
_STANDING: Final = (("koi-koi", 10), ("koi-koi", 3_000), ("hachinin-meri", 700))
_STORM: Final = 1_000
_THINKING_SECONDS: Final = 1.0
_MANY_NODES: Final = 100
_MANY_ROOMS: Final = 1_000

T = TypeVar("T", bound=Struct)


class Move(Struct, frozen=True, kw_only=True):
    """A move on a server that does nothing else, and is busy for somewhat more than half of its time."""

    game: str
    seats: int
    server_us: float
    store_us: float
    received: float
    """Bytes, by all seats."""
    stored: float
    """Bytes of memory in the store."""
    disk: float
    """Bytes written to disk."""
    played_kib: float
    """Memory of the node for each room with its connections, after some matches."""


class AtRate(Struct, frozen=True, kw_only=True):
    """Moves at fixed times."""

    rate: float
    share: float
    """Of the server's processor."""
    carried: float
    """Moves a second that were made."""
    p50_ms: float
    p99_ms: float


class AtSize(Struct, frozen=True, kw_only=True):
    """The same moves a second, on so many rooms."""

    rooms: int
    server_us: float
    store_us: float
    room_kib: float
    """Memory of the node for each room with its connections, dealt."""


class Standing(Struct, frozen=True, kw_only=True):
    """Rooms in which nobody moves, everybody connected."""

    game: str
    seats: int
    rooms: int
    server_share: float
    store_share: float
    base_kib: float
    connection_kib: float
    room_kib: float


class Coming(Struct, frozen=True, kw_only=True):
    """Connections that come all at once."""

    connections: int
    connect_us: float
    """Of the server's processor, each: until the welcome."""
    return_us: float
    """Until they had their seats back, the loss of the old connection included."""
    return_seconds: float
    """Until the last had."""


class Choosing(Struct, frozen=True, kw_only=True):
    """Finding the node that drives a room."""

    node_us: float
    """For each node that there is."""


class Nodes(Struct, frozen=True, kw_only=True):
    """Rooms of two seats, at the same moves a second: both seats on the only node, or on two nodes."""

    one_us: float
    """Of the node's processor, a move."""
    two_us: float
    """Of both nodes' together."""
    one_store_us: float
    two_store_us: float


class Thinking(Struct, frozen=True, kw_only=True):
    """How fast an AI process decides (``benchmarks.engine``), the way to it not counted."""

    game: str
    level: str
    per_second: float


class Figures(Struct, frozen=True, kw_only=True):
    """Everything that was measured."""

    setup: dict[str, str] = {}
    moves: tuple[Move, ...] = ()
    rates: tuple[AtRate, ...] = ()
    flat: tuple[AtSize, ...] = ()
    standing: tuple[Standing, ...] = ()
    coming: Coming | None = None
    nodes: Nodes | None = None
    choosing: Choosing | None = None
    thinking: tuple[Thinking, ...] = ()
    start_ms: float = 0.0


class NotMeasured(Exception):
    """All attempts were discarded; the message says why."""


def bench(*arguments: str) -> Report:
    """A run of ``fudaza bench --serve --pin``.

    Raises:
        NotMeasured: it cannot be had.
    """
    why = ""
    for _attempt in range(_ATTEMPTS):
        ran = subprocess.run(
            (sys.executable, "-m", "clients.cli.main", "bench", "--serve", "--pin", "--json", *arguments),
            capture_output=True,
            check=False,
        )
        if not ran.stdout:
            why = ran.stderr.decode()
            continue
        report = msgspec.json.decode(ran.stdout, type=Report)
        if report.measured is not None:
            return report
        why = " ".join(report.discarded)
    raise NotMeasured(f"{' '.join(arguments)}: {why}")


def medians(rounds: Sequence[Sequence[T]]) -> tuple[T, ...]:
    """The median of every number, over rounds that have the same records in the same order."""

    def middle(records: tuple[T, ...]) -> T:
        values = [msgspec.structs.asdict(record) for record in records]
        merged = {
            name: statistics.median(each[name] for each in values) if isinstance(value, float) else value
            for name, value in values[0].items()
        }
        return msgspec.convert(merged, type(records[0]))

    return tuple(middle(records) for records in zip(*rounds, strict=True))


def move_of(report: Report) -> Move:
    """What a move cost in a run."""
    measured = report.measured
    assert measured is not None
    assert measured.processor is not None
    assert measured.traffic is not None
    assert measured.stored is not None
    assert report.memory is not None
    return Move(
        game=report.load.game,
        seats=report.load.persons,
        server_us=_known(measured.processor.server_us),
        store_us=_known(measured.processor.store_us),
        received=measured.traffic.received,
        stored=measured.stored.memory,
        disk=measured.stored.disk,
        played_kib=report.memory.played_room,
    )


def rate_of(report: Report) -> AtRate:
    """How long moves took in a run at a rate."""
    measured = report.measured
    assert measured is not None
    assert measured.processor is not None
    assert measured.took_ms is not None
    return AtRate(
        rate=_known(report.load.rate),
        share=measured.processor.server_share,
        carried=measured.moves_per_second,
        p50_ms=measured.took_ms.p50,
        p99_ms=measured.took_ms.p99,
    )


def standing_of(report: Report) -> Standing:
    """What rooms cost in a run without moves."""
    measured, memory = report.measured, report.memory
    assert measured is not None
    assert measured.processor is not None
    assert memory is not None
    return Standing(
        game=report.load.game,
        seats=report.load.persons,
        rooms=report.load.idle,
        server_share=measured.processor.server_share,
        store_share=measured.processor.store_share,
        base_kib=memory.empty,
        connection_kib=memory.connection,
        room_kib=memory.room,
    )


def coming_of(report: Report) -> Coming:
    """How connections came in a run with a storm."""
    assert report.returning is not None
    return Coming(
        connections=report.returning.took_ms.count,
        connect_us=_known(report.connecting.server_us),
        return_us=_known(report.returning.server_us),
        return_seconds=report.returning.took_ms.count / report.returning.per_second,
    )


def _known(value: float | None) -> float:
    assert value is not None, "the accounts of processes can be read here"
    return value


# Parts ------------------------------------------------------------------------------------------------------------


def moves(figures: Figures, rounds: int) -> Figures:
    """What a move costs."""
    load = ("--rooms", str(_ROOMS), "--rate", str(_RATE), "--seconds", str(_SECONDS))
    runs = [[move_of(bench("--game", game, *load)) for game in GAMES] for _ in range(rounds)]
    return msgspec.structs.replace(figures, moves=medians(runs))


def rates(figures: Figures, rounds: int) -> Figures:
    """How long moves take."""
    rooms = ("--rooms", str(_ROOMS), "--seconds", str(_SECONDS))
    runs = [[rate_of(bench("--rate", str(rate), *rooms)) for rate in _RATES] for _ in range(rounds)]
    return msgspec.structs.replace(figures, rates=medians(runs))


def flat(figures: Figures, rounds: int) -> Figures:
    """The same load on more and more rooms."""
    load = ("--rate", str(_RATE), "--seconds", str(_SECONDS))

    def run(count: int) -> AtSize:
        report = bench("--rooms", str(count), *load)
        move = move_of(report)
        assert report.memory is not None
        return AtSize(
            rooms=count, server_us=move.server_us, store_us=move.store_us, room_kib=report.memory.room_with_connections
        )

    return msgspec.structs.replace(figures, flat=medians([list(map(run, _FLAT)) for _ in range(rounds)]))


def standing(figures: Figures, rounds: int) -> Figures:
    """What stands still, and what comes back."""
    still: list[list[Standing]] = []
    comings: list[list[Coming]] = []
    starts: list[float] = []
    for _ in range(rounds):
        reports = [
            bench("--game", game, "--rooms", "0", "--idle", str(count), "--seconds", "20") for game, count in _STANDING
        ]
        still.append(list(map(standing_of, reports)))
        storm = bench("--rooms", "0", "--idle", str(_STORM), "--storm", "--seconds", "1")
        comings.append([coming_of(storm)])
        starts += [_known(report.start_ms) for report in (*reports, storm)]
    (coming,) = medians(comings)
    return msgspec.structs.replace(figures, standing=medians(still), coming=coming, start_ms=statistics.median(starts))


def nodes(figures: Figures, rounds: int) -> Figures:
    """Rooms on one node and on two."""
    (found,) = medians([[asyncio.run(_nodes())] for _ in range(rounds)])
    (choosing,) = medians([[_choosing()] for _ in range(rounds)])
    return msgspec.structs.replace(figures, nodes=found, choosing=choosing)


def _choosing() -> Choosing:
    names = tuple(f"{number:016x}" for number in range(_MANY_NODES))
    began = time.process_time()
    for room in range(_MANY_ROOMS):
        driver_of(f"{room:026d}", names)
    return Choosing(node_us=(time.process_time() - began) / _MANY_NODES / _MANY_ROOMS * 1e6)


async def _nodes() -> Nodes:
    one, two = await _on_nodes(1), await _on_nodes(2)
    return Nodes(
        one_us=_known(one.server_us),
        two_us=_known(two.server_us),
        one_store_us=_known(one.store_us),
        two_store_us=_known(two.store_us),
    )


async def _on_nodes(count: int) -> Processor:
    """The nodes on one processor, everything else on another."""
    there = cores()
    lifted = (
        *("--rooms-per-minute", "100000", "--talk-per-minute", "100000"),
        *("--commands-per-second", "100000", "--command-burst", "100000"),
    )
    load = Load(
        game="koi-koi",
        rooms=_ROOMS,
        idle=0,
        persons=GAMES["koi-koi"].seats,
        ai=0,
        rate=_NODES_RATE,
        seconds=_SECONDS,
        storm=False,
    )
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fudaza-capacity-")))
        servers: list[LocalServer] = []
        pin(0, there[0])
        stack.callback(os.sched_setaffinity, 0, there)
        for number in range(count):
            (folder / str(number)).mkdir()
            shared = ("--redis", f"unix://{socket_path(folder / '0' / 'data')}") if servers else ()
            servers.append(LocalServer(folder / str(number), "127.0.0.1", 0, (*lifted, *shared)))
            stack.push_async_callback(servers[-1].stop)
            await servers[-1].start()
        store = int((folder / "0" / "data" / "store.pid").read_text("ascii"))
        for process in (0, store):
            pin(process, there[1])
        accounts = Accounts(tuple(server.pid for server in servers), store)
        report = await Bench([server.url for server in servers], load, accounts=accounts).run()
    if report.measured is None or report.measured.processor is None:
        raise NotMeasured(" ".join(report.discarded))
    return report.measured.processor


def ai(figures: Figures, rounds: int) -> Figures:
    """How fast AI decides."""

    def run(game: AnyGame, level: Level) -> Thinking:
        per_second = decisions(game, level, _THINKING_SECONDS).per_second
        return Thinking(game=game.name, level=level.value, per_second=per_second)

    runs = [[run(game, level) for game in GAMES.values() for level in game.levels] for _ in range(rounds)]
    return msgspec.structs.replace(figures, thinking=medians(runs))


PARTS: Final[dict[str, Callable[[Figures, int], Figures]]] = {
    "moves": moves,
    "rates": rates,
    "flat": flat,
    "standing": standing,
    "nodes": nodes,
    "ai": ai,
}


def setup() -> dict[str, str]:
    """The machine, as ``fudaza bench`` tells it."""
    ran = subprocess.run(
        (sys.executable, "-m", "clients.cli.main", "bench", "--serve", "--json", "--rooms", "1", "--seconds", "1"),
        capture_output=True,
        check=True,
    )
    told: dict[str, Any] = json.loads(ran.stdout)
    return {name: str(told[name]) for name in ("version", "python", "system", "processors")}


def main(arguments: Iterable[str] | None = None) -> None:
    """Measure parts, and keep them beside those that were measured before."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capacity", description=__doc__)
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--into", type=Path, default=FILE)
    asked = parser.parse_args(None if arguments is None else list(arguments))
    figures = msgspec.json.decode(asked.into.read_bytes(), type=Figures) if asked.into.exists() else Figures()
    figures = msgspec.structs.replace(figures, setup=setup())
    for part in asked.parts:
        print(part, flush=True)
        figures = PARTS[part](figures, asked.rounds)
        asked.into.write_bytes(msgspec.json.format(msgspec.json.encode(figures)) + b"\n")


if __name__ == "__main__":
    main()
