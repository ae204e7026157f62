"""The real command at a real server: processes that play, and are killed, for end-to-end tests."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Self

FUDAZA: Final = Path(sys.executable).parent / "fudaza"
SECONDS: Final = 60.0
"""A machine may be busy; nothing here takes so long."""
QUICK: Final = {
    "FUDAZA_AI_PAUSE_MS": "0",
    "FUDAZA_COMMANDS_PER_SECOND": "10000",
    "FUDAZA_COMMAND_BURST": "10000",
    "FUDAZA_TIMING": "question_ms=150,pause_ms=60000,redeal_ms=50,grace_ms=60000",
}
"""Settings that save time where no rule is touched."""


class Player:
    """One running ``fudaza``."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.text = ""
        """Everything it has written."""
        self._seen = 0
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout

    @classmethod
    async def start(cls, state: Path, *arguments: str, **environment: str) -> Self:
        """Run ``fudaza ARGUMENTS`` with its files under ``state``."""
        process = await asyncio.create_subprocess_exec(
            str(FUDAZA),
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, **QUICK, "XDG_STATE_HOME": str(state), **environment},
        )
        return cls(process)

    async def until(self, *wanted: str) -> str:
        """What was written up to and including the first of ``wanted``, from where the last call ended."""
        try:
            async with asyncio.timeout(SECONDS):
                return await self._until(wanted)
        except TimeoutError:
            raise AssertionError(f"{wanted} never came:\n{self.text[-2000:]}") from None

    async def _until(self, wanted: tuple[str, ...]) -> str:
        while True:
            places = [(self.text.find(each, self._seen), each) for each in wanted]
            found = min((place for place in places if place[0] >= 0), default=None)
            if found is not None:
                start, self._seen = self._seen, found[0] + len(found[1])
                return self.text[start : self._seen]
            chunk = await self._stdout.read(65_536)
            assert chunk, f"it ended without {wanted}:\n{self.text[-2000:]}"
            self.text += chunk.decode()

    async def line(self) -> dict[str, Any]:
        """The next line of the JSON mode."""
        message: dict[str, Any] = json.loads(await self.until("\n"))
        return message

    def type(self, line: str) -> None:
        """Write a line to its input."""
        self._stdin.write(f"{line}\n".encode())

    def end_input(self) -> None:
        """Close its input."""
        self._stdin.close()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    async def ended(self) -> int:
        """Its exit status; ``text`` is complete then."""
        async with asyncio.timeout(SECONDS):
            while chunk := await self._stdout.read(65_536):
                self.text += chunk.decode()
            return await self.process.wait()

    async def play_to_the_end(self) -> str:
        """Answer every question with the first answer until the match is over; returns what was written."""
        start = len(self.text)
        while "The match is over." not in await self.until(">\n"):
            self.type("1")
        return self.text[start:]

    async def stop(self) -> None:
        """End it, whatever it does."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self._stdin.close()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            await self._stdin.wait_closed()
        await self.process.wait()


class Players:
    """All players of a test; ended with it, and so are the servers that they started."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self._players: list[Player] = []

    async def __call__(self, *arguments: str, at: str = "one", **environment: str) -> Player:
        """A player; ``at`` names the machine, as it were: its seats and servers are its own."""
        player = await Player.start(self.state / at, *arguments, **environment)
        self._players.append(player)
        return player

    def servers(self) -> list[int]:
        """Process ids of the servers that players started, newest last."""
        return [pid for log in self.state.glob("*/fudaza/servers/*/server.log") for pid in pids_in(log)]

    async def end(self) -> None:
        """End all."""
        for player in self._players:
            await player.stop()
        for pid in self.servers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)


def pids_in(log: Path) -> list[int]:
    """Process ids of the servers that wrote ``log``."""
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return [line["pid"] for line in lines if line.get("event") == "serving"]


@asynccontextmanager
async def players_under(state: Path) -> AsyncIterator[Players]:
    """Players with their files under ``state``."""
    players = Players(state)
    try:
        yield players
    finally:
        await players.end()


class Server:
    """``fudaza serve`` that can be killed and started again on the same data and port."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._process: asyncio.subprocess.Process | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """Where it is."""
        return f"ws://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start it and wait until it is ready."""
        self._data.mkdir(exist_ok=True)
        with (self._data / "server.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(str(FUDAZA), "serve", "--ready-json", "--port", str(self.port), "--data", str(self._data / "store")),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env={**os.environ, **QUICK},
            )
        assert self._process.stdout is not None
        async with asyncio.timeout(SECONDS):
            line = await self._process.stdout.readline()
        assert line, (self._data / "server.log").read_text()[-2000:]
        self.port = json.loads(line)["ready"]["port"]

    async def kill(self) -> None:
        """SIGKILL."""
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    async def stop(self) -> int:
        """SIGTERM; returns the exit status."""
        assert self._process is not None
        if self._process.returncode is None:
            self._process.terminate()
        async with asyncio.timeout(SECONDS):
            return await self._process.wait()


@asynccontextmanager
async def serving(data: Path) -> AsyncIterator[Server]:
    """A server on ``data`` for the length of a test."""
    server = Server(data)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
