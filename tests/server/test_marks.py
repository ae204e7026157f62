"""Marks: who saw a history that the store has lost is never sent another one as its continuation, and nobody learns
anything from a mark.
"""

from __future__ import annotations

import hashlib

from msgspec.structs import replace

from protocol.codes import Close
from protocol.events import RoomLock
from protocol.messages import Act, Lock
from server.entries import Created, Entry, decode_entry, encode_entry
from server.log import EMPTY, successor
from server.marks import Marks
from server.room.state import HISTORY
from tests.server.hallkit import House, Person


async def restarted(house: House) -> House:
    """Another node on the same store; the first is dead and tells nobody what it knew."""
    other = House("n2", beside=house)
    await other.driver.beat()
    return other


async def lock(person: Person, times: int) -> None:
    """So many events."""
    for number in range(times):
        await person.do(Lock(id=person.client.id(), on=number % 2 == 0))


async def table(house: House) -> tuple[Person, Person]:
    ann, bob = house.person("Ann"), house.person("Bob")
    await ann.create()
    await bob.join(ann.room.code)
    return ann, bob


async def test_who_saw_a_lost_history_is_shown_the_new_one_afresh_though_it_has_outgrown_theirs(house: House) -> None:
    ann, bob = await table(house)
    kept = ann.room.version
    await lock(ann, 2)
    had, mark = bob.outbox.numbers[-1], bob.outbox.mark
    house.memory.roll_back(ann.room.id, kept)  # and in the same moment the node dies
    other = await restarted(house)
    new_ann, new_bob = other.person("Ann again"), other.person("Bob again")
    await new_ann.resume(ann)
    await lock(new_ann, 4)
    assert new_ann.room.number > had

    await new_bob.resume(bob, after=had, mark=mark)

    assert new_bob.outbox.notices == ["rolled-back"]
    assert [snapshot.at for snapshot in new_bob.snapshots] == [new_ann.room.number]
    assert new_bob.outbox.numbers == []


async def test_who_saw_the_history_as_it_is_goes_on_where_they_were_also_at_another_node(house: House) -> None:
    ann, bob = await table(house)
    await lock(ann, 2)
    had, mark = bob.outbox.numbers[-1], bob.outbox.mark
    await lock(ann, 3)
    other = await restarted(house)
    again = other.person("Bob again")

    await again.resume(bob, after=had, mark=mark)

    assert again.outbox.notices == []
    assert again.snapshots == []
    assert again.outbox.numbers[:3] == [had + 1, had + 2, had + 3]
    assert again.outbox.mark == ann.outbox.mark


async def test_a_client_that_names_no_mark_is_served_as_before(house: House) -> None:
    ann, bob = await table(house)
    await lock(ann, 3)
    again = house.person("Bob again")

    await again.resume(bob, after=bob.outbox.numbers[-2])

    assert again.outbox.notices == []
    assert again.outbox.event_tags[0] == RoomLock.__struct_config__.tag


async def test_a_made_up_mark_gets_the_whole_table(house: House) -> None:
    ann, bob = await table(house)
    await lock(ann, 3)
    again = house.person("Bob again")

    await again.resume(bob, after=bob.outbox.numbers[-1], mark="000000" if bob.outbox.mark != "000000" else "000001")

    assert again.outbox.notices == ["rolled-back"]
    assert len(again.snapshots) == 1


async def test_a_sealed_answer_moves_no_mark(house: House) -> None:
    ann, bob = await table(house)
    await ann.start()
    for person in (ann, bob):
        await person.contribute()
    assert ann.host is not None
    await ann.host.fire()
    watcher = house.person("Eve")
    await watcher.watch(ann.room.code)
    before, version = watcher.outbox.mark, ann.room.version

    assert await bob.do(Act(id=bob.client.id(), action="double", at=bob.turns[-1].at)) == "accepted"
    late = house.person("Late")
    await late.watch(ann.room.code)

    assert ann.room.version == version + 1
    assert late.outbox.mark == before


async def test_two_logs_alike_in_all_but_their_salt_have_nothing_in_common_in_their_marks(house: House) -> None:
    """Whoever knows or guesses everything else that the log says cannot check a guess."""
    ann, _ = await table(house)
    await lock(ann, 20)
    marks = []
    for salt in (b"a" * 16, b"b" * 16):
        head, found = EMPTY, set()
        for stored in house.memory.entries[ann.room.id]:
            head = successor(head, encode_entry(with_salt(decode_entry(stored.data), salt)))
            found.add(head.hash[:3])
        marks.append(found)

    assert len(marks[0]) == ann.room.version
    assert not marks[0] & marks[1]


def with_salt(entry: Entry, salt: bytes) -> Entry:
    return replace(entry, body=replace(entry.body, salt=salt)) if isinstance(entry.body, Created) else entry


async def test_a_room_that_an_older_server_opened_without_salt_shows_no_mark(house: House) -> None:
    ann, bob = await table(house)
    head, log = EMPTY, house.memory.entries[ann.room.id]
    for place, stored in enumerate(log):
        data = encode_entry(with_salt(decode_entry(stored.data), b"")).replace(b',"salt":""', b"")
        head = successor(head, data)
        log[place] = replace(stored, hash=head.hash, data=data)
    other = await restarted(house)
    again = other.person("Bob again")

    await again.resume(bob)
    await lock(again, 1)

    assert again.outbox.mark is None
    assert again.outbox.notices == []


def test_marks_are_kept_for_as_many_events_as_can_be_shown_again() -> None:
    marks = Marks()
    digests = {number: hashlib.sha256(str(number).encode()).digest() for number in range(1, 3 * HISTORY)}
    for number, digest in digests.items():
        marks.note(number, digest)

    last = 3 * HISTORY - 1
    assert [marks.at(number) for number in range(last - HISTORY + 1, last + 1)] == [
        digests[number][:3].hex() for number in range(last - HISTORY + 1, last + 1)
    ]


async def test_who_came_in_a_lost_history_is_not_taken_for_whom_the_same_version_brought_in_another(
    house: House,
) -> None:
    """They would be shown that person's cards."""
    ann, bob = await table(house)
    again = house.person("Bob again")
    await again.resume(bob)
    epoch = again.room.version
    house.memory.roll_back(again.room.id, epoch - 1)
    other = await restarted(house)
    new_ann = other.person("Ann again")
    await new_ann.resume(ann)
    assert new_ann.room.version == epoch
    shown = len(again.outbox.messages)

    assert again.host is not None
    await again.host.check()

    assert again.outbox.messages[shown:] == []
    assert again.outbox.closed is Close.SERVICE_RESTART


async def test_the_end_of_a_connection_from_a_lost_history_is_not_that_of_whom_the_same_version_brought(
    house: House,
) -> None:
    ann, bob = await table(house)
    again = house.person("Bob again")
    await again.resume(bob)
    house.memory.roll_back(again.room.id, again.room.version - 1)
    other = await restarted(house)
    newest = other.person("Bob once more")
    await newest.resume(bob)
    assert again.host is not None
    await again.host.check()

    await again.vanish()

    assert ann.outbox.notices == ["rolled-back"]
    assert not newest.room.seats[1].away  # type: ignore[union-attr]
    assert newest.room.version == 3
