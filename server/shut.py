"""Rooms that a node cannot look after, and when it tries again. Pure; times are milliseconds since the epoch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

PUT_OFF_MS: Final = 60_000


class Shut:
    """Those that only another version of the server can read, and those that are damaged or trip a fault of ours."""

    def __init__(self) -> None:
        self._asked: dict[str, int] = {}
        self._put_off: dict[str, int] = {}

    def __len__(self) -> int:
        """How many rooms may be due in the index and stay so."""
        return len(self._asked) + len(self._put_off)

    def __contains__(self, room: object) -> bool:
        """Whether ``room`` cannot be looked after, as far as is known."""
        return room in self._asked or room in self._put_off

    def ask(self, room: str, now: int) -> None:
        """Whoever can read ``room`` is asked from ``now`` on to drive it."""
        self._asked[room] = now

    def asked_at(self, room: str) -> int | None:
        """Since when that has been asked; None: ``room`` can be read as far as is known."""
        return self._asked.get(room)

    def put_off(self, room: str, now: int) -> None:
        """Leave ``room`` alone for a while."""
        self._put_off[room] = now + PUT_OFF_MS

    def is_put_off(self, room: str, now: int) -> bool:
        """Whether ``room`` is to be left alone."""
        return now < self._put_off.get(room, now)

    def open(self, room: str) -> None:
        """``room`` can be looked after, or is over."""
        self._asked.pop(room, None)
        self._put_off.pop(room, None)

    def keep(self, live: Iterable[str]) -> None:
        """Forget all rooms but those that are ``live``."""
        alive = set(live)
        for rooms in (self._asked, self._put_off):
            for room in rooms.keys() - alive:
                del rooms[room]
