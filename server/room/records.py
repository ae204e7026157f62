"""Where a match's decks come from, and the records of its deals."""

from __future__ import annotations

from functools import cached_property

from engine.game import AnyGame, Seat
from engine.record import Player, record_of, write_record
from engine.shuffle import NO_CONTRIBUTION, Contribution, Draw, commitment
from engine.verify import fairness_of
from server.room.state import Holder, Open, Person, PlayedDeal, SeatBytes, Table


class FinishedDeal:
    """A deal that is over and whose seed is revealed. Its record is written when it is asked for, which plays the deal
    once more: not while the deal's last move waits for its answer, and not where nobody keeps records.
    """

    def __init__(self, game: AnyGame, table: Table, played: PlayedDeal) -> None:
        self._game = game
        self._table = table
        self._played = played
        self.match = table.id
        """The match's id."""
        self.deal = played.match.deal
        """Its number in the match, from 1."""
        self.attempt = played.match.attempt

    @cached_property
    def record(self) -> bytes:
        """One JSON object (``engine.record``)."""
        played = self._played
        record = record_of(
            self._game,
            played.match,
            played.deck,
            played.moves,
            match_id=self.match,
            fairness=fairness_of(draw_of(self._table, self.deal, self.attempt)),
            players=played.players,
        )
        return write_record(self._game, record)


def players(seats: tuple[Holder, ...]) -> tuple[Player, ...]:
    """Who holds the seats."""
    return tuple(
        Player(Seat(seat), name=holder.name) if isinstance(holder, Person) else Player(Seat(seat), level=holder.level)
        for seat, holder in enumerate(seats)
        if not isinstance(holder, Open)
    )


def commitments(table: Table) -> tuple[str, ...]:
    """One per deal, 64 hex digits each."""
    return tuple(commitment(table.id, number, seed).hex() for number, seed in enumerate(table.seeds, 1))


def all_contributed(table: Table) -> tuple[SeatBytes, ...]:
    """The contributions in order of seat, with zeros for those that did not come."""
    given = {each.seat: each.value for each in table.contributed}
    return tuple(SeatBytes(seat, given.get(seat, NO_CONTRIBUTION)) for seat in table.contributors)


def draw_of(table: Table, deal: int, attempt: int) -> Draw:
    """What determines the deck of a deal of this match."""
    contributions = tuple(Contribution(each.seat, each.value) for each in all_contributed(table))
    return Draw(table.id, deal, attempt, table.seeds[deal - 1], contributions)
