"""What one viewer knows of a room, as a fold of what that viewer was shown.

Belongs here: seats, phase, match and view, from a snapshot onwards. Must not be known here: connections, commands,
wording. A picture is a frozen value; ``after`` returns the next one.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine.codec import codec_of
from engine.game import AnyGame, Options, Outcome, Seat
from engine.match import DealBegan, DealEnded, MatchEnded
from engine.registry import game_named
from protocol import events as room
from protocol.messages import MatchInfo, SeatInfo, Settings, Snapshot

LOBBY, SHUFFLING, PLAYING, BETWEEN_DEALS, FINISHED, CLOSED = (
    "lobby",
    "shuffling",
    "playing",
    "between-deals",
    "finished",
    "closed",
)
"""The phases of a room (``protocol.messages.Snapshot.phase``)."""


class MatchPicture(Struct, frozen=True):
    """Where the match stands."""

    id: str
    deals: int
    commitments: tuple[str, ...]
    """One per deal, 64 hex digits."""
    totals: tuple[int, ...]
    """By side."""
    contributions: tuple[tuple[int, str], ...] | None = None
    """Seat and 64 hex digits; None while they are being collected."""
    deal: int = 0
    """From 1; 0 before the first."""
    attempt: int = 0
    beginner: Seat = Seat(0)
    carry: int = 0
    outcome: Outcome | None = None
    """Of the deal just over."""


class Picture(Struct, frozen=True):
    """Everything one viewer knows of a room, as of event number ``at``."""

    at: int
    code: str
    game: AnyGame
    options: Options
    settings: Settings
    phase: str
    host: int | None
    seats: tuple[SeatInfo, ...]
    you: Seat | None
    """None for a spectator."""
    locked: bool = False
    """Nobody new may sit down."""
    match: MatchPicture | None = None
    view: Any = None
    """The game's view; None before the first deal."""

    @property
    def is_host(self) -> bool:
        """Whether this viewer hosts the room."""
        return self.you is not None and self.you == self.host

    @property
    def waits_for_you(self) -> bool:
        """Between two deals, and this viewer has not said yet that they are ready for the next."""
        return self.phase == BETWEEN_DEALS and self.you is not None and not self.seats[self.you].ready


_outcome_decoder: msgspec.json.Decoder[Outcome] = msgspec.json.Decoder(Outcome)


def from_snapshot(snapshot: Snapshot) -> Picture:
    """The picture that a snapshot paints.

    Raises:
        engine.registry.UnknownGame: this client does not know the room's game.
        msgspec.MsgspecError: the view is none of that game.
    """
    game = game_named(snapshot.game)
    return Picture(
        at=snapshot.at,
        code=snapshot.code,
        game=game,
        options=game.complete_options(snapshot.options),
        settings=snapshot.settings,
        phase=snapshot.phase,
        host=snapshot.host,
        seats=snapshot.seats,
        you=None if snapshot.you is None else Seat(snapshot.you),
        locked=snapshot.locked,
        match=None if snapshot.match is None else _match(snapshot.match),
        view=codec_of(game).view(snapshot.view) if _present(snapshot.view) else None,
    )


def _match(info: MatchInfo) -> MatchPicture:
    return MatchPicture(
        id=info.id,
        deals=info.deals,
        commitments=info.commitments,
        totals=info.totals,
        contributions=info.contributions,
        deal=info.deal,
        attempt=info.attempt,
        beginner=Seat(info.beginner),
        carry=info.carry,
        outcome=_outcome_decoder.decode(info.outcome) if _present(info.outcome) else None,
    )


def _present(raw: msgspec.Raw | None) -> TypeGuard[msgspec.Raw]:
    """Whether there is anything: a raw field keeps ``null`` as it was written."""
    return raw is not None and bytes(raw) != b"null"


def muted(picture: Picture, seat: int, *, on: bool) -> Picture:
    """The picture after its viewer has muted the person in ``seat``, or listens to them again: no event tells of it."""
    return _seat(picture, seat, replace(picture.seats[seat], muted=on))


def after(picture: Picture, event: Any) -> Picture:
    """The picture after its viewer was shown ``event``; None stands for an event that this client does not know."""
    picture = replace(picture, at=picture.at + 1)
    match event:
        case None:
            return picture
        case room.RoomEvent():
            return _after_room_event(picture, event)
        case DealBegan() | DealEnded() | MatchEnded():
            return _after_match_event(picture, event)
        case _:
            return replace(picture, view=picture.game.observe(picture.view, event, picture.you))


def _after_room_event(picture: Picture, event: room.RoomEvent) -> Picture:
    match event:
        case room.SeatTaken(seat=seat, name=name):
            return _seat(picture, seat, SeatInfo(kind="person", name=name))
        case room.SeatNamed(seat=seat, name=name):
            return _seat(picture, seat, replace(picture.seats[seat], name=name))
        case room.AiSeated(seat=seat, level=level):
            return _seat(picture, seat, SeatInfo(kind="ai", level=level))
        case room.SeatFreed(seat=seat, level=level):
            return _seat(picture, seat, SeatInfo(kind="open" if level is None else "ai", level=level))
        case room.SeatAway(seat=seat):
            return _seat(picture, seat, replace(picture.seats[seat], away=True))
        case room.StandIn(seat=seat, level=level):
            return _seat(picture, seat, replace(picture.seats[seat], stand_in=True, level=level))
        case room.SeatBack(seat=seat):
            return _seat(picture, seat, replace(picture.seats[seat], away=False, stand_in=False, level=None))
        case room.SeatReady(seat=seat):
            return _seat(picture, seat, replace(picture.seats[seat], ready=True))
        case room.SeatMuted(seat=seat, on=on):
            return _seat(picture, seat, replace(picture.seats[seat], muted=on))
        case room.HostIs(seat=seat):
            return replace(picture, host=seat)
        case room.RoomLock(on=on):
            return replace(picture, locked=on)
        case room.MatchOpened(match=match, commitments=commitments):
            sides = (0,) * picture.game.sides
            opened = MatchPicture(id=match, deals=len(commitments), commitments=commitments, totals=sides)
            return replace(picture, phase=SHUFFLING, match=opened, view=None)
        case room.ContributionsFixed(contributions=given):
            assert picture.match is not None, "contributions were fixed outside a match"
            fixed = tuple((each.seat, each.value) for each in given)
            return replace(picture, phase=PLAYING, match=replace(picture.match, contributions=fixed))
        case room.Rematched():
            return replace(picture, phase=LOBBY, match=None, view=None)
        case room.RoomClosed():
            return replace(picture, phase=CLOSED)
        case _:
            return picture


def _after_match_event(picture: Picture, event: DealBegan | DealEnded | MatchEnded) -> Picture:
    assert picture.match is not None, "a deal outside a match"
    match event:
        case DealBegan(deal=deal, attempt=attempt, beginner=beginner, carry=carry):
            began = replace(picture.match, deal=deal, attempt=attempt, beginner=beginner, carry=carry, outcome=None)
            seats = tuple(replace(info, ready=False) for info in picture.seats)
            return replace(picture, phase=PLAYING, match=began, view=None, seats=seats)
        case DealEnded(reason=reason, scores=scores, totals=totals):
            ended = replace(picture.match, totals=totals, outcome=Outcome(reason, scores))
            return replace(picture, phase=BETWEEN_DEALS, match=ended)
        case MatchEnded():
            return replace(picture, phase=FINISHED)


def _seat(picture: Picture, seat: int, info: SeatInfo) -> Picture:
    seats = (*picture.seats[:seat], info, *picture.seats[seat + 1 :])
    return replace(picture, seats=seats)
