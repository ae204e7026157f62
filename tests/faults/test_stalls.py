"""A node stands still for longer than anything waits: its clients' pings and its own, an exchange with the store, the
time in which it counts as alive, the grace of the people at its tables. Then it goes on as if nothing had been.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from server.entries import Dropped, Returned, StoodIn
from tests.faults.installation import Installation, during, installed
from tests.faults.invariants import check, check_nodes
from tests.faults.people import SILENCE_SECONDS
from tests.faults.test_crash_points import Point, Trap, table
from tests.proxy import Proxy
from tests.stores import StoreServer

pytestmark = pytest.mark.asyncio(loop_scope="session")
IMPATIENT: Final = (
    *("--ping-seconds", "0.5", "--handshake-seconds", "1", "--ai-deadline-ms", "1000"),
    *("--timing", "pause_ms=0,redeal_ms=0,question_ms=100,contributions_ms=2000,grace_ms=1000,ai_limit_ms=2000"),
)
"""Nothing waits longer than two seconds, but for an exchange with the store: three."""
STALL_SECONDS: Final = 6.0
"""Whoever is at the node has gone elsewhere by then."""
LONG_SECONDS: Final = 11.0
"""The others have taken the node for dead by then, and an AI sits in for those who stayed there."""
STAYS: Final = 60.0
"""So long somebody waits for a word who does not go elsewhere."""


@pytest_asyncio.fixture(loop_scope="session")
async def impatient(tmp_path: Path, valkey: StoreServer) -> AsyncIterator[Installation]:
    async with installed(tmp_path, valkey, *IMPATIENT) as installation:
        yield installation


@pytest.mark.parametrize(
    ("point", "seconds", "patience"),
    [
        pytest.param(Point.BEFORE_APPEND, LONG_SECONDS, STAYS, id="BEFORE_APPEND"),
        *(
            pytest.param(point, seconds, patience, id=f"{point.name}-{seconds:.0f}s", marks=pytest.mark.long)
            for point in Point
            for seconds, patience in ((STALL_SECONDS, SILENCE_SECONDS), (20.0, STAYS))
        ),
    ],
)
async def test_a_node_that_stood_still_for_longer_than_every_time_out_does_no_harm_when_it_goes_on(
    impatient: Installation, point: Point, seconds: float, patience: float
) -> None:
    home = impatient.nodes[0]
    async with Proxy.to_port(home.port) as bobs:
        trap = Trap(impatient, point, home, bobs)
        bobs_home = bobs.port if point is Point.BETWEEN_SENDS else impatient.ports[1]
        ann, bob, eve = await table(impatient, trap.until_sprung(home.port), trap.until_sprung(bobs_home), patience)
        ann.before_giving = trap.given
        await ann.start()
        playing = asyncio.gather(ann.play(), bob.play(), eve.play())
        try:
            await during(playing, trap.reached(ann, eve))
            home.stall()
            await asyncio.sleep(seconds)  # the stall itself is what is tested
        finally:
            trap.release()
            home.go_on()
        await playing

    story = check(await impatient.log(ann.room), [ann, bob, eve])
    times = [entry.command for entry in story.entries].count(trap.command)
    assert times == 1 or point is Point.BEFORE_APPEND  # there an AI may have moved for her before she could ask again
    bodies = {type(entry.body) for entry in story.entries}
    assert Returned in bodies, "nobody went elsewhere: it did not stand still for long enough"
    if patience == STAYS:
        assert bodies >= {Dropped, StoodIn}, "nobody was missed: it did not stand still for long enough"
    assert ann.place is not None
    await check_nodes(impatient.log, story, ann.place.code, impatient.ports, [ann, bob])
