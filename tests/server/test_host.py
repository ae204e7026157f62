"""One room on a node: order, races, unknown outcomes, who is shown what and how often it is encoded."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from protocol.codes import Close
from protocol.messages import (
    Accepted,
    Act,
    Events,
    Leave,
    Look,
)
from server.entries import decode_entry
from server.log import EMPTY, StoreFull, StoreUnavailable, follow
from server.reading import RoomGone
from server.room import Person as Seated
from server.room import replay
from tests.server.hallkit import GAMES, House, table, until
from tests.server.memory import MemoryLog

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
