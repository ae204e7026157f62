"""Lines from standard input, whatever it is: a terminal, a pipe, a file, nothing.

Belongs here: reading without ever blocking the event loop. Must not be known here: what the lines mean. A thread reads,
because an event loop cannot wait for a file, and only when somebody asked, so that a script's input is not read ahead
of its questions. It reads the descriptor itself: a thread inside ``sys.stdin`` would keep its lock, and the interpreter
could not end while it waits.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from typing import Final

CHUNK: Final = 65_536
LONGEST_LINE: Final = 65_536
"""Bytes after which a line counts as ended; no command comes near."""


class LineReader:
    """Reads lines from a descriptor (by default standard input)."""

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = _standard_input() if descriptor is None else descriptor
        self.interactive = os.isatty(self._descriptor)
        """A person types."""
        self._buffer = b""
        self._ended = False
        self._demand = threading.Semaphore(0)
        self._arrived = asyncio.Event()
        self._asked = False
        self._thread: threading.Thread | None = None

    async def line(self) -> str | None:
        """The next line without its end; None at the end of the input. May be cancelled without losing anything."""
        while True:
            line = self._take()
            if line is not None:
                return line
            if self._ended:
                return None
            self._arrived.clear()
            self._ask()
            await self._arrived.wait()

    def _take(self) -> str | None:
        end = self._buffer.find(b"\n")
        if end < 0:
            if not self._buffer or not (self._ended or len(self._buffer) > LONGEST_LINE):
                return None
            end = len(self._buffer)
        line, self._buffer = self._buffer[:end], self._buffer[end + 1 :]
        return line.decode(errors="replace").rstrip("\r")

    def _ask(self) -> None:
        if self._thread is None:
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._read, args=(loop,), name="stdin", daemon=True)
            self._thread.start()
        if not self._asked:
            self._asked = True
            self._demand.release()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            self._demand.acquire()
            try:
                chunk = os.read(self._descriptor, CHUNK)
            except OSError:
                chunk = b""  # a terminal that was closed
            try:
                loop.call_soon_threadsafe(self._feed, chunk)
            except RuntimeError:
                return  # the loop has ended
            if not chunk:
                return

    def _feed(self, chunk: bytes) -> None:
        self._asked = False
        self._ended = self._ended or not chunk
        self._buffer += chunk
        self._arrived.set()


def _standard_input() -> int:
    """Its descriptor; that of an empty file where it was closed before we were started."""
    return os.open(os.devnull, os.O_RDONLY) if sys.stdin is None else sys.stdin.fileno()


def is_screen() -> bool:
    """Whether a person sits before a terminal that can be drawn on. Without one, a full screen would wait forever."""
    if sys.stdin is None or sys.stdout is None:  # whoever started us closed them
        return False
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
