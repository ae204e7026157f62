"""The table as a fold of events: the one place where an event changes what is known.

The state folds whole events, a view folds the same events as redacted for its viewer. Nothing else changes a table,
so a view can hold nothing that its viewer was not told.
"""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from engine.game import Card, Seat, Viewer
from engine.hachinin_meri.types import (
    HAND,
    SEATS,
    AnyEvent,
    AsideShown,
    CardPlayed,
    DealScored,
    Dealt,
    Declared,
    Discarded,
    MonchiBegan,
    NinthRevealed,
    OkieTaken,
    Phase,
    Table,
    Trick,
    TrickLed,
    TrickSettled,
)


def left_of(seat: Seat, places: int = 1) -> Seat:
    """The seat ``places`` to the left: play goes clockwise (H6)."""
    return Seat((seat + places) % SEATS)


def team(seat: Seat) -> int:
    """0 for the even seats, 1 for the odd ones (H6)."""
    return seat % 2


def begun(dealt: Dealt) -> Table:
    """The table after the deal."""
    return Table(rules=dealt.rules, dealer=dealt.dealer, okie=dealt.okie, side=dealt.side)


def evolve(table: Table, event: AnyEvent) -> Table:
    """The table after ``event``."""
    match event:
        case CardPlayed():
            trick = table.trick
            assert trick is not None, "a card followed no lead"
            cards = (*trick.cards, event.card)
            down = (*trick.face_down, event.seat) if event.face_down else trick.face_down
            return replace(
                table,
                trick=Trick(trick.leader, trick.meri, cards, down),
                turn=left_of(event.seat) if len(cards) < SEATS else None,
            )
        case TrickLed():
            return replace(table, trick=Trick(event.seat, event.meri, (event.card,)), turn=left_of(event.seat))
        case TrickSettled():
            return replace(
                table,
                trick=None,
                tricks=(*table.tricks, event.trick),
                turn=event.trick.winner,
                points=event.points,
            )
        case MonchiBegan():
            return replace(table, monchi=True)
        case AsideShown():
            return replace(table, discard=event.discard, side=event.side)
        case Declared():
            return replace(table, declarer=event.declarer)
        case OkieTaken():
            return replace(table, taker=event.seat, phase=Phase.DISCARDING, turn=event.seat)
        case Discarded():
            return replace(table, discard=event.card, phase=Phase.PLAYING, turn=event.seat)
        case NinthRevealed():
            return replace(table, trick=Trick(event.dealer, meri=False, cards=event.cards), turn=None)
        case DealScored():
            return replace(table, phase=Phase.OVER, turn=None)
        case Dealt():
            return begun(event)
        case _ as unknown:
            assert_never(unknown)


def hand_after(hand: tuple[Card, ...], seat: Viewer, event: AnyEvent) -> tuple[Card, ...]:
    """The hand of ``seat`` after ``event`` (not redacted for it); always sorted as text."""
    match event:
        case TrickLed(seat=actor, card=card) | CardPlayed(seat=actor, card=card) | Discarded(seat=actor, card=card):
            return tuple(held for held in hand if held != card) if actor == seat else hand
        case OkieTaken():
            return tuple(sorted((*hand, event.okie))) if event.seat == seat else hand
        case NinthRevealed():
            return ()
        case Dealt():
            dealt = event.hands[seat] if seat is not None else None
            return dealt or ()
        case Declared() | AsideShown() | TrickSettled() | MonchiBegan() | DealScored():
            return hand
        case _ as unknown:
            assert_never(unknown)


def is_opening(table: Table) -> bool:
    """Whether the first trick is still to be led."""
    return table.trick is None and not table.tricks


def has_played(table: Table, seat: Seat) -> bool:
    """Whether ``seat`` has a card in the trick in play."""
    trick = table.trick
    return trick is not None and (seat - trick.leader) % SEATS < len(trick.cards)


def cards_held(table: Table, seat: Seat) -> int:
    """How many cards ``seat`` holds: public knowledge."""
    if table.phase is Phase.OVER:
        return 0
    taken = table.taker == seat and table.phase is Phase.DISCARDING
    return HAND + taken - len(table.tricks) - has_played(table, seat)


def all_tricks(table: Table) -> tuple[Trick, ...]:
    """The settled tricks and the one in play, oldest first."""
    return table.tricks if table.trick is None else (*table.tricks, table.trick)


def played_by(table: Table, seat: Seat) -> tuple[Card | None, ...]:
    """What ``seat`` has played so far, oldest first; None for a face-down trump that the viewer may not see."""
    places = (((seat - trick.leader) % SEATS, trick.cards) for trick in all_tricks(table))
    return tuple(cards[place] for place, cards in places if place < len(cards))
