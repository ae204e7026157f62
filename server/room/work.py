"""A room while one entry is folded into it. Lives no longer than that."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from engine.game import AnyGame, Seat
from protocol.events import HostIs
from server.room.records import FinishedDeal
from server.room.state import TRANSITIONS, Holder, Phase, Room, Table, person_at, persons, table_of


class Work:
    """The room so far, and what has happened on the way."""

    def __init__(self, room: Room, at: int, game: AnyGame) -> None:
        self.room = room
        self.at = at
        """The entry's time."""
        self.game = game
        self.version = room.version + 1
        """The entry's version."""
        self.events: list[Any] = []
        self.finished: tuple[FinishedDeal, ...] = ()

    def tell(self, *events: Any) -> None:
        """Something happened."""
        self.events.extend(events)

    @property
    def number(self) -> int:
        """The number of the last event so far."""
        return self.room.number + len(self.events)

    def change(self, **fields: Any) -> None:
        """Replace fields of the room."""
        self.room = replace(self.room, **fields)

    def seat(self, seat: Seat, holder: Holder) -> None:
        """Give ``seat`` another holder."""
        seats = self.room.seats
        self.change(seats=(*seats[:seat], holder, *seats[seat + 1 :]))

    def table(self, **fields: Any) -> Table:
        """Replace fields of the room's match; the match as it is then."""
        table = replace(table_of(self.room), **fields)
        self.change(table=table)
        return table

    def enter(self, phase: Phase) -> None:
        """Go to another phase, or stay in this one."""
        if phase is not self.room.phase:
            assert phase in TRANSITIONS[self.room.phase], f"no way from {self.room.phase} to {phase}"
            self.change(phase=phase)

    def settle_host(self) -> None:
        """Pass hosting on if the host is gone for good: to the person seated longest, those who are here first."""
        host = person_at(self.room, self.room.host)
        if host is not None and not host.stand_in:
            return
        best = min(persons(self.room), key=self._claim, default=None)
        if best is None:
            self.change(host=None)
        elif best != self.room.host and (host is None or not self._claim(best)[0]):
            self.change(host=best)
            self.tell(HostIs(seat=best))

    def _claim(self, seat: Seat) -> tuple[bool, bool, int]:
        person = person_at(self.room, seat)
        assert person is not None, f"nobody in seat {seat}"
        return person.stand_in, person.away, person.since
