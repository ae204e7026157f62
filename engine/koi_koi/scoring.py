"""What captured cards are worth: the yaku as tables, and the few functions that read them.

Belongs here: cards as bits, yaku, points, doublings. The rules that people read are written from these tables. Must
not be known here: whose turn it is. A set of cards is a 48-bit integer (a *mask*, bit i = card i in card-id order), so
that a search can score without building anything: ``total(mask, rules)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from engine.flowers import Kind, flower_deck, kind
from engine.game import Card
from engine.koi_koi.types import Doubling, Made, PointTable, Rules, Standing, Viewing, Yaku

CARDS: Final = flower_deck(november="barp", december="bpqs")
"""The deck in card-id order: November is willow with the rain man (``11b``), December is paulownia."""

BIT: Final[Mapping[Card, int]] = {card: 1 << place for place, card in enumerate(CARDS)}
"""Each card as a mask of its own."""


def mask_of(cards: Iterable[Card]) -> int:
    """The mask of ``cards``, each given once."""
    return sum(map(BIT.__getitem__, cards))


def cards_of(mask: int) -> tuple[Card, ...]:
    """The cards of ``mask`` in card-id order."""
    return tuple(card for card, bit in BIT.items() if mask & bit)


def _mask_of_kind(wanted: Kind) -> int:
    return mask_of(card for card in CARDS if kind(card) is wanted)


# The tables ---------------------------------------------------------------------------------------------------

SAKE_CUP: Final = Card("09a")
"""An animal *and* a plain (K7)."""
RAIN_MAN: Final = Card("11b")

BRIGHTS: Final = _mask_of_kind(Kind.BRIGHT)
ANIMALS: Final = _mask_of_kind(Kind.ANIMAL)
RIBBONS: Final = _mask_of_kind(Kind.RIBBON)
PLAINS: Final = _mask_of_kind(Kind.PLAIN) | BIT[SAKE_CUP]


class SetYaku(Struct, frozen=True):
    """A yaku made by particular cards."""

    yaku: Yaku
    cards: int
    """A mask."""


class CountYaku(Struct, frozen=True):
    """A yaku made by ``least`` cards out of ``cards``; every further one is worth a point more."""

    yaku: Yaku
    cards: int
    """A mask."""
    least: int


SETS: Final = (
    SetYaku(Yaku.BOAR_DEER_BUTTERFLY, mask_of((Card("07a"), Card("10a"), Card("06a")))),
    SetYaku(Yaku.POETRY_RIBBONS, mask_of((Card("01r"), Card("02r"), Card("03r")))),
    SetYaku(Yaku.BLUE_RIBBONS, mask_of((Card("06r"), Card("09r"), Card("10r")))),
)
COUNTS: Final = (
    CountYaku(Yaku.ANIMALS, ANIMALS, 5),
    CountYaku(Yaku.RIBBONS, RIBBONS, 5),
    CountYaku(Yaku.PLAINS, PLAINS, 10),
)
VIEWING_SETS: Final = (
    SetYaku(Yaku.FLOWER_VIEWING, mask_of((Card("03b"), SAKE_CUP))),
    SetYaku(Yaku.MOON_VIEWING, mask_of((Card("08b"), SAKE_CUP))),
)
"""Only with the option ``viewing``."""

_HOUSE: Final[Mapping[Yaku, int]] = {
    Yaku.FIVE_BRIGHTS: 15,
    Yaku.FOUR_BRIGHTS: 10,
    Yaku.RAINY_FOUR_BRIGHTS: 8,
    Yaku.THREE_BRIGHTS: 6,
    Yaku.BOAR_DEER_BUTTERFLY: 5,
    Yaku.POETRY_RIBBONS: 6,
    Yaku.BLUE_RIBBONS: 6,
    Yaku.ANIMALS: 1,
    Yaku.RIBBONS: 1,
    Yaku.PLAINS: 1,
    Yaku.FLOWER_VIEWING: 5,
    Yaku.MOON_VIEWING: 5,
}
_NINTENDO: Final[Mapping[Yaku, int]] = {
    **_HOUSE,
    Yaku.FIVE_BRIGHTS: 10,
    Yaku.FOUR_BRIGHTS: 8,
    Yaku.RAINY_FOUR_BRIGHTS: 7,
    Yaku.THREE_BRIGHTS: 5,
    Yaku.POETRY_RIBBONS: 5,
    Yaku.BLUE_RIBBONS: 5,
}
POINTS: Final[Mapping[PointTable, Mapping[Yaku, int]]] = {PointTable.HOUSE: _HOUSE, PointTable.NINTENDO: _NINTENDO}
"""What each yaku is worth, by the option ``points``; a ``CountYaku`` with the least number of cards."""

SEVEN: Final = 7
"""From this total on ``seven_doubles`` doubles."""

OPENING_SCORE: Final = 6
"""What a hand with four of a month or four pairs scores, once, even for both (K2)."""


# Reading them -------------------------------------------------------------------------------------------------


def bright_yaku(mask: int) -> Yaku | None:
    """The highest bright yaku among the cards of ``mask``; only that one counts (K7)."""
    rain = bool(mask & BIT[RAIN_MAN])
    match (mask & BRIGHTS).bit_count():
        case 5:
            return Yaku.FIVE_BRIGHTS
        case 4:
            return Yaku.RAINY_FOUR_BRIGHTS if rain else Yaku.FOUR_BRIGHTS
        case 3 if not rain:
            return Yaku.THREE_BRIGHTS
        case _:
            return None


def yaku_in(mask: int, rules: Rules) -> list[tuple[Yaku, int, int]]:
    """Each yaku among the cards of ``mask`` with its points and the mask of the cards that count for it."""
    points = POINTS[rules.points]
    bright = bright_yaku(mask)
    found = [] if bright is None else [(bright, points[bright], mask & BRIGHTS)]
    found += [(each.yaku, points[each.yaku], each.cards) for each in SETS if mask & each.cards == each.cards]
    for count in COUNTS:
        surplus = (mask & count.cards).bit_count() - count.least
        if surplus >= 0:
            found.append((count.yaku, points[count.yaku] + surplus, mask & count.cards))
    # `with-another`: the two viewings do not count for each other; some third yaku must stand beside them.
    if rules.viewing is Viewing.ON or (rules.viewing is Viewing.WITH_ANOTHER and found):
        found += [
            (each.yaku, points[each.yaku], each.cards) for each in VIEWING_SETS if mask & each.cards == each.cards
        ]
    return found


def total(mask: int, rules: Rules) -> int:
    """The sum of all yaku among the cards of ``mask`` (K7)."""
    return sum(points for _, points, _ in yaku_in(mask, rules))


def doublings(points: int, rules: Rules, opponent_calls: int) -> tuple[Doubling, ...]:
    """What doubles a stop with ``points`` in all, when the other player has called ``opponent_calls`` times."""
    reasons = []
    if rules.seven_doubles and points >= SEVEN:
        reasons.append(Doubling.SEVEN_OR_MORE)
    if rules.opponent_call_doubles and opponent_calls and points:
        reasons.append(Doubling.OPPONENT_CALLED)
    return tuple(reasons)


def settled(yaku: tuple[Made, ...], rules: Rules, opponent_calls: int) -> Standing:
    """What a stop with ``yaku`` would score, when the other player has called ``opponent_calls`` times."""
    points = sum(each.points for each in yaku)
    reasons = doublings(points, rules, opponent_calls)
    return Standing(yaku, points, reasons, points << len(reasons))


def standing(captured: Iterable[Card], rules: Rules, opponent_calls: int) -> Standing:
    """What the cards in ``captured`` are worth, when the other player has called ``opponent_calls`` times."""
    found = yaku_in(mask_of(captured), rules)
    return settled(tuple(Made(yaku, points, cards_of(cards)) for yaku, points, cards in found), rules, opponent_calls)
