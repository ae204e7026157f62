"""Talk at the table: chat lines, winks, mutes, and who may read what of them.

Lines stand in the log, so they have numbers, come to every node and are there after a reconnection; the room keeps the
last few, and no deal record has any. A person is known by ``Person.number`` here: a mute follows them to another seat
and does not hit whoever sits down after them.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from engine.game import AnyGame, Seat, Viewer
from protocol import events as told
from protocol.codes import Refused
from protocol.limits import MAX_LINE
from protocol.messages import Chat, ChatLine, Lock, Mute, Wink
from server.entries import Locked, Muted, Said, Winked
from server.names import line_of
from server.room.answers import Refuse, Repeat
from server.room.measure import TALK, noted, too_fast
from server.room.state import Line, Person, Phase, Room, person_at
from server.room.work import Work

LINES_KEPT: Final = 30
MUTES_KEPT: Final = 64
"""Mutes of one person, and of the host for everyone; the oldest are forgotten."""


# What is decided -------------------------------------------------------------------------------------------------


def chat(room: Room, command: Chat, seat: Seat, game: AnyGame, now: int) -> Said | Refuse:
    """A line of the person in ``seat``. A game that is played in silence allows none while a deal is played."""
    person = _speaker(room, seat)
    if not room.settings.chat:
        return Refuse(Refused.SWITCHED_OFF, {"setting": "chat"})
    if is_silent(room, game):
        return Refuse(Refused.NOT_NOW, {"phase": room.phase.value})
    if person.number in room.silenced:
        return Refuse(Refused.MUTED)
    text = line_of(command.text)
    if text is None:
        return Refuse(Refused.BAD_LINE, {"limit": MAX_LINE})
    return too_fast(person.talked, TALK, now) or Said(seat=seat, text=text)


def wink(room: Room, command: Wink, seat: Seat, now: int) -> Winked | Refuse:
    """A wink of the person in ``seat``. While answers are sealed nobody may tell anything (H10)."""
    person = _speaker(room, seat)
    if not room.settings.winks:
        return Refuse(Refused.SWITCHED_OFF, {"setting": "winks"})
    decision = room.table.decision if room.table is not None else None
    if decision is None or decision.sealed:
        return Refuse(Refused.NOT_NOW, {"phase": room.phase.value})
    return too_fast(person.talked, TALK, now) or Winked(seat=seat, signal=command.signal)


def mute(room: Room, command: Mute, seat: Seat) -> Muted | Repeat | Refuse:
    """A mute by the person in ``seat``."""
    if command.everyone and seat != room.host:
        assert room.host is not None, "where a person is, there is a host"
        return Refuse(Refused.ONLY_THE_HOST, {"host": room.host})
    if command.seat >= len(room.seats):
        return Refuse(Refused.NO_SUCH_SEAT, {"seats": len(room.seats)})
    other = person_at(room, Seat(command.seat))
    if other is None or command.seat == seat:
        return Refuse(Refused.NO_PERSON, {"seat": command.seat})
    muted = room.silenced if command.everyone else _speaker(room, seat).muted
    if (other.number in muted) == command.on:
        return Repeat()
    return Muted(seat=seat, other=Seat(command.seat), on=command.on, everyone=command.everyone)


def lock(room: Room, command: Lock) -> Locked | Repeat:
    """The host's word on newcomers."""
    return Repeat() if room.locked == command.on else Locked(on=command.on)


def is_silent(room: Room, game: AnyGame) -> bool:
    """Whether a deal is played in which nobody may say anything: the game wants that, or the room has no chat."""
    return room.phase is Phase.PLAYING and (game.silent_deals or not room.settings.chat)


def _speaker(room: Room, seat: Seat) -> Person:
    person = person_at(room, seat)
    assert person is not None, f"nobody in seat {seat} to talk"
    return person


# What is folded --------------------------------------------------------------------------------------------------


def say(work: Work, body: Said) -> None:
    """A line was said."""
    person = _talks(work, body.seat)
    work.tell(told.Said(seat=body.seat, by=person.number, text=body.text))
    line = Line(work.number, body.seat, person.number, person.name, body.text)
    work.change(chat=(*work.room.chat, line)[-LINES_KEPT:])


def give_wink(work: Work, body: Winked) -> None:
    """A wink was given."""
    _talks(work, body.seat)
    work.tell(told.Winked(seat=body.seat, signal=body.signal))


def set_mute(work: Work, body: Muted) -> None:
    """A mute was set or lifted. One's own makes no event: it is nobody else's business."""
    room = work.room
    other = _speaker(room, body.other).number
    if body.everyone:
        work.change(silenced=_changed(room.silenced, other, on=body.on))
        work.tell(told.SeatMuted(seat=body.other, on=body.on))
    else:
        person = _speaker(room, body.seat)
        work.seat(body.seat, replace(person, muted=_changed(person.muted, other, on=body.on)))


def set_lock(work: Work, body: Locked) -> None:
    """The room was locked or opened."""
    work.change(locked=body.on)
    work.tell(told.RoomLock(on=body.on))


def _talks(work: Work, seat: Seat) -> Person:
    person = _speaker(work.room, seat)
    work.seat(seat, replace(person, talked=noted(person.talked, TALK, work.at)))
    return person


def _changed(muted: tuple[int, ...], other: int, *, on: bool) -> tuple[int, ...]:
    rest = tuple(each for each in muted if each != other)
    return (*rest, other)[-MUTES_KEPT:] if on else rest


# Who may read it -------------------------------------------------------------------------------------------------


def heard(room: Room, event: told.Said | told.Winked, viewer: Viewer, game: AnyGame) -> Any:
    """What ``viewer`` may know of the event: the same object, or one without its text or signal."""
    if isinstance(event, told.Said):
        return replace(event, text=None) if is_muted(room, event.by, viewer) else event
    partners = viewer is not None and game.side(viewer) == game.side(Seat(event.seat))
    return event if partners else replace(event, signal=None)


def lines(room: Room, viewer: Viewer) -> tuple[ChatLine, ...]:
    """The last lines, as ``viewer`` may read them."""
    return tuple(
        ChatLine(
            at=line.number,
            seat=line.seat,
            by=line.by,
            name=line.name,
            text=None if is_muted(room, line.by, viewer) else line.text,
        )
        for line in room.chat
    )


def is_muted(room: Room, speaker: int, viewer: Viewer) -> bool:
    """Whether ``viewer`` reads nothing of the person with the number ``speaker``."""
    reader = person_at(room, viewer)
    return speaker in room.silenced or (reader is not None and speaker in reader.muted)
