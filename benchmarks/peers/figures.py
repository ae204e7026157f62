"""What a trial measured, and what many of them come to: medians, and ratios to the floor."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from msgspec import Struct

Anything = TypeVar("Anything")

BUSY: Final = 0.9
"""Share of a processor from which a load generator counts as the bottleneck."""
CARRIED: Final = 0.97
"""Share of a fixed load that has to be done for it to count as carried."""


class Load(Struct, frozen=True):
    """What a system is asked for."""

    rate: float
    """Moves a second in all rooms together, at fixed times; 0: each as soon as everybody has seen the last."""
    seconds: float

    @property
    def name(self) -> str:
        """As the command line says it."""
        return f"{self.rate:g}" if self.rate else "full"


class Figure(Struct, frozen=True, kw_only=True):
    """One system under one load, once."""

    system: str
    load: str
    moves_per_second: float
    server_us: float
    """Microseconds of processor time that the server used for each move."""
    store_us: float | None
    """The same of the store's process; None where there is none."""
    p50_ms: float
    """From when a move was due until every seat had seen it."""
    p99_ms: float
    max_ms: float
    load_busy: float
    """Share of a processor that the load generator used."""


class Discarded(Struct, frozen=True):
    """A trial that says nothing, and why."""

    system: str
    load: str
    why: str


Result = Figure | Discarded


def judged(figure: Figure, carried: float) -> Result:
    """``figure``, unless it says more about the load than about the server.

    ``carried`` is the share of the moves that were due which was made.
    """
    if figure.load_busy > BUSY:
        return Discarded(figure.system, figure.load, "the load generator was the bottleneck")
    if carried < CARRIED:
        return Discarded(figure.system, figure.load, f"carried {carried:.0%} of the load")
    return figure


def interleaved(systems: Sequence[Anything], rounds: int) -> list[tuple[int, Anything]]:
    """A B C A B C …: so that what changes on the machine meanwhile changes for all."""
    return [(number, system) for number in range(1, rounds + 1) for system in systems]


class Median(Struct, frozen=True, kw_only=True):
    """The middle of all figures of one system under one load, each value by itself."""

    system: str
    load: str
    runs: int
    discarded: tuple[str, ...]
    """Why others were."""
    figure: Figure | None
    least_us: float
    """The range of ``server_us``."""
    most_us: float
    ratio: float | None
    """Of ``server_us`` to the floor's with as many seats, under the same load."""


def medians(results: Iterable[Result], floors: dict[str, str]) -> list[Median]:
    """In the order in which systems and loads first appear. ``floors``: by system, the one that is its floor."""
    kept: dict[tuple[str, str], list[Figure]] = {}
    thrown: dict[tuple[str, str], list[str]] = {}
    for result in results:
        key = (result.system, result.load)
        kept.setdefault(key, [])
        thrown.setdefault(key, [])
        if isinstance(result, Figure):
            kept[key].append(result)
        else:
            thrown[key].append(result.why)
    middle = {key: _middle(figures) for key, figures in kept.items() if figures}

    def ratio(system: str, load: str) -> float | None:
        ours, floor = middle.get((system, load)), middle.get((floors.get(system, ""), load))
        return None if ours is None or floor is None else ours.server_us / floor.server_us

    return [
        Median(
            system=system,
            load=load,
            runs=len(figures),
            discarded=tuple(thrown[system, load]),
            figure=middle.get((system, load)),
            least_us=min((each.server_us for each in figures), default=0.0),
            most_us=max((each.server_us for each in figures), default=0.0),
            ratio=ratio(system, load),
        )
        for (system, load), figures in kept.items()
    ]


def _middle(figures: Sequence[Figure]) -> Figure:
    def of(values: Iterable[float]) -> float:
        return statistics.median(values)

    stores = [each.store_us for each in figures if each.store_us is not None]
    return Figure(
        system=figures[0].system,
        load=figures[0].load,
        moves_per_second=of(each.moves_per_second for each in figures),
        server_us=of(each.server_us for each in figures),
        store_us=of(stores) if stores else None,
        p50_ms=of(each.p50_ms for each in figures),
        p99_ms=of(each.p99_ms for each in figures),
        max_ms=of(each.max_ms for each in figures),
        load_busy=of(each.load_busy for each in figures),
    )


_HEAD: Final = ("system", "load", "runs", "moves/s", "server µs", "range", "store µs", "× floor", "p50 ms", "p99 ms")


def table(found: Iterable[Median]) -> list[str]:
    """As lines of a Markdown table, right for a terminal as well."""
    rows = [_HEAD, *map(_row, found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]

    def line(row: Sequence[str]) -> str:
        return f"| {' | '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} |"

    return [line(_HEAD), f"|{'|'.join('-' * (width + 2) for width in widths)}|", *map(line, rows[1:])]


def _row(median: Median) -> tuple[str, ...]:
    figure = median.figure
    if figure is None:
        return (median.system, median.load, "0", median.discarded[0], *("" for _ in _HEAD[4:]))
    return (
        median.system,
        median.load,
        str(median.runs),
        f"{figure.moves_per_second:.0f}",
        f"{figure.server_us:.0f}",
        f"{median.least_us:.0f}-{median.most_us:.0f}",
        "-" if figure.store_us is None else f"{figure.store_us:.0f}",
        "-" if median.ratio is None else f"{median.ratio:.2f}",
        f"{figure.p50_ms:.1f}",
        f"{figure.p99_ms:.1f}",
    )
