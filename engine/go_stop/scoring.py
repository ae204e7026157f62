"""What captured cards are worth: the combinations as tables, and the few functions that read them.

Belongs here: cards as bits, combinations, junk units, payments. The rules that people read are written from these
tables. Must not be known here: whose turn it is. A set of cards is a 48-bit integer (a *pile*, bit i = card i in
card-id order), so that a search can score without building anything: ``points(pile)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from engine.flowers import Kind, kind
from engine.game import Card, Options, OptionValue
from engine.go_stop.types import (
    CARDS,
    Combination,
    Combo,
    Doubling,
    DoublingReason,
    GoBak,
    JunkDoubling,
    NagariRule,
    Payment,
    Score,
)

BIT: Final[Mapping[Card, int]] = {card: 1 << place for place, card in enumerate(CARDS)}
"""Each card as a pile of its own."""


def pile_of(cards: Iterable[Card]) -> int:
    """The pile of ``cards``, each given once."""
    return sum([BIT[card] for card in cards])


def cards_of(pile: int) -> tuple[Card, ...]:
    """The cards of ``pile`` in card-id order."""
    return tuple(card for card, bit in BIT.items() if pile & bit)


def _pile(codes: str) -> int:
    return pile_of(map(Card, codes.split()))


def _pile_of_kind(wanted: Kind) -> int:
    return pile_of(card for card in CARDS if kind(card) is wanted)


# The tables ------------------------------------------------------------------------------------------------------

CUP: Final = Card("09a")
"""An animal or a double junk (G14)."""
RAIN_BRIGHT: Final = Card("12b")
CUP_PILE: Final = BIT[CUP]

BRIGHTS: Final = _pile_of_kind(Kind.BRIGHT)
ANIMALS: Final = _pile_of_kind(Kind.ANIMAL)
"""The cup among them (G14)."""
RIBBONS: Final = _pile_of_kind(Kind.RIBBON)
"""The December ribbon counts here and is in no set (G13)."""
JUNK: Final = _pile_of_kind(Kind.PLAIN)
"""What can be taken (G11): the cup is not among it."""
DOUBLE_JUNK: Final = _pile("11p 12p")
"""Two units each (G13)."""


class BrightRow(Struct, frozen=True):
    """Of the bright combinations only the highest counts."""

    name: Combo
    count: int
    with_rain: bool | None
    """Whether the rain bright has to be among them; None: it makes no difference."""
    points: int


class SetRow(Struct, frozen=True):
    """A combination of particular cards."""

    name: Combo
    cards: int
    """A pile."""
    points: int


class CountRow(Struct, frozen=True):
    """``least`` of a kind are worth a point, every further one a point more."""

    name: Combo
    least: int

    def points(self, count: int) -> int:
        """What ``count`` (cards; of junk, units) are worth."""
        return max(0, count - self.least + 1)


BRIGHT_ROWS: Final = (
    BrightRow(Combo.FIVE_BRIGHTS, 5, None, 15),
    BrightRow(Combo.FOUR_BRIGHTS, 4, None, 4),
    BrightRow(Combo.THREE_BRIGHTS, 3, with_rain=False, points=3),
    BrightRow(Combo.RAIN_THREE_BRIGHTS, 3, with_rain=True, points=2),
)
ANIMAL_ROW: Final = CountRow(Combo.ANIMALS, 5)
GODORI_ROW: Final = SetRow(Combo.GODORI, _pile("02a 04a 08a"), 5)
RIBBON_ROW: Final = CountRow(Combo.RIBBONS, 5)
RIBBON_SET_ROWS: Final = (
    SetRow(Combo.RED_POETRY, _pile("01r 02r 03r"), 3),
    SetRow(Combo.BLUE, _pile("06r 09r 10r"), 3),
    SetRow(Combo.PLAIN_RED, _pile("04r 05r 07r"), 3),
)
SET_ROWS: Final = (GODORI_ROW, *RIBBON_SET_ROWS)
JUNK_ROW: Final = CountRow(Combo.JUNK, 10)

SEVEN_ANIMALS: Final = 7
"""So many animals double the payment (G18)."""
FEW_JUNK: Final[Mapping[OptionValue, range]] = {
    JunkDoubling.UNDER_FIVE: range(5),
    JunkDoubling.ONE_TO_SEVEN: range(1, 8),
}
"""The loser's junk units against which scored junk doubles the payment (G18, option ``junk_doubling``)."""
NAGARI_DOUBLINGS: Final = 3
"""The payment is doubled for at most so many nagari: ×8 (option ``nagari``)."""


# Combinations ----------------------------------------------------------------------------------------------------


def junk_units(pile: int) -> int:
    """Junk units without the cup: coloured November and December junk are two each (G13)."""
    return (pile & JUNK).bit_count() + (pile & DOUBLE_JUNK).bit_count()


def cup_is_junk(pile: int) -> bool:
    """Whether the cup in ``pile`` makes the higher score as a double junk; on a tie it is an animal (G14)."""
    if not pile & CUP_PILE:
        return False
    animals = (pile & ANIMALS).bit_count()
    units = junk_units(pile)
    as_animal = ANIMAL_ROW.points(animals) + JUNK_ROW.points(units)
    as_junk = ANIMAL_ROW.points(animals - 1) + JUNK_ROW.points(units + 2)
    return as_junk > as_animal


def _bright_row(pile: int) -> BrightRow | None:
    count = (pile & BRIGHTS).bit_count()
    if count < 3:
        return None
    with_rain = bool(pile & BIT[RAIN_BRIGHT])
    return next(row for row in BRIGHT_ROWS if row.count == count and row.with_rain in {None, with_rain})


def score(pile: int) -> Score:
    """The combinations of a player's captured cards, with the cup judged (G14)."""
    junk_cup = cup_is_junk(pile)
    found: list[Combination] = []
    brights = _bright_row(pile)
    if brights is not None:
        found.append(Combination(brights.name, brights.points, brights.count))
    animals = (pile & ANIMALS).bit_count() - junk_cup
    if animals >= ANIMAL_ROW.least:
        found.append(Combination(Combo.ANIMALS, ANIMAL_ROW.points(animals), animals))
    if pile & GODORI_ROW.cards == GODORI_ROW.cards:
        found.append(Combination(Combo.GODORI, GODORI_ROW.points, 3))
    ribbons = (pile & RIBBONS).bit_count()
    if ribbons >= RIBBON_ROW.least:
        found.append(Combination(Combo.RIBBONS, RIBBON_ROW.points(ribbons), ribbons))
    found += [Combination(row.name, row.points, 3) for row in RIBBON_SET_ROWS if pile & row.cards == row.cards]
    units = junk_units(pile) + 2 * junk_cup
    if units >= JUNK_ROW.least:
        found.append(Combination(Combo.JUNK, JUNK_ROW.points(units), units))
    return Score(tuple(found), sum([combination.points for combination in found]), junk_cup)


NO_SCORE: Final = score(0)


def points(pile: int) -> int:
    """``score(pile).points``: the combination score alone."""
    return score(pile).points


def gains(before: Score, after: Score) -> tuple[Combo, ...]:
    """The combinations of ``after`` that ``before`` has not, or not as dear."""
    had = {combination.name: combination.points for combination in before.combinations}
    return tuple(each.name for each in after.combinations if each.points > had.get(each.name, 0))


# Payment ---------------------------------------------------------------------------------------------------------


def after_goes(points_scored: int, goes: int) -> int:
    """The combination score with the goes counted: +1 for each up to two, from the third on ×2 for each (G17)."""
    return points_scored + goes if goes < 3 else points_scored * 2 ** (goes - 2)


def payment(options: Options, *, winner: int, loser: int, goes: int, loser_goes: int, carry: int) -> Payment:
    """What a stop pays (G17, G18, options ``go_bak``, ``nagari`` and ``junk_doubling``).

    Args:
        options: Complete ones.
        winner: The pile of the player who stops.
        loser: The other player's pile.
        goes: How often the winner had called go.
        loser_goes: How often the loser had.
        carry: Nagari standing from the deals before.
    """
    won = score(winner)
    names = {combination.name for combination in won.combinations}
    doublings: list[Doubling] = []
    if not names.isdisjoint(row.name for row in BRIGHT_ROWS) and not loser & BRIGHTS:
        doublings.append(Doubling(DoublingReason.NO_BRIGHTS))
    if (winner & ANIMALS).bit_count() - won.cup_is_junk >= SEVEN_ANIMALS:
        doublings.append(Doubling(DoublingReason.SEVEN_ANIMALS))
    # The loser's cup counts two units here, whatever it counts as for them (G18).
    loser_units = junk_units(loser) + 2 * bool(loser & CUP_PILE)
    if Combo.JUNK in names and loser_units in FEW_JUNK[options["junk_doubling"]]:
        doublings.append(Doubling(DoublingReason.FEW_JUNK))
    if options["go_bak"] == GoBak.ON and loser_goes:
        doublings.append(Doubling(DoublingReason.GO_BAK))
    if options["nagari"] == NagariRule.DOUBLES and carry:
        doublings.append(Doubling(DoublingReason.NAGARI, 2 ** min(carry, NAGARI_DOUBLINGS)))
    basis = after_goes(won.points, goes)
    paid = basis
    for doubling in doublings:
        paid *= doubling.factor
    return Payment(score=won, goes=goes, after_goes=basis, doublings=tuple(doublings), points=paid)


# Junk that changes hands -----------------------------------------------------------------------------------------


def junk_to_take(cards: Iterable[Card], owed: int) -> tuple[Card, ...]:
    """Which of the other player's ``cards`` pay ``owed`` junk units: one at a time, single before double junk,
    then by card id, until the units are reached or no junk is left; never the cup (G11).
    """
    junk = [card for card in cards if BIT[card] & JUNK]
    junk.sort(key=lambda card: (BIT[card] & DOUBLE_JUNK != 0, BIT[card]))
    taken: list[Card] = []
    while owed > 0 and junk:
        card = junk.pop(0)
        owed -= 2 if BIT[card] & DOUBLE_JUNK else 1
        taken.append(card)
    return tuple(taken)
