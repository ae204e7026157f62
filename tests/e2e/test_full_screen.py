"""The full screen in a real terminal: whole matches by keys, and what is left on the terminal afterwards.

The terminal is tmux's; without tmux these tests are skipped.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.players import FUDAZA, QUICK
from wording.columns import width

TMUX = shutil.which("tmux")
SIZE = ("80", "24")
ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0
CHEAP = 6_000
"""Bytes that two keys may send to the terminal: a second on the slowest link that anybody plays over."""

needs_tmux = pytest.mark.skipif(TMUX is None, reason="there is no tmux")


class Terminal:
    """A terminal with one command in it."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    async def _tmux(self, *arguments: str) -> str:
        process = await asyncio.create_subprocess_exec(
            str(TMUX), "-S", str(self._socket), "-f", os.devnull, *arguments, stdout=subprocess.PIPE
        )
        out, _err = await process.communicate()
        return out.decode()

    async def start(self, command: str, environment: dict[str, str]) -> None:
        settings = " ".join(f"{key}={value}" for key, value in environment.items())
        shell = f"env {settings} {command}; echo status=$?; cat"
        await self._tmux("new-session", "-d", "-x", SIZE[0], "-y", SIZE[1], shell)

    async def press(self, *keys: str) -> None:
        await self._tmux("send-keys", *keys)

    async def text(self) -> str:
        return await self._tmux("capture-pane", "-p")

    async def pipe_to(self, file: Path) -> None:
        """From now on what the command writes is copied to ``file``."""
        await self._tmux("pipe-pane", f"cat >> {file}")

    async def until(self, *wanted: str) -> str:
        """Look until one of the texts is on the screen."""
        text = ""
        try:
            async with asyncio.timeout(PATIENCE):
                while not any(each in text for each in wanted):
                    await asyncio.sleep(0.05)  # tmux tells nobody that the screen has changed
                    text = await self.text()
        except TimeoutError:
            raise AssertionError(f"none of {wanted} ever came; the screen:\n{text}") from None
        return text

    async def close(self) -> None:
        await self._tmux("kill-server")


@pytest.fixture
async def terminal(tmp_path: Path) -> AsyncIterator[Terminal]:
    terminal = Terminal(tmp_path / "tmux")
    try:
        yield terminal
    finally:
        await terminal.close()


def fudaza(*arguments: str) -> str:
    return " ".join([str(FUDAZA), *arguments])


def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "PYTHONPATH": str(ROOT),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "LC_ALL": "C.UTF-8",
        **QUICK,
    }


SEVERAL_DEALS: Final = ("-o", "deals=3")
"""For tests that need a match in play: a deal may end with the cards that are dealt (K2), and before the next one the
match waits for its people.
"""


@needs_tmux
@pytest.mark.parametrize("game", ["koi-koi", "go-stop", "hachinin-meri"])
async def test_a_whole_match_is_played_by_keys_in_a_terminal(terminal: Terminal, tmp_path: Path, game: str) -> None:
    await terminal.start(fudaza("play", game, "--name", "Aki", "-o", "deals=1"), environment(tmp_path))
    for _look in range(400):
        text = await terminal.until("▶ Y", "▶ W", "▶ E", "▶ Stop", "The match is over")
        if "The match is over" in text and "1  leave the table" in text:
            break
        await terminal.press("Right", "Enter")
    else:
        raise AssertionError(text)
    await terminal.press("1", "Enter")
    text = await terminal.until("status=")
    assert "You have left the table." in text
    assert "status=0" in text


@needs_tmux
async def test_what_was_played_is_kept_and_can_be_watched_and_verified(terminal: Terminal, tmp_path: Path) -> None:
    """The file that is named at the end is the deal just played; from a seat's eyes it shows no more than that."""
    # of the three games the one in which no deal ends with the cards that are dealt: there is a step to be watched
    await terminal.start(fudaza("play", "hachinin-meri", "--name", "Aki", "-o", "deals=1"), environment(tmp_path))
    for _look in range(400):
        text = await terminal.until("▶ Y", "▶ W", "▶ E", "▶ Stop", "The match is over")
        if "The match is over" in text:
            break
        await terminal.press("Right", "Enter")
    else:
        raise AssertionError(text)
    await terminal.press("C-c")
    text = await terminal.until("status=")
    assert "Records of the deals: " in text
    (file,) = (tmp_path / "state" / "fudaza" / "records").iterdir()
    assert file.name.startswith("hachinin-meri-")

    watched = Terminal(tmp_path / "verifying")
    try:
        await watched.start(fudaza("verify", str(file)), environment(tmp_path))
        assert "Line 1: yes." in await watched.until("status=0")
    finally:
        await watched.close()
    watched = Terminal(tmp_path / "watching")
    try:
        await watched.start(fudaza("replay", str(file), "--watch", "--seat", "7"), environment(tmp_path))
        assert "next: " in await watched.until("the eyes of AI 7")
        assert "step 0 of" in await watched.text()
        await watched.press("Right")
        await watched.until("step 1 of")
        await watched.press("End")
        await watched.until("The deal is over (")
        await watched.press("e")
        await watched.until("all cards open")
        await watched.press("Home", "h")
        await watched.until("would: ")
        await watched.press("q")
        await watched.until("status=0")
    finally:
        await watched.close()


@needs_tmux
async def test_in_hindi_nothing_runs_over_and_the_frames_of_cards_line_up(terminal: Terminal, tmp_path: Path) -> None:
    command = fudaza("--lang", "hi", "play", "koi-koi", "--name", "Aki", "-o", "deals=1")
    await terminal.start(command, environment(tmp_path))
    for _move in range(6):
        text = await terminal.until("▶ आप", "▶ कौन", "▶ याकु", "मेज़ छोड़ें")
        if "मेज़ छोड़ें" in text:
            break  # an early yaku has ended the match
        rows = text.splitlines()
        assert len(rows) <= int(SIZE[1])
        assert max(map(width, rows)) <= int(SIZE[0])
        top = next(number for number, row in reversed(list(enumerate(rows))) if re.search("[╭┌┏].*[╮┐┓]", row))
        edges = [[width(row[:at]) for at, sign in enumerate(row) if sign in "│┆┃"] for row in rows[top + 1 : top + 3]]
        assert edges[0] == edges[1] != []
        await terminal.press("Right", "Enter")


@needs_tmux
async def test_a_key_costs_a_slow_link_little(terminal: Terminal, tmp_path: Path) -> None:
    await terminal.start(fudaza("play", "koi-koi", "--name", "Aki", *SEVERAL_DEALS), environment(tmp_path))
    for deal in (1, 2, 3):
        if "▶ Y" in await terminal.until("▶ Y", f"Deal {deal} is over"):
            break
        await terminal.press("Enter")  # on to the next
        await terminal.until(f"deal {deal + 1} of 3")
    await terminal.press("Right")
    await terminal.until("⏎ do it")  # by now the whole table has been drawn
    sent = tmp_path / "sent"
    await terminal.pipe_to(sent)
    await terminal.press("Right")
    await terminal.until("━[2]━")
    await terminal.press("Right")
    await terminal.until("━[3]━")
    assert 0 < sent.stat().st_size < CHEAP, sent.read_text(errors="replace")


@needs_tmux
async def test_control_c_gives_the_terminal_back_and_keeps_the_seat(terminal: Terminal, tmp_path: Path) -> None:
    await terminal.start(fudaza("play", "koi-koi", "--name", "Aki", *SEVERAL_DEALS), environment(tmp_path))
    await terminal.until("▶ Y", "▶ W", "Deal 1 is over")
    await terminal.press("C-c")
    text = await terminal.until("status=")
    assert "status=130" in text
    assert "fudaza rejoin" in text


@needs_tmux
async def test_plain_shows_lines_in_a_terminal_too(terminal: Terminal, tmp_path: Path) -> None:
    await terminal.start(fudaza("play", "koi-koi", "--plain", "--name", "Aki", *SEVERAL_DEALS), environment(tmp_path))
    text = await terminal.until("Your turn", "Ready for the next deal?")
    assert "▶" not in text
    await terminal.press("C-c")
    await terminal.until("status=130")
