"""``greedy``: the player that go-stop's levels are measured with. Frozen: whatever it chooses now it chooses for ever.

It captures the cards that count most on their own, more if that raises its score or keeps the other player from raising
theirs; what it has to lay down is what counts least; it always stops. The house's own levels know better; this one must
stay simple, and the same, so that a figure against it can be compared with last year's and with other people's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from engine.flowers import Kind, kind, matching
from engine.game import Card
from engine.go_stop.scoring import BIT, DOUBLE_JUNK, pile_of, points
from engine.go_stop.table import other
from engine.go_stop.text import text
from engine.go_stop.types import Action, Choose, Go, Play, Stop, View

COUNTS: Final = {Kind.BRIGHT: 20, Kind.ANIMAL: 10, Kind.RIBBON: 5, Kind.PLAIN: 1}
"""What a captured card counts on its own; double junk counts twice."""
GAIN: Final = 60
"""What a point counts by which one's own score rises."""
DENIED: Final = 30
"""What a point counts by which the other player's score would rise with the cards taken."""


def greedy(view: View, legal: Sequence[Action]) -> Action:
    """The choice among ``legal`` (not empty); of equals the first by text."""
    return max(sorted(legal, key=text), key=lambda action: _count(action, view))


def _count(action: Action, view: View) -> int:
    table = view.table
    match action:
        case Stop():
            return 1
        case Go():
            return 0
        case Choose(take):
            assert table.pending is not None, "a choice is open in the middle of a turn"
            assert table.pending.revealed is not None, "a choice is open for a stock card"
            return _count_of_capture(table.pending.revealed, (take,), view)
        case Play(card, take):
            taken = matching(card, table.layout) if take is None else (take,)
            return _count_of_capture(card, taken, view) if taken else -_count_of_card(card)
        case _:
            assert_never(action)


def _count_of_capture(card: Card, taken: tuple[Card, ...], view: View) -> int:
    table, me = view.table, view.table.turn
    mine, theirs = pile_of(table.captured[me]), pile_of(table.captured[other(me)])
    gain = points(mine | BIT[card] | pile_of(taken)) - points(mine)
    denied = points(theirs | pile_of(taken)) - points(theirs)
    return sum(map(_count_of_card, (card, *taken))) + GAIN * gain + DENIED * denied


def _count_of_card(card: Card) -> int:
    return COUNTS[kind(card)] * (2 if BIT[card] & DOUBLE_JUNK else 1)
