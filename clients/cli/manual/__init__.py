"""The complete rules of each game as text, written from the same constants as the engine (``fudaza rules GAME``)."""

from __future__ import annotations

from importlib import import_module

from clients.cli.manual.page import ExplainedOption
from clients.cli.words import Lines


def rules_of(game: str) -> Lines:
    """The rules of a registered game, by its name, as lines of at most 80 characters."""
    lines: Lines = import_module(f"clients.cli.manual.{game.replace('-', '_')}").rules()
    return lines


def explained_options(game: str) -> tuple[ExplainedOption, ...]:
    """The options of a registered game with what each value does, in the words of its rules."""
    options: tuple[ExplainedOption, ...] = import_module(f"clients.cli.manual.{game.replace('-', '_')}").options()
    return options
