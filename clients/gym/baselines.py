"""The house's players as policies: opponents whose strength is known (``docs/ai.md`` has the ladder)."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from engine.game import Budget, Level

RANDOM: Final = "random"


class Baseline:
    """``random``, one of the game's yardsticks (``greedy``), or a level: ``easy``, ``medium``, ``hard``, ``expert``."""

    def __init__(self, name: str, *, seed: int, rollouts: int | None = None) -> None:
        """``rollouts``: for a searching level, in place of its own number."""
        self.name = name
        self._dice = Random(seed)
        self._rollouts = rollouts

    def __call__(self, env: Any) -> int:
        """The selected agent's action, chosen from its view alone."""
        raw = env.unwrapped
        agent = raw.agent_selection
        game, view, legal = raw.game, raw.view(agent), raw.legal(agent)
        if self.name == RANDOM:
            action = self._dice.choice(legal)
        elif self.name in game.yardsticks:
            action = game.yardsticks[self.name](view, legal)
        else:
            action = game.choose(view, legal, self._dice, Budget(Level(self.name), self._rollouts))
        return int(raw.encoding.index[game.text(action)])
