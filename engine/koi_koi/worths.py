"""What piles of cards are worth to the playouts of a search, as tables.

Belongs here: how cards are numbered for search, totals read out of ``scoring``, and the weights by which playouts
choose. Must not be known here: the course of a deal.

A set of cards is a mask, but in an order of its own in which each kind lies together: five brights, nine animals with
the sake cup first, ten ribbons, twenty-four plains. What a pile is worth is then a sum of four look-ups. A *total* is
what the rules say, in points. A *worth* is a judgement, in hundredths of a point: the total, and a share of the
points of every yaku that the pile is on the way to and that the other player has not broken.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from msgspec import Struct

from engine.game import Card
from engine.koi_koi import scoring
from engine.koi_koi.scoring import ANIMALS, BRIGHTS, PLAINS, RAIN_MAN, RIBBONS, SAKE_CUP, SETS, cards_of
from engine.koi_koi.types import Rules, Viewing, Yaku

# Numbering ----------------------------------------------------------------------------------------------------

_NAMED: Final = {each.yaku: cards_of(each.cards) for each in SETS}
PLACES: Final[tuple[Card, ...]] = tuple(
    dict.fromkeys(
        (
            *(card for card in cards_of(BRIGHTS) if card != RAIN_MAN),
            RAIN_MAN,
            SAKE_CUP,
            *_NAMED[Yaku.BOAR_DEER_BUTTERFLY],
            *cards_of(ANIMALS),
            *_NAMED[Yaku.POETRY_RIBBONS],
            *_NAMED[Yaku.BLUE_RIBBONS],
            *cards_of(RIBBONS),
            *cards_of(PLAINS),
        )
    )
)
"""The cards in search order: within each kind those that a yaku names come first."""
PLACE: Final = {card: place for place, card in enumerate(PLACES)}
BIT: Final = {card: 1 << place for card, place in PLACE.items()}
MONTH: Final = {bit: sum(BIT[each] for each in PLACES if each[:2] == card[:2]) for card, bit in BIT.items()}
"""For each card, as a mask, all four cards of its month."""


def mask_of(cards: Iterable[Card]) -> int:
    """The mask, in search order, of ``cards``, each given once."""
    return sum([BIT[card] for card in cards])


LOW: Final = 0b111111
"""The brights and the sake cup: what brights and viewings are made of."""
DRY, RAINY = 0b1111, 0b11111
"""The brights without and with the rain man."""
ANIMAL, TRIPLE, RIBBON = 5, 6, 14
"""Where the animals begin; boar, deer and butterfly; the ribbons (poetry first, then blue)."""
PLAIN: Final = mask_of(cards_of(PLAINS))

# Judgement ----------------------------------------------------------------------------------------------------

POINT: Final = 100
"""A point, as worths count."""
PART: Final = 256
"""One, as shares count."""

NEAR: Final = (0.35, 0.35, 0.1)
"""What being on the way to a yaku of particular cards is worth, as a share of its points, by the number of cards
missing. Who has made it keeps what being near was worth: its points come on top.
"""
COUNT_STEP: Final = 0.65
"""The same for yaku that count cards: each card on the way is worth this power of the number missing before it."""

DENY: Final = 0.5
"""What taking a card that the other player could use is worth, as a share of its worth to them."""
GIFT: Final = 0.6
"""What laying down such a card costs, likewise."""
LOSS: Final = 0.4
"""What laying down a card that one could use oneself costs, if the other player takes it."""
REACH: Final = (0.0, 0.45, 0.7, 0.85)
"""How likely the other player can take a card from the board, by how many cards of its month are out of sight."""


class Worths(Struct, frozen=True):
    """The tables under some rules. An index is a part of a pile's mask, shifted down; ``plain`` goes by number."""

    total_low: tuple[int, ...]
    total_animal: tuple[int, ...]
    total_ribbon: tuple[int, ...]
    total_plain: tuple[int, ...]
    total_beside: tuple[int, ...]
    """By the low part: what the viewings add where there is some other yaku (``with-another``)."""
    low: tuple[tuple[int, ...], ...]
    """By the other player's low part, then by one's own."""
    animal: tuple[tuple[int, ...], ...]
    """By which of boar, deer and butterfly the other player has, then by one's own animals."""
    ribbon: tuple[tuple[int, ...], ...]
    """By whether the other player has a poetry (1) or a blue ribbon (2), then by one's own ribbons."""
    plain: tuple[int, ...]
    reach: tuple[int, ...]
    deny: int
    gift: int
    loss: int
    packed: bytes
    """All of it, as the kernel reads it."""

    def total(self, pile: int) -> int:
        """The sum of all yaku in ``pile``, in points (K7)."""
        points = (
            self.total_low[pile & LOW]
            + self.total_animal[pile >> ANIMAL & 511]
            + self.total_ribbon[pile >> RIBBON & 1023]
            + self.total_plain[(pile & PLAIN).bit_count()]
        )
        return points + self.total_beside[pile & LOW] if points else 0

    def against(self, theirs: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """The tables for one's own pile (low, animal, ribbon, plain) when the other player's is ``theirs``."""
        broken = bool(theirs >> RIBBON & 7) + 2 * bool(theirs >> RIBBON + 3 & 7)
        return self.low[theirs & LOW], self.animal[theirs >> TRIPLE & 7], self.ribbon[broken], self.plain

    def worth(self, pile: int, theirs: int) -> int:
        """What ``pile`` is worth when the other player's is ``theirs``, in hundredths of a point."""
        low, animal, ribbon, plain = self.against(theirs)
        return (
            low[pile & LOW]
            + animal[pile >> ANIMAL & 511]
            + ribbon[pile >> RIBBON & 1023]
            + plain[(pile & PLAIN).bit_count()]
        )


def _total(pile: int, rules: Rules) -> int:
    return scoring.total(scoring.mask_of(card for card, bit in BIT.items() if pile & bit), rules)


def _plains(number: int) -> int:
    return mask_of(cards_of(PLAINS)[:number])


class _Judge:
    """What being on the way is worth under some rules, in points. Arguments are parts of piles, shifted down."""

    def __init__(self, rules: Rules) -> None:
        self.points = scoring.POINTS[rules.points]
        self.viewings = () if rules.viewing is Viewing.OFF else scoring.VIEWING_SETS

    def low(self, mine: int, theirs: int) -> float:
        """Bright yaku, each for what it adds to the one below it, and the viewings."""
        worth = 0.0
        for yaku, below, cards, least in (
            (Yaku.THREE_BRIGHTS, None, DRY, 3),
            (Yaku.RAINY_FOUR_BRIGHTS, Yaku.THREE_BRIGHTS, RAINY, 4),
            (Yaku.FOUR_BRIGHTS, Yaku.THREE_BRIGHTS, DRY, 4),
            (Yaku.FIVE_BRIGHTS, Yaku.FOUR_BRIGHTS, RAINY, 5),
        ):
            missing = max(0, least - (mine & cards).bit_count())
            if (cards & ~theirs).bit_count() >= least and missing < len(NEAR):
                worth += NEAR[missing] * (self.points[yaku] - (self.points[below] if below else 0))
        return worth + sum(self.cards(each.yaku, mask_of(cards_of(each.cards)), mine, theirs) for each in self.viewings)

    def animal(self, mine: int, theirs: int) -> float:
        """``theirs``: which of boar, deer and butterfly they have."""
        return self.cards(Yaku.BOAR_DEER_BUTTERFLY, 0b1110, mine, theirs << 1) + self.count(
            Yaku.ANIMALS, mine.bit_count()
        )

    def ribbon(self, mine: int, broken: int) -> float:
        """``broken``: 1 if they have a poetry ribbon, 2 if a blue one."""
        sets = ((Yaku.POETRY_RIBBONS, 0b111, broken & 1), (Yaku.BLUE_RIBBONS, 0b111_000, broken & 2))
        named = sum(0.0 if lost else self.cards(yaku, cards, mine, 0) for yaku, cards, lost in sets)
        return named + self.count(Yaku.RIBBONS, mine.bit_count())

    def cards(self, yaku: Yaku, cards: int, mine: int, theirs: int) -> float:
        """A yaku of particular cards."""
        missing = (cards & ~mine).bit_count()
        return 0.0 if cards & theirs or missing >= len(NEAR) else NEAR[missing] * self.points[yaku]

    @staticmethod
    def count(yaku: Yaku, had: int) -> float:
        """A yaku that counts cards: its first point, card by card."""
        (least,) = (each.least for each in scoring.COUNTS if each.yaku is yaku)
        return sum(COUNT_STEP**missing for missing in range(least, max(1, least - had), -1))


def _hundredths(points: float) -> int:
    return round(POINT * points)


def _part(share: float) -> int:
    return round(PART * share)


def _numbers(nested: Iterable[Any]) -> Iterator[int]:
    for each in nested:
        if isinstance(each, int):
            yield each
        else:
            yield from _numbers(each)


def worths_for(rules: Rules) -> Worths:
    """The tables for ``rules``, made once for all that have the same yaku and points."""
    return _made(Rules(viewing=rules.viewing, points=rules.points))


@cache
def _made(rules: Rules) -> Worths:
    alone = Rules(points=rules.points)
    with_viewings = Rules(points=rules.points, viewing=Viewing.ON)
    low_rules = with_viewings if rules.viewing is Viewing.ON else alone
    beside = rules.viewing is Viewing.WITH_ANOTHER
    judge = _Judge(rules)
    totals = (
        tuple([_total(low, low_rules) for low in range(64)]),
        tuple([_total(animals << ANIMAL, alone) for animals in range(512)]),
        tuple([_total(ribbons << RIBBON, alone) for ribbons in range(1024)]),
        tuple([_total(_plains(number), alone) for number in range(PLAIN.bit_count() + 1)]),
        tuple([_total(low, with_viewings) - _total(low, alone) if beside else 0 for low in range(64)]),
    )
    low, animal, ribbon, plain, _ = totals
    worths = (
        tuple(
            [tuple([_hundredths(low[mine] + judge.low(mine, theirs)) for mine in range(64)]) for theirs in range(64)]
        ),
        tuple(
            [tuple([_hundredths(animal[mine] + judge.animal(mine, had)) for mine in range(512)]) for had in range(8)]
        ),
        tuple(
            [tuple([_hundredths(ribbon[mine] + judge.ribbon(mine, had)) for mine in range(1024)]) for had in range(4)]
        ),
        tuple([_hundredths(total + judge.count(Yaku.PLAINS, number)) for number, total in enumerate(plain)]),
    )
    reach = tuple([_part(each) for each in REACH])
    shares = (_part(DENY), _part(GIFT), _part(LOSS))
    numbers = [*_numbers(totals), *_numbers(worths), *reach, *shares]
    packed = struct.pack("=48Q", *MONTH.values()) + struct.pack(f"={len(numbers)}h", *numbers)
    return Worths(*totals, *worths, reach, *shares, packed + bytes(-len(packed) % 8))
