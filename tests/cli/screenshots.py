"""``python -m tests.cli.screenshots`` draws ``docs/images``: the real application at a hall in memory."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from pathlib import Path

from clients.cli.tui.app import TableApp
from engine.registry import GAMES
from tests.cli.hall import Hall
from tests.cli.tuikit import Client, at_table

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"
SIZE = (104, 32)
PICTURES = {"koi-koi": (24, 3), "go-stop": (5, 5), "hachinin-meri": (5, 6)}
"""The hall's seed, and how many moves are made before the picture."""


def picture_of(app: TableApp, title: str) -> str:
    """The screen as SVG that loads nothing from elsewhere."""
    svg = app.export_screenshot(title=title)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL).replace("Fira Code", "ui-monospace, Menlo")


async def play(client: Client, moves: int) -> None:
    """Make so many moves, going on from deal to deal."""
    for _move in range(moves):
        await client.until(lambda: client.sitting.choice is not None)
        await client.press("right", "enter")
        if client.sitting.choice is not None and client.sitting.choice.held is not None:
            await client.press("right", "enter")
    await client.until(lambda: client.sitting.choice is not None)
    await client.press("right")
    await client.pilot.pause()


async def draw() -> None:
    """All pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, (seed, moves) in PICTURES.items():
        async with at_table(GAMES[name], hall=Hall(GAMES[name], seed=seed), size=SIZE) as client:
            await play(client, moves)
            (FOLDER / f"{name}.svg").write_text(picture_of(client.app, f"fudaza play {name}"), encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as mine:
        os.environ["XDG_STATE_HOME"] = os.environ["XDG_CONFIG_HOME"] = mine
        asyncio.run(draw())
