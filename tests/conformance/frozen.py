"""What ``medium`` and the yardsticks choose, written down: they must not change unnoticed, because the figures in
``docs/ai`` are measured against them.

After a deliberate change: ``python -m tests.conformance.frozen`` writes the files anew, and the ladders that the
player stands in have to be measured again.
"""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final

from engine.game import AnyGame, Budget, Level
from engine.record import read_record
from engine.registry import GAMES

HERE: Final = Path(__file__).parent
VECTORS: Final = HERE.parent / "vectors"
RECORDS: Final = 20
"""Deals, of each game, at whose every decision the players are asked."""


def file_of(game: AnyGame) -> Path:
    """Where a game's decisions stand."""
    return HERE / "decisions" / f"{game.name}.json"


def decisions(game: AnyGame) -> dict[str, list[str]]:
    """For each player, for each of the first golden deals: what it would have done at every decision of it."""
    players = ["medium", *game.yardsticks]
    return {player: [_through(game, line, player) for line in _lines(game)] for player in players}


def _lines(game: AnyGame) -> list[bytes]:
    with (VECTORS / f"{game.name}.jsonl").open("rb") as file:
        return list(islice(file, RECORDS))


def _through(game: AnyGame, line: bytes, player: str) -> str:
    record, dice = read_record(line, GAMES), Random(1)
    state = game.deal(game.complete_options(record.options), record.deck, record.beginner, record.carry).state
    chosen = []
    for step in record.steps:
        legal = game.legal_at(state, step.seat)
        if len(legal) > 1:
            chosen.append(game.text(_choice(game, player, game.view(state, step.seat), legal, dice)))
        state = game.apply(state, step.seat, game.parse(step.action)).state
    return " ".join(chosen)


def _choice(game: AnyGame, player: str, view: Any, legal: tuple[Any, ...], dice: Random) -> Any:
    if player in game.yardsticks:
        return game.yardsticks[player](view, legal)
    return game.choose(view, legal, dice, Budget(Level(player)))


def main() -> None:
    """Write all files anew."""
    for game in GAMES.values():
        file = file_of(game)
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(decisions(game), indent=1) + "\n")


if __name__ == "__main__":
    main()
