"""One room on a node: who comes, comes back, leaves, is lost and is removed, and what each of them is told."""

from __future__ import annotations

import asyncio

import pytest

from protocol.codes import Close
from protocol.messages import (
    Accepted,
    ClearSeat,
    Contribute,
    Join,
    Leave,
    Look,
    RefusedMessage,
    Start,
)
from server.entries import Acted, Actor, Joined, Returned
from server.log import StoreUnavailable
from server.reading import RoomGone
from server.room import Person as Seated
from server.room import ai_moves
from tests.server.hallkit import House, bodies, silence, table, until


async def test_who_resumes_is_shown_exactly_what_they_missed(house: House) -> None:
    ann, bob = await table(house)
    had = max(bob.outbox.numbers)
    await bob.vanish()
    again = house.person("Bob again")

    await again.resume(bob, after=had)

    assert again.outbox.numbers == list(range(had + 1, ann.room.number + 1))
    assert again.outbox.event_tags == ["seat-away", "seat-back"]
    assert not again.snapshots
    assert again.turns[-1].at == bob.turns[-1].at
    assert [type(message).__name__ for message in again.outbox.messages] == ["Accepted", "Events", "Turn"]


async def test_a_node_that_has_not_read_of_a_token_yet_does_not_refuse_it(house: House, second: House) -> None:
    ann, bob = await table(house, guest_at=second)
    assert bob.host is not None
    bob.host._stop_watching()
    again = house.person("Bob again")
    await again.resume(bob)
    third = second.person("Bob at the node that has missed it")

    assert await third.resume(again) == "accepted"

    assert third.room.version == len(house.memory.entries[ann.room.id])


async def test_a_connection_that_went_while_its_return_waited_does_not_push_out_the_next_one(house: House) -> None:
    ann, bob = await table(house)
    await bob.vanish()
    late, again = house.person("Bob, late"), house.person("Bob again")
    late.outbox.gone = True

    await again.resume(bob)
    assert await late.resume(bob) == "not-in-a-room"

    assert again.outbox.closed is None
    assert await ann.act("single") == "accepted"
    assert "duel-answered" not in ann.outbox.event_tags
    assert await again.act("single") == "accepted"


async def test_who_resumes_without_a_number_or_with_one_from_a_lost_future_gets_everything(house: House) -> None:
    ann, bob = await table(house)

    for after in (0, ann.room.number + 50):
        again = house.person(f"Bob after {after}")
        await again.resume(bob, after=after)
        assert [message.at for message in again.snapshots] == [ann.room.number]
        assert again.outbox.notices == (["rolled-back"] if after else [])
        bob = again


async def test_a_lost_connection_starts_the_grace_and_an_ai_sits_in_after_it(house: House) -> None:
    ann, bob = await table(house)

    await bob.vanish()
    house.clock.now += 29_999
    assert ann.host is not None
    await ann.host.fire()
    assert "stand-in" not in ann.outbox.event_tags
    house.clock.now += 1
    await ann.host.fire()

    assert "seat-away" in ann.outbox.event_tags
    assert "stand-in" in ann.outbox.event_tags


async def test_connections_of_a_dead_node_are_reported_as_gone(house: House, second: House) -> None:
    ann, _ = await table(house, guest_at=second)

    assert ann.host is not None
    assert "n2" not in house.node.presence.nodes
    await ann.host.reconcile()
    assert "seat-away" not in ann.outbox.event_tags, "it may have begun since this node last asked"
    await silence(house)

    away = [seat.away for seat in ann.room.seats if isinstance(seat, Seated)]
    assert away == [False, True]


async def test_who_is_known_to_be_away_hides_nobody_whose_node_is_dead(house: House, second: House) -> None:
    ann, _ = await table(house, guest_at=second)
    host = ann.host
    assert host is not None
    await ann.vanish()
    await silence(house)

    await host.reconcile()

    assert [seat.away for seat in host.room.seats if isinstance(seat, Seated)] == [True, True]


async def test_a_node_that_was_only_thought_dead_sends_its_connections_back_in(house: House, second: House) -> None:
    ann, bob = await table(house, guest_at=second)

    assert ann.host is not None
    await silence(house)
    await until(lambda: bob.outbox.closed is not None)

    assert bob.outbox.closed is Close.SERVICE_RESTART


async def test_a_loss_that_could_not_be_reported_is_reported_later(house: House) -> None:
    ann, bob = await table(house)
    house.memory.available = False
    with pytest.raises(StoreUnavailable):
        await bob.vanish()
    house.memory.available = True

    await house.driver.heal()

    assert "seat-away" in ann.outbox.event_tags


async def test_leaving_ends_the_viewing_but_not_the_connection(house: House) -> None:
    ann, bob = await table(house)

    assert await bob.do(Leave(id=bob.client.id())) == "accepted"
    heard = len(bob.outbox.sent)
    await ann.act("single")
    await ann.do(Start(id=ann.client.id()))

    assert bob.viewer is None
    assert bob.outbox.closed is None
    assert len(bob.outbox.sent) == heard


async def test_a_removed_person_is_told_and_closed(house: House) -> None:
    ann, bob = await table(house)

    assert await ann.do(ClearSeat(id=ann.client.id(), seat=1)) == "accepted"

    assert bob.outbox.notices == ["removed"]
    assert bob.outbox.closed is Close.REMOVED
    assert bob.outbox.event_tags[-1] == "seat-freed"


async def test_a_look_that_waited_while_its_person_was_removed_shows_no_hand(house: House) -> None:
    ann, bob = await table(house)
    host, viewer = bob.host, bob.viewer
    assert host is not None
    remove = ann.do(ClearSeat(id=ann.client.id(), seat=1))
    look = host.submit(Look(id=bob.client.id()), viewer, bob.outbox)

    _, outcome = await asyncio.gather(remove, look)

    assert outcome.code == "not-in-a-room"
    assert outcome.viewer is None
    assert len(bob.snapshots) == 1, "only the one with which they came"


async def test_a_removed_person_is_told_and_closed_on_whatever_node_they_are(house: House, second: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    bob = second.person("Bob")
    await bob.join(ann.room.code)

    assert await ann.do(ClearSeat(id=ann.client.id(), seat=1)) == "accepted"

    await until(lambda: bob.outbox.closed is not None)
    assert bob.outbox.notices == ["removed"]
    assert bob.outbox.closed is Close.REMOVED
    again = second.person("Bob again")
    assert await again.resume(bob) == "bad-token"


async def test_a_closed_room_tells_everybody_and_closes_their_connections(house: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    eve = house.person("Eve")
    await eve.watch(ann.room.code)
    house.clock.now += 24 * 3_600_000

    assert ann.host is not None
    await ann.host.fire()

    for person in (ann, eve):
        assert person.outbox.event_tags == ["room-closed"]
        assert person.outbox.notices == ["room-closed"]
        assert person.outbox.closed is Close.ROOM_CLOSED


async def test_whoever_lost_the_answer_that_seated_them_gets_a_new_token_by_the_same_command(house: House) -> None:
    ann, bob = house.person("Ann"), house.person("Bob")
    await ann.create()
    command = Join(id=bob.client.id(), code=ann.room.code, name="Bob")
    assert ann.host is not None
    first = await ann.host.submit(command, None, bob.outbox)
    again = house.person("Bob again")
    second_answer = await ann.host.submit(command, None, again.outbox)

    assert first.code == second_answer.code == "accepted"
    assert [type(body) for body in bodies(house, ann.room.id)[1:]] == [Joined, Returned]
    assert bob.outbox.closed is Close.SUPERSEDED
    tokens = [place.place.token for place in (*bob.outbox.all(Accepted), *again.outbox.all(Accepted)) if place.place]
    assert len(set(tokens)) == 2


async def test_a_host_retires_only_when_nobody_watches_and_nothing_is_under_way(house: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    host = ann.host
    assert host is not None
    assert not host.retire(), "Ann watches"
    await ann.vanish()
    reading = asyncio.create_task(host.check())
    await asyncio.sleep(0)
    assert not host.retire(), "something is under way"
    await reading

    assert host.retire()

    with pytest.raises(RoomGone):
        await host.fire()
    assert (await house.hall.room(host.room.id)).room == host.room


async def test_an_ai_move_for_a_decision_that_is_gone_does_nothing(house: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    await ann.start()
    await ann.contribute()
    assert ann.host is not None
    await ann.host.fire()
    (move,) = ai_moves(ann.room)
    await house.person("Bob").join(ann.room.code, seat=1)

    assert not await ann.host.move(move, "single", Actor.AI)

    assert not any(isinstance(body, Acted) for body in bodies(house, ann.room.id))


async def test_contributions_and_sealed_answers_are_acknowledged_without_a_number(house: House) -> None:
    ann, bob = house.person("Ann"), house.person("Bob")
    await ann.create()
    await bob.join(ann.room.code)
    await ann.start()
    heard = len(bob.outbox.sent)

    await ann.do(Contribute(id=ann.client.id(), value="00" * 32))

    assert ann.answers[-1] == Accepted(id=ann.answers[-1].id or "")
    assert len(bob.outbox.sent) == heard


async def test_only_so_many_watch_a_room_and_who_holds_a_seat_counts_for_none_of_them(house: House) -> None:
    house.hall.node = house.node._replace(spectators=2)
    ann, bob = house.person("Ann"), house.person("Bob")
    first, second, third = (house.person(name) for name in ("Eve", "Fay", "Gus"))
    await ann.create()
    assert [await each.watch(ann.room.code) for each in (first, second, third)] == ["accepted"] * 2 + [
        "spectators-full"
    ]
    assert third.answers[-1] == RefusedMessage(id=third.answers[-1].id, code="spectators-full", params={"limit": 2})
    assert await bob.join(ann.room.code) == "accepted"

    await first.vanish()

    assert await third.watch(ann.room.code) == "accepted"
