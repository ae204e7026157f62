"""Says where a node is stuck when its event loop stands still: a line in the log, once for each time.

Belongs here: noticing, from a thread of its own because a loop that stands cannot tell, and places in the source. Must
not be known here: what stands there, and values of anything: a line holds no card, whatever the loop is at.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import structlog

LOOK_SECONDS: Final = 1.0
STUCK_LOOKS: Final = 3
"""Looks in a row at which the loop has not moved. Looks, not seconds: a process that is stopped does not look."""
_FRAMES: Final = 12
"""Calls told, the innermost."""
_TASKS: Final = 12
"""Kinds of tasks told, those with most tasks."""

_log = structlog.get_logger()


class Watchdog:
    """Of the loop and thread that it is made in."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._looks = 0
        """Since the loop moved last."""
        self._stop = threading.Event()

    def moved(self) -> None:
        """The loop has come round."""
        self._looks = 0

    def look(self) -> dict[str, Any] | None:
        """Ask the loop to move, and tell of it if it has not done so for too long: where it stands, innermost call
        last, and how many tasks wait of which kind.
        """
        self._looks += 1
        self._loop.call_soon_threadsafe(self.moved)
        if self._looks != STUCK_LOOKS:
            return None
        frame = sys._current_frames().get(self._thread)  # noqa: SLF001 - the one way to see another thread's calls
        calls = traceback.extract_stack(frame)[-_FRAMES:]
        kinds = Counter(getattr(task.get_coro(), "__qualname__", "?") for task in asyncio.all_tasks(self._loop))
        return {
            "stands": [f"{call.filename}:{call.lineno} {call.name}" for call in calls],
            "tasks": dict(kinds.most_common(_TASKS)),
        }

    @contextmanager
    def watching(self, every_seconds: float = LOOK_SECONDS) -> Iterator[None]:
        """Look and log from a thread, until left."""
        thread = threading.Thread(target=self._watch, args=(every_seconds,), name="watchdog", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def _watch(self, every_seconds: float) -> None:
        while not self._stop.wait(every_seconds):
            found = self.look()
            if found is not None:
                _log.warning("loop-stands-still", **found)
