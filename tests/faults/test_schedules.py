"""Faults drawn at random, several in one match. A seed names a schedule; ``-m "" -k seed-17-`` runs that of 17 again.

What is drawn is which fault hits whom after how many events; how the processes then interleave is theirs. So a seed
that has failed is likely, not certain, to fail again; the schedule is told with the failure. Every fault of a schedule
strikes: where a match is over before, the rest of them meet the next one.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from random import Random
from typing import Any, Final

import pytest
from msgspec import Struct

from tests.faults.installation import Installation, until
from tests.faults.invariants import check, check_nodes
from tests.faults.people import Guest

pytestmark = pytest.mark.asyncio(loop_scope="session")
SEEDS: Final = 240
IN_THE_GATE: Final = (0, 5, 164, 202, 218)
"""Between them every fault and every game, and a node that stands still for longer than it counts as alive."""
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
    """Let ``fault`` happen, as soon as there is what it is to break, and end it."""
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
        case "cut" | "half-close":
            await until(lambda: line.connections > 0)
            if fault.what == "cut":
                line.cut()
            else:
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
            await until(lambda: nodes.store.ask("CLIENT", "KILL", "TYPE", "pubsub") not in {b"", b":0\r\n"})
        case "store":
            nodes.store.kill()
            await asyncio.sleep(fault.seconds / 2)
            await asyncio.to_thread(nodes.store.start)
        case "vanish":
            guest = guests[fault.node % len(guests)]
            await until(lambda: guest.is_connected or guest.result is not None)
            await guest.vanish()
        case _:
            raise AssertionError(fault)


async def table(nodes: Installation, schedule: Schedule) -> tuple[str, list[Guest]]:
    """A room's code and its people, whose match is starting."""
    guests = [Guest(nodes.ports_from(number), f"Guest {number}", seed=number) for number in range(schedule.guests)]
    code = await guests[0].sit(schedule.game, deals=GAMES[schedule.game])
    for number, guest in enumerate(guests[1:], start=1):
        await guest.join(code, seat=number)
    await guests[0].start()
    return code, guests


async def met(guests: list[Guest], fault: Fault, playing: asyncio.Future[Any]) -> bool:
    """Wait until it is time for ``fault``; whether the match still goes on then."""
    first = guests[0]
    number = first.number + fault.events
    seen = asyncio.ensure_future(first.until(lambda: first.number >= number or first.result is not None))
    both: set[asyncio.Future[Any]] = {playing, seen}
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    seen.cancel()
    return all(guest.result is None for guest in guests) and not playing.done()


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(seed, id=f"seed-{seed}-", marks=[] if seed in IN_THE_GATE else [pytest.mark.long])
        for seed in range(SEEDS)
    ],
)
async def test_whatever_fails_when_the_log_is_whole_and_everybody_was_told_what_it_says(
    nodes: Installation, seed: int, tell: Callable[..., None]
) -> None:
    schedule = schedule_of(seed)
    waiting = deque(schedule.faults)
    struck: Counter[str] = Counter()
    matches = 0
    try:
        while waiting:
            matches += 1
            code, guests = await table(nodes, schedule)
            playing = asyncio.gather(*(guest.play() for guest in guests))
            before = len(waiting)
            while waiting and await met(guests, waiting[0], playing):
                await strike(nodes, guests, waiting[0])
                struck[waiting.popleft().what] += 1
            await playing
            story = check(await nodes.log(guests[0].room), guests)
            await check_nodes(nodes.log, story, code, nodes.ports, guests)
            assert len(waiting) < before, "no fault met a match that is longer than it waits"
    except BaseException as problem:
        problem.add_note(f"seed {seed}: {schedule}, in match {matches} after {dict(struck)}")
        raise

    assert struck == planned(seed)
    tell(seed=seed, game=schedule.game, matches=matches, struck=struck)


def planned(*seeds: int) -> Counter[str]:
    """How often each fault strikes in these schedules."""
    return Counter(fault.what for seed in seeds for fault in schedule_of(seed).faults)


async def test_the_gate_has_every_fault_and_every_game(tell: Callable[..., None]) -> None:
    assert planned(*IN_THE_GATE).keys() == set(FAULTS)
    assert {schedule_of(seed).game for seed in IN_THE_GATE} == GAMES.keys()
    assert planned(*range(SEEDS)).keys() == set(FAULTS)
    tell(planned_in_the_gate=planned(*IN_THE_GATE), planned_in_all_seeds=planned(*range(SEEDS)))
