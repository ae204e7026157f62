"""``fold``: what an entry does to a room."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

from msgspec import Struct
from msgspec.structs import replace

from engine.registry import GAMES
from protocol.events import RoomClosed
from server.entries import (
    Acted,
    Actor,
    AiCleared,
    AiSat,
    Answered,
    AnyBody,
    Closed,
    Contributed,
    Created,
    Dealt,
    Dropped,
    Entry,
    Freed,
    Joined,
    Locked,
    Moved,
    Muted,
    Opened,
    Published,
    Readied,
    Refunded,
    Rematched,
    Returned,
    Said,
    StoodIn,
    Winked,
)
from server.room import playing, seating, talking
from server.room.records import FinishedDeal
from server.room.state import (
    COMMANDS_REMEMBERED,
    HISTORY,
    SESSIONS_REMEMBERED,
    Done,
    Games,
    Phase,
    Room,
)
from server.room.work import Work


class Folded(Struct, frozen=True):
    """A room after an entry, and what came of it."""

    room: Room
    events: tuple[Any, ...] = ()
    """What happened, whole, to be redacted per viewer: the last of them is event ``room.number``."""
    finished: tuple[FinishedDeal, ...] = ()
    """Deals to archive: their seeds are public now."""


def fold(room: Room | None, entry: Entry, *, games: Games = GAMES) -> Folded:
    """The room after ``entry``, which its log has accepted. ``room`` is None before the first entry.

    Raises:
        OtherRules: the match was opened under another version of the game's rules.
    """
    body = entry.body
    if room is None:
        assert isinstance(body, Created), f"a log begins with {type(body).__name__}"
        room = seating.opened_room(body, games[body.game].seats, entry.at)
    else:
        assert room.phase is not Phase.CLOSED, "an entry after the last one"
    work = Work(room, entry.at, games[room.game])
    _apply(work, body)
    events = tuple(work.events)
    room = replace(
        work.room,
        version=work.version,
        at=entry.at,
        number=work.number,
        history=(*work.room.history, *events)[-HISTORY:],
    )
    if entry.command is not None:
        room = _remember(room, entry.command, room.number if events else None, body)
    return Folded(room, events, work.finished)


def replay(entries: Iterable[Entry], *, games: Games = GAMES) -> Room | None:
    """The room that ``entries``, from the first, make; None for none."""
    room: Room | None = None
    for entry in entries:
        room = fold(room, entry, games=games).room
    return room


def _apply(work: Work, body: AnyBody) -> None:
    if isinstance(body, Moved | AiSat | Muted | Locked):
        seating.keep_house(work, body)
    match body:
        case Created() | Joined():
            seating.sit_down(work, body)
        case Returned():
            seating.come_back(work, body)
        case Moved():
            seating.change_seats(work, body)
        case AiSat():
            seating.seat_ai(work, body)
        case AiCleared():
            seating.clear_ai(work, body)
        case Freed():
            seating.stand_up(work, body)
        case Dropped():
            seating.go_away(work, body)
        case StoodIn():
            seating.stand_in(work, body)
        case Opened():
            playing.open_match(work, body)
        case Contributed():
            playing.contribute(work, body)
        case Dealt():
            playing.deal(work, body)
        case Acted():
            if body.actor is Actor.PERSON:
                seating.shows_presence(work, body.seat)
            playing.act(work, body)
        case Answered():
            playing.answer(work, body)
        case Published():
            playing.publish(work, body)
        case Readied():
            seating.shows_presence(work, body.seat)
            playing.be_ready(work, body)
        case Rematched():
            playing.rematch(work, body)
        case Said():
            talking.say(work, body)
        case Winked():
            talking.give_wink(work, body)
        case Muted():
            talking.set_mute(work, body)
        case Locked():
            talking.set_lock(work, body)
        case Refunded():
            playing.refund(work, body)
        case Closed():
            _close(work, body)
        case _:
            assert_never(body)


def _close(work: Work, body: Closed) -> None:
    if work.room.table is not None:
        work.table(decision=None)
    work.enter(Phase.CLOSED)
    work.tell(RoomClosed(why=body.why))


def _remember(room: Room, command: str, at: int | None, body: AnyBody) -> Room:
    """Keep the command's answer. The first answer stays: what repeats it only renews a token."""
    session, number = parts_of(command)
    done = dict(room.done)
    known = done.pop(session, ())
    if number not in [each.number for each in known]:
        seated = room.version if isinstance(body, Created | Joined) else None
        known = (*known, Done(number, at, seated))[-COMMANDS_REMEMBERED:]
    done[session] = known
    if len(done) > SESSIONS_REMEMBERED:
        del done[next(iter(done))]
    return replace(room, done=done, active_at=room.at)


def parts_of(command: str) -> tuple[str, int]:
    """The random part of a command id, which a client session has of its own, and the counter."""
    session, _, number = command.rpartition(".")
    return session, int(number)
