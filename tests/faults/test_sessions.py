"""Connections that end without a word, come twice, or lose an answer: the seat is the person's, on one of them."""

from __future__ import annotations

import asyncio
import re
from typing import Final

import pytest

from engine.game import Seat
from protocol.messages import Accepted, Look, RefusedMessage, Resume
from server.entries import Dropped, Returned, StoodIn
from server.room import Person, person_at
from tests.e2e.test_serving import get
from tests.faults.installation import Installation, Node
from tests.faults.invariants import check, check_answers, check_nodes, story_of
from tests.faults.people import Guest
from tests.proxy import Proxy

pytestmark = pytest.mark.asyncio(loop_scope="session")
PATIENCE: Final = 60.0


async def table(nodes: Installation) -> tuple[Guest, Guest]:
    ann = Guest([nodes.ports[0]], "Ann", seed=1)
    bob = Guest([nodes.ports[1]], "Bob", seed=2)
    await bob.join(await ann.sit("koi-koi", deals=3))
    return ann, bob


def another_tab(guest: Guest, port: int) -> Guest:
    """The same person with another connection, who knows what the first has seen and holds its token."""
    tab = Guest([port], guest.name, seed=3)
    tab.place, tab.number, tab.first, tab.events = guest.place, guest.number, guest.first, dict(guest.events)
    return tab


async def bodies(nodes: Installation, room: str) -> list[type]:
    return [type(entry.body) for entry in story_of(await nodes.log(room)).entries]


@pytest.mark.parametrize("node", [0, 2], ids=["same-node", "another-node"])
async def test_of_two_tabs_the_newest_has_the_seat_and_a_move_under_way_in_the_old_one_is_done_once_or_not_at_all(
    nodes: Installation, node: int
) -> None:
    ann, bob = await table(nodes)
    await ann.start()
    playing = asyncio.create_task(bob.play())
    tabs = [ann]

    for _ in range(4):
        old = tabs[-1]
        goal = old.number + 10
        async with asyncio.timeout(PATIENCE):
            while old.number < goal:
                await old._take(await old.hear())
        new = another_tab(old, nodes.ports[node])
        both = asyncio.gather(old.close_code(), new.come_back())  # the old one goes on playing until it is closed
        code, _ = await asyncio.wait_for(both, PATIENCE)
        assert code == 4001
        assert old.notices[-1] == "superseded"
        tabs.append(new)
    await asyncio.gather(tabs[-1].play(), playing)

    story = check(await nodes.log(ann.room), [bob, tabs[-1]])
    check_answers(story, tabs)
    assert Dropped not in await bodies(nodes, ann.room)


async def test_a_seat_whose_old_connection_is_a_black_hole_is_live_at_once_and_nobody_is_told_of_a_loss(
    nodes: Installation,
) -> None:
    async with Proxy.to_port(nodes.ports[0]) as air:
        ann = Guest([air.port], "Ann", seed=1)
        bob = Guest([nodes.ports[1]], "Bob", seed=2)
        await bob.join(await ann.sit("koi-koi", deals=3))
        await ann.start()
        await ann.until_started()
        air.up.drop()
        air.down.drop()  # from here on the old connection is open and carries nothing

        new = another_tab(ann, nodes.ports[2])
        await asyncio.wait_for(new.come_back(), PATIENCE)
        await asyncio.gather(new.play(), bob.play())

        story = check(await nodes.log(ann.room), [new, bob])
        assert not {Dropped, StoodIn} & set(await bodies(nodes, ann.room))
        assert "seat-away" not in {event["e"] for event in bob.events.values()}
        assert ann.place is not None
        await check_nodes(nodes.log, story, ann.place.code, nodes.ports)


async def test_a_lost_answer_to_a_resume_leaves_the_old_token_good_until_the_new_one_is_used(
    nodes: Installation,
) -> None:
    ann, _ = await table(nodes)
    assert ann.place is not None
    first_token = ann.place.token
    async with Proxy.to_port(nodes.ports[0]) as air:
        lost = another_tab(ann, air.port)
        await lost.connect()
        air.down.hold()
        await lost._send(Resume(id=lost.next_id(), room=ann.room, token=first_token or "", after=lost.number))
        await asyncio.wait_for(air.down.arrived(), PATIENCE)
        air.cut()

    again = another_tab(ann, nodes.ports[1])
    await again.come_back()  # with the token that the lost answer was to replace
    assert again.place is not None
    assert again.place.token != first_token
    last = another_tab(again, nodes.ports[2])
    await last.come_back()
    refused = another_tab(ann, nodes.ports[0])
    await refused.connect()
    answer = await refused.ask(Resume(id=refused.next_id(), room=ann.room, token=first_token or "", after=0))

    assert isinstance(answer, RefusedMessage)
    assert answer.code == "bad-token"


async def metric(node: Node, name: str) -> float:
    """What the node says about one of its metrics."""
    _, text = await get(node.metrics_port, "/metrics")
    (found,) = re.findall(rf"^{name} (\S+)$", text, re.MULTILINE)
    return float(found)


@pytest.mark.parametrize("cycles", [100, pytest.param(1_000, marks=pytest.mark.long)])
async def test_after_so_many_connections_came_and_broke_the_counters_are_what_is_there(
    nodes: Installation, cycles: int
) -> None:
    ann = Guest([nodes.ports[0]], "Ann")
    bob = Guest([nodes.ports[1]], "Bob")
    code = await ann.sit("koi-koi")
    await bob.join(code)
    node = nodes.nodes[1]
    async with asyncio.timeout(PATIENCE + cycles):
        for number in range(cycles):
            await bob.vanish()
            if number % 10:
                await bob.come_back()
            else:  # and some who only look
                stranger = Guest([nodes.ports[1]], "Stranger")
                await stranger.watch(code)
                await stranger.vanish()
                await bob.come_back()

        while await metric(node, "fudaza_connections") != 1:
            await asyncio.sleep(0.05)
    story = story_of(await nodes.log(ann.room))
    returned = sum(isinstance(entry.body, Returned) for entry in story.entries)
    assert returned == cycles
    person = person_at(story.room, Seat(1))
    assert isinstance(person, Person)
    assert not person.away
    assert await metric(node, "fudaza_internal_errors_total") == 0
    answer = await bob.ask(Look(id=bob.next_id()))
    assert isinstance(answer, Accepted)
