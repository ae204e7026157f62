"""What is public about a deal, as a fold of its events.

Belongs here: how each event changes the table. State and view share this one fold, so a view cannot come to differ
from the truth, nor know what its viewer was not told. Must not be known here: hands, stock, what is allowed.
"""

from __future__ import annotations

from typing import Final, TypeVar, assert_never

from msgspec.structs import replace

from engine.flowers import month
from engine.game import Card, Seat
from engine.go_stop.scoring import NO_SCORE
from engine.go_stop.types import (
    STOCK_SIZE,
    Captured,
    Dealt,
    DecisionAwaited,
    Event,
    FourOfAMonth,
    GoCalled,
    HandCardPlayed,
    JunkTaken,
    Nagari,
    Pending,
    Phase,
    PpukMade,
    Redeal,
    ScoreChanged,
    Stack,
    StockCardLaid,
    StockCardRevealed,
    StockChoiceAwaited,
    Stopped,
    Table,
    ThreePpuk,
    TurnBegan,
)

SEATS: Final = (Seat(0), Seat(1))

T = TypeVar("T")


def other(seat: Seat) -> Seat:
    """The other player."""
    return SEATS[1 - seat]


def with_item(pair: tuple[T, ...], seat: Seat, item: T) -> tuple[T, ...]:
    """``pair`` (by seat) with ``item`` in the place of ``seat``."""
    return (item, pair[1]) if seat == 0 else (pair[0], item)


def without(cards: tuple[Card, ...], gone: tuple[Card, ...]) -> tuple[Card, ...]:
    """``cards`` less those ``gone``, in the same order."""
    return tuple([card for card in cards if card not in gone])


def dealt_stacks(layout: tuple[Card, ...]) -> tuple[Stack, ...]:
    """Three of a month on the dealt layout lie as one stack without an owner (G3)."""
    months = [month(card) for card in layout]
    return tuple(Stack(number, owner=None) for number in sorted(set(months)) if months.count(number) == 3)


def opened(dealt: Dealt) -> Table:
    """The table as it lies after dealing, before the opening checks."""
    return Table(
        options=dealt.options,
        carry=dealt.carry,
        first=dealt.first,
        turn=dealt.first,
        phase=Phase.PLAY,
        layout=dealt.layout,
        stacks=dealt_stacks(dealt.layout),
        pending=None,
        stock_left=STOCK_SIZE,
        played=((), ()),
        captured=((), ()),
        scores=(NO_SCORE, NO_SCORE),
        ppuks=(0, 0),
        goes=(0, 0),
        go_points=(0, 0),
        ended=None,
    )


def follow(table: Table, event: Event) -> Table:
    """The table after ``event``."""
    match event:
        case Dealt():
            raise AssertionError("a deal is dealt once: see opened()")
        case TurnBegan(seat):
            return replace(table, turn=seat, phase=Phase.PLAY, pending=None)
        case HandCardPlayed(seat, card, matched):
            return replace(
                table,
                layout=without(table.layout, matched) if matched else (*table.layout, card),
                pending=Pending(card, matched),
                played=with_item(table.played, seat, (*table.played[seat], card)),
            )
        case StockCardRevealed(_, card):
            assert table.pending is not None, "a stock card was revealed before a hand card was played"
            return replace(table, stock_left=table.stock_left - 1, pending=replace(table.pending, revealed=card))
        case StockChoiceAwaited():
            return replace(table, phase=Phase.CHOOSE)
        case StockCardLaid(_, card):
            return replace(table, layout=(*table.layout, card))
        case Captured(seat, cards):
            captured_month = month(cards[0])
            return replace(
                table,
                layout=without(table.layout, cards),
                stacks=tuple([stack for stack in table.stacks if stack.month != captured_month]),
                captured=with_item(table.captured, seat, table.captured[seat] + cards),
            )
        case PpukMade(seat, cards, count):
            return replace(
                table,
                layout=table.layout + cards,
                stacks=(*table.stacks, Stack(month(cards[0]), owner=seat)),
                ppuks=with_item(table.ppuks, seat, count),
            )
        case JunkTaken(seat, _, _, cards):
            giver = other(seat)
            gained = with_item(table.captured, seat, table.captured[seat] + cards)
            return replace(table, captured=with_item(gained, giver, without(table.captured[giver], cards)))
        case ScoreChanged(seat, score):
            return replace(table, scores=with_item(table.scores, seat, score))
        case DecisionAwaited():
            return replace(table, phase=Phase.DECIDE, pending=None)
        case GoCalled(seat, count, points):
            return replace(
                table,
                goes=with_item(table.goes, seat, count),
                go_points=with_item(table.go_points, seat, points),
            )
        case Redeal() | FourOfAMonth() | ThreePpuk() | Stopped() | Nagari():
            return replace(table, phase=Phase.OVER, pending=None, ended=event)
        case _:
            assert_never(event)
