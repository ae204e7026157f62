"""Who watches a room through this node, and what each of them is shown. Nothing here waits.

Belongs here: redaction's last mile, one encoding for all to whom something looks the same, whose turn was told, whose
connection no longer holds its seat. Must not be known here: the log, who decides, how bytes reach a socket.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from engine.game import Seat
from protocol import codec
from protocol.codes import Close, Notified
from protocol.events import RoomEvent, WhyFreed
from protocol.messages import Events, Notice, ServerMessage
from server import room as rooms
from server.entries import Entry, Freed, Refunded, Returned
from server.marks import Marks
from server.metrics import Metrics
from server.outbox import Encoded, Outbox, encoded
from server.room import Games, Phase, Room

_EVENT: Final = RoomEvent.__struct_config__.tag_field
SPECTATOR: Final = 0
"""The epoch of a connection that holds no seat; entries are numbered from 1."""


class Viewer:
    """Somebody who sees a room through this node."""

    __slots__ = ("asked", "epoch", "outbox", "seat")

    def __init__(self, outbox: Outbox, seat: Seat | None, epoch: int) -> None:
        self.outbox = outbox
        self.seat = seat
        """None for a spectator."""
        self.epoch = epoch
        """The version of the entry that brought this connection to its seat, or ``SPECTATOR``."""
        self.asked: int | None = None
        """The decision of the last ``turn`` sent, by its number."""


class Audience:
    """The viewers of one room. All of them have been shown the same events at any time."""

    def __init__(self, games: Games, metrics: Metrics) -> None:
        self.viewers: set[Viewer] = set()
        self.marks = Marks()
        """Of the events that can be shown again; noted before they are shown."""
        self._games = games
        self._metrics = metrics

    @property
    def spectators(self) -> int:
        """How many of the viewers hold no seat."""
        return sum(viewer.seat is None for viewer in self.viewers)

    def encoded(self, message: ServerMessage) -> Encoded:
        """``message`` as bytes, counted."""
        return encoded(message, self._metrics)

    def happened(self, room: Room, entry: Entry, events: tuple[Any, ...], now: int) -> None:
        """``entry`` made ``room`` of what it was before, and ``events``, the last of which is ``room.number``."""
        if not self.viewers:
            return
        staying = {viewer for viewer in self.viewers if follow_seat(room, viewer)}
        if events:
            self._show(room, events, room.number - len(events) + 1)
        if isinstance(entry.body, Refunded):
            for viewer in self.viewers:
                viewer.asked = None  # they have more time than they were told
        for viewer in tuple(self.viewers):
            if room.phase is Phase.CLOSED:
                self.send_away(viewer, Close.ROOM_CLOSED, Notified.ROOM_CLOSED)
            elif viewer in staying:
                self._ask(room, viewer, now)
            else:
                self._part(viewer, entry)

    def come(self, room: Room, viewer: Viewer, now: int, *, after: int = 0, mark: str | None = None) -> None:
        """``viewer`` is here from now on, and has seen the events up to number ``after`` (0: none), the last of them
        with ``mark`` (None: they do not say).
        """
        missed = rooms.missed(room, after, viewer.seat, games=self._games) if after else None
        if after > room.number or (missed is not None and mark is not None and mark != self.marks.at(after)):
            self.rolled_back(room, viewer, now)
        elif missed is None:
            self.show_all(room, viewer, now)
        else:
            if missed.events:
                message = Events(first=missed.first, events=_raw(missed.events), mark=self._mark(room))
                viewer.outbox.send(self.encoded(message))
            self._ask(room, viewer, now)
        self.viewers.add(viewer)

    def show_all(self, room: Room, viewer: Viewer, now: int) -> None:
        """Send everything that ``viewer`` may know, and what they are asked."""
        snapshot = rooms.snapshot(room, viewer.seat, games=self._games, mark=self._mark(room))
        viewer.outbox.send(self.encoded(snapshot))
        viewer.asked = None
        self._ask(room, viewer, now)

    def rolled_back(self, room: Room, viewer: Viewer, now: int) -> None:
        """The store has lost what ``viewer`` saw last: say so, and show the room as it is now."""
        viewer.outbox.send(self.encoded(Notice(code=Notified.ROLLED_BACK)))
        self.show_all(room, viewer, now)

    def warn(self, room: Room, left_ms: int) -> None:
        """Tell the person who is asked that their time runs out."""
        decision = room.table.decision if room.table is not None else None
        assert decision is not None, "time runs out for a decision"
        notice = Notice(code=Notified.TIME_RUNS_OUT, params={"left_ms": max(0, left_ms)})
        for viewer in self.viewers:
            if viewer.seat in decision.seats and viewer.asked == decision.at:
                viewer.outbox.send(self.encoded(notice))

    def leave(self, viewer: Viewer) -> None:
        """``viewer`` watches no more; the connection stays."""
        self.viewers.discard(viewer)

    def send_away(self, viewer: Viewer, code: Close, notice: Notified | None = None) -> None:
        """``viewer`` watches no more; the connection is closed, and told why."""
        self.viewers.discard(viewer)
        if notice is not None:
            viewer.outbox.send(self.encoded(Notice(code=notice)))
        viewer.outbox.close(code)

    def _show(self, room: Room, events: tuple[Any, ...], first: int) -> None:
        watching, mark = {viewer.seat for viewer in self.viewers}, self._mark(room)
        for shown in rooms.distinct(room, events, watching, games=self._games):
            message = self.encoded(Events(first=first, events=_raw(shown.events), mark=mark))
            for viewer in self.viewers:
                if viewer.seat in shown.viewers:
                    viewer.outbox.send(message)

    def _mark(self, room: Room) -> str | None:
        """Of the room's last event."""
        return self.marks.at(room.number) if room.salted else None

    def _ask(self, room: Room, viewer: Viewer, now: int) -> None:
        """Send the viewer's ``turn`` unless it has been sent."""
        if viewer.seat is None:
            return
        asked = rooms.asked(room, viewer.seat)
        if asked == viewer.asked:
            return
        viewer.asked = asked
        turn = rooms.turn(room, viewer.seat, now, games=self._games)
        if turn is not None:
            viewer.outbox.send(self.encoded(turn))

    def _part(self, viewer: Viewer, entry: Entry) -> None:
        """The viewer's connection no longer holds its seat, because of ``entry``."""
        match entry.body:
            case Returned():
                self.send_away(viewer, Close.SUPERSEDED, Notified.SUPERSEDED)
            case Freed(why=WhyFreed.REMOVED):
                self.send_away(viewer, Close.REMOVED, Notified.REMOVED)
            case Freed(why=WhyFreed.LEFT):
                self.leave(viewer)
            case _:
                # Another node thought this one dead and reported its connections as gone: they shall come again.
                self.send_away(viewer, Close.SERVICE_RESTART)


def follow_seat(room: Room, viewer: Viewer) -> bool:
    """Whether the viewer's connection is still a seat's (a spectator's needs to be none); notes which seat's."""
    if viewer.epoch == SPECTATOR:
        return True
    seat = viewer.seat
    person = rooms.person_at(room, seat)
    if person is None or person.epoch != viewer.epoch:
        seat = rooms.seat_of(room, viewer.epoch)
    person = rooms.person_at(room, seat)
    if person is None or person.away:
        return False
    viewer.seat = seat
    return True


def _raw(events: Iterable[Any]) -> tuple[msgspec.Raw, ...]:
    return tuple(msgspec.Raw(codec.encode(_event(event))) for event in events)


def _event(shown: Any) -> Any:
    """``shown``, if it is an event: all of them, whosever they are, share a tag field, which states do not have."""
    assert shown.__struct_config__.tag_field == _EVENT, f"{type(shown).__name__} is no event"
    return shown
