"""A deal as a few integers: what searching players think in.

Belongs here: cards as bits in an order made for counting, the course of a deal on them (rules G4 to G19), the flat
deal that a view amounts to, and drawing the cards that it does not show. Must not be known here: what is worth doing.
The rules themselves are ``rules`` and ``scoring``; this is a second, faster reading of them for looking ahead only,
which tests hold to the first, and nothing that counts is ever decided here.

Cards are single bits, brights lowest, then animals, ribbons, single junk and double junk, each by card id, so that a
pile is cut into kinds by shifting and the junk to be taken (G11) is its lowest bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final, TypeAlias

from msgspec import Struct

from engine.flowers import month
from engine.game import Card
from engine.go_stop import scoring
from engine.go_stop.scoring import ANIMAL_ROW, BRIGHT_ROWS, JUNK_ROW, RIBBON_ROW, after_goes
from engine.go_stop.table import SEATS
from engine.go_stop.types import (
    CARDS,
    DECISION_POINTS,
    FIXED_POINTS,
    PPUKS_TO_WIN,
    Action,
    Choose,
    Go,
    GoBak,
    NagariRule,
    Phase,
    Play,
    SseulRule,
    State,
    Stop,
    Table,
    View,
)

Move: TypeAlias = tuple[int, int]
"""An action: the hand card or 0, and what is taken of the layout: nothing, a card, or a stack's three cards."""

STOP: Final[Move] = (0, 0)
GO: Final[Move] = (0, -1)

# Cards -----------------------------------------------------------------------------------------------------------

_KINDS: Final = (
    scoring.BRIGHTS,
    scoring.ANIMALS,
    scoring.RIBBONS,
    scoring.JUNK & ~scoring.DOUBLE_JUNK,
    scoring.DOUBLE_JUNK,
)
ORDER: Final[tuple[Card, ...]] = tuple(card for pile in _KINDS for card in scoring.cards_of(pile))
"""The cards in the order of their bits."""
BIT: Final[dict[Card, int]] = {card: 1 << place for place, card in enumerate(ORDER)}


def flat_pile(cards: Sequence[Card]) -> int:
    """The bits of ``cards``, each given once."""
    return sum([BIT[card] for card in cards])


ALL: Final = (1 << len(ORDER)) - 1
MONTHS: Final[tuple[int, ...]] = tuple(
    sum(BIT[card] for card in CARDS if month(card) == number) for number in range(1, 13)
)
"""The four cards of each month; month m stands at m - 1."""
MONTH_OF: Final[dict[int, int]] = {bit: MONTHS[month(card) - 1] for card, bit in BIT.items()}
"""By a card's bit: the four cards of its month."""

ANIMAL_SHIFT: Final = scoring.BRIGHTS.bit_count()
RIBBON_SHIFT: Final = ANIMAL_SHIFT + scoring.ANIMALS.bit_count()
JUNK_SHIFT: Final = RIBBON_SHIFT + scoring.RIBBONS.bit_count()
DOUBLE_SHIFT: Final = len(ORDER) - scoring.DOUBLE_JUNK.bit_count()
BRIGHT_MASK: Final = (1 << ANIMAL_SHIFT) - 1
ANIMAL_MASK: Final = (1 << RIBBON_SHIFT - ANIMAL_SHIFT) - 1
RIBBON_MASK: Final = (1 << JUNK_SHIFT - RIBBON_SHIFT) - 1
CUP: Final = BIT[scoring.CUP]

SAME_AS: Final[dict[int, int]] = {
    bit: min(other for other in BIT.values() if other & MONTH_OF[bit] and other >> JUNK_SHIFT)
    if bit >> JUNK_SHIFT and not bit >> DOUBLE_SHIFT
    else bit
    for bit in BIT.values()
}
"""By a card's bit: the card that stands for all that are worth the same (the single junk of a month)."""


# Points ----------------------------------------------------------------------------------------------------------

_RAIN: Final = BIT[scoring.RAIN_BRIGHT]


def _bright_points(brights: int) -> int:
    count, rain = brights.bit_count(), bool(brights & _RAIN)
    rows = [row.points for row in BRIGHT_ROWS if row.count == count and row.with_rain in {None, rain}]
    return rows[0] if rows else 0


class FlatSet(Struct, frozen=True):
    """A combination of particular cards: ``scoring.SetRow``."""

    cards: int
    points: int


def _flat_sets(rows: Sequence[scoring.SetRow]) -> tuple[FlatSet, ...]:
    return tuple([FlatSet(flat_pile(scoring.cards_of(row.cards)), row.points) for row in rows])


GODORI_SETS: Final = _flat_sets((scoring.GODORI_ROW,))
RIBBON_SETS: Final = _flat_sets(scoring.RIBBON_SET_ROWS)


def _set_points(pile: int, sets: Sequence[FlatSet]) -> int:
    return sum([each.points for each in sets if not each.cards & ~pile])


BRIGHT_POINTS: Final = tuple(map(_bright_points, range(BRIGHT_MASK + 1)))
"""By the brights of a pile."""
ANIMAL_POINTS: Final = tuple(
    ANIMAL_ROW.points(animals.bit_count()) + _set_points(animals << ANIMAL_SHIFT, GODORI_SETS)
    for animals in range(ANIMAL_MASK + 1)
)
"""By the animals of a pile, the cup as one of them."""
RIBBON_POINTS: Final = tuple(
    RIBBON_ROW.points(ribbons.bit_count()) + _set_points(ribbons << RIBBON_SHIFT, RIBBON_SETS)
    for ribbons in range(RIBBON_MASK + 1)
)
"""By the ribbons of a pile."""
MOST_JUNK: Final = (len(ORDER) - JUNK_SHIFT) + (len(ORDER) - DOUBLE_SHIFT) + 2
JUNK_POINTS: Final = tuple(map(JUNK_ROW.points, range(MOST_JUNK + 1)))
"""By junk units (G13), the cup's two at most included."""


def junk_units(pile: int) -> int:
    """Junk units without the cup (G13)."""
    return (pile >> JUNK_SHIFT).bit_count() + (pile >> DOUBLE_SHIFT).bit_count()


def cup_gain(pile: int) -> int:
    """By how many points the cup in ``pile`` is worth more as junk than as an animal; 0 on a tie or less (G14)."""
    if not pile & CUP:
        return 0
    units = junk_units(pile)
    animals = (pile >> ANIMAL_SHIFT & ANIMAL_MASK).bit_count()
    lost = ANIMAL_ROW.points(animals) - ANIMAL_ROW.points(animals - 1)
    return max(0, JUNK_POINTS[units + 2] - JUNK_POINTS[units] - lost)


def points(pile: int) -> int:
    """The combination score of ``pile``."""
    units = (pile >> JUNK_SHIFT).bit_count() + (pile >> DOUBLE_SHIFT).bit_count()
    total = (
        BRIGHT_POINTS[pile & BRIGHT_MASK]
        + ANIMAL_POINTS[pile >> ANIMAL_SHIFT & ANIMAL_MASK]
        + RIBBON_POINTS[pile >> RIBBON_SHIFT & RIBBON_MASK]
        + JUNK_POINTS[units]
    )
    # Only with eight units can two more of them make points, so only then can the cup be junk (G14).
    return total + cup_gain(pile) if pile & CUP and units >= JUNK_ROW.least - 2 else total


class Terms(Struct, frozen=True):
    """What options and earlier deals make of payments and sweeps."""

    go_bak: bool
    nagari_factor: int
    broad_sseul: bool
    few_junk: range
    """The loser's junk units against which scored junk pays double."""


def terms_of(table: Table) -> Terms:
    """The terms of the deal at ``table``."""
    doubles = table.options["nagari"] == NagariRule.DOUBLES
    return Terms(
        go_bak=table.options["go_bak"] == GoBak.ON,
        nagari_factor=1 << min(table.carry, scoring.NAGARI_DOUBLINGS) if doubles else 1,
        broad_sseul=table.options["sseul"] == SseulRule.BROAD,
        few_junk=scoring.FEW_JUNK[table.options["junk_doubling"]],
    )


# The deal --------------------------------------------------------------------------------------------------------


class Flat:
    """A deal under way; moves change it. ``copy`` it to try something. Pairs are by seat."""

    __slots__ = (
        "card",
        "go_points",
        "goes",
        "hands",
        "layout",
        "matched",
        "phase",
        "piles",
        "ppuk_stacks",
        "ppuks",
        "revealed",
        "stock",
        "terms",
        "turn",
        "winnings",
    )

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.phase = Phase.PLAY
        self.turn = 0
        self.hands: list[list[int]] = [[], []]
        """In the order of the bits."""
        self.stock: list[int] = []
        """The next card last."""
        self.layout = 0
        """Stacks included, the pending pair not."""
        self.piles = [0, 0]
        self.ppuk_stacks = [0, 0]
        """The months that lie as a ppuk of each player, all four cards' bits."""
        self.ppuks = [0, 0]
        self.goes = [0, 0]
        self.go_points = [0, 0]
        self.card = 0
        """The pending hand card; like ``matched`` and ``revealed`` only between the two steps of a turn."""
        self.matched = 0
        self.revealed = 0
        self.winnings = 0
        """What ``turn`` is paid, once the deal is over; 0 for a draw."""

    def copy(self) -> Flat:
        """Another deal in the same position."""
        twin = Flat.__new__(Flat)
        twin.terms = self.terms
        twin.phase = self.phase
        twin.turn = self.turn
        first, second = self.hands
        twin.hands = [first[:], second[:]]
        twin.stock = self.stock[:]
        twin.layout = self.layout
        twin.piles = self.piles[:]
        twin.ppuk_stacks = self.ppuk_stacks[:]
        twin.ppuks = self.ppuks[:]
        twin.goes = self.goes[:]
        twin.go_points = self.go_points[:]
        twin.card = self.card
        twin.matched = self.matched
        twin.revealed = self.revealed
        twin.winnings = self.winnings
        return twin

    def legal(self) -> list[Move]:
        """Every move that is open (G4, G5, G15, G16)."""
        if self.phase is Phase.PLAY:
            moves: list[Move] = []
            for card in self.hands[self.turn]:
                matched = self.layout & MONTH_OF[card]
                if matched.bit_count() == 2:
                    moves += [(card, matched & -matched), (card, matched & matched - 1)]
                else:
                    moves.append((card, matched))
            return moves
        if self.phase is Phase.CHOOSE:
            matched = self.layout & MONTH_OF[self.revealed]
            return [(0, matched & -matched), (0, matched & matched - 1)]
        if self.phase is Phase.DECIDE:
            return [GO, STOP] if self.hands[self.turn] else [STOP]
        return []

    def apply(self, move: Move) -> None:
        """Perform a legal move and all that follows from it."""
        card, taken = move
        if self.phase is Phase.PLAY:
            self.play(card, taken)
        elif self.phase is Phase.CHOOSE:
            self.settle(taken)
        elif taken:
            self.go()
        else:
            self.stop()

    def play(self, card: int, matched: int) -> None:
        """The hand card (G4), then the stock card (G5), up to a choice or to the end of the turn."""
        self.hands[self.turn].remove(card)
        self.layout ^= matched or card
        self.card = card
        self.matched = matched
        self.revealed = revealed = self.stock.pop()
        found = self.layout & MONTH_OF[revealed]
        if found & found - 1 and found.bit_count() == 2:
            self.phase = Phase.CHOOSE
        else:
            self.settle(found)

    def settle(self, stock_matched: int) -> None:
        """Settle the turn's captures after both steps (G5 to G12)."""
        seat, piles, card, matched, revealed = self.turn, self.piles, self.card, self.matched, self.revealed
        whole_month = MONTH_OF[card]
        same_month = revealed & whole_month
        if same_month and matched and not stock_matched:  # ppuk (G6)
            self.layout |= card | matched | revealed
            self.ppuk_stacks[seat] |= whole_month
            self.ppuks[seat] += 1
            if self.ppuks[seat] == PPUKS_TO_WIN:  # G12
                self.phase = Phase.OVER
                self.winnings = FIXED_POINTS
            else:
                self._pass_on()
            return
        captured = card | matched if matched else 0
        if stock_matched:
            captured |= revealed | stock_matched
            self.layout ^= stock_matched
        else:
            self.layout |= revealed
        if not captured:
            self._pass_on()
            return
        piles[seat] |= captured
        if matched & matched - 1:  # a stack (G10)
            self._settle_stack(whole_month)
        if stock_matched & stock_matched - 1:
            self._settle_stack(MONTH_OF[revealed])
        if self.hands[seat]:  # G9: not in a player's last turn
            if same_month:
                self._take_junk(1)  # ttadak, or else chok (G6, G7)
            if not self.layout and (
                self.terms.broad_sseul
                or (not same_month and matched.bit_count() == 1 and stock_matched.bit_count() == 1)  # G8
            ):
                self._take_junk(1)
        if points(piles[seat]) >= max(DECISION_POINTS, self.go_points[seat] + 1):  # G15
            self.phase = Phase.DECIDE
        else:
            self._pass_on()

    def _settle_stack(self, whole_month: int) -> None:
        """Take junk for a captured stack (G10)."""
        own = self.ppuk_stacks[self.turn] & whole_month
        self.ppuk_stacks[0] &= ~whole_month
        self.ppuk_stacks[1] &= ~whole_month
        self._take_junk(2 if own else 1)

    def _take_junk(self, owed: int) -> None:
        """Take ``owed`` units from the other player (G11)."""
        seat, piles = self.turn, self.piles
        while owed > 0:
            junk = piles[1 - seat] >> JUNK_SHIFT
            if not junk:
                return
            taken = (junk & -junk) << JUNK_SHIFT
            piles[1 - seat] ^= taken
            piles[seat] |= taken
            owed -= 2 if taken >> DOUBLE_SHIFT else 1

    def _pass_on(self) -> None:
        """The other player's turn, or nagari (G19)."""
        if self.hands[1 - self.turn]:
            self.turn = 1 - self.turn
            self.phase = Phase.PLAY
        else:
            self.phase = Phase.OVER

    def go(self) -> None:
        """Call go (G15)."""
        seat = self.turn
        self.goes[seat] += 1
        self.go_points[seat] = points(self.piles[seat])
        self._pass_on()

    def stop(self) -> None:
        """Stop and be paid (G17)."""
        self.winnings = self.paid()
        self.phase = Phase.OVER

    def paid(self) -> int:
        """What a stop would pay whose turn it is (G17, G18 and options)."""
        seat, terms = self.turn, self.terms
        pile, loser = self.piles[seat], self.piles[1 - seat]
        paid = after_goes(points(pile), self.goes[seat])
        as_junk = cup_gain(pile) > 0
        if (pile & BRIGHT_MASK).bit_count() >= 3 and not loser & BRIGHT_MASK:
            paid *= 2
        if (pile >> ANIMAL_SHIFT & ANIMAL_MASK).bit_count() - as_junk >= scoring.SEVEN_ANIMALS:
            paid *= 2
        if (
            junk_units(pile) + 2 * as_junk >= JUNK_ROW.least
            and junk_units(loser) + 2 * bool(loser & CUP) in terms.few_junk
        ):
            paid *= 2
        if terms.go_bak and self.goes[1 - seat]:
            paid *= 2
        return paid * terms.nagari_factor


# From the rules' shapes ------------------------------------------------------------------------------------------


def flat_table(table: Table) -> Flat:
    """What is public; hands and stock are empty."""
    flat = Flat(terms_of(table))
    flat.phase = table.phase
    flat.turn = table.turn
    flat.layout = flat_pile(table.layout)
    flat.piles = [flat_pile(table.captured[seat]) for seat in SEATS]
    flat.ppuk_stacks = [
        sum([MONTHS[stack.month - 1] for stack in table.stacks if stack.owner == seat]) for seat in SEATS
    ]
    flat.ppuks = list(table.ppuks)
    flat.goes = list(table.goes)
    flat.go_points = list(table.go_points)
    if table.pending is not None:
        assert table.pending.revealed is not None, "a turn rests only where a stock card has a choice"
        flat.card = BIT[table.pending.card]
        flat.matched = flat_pile(table.pending.matched)
        flat.revealed = BIT[table.pending.revealed]
    return flat


def flat_state(state: State) -> Flat:
    """The whole truth of a deal."""
    flat = flat_table(state.table)
    flat.hands = [sorted(BIT[card] for card in hand) for hand in state.hands]
    flat.stock = [BIT[card] for card in reversed(state.stock)]
    return flat


def flat_move(action: Action, layout: int) -> Move:
    """``action`` where the cards ``layout`` lie on the table."""
    match action:
        case Play(card, None):
            return BIT[card], layout & MONTH_OF[BIT[card]]
        case Play(card, take) if take is not None:
            return BIT[card], BIT[take]
        case Choose(take):
            return 0, BIT[take]
        case Go():
            return GO
        case Stop():
            return STOP
        case _:
            raise AssertionError(f"not an action of go-stop: {action!r}")


class Seen:
    """A player's view as a flat deal, from which the cards that it does not show can be drawn."""

    def __init__(self, view: View) -> None:
        assert view.viewer is not None, "a spectator has nothing to search"
        assert view.hand is not None, "a seat sees its own hand"
        self.me = view.viewer
        self.rival = 1 - self.me
        self.table = flat_table(view.table)
        self.table.hands[self.me] = sorted(BIT[card] for card in view.hand)
        shown = flat_pile(view.hand) | self.table.layout | self.table.piles[0] | self.table.piles[1]
        if self.table.revealed:
            shown |= self.table.card | self.table.matched | self.table.revealed
        self.unseen: list[int] = [bit for card, bit in BIT_BY_ID if not bit & shown]
        self.rival_cards = view.table.hand_sizes[self.rival]
        """How many cards the other player holds."""
        held = len(view.hand)
        assert len(self.unseen) == held + 2 * self.rival_cards, "there is a stock card for every hand card"
        hidden, played = sum(self.unseen), flat_pile(view.table.played[self.rival])
        rests = [whole_month & ~played for whole_month in MONTHS]
        self.impossible: tuple[int, ...] = tuple(rest for rest in rests if not rest & ~hidden)
        """Cards that the other player cannot hold together: with those played since they would have been a month
        dealt to one hand, which would have ended the deal (G2).
        """

    def sample(self, rng: Random) -> Flat:
        """As ``sight.resample``, and the same world for the same generator."""
        hidden, held = self.unseen[:], self.rival_cards
        while True:
            rng.shuffle(hidden)
            hand = sum(hidden[:held])
            if not any(not rest & ~hand for rest in self.impossible):
                break
        world = self.table.copy()
        world.hands[self.rival] = sorted(hidden[:held])
        world.stock = hidden[: held - 1 if held else None : -1]
        return world


BIT_BY_ID: Final[tuple[tuple[Card, int], ...]] = tuple((card, BIT[card]) for card in CARDS)
"""The cards' bits in card-id order."""
