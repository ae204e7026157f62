"""Plots as SVG, written by hand: nothing to install, and they show in a browser and in Markdown.

Belongs here: what all plots of the client share. Must not be known here: what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor, log10
from typing import Final
from xml.sax.saxutils import escape

WIDTH: Final = 760
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 48, 44
INK, LINE, BAND, PALE = "#333", "#1f5fa8", "#c9dcf2", "#ddd"


class Scale:
    """Maps values from ``low`` to ``high`` to pixels from ``start`` to ``end``, with round ticks."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        span = (high - low) or 1.0
        raw = span / 6
        magnitude = 10.0 ** floor(log10(raw))
        self.tick = next(step * magnitude for step in (1, 2, 5, 10) if step * magnitude >= raw)
        self.low, self.high = floor(low / self.tick) * self.tick, ceil(high / self.tick) * self.tick
        if self.low == self.high:  # one value alone, on a tick
            self.high += self.tick
        self._start, self._end = start, end

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        return self._start + (value - self.low) / (self.high - self.low) * (self._end - self._start)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Value and label of each."""
        digits = max(0, -floor(log10(self.tick)))
        for number in range(round((self.high - self.low) / self.tick) + 1):
            value = self.low + number * self.tick
            yield value, f"{value:.{digits}f}"


def document(height: int, parts: Sequence[str]) -> str:
    """An SVG document of ``parts``."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">'
    return "\n".join([head, f'<rect width="{WIDTH}" height="{height}" fill="white"/>', *parts, "</svg>\n"])


def text(x: float, y: float, words: str, *, size: int = 12, anchor: str = "start") -> str:
    """Words at a place; ``anchor``: start, middle or end."""
    place = f'x="{x:.1f}" y="{y:.1f}"'
    return f'<text {place} font-size="{size}" text-anchor="{anchor}" fill="{INK}">{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, *, colour: str = LINE, width: int = 1) -> str:
    """A straight line."""
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"/>'
