"""The server as a real process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from pathlib import Path
from typing import Final

PATIENCE_SECONDS: Final = 60.0
QUICK: Final = (
    *("--ai-pause-ms", "0", "--timing", "pause_ms=0,redeal_ms=0,question_ms=100,contributions_ms=2000"),
    *("--commands-per-second", "1000", "--command-burst", "1000", "--talk-per-minute", "100000"),
)
"""For tables of programs, who need no time to look at what happened."""


class ServerProcess:
    """``python -m server`` on a data directory of its own; started again it has the same data and port."""

    def __init__(self, directory: Path, *flags: str, environment: dict[str, str] | None = None) -> None:
        self.directory = directory
        self.port = 0
        self.module = "server"
        self._flags = flags
        self._environment = environment or {}
        self._process: Process | None = None

    async def start(self) -> None:
        """Start and wait until clients can connect."""
        process = await self.launch()
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), PATIENCE_SECONDS)
        assert line, self.errors()
        ready = json.loads(line)["ready"]
        assert ready["pid"] == process.pid
        self.port = ready["port"]

    async def launch(self) -> Process:
        """Start and wait for nothing. What it logs goes to a file."""
        assert self._process is None
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FUDAZA_")}
        flags = ("--port", str(self.port), "--data", str(self.directory / "data"), "--ready-json", *self._flags)
        with (self.directory / "log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", self.module, *flags),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env={**environment, **self._environment},
            )
        return self._process

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    async def ended(self) -> int:
        """Wait for its end; the exit status."""
        assert self._process is not None
        assert self._process.stdout is not None
        await self._process.stdout.read()
        status = await asyncio.wait_for(self._process.wait(), PATIENCE_SECONDS)
        self._process = None
        return status

    async def kill(self) -> None:
        """SIGKILL."""
        self.signal(signal.SIGKILL)
        await self.ended()

    async def close(self) -> None:
        """End it, whatever it does."""
        if self._process is not None:
            await self.kill()

    def errors(self) -> str:
        """What it has written to standard error."""
        return (self.directory / "log").read_text(errors="replace")

    def lines(self, event: str) -> list[dict[str, object]]:
        """Log lines of ``event``."""
        parsed = [json.loads(line) for line in self.errors().splitlines() if line.startswith("{")]
        return [line for line in parsed if line["event"] == event]
