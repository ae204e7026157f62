"""Faults drawn at random, several in one match. A seed names a schedule; ``-m "" -k seed-17-`` runs that of 17 again.

What is drawn is which fault hits whom after how many events; how the processes then interleave is theirs. So a seed
that has failed is likely, not certain, to fail again; the schedule is told with the failure.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any, Final

import pytest
from msgspec import Struct

from tests.faults.installation import Installation
from tests.faults.invariants import check, check_nodes
from tests.faults.people import Guest

pytestmark = pytest.mark.asyncio(loop_scope="session")
SEEDS: Final = 240
IN_THE_GATE: Final = 5
FAULTS: Final = (
    "kill",
    "kill",
    "stall",
    "cut",
    "half-close",
    "hold-up",
    "hold-down",
    "drop-replies",
    "slow",
    "deaf",
    "store",
    "vanish",
)
GAMES: Final = {"koi-koi": 3, "go-stop": 3, "hachinin-meri": 1}
"""And how many deals, so that a match lasts about as long."""


class Fault(Struct, frozen=True):
    """After ``events`` more events of Guest 0, ``what`` happens to ``node`` (or guest) for ``seconds``."""

    events: int
    what: str
    node: int
    seconds: float


class Schedule(Struct, frozen=True):
    game: str
    guests: int
    faults: tuple[Fault, ...]


def schedule_of(seed: int) -> Schedule:
    rng = Random(f"faults/{seed}")
    game = rng.choice(sorted(GAMES))
    faults = tuple(
        Fault(rng.randint(0, 12), rng.choice(FAULTS), rng.randrange(3), round(rng.choice((0.05, 0.3, 1.0, 2.5)), 2))
        for _ in range(rng.randint(3, 6))
    )
    return Schedule(game, 2 if game != "hachinin-meri" else rng.randint(2, 4), faults)


async def strike(nodes: Installation, guests: list[Guest], fault: Fault) -> None:
    """Let ``fault`` happen, and end it."""
    node = nodes.nodes[fault.node]
    line = node.line
    match fault.what:
        case "kill":
            await node.kill()
            await asyncio.sleep(fault.seconds / 2)
            await node.start()
        case "stall":
            node.stall()
            await asyncio.sleep(fault.seconds)
            node.go_on()
        case "cut":
            line.cut()
        case "half-close":
            line.half_close()
        case "hold-up" | "hold-down":
            flow = line.up if fault.what == "hold-up" else line.down
            flow.hold()
            await asyncio.sleep(fault.seconds)
            flow.flow()
        case "drop-replies":
            line.down.drop()
            await asyncio.sleep(fault.seconds / 4)
            line.cut()
            line.down.flow()
        case "slow":
            line.up.delay = line.down.delay = 0.02
            await asyncio.sleep(fault.seconds)
            line.up.delay = line.down.delay = 0.0
        case "deaf":
            nodes.store.ask("CLIENT", "KILL", "TYPE", "pubsub")
        case "store":
            nodes.store.kill()
            await asyncio.sleep(fault.seconds / 2)
            await asyncio.to_thread(nodes.store.start)
        case "vanish":
            await guests[fault.node % len(guests)].vanish()
        case _:
            raise AssertionError(fault)


async def seen(guest: Guest, number: int) -> None:
    """Wait until ``guest`` has seen the event with this number, or the end."""
    await guest.until(lambda: guest.number >= number or guest.result is not None)


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(seed, id=f"seed-{seed}-", marks=[] if seed < IN_THE_GATE else [pytest.mark.long])
        for seed in range(SEEDS)
    ],
)
async def test_whatever_fails_when_the_log_is_whole_and_everybody_was_told_what_it_says(
    nodes: Installation, seed: int
) -> None:
    schedule = schedule_of(seed)
    guests = [Guest(nodes.ports_from(number), f"Guest {number}", seed=number) for number in range(schedule.guests)]
    code = await guests[0].sit(schedule.game, deals=GAMES[schedule.game])
    for number, guest in enumerate(guests[1:], start=1):
        await guest.join(code, seat=number)
    await guests[0].start()
    playing = asyncio.gather(*(guest.play() for guest in guests))

    for fault in schedule.faults:
        reached: asyncio.Future[None] = asyncio.ensure_future(seen(guests[0], guests[0].number + fault.events))
        both: set[asyncio.Future[Any]] = {playing, reached}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        reached.cancel()
        if playing.done():
            break
        await strike(nodes, guests, fault)

    try:
        await playing
        story = check(await nodes.log(guests[0].room), guests)
        await check_nodes(nodes.log, story, code, nodes.ports)
    except BaseException as problem:
        problem.add_note(f"seed {seed}: {schedule}")
        raise
