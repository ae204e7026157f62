"""What a move costs here in units of the bare loop: ``python -m benchmarks.ratios``. Takes seconds; needs Linux.

The same two-player move, a moment after one another on one machine, on a server of ours and on ``benchmarks.floor``,
as fast as they go. A ratio moves less from machine to machine than a time does, so it can be looked at in the output of
every test run; nothing is asserted, and whatever goes wrong is told and no error. ``docs/performance.md`` has the whole
picture.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Final

from benchmarks.peers.figures import Load, Median, Result, medians
from benchmarks.peers.systems import FLOORS, SYSTEMS
from benchmarks.peers.trial import Cores, TrialFailed, trial

_OURS: Final = "Fudaza (koi-koi)"
_LOAD: Final = Load(rate=0, seconds=1.0)
_ROOMS: Final = 20
_MOST_SECONDS: Final = 15.0


async def measured() -> list[Median]:
    """The floor and ours, once each.

    Raises:
        TimeoutError: it takes too long.
        TrialFailed: it does not work.
    """
    cores = Cores()
    results: list[Result] = []
    async with asyncio.timeout(_MOST_SECONDS):
        for system in SYSTEMS:
            if system.name in {_OURS, FLOORS[_OURS]}:
                results += await trial(system, [_LOAD], scratch=Path(), rooms=_ROOMS, cores=cores)
    return medians(results, FLOORS)


def told(found: list[Median]) -> str:
    """One line."""
    floor, ours = found
    for each in found:
        if each.figure is None:
            return f"no ratio: {each.system}: {', '.join(each.discarded)}"
    assert floor.figure is not None
    assert ours.figure is not None
    return (
        f"a move of two seats costs {ours.ratio:.2f} times the bare loop: "
        f"{ours.figure.server_us:.0f} and {floor.figure.server_us:.0f} µs of server CPU, the rules included in ours"
    )


def main() -> None:
    """Print the line."""
    if sys.platform != "linux":
        print("no ratio: only Linux tells what other processes have used")
        return
    try:
        print(told(asyncio.run(measured())))
    except TimeoutError:
        print(f"no ratio: not done within {_MOST_SECONDS:g} s")
    except TrialFailed as problem:
        print(f"no ratio: {problem}")


if __name__ == "__main__":
    main()
