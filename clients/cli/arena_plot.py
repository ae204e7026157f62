"""Plots of arena results as SVG, written by hand: nothing to install, and they show in a browser and in Markdown.

One result is drawn as its running mean with the 95 % interval, so that one sees whether it has settled; several as
one interval a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from clients.cli.arena_figures import Result, interval
from clients.cli.svg import BAND, BOTTOM, INK, LEFT, LINE, PALE, RIGHT, TOP, WIDTH, Scale, document, line, text
from clients.cli.words import _

_ROW: Final = 28
_HISTORY_HEIGHT: Final = 360
_POINTS: Final = 240
"""Places at which a running mean is drawn."""
_FIRST: Final = 10
"""Pairs before which an interval says nothing."""


def plot(title: str, results: Sequence[Result]) -> str:
    """An SVG document of ``results`` (at least one)."""
    return _history(title, results[0]) if len(results) == 1 else _intervals(title, results)


def _history(title: str, result: Result) -> str:
    pairs = len(result.observed)
    first = min(_FIRST, pairs)
    counts = sorted({first + (pairs - first) * place // _POINTS for place in range(_POINTS + 1)})
    means = [interval(result.observed[:count]) for count in counts] if pairs > 1 else []
    lows, highs = [each.low for each in means], [each.high for each in means]
    up = Scale(min([result.equal, *lows]), max([result.equal, *highs]), _HISTORY_HEIGHT - BOTTOM, TOP)
    along = Scale(0, pairs, LEFT, WIDTH - RIGHT)
    right = along(along.high)
    parts = [text(WIDTH / 2, 28, title, size=15, anchor="middle")]
    for value, label in up.ticks():
        parts += [
            line(LEFT, up(value), right, up(value), colour=PALE),
            text(LEFT - 8, up(value) + 4, label, anchor="end"),
        ]
    for value, label in along.ticks():
        parts.append(text(along(value), _HISTORY_HEIGHT - BOTTOM + 18, label, anchor="middle"))
    there = [f"{along(count):.1f},{up(each.high):.1f}" for count, each in zip(counts, means, strict=False)]
    back = [f"{along(count):.1f},{up(each.low):.1f}" for count, each in zip(counts, means, strict=False)][::-1]
    middle = [f"{along(count):.1f},{up(each.mean):.1f}" for count, each in zip(counts, means, strict=False)]
    parts += [
        f'<polygon points="{" ".join(there + back)}" fill="{BAND}"/>',
        line(LEFT, up(result.equal), right, up(result.equal), colour=INK),
        f'<polyline points="{" ".join(middle)}" fill="none" stroke="{LINE}" stroke-width="2"/>',
        text(WIDTH / 2, _HISTORY_HEIGHT - 8, _("pairs of deals"), anchor="middle"),
    ]
    return document(_HISTORY_HEIGHT, parts)


def _intervals(title: str, results: Sequence[Result]) -> str:
    height = TOP + _ROW * len(results) + BOTTOM
    names = [_(" over ").join(result.teams) for result in results]
    left = 24 + 7 * max(map(len, names))
    equal = results[0].equal
    lows, highs = [result.points.low for result in results], [result.points.high for result in results]
    along = Scale(min([equal, *lows]), max([equal, *highs]), left, WIDTH - RIGHT)
    parts = [text(WIDTH / 2, 28, title, size=15, anchor="middle")]
    for value, label in along.ticks():
        parts.append(line(along(value), TOP, along(value), height - BOTTOM, colour=PALE))
        parts.append(text(along(value), height - BOTTOM + 18, label, anchor="middle"))
    parts.append(line(along(equal), TOP, along(equal), height - BOTTOM, colour=INK))
    for row, (name, result) in enumerate(zip(names, results, strict=True)):
        middle = TOP + _ROW * (row + 0.5)
        points = result.points
        parts += [
            text(left - 12, middle + 4, name, anchor="end"),
            line(along(points.low), middle, along(points.high), middle, width=3),
            f'<circle cx="{along(points.mean):.1f}" cy="{middle:.1f}" r="5" fill="{LINE}"/>',
        ]
    parts.append(text((left + WIDTH - RIGHT) / 2, height - 8, _("points a deal"), anchor="middle"))
    return document(height, parts)
