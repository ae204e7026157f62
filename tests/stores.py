"""Real stores for tests: server processes on ports and sockets of their own, and fixtures for them.

The embedded store's program is always there; ``FUDAZA_TEST_STORE`` names another, of any version that is promised, for
all tests to run on. A Redis is used as well where ``redis-server`` is on the PATH or ``FUDAZA_TEST_REDIS`` names one.
"""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from server.embedded import find_binary
from server.store import Store, open_store

VALKEY: Final = find_binary(os.environ.get("FUDAZA_TEST_STORE"))
REDIS: Final = os.environ.get("FUDAZA_TEST_REDIS") or shutil.which("redis-server")

_PATIENCE_SECONDS: Final = 20.0
_prefixes = itertools.count()


class StoreServer:
    """A server process with ``options`` in a directory of its own, on TCP and on a Unix socket.

    Output goes to a file, never to a pipe that an orphan could hold open.
    """

    def __init__(self, program: str, *options: str) -> None:
        self._program = program
        self._options = options
        # not below pytest's directory: the path of a socket must be short
        self._directory = tempfile.TemporaryDirectory(prefix="fudaza-test-")
        self.directory = Path(self._directory.name)
        self.socket = str(self.directory / "s")
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    @property
    def tcp_url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start, or start again with the same data and port, and wait until it answers."""
        Path(self.socket).unlink(missing_ok=True)
        self._start(
            *("--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", self.socket),
            *("--dir", str(self.directory), "--save", ""),
            *self._options,
        )

    def start_sentinel(self, *settings: str) -> None:
        """Start the program as a sentinel with lines of its configuration file, and wait until it answers."""
        file = self.directory / "sentinel.conf"
        file.write_text("\n".join((f"port {self.port}", "bind 127.0.0.1", f"dir {self.directory}", *settings, "")))
        self._start(str(file), "--sentinel")

    def _start(self, *arguments: str) -> None:
        assert self._process is None
        with (self.directory / "output").open("ab") as output:
            self._process = subprocess.Popen(
                [self._program, *arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        give_up = time.monotonic() + _PATIENCE_SECONDS
        while self.ask("PING") != b"+PONG\r\n":
            assert self._process.poll() is None, self.output()
            assert time.monotonic() < give_up, self.output()
            time.sleep(0.01)

    def ask(self, *command: str) -> bytes:
        """The raw reply to one command, up to 64 KiB; empty where nobody answers."""
        packed = f"*{len(command)}\r\n" + "".join(f"${len(part.encode())}\r\n{part}\r\n" for part in command)
        with socket.socket() as connection:
            connection.settimeout(_PATIENCE_SECONDS)
            try:
                connection.connect(("127.0.0.1", self.port))
                connection.sendall(packed.encode())
                return connection.recv(65_536)
            except OSError:
                return b""

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """SIGKILL."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process = None

    def close(self) -> None:
        """End it and remove its directory."""
        if self._process is not None:
            self.kill()
        self._directory.cleanup()

    def output(self) -> str:
        return (self.directory / "output").read_text(errors="replace")


def free_port() -> int:
    """A port of the loopback interface that nobody uses now, nor the one 10,000 above it, on which nodes of a cluster
    speak among themselves. Both are below those that the system gives to outgoing connections, so that it stays free
    also while what listens there is started again.
    """
    while True:
        port = 12_000 + secrets.randbelow(10_000)
        with socket.socket() as one, socket.socket() as other:
            try:
                one.bind(("127.0.0.1", port))
                other.bind(("127.0.0.1", port + 10_000))
            except OSError:
                continue
        return port


def fresh_prefix() -> str:
    """A key prefix that no other test uses."""
    return f"test-{next(_prefixes)}:"


@pytest.fixture(scope="session")
def shared_valkey() -> Iterator[StoreServer]:
    """A server for tests that neither harm it nor look beyond their own prefix."""
    yield from _running(StoreServer(VALKEY))


@pytest.fixture(scope="session")
def shared_redis() -> Iterator[StoreServer]:
    """The same, but a Redis; skips where there is none."""
    if REDIS is None:
        pytest.skip("no redis-server here")
    yield from _running(StoreServer(REDIS))


@pytest.fixture
def valkey() -> Iterator[StoreServer]:
    """A server that the test may do anything to. What it has accepted survives SIGKILL."""
    yield from _running(StoreServer(VALKEY, "--appendonly", "yes", "--appendfsync", "always"))


@pytest_asyncio.fixture
async def store(shared_valkey: StoreServer) -> AsyncIterator[Store]:
    """An open store that is empty under its prefix."""
    opened = await open_store(shared_valkey.url, prefix=fresh_prefix())
    yield opened
    await opened.aclose()


def _running(server: StoreServer) -> Iterator[StoreServer]:
    try:
        server.start()
        yield server
    finally:
        server.close()
