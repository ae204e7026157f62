"""Connections that end without a word, come twice, or lose an answer: the seat is the person's, on one of them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from engine.game import Seat
from protocol.messages import Accepted, Look, RefusedMessage, Resume
from server.entries import Dropped, Returned, StoodIn
from server.room import HOLDERS, Person, person_at
from server.store.keys import Keys
from tests.e2e.test_serving import get
from tests.faults.installation import Installation, Node, installed
from tests.faults.invariants import check, check_answers, check_nodes, story_of
from tests.faults.people import Guest
from tests.proxy import Proxy
from tests.stores import StoreServer

pytestmark = pytest.mark.asyncio(loop_scope="session")
PATIENCE: Final = 60.0


async def table(nodes: Installation) -> tuple[Guest, Guest]:
    ann = Guest([nodes.ports[0]], "Ann", seed=1)
    bob = Guest([nodes.ports[1]], "Bob", seed=2)
    await bob.join(await ann.sit("koi-koi", deals=6))
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
        await bob.join(await ann.sit("koi-koi", deals=6))
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
    """What the node says about one of its metrics; ``name`` with its labels, if it has any."""
    _, text = await get(node.metrics_port, "/metrics")
    (found,) = re.findall(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found)


async def fewest_tasks(node: Node) -> float:
    """How many tasks the node has when nothing comes or goes. It counts them every two seconds."""
    counts = []
    for _ in range(6):
        counts.append(await metric(node, "fudaza_tasks"))
        await asyncio.sleep(1)
    return min(counts)


@pytest_asyncio.fixture(loop_scope="session")
async def two(tmp_path: Path, valkey: StoreServer) -> AsyncIterator[Installation]:
    """Two nodes on which nothing else is."""
    async with installed(tmp_path, valkey, count=2) as installation:
        yield installation


async def listen(guest: Guest) -> None:
    """Hear everything: who does not is taken for gone after a while."""
    while True:
        await guest._take(await guest.hear())


async def counters(nodes: Installation) -> dict[str, list[float]]:
    """What the nodes and the store count, by name; for each node, or all together."""
    here = ("fudaza_connections", "fudaza_rooms_loaded", "fudaza_tasks", "fudaza_internal_errors_total")
    counted = {name: [await metric(node, name) for node in nodes.nodes] for name in here}
    # who drives a room is drawn, so these are somewhere
    for name in ("fudaza_rooms_driven", *(f'fudaza_seats{{holder="{holder}"}}' for holder in HOLDERS)):
        counted[name] = [sum([await metric(node, name) for node in nodes.nodes])]
    return counted


@pytest.mark.parametrize("cycles", [100, pytest.param(1_000, marks=pytest.mark.long)])
async def test_after_so_many_connections_came_and_broke_the_counters_are_what_is_there(
    two: Installation, cycles: int
) -> None:
    ann = Guest([two.ports[0]], "Ann")
    bob = Guest([two.ports[1]], "Bob")
    code = await ann.sit("koi-koi")
    await bob.join(code)
    tasks = [await fewest_tasks(node) for node in two.nodes]
    listening = asyncio.create_task(listen(ann))
    async with asyncio.timeout(PATIENCE + cycles):
        for number in range(cycles):
            await bob.vanish()
            if number % 10:
                await bob.come_back()
            else:  # and some who only look
                stranger = Guest([two.ports[1]], "Stranger")
                await stranger.watch(code)
                await stranger.vanish()
                await bob.come_back()

    is_there = {
        "fudaza_connections": [1, 1],
        "fudaza_rooms_loaded": [1, 1],
        "fudaza_tasks": tasks,
        "fudaza_internal_errors_total": [0, 0],
        "fudaza_rooms_driven": [1],
        'fudaza_seats{holder="person"}': [2],
        'fudaza_seats{holder="away"}': [0],
        'fudaza_seats{holder="ai"}': [0],
        'fudaza_seats{holder="open"}': [0],
    }
    loop = asyncio.get_running_loop()
    give_up = loop.time() + PATIENCE
    while (counted := await counters(two)) != is_there and loop.time() < give_up:
        await asyncio.sleep(0.2)
    assert counted == is_there
    assert listening.cancel(), "Ann was there all the time"
    channel = Keys().wake(ann.room)
    assert two.store.ask("PUBSUB", "SHARDCHANNELS") == f"*1\r\n${len(channel)}\r\n{channel}\r\n".encode()
    assert two.store.ask("PUBSUB", "SHARDNUMSUB", channel).endswith(b":2\r\n"), "once for each node"
    story = story_of(await two.log(ann.room))
    returned = sum(isinstance(entry.body, Returned) for entry in story.entries)
    assert returned == cycles
    person = person_at(story.room, Seat(1))
    assert isinstance(person, Person)
    assert not person.away
    answer = await bob.ask(Look(id=bob.next_id()))
    assert isinstance(answer, Accepted)
