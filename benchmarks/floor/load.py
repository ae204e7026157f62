"""The floor's load: ``python -m benchmarks.floor.load --port 4000 --tables 100 --seats 8``.

Speaks as ``benchmarks/peers/programs/load.mjs`` does. When all sit it says ``{"ready": true}``; then it is told on
standard input, a line of JSON each time, ``{"rate": moves a second and table, or 0 for as fast as they go, "seconds":
how long}``, and says ``{"began": true}`` and, after that time, what a ``Counted`` has.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from random import Random
from typing import Final

import msgspec
import uvloop
from msgspec import Struct

from benchmarks.floor.wire import Act, Sit, encode, seen_decoder
from clients.cli.bench.figures import MS, percentile
from clients.cli.bench.line import Line, connect

clock: Final = time.perf_counter


class Wanted(Struct, frozen=True):
    """A measurement asked for."""

    rate: float
    seconds: float


class Counted(Struct, frozen=True):
    """A measurement made."""

    moves: int
    seconds: float
    cpu: float
    """Seconds that the load itself has used."""
    p50: float | None
    """Milliseconds from when a move was due to when every seat had seen it."""
    p99: float | None
    max: float | None


class Table:
    """Seats that move in turn, each when all have seen the last move and the next is due."""

    def __init__(self, number: int) -> None:
        self.took: list[float] = []
        """Seconds from when each move was due to when all had seen it."""
        self.settled = asyncio.Event()
        """All have seen the last move."""
        self._number = number
        self._lines: list[Line] = []
        self._move = -1
        """The last move's number; the sitting down is number 0."""
        self._missing = 0
        """Seats that have not seen it."""
        self._due = 0.0
        self._next = 0.0
        self._every: float | None = None
        """Seconds between moves; 0: at once; None: none are made."""
        self._timer: asyncio.TimerHandle | None = None

    def sit(self, lines: list[Line]) -> None:
        """Seat everybody."""
        self._lines = lines
        self._missing = len(lines)
        for line in lines:
            line.take = self._seen
            line.send(encode(Sit(self._number)))

    def start(self, every: float, first: float) -> None:
        """Move from ``first`` on, ``every`` so many seconds or (0) as fast as they go."""
        self.took = []
        self._every, self._next = every, first
        if self.settled.is_set():
            self._go_on()

    def stop(self) -> None:
        """Make no more moves."""
        self._every = None
        if self._timer is not None:
            self._timer.cancel()

    def _go_on(self) -> None:
        if self._every is None:
            return
        now = clock()
        if self._every and self._next > now:
            self._timer = asyncio.get_running_loop().call_later(self._next - now, self._go_on)
            return
        self._due = self._next if self._every else now
        self._next += self._every
        self._missing = len(self._lines)
        self.settled.clear()
        act = Act(id=f"q83Jxk0v_yP2sE1d.{self._move}", action="05a*05p", at=self._move)
        self._lines[self._move % len(self._lines)].send(encode(act))

    def _seen(self, frame: bytes) -> None:
        number = seen_decoder.decode(frame).first
        assert number == self._move + 1, f"{number} after {self._move}"
        self._missing -= 1
        if self._missing:
            return
        self._move = number
        self.settled.set()
        if self._every is not None:
            self.took.append(clock() - self._due)
        self._go_on()


async def measure(tables: list[Table], wanted: Wanted) -> Counted:
    """Let all ``tables`` move as wanted; their first moves are spread over one interval."""
    for table in tables:
        await table.settled.wait()  # moves of the last time
    every = 1 / wanted.rate if wanted.rate else 0.0
    began, cpu = clock(), time.process_time()
    say({"began": True})
    for number, table in enumerate(tables):
        table.start(every, began + every * number / len(tables))
    await asyncio.sleep(wanted.seconds)
    now = clock()
    for table in tables:
        table.stop()
    cpu = time.process_time() - cpu
    took = sorted(each * MS for table in tables for each in table.took)
    half, most, worst = (percentile(took, share) for share in (0.5, 0.99, 1.0)) if took else (None, None, None)
    return Counted(len(took), now - began, cpu, half, most, worst)


async def run(port: int, count: int, seats: int) -> None:
    """Seat everybody, and measure until there is nothing more on standard input."""
    masks = Random(1)
    tables = [Table(number) for number in range(count)]
    lines: list[Line] = []
    for table in tables:
        sitting = [await connect(f"ws://127.0.0.1:{port}", masks) for _ in range(seats)]
        table.sit(sitting)
        await table.settled.wait()
        lines += sitting
    say({"ready": True})
    while line := await asyncio.to_thread(sys.stdin.readline):
        say(await measure(tables, msgspec.json.decode(line, type=Wanted)))
    for each in lines:
        each.abort()


def say(what: object) -> None:
    """A line of JSON on standard output."""
    print(encode(what).decode(), flush=True)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.floor.load", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--seats", type=int, default=2)
    asked = parser.parse_args()
    uvloop.run(run(asked.port, asked.tables, asked.seats))


if __name__ == "__main__":
    main()
