"""What a viewer may know of a deal: views, the redaction of events, and the worlds that fit a view.

Belongs here: everything that stands between the truth and a viewer. Hidden are the hands and the stock, nothing else;
all that happens on the table is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import assert_never

from msgspec.structs import replace

from engine.game import Card, Viewer
from engine.go_stop.rules import in_card_order, opening
from engine.go_stop.table import SEATS, follow, opened, without
from engine.go_stop.types import (
    CARDS,
    Captured,
    Dealt,
    DecisionAwaited,
    Event,
    FourOfAMonth,
    GoCalled,
    HandCardPlayed,
    JunkTaken,
    Nagari,
    PpukMade,
    Redeal,
    ScoreChanged,
    State,
    StockCardLaid,
    StockCardRevealed,
    StockChoiceAwaited,
    Stopped,
    Table,
    ThreePpuk,
    TurnBegan,
    View,
)


def view(state: State, viewer: Viewer) -> View:
    """The table and the viewer's own hand."""
    return View(viewer, None if viewer is None else state.hands[viewer], state.table)


def redact(event: Event, viewer: Viewer) -> Event:
    """Hides the dealt hands of others. The same object if nothing is hidden."""
    match event:
        case Dealt():
            hands = tuple([hand if seat == viewer else None for seat, hand in enumerate(event.hands)])
            return event if hands == event.hands else replace(event, hands=hands)
        case (
            Redeal()
            | FourOfAMonth()
            | TurnBegan()
            | HandCardPlayed()
            | StockCardRevealed()
            | StockChoiceAwaited()
            | StockCardLaid()
            | Captured()
            | PpukMade()
            | ThreePpuk()
            | JunkTaken()
            | ScoreChanged()
            | DecisionAwaited()
            | GoCalled()
            | Stopped()
            | Nagari()
        ):
            return event
        case _:
            assert_never(event)


def observe(before: View | None, event: Event, viewer: Viewer) -> View:
    """The view after its viewer was shown ``event``; ``Dealt`` makes a new one."""
    if isinstance(event, Dealt):
        return View(viewer, None if viewer is None else event.hands[viewer], opened(event))
    assert before is not None, "the first event of a deal is Dealt"
    hand = before.hand
    if isinstance(event, HandCardPlayed) and event.seat == viewer and hand is not None:
        hand = without(hand, (event.card,))
    return View(viewer, hand, follow(before.table, event))


def resample(seen: View, rng: Random) -> State:
    """A state drawn uniformly from all that fit ``seen``: hidden hands and the order of the stock.

    Which cards a hidden hand may hold follows from its size, from cards shown in the opening checks, and from what
    these checks said about the hand as it was dealt (G2), that is, together with what was played from it since.
    Worlds that contradict the checks are drawn again. That ends soon: a month is ruled out of a hand only once cards
    of it were played from that hand, so most worlds fit.
    """
    table = seen.table
    known = _shown(table)
    if seen.viewer is not None:
        assert seen.hand is not None, "a seat sees its own hand"
        known[seen.viewer] = seen.hand
    hidden = unseen(table, known)
    told = table.ended if isinstance(table.ended, Redeal | FourOfAMonth) else None
    while True:
        rng.shuffle(hidden)
        hands: list[tuple[Card, ...]] = []
        used = 0
        for seat in SEATS:
            missing = table.hand_sizes[seat] - len(known[seat])
            hands.append(in_card_order([*known[seat], *hidden[used : used + missing]]))
            used += missing
        dealt = [(*hands[seat], *table.played[seat]) for seat in SEATS]
        if opening(dealt, table.layout) == told:
            return State(table, tuple(hands), tuple(hidden[used:]))


def _shown(table: Table) -> list[tuple[Card, ...]]:
    """What the opening checks showed of each hand (G2)."""
    match table.ended:
        case FourOfAMonth(seat, cards):
            return [cards if each == seat else () for each in SEATS]
        case Redeal(hands=hands) if hands:
            return list(hands)
        case _:
            return [(), ()]


def unseen(table: Table, known: Sequence[tuple[Card, ...]]) -> list[Card]:
    """The cards that lie in hidden hands and in the stock, in card-id order. ``known``: hands or parts of them."""
    seen = {*table.layout, *table.captured[0], *table.captured[1]}.union(*known)
    if table.pending is not None:
        seen.update((table.pending.card, *table.pending.matched))
        if table.pending.revealed is not None:
            seen.add(table.pending.revealed)
    return [card for card in CARDS if card not in seen]
