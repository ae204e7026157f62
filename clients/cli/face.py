"""What every face that reads lines has in common: two sources, one loop.

Belongs here: waiting for news and for lines, in the right order, and ending in good order. Must not be known here: what
is shown.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import Final

from clients.cli.core import News
from clients.cli.reading import LineReader
from clients.cli.session import End
from clients.cli.table import Table

OK: Final = 0
FAILED: Final = 1


def status_after(end: End) -> int:
    """The exit status after the end of a session."""
    return OK if end in (End.LEFT, End.ROOM_CLOSED, End.SUPERSEDED) else FAILED


class Face(ABC):
    """Shows one table and takes lines for it. ``run`` returns the exit status."""

    def __init__(self, table: Table, reader: LineReader) -> None:
        self._table = table
        self._core = table.core
        self._session = table.session
        self._reader = reader
        self.status: int | None = None
        """Set to end the loop."""

    async def run(self) -> int:
        """Until the session is over, or ``status`` is set."""
        async with self._core:
            news = self._table.news()
            hear = asyncio.create_task(_next(news))
            read: asyncio.Task[str | None] | None = None
            try:
                while self.status is None:
                    if read is None and self.wants_line():
                        read = asyncio.create_task(self._reader.line())
                    done, _pending = await asyncio.wait(
                        {hear} if read is None else {hear, read},
                        timeout=self.patience(),
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                    if not done:
                        self.nothing_came()
                    elif hear in done:  # a line is read against the newest picture
                        item = hear.result()
                        if item is None:
                            break
                        self.hear(item)
                        hear = asyncio.create_task(_next(news))
                        if self._core.idle() and self.status is None:
                            self.settled()
                    elif read is not None:
                        line, read = read.result(), None
                        self.take(line)
            finally:
                tasks = [task for task in (hear, read) if task is not None]
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                await news.aclose()
        return OK if self.status is None else self.status

    @abstractmethod
    def wants_line(self) -> bool:
        """Whether a line would be of use now."""

    @abstractmethod
    def hear(self, item: News) -> None:
        """Something is new."""

    @abstractmethod
    def settled(self) -> None:
        """Everything new has been heard."""

    @abstractmethod
    def take(self, line: str | None) -> None:
        """A line came; None at the end of the input."""

    def patience(self) -> float | None:
        """Seconds after which ``nothing_came`` is to be called if nothing does; None: never."""
        return None

    def nothing_came(self) -> None:
        """See ``patience``."""
        raise AssertionError("a face with patience says what follows")


async def _next(news: AsyncIterator[News]) -> News | None:
    return await anext(news, None)
