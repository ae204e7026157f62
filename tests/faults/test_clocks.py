"""Clocks around the moment when they run out: the time is injected, the nodes are two, their log is one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.messages import ChosenSettings, Create
from server.entries import Acted, Actor, AnyBody, decode_entry
from server.worker import Answer, Question
from tests.server.hallkit import House, Person, until

TURN_MS = 10_000
GRACE_MS = 30_000


@pytest_asyncio.fixture
async def houses() -> AsyncIterator[tuple[House, House]]:
    one = House("one")
    other = House("other", beside=one)
    await one.driver.beat()
    await other.driver.beat()
    yield one, other
    await one.close()
    await other.close()


def bodies(house: House, room: str) -> list[AnyBody]:
    return [decode_entry(stored.data).body for stored in house.memory.entries[room]]


def actors(house: House, room: str) -> list[Actor]:
    return [body.actor for body in bodies(house, room) if isinstance(body, Acted)]


async def in_step(*people: Person) -> None:
    """Wait until all nodes have read the log to its end."""
    entries = people[0].house.memory.entries[people[0].room.id]
    await until(lambda: all(person.room.version == len(entries) for person in people))


async def table(one: House, other: House, *, turn_seconds: int = TURN_MS // 1000) -> tuple[Person, Person]:
    """Whose turn it is, and the other; at two nodes."""
    ann, bob = one.person("Ann"), other.person("Bob")
    await ann.create(
        Create(
            id=ann.client.id(),
            game="duel",
            name="Ann",
            options={"stakes": "single"},
            settings=ChosenSettings(turn_limit=turn_seconds),
        )
    )
    await bob.join(ann.room.code)
    await in_step(ann, bob)
    await ann.start()
    for person in (ann, bob):
        await in_step(ann, bob)
        await person.contribute()
    await in_step(ann, bob)
    assert ann.host is not None
    await ann.host.fire()
    one.clock.now += 1_000
    await ann.host.fire()  # the sealed question is over
    await in_step(ann, bob)
    return (ann, bob) if ann.turns[-1].at > bob.turns[-1].at else (bob, ann)


async def fire(person: Person) -> None:
    assert person.host is not None
    await person.host.fire()
    await in_step(person)


@pytest.mark.parametrize("first", ["move", "clock"])
@pytest.mark.parametrize("late_ms", [-1, 0, 1])
async def test_who_returns_around_the_deadline_moves_or_is_moved_for_and_never_both(
    houses: tuple[House, House], late_ms: int, first: str
) -> None:
    one, other = houses
    asked, waiting = await table(one, other)
    deadline = one.clock.now + TURN_MS
    one.clock.now += 4_000
    await asked.vanish()
    await in_step(waiting)
    one.clock.now = deadline + late_ms
    again = waiting.house.person("again")  # through the other node
    await again.resume(asked, after=max(asked.outbox.numbers))
    assert again.turns[-1].left_ms == max(0, -late_ms)

    if first == "move":
        answer = await again.act()
        await fire(waiting)
        assert answer == "accepted"
        expected = [Actor.PERSON]
    else:
        await fire(waiting)
        answer = await again.act()
        in_time = late_ms < 0
        assert answer == ("accepted" if in_time else "stale")
        expected = [Actor.PERSON if in_time else Actor.CLOCK]

    await in_step(waiting, again)
    assert actors(one, again.room.id) == expected
    assert waiting.turns[-1].left_ms == TURN_MS


@pytest.mark.parametrize(("away_ms", "taken_over"), [(GRACE_MS - 1_000, False), (GRACE_MS + 1_000, True)])
async def test_an_ai_sits_in_after_the_grace_period_and_not_before_and_goes_when_the_person_returns(
    houses: tuple[House, House], away_ms: int, *, taken_over: bool
) -> None:
    one, other = houses
    ann, bob = one.person("Ann"), other.person("Bob")
    await ann.create(stakes="single")
    await bob.join(ann.room.code)
    await in_step(ann, bob)
    await ann.start()
    for person in (ann, bob):
        await in_step(ann, bob)
        await person.contribute()
    await in_step(ann, bob)
    await bob.vanish()
    await in_step(ann, bob)

    one.clock.now += away_ms
    await fire(ann)
    assert ("stand-in" in ann.outbox.event_tags) is taken_over
    again = one.person("Bob again")
    await again.resume(bob)

    assert ann.outbox.event_tags[-1] == "seat-back"
    assert not any(snapshot_seat.stand_in for snapshot_seat in again.snapshots[-1].seats)


class Pondering:
    """An AI that thinks until it is told to stop."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.enough = asyncio.Event()

    async def think(self, question: Question) -> Answer:
        self.asked.set()
        await self.enough.wait()
        return Answer(question.number, question.legal[0])


async def test_a_move_that_a_stand_in_still_thinks_about_is_discarded_when_the_person_returns(
    houses: tuple[House, House],
) -> None:
    one, _ = houses
    pondering = Pondering()
    for house in houses:
        house.driver._thinker = pondering
    asked, waiting = await table(*houses, turn_seconds=0)
    await asked.vanish()
    await in_step(asked, waiting)
    one.clock.now += GRACE_MS
    await fire(waiting)
    await asyncio.wait_for(pondering.asked.wait(), 10)

    again = waiting.house.person("again")
    await again.resume(asked)
    pondering.enough.set()
    await until(lambda: not any(house.driver._thinking for house in houses))
    assert actors(one, again.room.id) == []
    assert await again.act() == "accepted"

    assert actors(one, again.room.id) == [Actor.PERSON]


@settings(max_examples=60)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["drop", "return", "tab", "look", "wait"]), st.integers(0, 3_000)), max_size=12
    )
)
async def test_no_coming_and_going_of_the_other_shortens_or_lengthens_a_persons_time(
    steps: list[tuple[str, int]],
) -> None:
    one = House("one")
    other = House("other", beside=one)
    await one.driver.beat()
    await other.driver.beat()
    try:
        asked, waiting = await table(one, other)
        deadline = one.clock.now + TURN_MS
        gamer, here = waiting, True
        for what, ms in steps:
            one.clock.now += min(ms, deadline - one.clock.now - 1)
            if what == "drop" and here:
                await gamer.vanish()
                here = False
            elif what in ("return", "tab"):
                again = gamer.house.person(f"again {one.clock.now}-{len(gamer.client.session)}-{what}")
                await again.resume(gamer)
                gamer, here = again, True
            await in_step(asked)
            await fire(asked)
        assert actors(one, asked.room.id) == []

        one.clock.now = deadline - 1
        await fire(asked)
        assert actors(one, asked.room.id) == []
        one.clock.now = deadline
        await fire(asked)
        assert actors(one, asked.room.id) == [Actor.CLOCK]
    finally:
        await one.close()
        await other.close()
