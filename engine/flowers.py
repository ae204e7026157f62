"""The 48 flower cards: codes, months, kinds, and the matching that koi-koi and go-stop share.

A code is two digits of month and a letter for the kind (``03r``). The two traditions number willow and paulownia
the other way round; a code is read within its game, so equal digits always mean "matches". This module knows no
game: what November and December hold is an argument.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from engine.game import Card


class Kind(StrEnum):
    """What a flower card is, by the letter of its code. ``p``, ``q`` and ``s`` are all plains (junk)."""

    BRIGHT = "b"
    ANIMAL = "a"
    RIBBON = "r"
    PLAIN = "p"


_COMMON_MONTHS: Final = ("brpq", "arpq", "brpq", "arpq", "arpq", "arpq", "arpq", "bapq", "arpq", "arpq")


def flower_deck(november: str, december: str) -> tuple[Card, ...]:
    """All 48 codes in card-id order; ``november`` and ``december`` are the kind letters of these months."""
    months = (*_COMMON_MONTHS, november, december)
    return tuple(Card(f"{number:02}{letter}") for number, kinds in enumerate(months, 1) for letter in kinds)


def month(card: Card) -> int:
    """The month of a flower card, 1 … 12."""
    return int(card[:2])


def kind(card: Card) -> Kind:
    """The kind of a flower card. The sake cup (``09a``) is an animal here; games add its second nature."""
    letter = card[2]
    return Kind.PLAIN if letter in "pqs" else Kind(letter)


def matching(card: Card, table: Iterable[Card]) -> tuple[Card, ...]:
    """The cards of ``table`` that have the month of ``card``, in the table's order (rules K4, G4)."""
    digits = card[:2]
    return tuple([other for other in table if other[:2] == digits])


def has_four_of_a_month(cards: Iterable[Card]) -> bool:
    """Whether all four cards of some month are among ``cards`` (rules K2, G2)."""
    return 4 in _month_counts(cards)


def is_four_pairs(cards: Iterable[Card]) -> bool:
    """Whether eight cards split into four pairs of equal month: 2-2-2-2, 4-2-2 or 4-4 (rule K2)."""
    counts = _month_counts(cards)
    return sum(counts) == 8 and all(count % 2 == 0 for count in counts)


def _month_counts(cards: Iterable[Card]) -> list[int]:
    counts: dict[str, int] = {}
    for card in cards:
        counts[card[:2]] = counts.get(card[:2], 0) + 1
    return list(counts.values())
