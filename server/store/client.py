"""The store: commands and Functions by key, errors in the log's terms, and the store's clock.

Knows the Function library and how servers word refusals. What is kept where is the log's and the index's business.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from importlib.resources import files
from typing import Any, Final, TypeVar

from redis.exceptions import ResponseError

from server.log import StoreFull, StoreUnavailable
from server.store.address import Address, CannotOpen, Node
from server.store.keys import Keys
from server.store.line import Argument
from server.store.routes import Route, route_to
from wording import _

T = TypeVar("T")

LIBRARY: Final = "fudaza_3"
LIBRARY_SOURCE: Final = files("server").joinpath("functions/fudaza.lua").read_text("utf-8")

_FULL: Final = ("OOM", "MISCONF")
"""Refusals of a server whose memory is full, or which can no longer write its file: nothing was done."""
_ELSEWHERE: Final = ("READONLY", "MASTERDOWN", "CLUSTERDOWN", "NOREPLICAS", "LOADING", "BUSY", "NOAUTH", "NOPERM")
"""Refusals of a server that cannot take the command now: nothing was done, but the caller is told "unknown" as well,
because it may be the answer to a second try."""
_SCAN: Final = 500
"""Keys that a server looks at in one step of a scan."""
_NEEDED: Final = {"redis": (7, 0), "valkey": (7, 2)}


class Store:
    """An open store. ``open_store`` makes one; ``aclose`` it."""

    def __init__(self, route: Route, keys: Keys) -> None:
        self.route = route
        self.keys = keys
        self._ahead_ms = time.time() * 1000 - time.monotonic() * 1000

    async def call(self, key: str, *command: Argument) -> Any:
        """The reply to a command on ``key``.

        Raises:
            StoreUnavailable: outcome unknown.
            StoreFull: nothing was done.
        """
        return await _translated(self.route.call(key, *command))

    async def at(self, node: Node, *command: Argument) -> Any:
        """The reply of one of the route's primaries to a command without a key. Errors as in ``call``."""
        return await _translated(self.route.at(node, *command))

    async def scan(self, pattern: str) -> AsyncIterator[bytes]:
        """Every key that fits, on all primaries, at least once. Slow."""
        for node in await self.route.primaries():
            cursor = b"0"
            while True:
                cursor, keys = await self.at(node, "SCAN", cursor, "MATCH", pattern, "COUNT", _SCAN)
                for key in keys:
                    yield key
                if cursor == b"0":
                    break

    async def function(self, name: str, keys: Sequence[str], *arguments: Argument, read: bool = False) -> Any:
        """The reply of a Function of our library; ``keys`` share a hash tag. Errors as in ``call``."""
        command = ("FCALL_RO" if read else "FCALL", f"{LIBRARY}_{name}", len(keys), *keys, *arguments)
        try:
            return await _translated(self.route.call(keys[0], *command))
        except _FunctionMissing:
            # nothing was done, so trying again is safe: a primary that came new, or somebody flushed the library
            await self.load()
            return await _again(self.route.call(keys[0], *command))

    async def load(self) -> None:
        """Put our Functions on every primary that does not have them as they are here."""
        for node in await self.route.primaries():
            held = await self.at(node, "FUNCTION", "LIST", "LIBRARYNAME", LIBRARY, "WITHCODE")
            if not held or held[0][b"library_code"] != LIBRARY_SOURCE.encode():
                await self.at(node, "FUNCTION", "LOAD", "REPLACE", LIBRARY_SOURCE)

    async def probe(self) -> None:
        """Find out whether every primary would take an append now, and set the clock by them. Writes nothing.

        Raises:
            StoreUnavailable: one cannot be reached, or is no primary.
            StoreFull: one has no room.
        """
        clocks = []
        for node in await self.route.primaries():
            try:
                clocks.append(await self._ahead(node))
            except _FunctionMissing:
                await self.load()
                clocks.append(await _again(self._ahead(node)))
        self._set_clock(clocks)

    async def read_clock(self) -> None:
        """Set the clock by every primary's, also where one has no room.

        Raises:
            StoreUnavailable: one cannot be reached.
        """
        clocks = []
        for node in await self.route.primaries():
            before = time.monotonic()
            seconds, microseconds = await self.at(node, "TIME")
            there = int(seconds) * 1000 + int(microseconds) / 1000
            clocks.append(there - (before + time.monotonic()) / 2 * 1000)
        self._set_clock(clocks)

    async def _ahead(self, node: Node) -> float:
        """Milliseconds by which the clock of ``node`` is ahead of our monotonic one."""
        before = time.monotonic()
        there = await self.at(node, "FCALL", f"{LIBRARY}_probe", 0)
        return float(there) - (before + time.monotonic()) / 2 * 1000

    def _set_clock(self, ahead: Sequence[float]) -> None:
        # in a cluster the servers' clocks differ a little; all nodes of ours take the same one
        self._ahead_ms = min(ahead)

    def now_ms(self) -> int:
        """The store's clock, as of the last ``probe`` or ``read_clock``: milliseconds since the epoch.

        Nodes that use it agree about deadlines, whatever their own clocks say.
        """
        return round(time.monotonic() * 1000 + self._ahead_ms)

    async def aclose(self) -> None:
        """Close all connections. Commands under way raise ``StoreUnavailable``."""
        await self.route.aclose()


async def open_store(
    url: str,
    *,
    username: str | None = None,
    password: str | None = None,
    prefix: str = "fudaza:",
    exchange_seconds: float = 3.0,
    even_full: bool = False,
) -> Store:
    """Connect to the store at ``url`` (see ``Address`` for its forms) and make it ready.

    ``exchange_seconds`` is how long a command may take before its outcome counts as unknown. With ``even_full`` a store
    that has no room for anything more is opened as well: there is much to read in it.

    Raises:
        BadAddress: a bad URL.
        CannotOpen: nobody there, login refused, a server too old, or one that takes no writes.
    """
    address = Address(url, username=username, password=password)
    store = Store(route_to(address, timeout=exchange_seconds), Keys(prefix))
    try:
        for node in await store.route.primaries():
            _check_version((await store.at(node, "INFO", "server")).decode(), address.shown)
        await store.load()
        await (store.read_clock() if even_full else store.probe())
    except StoreUnavailable as problem:
        await store.aclose()
        raise CannotOpen(
            _("the store at {url} cannot be used: {cause}").format(url=address.shown, cause=problem)
        ) from problem
    except StoreFull as problem:
        await store.aclose()
        raise CannotOpen(_("the store at {url} is full: {cause}").format(url=address.shown, cause=problem)) from problem
    except BaseException:
        await store.aclose()
        raise
    return store


class _FunctionMissing(Exception):
    """The server does not have our library. Nothing was done."""


async def _translated(reply: Awaitable[T]) -> T:
    try:
        return await reply
    except ResponseError as refusal:
        text = str(refusal)
        code = refusal.status_code or text.partition(" ")[0]
        if code in _FULL:
            raise StoreFull(text) from refusal
        if code in _ELSEWHERE:
            raise StoreUnavailable(text) from refusal
        if "Function not found" in text:
            raise _FunctionMissing from refusal
        raise  # a command or Function of ours is wrong


async def _again(reply: Awaitable[T]) -> T:
    """``reply`` of a Function of which the library has just been loaded."""
    try:
        return await _translated(reply)
    except _FunctionMissing as problem:  # another primary came new meanwhile
        raise StoreUnavailable("the store does not have the functions that were given to it") from problem


def _check_version(info: str, shown: str) -> None:
    """Valkey also reports the Redis version that it descends from."""
    versions = dict(re.findall(r"^(redis|valkey)_version:(\S+)", info, re.MULTILINE))
    name = "valkey" if "valkey" in versions else "redis"
    version = tuple(int(number) for number in versions[name].split(".")[:2])
    if version < _NEEDED[name]:
        needed = ".".join(map(str, _NEEDED[name]))
        told = _("the store at {url} is {name} {version}; {needed} or newer is needed")
        raise CannotOpen(told.format(url=shown, name=name, version=versions[name], needed=needed))
