"""How much one person may do at a time, whatever connection it comes over: by the times at which they last did it."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from protocol.codes import Refused
from server.room.answers import Refuse


class Measure(Struct, frozen=True):
    """So often in any so many milliseconds."""

    burst: int
    window_ms: int


TALK: Final = Measure(5, 10_000)
"""Lines and winks."""
HOUSEKEEPING: Final = Measure(30, 30_000)
"""What could be done without end and moves nothing in the match: changing seats, seating AI, mutes, the lock. A host
who fills a table with AI and changes their mind about each does not notice it.
"""
RETURNS: Final = Measure(20, 5_000)
"""Comings back with one's token. A network that comes and goes makes fewer, and each is an entry that is read whenever
the room is. Whoever is held back by it waits for much less than their time of grace.
"""


def too_fast(times: tuple[int, ...], measure: Measure, now: int) -> Refuse | None:
    """Why it cannot be done now, after it was at these ``times``; milliseconds since the epoch."""
    if len(times) < measure.burst or now - times[0] >= measure.window_ms:
        return None
    return Refuse(Refused.TOO_FAST, {"retry_ms": times[0] + measure.window_ms - now})


def noted(times: tuple[int, ...], measure: Measure, at: int) -> tuple[int, ...]:
    """``times`` after it was done again, as many as matter."""
    return (*times, at)[-measure.burst :]
