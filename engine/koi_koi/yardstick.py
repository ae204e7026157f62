"""``greedy``: the player that koi-koi's levels are measured with. Frozen: whatever it chooses now it chooses for ever.

It captures the cards that count most on their own, more if that raises its total or keeps the other player from raising
theirs; what it has to lay down is what counts least; it always stops. The house's own levels know better; this one must
stay simple, and the same, so that a figure against it can be compared with last year's and with other people's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from engine.flowers import Kind, kind, matching
from engine.game import Card
from engine.koi_koi.scoring import BIT, mask_of, total
from engine.koi_koi.table import other
from engine.koi_koi.text import text
from engine.koi_koi.types import Action, Choose, Koi, Play, Stop, View

COUNTS: Final = {Kind.BRIGHT: 20, Kind.ANIMAL: 10, Kind.RIBBON: 5, Kind.PLAIN: 1}
"""What a captured card counts on its own."""
GAIN: Final = 60
"""What a point counts by which one's own total rises."""
DENIED: Final = 30
"""What a point counts by which the other player's total would rise with the cards taken."""


def greedy(view: View, legal: Sequence[Action]) -> Action:
    """The choice among ``legal`` (not empty); of equals the first by text."""
    return max(sorted(legal, key=text), key=lambda action: _count(action, view))


def _count(action: Action, view: View) -> int:
    table = view.table
    match action:
        case Stop():
            return 1
        case Koi():
            return 0
        case Choose(take):
            assert table.turned is not None, "a choice is open for a turned card"
            return _count_of_capture(table.turned, (take,), view)
        case Play(card, take):
            taken = matching(card, table.board) if take is None else (take,)
            return _count_of_capture(card, taken, view) if taken else -COUNTS[kind(card)]
        case _:
            assert_never(action)


def _count_of_capture(card: Card, taken: tuple[Card, ...], view: View) -> int:
    table, me = view.table, view.table.turn
    mine, theirs = mask_of(table.captured[me]), mask_of(table.captured[other(me)])
    gain = total(mine | BIT[card] | mask_of(taken), table.rules) - total(mine, table.rules)
    denied = total(theirs | mask_of(taken), table.rules) - total(theirs, table.rules)
    return sum(COUNTS[kind(each)] for each in (card, *taken)) + GAIN * gain + DENIED * denied
