"""Which rooms want to be looked after when: a heap with one time for each room. Pure."""

from __future__ import annotations

import heapq


class Schedule:
    """Times are milliseconds since the epoch. A room has at most one."""

    def __init__(self) -> None:
        self._at: dict[str, int] = {}
        self._heap: list[tuple[int, str]] = []
        """May hold times that were replaced; ``_at`` has the valid ones."""

    def __contains__(self, room: str) -> bool:
        return room in self._at

    def __len__(self) -> int:
        return len(self._at)

    def set(self, room: str, at: int | None) -> None:
        """Give ``room`` another time; None: it wants nothing any more."""
        if at is None:
            self._at.pop(room, None)
        elif self._at.get(room) != at:
            self._at[room] = at
            heapq.heappush(self._heap, (at, room))

    def next(self) -> int | None:
        """The earliest time of all; None if nothing is scheduled."""
        self._tidy()
        return self._heap[0][0] if self._heap else None

    def pop(self, now: int) -> list[str]:
        """The rooms whose time has come, the earliest first; they are scheduled no more."""
        due = []
        while (at := self.next()) is not None and at <= now:
            room = heapq.heappop(self._heap)[1]
            del self._at[room]
            due.append(room)
        return due

    def _tidy(self) -> None:
        while self._heap and self._at.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
