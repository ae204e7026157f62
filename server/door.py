"""The door: what a connection may do before and below any message.

Belongs here: how many connections are open, from where, how fast they came, and how many frames of any kind they send.
Must not be known here: commands, rooms, seats. The library answers pings and collects fragments by itself, so whoever
floods with those is not seen by a session; and a socket that never finishes its handshake never becomes one.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from ipaddress import IPv6Address, ip_address
from typing import Any, Final

from websockets.asyncio.server import ServerConnection
from websockets.protocol import Event, State

from protocol.codes import Close
from server.limits import Bucket, Buckets
from server.metrics import Metrics
from server.settings import Settings

_SLICE: Final = 4096
"""Bytes read before frames are counted again: what a flood can cost before it is seen."""
_FRAMES_PER_COMMAND: Final = 10
"""Frames a connection may send for each command it may send: for pings, pongs and fragments."""
_OUTSIDE_BYTES: Final = 32_768
"""What a socket may send before it is open or after it was told to close; the library reads such things for seconds."""
_HALF_OPEN: Final = 256
"""Sockets more than connections are allowed: those in their handshake, health checks, and those being told no."""


class Door:
    """Counts the sockets of one node."""

    def __init__(self, settings: Settings, metrics: Metrics, clock: Callable[[], float] = time.monotonic) -> None:
        self.settings = settings
        self.metrics = metrics
        self.clock = clock
        """Seconds."""
        self.sockets = 0
        self._from: Counter[str] = Counter()
        self.frames_per_second = settings.commands_per_second * _FRAMES_PER_COMMAND
        self.frame_burst = settings.command_burst * _FRAMES_PER_COMMAND
        self._coming = Buckets(settings.connections_per_second, settings.connection_burst)

    def enter(self) -> bool:
        """Let a socket in; False if there are too many."""
        if self.sockets >= self.settings.max_connections + _HALF_OPEN:
            return False
        self.sockets += 1
        return True

    def leave(self) -> None:
        """A socket that was let in is gone."""
        self.sockets -= 1

    def claim(self, address: str) -> bool:
        """Count a socket for ``address``; False if it has too many or they come too fast."""
        if self._from[address] >= self.settings.connections_per_address or self._coming.take(address, self.clock()):
            return False
        self._from[address] += 1
        return True

    def release(self, address: str) -> None:
        """A socket that was counted for ``address`` is gone."""
        self._from[address] -= 1
        if not self._from[address]:
            del self._from[address]


class GuardedConnection(ServerConnection):
    """A connection that is watched at the door.

    Slots, because the library's attributes are as many as instances can have and still share one table of their names:
    with ours among them each connection has a table of its own, of 1.2 KB.
    """

    __slots__ = ("_address", "_door", "_entered", "_flooding", "_frames", "_outside")

    def __init__(self, door: Door, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._door = door
        self._entered = False
        self._address: str | None = None
        """For whom the socket is counted."""
        self._frames = Bucket(door.frames_per_second, door.frame_burst, door.clock())
        self._flooding = False
        self._outside = 0
        # An empty deque takes 0.7 KB. The library asks no more of it than a list can do, and nobody but its own pings
        # and closing handshakes ever waits there: what rooms send never waits.
        self.drain_waiters = []  # type: ignore[assignment]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Turn the socket away if it is one too many: without a word, which would cost more than it is worth."""
        super().connection_made(transport)
        peer = str((transport.get_extra_info("peername") or ("",))[0])
        self._entered = self._door.enter()
        if not self._entered or not (peer in self._door.settings.proxies or self.is_from(network_of(peer))):
            self._door.metrics.turned_away.inc()
            self.transport.abort()

    def is_from(self, address: str) -> bool:
        """Count the socket for ``address``: the peer, or whom a proxy names; False if that is one too many for it."""
        if self._door.claim(address):
            self._address = address
            return True
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another."""
        if self._address is not None:
            self._door.release(self._address)
        if self._entered:
            self._door.leave()
        super().connection_lost(exc)

    def forget_handshake(self) -> None:
        """Let go of what was said in the handshake: its headers are a quarter of an idle connection. The library keeps
        the request itself.
        """
        assert self.request is not None, "there has been a handshake"
        self.request.headers.clear()
        self.response = None

    def data_received(self, data: bytes) -> None:
        """Read in small pieces; end the connection of whoever floods, or asks for answers without reading them."""
        if self.protocol.state is not State.OPEN:
            self._outside += len(data)
            if self._outside > _OUTSIDE_BYTES:
                self._door.metrics.floods.inc()
                self.transport.abort()
                return
        for start in range(0, len(data), _SLICE):
            super().data_received(data[start : start + _SLICE])
            if self.protocol.state is State.CONNECTING and self.protocol.eof_sent:
                # What came behind the request, before its answer, is no frame. The library has given up already, and
                # would fail on answering, with an error in the log.
                self.protocol.receive_eof()
                self.transport.abort()
            if self._flooding and self.protocol.state is State.OPEN:
                self._door.metrics.floods.inc()
                self.protocol.fail(Close.TOO_MANY_STRIKES, "too-many-strikes")
                self.send_data()
            if self.transport.get_write_buffer_size() > self._door.settings.write_buffer:
                self._door.metrics.overflows.inc()
                self.transport.abort()
            if self._flooding or self.transport.is_closing():
                return

    def process_event(self, event: Event) -> None:
        """Count the frame."""
        if self.request is not None and self._frames.take(self._door.clock()):
            self._flooding = True
            return
        super().process_event(event)


def network_of(address: str) -> str:
    """What limits take for one place: an IPv4 address, or the first 64 bits of an IPv6 one."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64))
    return str(found)


def address_of(connection: ServerConnection, proxies: Sequence[str]) -> str:
    """Who the limits of addresses are for: the peer, or whom a trusted proxy names; of IPv6 the first 64 bits. Where it
    names what is no address, the proxy itself: whoever could write anything there would have a new one each time.
    """
    peer = str(connection.remote_address[0]) if connection.remote_address else ""
    request = connection.request
    if peer in proxies and request is not None:
        lines = request.headers.get_all("X-Forwarded-For")
        named = [address_in(part) for line in lines for part in line.split(",")]
        peer = next((each for each in reversed(named) if each not in proxies), peer) or peer
    return network_of(peer)


def address_in(text: str) -> str | None:
    """The address that a proxy wrote, with or without a port (``203.0.113.7:5123``, ``[2001:db8::1]:443``); None if it
    is none.
    """
    address = text.strip()
    if address.startswith("["):
        address = address[1:].partition("]")[0]
    elif address.count(":") == 1:
        address = address.partition(":")[0]
    try:
        return str(ip_address(address))
    except ValueError:
        return None
