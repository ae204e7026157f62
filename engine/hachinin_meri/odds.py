"""Rough odds for one card, from a view: who takes the trick, what may come of it, what the card is good for later.

No search and no sampling. Unseen trumps are taken to be spread evenly over the hands that may hold one; how they are
played is taken from a few rates, which were tuned by letting teams play each other.
"""

from __future__ import annotations

from math import prod
from typing import Final

from msgspec import Struct

from engine.game import Card, Seat
from engine.hachinin_meri.cards import PLAIN, TRUMPS, best, native_robai
from engine.hachinin_meri.facts import TRUMP, voids
from engine.hachinin_meri.scoring import PAIRS, POINTS, stake
from engine.hachinin_meri.table import all_tricks, cards_held, left_of, team
from engine.hachinin_meri.types import SEATS, TRICKS, NinthTrick, Pair, View

TRUMPS_IN: Final = 0.75
"""How often a seat that holds a trump plays one to a plain lead."""
FOLLOWS_HIGHER: Final = 0.6
"""How often a seat that holds a higher card of the led suit plays it."""
IN_PLACE: Final = 0.35
"""How often a trump that a seat is known to hold is the one that it plays."""
LOWEST_TRUMP: Final = 0.1
HIGHEST_TRUMP: Final = 0.65
"""What a trump is good for later if all unseen ones are above it, or below it."""
HIGHEST_PLAIN: Final = 0.12
"""What the highest unseen card of a plain suit is good for later; each unseen card above it halves that."""


class Worth(Struct, frozen=True):
    """What playing a card is worth, in the deal's points for the player's team."""

    win: float
    """The chance that the team takes the trick."""
    gain: float
    """What combinations (H23) are expected to bring."""
    loss: float
    """What combinations are expected to cost."""
    gains: Pair | None
    """The combination that may bring something."""
    loses: Pair | None
    """The combination that may cost something."""
    kept: float
    """What the card would be good for if it were kept."""

    @property
    def total(self) -> float:
        """All of it."""
        return self.win + self.gain - self.loss - self.kept


class _Others(Struct, frozen=True):
    """Trumps of others that a trick holds or may yet get, none of which is seen."""

    ours: float
    """Expected number from partners."""
    theirs: float
    """Expected number from opponents."""
    none: float
    """The chance that there are none at all."""

    @property
    def total(self) -> float:
        return self.ours + self.theirs


class Odds:
    """What can be said about the cards of ``view``'s hand. Made for one decision."""

    def __init__(self, view: View) -> None:
        assert view.seat is not None, "a spectator has no cards"
        table = view.table
        trump = table.okie[0]
        self.table = table
        self.seat = view.seat
        self.team = team(view.seat)
        self.hand = view.hand
        self.trumps = TRUMPS[trump]
        tricks = all_tricks(table)
        seen = {*view.hand, table.discard, *(table.side or ()), *(card for trick in tricks for card in trick.cards)}
        self.unseen = [card for card in PLAIN if card not in seen and card not in self.trumps]
        """Plain cards that others hold."""
        self.hidden = sorted(rank for card, rank in self.trumps.items() if card not in seen)
        """Ranks of the trumps that others hold, face-down ones included."""
        self.seen = seen
        self.down = () if table.trick is None else tuple(s for s in table.trick.face_down if s != view.seat)
        self.holds = self._chances_of_trump()

    def _chances_of_trump(self) -> list[float]:
        """By seat: the chance that its hand holds a trump (0 for oneself)."""
        void = voids(self.table)
        sizes = [
            0 if seat == self.seat or TRUMP in void[seat] else cards_held(self.table, Seat(seat))
            for seat in range(SEATS)
        ]
        room = sum(sizes)
        in_hands = max(0, len(self.hidden) - len(self.down))
        share = min(1.0, in_hands / room) if room else 0.0
        chances = [1 - (1 - share) ** size for size in sizes]
        taker = self.table.taker
        if taker is not None and taker != self.seat and self.table.okie not in self.seen and taker not in self.down:
            chances[taker] = 1.0
        return chances

    def worth(self, card: Card) -> Worth:
        """What leading or following with ``card`` is worth."""
        table = self.table
        trick = table.trick
        ninth = len(table.tricks) == TRICKS - 1
        kept = 0.0 if ninth else self.kept(card)
        if trick is None:
            to_come = [left_of(self.seat, places) for places in range(1, SEATS)]
            meri = card in self.trumps
            shown: list[Card] = []
        else:
            placed = len(trick.cards)
            to_come = [left_of(trick.leader, place) for place in range(placed + 1, SEATS)]
            meri = trick.meri
            shown = [there for there in trick.cards if there is not None]
        others = self._others(to_come, 1.0 if meri else TRUMPS_IN)
        if meri:
            return Worth(self._meri(card, shown, others), 0.0, 0.0, None, None, kept)
        if card in self.trumps:
            return self._with_trump(card, to_come, others, kept, ninth=ninth)
        plain = self._plain(card, to_come) if others.none else 0.0
        takes = (1 - others.none) * others.ours / others.total if others.total else 0.0
        return Worth(takes + others.none * plain, 0.0, 0.0, None, None, kept)

    def _others(self, to_come: list[Seat], rate: float) -> _Others:
        chances = [(seat, rate * self.holds[seat]) for seat in to_come] + [(seat, 1.0) for seat in self.down]
        ours = sum(chance for seat, chance in chances if team(seat) == self.team)
        total = sum(chance for _, chance in chances)
        return _Others(ours, total - ours, prod(1 - chance for _, chance in chances))

    def _overtrumped(self, rank: int, others: _Others) -> float:
        """The chance that one of ``others`` is above ``rank``."""
        if not self.hidden:
            return 0.0
        above = sum(hidden > rank for hidden in self.hidden)
        return 1.0 - float((1 - above / len(self.hidden)) ** others.total)

    def _meri(self, card: Card, shown: list[Card], others: _Others) -> float:
        """The chance to take a Meri trick; its cards lie open (H18)."""
        trick = self.table.trick
        ranks = [self.trumps.get(there, 0) for there in (*shown, card)]
        top = max(ranks)
        leader = self.seat if trick is None else trick.leader
        ours = team(left_of(leader, ranks.index(top))) == self.team
        over = self._overtrumped(top, others)
        return over * (others.ours / others.total if others.total else 0.0) + (1 - over) * ours

    def _with_trump(self, card: Card, to_come: list[Seat], others: _Others, kept: float, *, ninth: bool) -> Worth:
        """A trump to a plain lead: face down (H17), and worth a combination (H23)."""
        over = self._overtrumped(self.trumps[card], others)
        win = over * (others.ours / others.total if others.total else 0.0) + (1 - over)
        gain, loss, gains, loses = 0.0, 0.0, None, None
        for (high, low), named in PAIRS[self.table.okie[0]].items():
            if card not in (high, low):
                continue
            other = low if card == high else high
            chance = self._against(other, to_come, others) * POINTS[stake(self.table, named, ninth=ninth)]
            if card == high:  # of one combination at most, and the lower card of one other
                gain, gains = chance * (1 - over), named
            else:
                loss, loses = chance, named
        return Worth(win, gain, loss, gains, loses, kept)

    def _against(self, card: Card, to_come: list[Seat], others: _Others) -> float:
        """The chance that an opponent has played the trump ``card`` face down to this trick, or will."""
        if card in self.seen or not self.hidden:
            return 0.0
        table = self.table
        robai_declared = table.declarer is not None and card == native_robai(table.okie[0])
        if table.taker is not None and (card == table.okie or robai_declared):  # H11: everyone knows who holds it
            if team(table.taker) == self.team:
                return 0.0
            return IN_PLACE * ((table.taker in self.down) + (table.taker in to_come) * TRUMPS_IN)
        return min(1.0, others.theirs / len(self.hidden))

    def _plain(self, card: Card, to_come: list[Seat]) -> float:
        """The chance that the team takes the trick if nobody has played or plays a trump."""
        trick = self.table.trick
        cards = (*(() if trick is None else (there for there in trick.cards if there is not None)), card)
        led = cards[0][0]
        ranks = [PLAIN[there] if there[0] == led and there not in self.trumps else 0 for there in cards]
        top = max(ranks)
        leader = self.seat if trick is None else trick.leader
        ours = team(left_of(leader, ranks.index(top))) == self.team
        higher = sum(there[0] == led and PLAIN[there] > top for there in self.unseen)
        room = sum(cards_held(self.table, seat) for seat in to_come) if higher else 0
        if not room:
            return float(ours)
        hands = sum(cards_held(self.table, Seat(seat)) for seat in range(SEATS) if seat != self.seat)
        over = 1.0 - float((1 - FOLLOWS_HIGHER) ** (higher * room / hands))
        partners = sum(team(seat) == self.team for seat in to_come) / len(to_come)
        return over * partners + (1 - over) * ours

    def winning_partner(self) -> Seat | None:
        """The partner who has the trick so far, as far as can be seen; None if there is none, or it is not clear."""
        trick = self.table.trick
        if trick is None:
            return None
        holder = self.down[0] if len(self.down) == 1 else None
        if not self.down:
            shown = [card for card in trick.cards if card is not None]
            holder = left_of(trick.leader, best(shown, self.table.okie[0]))
        return holder if holder is not None and team(holder) == self.team else None

    def kept(self, card: Card) -> float:
        """What ``card`` would be good for in a later trick."""
        table = self.table
        if len(table.tricks) == TRICKS - 2 and table.rules.ninth_trick is NinthTrick.SIMULTANEOUS:
            return self._last(card)
        if card not in self.trumps:
            higher = sum(there[0] == card[0] and PLAIN[there] > PLAIN[card] for there in self.unseen)
            return HIGHEST_PLAIN / (1 << higher)
        below = sum(rank < self.trumps[card] for rank in self.hidden) / len(self.hidden) if self.hidden else 1.0
        return LOWEST_TRUMP + (HIGHEST_TRUMP - LOWEST_TRUMP) * below * below

    def _last(self, card: Card) -> float:
        """What ``card`` is good for as the last one, revealed with the others' in the ninth trick (H21)."""
        everyone = [left_of(self.seat, places) for places in range(1, SEATS)]
        others = self._others(everyone, TRUMPS_IN)
        if card in self.trumps:
            worth = self._with_trump(card, everyone, others, 0.0, ninth=True)
            return worth.total
        takes = (1 - others.none) * others.ours / others.total if others.total else 0.0
        return takes + others.none * (0.25 if self.seat == self.table.dealer else 0.1)
