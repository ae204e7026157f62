"""What an append costs: ``python -m benchmarks.store [--loop uvloop] [--durability always] [--bytes 1000]``.

Starts an embedded store in a temporary directory and appends one after the other, then from 64 tasks at once. Prints
client CPU and store CPU per append, and the time that half and 99 % of the appends took, as medians of five runs.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from server.embedded import EmbeddedStore
from server.log import EMPTY
from server.store import Store, StoredLog, open_store

RUNS = 5
APPENDS = 4_096
TASKS = 64


class Measured(NamedTuple):
    """Microseconds per append."""

    client_cpu: float
    store_cpu: float
    half: float
    most: float


async def sequential(log: StoredLog, room: str, data: bytes) -> list[float]:
    """Append ``APPENDS`` times to one room; the seconds that each took."""
    return await _appended(log, room, data, APPENDS)


async def concurrent(log: StoredLog, room: str, data: bytes) -> list[float]:
    """The same number of appends, to ``TASKS`` rooms at the same time."""
    rooms = (f"{room}-{number}" for number in range(TASKS))
    took = await asyncio.gather(*(_appended(log, each, data, APPENDS // TASKS) for each in rooms))
    return [each for of_room in took for each in of_room]


async def _appended(log: StoredLog, room: str, data: bytes, times: int) -> list[float]:
    head, took = EMPTY, []
    for _ in range(times):
        began = time.perf_counter()
        head = await log.append(room, head, data)
        took.append(time.perf_counter() - began)
    return took


async def store_cpu(store: Store) -> float:
    """Seconds of CPU that the store has used."""
    info: bytes = await store.call("any", "INFO", "cpu")
    values = dict(line.split(":") for line in info.decode().splitlines() if ":" in line)
    return float(values["used_cpu_sys"]) + float(values["used_cpu_user"])


async def measured(store: Store, work: Callable[[], Awaitable[list[float]]]) -> Measured:
    """One run of ``work``."""
    theirs, ours = await store_cpu(store), time.process_time()
    took = sorted(await work())
    ours, theirs = time.process_time() - ours, await store_cpu(store) - theirs
    return Measured(
        *(
            seconds * 1e6
            for seconds in (ours / APPENDS, theirs / APPENDS, took[len(took) // 2], took[-len(took) // 100])
        )
    )


async def main(durability: str, size: int) -> None:
    """Print a line for each way of appending."""
    print(f"{size} bytes, {durability}, {sys.version.split()[0]}, {type(asyncio.get_running_loop()).__module__}, µs")
    print(f"{'':12}{'client CPU':>12}{'store CPU':>12}{'p50':>10}{'p99':>10}")
    with tempfile.TemporaryDirectory() as directory:
        embedded = EmbeddedStore(Path(directory), durability=durability)
        await embedded.start()
        store = await open_store(embedded.url)
        log = StoredLog(store)
        for name, way in (("sequential", sequential), ("64 tasks", concurrent)):
            runs = [
                await measured(store, partial(way, log, f"{way.__name__}-{number}", os.urandom(size)))
                for number in range(RUNS)
            ]
            middle = Measured(*(statistics.median(values) for values in zip(*runs, strict=True)))
            print(f"{name:12}{middle.client_cpu:12.1f}{middle.store_cpu:12.1f}{middle.half:10.0f}{middle.most:10.0f}")
        await store.aclose()
        await embedded.stop()


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loop", choices=("asyncio", "uvloop"), default="uvloop")
    parser.add_argument("--durability", choices=("everysec", "always"), default="everysec")
    parser.add_argument("--bytes", type=int, default=1_000)
    return parser.parse_args()


def run(asked: argparse.Namespace) -> Any:
    """Run on the event loop asked for."""
    if asked.loop == "uvloop":
        import uvloop

        return uvloop.run(main(asked.durability, asked.bytes))
    return asyncio.run(main(asked.durability, asked.bytes))


if __name__ == "__main__":
    run(arguments())
