"""Setting rules as text: headings, numbered rules, tables, options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import itemgetter

from msgspec import Struct

from clients.cli.words import Lines, _, listed
from engine.game import AnyGame, OptionValue
from wording.columns import padded, width, wrapped

WIDTH = 80


class ExplainedOption(Struct, frozen=True):
    """An option in the reader's language."""

    name: str
    about: str
    values: tuple[tuple[OptionValue, str], ...]
    """Each with what it does; the default first."""


def title(text: str) -> Lines:
    """The heading of the whole."""
    return (_(text), "=" * width(_(text)), "")


def heading(text: str) -> Lines:
    """The heading of a part."""
    return ("", _(text), "-" * width(_(text)))


def paragraph(text: str, **values: object) -> Lines:
    """A text without a number."""
    return wrapped(_(text).format(**values), WIDTH)


def rule(number: str, text: str, **values: object) -> Lines:
    """A rule with its number in the margin (the numbers that the code and its tests cite); without one it goes on."""
    return _hanging(f"{number:4} ", _(text).format(**values))


def rows(pairs: Iterable[tuple[str, str]]) -> Lines:
    """A table of two columns."""
    pairs = tuple(pairs)
    widest = max(width(left) for left, _right in pairs)
    return tuple(line for left, right in pairs for line in _hanging(f"     {padded(left, widest)}  ", right))


def explained(
    game: AnyGame, texts: Mapping[str, tuple[str, Mapping[str, str]]], **numbers: object
) -> tuple[ExplainedOption, ...]:
    """All options of ``game`` with all values, the default first.

    ``texts``: what each option is about, and what each value does (``""``: every other one); ``numbers`` fill them.
    """
    options = []
    for option, values in game.options.items():
        about, meanings = texts[option]
        told = tuple((v, _(meanings.get(str(v), meanings.get("", ""))).format(**numbers)) for v in values)
        options.append(ExplainedOption(option, _(about), told))
    return tuple(options)


def options_of(options: Iterable[ExplainedOption]) -> Lines:
    """Options as a part of the rules."""
    lines: list[str] = []
    for option in options:
        lines += _hanging(f"{option.name}: ", option.about, indent=2)
        (default, meaning), *others = option.values
        lines += _hanging(f"     {default}  ", _("(default) ") + meaning, indent=9)
        for meaning, alike in groupby(others, key=itemgetter(1)):
            lines += _hanging(f"     {listed(str(value) for value, _meaning in alike)}  ", meaning, indent=9)
    return (*heading("Options"), *paragraph("Given as --option KEY=VALUE when a room is opened."), *lines)


def _hanging(first: str, text: str, indent: int | None = None) -> Lines:
    return wrapped(text, WIDTH, first, " " * (width(first) if indent is None else indent))
