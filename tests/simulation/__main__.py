"""Tells a seed's story: ``python -m tests.simulation SEED [GAME]``. Exits with 1 where something does not hold."""

from __future__ import annotations

import logging
import sys

import structlog

from clients.cli import picture as pictures
from tests.simulation.schedule import ALL, Schedule
from tests.toy import DUEL


def main() -> None:
    """Run one schedule and print everything that was sent and written."""
    seed, game = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else DUEL.name
    setattr(pictures, "game_named", ALL.__getitem__)  # noqa: B010 - a module's function, for a toy
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    schedule = Schedule(seed, game=game)
    schedule.world.note = lambda what: print(f"{schedule.world.loop.time():9.3f} {what}")  # noqa: T201 - a tool
    schedule.run()
    print(schedule.digest())  # noqa: T201


main()
