"""What a partner would not forgive, whatever a search says.

A search is right on average and now and then absurd to look at: where two cards come to nearly the same, it may spend
a trump on a trick that a partner has for certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.game import Card
from engine.hachinin_meri.cards import PLAIN, TRUMPS, best
from engine.hachinin_meri.table import all_tricks, left_of, team
from engine.hachinin_meri.types import SEATS, Trick, View

_NOTHING: Final[frozenset[Card]] = frozenset()


def vetoed(view: View, cards: Sequence[Card]) -> frozenset[Card]:
    """Those of the playable ``cards`` that would take a partner's certain trick away from it.

    Never all of them: where there is nothing else to play, there is nothing to forgive.
    """
    trick = view.table.trick
    if trick is None or view.seat is None or trick.face_down:
        return _NOTHING
    shown = [card for card in trick.cards if card is not None]
    place = best(shown, view.table.okie[0])
    partner = left_of(trick.leader, place)
    if team(partner) != team(view.seat) or not _is_certain(view, trick, shown[place]):
        return _NOTHING
    trumps = TRUMPS[view.table.okie[0]]
    height = trumps.get(shown[place], 0)
    taking = frozenset(card for card in cards if trumps.get(card, 0) > height)
    return taking if len(taking) < len(cards) else _NOTHING


def _is_certain(view: View, trick: Trick, top: Card) -> bool:
    """Whether nobody after this seat can take the trick from ``top``, from all that the seat knows."""
    if len(trick.cards) == SEATS - 1:
        return True  # nobody comes after it
    trump = view.table.okie[0]
    seen = {*view.hand, view.table.discard, *(view.table.side or ())}
    seen.update(card for each in all_tricks(view.table) for card in each.cards)
    order = TRUMPS[trump]
    least = order.get(top, 0)
    if any(rank > least and card not in seen for card, rank in order.items()):
        return False
    return least > 0 or not any(
        card[0] == top[0] and card not in order and rank > PLAIN[top] and card not in seen
        for card, rank in PLAIN.items()
    )
