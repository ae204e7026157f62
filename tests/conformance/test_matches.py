"""Matches of every game, played to their end by random legal moves with random options."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from engine.game import AnyGame, OptionValue
from engine.registry import GAMES
from tests.conformance.laws import Bookkeeper, random_match, random_options
from tests.toy import DUEL

EVERY_GAME = pytest.mark.parametrize("game", [*GAMES.values(), DUEL], ids=lambda game: game.name)


def play(game: AnyGame, options: dict[str, OptionValue], seed: int) -> None:
    books = Bookkeeper(game, options)
    for progress in random_match(game, options, Random(seed)):
        books.enter(progress)
    books.close()


@EVERY_GAME
def test_matches_of_every_length_end(game: AnyGame) -> None:
    for seed, deals in enumerate(game.options["deals"]):
        play(game, random_options(game, Random(seed)) | {"deals": deals}, seed)


@EVERY_GAME
def test_matches_with_every_pair_of_option_values_end(game: AnyGame) -> None:
    """Every value of an option together with every value of every other."""
    keys = [key for key in game.options if key != "deals"]
    least = min(game.options["deals"])
    for first, second in product(keys, keys):
        for values in product(game.options[first], game.options[second]):
            chosen = {first: values[0], second: values[1]}
            play(game, game.complete_options(chosen | {"deals": least}), 7)


@EVERY_GAME
def test_fifty_random_matches_end(game: AnyGame) -> None:
    for seed in range(50):
        play(game, random_options(game, Random(seed)) | {"deals": sorted(game.options["deals"])[1]}, seed)


@pytest.mark.long
@EVERY_GAME
def test_a_thousand_random_matches_end(game: AnyGame) -> None:
    for seed in range(1000):
        play(game, random_options(game, Random(seed)), seed)
