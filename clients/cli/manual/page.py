"""Setting rules as text: headings, numbered rules, tables, options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clients.cli.words import Lines, _
from clients.cli.words.columns import padded, width, wrapped
from engine.game import AnyGame

WIDTH = 80


def title(text: str) -> Lines:
    """The heading of the whole."""
    return (_(text), "=" * width(_(text)), "")


def heading(text: str) -> Lines:
    """The heading of a part."""
    return ("", _(text), "-" * width(_(text)))


def paragraph(text: str) -> Lines:
    """A text without a number."""
    return wrapped(_(text), WIDTH)


def rule(number: str, text: str, **values: object) -> Lines:
    """A rule with its number in the margin (the numbers that the code and its tests cite)."""
    return _hanging(f"{number:4} ", _(text).format(**values))


def rows(pairs: Iterable[tuple[str, str]]) -> Lines:
    """A table of two columns."""
    pairs = tuple(pairs)
    widest = max(width(left) for left, _right in pairs)
    return tuple(line for left, right in pairs for line in _hanging(f"     {padded(left, widest)}  ", right))


def options_of(game: AnyGame, texts: Mapping[str, tuple[str, Mapping[str, str]]], **numbers: object) -> Lines:
    """All options of ``game`` with all values, the default first.

    ``texts``: what each option is about, and what each value does (``""``: every other one); ``numbers`` fill them.
    """
    lines: list[str] = []
    for option, values in game.options.items():
        about, meanings = texts[option]
        lines += _hanging(f"{option}: ", _(about), indent=2)
        for place, value in enumerate(values):
            meaning = meanings.get(str(value), meanings.get("", ""))
            default = _("(default) ") if place == 0 else ""
            lines += _hanging(f"     {value}  ", default + _(meaning).format(**numbers), indent=9)
    return (*heading("Options"), *paragraph("Given as --option KEY=VALUE when a room is opened."), *lines)


def _hanging(first: str, text: str, indent: int | None = None) -> Lines:
    return wrapped(text, WIDTH, first, " " * (width(first) if indent is None else indent))
