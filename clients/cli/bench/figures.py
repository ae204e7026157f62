"""Percentiles, and the due times of a load that does not wait for the server."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Final

from msgspec import Struct

MS: Final = 1000.0


def percentile(ordered: Sequence[float], share: float) -> float:
    """The nearest-rank percentile of ``ordered`` (ascending, at least one): the smallest value that at least
    ``share`` (0 to 1) of all values do not exceed.
    """
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


class Spread(Struct, frozen=True):
    """How times are spread, in milliseconds."""

    count: int
    p50: float
    p90: float
    p99: float
    max: float


def spread_of(seconds: Sequence[float]) -> Spread | None:
    """The spread of ``seconds``; None if there are none."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    p50, p90, p99 = (percentile(ordered, share) * MS for share in (0.5, 0.9, 0.99))
    return Spread(len(ordered), p50, p90, p99, ordered[-1] * MS)


class Schedule:
    """When the moves of one room are due: every ``interval`` seconds from ``first``, whatever the server does.

    A move that the server holds up is late, and so are those behind it; all are measured from when they were due, not
    from when they could be sent. (Measuring from the sending leaves out the waiting of everybody whom a stall keeps
    from sending, "coordinated omission".) While the rules let nobody move, between two deals, the schedule stands.
    """

    def __init__(self, first: float, interval: float) -> None:
        self.due = first
        """When the next move is due."""
        self._interval = interval
        self._paused: float | None = None

    def take(self) -> float:
        """When the move was due that is made now; the next one is due an interval later."""
        due = self.due
        self.due += self._interval
        return due

    def pause(self, now: float) -> None:
        """Nobody can move from ``now`` on."""
        if self._paused is None:
            self._paused = now

    def go_on(self, now: float) -> None:
        """Somebody can move again."""
        if self._paused is not None:
            self.due += now - self._paused
            self._paused = None

    def missed(self, end: float) -> list[float]:
        """Due times before ``end`` whose moves have not been made."""
        end = end if self._paused is None else min(end, self._paused)
        late: list[float] = []
        due = self.due
        while due < end:
            late.append(due)
            due += self._interval
        return late
