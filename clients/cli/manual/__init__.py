"""The complete rules of each game as text, written from the same constants as the engine (``fudaza rules GAME``)."""

from __future__ import annotations

from importlib import import_module

from clients.cli.manual.page import ExplainedOption
from clients.cli.words import Lines, listed
from engine.game import Options


def rules_of(game: str) -> Lines:
    """The rules of a registered game, by its name, as lines of at most 80 characters."""
    lines: Lines = import_module(f"clients.cli.manual.{game.replace('-', '_')}").rules()
    return lines


def explained_options(game: str) -> tuple[ExplainedOption, ...]:
    """The options of a registered game with what each value does, in the words of its rules."""
    options: tuple[ExplainedOption, ...] = import_module(f"clients.cli.manual.{game.replace('-', '_')}").options()
    return options


def chosen_options(game: str, chosen: Options, *, unusual: bool = False) -> Lines:
    """What was chosen for each option of a registered game, in the words of its rules; ``unusual``: where it is not the
    default, and how many deals there are.
    """
    lines = []
    for option in explained_options(game):
        value = chosen[option.name]
        meaning = next(told for each, told in option.values if each == value)
        alike = sum(told == meaning for _each, told in option.values) > 1
        told = ([str(value)] if alike or not meaning else []) + ([meaning] if meaning else [])
        if not unusual or value != option.values[0][0]:
            lines.append(f"{option.about}: {listed(told)}")
    return tuple(lines)
