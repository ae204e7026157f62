"""In the middle of a match, when hands are hidden: what a seat sees does not depend on the node at which it looks."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from server.room.state import IN_MATCH
from tests.faults.installation import Installation, during
from tests.faults.invariants import check, check_nodes, story_of
from tests.faults.people import Guest

pytestmark = pytest.mark.asyncio(loop_scope="session")
TABLES: Final = {"koi-koi": (2, 6), "go-stop": (2, 6), "hachinin-meri": (3, 1)}
"""How many people, and deals."""


@pytest.mark.parametrize("game", sorted(TABLES))
async def test_every_node_shows_each_seat_in_the_middle_of_a_match_what_the_log_shows_it(
    nodes: Installation, game: str
) -> None:
    people, deals = TABLES[game]
    guests = [Guest(nodes.ports_from(number), f"Guest {number}", seed=number) for number in range(people)]
    code = await guests[0].sit(game, deals=deals)
    for number, guest in enumerate(guests[1:], start=1):
        await guest.join(code, seat=number)
    await guests[0].start()
    playing = asyncio.gather(*(guest.play() for guest in guests))
    await during(playing, guests[0].until(lambda: guests[0].number >= 20))
    playing.cancel()
    await asyncio.gather(playing, return_exceptions=True)

    story = story_of(await nodes.log(guests[0].room))
    assert story.room.phase in IN_MATCH
    await check_nodes(nodes.log, story, code, nodes.ports, guests)

    await asyncio.gather(*(guest.come_back() for guest in guests))
    await asyncio.gather(*(guest.play() for guest in guests))
    check(await nodes.log(guests[0].room), guests)
