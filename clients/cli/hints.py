"""What the AI would do, and why: from the person's own view, by their own client.

Belongs here: asking a game to think, and wording the answer. Whether it may be asked is for the
room's settings.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

from clients.cli.words import _, common
from clients.cli.words.games import words_of
from engine.game import AnyGame, Budget, Level, Thought

LEVELS: Final = (Level.HARD, Level.MEDIUM, Level.EASY)
"""The first of these that a game plays is asked."""
BEST: Final = 3
"""Of so many other actions the value is told beside the chosen one's."""


def adviser(game: AnyGame) -> Level:
    """The level that is asked."""
    return next(level for level in LEVELS if level in game.levels)


def thought_of(game: AnyGame, view: Any, *, seed: int) -> Thought[Any]:
    """What the AI thinks of the decision that ``view`` stands before. The same seed thinks the same."""
    return game.think(view, game.legal(view), Random(seed), Budget(adviser(game)))


def in_words(game: AnyGame, view: Any, thought: Thought[Any]) -> tuple[str, str]:
    """What a thought comes to, and why, each in a sentence."""
    words = words_of(game.name)
    action = game.text(thought.action)
    told = _("AI ({level}) would: {action}, {move}.").format(
        level=common.level(adviser(game)), action=action, move=words.move(action, view)
    )
    return told, "" if thought.reason is None else words.reason(thought.reason)


def values_in_words(game: AnyGame, thought: Thought[Any]) -> str:
    """What the chosen action, which comes first, and the best others were found worth; nothing where no level searched.

    The choice need not have the highest value: ``Thought.searched``.
    """
    if not thought.searched:
        return ""
    chosen = game.text(thought.action)
    others = sorted((action for action in thought.values if action != chosen), key=lambda each: -thought.values[each])
    told = [chosen, *others][: BEST + 1]
    return " · ".join(f"{action} {thought.values[action]:+.1f}" for action in told)
