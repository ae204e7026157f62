"""SIGTERM in the middle of many matches: the server ends in order, and every match goes on where it was."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from server.embedded import socket_path
from server.store import StoredLog, open_store
from tests.e2e.serverprocess import QUICK, ServerProcess
from tests.faults.invariants import check
from tests.faults.people import Guest


@pytest.mark.parametrize("rooms", [20, pytest.param(200, marks=pytest.mark.long)])
async def test_sigterm_with_busy_rooms_ends_in_order_and_loses_nothing(
    rooms: int, tmp_path: Path, tell: Callable[..., None]
) -> None:
    server = ServerProcess(tmp_path, *QUICK, "--rooms-per-minute", "100000", "--commands-per-second", "10000")
    await server.start()
    try:
        # a busy node may be slow to answer, and there is no other to go to
        people = [Guest([server.port], f"P{number}", seed=number, silence_seconds=20) for number in range(rooms)]
        for person in people:
            await person.sit("koi-koi", deals=6)  # long enough that none is over when the signal comes
        await asyncio.gather(*(person.start() for person in people))
        playing = asyncio.gather(*(person.play() for person in people))
        await asyncio.gather(*(person.until(lambda who=person: who.number > 8) for person in people))  # type: ignore[misc]

        server.signal(signal.SIGTERM)
        assert await server.ended() == 0
        assert "Traceback" not in server.errors()
        await server.start()
        await playing

        store = await open_store(f"unix://{quote(socket_path(server.directory / 'data'))}")
        log = StoredLog(store)
        try:
            for person in people:
                check(await log.read(person.room), [person])
        finally:
            await log.aclose()
            await store.aclose()
    finally:
        await server.close()

    interrupted = [person.interruptions[0] for person in people if person.interruptions]
    assert len(interrupted) > rooms / 2
    tell(rooms=rooms, interrupted=len(interrupted), longest_interruption_seconds=round(max(interrupted), 2))
