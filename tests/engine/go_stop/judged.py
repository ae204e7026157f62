"""Positions with what every action comes to in very many worlds: how good a choice is, without playing deals for it.

python -m tests.engine.go_stop.judged

writes ``judged.json`` anew (needs the compiled kernel; half a minute). The values are those of the quick player's
rollouts, so what is seen here is whether a search finds what it looks for. Whether that wins is measured in deals.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Final

from msgspec import Struct

from engine.game import Budget, Level
from engine.go_stop import GO_STOP, kernel
from engine.go_stop.flat import Seen, flat_move
from engine.go_stop.types import Action, State, View
from tests.engine.go_stop.differential import random_deal

FILE: Final = Path(__file__).with_name("judged.json")
POSITIONS: Final = 120
WORLDS: Final = 20_000
_MEDIUM: Final = Budget(Level.MEDIUM)


class Judged(Struct, frozen=True):
    """A position and what its actions are worth, by their texts."""

    state: State
    values: dict[str, float]

    @property
    def view(self) -> View:
        return GO_STOP.view(self.state, self.state.table.turn)

    @property
    def legal(self) -> tuple[Action, ...]:
        return GO_STOP.legal_at(self.state, self.state.table.turn)

    def regret(self, action: Action) -> float:
        """How many points a deal ``action`` costs."""
        return max(self.values.values()) - self.values[GO_STOP.text(action)]


def regret(level: Level, positions: list[Judged], rollouts: int | None = None) -> float:
    """What a decision of ``level`` costs, on average."""
    budget = Budget(level, rollouts)
    return fmean(
        each.regret(GO_STOP.choose(each.view, each.legal, Random(number), budget))
        for number, each in enumerate(positions)
    )


def judged() -> list[Judged]:
    """The positions in the file."""
    return [Judged(position(number), values) for number, values in enumerate(json.loads(FILE.read_text()))]


def position(number: int) -> State:
    """A position with something to choose, in a deal between medium players."""
    rng = Random(number)
    while True:
        state, passed = random_deal(rng), rng.randrange(20)
        while GO_STOP.awaiting(state):
            seat = state.table.turn
            view, legal = GO_STOP.view(state, seat), GO_STOP.legal_at(state, seat)
            if passed <= 0 and len(legal) > 1:
                return state
            passed -= 1
            state = GO_STOP.apply(state, seat, GO_STOP.choose(view, legal, rng, _MEDIUM)).state


def _judge(state: State) -> dict[str, float]:
    seat = state.table.turn
    seen, legal = Seen(GO_STOP.view(state, seat)), GO_STOP.legal_at(state, seat)
    moves = [flat_move(action, seen.table.layout) for action in legal]
    sums = kernel.Oracle(seen).evaluate(moves, 1, WORLDS)
    return {GO_STOP.text(action): round(total / WORLDS, 3) for action, total in zip(legal, sums, strict=True)}


def main(judge: Callable[[State], dict[str, float]] = _judge) -> None:
    lines = [json.dumps(judge(position(number))) for number in range(POSITIONS)]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
