"""One room on a node: order, races, unknown outcomes, who is shown what and how often it is encoded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest
import pytest_asyncio

from protocol.codes import Close
from protocol.messages import (
    Accepted,
    Act,
    ChosenSettings,
    ClearSeat,
    Contribute,
    Create,
    Events,
    Join,
    Leave,
    Look,
    Notice,
    Start,
)
from server.entries import Acted, Actor, Joined, Refunded, Returned, decode_entry
from server.host import RoomGone
from server.log import EMPTY, StoreFull, StoreUnavailable, follow
from server.room import Person as Seated
from server.room import ai_moves, replay
from tests.server.hallkit import GAMES, House, Person, until
from tests.server.memory import MemoryLog


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    made = House()
    await made.driver.beat()
    yield made
    await made.close()


@pytest_asyncio.fixture
async def second(house: House) -> AsyncIterator[House]:
    """Another node on the same log."""
    made = House("n2", beside=house)
    await made.driver.beat()
    yield made
    await made.close()


async def table(house: House, *, guest_at: House | None = None) -> tuple[Person, Person]:
    """Ann, who hosts, and Bob; the match has been opened and dealt, and both are asked."""
    ann, bob = house.person("Ann"), (guest_at or house).person("Bob")
    await ann.create()
    assert await bob.join(ann.room.code) == "accepted"
    await until(lambda: ann.room.version == bob.room.version)
    await ann.start()
    await until(lambda: ann.room.version == bob.room.version)
    await ann.contribute()
    await until(lambda: ann.room.version == bob.room.version)
    await bob.contribute()
    await until(lambda: ann.room.version == bob.room.version)
    assert ann.host is not None
    await ann.host.fire()
    await until(lambda: ann.room.version == bob.room.version)
    assert ann.room.phase == "playing"
    return ann, bob


def bodies(house: House, room: str) -> list[object]:
    return [decode_entry(stored.data).body for stored in house.memory.entries[room]]


# Order -----------------------------------------------------------------------------------------------------------


async def test_whoever_sits_down_is_answered_first_then_shown_everything_then_asked(house: House) -> None:
    ann = house.person("Ann")

    assert await ann.create() == "accepted"

    assert [type(message).__name__ for message in ann.outbox.messages] == ["Accepted", "Snapshot"]
    assert ann.place is not None
    assert ann.place.seat == 0
    assert ann.place.token is not None
    assert ann.snapshots[0].at == ann.room.number == 2


async def test_what_a_command_does_is_shown_to_all_before_it_is_answered(house: House) -> None:
    ann, bob = house.person("Ann"), house.person("Bob")
    await ann.create()

    await bob.join(ann.room.code)
    await ann.start()

    assert ann.outbox.event_tags == ["seat-taken", "match-opened"]
    started = ann.answers[-1]
    assert isinstance(started, Accepted)
    assert started.at == ann.room.number
    assert isinstance(ann.outbox.messages[-2], Events), "the answer comes after what it answers"
    assert ann.outbox.messages[-1] == started


async def test_every_viewer_gets_every_number_once_and_in_order(house: House) -> None:
    ann, bob = await table(house)
    eve = house.person("Eve")
    await eve.watch(ann.room.code)
    seen_from = ann.room.number

    await ann.act("single")
    await bob.act("single")
    house.clock.now += 1_000
    assert ann.host is not None
    await ann.host.fire()
    for person in (ann, bob):
        if person.turns[-1].at == ann.room.number:
            await person.act()

    assert ann.outbox.numbers == list(range(3, ann.room.number + 1))
    assert bob.outbox.numbers == list(range(4, ann.room.number + 1))
    assert eve.outbox.numbers == list(range(seen_from + 1, ann.room.number + 1))


async def test_an_asked_person_gets_one_turn_for_one_decision_after_the_events_that_led_to_it(house: House) -> None:
    ann, bob = await table(house)

    assert [turn.at for turn in ann.turns] == [ann.room.number]
    assert [turn.at for turn in bob.turns] == [ann.room.number]
    last = [type(message) for message in bob.outbox.messages[-2:]]
    assert last == [Events, type(bob.turns[0])]

    await ann.act("single")

    assert len(ann.turns) == len(bob.turns) == 1, "an answer that nobody sees asks nobody again"


async def test_look_shows_everything_again_and_repeats_the_turn(house: House) -> None:
    ann, _ = await table(house)

    assert ann.host is not None
    await ann.host.submit(Look(id=ann.client.id()), ann.viewer, ann.outbox)

    assert [type(message).__name__ for message in ann.outbox.messages[-3:]] == ["Accepted", "Snapshot", "Turn"]
    assert ann.snapshots[-1].at == ann.room.number
    assert ann.turns[-1] == ann.turns[-2]


# Encoded once ----------------------------------------------------------------------------------------------------


async def test_a_frame_is_encoded_once_for_all_to_whom_it_looks_the_same(house: House) -> None:
    ann, bob = house.person("Ann"), house.person("Bob")
    await ann.create()
    await bob.join(ann.room.code)
    crowd = [house.person(f"spectator-{n}") for n in range(20)]
    for each in crowd:
        await each.watch(ann.room.code)
    await ann.start()
    public = [person.outbox.sent[-1] for person in (bob, *crowd)]
    assert len(set(map(id, public))) == 1, "an event that hides nothing is one frame for everybody"

    await ann.contribute()
    await bob.contribute()
    before = house.counted("fudaza_frames_encoded_total")
    assert ann.host is not None
    await ann.host.fire()

    dealt = [next(sent for sent in reversed(each.outbox.sent) if b'"events"' in sent.payload) for each in crowd]
    assert len(set(map(id, dealt))) == 1, "all spectators see the same deal"
    three_views_and_two_turns = 5
    assert house.counted("fudaza_frames_encoded_total") - before == three_views_and_two_turns


async def test_nobody_is_shown_the_cards_of_others(house: House) -> None:
    ann, bob = await table(house)
    eve = house.person("Eve")
    await eve.watch(ann.room.code)

    views = {person.name: msgspec.json.decode(person.snapshots[-1].view or b"null") for person in (eve,)}
    assert views["Eve"]["hand"] == []
    for person, seat in ((ann, 0), (bob, 1)):
        (dealt,) = (
            msgspec.json.decode(raw)
            for events in person.outbox.all(Events)
            for raw in events.events
            if b"duel-dealt" in bytes(raw)
        )
        assert dealt["hands"][seat] is not None
        assert dealt["hands"][1 - seat] is None
        assert dealt["unseen"] is None


# Races and the store ---------------------------------------------------------------------------------------------


async def test_of_two_nodes_that_append_at_once_both_get_their_entry_in_and_agree(house: House, second: House) -> None:
    ann, bob = await table(house, guest_at=second)

    await asyncio.gather(ann.act("single"), bob.act("single"))
    await until(lambda: ann.room == bob.room)

    assert ann.answers[-1] == Accepted(id=ann.answers[-1].id or "")
    assert bob.answers[-1] == Accepted(id=bob.answers[-1].id or "")
    assert house.counted("fudaza_append_conflicts_total") + second.counted("fudaza_append_conflicts_total") == 1
    entries = house.memory.entries[ann.room.id]
    assert [stored.version for stored in entries] == list(range(1, len(entries) + 1))
    assert replay((decode_entry(stored.data) for stored in entries), games=GAMES) == ann.room


async def test_of_two_persons_who_want_one_seat_one_gets_it(house: House, second: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    bob, cid = house.person("Bob"), second.person("Cid")

    codes = await asyncio.gather(bob.join(ann.room.code, seat=1), cid.join(ann.room.code, seat=1))

    assert sorted(codes) == ["accepted", "seat-taken"]


async def test_a_move_that_lost_the_race_is_refused_as_stale_with_the_open_decision(
    house: House, second: House
) -> None:
    ann, bob = await table(house, guest_at=second)
    await ann.act("single")
    await bob.act("single")
    house.clock.now += 1_000
    assert ann.host is not None
    await ann.host.fire()
    await until(lambda: ann.room == bob.room)
    mover = ann if ann.turns[-1].at == ann.room.number else bob
    turn = mover.turns[-1]
    again = House("n3", beside=house)
    elsewhere = again.person("elsewhere")
    await elsewhere.resume(mover)

    first = await elsewhere.do(Act(id=elsewhere.client.id(), action=turn.legal[0], at=turn.at))
    second_answer = await elsewhere.do(Act(id=elsewhere.client.id(), action=turn.legal[0], at=turn.at))

    assert (first, second_answer) == ("accepted", "stale")
    await again.close()


async def test_an_append_whose_reply_is_lost_is_done_once_and_accepted(house: House) -> None:
    ann, _ = await table(house)
    version = ann.room.version
    house.memory.lose_replies = 1

    assert await ann.act("single") == "accepted"

    assert ann.room.version == version + 1
    assert len(house.memory.entries[ann.room.id]) == version + 1
    assert house.counted("fudaza_append_unknown_total") == 1


async def test_after_an_unknown_outcome_the_same_command_is_answered_and_not_done_twice(house: House) -> None:
    ann, _ = await table(house)
    turn = ann.turns[-1]
    command = Act(id=ann.client.id(), action="single", at=turn.at)
    version = ann.room.version
    house.memory.lose_replies = 1
    unreachable = asyncio.Event()

    async def no_reading(room: str, after: int = 0) -> list[object]:
        unreachable.set()
        raise StoreUnavailable(f"{room} {after}")

    assert ann.host is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(house.memory, "read", no_reading)
        with pytest.raises(StoreUnavailable):
            await ann.do(command)
    answered = len(ann.answers)

    assert await ann.do(command) == "accepted"

    assert unreachable.is_set()
    assert len(ann.answers) == answered + 1
    assert len(house.memory.entries[ann.room.id]) == version + 1


async def test_while_the_store_is_away_nothing_happens_and_afterwards_everything_does(house: House) -> None:
    ann, _ = await table(house)
    command = Act(id=ann.client.id(), action="single", at=ann.turns[-1].at)
    before, heard = ann.room, len(ann.outbox.sent)
    house.memory.available = False

    with pytest.raises(StoreUnavailable):
        await ann.do(command)

    assert ann.room == before
    assert len(ann.outbox.sent) == heard
    house.memory.available = True
    assert await ann.do(command) == "accepted"


async def test_a_full_store_refuses_and_changes_nothing(house: House) -> None:
    ann, _ = await table(house)
    before, heard = ann.room, len(ann.outbox.sent)
    house.memory.full = True

    with pytest.raises(StoreFull):
        await ann.act("single")

    assert ann.room == before
    assert len(ann.outbox.sent) == heard


async def test_an_entry_that_cannot_be_folded_is_never_appended(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, _ = await table(house)
    version = len(house.memory.entries[ann.room.id])

    def fails(*_: object, **__: object) -> None:
        raise AssertionError("a bug in the fold")

    monkeypatch.setattr("server.host.rooms.fold", fails)
    with pytest.raises(AssertionError):
        await ann.act("single")

    assert len(house.memory.entries[ann.room.id]) == version


async def test_a_cancelled_append_leaves_the_host_able_to_go_on(house: House) -> None:
    ann, bob = await table(house)
    task = asyncio.create_task(ann.act("single"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await bob.act("single") == "accepted"

    assert follow(EMPTY, house.memory.entries[ann.room.id]) == (ann.host.head if ann.host else None)


# Other nodes -----------------------------------------------------------------------------------------------------


async def test_what_happens_on_one_node_is_shown_on_the_other(house: House, second: House) -> None:
    _, bob = await table(house, guest_at=second)

    assert bob.outbox.event_tags[-2:] == ["duel-dealt", "question-opened"]
    assert bob.outbox.numbers == list(range(4, bob.room.number + 1))
    assert bob.turns


async def test_a_lost_wake_up_is_healed_by_comparing_with_the_log(house: House, second: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    eve = second.person("Eve")
    await eve.watch(ann.room.code)
    assert eve.host is not None
    await eve.host.check()  # after the wake-up with which watching begins
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryLog, "wake", lambda *_: None)
        await house.person("Bob").join(ann.room.code)
    assert eve.outbox.numbers == []

    await second.driver.heal()

    assert eve.outbox.numbers == [3]


async def test_the_newest_connection_wins_also_on_another_node(house: House, second: House) -> None:
    ann, bob = await table(house)
    again = second.person("Ann again")

    assert await again.resume(ann) == "accepted"
    await until(lambda: ann.outbox.closed is not None)

    assert ann.outbox.closed is Close.SUPERSEDED
    assert ann.outbox.notices == ["superseded"]
    assert bob.outbox.closed is None
    assert await ann.act("single") == "not-in-a-room"
    assert await again.act("single") == "accepted"


async def test_a_drop_of_a_replaced_connection_says_nothing_about_the_new_one(house: House) -> None:
    ann, bob = await table(house)
    again = house.person("Ann again")
    await again.resume(ann)

    await ann.vanish()

    seat = ann.room.seats[0]
    assert isinstance(seat, Seated)
    assert not seat.away
    assert "seat-away" not in bob.outbox.event_tags


async def test_a_log_that_lost_its_end_is_read_anew_and_shown_afresh(house: House) -> None:
    ann, bob = await table(house)
    eve = house.person("Eve")
    await eve.watch(ann.room.code)
    await ann.act("single")
    house.memory.roll_back(ann.room.id, 3)
    shown = len(ann.snapshots), len(eve.snapshots)

    await house.driver.heal()

    assert ann.room.version == 3
    assert (len(ann.snapshots), len(eve.snapshots)) == (shown[0] + 1, shown[1] + 1)
    assert ann.snapshots[-1].phase == "shuffling"
    assert house.counted("fudaza_room_reloads_total") == 1
    assert bob.outbox.closed is None
    assert [person.outbox.notices for person in (ann, bob, eve)] == [["rolled-back"]] * 3


async def test_whoever_came_in_a_lost_part_of_the_log_is_asked_to_come_again(house: House) -> None:
    ann, bob = await table(house)
    house.memory.roll_back(ann.room.id, 1)

    await house.driver.heal()

    assert bob.outbox.closed is Close.SERVICE_RESTART
    assert ann.outbox.closed is None


async def test_a_forked_log_is_found_by_the_next_append(house: House) -> None:
    ann, bob = await table(house)
    entries = house.memory.entries[ann.room.id]
    await ann.act("single")
    house.memory.roll_back(ann.room.id, len(entries) - 1)
    fork = House("fork", beside=house)
    elsewhere = fork.person("elsewhere")
    await elsewhere.resume(bob)
    assert len(entries) == ann.room.version, "the other branch is as long as the one that was lost"

    assert await ann.do(Leave(id=ann.client.id())) == "accepted"

    assert ann.host is not None
    assert follow(EMPTY, entries) == ann.host.head
    assert house.counted("fudaza_room_reloads_total") == 1
    await fork.close()


@pytest.mark.parametrize("finder", ["healing", "wake-up"])
async def test_a_fork_of_the_same_length_is_found_without_an_append(house: House, finder: str) -> None:
    ann, bob = await table(house)
    await ann.act("single")
    entries = house.memory.entries[ann.room.id]
    house.memory.roll_back(ann.room.id, len(entries) - 1)
    fork = House("fork", beside=house)
    await fork.person("elsewhere").resume(bob)
    assert ann.host is not None
    assert len(entries) == ann.room.version
    assert entries[-1].head != ann.host.head

    if finder == "healing":
        await house.driver.heal()
    else:
        ann.host.wake(0)
        await until(lambda: ann.host is not None and ann.host.head == entries[-1].head)

    assert ann.host.head == entries[-1].head
    assert ann.outbox.notices == ["rolled-back"]
    await fork.close()


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


async def test_a_room_of_a_newer_server_is_left_to_it(house: House) -> None:
    ann, _ = await table(house)
    room, head = ann.room.id, ann.host.head if ann.host else EMPTY
    data = b'{"schema":999,"at":1,"command":null,"body":{"b":"new-thing"}}'

    await house.memory.append(room, head, data)
    await until(lambda: ann.outbox.closed is not None)

    assert ann.outbox.closed is Close.SERVICE_RESTART
    with pytest.raises(RoomGone):
        await ann.act("single")
    with pytest.raises(RoomGone):
        await house.hall.room(room)


# Coming and going ------------------------------------------------------------------------------------------------


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
    ann, bob = await table(house, guest_at=second)

    assert ann.host is not None
    await ann.host.reconcile(["n1", "n2"])
    assert "seat-away" not in ann.outbox.event_tags
    await ann.host.reconcile(["n1"])

    away = [seat.away for seat in ann.room.seats if isinstance(seat, Seated)]
    assert away == [False, True]
    assert bob.outbox.closed is None


async def test_a_node_that_was_only_thought_dead_sends_its_connections_back_in(house: House, second: House) -> None:
    ann, bob = await table(house, guest_at=second)

    assert ann.host is not None
    await ann.host.reconcile(["n1"])
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
