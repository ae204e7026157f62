"""A rectangle of character cells that scenes are drawn on, and where in it somebody clicked.

Belongs here: cells, wide characters, clipping, boxes, regions. Must not be known here: what is drawn, and colours: a
cell carries names of *inks*, which a theme turns into styles. Coordinates are columns and rows from 0; what lies
outside is cut off.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from rich.segment import Segment
from rich.style import Style

from clients.cli.tui.look import Inks
from wording.columns import padded, shortened
from wording.columns import width as columns_of

Piece = tuple[str, str]
"""Text and the names of its inks, separated by spaces."""

_CONTINUED: Final = ""
"""Stands in the second cell of a wide character."""


def pad(text: str, columns: int) -> str:
    """``text`` on exactly so many ``columns``."""
    return padded(shortened(text, columns), columns)


class Frame(Struct, frozen=True):
    """The characters of a box: corners clockwise from the upper left, then the horizontal and the vertical line."""

    corners: str
    across: str
    down: str


THIN: Final = Frame("╭╮╯╰", "─", "│")
HEAVY: Final = Frame("┏┓┛┗", "━", "┃")
DOTTED: Final = Frame("┌┐┘└", "╌", "┆")


class Region(Struct, frozen=True):
    """Where a click means ``key``."""

    x: int
    y: int
    width: int
    height: int
    key: str


class Canvas:
    """See the module."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._cells: list[list[Piece]] = [[(" ", "")] * width for _row in range(height)]
        self._regions: list[Region] = []

    def put(self, x: int, y: int, text: str, inks: str = "") -> int:
        """Write ``text``; returns the column after it."""
        for sign in text:
            size = columns_of(sign)
            if size == 0:
                self._combine(x - 1, y, sign)
            elif 0 <= y < self.height and x >= 0 and x + size <= self.width:
                row = self._cells[y]
                _free(row, x)
                row[x] = (sign, inks)
                if size == 2:
                    _free(row, x + 1)
                    row[x + 1] = (_CONTINUED, inks)
            x += size
        return x

    def _combine(self, x: int, y: int, mark: str) -> None:
        """A combining mark stands in the cell of the letter before it."""
        if not (0 <= x < self.width and 0 <= y < self.height):
            return
        x -= self._cells[y][x][0] == _CONTINUED
        sign, inks = self._cells[y][x]
        self._cells[y][x] = (sign + mark, inks)

    def line(self, x: int, y: int, pieces: Iterable[Piece], width: int | None = None) -> int:
        """Write pieces one after the other, on at most ``width`` columns; returns the column after them."""
        end = self.width if width is None else x + width
        for text, inks in pieces:
            x = self.put(x, y, shortened(text, end - x), inks)
        return x

    def right(self, y: int, pieces: Iterable[Piece], end: int | None = None) -> int:
        """Write pieces so that they end before column ``end`` (by default at the edge); returns where they begin."""
        pieces = tuple(pieces)
        start = (self.width if end is None else end) - sum(columns_of(text) for text, _inks in pieces)
        self.line(max(0, start), y, pieces)
        return max(0, start)

    def rule(self, y: int, title: str = "", inks: str = "frame") -> None:
        """A line across, with a title in it."""
        self.put(0, y, "─" * self.width, inks)
        if title:
            self.put(2, y, shortened(f" {title} ", self.width - 4), "title")

    def box(self, x: int, y: int, width: int, height: int, *, frame: Frame, inks: str) -> None:
        """A box, filled with blanks."""
        left_up, right_up, right_down, left_down = tuple(frame.corners)
        inner = width - 2
        self.put(x, y, left_up + frame.across * inner + right_up, inks)
        for row in range(y + 1, y + height - 1):
            self.put(x, row, frame.down + " " * inner + frame.down, inks)
        self.put(x, y + height - 1, left_down + frame.across * inner + right_down, inks)

    def hit(self, x: int, y: int, width: int, height: int, key: str) -> None:
        """From now on a click there means ``key``."""
        self._regions.append(Region(x, y, width, height, key))

    def at(self, x: int, y: int) -> str | None:
        """What a click at (x, y) means; the region drawn last wins."""
        for region in reversed(self._regions):
            if region.x <= x < region.x + region.width and region.y <= y < region.y + region.height:
                return region.key
        return None

    def unlike(self, before: Canvas) -> list[tuple[int, int, int]]:
        """Where this canvas differs from one of the same size: column, row and width, a span for each row at most."""
        spans = []
        for y, (row, old) in enumerate(zip(self._cells, before._cells, strict=True)):
            places = [x for x, (cell, was) in enumerate(zip(row, old, strict=True)) if cell != was]
            if places:
                # A whole word of a script that joins, and both halves of a wide character, are drawn together.
                start, end = places[0], places[-1] + 1
                while start > 0 and row[start - 1][0] != " ":
                    start -= 1
                while end < self.width and row[end][0] != " ":
                    end += 1
                spans.append((start, y, end - start))
        return spans

    def text(self) -> str:
        """What is written, without trailing blanks: for tests, and for readers without a terminal."""
        return "\n".join("".join(sign for sign, _inks in row).rstrip() for row in self._cells)

    def segments(self, y: int, inks: Inks, base: Style) -> list[Segment]:
        """A row as styled text, on the style that the place of the canvas has."""
        found: list[Segment] = []
        run, current = "", None
        for sign, names in self._cells[y]:
            if names != current and run:
                found.append(Segment(run, base + inks.style(current or "")))
                run = ""
            current = names
            run += sign
        return [*found, Segment(run, base + inks.style(current or ""))] if run else found


def _free(row: list[Piece], x: int) -> None:
    """Blank the other half of a wide character half of which stands at ``x``: something is about to cover that."""
    if row[x][0] == _CONTINUED:
        row[x - 1] = (" ", row[x - 1][1])
    elif x + 1 < len(row) and row[x + 1][0] == _CONTINUED:
        row[x + 1] = (" ", row[x + 1][1])
