"""The examples do what the documents say, against the real server."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import pytest

from engine.registry import GAMES
from tests.e2e.serverprocess import QUICK, ServerProcess

BOT = Path(__file__).resolve().parents[2] / "examples" / "bot.py"


async def run_bot(server: ServerProcess, *where: str) -> list[dict[str, object]]:
    """The events that the bot printed, up to the end of its match."""
    url = f"ws://127.0.0.1:{server.port}"
    bot = await asyncio.create_subprocess_exec(
        *(sys.executable, str(BOT), url, *where), stdin=DEVNULL, stdout=PIPE, stderr=PIPE
    )
    async with asyncio.timeout(120):
        out, errors = await bot.communicate()
    assert bot.returncode == 0, errors.decode()
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("game", sorted(GAMES))
async def test_the_bot_hosts_and_plays_a_whole_match_of_any_game(game: str, tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, *QUICK)
    await server.start()
    try:
        events = await run_bot(server, game)
    finally:
        await server.close()

    kinds = [event["e"] for event in events]
    assert kinds[-1] == "match-ended"
    assert (
        kinds.count("deal-ended") - sum(event.get("reason") == "redeal" for event in events)
        == (GAMES[game].options["deals"][0])
    )
