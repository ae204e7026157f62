"""Actions as text: ``declare``, ``pass``, ``-P5``, ``K7``."""

from __future__ import annotations

from typing import Final

from engine.game import MalformedAction
from engine.hachinin_meri.cards import CARDS
from engine.hachinin_meri.types import Action, Declare, Discard, Pass, Play

DECLARE: Final = Declare()
PASS: Final = Pass()
PLAYS: Final = {card: Play(card) for card in CARDS}
DISCARDS: Final = {card: Discard(card) for card in CARDS}

_TEXTS: Final[dict[Action, str]] = {
    DECLARE: "declare",
    PASS: "pass",
    **{action: f"-{card}" for card, action in DISCARDS.items()},
    **{action: str(card) for card, action in PLAYS.items()},
}
_ACTIONS: Final = {text: action for action, text in _TEXTS.items()}


def text(action: Action) -> str:
    """The action in the notation of the rules pages."""
    return _TEXTS[action]


def parse(written: str) -> Action:
    """The action that ``written`` writes.

    Raises:
        MalformedAction: it writes none.
    """
    action = _ACTIONS.get(written)
    if action is None:
        raise MalformedAction(written)
    return action
