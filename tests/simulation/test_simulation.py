"""Installations that fail in every way, in virtual time: real clients, real nodes, everything else made up.

A seed is a whole story: whoever runs it again sees the same interleaving to the last step, on any machine.
``python -m tests.simulation SEED [GAME]`` tells it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Final

import pytest
import structlog

from clients.cli import picture as pictures
from clients.cli.session import AnyUpdate, Session
from engine.registry import GAMES
from protocol.messages import Place
from server.driver import Driver
from server.marks import Marks
from server.room import deciding
from tests.simulation.schedule import ALL, Schedule

BATCH: Final = 25
IN_THE_GATE: Final = 50
IN_ALL: Final = 5_000
OF_REAL_GAMES: Final = 100
STEP_IN_THE_GATE: Final = 25
HERS: Final = "n2"
"""The node that Ann's first connection leads to."""


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The client knows the toy game, too; nodes keep their logs to themselves."""
    monkeypatch.setattr(pictures, "game_named", ALL.__getitem__)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.reset_defaults()


def later(first: int, gate: int) -> list[pytest.MarkDecorator]:
    return [] if first < gate else [pytest.mark.long]


def run(seeds: range) -> None:
    for seed in seeds:
        Schedule(seed).run()


@pytest.mark.parametrize(
    "first", [pytest.param(first, marks=later(first, IN_THE_GATE)) for first in range(0, IN_ALL, BATCH)]
)
def test_whatever_fails_and_however_it_interleaves_the_log_is_whole_and_everybody_sees_what_it_says(first: int) -> None:
    run(range(first, first + BATCH))


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=later(seed, 1)) for seed in range(OF_REAL_GAMES)])
@pytest.mark.parametrize("game", GAMES)
def test_so_it_is_in_every_real_game(game: str, seed: int) -> None:
    Schedule(seed, game=game).run()


# Every point between two awaits ----------------------------------------------------------------------------------


def steps_of_a_match() -> range:
    """The steps that Ann's node does in a match in which nothing fails."""
    quiet = Schedule(0, faults=0)
    first = last = 0

    def note(process: str, step: int) -> None:
        nonlocal first, last
        if process == HERS:
            first, last = first if quiet.began.is_set() else step, step

    quiet.world.loop.before = note
    quiet.run()
    assert quiet.world.links["Ann"] in quiet.world.nodes[1].links
    return range(first + 1, last + 1)


def strike_at(step: int, strike: Callable[[Schedule], None]) -> None:
    """The same match, but for what ``strike`` does when Ann's node is about to do its step number ``step``."""
    schedule = Schedule(0, faults=0)

    def before(process: str, number: int) -> None:
        if process == HERS and number == step:
            strike(schedule)

    schedule.world.loop.before = before
    try:
        schedule.run()
    except BaseException as problem:
        problem.add_note(f"struck before step {step}")
        raise


def kill(schedule: Schedule) -> None:
    schedule.world.kill(1)
    schedule.world.loop.call_later(1.0, schedule.world.restart, 1)


def stall(schedule: Schedule) -> None:
    loop = schedule.world.loop
    loop.stop_process(HERS)
    loop.call_later(4.5, loop.go_on, HERS)


@pytest.mark.parametrize("every", [STEP_IN_THE_GATE, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("strike", [kill, stall])
def test_wherever_between_two_awaits_a_node_dies_or_stands_still_all_is_as_it_must_be(
    strike: Callable[[Schedule], None], every: int
) -> None:
    for step in steps_of_a_match()[::every]:
        strike_at(step, strike)


# The simulation itself -------------------------------------------------------------------------------------------


def test_a_seed_tells_the_same_story_in_another_process_whose_hashes_are_others() -> None:
    told = []
    for hash_seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-m", "tests.simulation", "11"],
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
        )
        told.append(run.stdout)
    assert len(told[0].splitlines()) > 100
    assert told[0] == told[1]


def no_marks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Marks, "at", lambda self, number: "000000")


def no_memory_of_commands(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(deciding, "_done", lambda room, command: None)


def no_healing(patch: pytest.MonkeyPatch) -> None:
    async def heal(self: Driver) -> None:
        await asyncio.sleep(0)

    patch.setattr(Driver, "heal", heal)


def one_token_remembered(patch: pytest.MonkeyPatch) -> None:
    placed = Session._placed

    def forget(self: Session, place: Place) -> list[AnyUpdate]:
        updates = placed(self, place)
        self._former_tokens.clear()
        return updates

    patch.setattr(Session, "_placed", forget)


@pytest.mark.parametrize(
    "mistake",
    [no_marks, no_memory_of_commands, no_healing, one_token_remembered],
    ids=lambda mistake: str(mistake.__name__),
)
def test_a_mistake_that_was_once_made_or_could_be_is_found(
    mistake: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake(monkeypatch)
    with pytest.raises((AssertionError, TimeoutError)):
        run(range(300))
