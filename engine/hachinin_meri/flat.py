"""A deal as a few integers: what searching players think in.

Belongs here: cards as bits in an order made for counting, the course of a deal on them (H9 to H26), and the flat deal
that a sampled state amounts to. Must not be known here: what is worth doing. The rules themselves are ``rules`` and
``scoring``; this is a second, faster reading of them for looking ahead only, which tests hold to the first, and
nothing that counts is ever decided here.

A card is a single bit. Plain cards are ordered by rank, the four suits side by side, so that the lowest bit of a hand
is its cheapest card; above them lie the trumps by rank. Suits are relative: all deals look alike but for the number of
trumps, which is fifteen where Pao is trump and sixteen elsewhere (H4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from engine.game import Card, Seat
from engine.hachinin_meri.cards import PLAIN, TRUMPS, native_robai
from engine.hachinin_meri.rules import dealt_nine
from engine.hachinin_meri.scoring import PAIRS, POINTS, was_concealed
from engine.hachinin_meri.table import left_of
from engine.hachinin_meri.types import (
    SEATS,
    TRICKS,
    Action,
    ConcealedRobai,
    Declare,
    Discard,
    DiscardRule,
    Monchi,
    NinthTrick,
    Pass,
    Phase,
    Play,
    Stake,
    State,
)

Move: TypeAlias = int
"""The bit of the card that is discarded or played, or one of the two answers (H10)."""
PASS: Final[Move] = 0
DECLARE: Final[Move] = -1

PHASES: Final = tuple(Phase)
DECLARING, DISCARDING, PLAYING, OVER = range(len(PHASES))

# Cards -----------------------------------------------------------------------------------------------------------

TRUMP_SHIFT: Final = 60
"""Four plain suits of fifteen ranks lie below the trumps."""
PLAINS: Final = (1 << TRUMP_SHIFT) - 1
SUITS: Final = tuple(sum(1 << 4 * rank + suit for rank in range(15)) for suit in range(4))
"""The bits of each plain suit."""
SUIT_OF: Final = {1 << place: SUITS[place % 4] for place in range(TRUMP_SHIFT)}
"""By a plain card's bit: the bits of its suit."""


def _bits(trump: str) -> dict[Card, int]:
    """The bits of all cards while ``trump`` is trump."""
    trumps = TRUMPS[trump]
    suits = [suit for suit in TRUMPS if suit != trump]
    plain = {
        card: 1 << 4 * (rank - 1) + suits.index(card[0])
        for card, rank in PLAIN.items()
        if card[0] != trump and card not in trumps
    }
    return plain | {card: 1 << TRUMP_SHIFT + rank - 1 for card, rank in trumps.items()}


BITS: Final[Mapping[str, Mapping[Card, int]]] = {trump: _bits(trump) for trump in TRUMPS}
"""By trump suit: the bit of each card."""
CARDS_OF: Final[Mapping[str, Mapping[int, Card]]] = {
    trump: {bit: card for card, bit in bits.items()} for trump, bits in BITS.items()
}


def flat_pile(trump: str, cards: Sequence[Card]) -> int:
    """The bits of ``cards``, each given once."""
    bits = BITS[trump]
    return sum([bits[card] for card in cards])


# What a deal is played for ---------------------------------------------------------------------------------------


def _lows(trump: str) -> tuple[int, ...]:
    """By the rank of a trump: the one that makes a combination under it, as a bit of the trumps alone, or 0 (H23)."""
    lows = [0] * (len(TRUMPS[trump]) + 2)
    for high, low in PAIRS[trump]:
        lows[TRUMPS[trump][high]] = 1 << TRUMPS[trump][low] - 1
    return tuple(lows)


def _highs(trump: str) -> tuple[int, ...]:
    """By the rank of a trump: the rank of the one that makes a combination over it, or 0."""
    highs = [0] * (len(TRUMPS[trump]) + 2)
    for high, low in PAIRS[trump]:
        highs[TRUMPS[trump][low]] = TRUMPS[trump][high]
    return tuple(highs)


def _stakes(trump: str, which: ConcealedRobai | None) -> tuple[int, ...]:
    """By the rank of the winning trump: what its combination moves before the ninth trick (H24, H25).

    ``which`` move five; None where the Robai was not concealed.
    """
    stakes = [0] * (len(TRUMPS[trump]) + 2)
    robai = native_robai(trump)
    for high, low in PAIRS[trump]:
        five = which is ConcealedRobai.EVERY_COMBINATION or (which is ConcealedRobai.OWN_PAIRS and robai in (high, low))
        stakes[TRUMPS[trump][high]] = POINTS[Stake.CONCEALED if five else Stake.USUAL]
    return tuple(stakes)


NINTH_STAKE: Final = POINTS[Stake.NINTH]


class Terms(Struct, frozen=True, gc=False):
    """What does not change in a deal."""

    dealer: int
    okie: int
    """Its bit."""
    trumps: int
    """All of them, as bits of the trumps alone; the highest is the Sun."""
    robai: int
    """The native Robai's bit."""
    lows: tuple[int, ...]
    highs: tuple[int, ...]
    stakes: tuple[int, ...]
    """While the Robai is not concealed."""
    concealed_stakes: tuple[int, ...]
    suit_first: bool
    """H20, option."""
    discard_any: bool
    """H12, option."""
    ninth_led: bool
    """H21, option."""

    @property
    def sun(self) -> int:
        """The trump Sun, as a bit of the trumps alone."""
        return (self.trumps + 1) >> 1


# The deal --------------------------------------------------------------------------------------------------------


class Flat:
    """A deal under way. ``play`` and its like change it; ``copy`` first."""

    __slots__ = (
        "aside",
        "concealed",
        "count",
        "covered",
        "down",
        "gone",
        "hands",
        "leader",
        "led",
        "lone",
        "meri",
        "monchi",
        "phase",
        "points",
        "settled",
        "taker",
        "terms",
        "top_plain",
        "top_plain_seat",
        "top_trump_seat",
        "tops",
        "turn",
        "void",
    )

    terms: Terms
    phase: int
    """An index into ``PHASES``."""
    turn: int
    """Whose decision is due; during the declaration whoever holds the Robai, for want of one the dealer."""
    hands: list[int]
    """By seat."""
    taker: int
    """Who took the Okie; -1 before."""
    concealed: bool
    """The native Robai is concealed (H25); means something from the opening lead on."""
    aside: int
    """Discard and side cards, shown with the opening lead (H14)."""
    lone: int
    """Seats (as bits) that were dealt the trump Sun as their only trump (H19)."""
    gone: int
    """Cards that everyone has seen: discard and side cards, settled tricks, what lies face up."""
    void: int
    """Seats (as bits) that were seen to answer Meri without a trump."""
    monchi: bool
    settled: int
    """Tricks settled."""
    points: int
    """Of the even seats' team; the odd ones have the settled tricks less these (H26)."""
    leader: int
    """Of the trick in play."""
    count: int
    """Cards in it."""
    meri: bool
    led: int
    """The bits of the suit that was led; 0 for Meri."""
    down: int
    """Seats (as bits) that put a trump face down to it (H17)."""
    covered: int
    """Those trumps."""
    tops: list[int]
    """By team: the highest trump in it, as a bit of the trumps alone; 0 for none."""
    top_trump_seat: int
    top_plain: int
    """The bit of its highest card of the led suit."""
    top_plain_seat: int

    def copy(self) -> Flat:
        """An independent one."""
        new = Flat.__new__(Flat)
        new.terms = self.terms
        new.phase = self.phase
        new.turn = self.turn
        new.hands = self.hands[:]
        new.taker = self.taker
        new.concealed = self.concealed
        new.aside = self.aside
        new.lone = self.lone
        new.gone = self.gone
        new.void = self.void
        new.monchi = self.monchi
        new.settled = self.settled
        new.points = self.points
        new.leader = self.leader
        new.count = self.count
        new.meri = self.meri
        new.led = self.led
        new.down = self.down
        new.covered = self.covered
        new.tops = self.tops[:]
        new.top_trump_seat = self.top_trump_seat
        new.top_plain = self.top_plain
        new.top_plain_seat = self.top_plain_seat
        return new

    # What may be done -----------------------------------------------------------------------------------------

    def playable(self) -> int:
        """The cards that may be discarded or played by whoever's turn it is (H12, H13, H16–H20)."""
        hand = self.hands[self.turn]
        if self.phase == DISCARDING:
            return hand if self.terms.discard_any else (hand & PLAINS or hand)
        if not self.count:
            return (hand & PLAINS or hand) if not self.settled else hand  # H13
        if self.meri:
            trumps = hand >> TRUMP_SHIFT
            if not trumps or (trumps == self.terms.sun and self.lone >> self.turn & 1):
                return hand  # H18, H19
            return trumps << TRUMP_SHIFT
        if self.monchi:  # H20
            suit = hand & self.led
            if suit:
                return suit if self.terms.suit_first else suit | hand >> TRUMP_SHIFT << TRUMP_SHIFT
        return hand  # H16

    def legal(self) -> list[Move]:
        """All moves of whoever's turn it is; none when the deal is over."""
        if self.phase == DECLARING:
            return [PASS, DECLARE] if self.hands[self.turn] & self.terms.robai else [PASS]
        return [] if self.phase == OVER else single(self.playable())

    # What follows ---------------------------------------------------------------------------------------------

    def apply(self, move: Move) -> None:
        """Make a legal move."""
        if self.phase == PLAYING:
            self.play(move)
        elif self.phase == DISCARDING:
            self.discard(move)
        else:
            self.answer(declared=move == DECLARE)

    def answer(self, *, declared: bool) -> None:
        """All pass but perhaps the holder of the Robai; the Okie is taken (H10, H11)."""
        terms = self.terms
        self.concealed = not declared and bool(self.hands[self.turn] & terms.robai)
        self.taker = self.turn if declared else terms.dealer
        self.turn = self.taker
        self.hands[self.taker] |= terms.okie
        self.phase = DISCARDING

    def discard(self, card: int) -> None:
        """Put ``card`` away (H12)."""
        self.hands[self.turn] ^= card
        self.aside |= card
        self.phase = PLAYING

    def play(self, card: int) -> None:
        """Lead or follow (H15–H18), and whatever comes of itself after it."""
        seat = self.turn
        self.hands[seat] ^= card
        trump = card >> TRUMP_SHIFT
        if not self.count:
            self.gone |= self.aside  # H14
            self.leader = seat
            self.meri = trump != 0
            self.led = 0 if trump else SUIT_OF[card]
            self.down = self.covered = 0
            self.tops = [0, 0]
            self.top_plain = 0 if trump else card
            self.top_plain_seat = self.top_trump_seat = seat
        if trump:
            if self.meri:
                self.gone |= card
            else:
                self.down |= 1 << seat
                self.covered |= card
            tops = self.tops
            if trump > tops[seat & 1]:
                tops[seat & 1] = trump
                if trump > tops[1 - (seat & 1)]:
                    self.top_trump_seat = seat
        else:
            self.gone |= card
            if self.meri:
                self.void |= 1 << seat
            elif card & self.led and card > self.top_plain:
                self.top_plain = card
                self.top_plain_seat = seat
        self.count += 1
        if self.count < SEATS:
            self.turn = (seat + 1) % SEATS
        else:
            self._settle()

    def _settle(self) -> None:
        """Settle the full trick; reveal and settle the ninth after the eighth (H21)."""
        terms = self.terms
        high = max(self.tops)
        winner = self.top_trump_seat if high else self.top_plain_seat
        self.settled += 1
        if winner & 1 == 0:
            self.points += 1  # H22
        if high and not self.meri:  # H23–H25
            rank = high.bit_length()
            if self.tops[1 - (winner & 1)] & terms.lows[rank]:
                if self.settled == TRICKS:
                    stake = NINTH_STAKE
                else:
                    stake = (terms.concealed_stakes if self.concealed else terms.stakes)[rank]
                self.points += stake if winner & 1 == 0 else -stake
        self.gone |= self.covered  # H17: they turn up
        self.monchi = self.monchi or self.meri
        self.count = 0
        self.turn = winner
        if self.settled == TRICKS:
            self.phase = OVER
        elif self.settled == TRICKS - 1 and not terms.ninth_led:
            self._reveal()

    def _reveal(self) -> None:
        """The ninth trick: all last cards at once, the dealer's gives the led suit (H21); it is never Meri."""
        self.meri = False
        self.down = self.covered = 0
        self.tops = [0, 0]
        dealer = self.terms.dealer
        self.top_plain = self.hands[dealer] & PLAINS
        self.top_plain_seat = dealer
        self.led = SUIT_OF[self.top_plain] if self.top_plain else 0
        self.gone |= sum(self.hands)
        for seat, card in enumerate(self.hands):
            trump = card >> TRUMP_SHIFT
            if trump:
                if trump > max(self.tops):
                    self.top_trump_seat = seat
                self.tops[seat & 1] = max(trump, self.tops[seat & 1])
            elif card & self.led and card > self.top_plain:
                self.top_plain = card
                self.top_plain_seat = seat
        self.hands = [0] * SEATS
        self._settle()


def single(cards: int) -> list[int]:
    """The cards of a pile, each as a pile of its own, from the lowest."""
    found = []
    while cards:
        lowest = cards & -cards
        found.append(lowest)
        cards ^= lowest
    return found


# From the rules' words -------------------------------------------------------------------------------------------


def terms_of(state: State) -> Terms:
    """What does not change in the deal of ``state``."""
    table = state.table
    trump, rules = table.okie[0], table.rules
    return Terms(
        dealer=table.dealer,
        okie=BITS[trump][table.okie],
        trumps=(1 << len(TRUMPS[trump])) - 1,
        robai=BITS[trump][native_robai(trump)],
        lows=LOWS[trump],
        highs=HIGHS[trump],
        stakes=STAKES[trump, None],
        concealed_stakes=STAKES[trump, rules.concealed_robai],
        suit_first=rules.monchi is Monchi.SUIT_FIRST,
        discard_any=rules.discard is DiscardRule.ANY,
        ninth_led=rules.ninth_trick is NinthTrick.LED,
    )


LOWS: Final = {trump: _lows(trump) for trump in TRUMPS}
HIGHS: Final = {trump: _highs(trump) for trump in TRUMPS}
STAKES: Final = {(trump, which): _stakes(trump, which) for trump in TRUMPS for which in (*ConcealedRobai, None)}


def flat_state(state: State, terms: Terms | None = None) -> Flat:
    """``state`` (which sees everything) as a flat deal; ``terms``, if they are known from another world of the view."""
    table = state.table
    trump = table.okie[0]
    bits = BITS[trump]
    new = Flat.__new__(Flat)
    new.terms = terms or terms_of(state)
    new.phase = PHASES.index(table.phase)
    new.hands = [sum([bits[card] for card in hand]) for hand in state.hands]
    new.taker = -1 if table.taker is None else table.taker
    new.concealed = table.taker is not None and table.side is not None and was_concealed(table)
    new.lone = sum(1 << seat for seat in range(SEATS) if _dealt_lone_sun(state, seat))
    new.monchi = table.monchi
    new.settled = len(table.tricks)
    new.points = table.points[0]
    new.count = 0
    new.leader = new.down = new.covered = new.led = new.top_plain = new.top_plain_seat = new.top_trump_seat = 0
    new.meri = False
    new.tops = [0, 0]
    new.gone = new.void = 0
    assert table.side is not None, "the state sees the side cards"
    new.aside = sum([bits[card] for card in (table.discard, *table.side) if card is not None])
    if table.tricks:
        new.gone |= new.aside
    for trick in table.tricks:
        for place, card in enumerate(trick.cards):
            assert card is not None, "the state sees every card"
            new.gone |= bits[card]
            if trick.meri and not bits[card] >> TRUMP_SHIFT:
                new.void |= 1 << left_of(trick.leader, place)
    if table.turn is not None:
        new.turn = table.turn
    else:
        robai = new.terms.robai
        holders = [seat for seat in range(SEATS) if new.hands[seat] & robai]
        new.turn = holders[0] if holders and table.phase is Phase.DECLARING else table.dealer
    if table.trick is not None:
        _replay(new, state)
    return new


def _replay(flat: Flat, state: State) -> None:
    """The trick in play, card by card."""
    trick = state.table.trick
    assert trick is not None, "there is none"
    turn, bits = flat.turn, BITS[state.table.okie[0]]
    flat.turn = trick.leader
    for card in trick.cards:
        assert card is not None, "the state sees every card"
        flat.hands[flat.turn] |= bits[card]
        flat.play(bits[card])
    assert flat.turn == turn, "the turn goes round"


def _dealt_lone_sun(state: State, seat: int) -> bool:
    """H19, from the seat's dealt nine cards in this world."""
    table = state.table
    trumps = TRUMPS[table.okie[0]]
    hand = state.hands[seat]
    dealt = dealt_nine(table, Seat(seat), hand)
    return [card for card in dealt if card in trumps] == [table.okie[0] + "su"]


def flat_move(action: Action, trump: str) -> Move:
    """``action`` while ``trump`` is trump."""
    match action:
        case Declare():
            return DECLARE
        case Pass():
            return PASS
        case Discard(card=card) | Play(card=card):
            return BITS[trump][card]
