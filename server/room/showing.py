"""What each viewer is shown of a room. The only way from a room to the outside; game events and views pass the game's
one redaction, talk passes ``talking``'s, everything else of the room and of the match is public.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from engine.game import AnyGame, Seat, Viewer
from engine.match import REDEAL, MatchEvent
from engine.registry import GAMES
from protocol.events import RoomEvent, Said, Winked
from protocol.messages import MatchInfo, RoomSummary, SeatInfo, Snapshot, Turn
from server.room import talking
from server.room.deciding import free_seats, legal_for
from server.room.records import commitments
from server.room.state import Ai, Games, Open, Person, Phase, Room, Table, person_at, persons

_encoder: Final = msgspec.json.Encoder()


class Shown(Struct, frozen=True):
    """Events as several viewers are shown them: to be encoded once."""

    events: tuple[Any, ...]
    viewers: tuple[Viewer, ...]


class Missed(Struct, frozen=True):
    """What a viewer has missed."""

    first: int
    """The number of the first of ``events``."""
    events: tuple[Any, ...]


def shown(room: Room, events: tuple[Any, ...], viewer: Viewer, *, games: Games = GAMES) -> tuple[Any, ...]:
    """``events`` as ``viewer`` is shown them: as many, in the same order; ``events`` itself if nothing is hidden."""
    game = games[room.game]
    redacted = tuple([_redact(room, game, event, viewer) for event in events])
    return events if all(map(operator.is_, redacted, events)) else redacted


def distinct(
    room: Room, events: tuple[Any, ...], viewers: Iterable[Viewer], *, games: Games = GAMES
) -> tuple[Shown, ...]:
    """``events`` for all ``viewers``, those together who are shown the same."""
    groups: list[tuple[tuple[Any, ...], list[Viewer]]] = []
    for viewer in viewers:
        seen = shown(room, events, viewer, games=games)
        for known, together in groups:
            if known is seen or known == seen:
                together.append(viewer)
                break
        else:
            groups.append((seen, [viewer]))
    return tuple(Shown(seen, tuple(together)) for seen, together in groups)


def missed(room: Room, after: int, viewer: Viewer, *, games: Games = GAMES) -> Missed | None:
    """The events after number ``after`` as ``viewer`` is shown them; None if a snapshot is needed instead.

    It is for who has nothing (``after`` 0), who missed more than the room keeps, and who saw more than the log has
    (the store lost its latest entries).
    """
    count = room.number - after
    if not 0 <= count <= len(room.history) or after == 0:
        return None
    return Missed(after + 1, shown(room, room.history[len(room.history) - count :], viewer, games=games))


def asked(room: Room, seat: Seat) -> int | None:
    """The decision (by its number) for which ``turn`` has a question to the person in ``seat``; None if it has none."""
    decision = room.table.decision if room.table is not None else None
    if decision is None or seat not in decision.seats or person_at(room, seat) is None or _answered(room, seat):
        return None
    return decision.at


def turn(room: Room, seat: Seat, now: int, *, games: Games = GAMES) -> Turn | None:
    """What the person in ``seat`` is asked now; None if they are not, or have answered.

    ``now`` in milliseconds since the epoch.
    """
    decision = room.table.decision if room.table is not None else None
    if decision is None or asked(room, seat) is None:
        return None
    legal = legal_for(games[room.game], room, seat)
    until = decision.publish_at if decision.sealed else decision.deadline
    left_ms = None if until is None else max(0, until - now)
    return Turn(at=decision.at, legal=legal, sealed=decision.sealed, left_ms=left_ms)


def snapshot(room: Room, viewer: Viewer, *, games: Games = GAMES, mark: str | None = None) -> Snapshot:
    """Everything ``viewer`` knows, as of event ``room.number``, whose ``mark`` the log knows."""
    table = room.table
    view: Raw | None = None
    if table is not None and table.match.state is not None:
        view = Raw(_encoder.encode(seen_by(games[room.game], table, viewer)))
    return Snapshot(
        at=room.number,
        room=room.id,
        code=room.code,
        game=room.game,
        options=room.options,
        settings=room.settings,
        phase=room.phase.value,
        host=room.host,
        seats=tuple(_seat_info(room, Seat(seat), viewer) for seat in range(len(room.seats))),
        you=viewer,
        answered=viewer is not None and _answered(room, viewer),
        locked=room.locked,
        chat=talking.lines(room, viewer),
        match=None if table is None else _match_info(room, table),
        view=view,
        mark=mark,
    )


def seen_by(game: AnyGame, table: Table, viewer: Viewer) -> Any:
    """The game's view for ``viewer``. A game that handed out its state instead is stopped here."""
    view = game.view(table.match.state, viewer)
    assert isinstance(view, game.view_type), f"{type(view).__name__} is no view"
    return view


def summary(room: Room) -> RoomSummary:
    """The room in the lobby's list."""
    host = person_at(room, room.host)
    return RoomSummary(
        code=room.code,
        game=room.game,
        host="" if host is None or host.unnamed else host.name,
        phase=room.phase.value,
        open=() if room.locked else free_seats(room),
        seats=len(room.seats),
        persons=len(persons(room)),
    )


def _redact(room: Room, game: AnyGame, event: Any, viewer: Viewer) -> Any:
    if isinstance(event, RoomEvent):
        return talking.heard(room, event, viewer, game) if isinstance(event, Said | Winked) else event
    return event if isinstance(event, MatchEvent) else game.redact(event, viewer)


def _answered(room: Room, seat: Seat) -> bool:
    return room.table is not None and any(each.seat == seat for each in room.table.answers)


def _seat_info(room: Room, seat: Seat, viewer: Viewer) -> SeatInfo:
    table = room.table
    match room.seats[seat]:
        case Open():
            return SeatInfo(kind="open")
        case Ai(level=level):
            return SeatInfo(kind="ai", level=level)
        case Person() as person:
            return SeatInfo(
                kind="person",
                name=None if person.unnamed else person.name,
                level=table.level if person.stand_in and table is not None else None,
                away=person.away,
                stand_in=person.stand_in,
                ready=room.phase is Phase.BETWEEN_DEALS and table is not None and seat in table.ready,
                muted=talking.is_muted(room, person.number, viewer),
            )


def _match_info(room: Room, table: Table) -> MatchInfo:
    match = table.match
    deals = room.options["deals"]
    assert isinstance(deals, int), f"{room.game} counts its deals in {deals!r}"
    outcome = match.outcome
    return MatchInfo(
        id=table.id,
        deal=match.deal,
        deals=deals,
        attempt=match.attempt,
        beginner=match.beginner,
        carry=match.carry,
        totals=match.totals,
        commitments=commitments(table),
        contributions=tuple((each.seat, each.value.hex()) for each in table.contributed) if table.fixed else None,
        seeds={deal: table.seeds[deal - 1].hex() for deal in range(1, _deals_revealed(table) + 1)},
        outcome=None if outcome is None else Raw(_encoder.encode(outcome)),
    )


def _deals_revealed(table: Table) -> int:
    """How many deals are over for good, so that their seeds are public. A deal that is dealt again is not."""
    match = table.match
    over = match.outcome is not None and match.outcome.reason != REDEAL
    return match.deal if over else max(0, match.deal - 1)
