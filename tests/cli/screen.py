"""A person or a script at the client, in memory: lines in through a pipe, text out into a string."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from clients.cli.core import Core
from clients.cli.face import Face
from clients.cli.json_lines import JsonFace
from clients.cli.lines import LineFace
from clients.cli.reading import LineReader
from clients.cli.session import Session
from clients.cli.table import Table
from engine.game import AnyGame, Level
from protocol.messages import Command, Create
from tests.cli.hall import Hall, Network

PATIENCE: Final = 20.0
"""Seconds after which something that was waited for will not come."""


class Screen:
    """What the client has written, and the other end of its input."""

    def __init__(self) -> None:
        self.text = ""
        self._read, self._write = os.pipe()
        self._changed = asyncio.Event()
        self._seen = 0
        self.reader = LineReader(self._read)

    def write(self, text: str) -> None:
        """The client writes."""
        self.text += text
        self._changed.set()

    def type(self, *lines: str) -> None:
        """A person types lines, or a script has them ready."""
        os.write(self._write, "".join(f"{line}\n" for line in lines).encode())

    def end_input(self) -> None:
        """Control-D; the end of the script."""
        if self._write >= 0:
            os.close(self._write)
            self._write = -1

    async def until(self, wanted: str) -> str:
        """Wait for ``wanted`` in what was not looked at yet; returns everything up to and including it."""
        try:
            async with asyncio.timeout(PATIENCE):
                while (place := self.text.find(wanted, self._seen)) < 0:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"{wanted!r} never came; the last lines: {self.text[-800:]}") from None
        start, self._seen = self._seen, place + len(wanted)
        return self.text[start : self._seen]

    def close(self) -> None:
        """No descriptor stays open, and no thread is left to read from whatever gets its number next."""
        self.end_input()
        if self.reader._thread is not None:
            # Asked once it may get lines that nobody wanted any more (a pipe holds no more than it reads at once);
            # asked twice, the end.
            self.reader._demand.release(2)
            self.reader._thread.join(PATIENCE)
            assert not self.reader._thread.is_alive(), "the reader never came to the end of its input"
        os.close(self._read)


class Seat:
    """A client at a hall."""

    def __init__(self, hall: Hall, screen: Screen, network: Network, face: Face) -> None:
        self.hall = hall
        self.screen = screen
        self.network = network
        self.face = face
        self.running: asyncio.Task[int] = asyncio.create_task(face.run())

    async def status(self) -> int:
        """The exit status, once the client has ended."""
        return await asyncio.wait_for(self.running, PATIENCE)


@asynccontextmanager
async def seated(
    game: AnyGame,
    *,
    as_json: bool = False,
    interactive: bool = False,
    start: bool = True,
    door: type[Command] = Create,
    hall: Hall | None = None,
    unconfirmed_seconds: float = 60.0,
    level: Level = Level.MEDIUM,
    **fields: Any,
) -> AsyncIterator[Seat]:
    """A client that opened a room (or came in by ``door``) and, with ``start``, began a match."""
    hall = hall or Hall(game, seed=5)
    network = Network(hall)
    session = Session("f" * 20, bytes)
    session.ask(door, **(fields or {"game": game.name, "name": "Aki"}))
    core = Core("ws://hall", session, dial=network.dial, sleep=network.sleep)
    screen = Screen()
    screen.reader.interactive = interactive
    table = Table(core)
    face: Face
    if as_json:
        face = JsonFace(table, screen.reader, screen.write, level=level, start=start)
    else:
        face = LineFace(table, screen.reader, screen.write, start=start, unconfirmed_seconds=unconfirmed_seconds)
    seat = Seat(hall, screen, network, face)
    try:
        yield seat
    finally:
        seat.running.cancel()
        await asyncio.gather(seat.running, return_exceptions=True)
        screen.close()


@pytest.fixture
def private_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of this test's own for seats and servers, and another for what a person has chosen."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "fudaza"
