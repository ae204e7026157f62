"""The words of each game, loaded when the game is met."""

from __future__ import annotations

from importlib import import_module

from clients.cli.picture import Picture
from clients.cli.session import Params
from clients.cli.words import common
from clients.cli.words.game import GameWords


def words_of(game: str) -> GameWords:
    """The words of a registered game, by its name."""
    words = import_module(f"clients.cli.words.{game.replace('-', '_')}").WORDS
    assert isinstance(words, GameWords)
    return words


def refusal(picture: Picture | None, code: str, params: Params) -> str:
    """Why something was refused: by the hall, by the room, or by the rules of the game on the table."""
    if code in common.REFUSALS or picture is None:
        return common.refusal(code, params)
    return words_of(picture.game.name).refusal(code, params)
