"""One room on a node: time that an outage took is given back, and who is asked is warned before theirs runs out."""

from __future__ import annotations

import pytest

from protocol.messages import (
    ChosenSettings,
    Create,
    Notice,
)
from server.entries import Acted, Actor, Refunded
from server.log import StoreUnavailable
from tests.server.hallkit import House, Person, bodies, until

# Outages ---------------------------------------------------------------------------------------------------------


async def limited(house: House) -> tuple[Person, Person]:
    """Ann, who is asked and has 10 seconds, and Bob."""
    ann, bob = house.person("Ann"), house.person("Bob")
    command = Create(id=ann.client.id(), game="duel", name="Ann", settings=ChosenSettings(turn_limit=10))
    await ann.create(command)
    await bob.join(ann.room.code)
    await ann.start()
    for person in (ann, bob):
        await person.contribute()
    assert ann.host is not None
    await ann.host.fire()
    house.clock.now += 1_000
    await ann.host.fire()
    return (ann, bob) if ann.turns[-1].at > bob.turns[-1].at else (bob, ann)


async def test_time_in_which_no_node_lived_is_given_back_once_and_the_asked_person_is_told(house: House) -> None:
    ann, _ = await limited(house)
    await house.driver.beat()
    assert ann.turns[-1].left_ms == 10_000
    house.clock.now += 60_000

    heir = House("heir", beside=house)
    await heir.driver.beat()
    again = heir.person("Ann again")
    await again.resume(ann)

    assert again.turns[-1].left_ms == 10_000
    await until(lambda: [type(body) for body in bodies(house, ann.room.id)].count(Refunded) == 1)
    await until(lambda: ann.room.version == again.room.version)
    assert ann.turns[-1].left_ms == 10_000
    heir.clock.now += 9_999
    assert again.host is not None
    await again.host.fire()
    assert not any(isinstance(body, Acted) for body in bodies(house, ann.room.id))
    heir.clock.now += 1
    await again.host.fire()
    assert [body.actor for body in bodies(house, ann.room.id) if isinstance(body, Acted)] == [Actor.CLOCK]
    assert [type(body) for body in bodies(house, ann.room.id)].count(Refunded) == 1
    await heir.close()


async def test_no_time_is_given_back_for_the_death_of_one_node_of_two(house: House, second: House) -> None:
    ann, _ = await limited(house)
    for _ in range(20):
        house.clock.now += 400
        await second.driver.beat()

    await house.driver.beat()
    assert ann.host is not None
    await ann.host.fire()

    assert not await house.index.outages()
    assert not any(isinstance(body, Refunded) for body in bodies(house, ann.room.id))


async def test_time_in_which_the_store_did_not_answer_is_given_back_before_anything_fires(house: House) -> None:
    ann, _ = await limited(house)
    assert ann.host is not None
    house.memory.available = False
    house.clock.now += 9_000
    with pytest.raises(StoreUnavailable):
        await ann.act()
    house.clock.now += 20_000
    house.memory.available = True

    await ann.host.fire()

    assert bodies(house, ann.room.id)[-1] == Refunded(ms=20_000)
    assert ann.turns[-1].left_ms == 1_000


async def test_a_failover_that_is_over_soon_gives_no_time_back(house: House) -> None:
    ann, _ = await limited(house)
    house.memory.available = False
    with pytest.raises(StoreUnavailable):
        await ann.act()
    house.clock.now += 2_000
    house.memory.available = True

    assert await ann.act() == "accepted"

    assert not any(isinstance(body, Refunded) for body in bodies(house, ann.room.id))


# Warnings --------------------------------------------------------------------------------------------------------


def forward(house: House, milliseconds: int) -> None:
    house.clock.now += milliseconds
    house.timers.ring()


async def test_the_person_who_is_asked_is_warned_once_before_their_time_runs_out_and_nobody_else(house: House) -> None:
    ann, bob = await limited(house)

    forward(house, 7_499)
    assert ann.outbox.notices == []
    forward(house, 1)
    forward(house, 1_000)

    assert [notice.params for notice in ann.outbox.all(Notice)] == [{"left_ms": 2_500}]
    assert ann.outbox.notices == ["time-runs-out"]
    assert bob.outbox.notices == []


async def test_who_has_moved_in_time_is_not_warned_and_the_next_decision_has_a_warning_of_its_own(
    house: House,
) -> None:
    ann, bob = await limited(house)
    forward(house, 7_000)

    await ann.act()
    assert len(house.timers.waiting) == 1
    forward(house, 7_000)
    assert ann.outbox.notices == bob.outbox.notices == []
    forward(house, 500)

    warned = [person for person in (ann, bob) if person.outbox.notices]
    assert [person.turns[-1].at for person in warned] == [max(ann.turns[-1].at, bob.turns[-1].at)]


async def test_time_given_back_moves_the_warning(house: House) -> None:
    ann, _ = await limited(house)
    await house.driver.beat()
    house.clock.now += 60_000
    heir = House("heir", beside=house)
    await heir.driver.beat()
    again = heir.person("Ann again")
    await again.resume(ann)

    heir.timers.ring()
    assert again.outbox.notices == []
    forward(heir, 7_500)

    assert again.outbox.notices == ["time-runs-out"]


async def test_a_room_that_is_let_go_warns_nobody(house: House) -> None:
    ann, bob = await limited(house)
    assert ann.host is not None

    await ann.host.close()

    assert house.timers.waiting == []
    assert bob.outbox.notices == []
