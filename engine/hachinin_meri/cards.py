"""The 75 cards of unsun karuta, and their order under each trump suit (H1–H5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from engine.game import Card
from engine.hachinin_meri.types import Suit

RANKS: Final = ("su", "un", "so", "ro", "re", "ka", *"123456789")
"""Sun, Un, Sota, Robai, Rei, Kaba and the numerals, as they are written (H1, H2)."""
CARDS: Final = tuple(Card(suit + rank) for suit in Suit for rank in RANKS)
"""The whole deck in card-id order."""
TENKA: Final = Card("Pro")
"""The Pao Robai: a trump in every deal (H3)."""
LONG: Final = frozenset({Suit.PAO, Suit.ISU})
"""The suits whose numerals rank 9 to 1; in the round ones they rank 1 to 9 (H1, H5)."""

_DOWN: Final = "9 8 7 6 5 4 3 2 1"
_UP: Final = "1 2 3 4 5 6 7 8 9"
_AS_TRUMP: Final = {
    Suit.PAO: f"su un so ro re ka {_DOWN}",
    Suit.ISU: f"su un so Pro ro re ka {_DOWN}",
    Suit.KOPPU: f"su un so Pro ro re ka {_UP}",
    Suit.OURU: f"su un so Pro ro re ka {_UP}",
    Suit.GURU: f"su un so Pro ro re ka {_UP}",
}
"""H5, high to low; ``Pro`` is Tenka between a suit's own cards."""
_PLAIN: Final = {
    Suit.PAO: f"su un re ka so {_DOWN}",
    Suit.ISU: "su un re ka so 9 8 7 6 5 4 3 2 ro 1",
    Suit.KOPPU: f"su un re ka so ro {_UP}",
    Suit.OURU: f"su un re ka so ro {_UP}",
    Suit.GURU: f"su un re ka so ro {_UP}",
}
"""H5, high to low. The Pao Robai is no plain card (H3)."""


def _cards(suit: Suit, ranks: str) -> tuple[Card, ...]:
    return tuple(TENKA if rank == TENKA else Card(suit + rank) for rank in ranks.split())


def order(suit: Suit, trump: Suit) -> tuple[Card, ...]:
    """The cards that count as ``suit`` while ``trump`` is trump, high to low (H5): with Tenka among the trumps."""
    return _cards(suit, (_AS_TRUMP if suit == trump else _PLAIN)[suit])


def _ranks(cards: Sequence[Card]) -> Mapping[Card, int]:
    return {card: place for place, card in enumerate(reversed(cards), 1)}


TRUMPS: Final[Mapping[str, Mapping[Card, int]]] = {suit: _ranks(order(suit, suit)) for suit in Suit}
"""By trump suit: the trumps and how high each ranks among them, the lowest 1 (H4, H5). ``c in TRUMPS[suit]`` is H4."""

PLAIN: Final[Mapping[Card, int]] = {
    card: rank for suit in Suit for card, rank in _ranks(_cards(suit, _PLAIN[suit])).items()
}
"""How high a plain card ranks in its suit, the lowest 1 (H5). Tenka is none (H3)."""


def native_robai(trump: str) -> Card:
    """The trump suit's own Robai; Tenka itself when Pao is trump (H3)."""
    return Card(trump + "ro")


def height(card: Card, trump: str) -> tuple[bool, int]:
    """What a card costs to play, for sorting: trumps above all plain cards, plain ones by their place in their suit."""
    rank = TRUMPS[trump].get(card)
    return (False, PLAIN[card]) if rank is None else (True, rank)


def best(cards: Sequence[Card], trump: str) -> int:
    """Which of ``cards`` wins: the highest trump, else the highest in the suit of the first (H15).

    Returns an index into ``cards``.
    """
    trumps = TRUMPS[trump]
    ranks = [trumps.get(card, 0) for card in cards]
    if not any(ranks):
        led = cards[0][0]
        ranks = [PLAIN[card] if card[0] == led else 0 for card in cards]
    return ranks.index(max(ranks))
