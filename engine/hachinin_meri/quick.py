"""The quick player, one of two who play sampled worlds on (``ahead``).

Belongs here: what is worth doing, in integers and tables, quickly enough to be asked hundreds of thousands of times.
It is ``odds`` once more and coarser: who takes the trick, what combination may come of it, what a card is good for
later. Like every player it uses nothing but its own hand and what lies open, so that a world is not played out by
people who see through cards. Values are thousandths of a point for the player's team. ``_kernel.c`` plays the same
moves, from the same tables.
"""

from __future__ import annotations

from math import exp
from typing import Final

from engine.hachinin_meri.flat import (
    DECLARING,
    DISCARDING,
    NINTH_STAKE,
    PLAINS,
    SUITS,
    TRUMP_SHIFT,
    Flat,
    Move,
    single,
)
from engine.hachinin_meri.types import SEATS, TRICKS

UNIT: Final = 1000
"""A point."""
STEPS: Final = 8
"""Expected numbers of trumps are counted in eighths."""
_MOST_TRUMPS: Final = 16
_MOST_CARDS: Final = 10

TRUMPS_IN: Final = 0.75
"""How often a seat that holds a trump plays one to a plain lead."""
FOLLOWS_HIGHER: Final = 0.6
"""How often a seat that holds a higher card of the led suit plays it."""
LOWEST_TRUMP: Final = 100
HIGHEST_TRUMP: Final = 650
"""What a trump is good for later if all unseen ones are above it, or below it."""
HIGHEST_PLAIN: Final = 120
"""What the highest unseen card of a plain suit is good for later; each unseen card above it halves that."""
LAST_PLAIN: Final = 120
"""What a plain card is good for as the last one, if there is no trump in the ninth trick (H21)."""


def _holding() -> tuple[int, ...]:
    """The chance of a seat to hold a trump, in thousandths: by trumps in the others' hands, number of those others, and
    cards that each holds.
    """
    table = []
    for trumps in range(_MOST_TRUMPS + 1):
        for seats in range(SEATS):
            for cards in range(_MOST_CARDS + 1):
                room = seats * cards
                share = min(1.0, trumps / room) if room else 0.0
                table.append(round(UNIT * (1 - (1 - share) ** cards)))
    return tuple(table)


HOLDING: Final = _holding()


def _unbeaten() -> tuple[int, ...]:
    """The chance that none of some hidden trumps is higher, in thousandths: by number of trumps hidden, of higher ones
    among them, and expected number played in eighths.
    """
    most = SEATS * STEPS
    return tuple(
        round(UNIT * (1 - min(higher, hidden) / hidden) ** (eighths / STEPS)) if hidden else UNIT
        for hidden in range(_MOST_TRUMPS + 1)
        for higher in range(_MOST_TRUMPS + 1)
        for eighths in range(most)
    )


UNBEATEN: Final = _unbeaten()
NO_TRUMP: Final = tuple(round(UNIT * exp(-1.2 * eighths / STEPS)) for eighths in range(SEATS * STEPS))
"""The chance that there is no trump where so many eighths are expected."""
KEPT: Final = tuple(
    round(LOWEST_TRUMP + (HIGHEST_TRUMP - LOWEST_TRUMP) * (min(below, hidden) / hidden) ** 2)
    if hidden
    else HIGHEST_TRUMP
    for hidden in range(_MOST_TRUMPS + 1)
    for below in range(_MOST_TRUMPS + 1)
)
"""What a trump is good for later, by number of trumps hidden and of lower ones among them."""
UNFOLLOWED: Final = tuple(
    round(UNIT * (1 - FOLLOWS_HIGHER) ** (higher * seats / (SEATS - 1)))
    for higher in range(16)
    for seats in range(SEATS)
)
"""The chance that no higher card of the led suit comes, by how many are unseen and how many seats are to come."""
TEAMS: Final = (0b01010101, 0b10101010)
"""The seats of each team (H6), as bits."""
AFTER: Final = tuple(
    sum(1 << (leader + place) % SEATS for place in range(count, SEATS))
    for leader in range(SEATS)
    for count in range(SEATS)
)
"""The seats of a trick, as bits, from place ``count`` on."""


def quick_move(deal: Flat) -> Move:
    """What the quick player does whose turn it is."""
    if deal.phase == DISCARDING:
        return _discard(deal.playable())
    if deal.phase == DECLARING:
        return deal.legal()[-1]  # declares, if it can
    cards = deal.playable()
    if not cards & (cards - 1):
        return cards
    return _Look(deal).choice(cards) if deal.count else _Look(deal).lead(cards)


def _discard(cards: int) -> Move:
    """The lowest card of the shortest plain suit; for want of one the lowest trump."""
    suits = [cards & suit for suit in SUITS if cards & suit]
    shortest = min(suits, key=int.bit_count) if suits else cards
    return shortest & -shortest


class _Look:
    """What the player whose turn it is can tell of the others' trumps."""

    __slots__ = ("after", "deal", "down", "hand", "hidden", "last", "me", "none", "ours", "steps", "theirs", "unseen")

    deal: Flat
    me: int
    """The own team."""
    hand: int
    hidden: int
    """The trumps that others hold, face-down ones included, as bits of the trumps alone."""
    unseen: int
    """How many these are."""
    last: bool
    """The eighth trick is played: what is kept is revealed next (H21)."""
    down: int
    """Seats (as bits) with a trump face down."""
    after: int
    """Seats (as bits) that play to this trick after this one."""
    ours: int
    theirs: int
    """Trumps expected from partners, and from opponents, in thousandths."""
    steps: int
    """All these, in eighths."""
    none: int
    """The chance that there are none."""

    def __init__(self, deal: Flat) -> None:
        self.deal = deal
        seat = deal.turn
        self.me = seat & 1
        self.hand = hand = deal.hands[seat]
        self.hidden = deal.terms.trumps & ~((deal.gone | hand) >> TRUMP_SHIFT)
        self.unseen = self.hidden.bit_count()
        self.last = deal.settled == TRICKS - 2 and not deal.terms.ninth_led
        self.down = deal.down
        self.after = AFTER[deal.leader * SEATS + deal.count + 1] if 0 < deal.count < SEATS - 1 else 0
        if not deal.count:
            self.down = 0
            self.after = 255 ^ 1 << seat

    def expect(self, rate: int, after: int) -> None:
        """Count on the trumps that lie face down and that ``after`` may yet play, at ``rate`` thousandths."""
        deal, down = self.deal, self.down
        others = (255 & ~deal.void & ~(1 << deal.turn)).bit_count()
        in_hands = max(0, self.unseen - down.bit_count())
        chance = HOLDING[(in_hands * SEATS + others) * 11 + TRICKS - deal.settled] * rate // UNIT
        live = after & ~deal.void
        mine = TEAMS[self.me]
        self.ours = (down & mine).bit_count() * UNIT + (live & mine).bit_count() * chance
        self.theirs = (down & ~mine).bit_count() * UNIT + (live & ~mine).bit_count() * chance
        self.steps = (self.ours + self.theirs) * STEPS // UNIT
        self.none = 0 if down else NO_TRUMP[self.steps]

    def share(self) -> int:
        """Of the expected trumps, those of the own team, in thousandths."""
        total = self.ours + self.theirs
        return self.ours * UNIT // total if total else 0

    def beaten(self, trump: int) -> int:
        """The chance that a hidden trump above ``trump`` is played."""
        higher = (self.hidden & -trump).bit_count()
        return UNIT - UNBEATEN[(self.unseen * 17 + higher) * 64 + self.steps]

    def kept(self, trump: int) -> int:
        """What ``trump`` is good for later."""
        return KEPT[self.unseen * 17 + (self.hidden & (trump - 1)).bit_count()]

    def face_down(self, trump: int, *, ninth: bool) -> int:
        """What ``trump`` comes to in a trick led with a plain card, combinations included (H23)."""
        terms = self.deal.terms
        over = self.beaten(trump)
        value = UNIT - over + over * self.share() // UNIT
        if self.unseen:
            rank = trump.bit_length()
            chance = min(UNIT, self.theirs // self.unseen)
            stakes = terms.concealed_stakes if self.deal.concealed else terms.stakes
            if terms.lows[rank] & self.hidden:
                value += (NINTH_STAKE if ninth else stakes[rank]) * chance * (UNIT - over) // UNIT
            high = terms.highs[rank]
            if high and self.hidden >> high - 1 & 1:
                value -= (NINTH_STAKE if ninth else stakes[high]) * chance
        return value

    def as_last(self, card: int) -> int:
        """What ``card`` comes to as the last one (H21)."""
        trump = card >> TRUMP_SHIFT
        if trump:
            return self.face_down(trump, ninth=True)
        return (UNIT - self.none) * self.share() // UNIT + self.none * LAST_PLAIN // UNIT

    def lasts(self, cards: int) -> dict[int, int]:
        """In the eighth trick: by each of two cards, what the other one comes to in the ninth."""
        down, self.down = self.down, 0
        self.expect(TRUMPS_IN_PER_MILLE, 255 ^ 1 << self.deal.turn)
        found = {card: self.as_last(self.hand ^ card) for card in single(cards)}
        self.down = down
        return found

    def choice(self, cards: int) -> Move:
        """The best of ``cards`` to follow with."""
        lasts = self.lasts(cards) if self.last else None
        meri = self.deal.meri
        self.expect(UNIT if meri else TRUMPS_IN_PER_MILLE, self.after)
        best, best_card = -1_000_000, 0
        plain = cards & PLAINS
        tried = [card << TRUMP_SHIFT for card in single(cards >> TRUMP_SHIFT)]
        if plain:
            tried.append(plain & -plain)
            follow = plain & self.deal.led
            if follow and not meri:
                higher = follow & -self.deal.top_plain
                if higher:
                    # The last seat wins as cheaply as it can; others with what is most likely to hold.
                    tried.append(higher & -higher if not self.after else 1 << higher.bit_length() - 1)
                tried.append(follow & -follow)
        if lasts is not None:
            tried = single(cards)
        for card in tried:
            value = self.meri(card) if meri else self.follow(card)
            if lasts is not None:
                value += lasts[card]
            elif card >> TRUMP_SHIFT:
                value -= self.kept(card >> TRUMP_SHIFT)
            else:
                value -= self.kept_plain(card)
            if value > best:
                best, best_card = value, card
        return best_card

    def kept_plain(self, card: int) -> int:
        """What a plain card is good for later."""
        return HIGHEST_PLAIN >> self.higher(card)

    def higher(self, card: int) -> int:
        """Unseen cards of the suit of the plain ``card`` that are above it."""
        for suit in SUITS:
            if card & suit:
                return (suit & -card & ~(self.deal.gone | self.hand)).bit_count()
        raise AssertionError("no plain card")

    def meri(self, card: int) -> int:
        """The chance to take a Meri trick with ``card`` (H18)."""
        tops, trump = self.deal.tops, card >> TRUMP_SHIFT
        top = max(*tops, trump)
        ours = top == trump or top == tops[self.me]
        over = self.beaten(top)
        return over * self.share() // UNIT + (UNIT - over if ours else 0)

    def follow(self, card: int) -> int:
        """What ``card`` comes to after a plain lead."""
        trump = card >> TRUMP_SHIFT
        if trump:
            return self.face_down(trump, ninth=False)
        value = (UNIT - self.none) * self.share() // UNIT
        if self.none:
            deal = self.deal
            top, ours = deal.top_plain, deal.top_plain_seat & 1 == self.me
            if card & deal.led and card > top:
                top, ours = card, True
            value += self.none * self.holds(top, ours=ours, after=self.after) // UNIT
        return value

    def holds(self, top: int, *, ours: bool, after: int) -> int:
        """The chance that the own team takes a trick without trumps whose highest card so far is ``top``."""
        unbeaten: int = UNFOLLOWED[min(15, self.higher(top)) * SEATS + after.bit_count()]
        partners = (after & TEAMS[self.me]).bit_count() * UNIT // after.bit_count() if after else 0
        return (UNIT - unbeaten) * partners // UNIT + (unbeaten if ours else 0)

    def lead(self, cards: int) -> Move:
        """The best of ``cards`` to lead."""
        lasts = self.lasts(cards) if self.last else None
        best, best_card = -1_000_000, 0
        plain = cards & PLAINS
        if plain:
            self.expect(TRUMPS_IN_PER_MILLE, self.after)
            base = (UNIT - self.none) * self.share() // UNIT
            for card in single(plain) if lasts is not None else (plain & -plain, 1 << plain.bit_length() - 1):
                value = base + self.none * self.holds(card, ours=True, after=self.after) // UNIT
                value += -self.kept_plain(card) if lasts is None else lasts[card]
                if value > best:
                    best, best_card = value, card
        trumps = cards >> TRUMP_SHIFT
        if trumps:
            self.expect(UNIT, self.after)
            share = self.share()
            for trump in single(trumps):
                over = self.beaten(trump)
                value = over * share // UNIT + UNIT - over
                value += -self.kept(trump) if lasts is None else lasts[trump << TRUMP_SHIFT]
                if value > best:
                    best, best_card = value, trump << TRUMP_SHIFT
        return best_card


TRUMPS_IN_PER_MILLE: Final = round(UNIT * TRUMPS_IN)
