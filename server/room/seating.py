"""Folding what happens to seats: sitting down, leaving, connections, hosting."""

from __future__ import annotations

from msgspec.structs import replace

from engine.game import Seat
from protocol.events import AiSeated, HostIs, SeatAway, SeatBack, SeatFreed, SeatTaken, StandIn, WhyFreed
from server.entries import (
    AiCleared,
    AiSat,
    Created,
    Dropped,
    Freed,
    Joined,
    Locked,
    Moved,
    Muted,
    Returned,
    StoodIn,
)
from server.room.measure import HOUSEKEEPING, RETURNS, noted
from server.room.playing import hand_over, shift
from server.room.state import IN_MATCH, Ai, Open, Person, Phase, Room, persons, table_of
from server.room.work import Work


def opened_room(body: Created, seats: int, at: int) -> Room:
    """The room before its first entry is folded: empty."""
    return Room(
        id=body.room,
        code=body.code,
        game=body.game,
        options=body.options,
        settings=body.settings,
        timing=body.timing,
        seats=(Open(),) * seats,
        at=at,
        active_at=at,
        salted=bool(body.salt),
    )


def sit_down(work: Work, body: Created | Joined) -> None:
    """A person takes a seat. A seat's AI is out at once: the person makes that seat's next move."""
    room = work.room
    assert not isinstance(room.seats[body.seat], Person), f"two persons in seat {body.seat}"
    version = work.version
    unnamed = isinstance(body, Joined) and body.unnamed
    work.tell(SeatTaken(seat=body.seat, name=None if unnamed else body.name))
    person = Person(
        name=body.name,
        since=version,
        epoch=version,
        token=body.token,
        node=body.node,
        number=work.number,
        unnamed=unnamed,
    )
    work.seat(body.seat, person)
    if room.abandoned_at is not None:
        shift(work, work.at - room.abandoned_at)
        work.change(abandoned_at=None)
    settled(work, body.seat)


def come_back(work: Work, body: Returned) -> None:
    """A person's new connection. The token that they keep is the one they showed: it dies when the new one is used."""
    person = _person(work, body.seat)
    changed = replace(
        person,
        epoch=work.version,
        token=body.token,
        kept=body.kept,
        spare=person.token if body.kept != person.token else None,
        proved=person.proved or body.by_token,
        returned=noted(person.returned, RETURNS, work.at),
        node=body.node,
    )
    work.seat(body.seat, changed)
    here_again(work, body.seat)


def here_again(work: Work, seat: Seat) -> None:
    """The person is connected and moves for themselves."""
    person = _person(work, seat)
    if person.away or person.stand_in:
        work.seat(seat, replace(person, away=False, grace_until=None, stand_in=False))
        work.tell(SeatBack(seat=seat))
        settled(work, seat)


def shows_presence(work: Work, seat: Seat) -> None:
    """Who moves for themselves is here, even if an AI stood in because they had done nothing for too long."""
    if _person(work, seat).stand_in:
        here_again(work, seat)


def change_seats(work: Work, body: Moved) -> None:
    """A person moves; an AI that sat there changes places with them. Their token stays theirs."""
    person, other = _person(work, body.seat), work.room.seats[body.to]
    assert not isinstance(other, Person), f"two persons in seat {body.to}"
    work.seat(body.seat, other)
    work.seat(body.to, person)
    work.tell(SeatFreed(seat=body.seat, why=WhyFreed.MOVED), SeatTaken(seat=body.to, name=person.name))
    if isinstance(other, Ai):
        work.tell(AiSeated(seat=body.seat, level=other.level))
    if work.room.host == body.seat:
        work.change(host=body.to)
        work.tell(HostIs(seat=body.to))


def seat_ai(work: Work, body: AiSat) -> None:
    """An AI sits down, or plays at another level from now on."""
    work.seat(body.seat, Ai(body.level))
    work.tell(AiSeated(seat=body.seat, level=body.level))


def clear_ai(work: Work, body: AiCleared) -> None:
    """An AI is taken out."""
    work.seat(body.seat, Open())
    work.tell(SeatFreed(seat=body.seat, why=WhyFreed.REMOVED))


def stand_up(work: Work, body: Freed) -> None:
    """A person loses their seat, and with it their tokens. During a match an AI plays on; where they were removed from
    a deal, to its end, so that whoever removed them cannot see their hand.
    """
    _person(work, body.seat)
    level = table_of(work.room).level if work.room.phase in IN_MATCH else None
    kept = body.why is WhyFreed.REMOVED and work.room.phase is Phase.PLAYING
    work.seat(body.seat, Open() if level is None else Ai(level, kept))
    work.tell(SeatFreed(seat=body.seat, why=body.why, level=level))
    if not persons(work.room):
        work.change(abandoned_at=work.at)
    settled(work, body.seat, forget_deadline=True)


def go_away(work: Work, body: Dropped) -> None:
    """A person's connection is gone. Where an AI moves for them already, nothing is left to wait for."""
    person = _person(work, body.seat)
    grace_ms = 0 if person.stand_in else work.room.timing.grace_ms
    grace_until = None if person.stand_in else work.at + grace_ms
    work.seat(body.seat, replace(person, away=True, grace_until=grace_until))
    work.tell(SeatAway(seat=body.seat, grace_ms=grace_ms))


def stand_in(work: Work, body: StoodIn) -> None:
    """An AI moves for a person until they are back."""
    person = _person(work, body.seat)
    work.seat(body.seat, replace(person, grace_until=None, stand_in=True))
    work.tell(StandIn(seat=body.seat, level=table_of(work.room).level))
    settled(work, body.seat)


def settled(work: Work, seat: Seat, *, forget_deadline: bool = False) -> None:
    """``seat`` has, or may have, another mover now: see to hosting and to the decision that is open."""
    work.settle_host()
    hand_over(work, seat, forget_deadline=forget_deadline)


def keep_house(work: Work, body: Moved | AiSat | Muted | Locked) -> None:
    """Somebody changes something about the room, which is counted: the host, where only the host can."""
    seat = body.seat if isinstance(body, Moved | Muted) else work.room.host
    assert seat is not None, "where a person is, there is a host"
    person = _person(work, seat)
    work.seat(seat, replace(person, arranged=noted(person.arranged, HOUSEKEEPING, work.at)))


def _person(work: Work, seat: Seat) -> Person:
    holder = work.room.seats[seat]
    assert isinstance(holder, Person), f"no person in seat {seat}"
    return holder
