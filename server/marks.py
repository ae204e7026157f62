"""Which history an event belongs to: a few bytes that a client is shown with events and shows again when it resumes.

A store that loses its last entries can grow another history to the same numbers and beyond. Who saw the lost one must
not be sent the new one as if it went on, even if every node that remembered the loss is gone: the mark of the last
event that they saw is then another one.

A mark is the beginning of the log's hash at the entry that made the event, so it stands for everything before it and
costs nothing to make. It tells nobody anything: to try a guess of what an entry hides, one would need the whole hash
before it, of which 232 of 256 bits are never shown and which the room's salt has made unforeseeable. It is always that
of an entry with events, never of the log's head, which sealed answers move. Two histories look alike once in 2^24
times, which is for a fault and not for an attacker: who names a false mark is shown the room anew.
"""

from __future__ import annotations

from typing import Final

from server.room.state import HISTORY

_BYTES: Final = 3


class Marks:
    """The marks of a room's last ``HISTORY`` events."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept = bytearray(_BYTES * HISTORY)

    def note(self, number: int, digest: bytes) -> None:
        """``number`` is the last event of the entry at which the log's hash is ``digest``."""
        place = number % HISTORY * _BYTES
        self._kept[place : place + _BYTES] = digest[:_BYTES]

    def at(self, number: int) -> str:
        """The mark that was shown with event ``number``, one of the last; of an event amid its entry's none was."""
        place = number % HISTORY * _BYTES
        return self._kept[place : place + _BYTES].hex()
