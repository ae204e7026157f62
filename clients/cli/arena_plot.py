"""Plots of arena results as SVG, written by hand: nothing to install, and they show in a browser and in Markdown.

One result is drawn as its running mean with the 95 % interval, so that one sees whether it has settled; several as
one interval a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor, log10
from typing import Final
from xml.sax.saxutils import escape

from clients.cli.arena_figures import Result, interval
from clients.cli.words import _

WIDTH: Final = 760
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 20, 48, 44
_ROW: Final = 28
_HISTORY_HEIGHT: Final = 360
_POINTS: Final = 240
"""Places at which a running mean is drawn."""
_FIRST: Final = 10
"""Pairs before which an interval says nothing."""
_INK, _LINE, _BAND, _PALE = "#333", "#1f5fa8", "#c9dcf2", "#ddd"


class _Scale:
    """Maps values to pixels, with round ticks."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        span = (high - low) or 1.0
        raw = span / 6
        magnitude = 10.0 ** floor(log10(raw))
        self.tick = next(step * magnitude for step in (1, 2, 5, 10) if step * magnitude >= raw)
        self.low, self.high = floor(low / self.tick) * self.tick, ceil(high / self.tick) * self.tick
        self._start, self._end = start, end

    def __call__(self, value: float) -> float:
        return self._start + (value - self.low) / (self.high - self.low) * (self._end - self._start)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Value and label of each."""
        digits = max(0, -floor(log10(self.tick)))
        for number in range(round((self.high - self.low) / self.tick) + 1):
            value = self.low + number * self.tick
            yield value, f"{value:.{digits}f}"


def plot(title: str, results: Sequence[Result]) -> str:
    """An SVG document of ``results`` (at least one)."""
    return _history(title, results[0]) if len(results) == 1 else _intervals(title, results)


def _history(title: str, result: Result) -> str:
    pairs = len(result.observed)
    first = min(_FIRST, pairs)
    counts = sorted({first + (pairs - first) * place // _POINTS for place in range(_POINTS + 1)})
    means = [interval(result.observed[:count]) for count in counts] if pairs > 1 else []
    lows, highs = [each.low for each in means], [each.high for each in means]
    up = _Scale(min([result.equal, *lows]), max([result.equal, *highs]), _HISTORY_HEIGHT - _BOTTOM, _TOP)
    along = _Scale(0, pairs, _LEFT, WIDTH - _RIGHT)
    right = along(along.high)
    parts = [_text(WIDTH / 2, 28, title, size=15, anchor="middle")]
    for value, label in up.ticks():
        parts += [
            _line(_LEFT, up(value), right, up(value), colour=_PALE),
            _text(_LEFT - 8, up(value) + 4, label, anchor="end"),
        ]
    for value, label in along.ticks():
        parts.append(_text(along(value), _HISTORY_HEIGHT - _BOTTOM + 18, label, anchor="middle"))
    there = [f"{along(count):.1f},{up(each.high):.1f}" for count, each in zip(counts, means, strict=False)]
    back = [f"{along(count):.1f},{up(each.low):.1f}" for count, each in zip(counts, means, strict=False)][::-1]
    middle = [f"{along(count):.1f},{up(each.mean):.1f}" for count, each in zip(counts, means, strict=False)]
    parts += [
        f'<polygon points="{" ".join(there + back)}" fill="{_BAND}"/>',
        _line(_LEFT, up(result.equal), right, up(result.equal), colour=_INK),
        f'<polyline points="{" ".join(middle)}" fill="none" stroke="{_LINE}" stroke-width="2"/>',
        _text(WIDTH / 2, _HISTORY_HEIGHT - 8, _("pairs of deals"), anchor="middle"),
    ]
    return _document(_HISTORY_HEIGHT, parts)


def _intervals(title: str, results: Sequence[Result]) -> str:
    height = _TOP + _ROW * len(results) + _BOTTOM
    names = [_(" over ").join(result.teams) for result in results]
    left = 24 + 7 * max(map(len, names))
    equal = results[0].equal
    lows, highs = [result.points.low for result in results], [result.points.high for result in results]
    along = _Scale(min([equal, *lows]), max([equal, *highs]), left, WIDTH - _RIGHT)
    parts = [_text(WIDTH / 2, 28, title, size=15, anchor="middle")]
    for value, label in along.ticks():
        parts.append(_line(along(value), _TOP, along(value), height - _BOTTOM, colour=_PALE))
        parts.append(_text(along(value), height - _BOTTOM + 18, label, anchor="middle"))
    parts.append(_line(along(equal), _TOP, along(equal), height - _BOTTOM, colour=_INK))
    for row, (name, result) in enumerate(zip(names, results, strict=True)):
        middle = _TOP + _ROW * (row + 0.5)
        points = result.points
        parts += [
            _text(left - 12, middle + 4, name, anchor="end"),
            _line(along(points.low), middle, along(points.high), middle, width=3),
            f'<circle cx="{along(points.mean):.1f}" cy="{middle:.1f}" r="5" fill="{_LINE}"/>',
        ]
    parts.append(_text((left + WIDTH - _RIGHT) / 2, height - 8, _("points a deal"), anchor="middle"))
    return _document(height, parts)


def _document(height: int, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">'
    return "\n".join([head, f'<rect width="{WIDTH}" height="{height}" fill="white"/>', *parts, "</svg>\n"])


def _text(x: float, y: float, text: str, *, size: int = 12, anchor: str = "start") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}"'
    return f'<text {place} font-size="{size}" text-anchor="{anchor}" fill="{_INK}">{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, *, colour: str = _LINE, width: int = 1) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"/>'
