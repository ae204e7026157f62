"""No level of any game knows more than its seat's view, whatever the budget; and the checks notice one that does."""

from __future__ import annotations

from itertools import islice
from random import Random
from typing import Any

import pytest

from engine.game import AnyGame, Budget, Level
from engine.registry import GAMES
from tests.conformance.broken import Peeks
from tests.conformance.honesty import Position, blind, positions, told_in_full, walled
from tests.conformance.laws import random_options, shortest
from tests.toy import DUEL

EVERY_GAME = pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
EVERY_LEVEL = pytest.mark.parametrize(
    ("game", "level"),
    [
        pytest.param(game, level, id=f"{game.name}-{level.value}")
        for game in (*GAMES.values(), DUEL)
        for level in game.levels
    ],
)
QUICK = {Level.EASY: 40, Level.MEDIUM: 40, Level.HARD: 12, Level.EXPERT: 12}
"""Positions that are tried of each level."""
ROLLOUTS = 240
"""Enough for a search to overrule its rules of thumb."""


def chosen(game: AnyGame, count: int, seed: int) -> list[Position]:
    """Positions from matches with random options, early and late ones alike."""
    rng = Random(seed)
    found: list[Position] = []
    while len(found) < 4 * count:
        found += positions(game, shortest(game, random_options(game, rng)), rng)
    return rng.sample(found, count)


@EVERY_LEVEL
def test_a_level_does_the_same_in_all_worlds_that_its_seat_cannot_tell_apart(game: AnyGame, level: Level) -> None:
    tried = chosen(game, QUICK[level], seed=1)
    differing = sum(blind(game, at, Budget(level, ROLLOUTS), worlds=2, seed=seed) for seed, at in enumerate(tried))
    assert differing > len(tried), "most worlds must differ from the truth, or nothing was tested"


@pytest.mark.long
@EVERY_LEVEL
def test_a_level_with_its_own_budget_does_the_same_in_all_worlds(game: AnyGame, level: Level) -> None:
    for seed, at in enumerate(chosen(game, 120, seed=2)):
        blind(game, at, Budget(level), worlds=4, seed=seed)


@EVERY_LEVEL
def test_the_bytes_of_the_view_are_all_that_a_level_needs(game: AnyGame, level: Level) -> None:
    for seed, at in enumerate(chosen(game, QUICK[level] // 4, seed=3)):
        told_in_full(game, at, Budget(level, ROLLOUTS), seed)


@EVERY_GAME
def test_no_state_can_be_read_from_what_a_level_is_given(game: AnyGame) -> None:
    for at in chosen(game, 60, seed=4):
        walled(game, at)


def test_in_hachinin_meri_the_worlds_differ_in_everything_that_can_be_hidden() -> None:
    """Each is met, and each varies. (The discard is shown before anybody but the taker has to decide anything, H14.)"""
    game = GAMES["hachinin-meri"]
    varied: set[str] = set()
    for seed, at in enumerate(chosen(game, 200, seed=5)):
        worlds = [game.resample(game.view(at.state, at.seat), Random(seed + drawn)) for drawn in range(6)]
        varied |= {what for what, cards in _hidden(at.state).items() if any(_hidden(w)[what] != cards for w in worlds)}
    assert varied == {"hands", "face-down trumps", "side cards", "Robai"}


def _hidden(state: Any) -> dict[str, Any]:
    """What may be hidden in a deal of Hachinin Meri."""
    table = state.table
    holder = [f"{table.trump}ro" in hand for hand in state.hands]
    return {
        "hands": state.hands,
        "face-down trumps": table.trick and table.trick.face_down and table.trick.cards,
        "side cards": table.side,
        "Robai": holder,
    }


def test_a_player_that_peeks_is_found_out() -> None:
    game = Peeks()

    def look_at_some() -> None:
        for seed, at in enumerate(islice(positions(game, game.complete_options({}), Random(1)), 40)):
            blind(game, at, Budget(game.levels[0]), worlds=4, seed=seed)

    with pytest.raises(AssertionError, match="knows more than its view"):
        look_at_some()
