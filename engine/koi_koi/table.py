"""What everybody knows about a deal, as a fold of its events.

Belongs here: how each event changes the table. State and view share this one fold, so that a view can neither differ
from the truth nor know what its viewer was not told. Must not be known here: hidden hands, the stock, what is allowed.
"""

from __future__ import annotations

from typing import Final, TypeVar, assert_never

from msgspec.structs import replace

from engine.game import Card, Outcome, Seat
from engine.koi_koi.types import (
    BoardRedeal,
    DealDrawn,
    Dealt,
    Ending,
    Event,
    HandPlayed,
    HandsRedeal,
    KoiCalled,
    OpeningScored,
    Phase,
    Standing,
    StockPlaced,
    StockTurned,
    Stopped,
    Table,
    YakuMade,
)

T = TypeVar("T")

NO_SCORES: Final = (0, 0)
_REDEAL: Final = Outcome(Ending.REDEAL, NO_SCORES)


def other(seat: Seat) -> Seat:
    """The seat across the table."""
    return Seat(1 - seat)


def with_seat(pair: tuple[T, T], seat: Seat, value: T) -> tuple[T, T]:
    """``pair`` (by seat) with ``value`` in the place of ``seat``."""
    return (value, pair[1]) if seat == 0 else (pair[0], value)


def opened(dealt: Dealt) -> Table:
    """The table after dealing (K1), before the opening checks."""
    return Table(
        rules=dealt.rules,
        first=dealt.first,
        turn=dealt.first,
        phase=Phase.PLAY,
        board=dealt.board,
        stock=dealt.stock,
        hand_sizes=dealt.hand_sizes,
        captured=((), ()),
        played=((), ()),
        turned=None,
        standings=(Standing(), Standing()),
        calls=(0, 0),
        only_stop=None,
        shown=(None, None),
        outcome=None,
    )


def follow(table: Table, event: Event) -> Table:
    """The table after ``event``."""
    match event:
        case Dealt():
            raise AssertionError("a deal is dealt once: see opened()")
        case BoardRedeal():
            return replace(table, phase=Phase.OVER, outcome=_REDEAL)
        case HandsRedeal(_, hands):
            return replace(table, phase=Phase.OVER, shown=hands, outcome=_REDEAL)
        case OpeningScored(seat, opening, hand, score):
            outcome = Outcome(Ending(opening.combination), with_seat(NO_SCORES, seat, score))
            return replace(table, phase=Phase.OVER, shown=with_seat(table.shown, seat, hand), outcome=outcome)
        case HandPlayed(seat, card, taken):
            return replace(
                _laid(table, seat, card, taken),
                hand_sizes=with_seat(table.hand_sizes, seat, table.hand_sizes[seat] - 1),
                played=with_seat(table.played, seat, (*table.played[seat], card)),
            )
        case StockTurned(_, card, choices):
            if choices:
                return replace(table, phase=Phase.CHOOSE, stock=table.stock - 1, turned=card)
            return replace(table, stock=table.stock - 1)
        case StockPlaced(seat, card, taken):
            return replace(_laid(table, seat, card, taken), phase=Phase.PLAY, turn=other(seat), turned=None)
        case YakuMade(seat=seat, standing=standing, only_stop=only_stop):
            standings = with_seat(table.standings, seat, standing)
            return replace(table, phase=Phase.DECIDE, turn=seat, standings=standings, only_stop=only_stop)
        case KoiCalled(seat, calls, opponent):
            return replace(
                table,
                phase=Phase.PLAY,
                turn=other(seat),
                standings=with_seat(table.standings, other(seat), opponent),
                calls=with_seat(table.calls, seat, calls),
            )
        case Stopped(seat, standing, _):
            outcome = Outcome(Ending.STOP, with_seat(NO_SCORES, seat, standing.score))
            return replace(table, phase=Phase.OVER, only_stop=None, outcome=outcome)
        case DealDrawn():
            return replace(table, phase=Phase.OVER, outcome=Outcome(Ending.DRAW, NO_SCORES))
        case _:
            assert_never(event)


def _laid(table: Table, seat: Seat, card: Card, taken: tuple[Card, ...]) -> Table:
    """``card`` captured ``taken`` at once (K5), or lies on the board if that is empty (K4)."""
    if not taken:
        return replace(table, board=(*table.board, card))
    return replace(
        table,
        board=tuple([lying for lying in table.board if lying not in taken]),
        captured=with_seat(table.captured, seat, (*table.captured[seat], card, *taken)),
    )
