"""What time does to a room: what is due when, and the entries that say it happened.

``next_due`` and ``fire`` read the same list, so neither can forget what the other knows. What fires is an ordinary
entry: it loses against whatever the log took first. Connections come and go here too, for they start clocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import assert_never

from msgspec import Struct

from engine.game import AnyGame, Seat
from engine.match import upcoming
from engine.registry import GAMES
from engine.shuffle import beginner_of, deck_of
from protocol.events import WhyClosed, WhyFreed
from server.entries import (
    Acted,
    Actor,
    AnyBody,
    Closed,
    Dealt,
    Dropped,
    Entry,
    Freed,
    Published,
    Refunded,
    Silent,
    StoodIn,
)
from server.room.deciding import entry
from server.room.records import draw_of
from server.room.state import (
    IN_MATCH,
    LONG,
    TOO_LONG,
    Decision,
    Games,
    Person,
    Phase,
    Room,
    Table,
    mover_is_ai,
    person_at,
    present,
    table_of,
)


class Matter(Enum):
    """What can be due. Of two that are due at the same time the first here comes first."""

    GRACE = 0
    """A person has been away for too long."""
    DEAL = 1
    PUBLICATION = 2
    """Of sealed answers."""
    DEFAULT = 3
    """The default action for a seat whose mover let the time run out."""
    STAND_IN = 4
    """For a person who is here and does nothing."""
    ABANDONED = 5
    IDLE = 6
    LENGTH = 7
    """The log has become too long to be read again and again."""


class _Due(Struct, frozen=True, order=True):
    at: int
    matter: int
    seat: int = 0


def next_due(room: Room) -> int | None:
    """When ``fire`` will have something, in milliseconds since the epoch; None for never (a closed room)."""
    due = min(_dues(room), default=None)
    return None if due is None else due.at


def fire(room: Room, now: int, *, games: Games = GAMES) -> Entry | None:
    """The earliest thing that is due at ``now`` (not before the room's own time); None if nothing is. Fold it and ask
    again.
    """
    due = min(_dues(room), default=None)
    if due is None or due.at > max(now, room.at):
        return None
    return entry(room, _body(room, Matter(due.matter), Seat(due.seat), games[room.game]), now)


def _dues(room: Room) -> Iterator[_Due]:
    if room.phase is Phase.CLOSED:
        return
    timing = room.timing
    if room.abandoned_at is not None:
        yield _Due(room.abandoned_at + timing.abandoned_ms, Matter.ABANDONED.value)
        return  # everything else stands still
    if room.version >= LONG and (room.version >= TOO_LONG or room.phase not in IN_MATCH):
        shown_until = room.at if room.table is None or room.phase in IN_MATCH else room.table.wait_until
        yield _Due(shown_until, Matter.LENGTH.value)
    for seat, holder in enumerate(room.seats):
        if isinstance(holder, Person) and holder.grace_until is not None:
            yield _Due(holder.grace_until, Matter.GRACE.value, seat)
    match room.phase:
        case Phase.LOBBY:
            yield _Due(room.active_at + timing.lobby_idle_ms, Matter.IDLE.value)
        case Phase.FINISHED:
            yield _Due(room.active_at + timing.finished_idle_ms, Matter.IDLE.value)
        case Phase.SHUFFLING | Phase.BETWEEN_DEALS:
            yield _Due(_deal_at(room, table_of(room)), Matter.DEAL.value)
        case Phase.PLAYING:
            decision = table_of(room).decision
            assert decision is not None, "while a deal is played, a decision is open"
            yield _decision_due(room, decision)


def _deal_at(room: Room, table: Table) -> int:
    """The first deal waits for every contributor, also those who are away: whom to wait for must not be the server's
    choice. Later ones wait until everybody who is here is ready. Neither waits longer than ``wait_until``.
    """
    if not table.fixed:
        waiting = len(table.contributed) < len(table.contributors)
    else:
        here = present(room)
        waiting = not here or any(seat not in table.ready for seat in here)
    return table.wait_until if waiting else min(room.at, table.wait_until)


def _decision_due(room: Room, decision: Decision) -> _Due:
    if decision.publish_at is not None:
        return _Due(decision.publish_at, Matter.PUBLICATION.value)
    (seat,) = decision.seats
    if mover_is_ai(room, seat):
        return _Due(decision.exit_at, Matter.DEFAULT.value, seat)
    if decision.deadline is not None:
        return _Due(decision.deadline, Matter.DEFAULT.value, seat)
    return _Due(decision.exit_at, Matter.STAND_IN.value, seat)


def _body(room: Room, matter: Matter, seat: Seat, game: AnyGame) -> AnyBody:
    match matter:
        case Matter.GRACE:
            return StoodIn(seat=seat) if room.phase in IN_MATCH else Freed(seat=seat, why=WhyFreed.LOST)
        case Matter.DEAL:
            return _dealt(table_of(room), game)
        case Matter.PUBLICATION:
            return _published(table_of(room), game)
        case Matter.DEFAULT:
            return Acted(seat=seat, action=default_text(table_of(room), seat, game), actor=Actor.CLOCK)
        case Matter.STAND_IN:
            return StoodIn(seat=seat)
        case Matter.ABANDONED:
            return Closed(why=WhyClosed.NOBODY_LEFT)
        case Matter.IDLE:
            return Closed(why=WhyClosed.IDLE)
        case Matter.LENGTH:  # what operators bear is the only reason
            return Closed(why=WhyClosed.OPERATOR)
        case _:
            assert_never(matter)


def _dealt(table: Table, game: AnyGame) -> Dealt:
    draw = draw_of(table, *upcoming(table.match))
    return Dealt(deck=deck_of(draw, game.cards), drawn=beginner_of(draw, game.seats))


def _published(table: Table, game: AnyGame) -> Published:
    decision = table.decision
    assert decision is not None, "answers are published to an open question"
    answered = {each.seat for each in table.answers}
    silent = tuple(Silent(seat, default_text(table, seat, game)) for seat in decision.seats if seat not in answered)
    return Published(silent=silent)


def default_text(table: Table, seat: Seat, game: AnyGame) -> str:
    """What is done for a seat that did not answer in time."""
    return game.text(game.default_action(game.view(table.match.state, seat)))


# Connections and operators ---------------------------------------------------------------------------------------


def drop(room: Room, seat: Seat, epoch: int, now: int) -> Entry | None:
    """The connection with ``epoch`` in ``seat`` is gone; None if it is not that seat's any more."""
    person = person_at(room, seat)
    if room.phase is Phase.CLOSED or person is None or person.away or person.epoch != epoch:
        return None
    return entry(room, Dropped(seat=seat), now)


def refund(room: Room, ms: int, now: int) -> Entry | None:
    """Give back ``ms`` that an outage of ours took from everybody; None if the room waits for nothing any more."""
    assert ms > 0, "time is given back, never taken"
    return None if room.phase is Phase.CLOSED else entry(room, Refunded(ms=ms), now)


def remove(room: Room, seat: Seat, now: int) -> Entry | None:
    """Take the seat from its person; during a match an AI plays on. None if no person holds it."""
    if room.phase is Phase.CLOSED or person_at(room, seat) is None:
        return None
    return entry(room, Freed(seat=seat, why=WhyFreed.REMOVED), now)


def close(room: Room, why: WhyClosed, now: int) -> Entry | None:
    """Close the room; None if it is closed."""
    return None if room.phase is Phase.CLOSED else entry(room, Closed(why=why), now)
