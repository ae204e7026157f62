"""The server that ``fudaza play`` starts: a child of ours that outlives us while anybody plays.

Belongs here: starting it, knowing where it listens, starting it again on the same data, clearing up after it. Must not
be known here: rooms, what is played.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
import msgspec
from msgspec import Struct

from clients.cli.locks import take_lock
from clients.cli.places import state_dir
from clients.cli.words import _
from wording.languages import environment_for_children

READY_SECONDS: Final = 30.0
"""A server that is not ready by then will not be."""
EMPTY_SECONDS: Final = 30
"""It stops when nobody has been connected for so long: enough to reconnect, or for a friend to join."""
KEPT_SECONDS: Final = 7 * 24 * 3600
"""Directories of stopped servers are removed after this; until then their rooms can be resumed."""


class CannotStart(Exception):
    """The server does not start; the message is its last words, ``log`` the file that has them all."""

    def __init__(self, words: str, log: Path) -> None:
        super().__init__(words)
        self.words = words
        self.log = log


class AlreadyRunning(CannotStart):
    """A server runs on this data: an earlier one that is still ending, or that another client started."""


class _Ready(Struct):
    host: str
    port: int


class _ReadyLine(Struct):
    ready: _Ready


class LocalServer:
    """One server of ours, with its own directory: data, log, and a lock that is held as long as it lives.

    ``flags`` are the server's own, beyond those that say where it is.
    """

    def __init__(self, directory: Path, host: str, port: int, flags: Sequence[str] = ()) -> None:
        self.directory = directory
        self.log = directory / "server.log"
        self._host = host
        self._port = port
        self._flags = flags
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    def fresh(cls, host: str, port: int) -> LocalServer:
        """A server with a new directory. ``port`` 0 means any free one.

        Raises:
            click.ClickException: there is no room for one.
        """
        servers = state_dir() / "servers"
        directory = servers / secrets.token_hex(8)
        try:
            servers.mkdir(mode=0o700, exist_ok=True)
            _clear(servers)
            directory.mkdir(mode=0o700)
        except OSError as problem:
            raise click.ClickException(str(problem)) from problem
        return cls(directory, host, port)

    @property
    def url(self) -> str:
        """Where this machine reaches it. Known once it was started."""
        return self._url({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._host, self._host))  # noqa: S104 - compared

    @property
    def url_for_friends(self) -> str:
        """Where other machines reach it, as far as this one knows its own address."""
        return self._url(_own_address() if self._host in ("0.0.0.0", "::") else self._host)  # noqa: S104 - compared

    @property
    def local_only(self) -> bool:
        """Whether other machines cannot reach it."""
        return self._host in ("127.0.0.1", "::1", "localhost")

    @property
    def pid(self) -> int:
        """Its process id. Known once it was started."""
        assert self._process is not None
        return self._process.pid

    def _url(self, host: str) -> str:
        return f"ws://{f'[{host}]' if ':' in host else host}:{self._port}"

    async def start(self) -> None:
        """Start it (again: on the same data and port) and wait until it takes connections.

        Raises:
            CannotStart: it stopped, or was not ready in time.
        """
        command = [
            *(sys.executable, "-P", "-m", "server", "--ready-json", "--host", self._host, "--port", str(self._port)),
            *("--data", str(self.directory / "data"), "--exit-when-empty", str(EMPTY_SECONDS), "--log-format", "json"),
            *self._flags,
        ]
        try:
            self._process = self._launched(command)
        except OSError as problem:
            raise CannotStart(str(problem), self.log) from problem
        assert self._process.stdout is not None
        with self._process.stdout as out:
            try:
                line = await asyncio.wait_for(asyncio.to_thread(out.readline), READY_SECONDS)
                ready = msgspec.json.decode(line, type=_ReadyLine).ready
            except (TimeoutError, msgspec.MsgspecError) as problem:
                self._process.kill()
                self._process.wait()
                raise CannotStart(self._last_words(), self.log) from problem
        self._port = ready.port

    def _launched(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        with (self.directory / "alive").open("wb") as alive, self.log.open("ab") as log:
            # The child inherits this lock: the kernel keeps it as long as the child lives, and no longer.
            if not take_lock(alive.fileno()):
                raise AlreadyRunning(_("a server runs on this data already"), self.log)
            return subprocess.Popen(  # noqa: S603 - our own program; it must outlive this event loop
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment_for_children(),
                start_new_session=True,  # Ctrl-C at the client is not for the server
                pass_fds=(alive.fileno(),),
            )

    async def stop(self) -> None:
        """End it in order, which its store takes part in; kill it if it takes too long."""
        process = self._process
        if process is None:
            return
        process.terminate()
        try:
            await asyncio.wait_for(asyncio.to_thread(process.wait), READY_SECONDS)
        except TimeoutError:
            process.kill()
            process.wait()

    def _last_words(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return lines[-1] if lines else ""


def _clear(servers: Path) -> None:
    """Remove what servers left that stopped long ago."""
    for directory in servers.iterdir():
        newest = max(map(_changed, (directory, directory / "server.log")))
        if time.time() - newest > KEPT_SECONDS and not _locked(directory / "alive"):
            shutil.rmtree(directory, ignore_errors=True)


def _changed(path: Path) -> float:
    """When, in seconds since the epoch; 0 if it is gone: another client may be clearing up too."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _locked(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return not take_lock(file.fileno())
    except FileNotFoundError:
        return False


def _own_address() -> str:
    """The address of this machine in its network: that of the interface which leads out. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # RFC 5737: an address that is nobody's
        except OSError:
            return socket.gethostname()
        return str(probe.getsockname()[0])
