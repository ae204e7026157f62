"""Sharded pub/sub: who has to look into which log.

A wake-up carries a version and never anything of a game. It may be lost, so whenever a channel is listened to anew,
its watchers are told to look.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from server.log import UNKNOWN, StoreUnavailable
from server.store.address import Node
from server.store.line import hang_up
from server.store.routes import Route

Wake = Callable[[int], None]

_UNREACHABLE: Final = (RedisError, OSError, StoreUnavailable)
_KEEPALIVE_SECONDS: Final = 5.0
"""So long a connection may be silent before it is asked whether it is alive, and again before it is given up."""
_BACKOFF_SECONDS: Final = (0.05, 0.1, 0.2, 0.5, 1.0)


class Wakeups:
    """Watchers by channel, and one connection for each server that has channels of theirs."""

    def __init__(self, route: Route) -> None:
        self._route = route
        self._watchers: dict[str, dict[int, Wake]] = {}
        """By channel; each watcher under a number of its own, because two may be equal."""
        self._numbers = itertools.count()
        self._ears: dict[Node, _Ear] = {}
        self._changed = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    def watch(self, channel: str, wake: Wake) -> Callable[[], None]:
        """See ``RoomLog.watch``."""
        if self._keeper is None:
            self._keeper = asyncio.create_task(self._keep(), name="store wake-ups")
        number = next(self._numbers)
        self._watchers.setdefault(channel, {})[number] = wake
        if self.hears(channel):
            asyncio.get_running_loop().call_soon(self._wake_one, channel, number)
        else:
            self._changed.set()
        return partial(self._stop, channel, number)

    def hears(self, channel: str) -> bool:
        """Whether this node listens there, as far as the server has confirmed it. While that is out of date, another
        node may miss a wake-up.
        """
        return any(channel in ear.heard for ear in self._ears.values())

    def _stop(self, channel: str, number: int) -> None:
        watchers = self._watchers.get(channel, {})
        if watchers.pop(number, None) is not None and not watchers:
            del self._watchers[channel]
            self._changed.set()

    def _wake_one(self, channel: str, number: int) -> None:
        wake = self._watchers.get(channel, {}).get(number)
        if wake is not None:
            wake(UNKNOWN)

    def wake(self, channel: str, version: int) -> None:
        """Wake who watches here: as a wake-up from elsewhere does, for what this node has appended itself."""
        for wake in list(self._watchers.get(channel, {}).values()):
            wake(version)

    async def _keep(self) -> None:
        """Bring what is listened to into line with what is watched, for ever."""
        failures = 0
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self._ears and all(ear.heard for ear in self._ears.values()):
                failures = 0
            try:
                await self._tend()
            except _UNREACHABLE:
                # unreachable: whoever plays learns it from the appends
                self._route.doubt()
                await asyncio.sleep(_BACKOFF_SECONDS[min(failures, len(_BACKOFF_SECONDS) - 1)])
                failures += 1
                self._changed.set()

    async def _tend(self) -> None:
        refused = False
        for node, ear in list(self._ears.items()):
            if ear.broken:
                del self._ears[node]
                await ear.aclose()
                self._route.doubt()
                refused |= not ear.heard
            else:
                await ear.unsubscribe(ear.asked - self._watchers.keys())
        if refused:
            raise StoreUnavailable("a server took no subscription")  # so that it is not tried again at once
        asked = set().union(*(ear.asked for ear in self._ears.values()))
        missing: defaultdict[Node, set[str]] = defaultdict(set)
        for channel in self._watchers.keys() - asked:
            missing[await self._route.owner(channel)].add(channel)
        problems: list[Exception] = []
        for node, channels in missing.items():
            try:
                if node not in self._ears:
                    self._ears[node] = _Ear(await self._route.connect(node), self.wake, self._changed.set)
                await self._ears[node].subscribe(channels)
            except _UNREACHABLE as problem:
                # the channels of other servers must not wait for this one
                problems.append(problem)
        if problems:
            raise problems[0]

    async def aclose(self) -> None:
        """Stop listening. Nobody is woken any more."""
        self._watchers.clear()
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
            if not self._keeper.cancelled():
                self._keeper.result()  # raises: it ends by itself only where something is wrong with it
        for ear in self._ears.values():
            await ear.aclose()
        self._ears.clear()


class _Ear:
    """One connection that listens. It never mends itself: when it breaks, or a channel is taken from it, it says so.

    ``wake`` is told channel and version, ``changed`` that somebody should look after the ear.
    """

    def __init__(
        self, connection: AbstractConnection, wake: Callable[[str, int], None], changed: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._wake = wake
        self._changed = changed
        self.asked: set[str] = set()
        """Channels that the server has been asked for."""
        self.heard: set[str] = set()
        """Those of them that it has confirmed."""
        self._reader = asyncio.create_task(self._read(), name="store wake-ups of one server")

    @property
    def broken(self) -> bool:
        return self._reader.done() or not self._connection.is_connected

    async def subscribe(self, channels: set[str]) -> None:
        self.asked |= channels
        await self._send("SSUBSCRIBE", channels)

    async def unsubscribe(self, channels: set[str]) -> None:
        self.asked -= channels
        self.heard -= channels
        await self._send("SUNSUBSCRIBE", channels)

    async def _send(self, command: str, channels: set[str]) -> None:
        # one command for each, because channels of one command must share a slot in a cluster
        packed = [piece for channel in channels for piece in self._connection.pack_command(command, channel)]
        if packed and not self.broken:
            try:
                async with asyncio.timeout(_KEEPALIVE_SECONDS):
                    await self._connection.send_packed_command(packed, check_health=False)
            except RuntimeError as problem:  # uvloop's word for a connection that has just been lost
                raise StoreUnavailable(str(problem)) from problem

    async def _read(self) -> None:
        try:
            silent = False
            while True:
                message = await self._connection.read_response(timeout=_KEEPALIVE_SECONDS, push_request=True)
                if message is None:
                    if silent:
                        return
                    await self._connection.send_command("PING", check_health=False)
                silent = message is None
                if isinstance(message, list):
                    self._take(message)
        except (RedisError, OSError):
            # also where a slot has moved: a subscription is refused with the new owner's address
            return
        finally:
            self._changed()

    def _take(self, message: list[Any]) -> None:
        kind, channel = message[0], message[1].decode()
        if kind == b"smessage":
            self._wake(channel, int(message[2]))
        elif kind == b"ssubscribe":
            if channel in self.asked:
                self.heard.add(channel)
                self._wake(channel, UNKNOWN)
        elif kind == b"sunsubscribe" and channel in self.asked:
            # the slot is leaving this server; a late answer to a request of ours looks the same and costs little
            self.asked.discard(channel)
            self.heard.discard(channel)
            self._changed()

    async def aclose(self) -> None:
        self._reader.cancel()
        await asyncio.wait([self._reader])
        await hang_up(self._connection)
