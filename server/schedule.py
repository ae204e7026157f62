"""Which rooms want to be looked after when: a heap with one time for each room. Pure."""

from __future__ import annotations

import heapq


class Schedule:
    """Times are milliseconds since the epoch. A room has at most one."""

    def __init__(self) -> None:
        self._at: dict[str, int] = {}
        self._heap: list[tuple[int, str]] = []
        """Has each room at its time or earlier; what is not right is put right when it comes to the top. So a time that
        is put off with every move costs nothing, and leaves nothing behind.
        """
        self._queued: dict[str, int] = {}
        """The earliest time at which ``_heap`` has the room."""

    def __contains__(self, room: str) -> bool:
        return room in self._at

    def __len__(self) -> int:
        return len(self._at)

    def set(self, room: str, at: int | None) -> None:
        """Give ``room`` another time; None: it wants nothing any more."""
        if at is None:
            self._at.pop(room, None)
            return
        self._at[room] = at
        if at < self._queued.get(room, at + 1):
            self._queue(room, at)

    def next(self) -> int | None:
        """The earliest time of all; None if nothing is scheduled."""
        while self._heap:
            at, room = self._heap[0]
            wanted = self._at.get(room)
            if at == wanted and at == self._queued[room]:
                return at
            heapq.heappop(self._heap)
            if at == self._queued.get(room):
                del self._queued[room]
                if wanted is not None:
                    self._queue(room, wanted)
        return None

    def pop(self, now: int) -> list[str]:
        """The rooms whose time has come, the earliest first; they are scheduled no more."""
        due = []
        while (at := self.next()) is not None and at <= now:
            room = heapq.heappop(self._heap)[1]
            del self._at[room], self._queued[room]
            due.append(room)
        return due

    def _queue(self, room: str, at: int) -> None:
        self._queued[room] = at
        heapq.heappush(self._heap, (at, room))
