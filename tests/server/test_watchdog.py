"""A loop that stands still is told of, with the place where it stands and without any value."""

from __future__ import annotations

import asyncio
import time

from structlog.testing import capture_logs

from engine.registry import GAMES
from server.watchdog import STUCK_LOOKS, Watchdog


async def come_round() -> None:
    """Let the loop do what was asked of it."""
    for _ in range(3):
        await asyncio.sleep(0)


async def test_a_loop_that_moves_between_looks_is_not_told_of() -> None:
    watchdog = Watchdog()
    for _ in range(4 * STUCK_LOOKS):
        assert watchdog.look() is None
        await come_round()


async def test_a_loop_that_stands_is_told_of_once_with_the_place_and_what_waits() -> None:
    watchdog = Watchdog()
    waiting = [asyncio.create_task(asyncio.Event().wait()) for _ in range(3)]
    await come_round()

    told = [watchdog.look() for _ in range(3 * STUCK_LOOKS)]

    (found,) = filter(None, told)
    assert told.index(found) == STUCK_LOOKS - 1
    assert any(
        place.endswith(" test_a_loop_that_stands_is_told_of_once_with_the_place_and_what_waits")
        for place in found["stands"]
    )
    assert found["tasks"]["Event.wait"] == 3
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_after_it_has_moved_it_is_told_of_again() -> None:
    watchdog = Watchdog()
    for _ in range(2):
        assert [each is None for each in (watchdog.look() for _ in range(STUCK_LOOKS))] == [True, True, False]
        await come_round()


async def test_a_line_of_a_loop_that_stands_holds_places_and_no_values() -> None:
    hand = GAMES["koi-koi"].cards[:8]
    with capture_logs() as lines, Watchdog().watching(every_seconds=0.001):
        give_up = time.monotonic() + 20
        while not lines and time.monotonic() < give_up:
            time.sleep(0.001)  # noqa: ASYNC251 - standing still is what is tested

    assert [line["event"] for line in lines] == ["loop-stands-still"]
    assert not any(card in str(lines) for card in hand)
    assert any("test_watchdog.py" in place for place in lines[0]["stands"])
