"""A room's log read and folded, and what it means when that cannot be.

Belongs here: a whole log, the entries after a known one, logs of other versions of the server. What happens to the room
that comes of it is ``server.host``'s; who ends one that nobody can read any more is ``server.driver``'s to decide.
"""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from server import room as rooms
from server.entries import Created, Entry, UnreadableEntry, decode_entry
from server.log import EMPTY, Forked, Head, RoomLog, Stored, follow
from server.marks import Marks
from server.room import FinishedDeal, Folded, Games, OtherRules, Room

FOLDS_PER_TURN: Final = 64
"""Entries folded before others get the event loop, when a long log is read."""


class RoomGone(Exception):
    """The room is not to be had here."""


class NoSuchRoom(RoomGone):
    """There is no log of this room (any more), or one that cannot be read and waits for its end."""


class RoomElsewhere(RoomGone):
    """A server of another version has written to the room, and serves it; this version cannot read it."""


class RoomOutlived(RoomElsewhere):
    """That version is an older one: no newer server goes on with a match under its rules, so the room ends with the
    last node that can.
    """


class Whole(NamedTuple):
    """What a whole log makes."""

    room: Room
    head: Head
    marks: Marks
    finished: list[FinishedDeal]
    """All deals that are over."""


async def read_whole(log: RoomLog, room_id: str, games: Games) -> Whole:
    """Read the room's log from the first entry.

    Raises:
        NoSuchRoom: there is no log, or its room is over and it cannot be read.
        RoomElsewhere, RoomOutlived: only another version can read it.
        RoomGone: it cannot be read.
        StoreUnavailable: the store does not answer.
    """
    try:
        return await _read_whole(log, room_id, games)
    except NoSuchRoom:
        raise
    except RoomGone as problem:
        if await log.is_forgotten(room_id):
            raise NoSuchRoom(room_id) from problem
        raise


async def _read_whole(log: RoomLog, room_id: str, games: Games) -> Whole:
    stored = await log.read(room_id)
    try:
        head = follow(EMPTY, stored)
    except Forked as problem:
        raise RoomGone(_unreadable(room_id, problem)) from problem
    room: Room | None = None
    finished: list[FinishedDeal] = []
    marks = Marks()
    for count, each in enumerate(stored, start=1):
        _, folded = fold_stored(room, room_id, each, games)
        room = folded.room
        finished += folded.finished
        if folded.events:
            marks.note(room.number, each.hash)
        if count % FOLDS_PER_TURN == 0:
            await asyncio.sleep(0)
    if room is None:
        raise NoSuchRoom(room_id)
    return Whole(room, head, marks, finished)


async def read_on(log: RoomLog, room_id: str, head: Head) -> list[Stored]:
    """What the room's log has after ``head``. That entry is read again: it tells whether the log still continues it.

    Raises:
        Forked: it does not.
        StoreUnavailable: the store does not answer.
    """
    known, *stored = await log.read(room_id, after=head.version - 1) or (None,)
    if known is None or known.head != head:
        raise Forked
    follow(head, stored)
    return stored


def fold_stored(room: Room | None, room_id: str, stored: Stored, games: Games) -> tuple[Entry, Folded]:
    """The next entry of a log, and what it makes of the ``room`` before it.

    Raises:
        RoomElsewhere, RoomOutlived: only another version can read it.
        RoomGone: it cannot be read.
    """
    try:
        entry = decode_entry(stored.data)
        if isinstance(entry.body, Created) and entry.body.game not in games:
            raise RoomElsewhere(f"a room of {entry.body.game}, which this version does not have")
        return entry, rooms.fold(room, entry, games=games)
    except UnreadableEntry as problem:
        newer = (problem.schema or 0) > 0
        raise (RoomElsewhere if newer else RoomGone)(_unreadable(room_id, problem)) from problem
    except OtherRules as problem:
        older = problem.logged < problem.ours
        raise (RoomOutlived if older else RoomElsewhere)(_unreadable(room_id, problem)) from problem


def _unreadable(room_id: str, problem: Exception) -> str:
    return f"the log of {room_id} cannot be read: {problem}"
