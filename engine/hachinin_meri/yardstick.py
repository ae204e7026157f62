"""``greedy``: the player that Hachinin Meri's levels are measured with. Frozen: whatever it chooses now it chooses for
ever.

It declares; it leads low, discards low, and takes a trick as cheaply as it can when an opponent has it as far as can be
seen; combinations it does not know. The house's own levels know better; this one must stay simple, and the same, so
that a figure against it can be compared with last year's and with other people's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.game import Card, Seat
from engine.hachinin_meri.cards import PLAIN, TRUMPS, best
from engine.hachinin_meri.table import left_of, team
from engine.hachinin_meri.text import DECLARE, DISCARDS, PASS, PLAYS
from engine.hachinin_meri.types import SEATS, Action, Discard, Phase, Play, Trick, View

_LAST: Final = SEATS - 1


def greedy(view: View, legal: Sequence[Action]) -> Action:
    """The choice among ``legal`` (not empty); of equals the first by text."""
    table = view.table
    trump = table.okie[0]
    if table.phase is Phase.DECLARING:
        return DECLARE if DECLARE in legal else PASS
    actions = PLAYS if table.phase is Phase.PLAYING else DISCARDS
    cards = sorted(action.card for action in legal if isinstance(action, Discard | Play))
    trick = table.trick
    winning = [] if trick is None or _partner_has(trick, view) else _taking(trick, cards, view)
    return actions[min(winning or cards, key=lambda card: _height(card, trump))]


def _height(card: Card, trump: str) -> tuple[bool, int]:
    """Cheap cards first."""
    trumps = TRUMPS[trump]
    return card in trumps, trumps.get(card) or PLAIN[card]


def _partner_has(trick: Trick, view: View) -> bool:
    """Whether a partner has the trick as far as can be seen: with the only trump face down, or what lies open."""
    holder = _holder(trick, view.table.okie[0])
    return holder is not None and view.seat is not None and team(holder) == team(view.seat)


def _holder(trick: Trick, trump: str) -> Seat | None:
    if len(trick.face_down) > 1:
        return None
    if trick.face_down:
        return trick.face_down[0]
    shown = [card for card in trick.cards if card is not None]
    return left_of(trick.leader, best(shown, trump))


def _taking(trick: Trick, cards: Sequence[Card], view: View) -> list[Card]:
    """Those of ``cards`` that take the trick from what lies open, where that is likely to last.

    Trumps do in Meri, and to a plain lead once half of the cards lie there; plain cards in the last place.
    """
    trump = view.table.okie[0]
    trumps = TRUMPS[trump]
    shown = [card for card in trick.cards if card is not None]
    over = [card for card in cards if best([*shown, card], trump) == len(shown)]
    last = len(trick.cards) == _LAST and not trick.face_down
    lasting = trick.meri or len(trick.cards) >= SEATS // 2
    return [card for card in over if last or (card in trumps and lasting)]
