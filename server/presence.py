"""That this node lives, which others do, and when nobody did.

Belongs here: the heartbeat and what it finds out. Must not be known here: who drives what (``server.driver``), rooms.

An outage is a time in which no node could tell the store that it lives: all were down, or the store was. Rooms get that
time back, once: a room's own time says whether it has had an entry since. That holds only if nobody appends without
having heard of the latest outage, so whoever is about to append calls ``refresh`` first.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from server.index import Index, Outage
from server.log import StoreFull, StoreUnavailable

BEAT_SECONDS: Final = 0.4
BEAT_TTL_MS: Final = 1_200
"""A node that is silent for so long is taken for dead: its rooms are driven by others within two seconds."""
GONE_SECONDS: Final = 5.0
"""A node that nobody has heard of for so long has lost its connections. Longer than until its rooms are driven by
others: two drivers cost nothing, but a node that stood still for a moment, or began a moment ago so that not everybody
knows of it, must not have its people sent away.
"""
_OLD_SECONDS: Final = 1.5
"""Less than an outage lasts at least (``server.index.OUTAGE_MS``): what is younger than this cannot hide one."""
_PATIENCE_SECONDS: Final = 0.5
"""So long an append waits for the answer to a beat, which a store that works gives at once."""
_REMEMBERED_SECONDS: Final = 60.0
"""Dead nodes that nobody asks about any more are forgotten."""


class Presence:
    """One node's heartbeat.

    Args:
        index: where nodes hear of one another.
        node: this one's name.
        clock: seconds, from any beginning, which never go back.
    """

    def __init__(self, index: Index, node: str, clock: Callable[[], float]) -> None:
        self._index = index
        self._node = node
        self._clock = clock
        self.nodes: tuple[str, ...] = ()
        """The live nodes; none before the first beat. The same object as long as they are the same."""
        self.outages: tuple[Outage, ...] = ()
        """The latest ones, the earliest first."""
        self._heard_at = -math.inf
        """When the last beat that the store has answered began."""
        self._judge_at = -math.inf
        """Until then nobody is taken for dead: after a silence of the store the first to reach it would find itself
        alone, and drive everybody else's rooms.
        """
        self._missed: dict[str, float] = {}
        """Since when somebody has asked about a node that does not live."""

    async def beat(self) -> None:
        """Say that this node lives, and ask who else does.

        Raises:
            StoreUnavailable, StoreFull: the store does not take it.
        """
        now = self._clock()
        nodes = set(await self._index.beat(self._node, BEAT_TTL_MS))
        # Both are known, or neither: who lives again after an outage must not be told without the outage.
        self.outages = tuple(await self._index.outages())
        if now - self._heard_at > BEAT_TTL_MS / 1000:
            self._judge_at = now + BEAT_TTL_MS / 1000
        if now < self._judge_at:
            nodes |= set(self.nodes)
        self._heard_at = now
        if nodes != set(self.nodes):
            self.nodes = tuple(sorted(nodes))
        self._missed = {
            node: since
            for node, since in self._missed.items()
            if node not in nodes and now - since < _REMEMBERED_SECONDS
        }

    def is_gone(self, node: str) -> bool:
        """Whether ``node`` has not been heard of for so long that nobody can be connected to it any more. The time
        begins when this is first asked of a node that does not live.
        """
        if node in self.nodes:
            return False
        now = self._clock()
        return now - self._missed.setdefault(node, now) >= GONE_SECONDS

    async def refresh(self) -> None:
        """``beat`` unless one was answered a moment ago: after a silence the first append, too, knows of the outage.
        Where the store does not answer, what is known has to do: in a cluster a room's part of the store may work
        while this one does not.
        """
        if self._clock() - self._heard_at > _OLD_SECONDS:
            with suppress(StoreUnavailable, StoreFull, TimeoutError):
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    await self.beat()

    async def end(self) -> None:
        """This node is about to stop: the others need not find out by themselves.

        Raises:
            StoreUnavailable, StoreFull: then they do.
        """
        await self._index.beat(self._node, 0)

    def missed_since(self, at: int) -> int:
        """How long, in milliseconds, outages lasted after ``at`` (milliseconds since the epoch)."""
        return sum(max(0, outage.until_ms - max(outage.since_ms, at)) for outage in self.outages)
