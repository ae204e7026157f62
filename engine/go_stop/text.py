"""The notation of go-stop's actions: ``03r``, ``03r*03p``, ``*05r``, ``stop``, ``go``."""

from __future__ import annotations

from typing import Final, assert_never

from engine.game import Card, MalformedAction
from engine.go_stop.types import CARDS, Action, Choose, Go, Play, Stop

_STOP: Final = "stop"
_GO: Final = "go"
_TAKE: Final = "*"
_CODES: Final[frozenset[str]] = frozenset(CARDS)


def text(action: Action) -> str:
    """The action as it travels."""
    match action:
        case Play(card, None):
            return card
        case Play(card, take):
            return f"{card}{_TAKE}{take}"
        case Choose(take):
            return f"{_TAKE}{take}"
        case Stop():
            return _STOP
        case Go():
            return _GO
        case _:
            assert_never(action)


def parse(written: str) -> Action:
    """The action that ``written`` writes.

    Whether the cards match is for ``why`` to say, which can tell what would.

    Raises:
        MalformedAction: it writes none.
    """
    if written == _STOP:
        return Stop()
    if written == _GO:
        return Go()
    card, star, take = written.partition(_TAKE)
    if card in _CODES and not star:
        return Play(Card(card))
    if card in _CODES and take in _CODES and card != take:
        return Play(Card(card), Card(take))
    if not card and take in _CODES:
        return Choose(Card(take))
    raise MalformedAction(written)
