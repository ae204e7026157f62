"""Tells a person, once for each decision, that their time runs out.

Belongs here: when to say it. Must not be known here: who hears it, how time passes (``Later``). It is said by the node
that holds the person's connection, and to that person alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Protocol, TypeAlias

from server.room import Room

MOST_NOTICE_MS: Final = 30_000
"""How long before the end it is said, at most …"""
SHARE: Final = 4
"""… and at most this part of the limit: a limit of ten seconds is warned of two and a half before its end."""


class Timer(Protocol):
    """Something that will happen."""

    def cancel(self) -> None:
        """It will not."""
        ...


Later: TypeAlias = Callable[[float, Callable[[], None]], Timer]
"""Seconds from now, and what to do then."""


def on_the_loop(seconds: float, do: Callable[[], None]) -> Timer:
    """``Later`` by the running event loop."""
    return asyncio.get_running_loop().call_later(seconds, do)


class TurnWarning:
    """Of one room on one node. ``tell(room, left_ms)`` says it to the seat that is asked."""

    def __init__(self, later: Later, clock: Callable[[], int], tell: Callable[[Room, int], None]) -> None:
        self._later = later
        self._clock = clock
        self._tell = tell
        self._planned: tuple[int, int] | None = None
        """The decision (its number) and the deadline that the timer is for, or was."""
        self._timer: Timer | None = None

    def follow(self, room: Room) -> None:
        """``room`` is as it is now: plan, plan anew or plan nothing. Cheap while nothing has changed."""
        decision = None if room.table is None else room.table.decision
        due = None if decision is None or decision.deadline is None else (decision.at, decision.deadline)
        if due == self._planned:
            return
        self.stop()
        self._planned = due
        if due is None:
            return
        notice_ms = min(MOST_NOTICE_MS, room.settings.turn_limit * 1000 // SHARE)
        wait_ms = max(0, due[1] - notice_ms - self._clock())
        self._timer = self._later(wait_ms / 1000, lambda: self._tell(room, due[1] - self._clock()))

    def stop(self) -> None:
        """Say nothing more."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._planned = None
