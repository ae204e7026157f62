"""Three nodes, one store: any of them takes any command for any room, and it does not matter which are there."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from functools import partial
from typing import Final

import pytest

from engine.game import Seat
from protocol.messages import Accepted, Chat, ChosenSettings, Create, Join, ListRooms, RefusedMessage, Snapshot
from server.entries import Said
from server.room import room_id_of
from tests.faults.installation import Installation, Node
from tests.faults.invariants import check, check_nodes, story_of
from tests.faults.people import Guest
from tests.faults.test_sessions import metric

pytestmark = pytest.mark.asyncio(loop_scope="session")
PATIENCE: Final = 60.0


async def finished(nodes: Installation, guests: list[Guest]) -> None:
    """All play to the end; then everything holds that must."""
    await asyncio.gather(*(guest.play() for guest in guests))
    story = check(await nodes.log(guests[0].room), guests)
    assert guests[0].place is not None
    await check_nodes(nodes.log, story, guests[0].place.code, nodes.ports)


@pytest.mark.parametrize("game", ["koi-koi", "go-stop", "hachinin-meri"])
async def test_people_of_one_room_play_through_different_nodes(nodes: Installation, game: str) -> None:
    seats = {"koi-koi": 2, "go-stop": 2, "hachinin-meri": 3}[game]
    guests = [Guest([nodes.ports[number]], f"Guest {number}", seed=number) for number in range(seats)]
    code = await guests[0].sit(game)
    for number, guest in enumerate(guests[1:], start=1):
        await guest.join(code, seat=number)
    await guests[0].start()

    await finished(nodes, guests)

    assert not any(guest.resumed for guest in guests)


async def test_eight_writers_on_three_nodes_write_one_history_that_everybody_sees_alike(nodes: Installation) -> None:
    guests = [Guest([nodes.ports[number % 3]], f"Guest {number}") for number in range(8)]
    code = await guests[0].sit("hachinin-meri")
    for number, guest in enumerate(guests[1:], start=1):
        await guest.join(code, seat=number)

    # the first line at each node is on its way to the store before any has arrived there: all build on one entry
    waited_for = set(nodes.nodes)

    def meet(node: Node) -> None:
        node.line.up.hold()
        waited_for.discard(node)
        if not waited_for:
            for each in nodes.nodes:
                each.line.up.flow()

    for node in nodes.nodes:
        node.line.up.at(b" says 0", partial(meet, node))
    before = await conflicts(nodes)

    async def hammer(guest: Guest) -> None:
        for number in range(12):
            command = Chat(id=guest.next_id(), text=f"{guest.name} says {number}")
            guest.given[command.id] = command
            answer = await guest.ask(command)
            # a person may talk only so often: that is refused, and then nowhere
            if isinstance(answer, Accepted):
                guest.accepted[command.id] = answer
            else:
                guest.refused[command.id] = answer.code

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*map(hammer, guests))
        number = story_of(await nodes.log(guests[0].room)).room.number
    for guest in guests:
        await see(guest, number)

    assert await conflicts(nodes) - before >= len(nodes.nodes) - 1, "all but one of those came second"
    story = check(await nodes.log(guests[0].room), guests)
    said = Counter(entry.body.seat for entry in story.entries if isinstance(entry.body, Said))
    for guest in guests:
        assert guest.place is not None
        assert (
            said[Seat(guest.place.seat or 0)] == sum(isinstance(guest.given[each], Chat) for each in guest.accepted) > 0
        )
    assert guests[0].place is not None
    await check_nodes(nodes.log, story, guests[0].place.code, nodes.ports)


async def conflicts(nodes: Installation) -> float:
    """How many appends came second, at all nodes together."""
    return sum([await metric(node, "fudaza_append_conflicts_total") for node in nodes.nodes])


async def test_an_announcement_reaches_everybody_at_every_node_whatever_room_they_are_in(nodes: Installation) -> None:
    guests = [Guest([port], f"Guest {number}") for number, port in enumerate(nodes.ports)]
    code = await guests[0].sit("koi-koi")
    await guests[1].join(code)
    await guests[2].sit("go-stop")
    nobody = Guest([nodes.ports[0]], "In no room")
    await nobody.connect()

    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "server.admin", "--redis", nodes.store.url, "announce", "tea is ready, 茶")
    )
    assert await asyncio.wait_for(process.wait(), PATIENCE) == 0

    async with asyncio.timeout(PATIENCE):
        for guest in (*guests, nobody):
            while not guest.announced:
                await guest._take(await guest.hear())
    assert [guest.announced for guest in (*guests, nobody)] == [["tea is ready, 茶"]] * 4


async def test_of_eight_who_want_the_same_seat_at_once_one_gets_it_whatever_their_nodes(nodes: Installation) -> None:
    host = Guest([nodes.ports[0]], "Host")
    code = await host.sit("koi-koi")
    rivals = [Guest([nodes.ports[number % 3]], f"Rival {number}") for number in range(8)]
    for rival in rivals:
        await rival.connect()

    answers = await asyncio.gather(
        *(rival.ask(Join(id=rival.next_id(), code=code, name=rival.name, seat=1)) for rival in rivals)
    )

    assert sum(isinstance(answer, Accepted) for answer in answers) == 1
    assert {answer.code for answer in answers if isinstance(answer, RefusedMessage)} == {"seat-taken"}
    assert story_of(await nodes.log(host.room)).room.version == 2


async def test_a_room_whose_creation_was_sent_again_to_another_node_while_the_first_stood_still_is_one_room(
    nodes: Installation,
) -> None:
    first, second = nodes.nodes[:2]
    ann = Guest([first.port, second.port, second.port], "Ann", seed=1)
    command = Create(id=ann.next_id(), game="koi-koi", name="Ann", options={}, settings=ChosenSettings(spectators=True))
    await ann.connect()
    stalled = asyncio.Event()

    def stall() -> None:
        first.line.up.hold()
        first.stall()
        stalled.set()

    first.line.up.at(f'"command":"{command.id}"'.encode(), stall)
    async with asyncio.timeout(PATIENCE):
        sending = asyncio.create_task(ann._enter(command))
        await stalled.wait()
        code = await sending  # the first node said nothing for too long: asked again at the second
        assert first.stalled
        first.line.up.flow()
        first.go_on()
        await ann.expect(Snapshot)
        bob = Guest([first.port], "Bob", seed=2)
        await bob.join(code)

    await ann.start()
    await finished(nodes, [ann, bob])
    story = story_of(await nodes.log(room_id_of(command.id)))
    assert [entry.command for entry in story.entries].count(command.id) == 1
    listed = await ask_for_rooms(nodes)
    assert Counter(listed)[code] == 1


async def ask_for_rooms(nodes: Installation) -> list[str]:
    asker = Guest([nodes.ports[2]], "Asker")
    await asker.connect()
    async with asyncio.timeout(PATIENCE):
        answer = await asker.ask(ListRooms(id=asker.next_id()))
    assert isinstance(answer, Accepted)
    assert answer.rooms is not None
    return [room.code for room in answer.rooms]


async def test_without_wake_ups_everybody_still_sees_everything(nodes: Installation) -> None:
    guests = [Guest([nodes.ports[number]], f"Guest {number}", seed=number) for number in range(2)]
    code = await guests[0].sit("koi-koi", deals=1)
    await guests[1].join(code)
    nodes.store.ask("ACL", "SETUSER", "default", "resetchannels")
    try:
        await guests[0].start()
        # each change is found by comparing rooms with logs, every two seconds: a few are enough
        await asyncio.gather(*(see(guest, 5) for guest in guests))
    finally:
        nodes.store.ask("ACL", "SETUSER", "default", "allchannels")
    await finished(nodes, guests)


async def see(guest: Guest, number: int) -> None:
    """Play until ``guest`` has seen the event with this number."""
    async with asyncio.timeout(PATIENCE):
        while guest.number < number:
            await guest._take(await guest.hear())


async def test_killed_subscriptions_cost_nobody_a_move(nodes: Installation) -> None:
    guests = [Guest([nodes.ports[number]], f"Guest {number}", seed=number) for number in range(3)]
    code = await guests[0].sit("hachinin-meri", deals=4)
    for number, guest in enumerate(guests[1:], start=1):
        await guest.join(code, seat=number)
    await guests[0].start()
    playing = asyncio.gather(*(guest.play() for guest in guests))

    for round_ in range(1, 6):
        goal = 25 * round_
        await guests[0].until(lambda goal=goal: guests[0].number > goal)  # type: ignore[misc]
        nodes.store.ask("CLIENT", "KILL", "TYPE", "pubsub")

    await playing
    assert not any(guest.resumed for guest in guests)
    await finished(nodes, guests)
