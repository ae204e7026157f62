"""What a player sees, as a flat deal without the cards that it does not see, and flat worlds drawn for it.

Belongs here: reading a view once for a decision, so that every world after it is quickly made. Which worlds there are
is for ``worlds`` to say. ``_kernel.c`` draws them too, from what ``kernel`` packs of ``Seen``.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from engine.game import Seat
from engine.hachinin_meri.flat import BITS, TRUMP_SHIFT, Flat, flat_state
from engine.hachinin_meri.table import is_opening, played_by
from engine.hachinin_meri.types import SEATS, View
from engine.hachinin_meri.worlds import DOWN, SIDE, Worlds


class Seen:
    """What a player sees, as a flat deal; draws what it does not see."""

    def __init__(self, view: View) -> None:
        assert view.seat is not None, "a spectator has nothing to decide"
        table = view.table
        self.worlds = worlds = Worlds(view)
        self.bits = bits = BITS[table.okie[0]]
        # Whatever differs between worlds is taken out, so that any of them will do.
        self.table = deal = flat_state(worlds.draw(Random(0)))
        """The deal without the cards that the player does not see. Nothing changes it."""
        deal.hands = [hand if seat == view.seat else 0 for seat, hand in enumerate(deal.hands)]
        deal.lone = 0
        if is_opening(table):
            deal.aside = 0 if table.discard is None else bits[table.discard]
            deal.concealed = deal.taker >= 0 and table.declarer is None and deal.terms.okie != deal.terms.robai
        known = [sum(bits[card] for card in played_by(table, Seat(seat)) if card) for seat in range(SEATS)]
        if table.taker is not None and table.discard is not None:
            known[table.taker] |= bits[table.discard]
        self.known = [cards >> TRUMP_SHIFT for cards in known]
        """By seat: the trumps that it has shown, or discarded before the viewer's eyes."""
        self.not_dealt = 0 if table.taker is None else deal.terms.okie >> TRUMP_SHIFT
        """The taker has it from the middle."""
        self._own_down: list[tuple[int, int]] = []
        """The viewer's own face-down trump and its seat."""
        trick = table.trick
        if trick is not None and trick.face_down:
            card = trick.cards[(view.seat - trick.leader) % SEATS] if view.seat in trick.face_down else None
            self._own_down = [] if card is None else [(bits[card], view.seat)]
            _cover(deal, self._own_down)

    def sample(self, rng: Random) -> Flat:
        """What ``Worlds.draw`` draws, as a flat deal."""
        deal = self.table.copy()
        bits, hands, down = self.bits, deal.hands, self._own_down[:]
        for place, cards in self.worlds.fill(rng):
            pile = sum([bits[card] for card in cards])
            if place.where == DOWN:
                down.append((pile, place.seat or 0))
            elif place.where == SIDE:
                deal.aside |= pile
                deal.concealed = deal.concealed and not pile & deal.terms.robai
            else:
                hands[place.seat or 0] = pile
        if down:
            _cover(deal, down)
        deal.lone = self._lone_suns(deal, down)
        return deal

    def _lone_suns(self, deal: Flat, down: Sequence[tuple[int, int]]) -> int:
        """The seats that were dealt the trump Sun as their only trump (H19) in this world, as bits."""
        trumps = [hand >> TRUMP_SHIFT | known for hand, known in zip(deal.hands, self.known, strict=True)]
        for card, seat in down:
            trumps[seat] |= card >> TRUMP_SHIFT
        if deal.taker >= 0:
            trumps[deal.taker] &= ~self.not_dealt
        sun = deal.terms.sun
        return sum([1 << seat for seat, held in enumerate(trumps) if held == sun])


def _cover(deal: Flat, down: Sequence[tuple[int, int]]) -> None:
    """Put these trumps face down to the trick in play, in place of those that lie there."""
    deal.covered = sum([card for card, _ in down])
    deal.tops = [0, 0]
    for card, seat in down:
        trump = card >> TRUMP_SHIFT
        if trump > max(deal.tops):
            deal.top_trump_seat = seat
        deal.tops[seat & 1] = max(trump, deal.tops[seat & 1])
