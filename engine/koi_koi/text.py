"""Koi-koi's actions in the notation of the rules pages: ``03r`` · ``03r*03p`` · ``*05r`` · ``stop`` · ``koi``."""

from __future__ import annotations

from typing import Final, assert_never

from engine.game import Card, MalformedAction
from engine.koi_koi.scoring import BIT
from engine.koi_koi.types import Action, Choose, Koi, Play, Stop

STOP: Final = "stop"
KOI: Final = "koi"


def text(action: Action) -> str:
    """The action as it is written and travels."""
    match action:
        case Play(card, None):
            return card
        case Play(card, take):
            return f"{card}*{take}"
        case Choose(take):
            return f"*{take}"
        case Stop():
            return STOP
        case Koi():
            return KOI
        case _:
            assert_never(action)


def parse(written: str) -> Action:
    """The action that ``written`` writes.

    Raises:
        MalformedAction: it writes none, or names a card that is not in the deck.
    """
    if written == STOP:
        return Stop()
    if written == KOI:
        return Koi()
    card, star, target = written.partition("*")
    if (card and card not in BIT) or (star and target not in BIT):
        raise MalformedAction(written)
    if star:
        return Play(Card(card), Card(target)) if card else Choose(Card(target))
    if card:
        return Play(Card(card))
    raise MalformedAction(written)
