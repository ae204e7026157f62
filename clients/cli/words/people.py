"""Who is who: names for seats, and sentences with somebody in them."""

from __future__ import annotations

from msgspec import Struct

from clients.cli.picture import Picture
from clients.cli.words import _
from engine.game import AnyGame, Seat
from protocol.messages import SeatInfo


class People(Struct, frozen=True):
    """Who sits where, and who reads."""

    game: AnyGame
    seats: tuple[SeatInfo, ...]
    you: Seat | None
    """The reader's seat; None for a spectator."""

    def name(self, seat: int) -> str:
        """Who sits in ``seat``, told apart from everybody else at the table."""
        info = self.seats[seat]
        if info.kind == "ai":
            return _("AI {seat}").format(seat=seat)
        if info.name is None:
            return _("seat {seat}").format(seat=seat)
        same = sum(other.name == info.name for other in self.seats)
        return info.name if same == 1 else _("{name} ({seat})").format(name=info.name, seat=seat)

    def called(self, seat: int) -> str:
        """The name, or "you"."""
        return _("you") if seat == self.you else self.name(seat)

    def say(self, seat: int, you: str, other: str, **params: object) -> str:
        """A sentence about ``seat``: ``you`` if that is the reader, else ``other`` with ``{who}`` (or ``{seat}``)."""
        told, who = _(you if seat == self.you else other), self.name(seat)
        if told.lstrip().startswith("{who}") and who == _("seat {seat}").format(seat=seat):
            who = who[:1].upper() + who[1:]  # a word of ours begins a sentence; how a person is called is theirs
        return told.format(who=who, seat=seat, **params)

    def side(self, side: int) -> str:
        """A side of the match: a player in games for two, otherwise the team's name."""
        if self.game.sides == self.game.seats:
            return self.called(side)
        return team_name(side)

    def yours(self, side: int) -> bool:
        """Whether the reader plays for ``side``."""
        return self.you is not None and self.game.side(self.you) == side


def team_name(side: int) -> str:
    """A team by its seats (H6)."""
    return _("even") if side == 0 else _("odd")


def people_of(picture: Picture) -> People:
    """The people at the table of ``picture``."""
    return People(picture.game, picture.seats, picture.you)
