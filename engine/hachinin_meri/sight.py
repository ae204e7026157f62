"""What a seat may know: the view, and what each viewer may see of each event.

Hidden are the other hands, sealed answers, face-down trumps until the eighth card (H17), the discard and the side
cards until the opening lead (H14). Nothing else is.
"""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from engine.game import Viewer
from engine.hachinin_meri.table import begun, evolve, hand_after, is_opening, left_of
from engine.hachinin_meri.types import (
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
    State,
    Table,
    Trick,
    TrickLed,
    TrickSettled,
    View,
)


def view(state: State, viewer: Viewer) -> View:
    """Everything ``viewer`` knows, and nothing else. Sealed answers leave no trace (H10)."""
    return View(viewer, _seen(state.table, viewer), () if viewer is None else state.hands[viewer])


def _seen(table: Table, viewer: Viewer) -> Table:
    trick = table.trick
    if trick is not None and trick.face_down:
        table = replace(table, trick=_trick_seen(trick, viewer))
    if is_opening(table):  # H14
        table = replace(table, discard=table.discard if viewer == table.taker else None, side=None)
    return table


def _trick_seen(trick: Trick, viewer: Viewer) -> Trick:
    hidden = {seat for seat in trick.face_down if seat != viewer}
    cards = (None if left_of(trick.leader, place) in hidden else card for place, card in enumerate(trick.cards))
    return replace(trick, cards=tuple(cards))


def redact(event: AnyEvent, viewer: Viewer) -> AnyEvent:
    """What ``viewer`` may see of ``event``; the same object where nothing is hidden from them."""
    match event:
        case Dealt():
            hands = tuple(hand if seat == viewer else None for seat, hand in enumerate(event.hands))
            return replace(event, hands=hands, side=None)  # H8, H14
        case Discarded():
            return event if event.seat == viewer else replace(event, card=None)  # H14
        case CardPlayed():
            return replace(event, card=None) if event.face_down and event.seat != viewer else event  # H17
        case Declared() | OkieTaken() | TrickLed() | AsideShown():
            return event
        case TrickSettled() | NinthRevealed() | MonchiBegan() | DealScored():
            return event
        case _ as unknown:
            assert_never(unknown)


def observe(seen: View | None, event: AnyEvent, viewer: Viewer) -> View:
    """The view after ``viewer`` was shown ``event``, redacted for them; a deal's first event makes the view."""
    if isinstance(event, Dealt):
        return View(viewer, begun(event), hand_after((), viewer, event))
    assert seen is not None, "a deal begins with its cards being dealt"
    return View(viewer, evolve(seen.table, event), hand_after(seen.hand, viewer, event))
