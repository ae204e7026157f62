"""SIGTERM in the middle of many matches: the server ends in order, and every match goes on where it was."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from tests.e2e.client import Player
from tests.e2e.serverprocess import QUICK, ServerProcess


@pytest.mark.parametrize("rooms", [20, pytest.param(200, marks=pytest.mark.long)])
async def test_sigterm_with_busy_rooms_ends_in_order_and_loses_nothing(rooms: int, tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, *QUICK, "--rooms-per-minute", "100000", "--commands-per-second", "10000")
    await server.start()
    try:
        people = [Player(lambda: server.port, f"P{number}", seed=number) for number in range(rooms)]
        for person in people:
            await person.sit("koi-koi", deals=12)  # long enough that none is over when the signal comes
        await asyncio.gather(*(person.start() for person in people))
        playing = asyncio.gather(*(person.play() for person in people))
        await asyncio.gather(*(person.until(lambda who=person: who.number > 8) for person in people))  # type: ignore[misc]

        server.signal(signal.SIGTERM)
        assert await server.ended() == 0
        assert "Traceback" not in server.errors()
        await server.start()
        await playing
    finally:
        await server.close()

    for person in people:
        assert person.result is not None
        assert sorted(person.events) == list(range(person.first, person.number + 1))
    assert sum(bool(person.resumed) for person in people) > rooms / 2
