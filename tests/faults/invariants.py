"""What must hold after any fault: the log is whole, and everybody was told what it says, no more and no less."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from engine.game import Seat
from engine.registry import GAMES
from protocol.codec import encode
from protocol.messages import (
    Accepted,
    Act,
    AnyCommand,
    Command,
    Contribute,
    Create,
    Join,
    Place,
    Resume,
    Snapshot,
    Start,
)
from server import room as rooms
from server.entries import Entry, decode_entry
from server.log import EMPTY, Stored, follow
from server.marks import Marks
from server.room import Games, Person, Room
from tests.faults.people import Guest

_HEALED_SECONDS: Final = 10.0
_ONCE = (Act, Contribute, Create, Join, Start)
"""Commands that were accepted have made one entry each. (``ready`` can be accepted because one is ready already.)"""


class Witness(Protocol):
    """What somebody asked, was answered and was shown."""

    name: str
    place: Place | None
    first: int
    """The number of the first event that was shown rather than told in a snapshot."""
    number: int
    """That of the last one."""

    @property
    def events(self) -> Mapping[int, Mapping[str, Any]]:
        """By number."""
        ...

    @property
    def given(self) -> Mapping[str, Command | AnyCommand]:
        """Commands by id."""
        ...

    @property
    def accepted(self) -> Mapping[str, Accepted]: ...

    @property
    def refused(self) -> Mapping[str, str]:
        """Codes of commands that were refused for good."""
        ...


class Story(NamedTuple):
    """A log, read whole."""

    entries: tuple[Entry, ...]
    room: Room
    events: dict[int, tuple[Room, Any]]
    """Each event by its number, whole, with the room just after its entry."""
    rooms: tuple[Room, ...]
    """As of each entry."""
    marks: tuple[str, ...]
    """As of each entry, that of the last event."""

    @property
    def mark(self) -> str:
        """Of the last event."""
        return self.marks[-1]


def story_of(stored: Sequence[Stored], *, games: Games = GAMES) -> Story:
    """Versions follow each other without a hole, every hash covers its predecessor, and the fold takes every entry."""
    follow(EMPTY, stored)
    entries = tuple(decode_entry(each.data) for each in stored)
    room: Room | None = None
    events: dict[int, tuple[Room, Any]] = {}
    marks = Marks()
    passed: list[tuple[Room, str]] = []
    for each, entry in zip(stored, entries, strict=True):
        folded = rooms.fold(room, entry, games=games)
        assert room is None or entry.at >= room.at, "a log's time went back"
        room = folded.room
        if folded.events:
            marks.note(room.number, each.hash)
        passed.append((room, marks.at(room.number)))
        for place, event in enumerate(folded.events):
            events[room.number - len(folded.events) + 1 + place] = room, event
    assert room is not None, "the room has no log"
    assert sorted(events) == list(range(1, room.number + 1))
    return Story(entries, room, events, *zip(*passed, strict=True))


def check_answers(story: Story, guests: Iterable[Witness], *, lost: Collection[str] = ()) -> None:
    """Accepted: in the log exactly once, but for what the store has ``lost``. Refused: not in it. Not answered: at most
    once.
    """
    logged = Counter(entry.command for entry in story.entries if entry.command is not None)
    for guest in guests:
        for command_id, command in guest.given.items():
            times = logged[command_id]
            if command_id in lost:
                assert times == 0, f"{guest.name}'s {command} came back from a lost history"
            elif command_id in guest.accepted and isinstance(command, _ONCE):
                assert times == 1, f"{guest.name}'s {command} was accepted and is in the log {times} times"
            elif isinstance(command, Resume):
                continue  # it proves itself by its token as often as it is sent
            elif command_id in guest.refused:
                assert times == 0, f"{guest.name}'s {command} was refused and is in the log"
            else:
                assert times <= 1, f"{guest.name}'s {command} is in the log {times} times"


def check_shown(story: Story, guests: Iterable[Witness], *, games: Games = GAMES) -> None:
    """Everybody was shown every event since they came, redacted for their seat, under the number that it has."""
    for guest in guests:
        assert guest.place is not None
        seat = None if guest.place.seat is None else Seat(guest.place.seat)
        assert sorted(guest.events) == list(range(guest.first, guest.number + 1)), f"{guest.name} has seen a gap"
        assert guest.number <= story.room.number, f"{guest.name} has seen what is in no log"
        for number, seen in guest.events.items():
            room, event = story.events[number]
            (shown,) = rooms.shown(room, (event,), seat, games=games)
            assert seen == msgspec.json.decode(encode(shown)), f"{guest.name} was shown another event {number}"


def check_snapshots(story: Story, guests: Iterable[Guest]) -> None:
    """Whenever somebody was shown everything that they know, it was what the log's replay shows them at that event."""
    for guest in guests:
        assert guest.place is not None
        for snapshot in guest.snapshots:
            assert is_of(story, snapshot, guest.place.seat), f"{guest.name} was shown another room: {snapshot}"


def is_of(story: Story, snapshot: Snapshot, seat: int | None) -> bool:
    """Whether the log's replay shows ``seat``, or a spectator, this at any of the entries after that event."""
    viewer = None if seat is None else Seat(seat)
    shown = encode(snapshot)
    return any(
        encode(rooms.snapshot(room, viewer, mark=mark)) == shown
        for room, mark in zip(story.rooms, story.marks, strict=True)
        if room.number == snapshot.at
    )


Reader = Callable[[str], Awaitable[Sequence[Stored]]]


async def check_nodes(log: Reader, story: Story, code: str, ports: Iterable[int], guests: Iterable[Guest] = ()) -> None:
    """A spectator at every node is shown the same room as the log's replay makes, once the node has had the time to
    compare its rooms with their logs. ``log`` is asked again: connections may still come to be reported as gone.

    And so is each of the ``guests`` in their seat. They lose their connections.
    """
    people = [guest for guest in guests if guest.place is not None and guest.place.seat is not None]
    for port in ports:
        give_up = time.monotonic() + _HEALED_SECONDS
        while True:
            now = story_of(await log(story.room.id))
            expected = encode(rooms.snapshot(now.room, None, mark=now.mark))
            if await shown_by(port, code) == expected:
                break
            assert time.monotonic() < give_up, f"the node at port {port} holds another room"
            await asyncio.sleep(0.2)
        for guest in people:
            await check_seat(log, story.room.id, port, guest)


async def check_seat(log: Reader, room: str, port: int, guest: Guest) -> None:
    """Who comes to their seat at the node is shown what the log's replay shows them. A seat can be theirs no more: in
    the log as well.
    """
    assert guest.place is not None
    assert guest.place.seat is not None
    again = Guest([port], guest.name)
    snapshot = await again.seated_again(guest)
    await again.vanish()
    now = story_of(await log(room))
    if snapshot is None:
        holder = now.room.seats[guest.place.seat]
        assert not (isinstance(holder, Person) and holder.name == guest.name), f"{guest.name} is kept from their seat"
    else:
        assert is_of(now, snapshot, guest.place.seat), f"the node at port {port} shows {guest.name} another room"


async def shown_by(port: int, code: str) -> bytes:
    """What a spectator who comes to the node is sent."""
    watcher = Guest([port], "Watcher")
    await watcher.watch(code)
    snapshot = await watcher.expect(Snapshot)
    await watcher.vanish()
    return encode(snapshot)


def check(stored: Sequence[Stored], guests: Sequence[Guest], *, lost: Collection[str] = ()) -> Story:
    """All of it but the nodes; the story."""
    story = story_of(stored)
    check_answers(story, guests, lost=lost)
    check_shown(story, guests)
    check_snapshots(story, guests)
    return story
