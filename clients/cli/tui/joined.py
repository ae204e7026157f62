"""Scripts whose letters join, on a screen of columns.

Terminals disagree about the spacing vowel signs of Indic scripts and about joined consonants: most give every sign a
column of its own (the C library's ``wcwidth``, xterm, VTE, tmux; and so do we), others draw a syllable on fewer. So the
library's measure is made to agree with ours, and every such word is written at a column of its own, on blanks, and what
follows it again: where a terminal takes less room, blanks are left and nothing moves.

Belongs here: the measure, and what goes to the terminal. Must not be known here: what is drawn.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from rich import cells
from textual.app import App
from textual.driver import Driver

from wording.columns import width

_OUTPUT: Final = re.compile(
    r"""
    \x1b\[(?P<row>\d+);(?P<column>\d+)H     # the cursor goes there
  | (?P<style>\x1b\[[\d;:]*m)               # changes nothing but looks
  | (?P<unknown>\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)|[\x00-\x1a\x1c-\x1f])
  | (?P<joined>[\u0900-\u0dff][\u0900-\u0dff\u200c\u200d]*)
  | (?P<text>[^\x00-\x1f\u0900-\u0dff]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_JOINED: Final = re.compile("[\u0900-\u0dff]")
"""Devanagari to Sinhala."""


def placed(output: str) -> str:
    """``output`` for a terminal, with every word of a script that joins at the column where it belongs.

    Columns are known from where the cursor was sent last; before that, and behind anything else that may move it, words
    stay as they are.
    """
    if _JOINED.search(output) is None:
        return output
    parts: list[str] = []
    column: int | None = None
    for token in _OUTPUT.finditer(output):
        text = token[0]
        match token.lastgroup:
            case "column":
                column = int(token["column"])
            case "unknown":
                column = None
            case "joined" if column is not None:
                end = column + width(text)
                text = f"{' ' * width(text)}\x1b[{column}G{text}\x1b[{end}G"
                column = end
            case "joined" | "text":
                column = None if column is None else column + width(text)
            case _:
                pass
        parts.append(text)
    return "".join(parts)


def measure() -> None:
    """Make the library measure spacing marks as we do."""
    # The library exports neither this function nor a way to change what it returns.
    table = cells.load_cell_table()  # type: ignore[attr-defined]
    ours = table._replace(widths=[each for entry in table.widths for each in _ours(entry)])
    cells.load_cell_table = lambda *_version: ours  # type: ignore[attr-defined,assignment]
    cells.get_character_cell_size.cache_clear()
    cells.cached_cell_len.cache_clear()


def _ours(entry: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    """A row of the library's table (first and last sign, columns) without spacing marks: what is in no row has one."""
    start, end, columns = entry
    if columns:
        return [entry]
    return [(code, code, 0) for code in range(start, end + 1) if unicodedata.category(chr(code)) != "Mc"]


class Joining(App[int]):
    """An application on whose screen such scripts can stand."""

    def __init__(self) -> None:
        measure()
        super().__init__()

    def get_driver_class(self) -> type[Driver]:
        """The library's driver for this terminal, that places words."""
        driver = super().get_driver_class()

        class Placing(driver):  # type: ignore[misc,valid-type]  # which driver it is, is known at run time alone
            def write(self, data: str) -> None:
                super().write(placed(data))

        return Placing
