"""A load's moves and their times, second by second, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from clients.cli.bench.report import Load, Measured
from clients.cli.svg import BOTTOM, INK, LEFT, LINE, PALE, RIGHT, TOP, WIDTH, Scale, document, line, text
from clients.cli.words import _

_PANEL: Final = 200
"""Height of each of the two diagrams."""
_HEIGHT: Final = TOP + 2 * _PANEL + 2 * BOTTOM
_SLOW: Final = "#c0392b"


def plot(load: Load, measured: Measured) -> str:
    """An SVG document: moves a second above, p50 and p99 below."""
    seconds = measured.each_second
    title = f"fudaza bench --game {load.game} --rooms {load.rooms}" + (f" --rate {load.rate:g}" if load.rate else "")
    parts = [text(WIDTH / 2, 20, title, size=15, anchor="middle")]
    moves = [float(second.moves) for second in seconds]
    parts += _panel(TOP, _("moves a second"), {LINE: moves})
    times = {LINE: [second.p50_ms for second in seconds], _SLOW: [second.p99_ms for second in seconds]}
    parts += _panel(TOP + _PANEL + BOTTOM, f"{_('until every seat has a move')} (ms; p50, p99)", times)
    parts.append(text(WIDTH / 2, _HEIGHT - 8, _("seconds"), anchor="middle"))
    return document(_HEIGHT, parts)


def _panel(top: float, title: str, curves: Mapping[str, Sequence[float]]) -> list[str]:
    """A diagram of one or more ``curves`` by their colour, a value a second."""
    values = [value for curve in curves.values() for value in curve]
    up = Scale(0, max(values, default=1.0), top + _PANEL, top)
    along = Scale(0, max(map(len, curves.values())), LEFT, WIDTH - RIGHT)
    parts = [text(LEFT, top - 8, title), line(LEFT, up(0), along(along.high), up(0), colour=INK)]
    for value, label in up.ticks():
        parts += [
            line(LEFT, up(value), along(along.high), up(value), colour=PALE),
            text(LEFT - 8, up(value) + 4, label, anchor="end"),
        ]
    for value, label in along.ticks():
        parts.append(text(along(value), top + _PANEL + 16, label, anchor="middle"))
    for colour, curve in curves.items():
        points = " ".join(f"{along(second + 0.5):.1f},{up(value):.1f}" for second, value in enumerate(curve))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    return parts
