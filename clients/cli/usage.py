"""The command line's own words: help texts in the reader's language, and what Click says by itself.

Commands are written with English help (docstrings and ``help=``); ``in_language`` translates them when they are shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from inspect import cleandoc
from typing import Final, TypeVar

import click

from clients.cli.words import N_, _
from wording.columns import padded, width, wrapped

CLICK: Final = (
    N_("Usage:"),
    N_("Options"),
    N_("Commands"),
    N_("Show this message and exit."),
    N_("Show the version and exit."),
    N_("Aborted!"),
    N_("Error: {message}"),
    N_("Try '{command} {option}' for help."),
    N_("Invalid value: {message}"),
    N_("Invalid value for {param_hint}: {message}"),
    N_("Missing argument"),
    N_("Missing option"),
    N_("Missing command."),
    N_("No such option {name!r}."),
    N_("No such command {name!r}."),
    N_("Option {name!r} does not take a value."),
    N_("{value!r} is not a valid {number_type}."),
    N_("{value} is not in the range {range}."),
    N_("{name} {filename!r} is a directory."),
    N_("{name} {filename!r} is not writable."),
    N_("env var: {var}"),
    N_("default: {default}"),
    N_("file"),
)
"""Texts of the library that a person can meet here, marked so that catalogues have them."""
CLICK_COUNTED: Final = (
    ("Did you mean {possibility}?", "(Did you mean one of: {possibilities}?)"),
    ("Got unexpected extra argument ({args})", "Got unexpected extra arguments ({args})"),
    ("Option {name!r} requires an argument.", "Option {name!r} requires {nargs} arguments."),
    ("{value!r} is not {choice}.", "{value!r} is not one of {choices}."),
)
"""Likewise, those with a plural."""

C = TypeVar("C", bound=click.Command)


class WideFormatter(click.HelpFormatter):
    """Click's help, measured in columns: a script without spaces is broken into lines as well."""

    def write_text(self, text: str) -> None:
        """Paragraphs."""
        margin = " " * self.current_indent
        for place, paragraph in enumerate(text.split("\n\n")):
            if place:
                self.write("\n")
            for line in wrapped(" ".join(paragraph.split()), self.width, margin, margin):
                self.write(f"{line}\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Two columns: what can be given, and what it does."""
        rows = tuple(rows)
        margin = " " * self.current_indent
        left = min(max((width(first) for first, _second in rows), default=0), col_max) + col_spacing
        indent = margin + " " * left
        for first, second in rows:
            head = f"{margin}{padded(first, left)}"
            if width(first) > left - col_spacing:
                self.write(f"{margin}{first}\n")
                head = indent
            for line in wrapped(second, self.width, head, indent):
                self.write(f"{line}\n")


class WideContext(click.Context):
    """Uses the formatter above."""

    formatter_class = WideFormatter


def in_language(command: C) -> C:
    """``command`` with its help in the reader's language."""
    shown = copy(command)
    shown._help_option = None  # noqa: SLF001 - made, and worded, once; a copy's may be worded in another language
    shown.help = _(cleandoc(command.help)) if command.help else command.help
    shown.params = [_parameter(parameter) for parameter in command.params]
    shown.context_class = WideContext
    return shown


def _parameter(parameter: click.Parameter) -> click.Parameter:
    if not isinstance(parameter, click.Option) or not parameter.help:
        return parameter
    shown = copy(parameter)
    shown.help = _(parameter.help)
    return shown
