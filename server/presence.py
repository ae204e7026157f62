"""That this node lives, which others do, and when nobody did.

Belongs here: the heartbeat and what it finds out. Must not be known here: who drives what (``server.driver``), rooms.

An outage is a time in which no node could tell the store that it lives: all were down, or the store was. Rooms get that
time back, once: a room's own time says whether it has had an entry since. That holds only if nobody appends without
having heard of the latest outage, so whoever is about to append calls ``refresh`` first.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from typing import Final

from server.index import Index, Outage
from server.log import StoreFull, StoreUnavailable

BEAT_SECONDS: Final = 0.4
BEAT_TTL_MS: Final = 1_200
"""A node that is silent for so long is taken for dead: its rooms are driven by others within two seconds."""
_OLD_SECONDS: Final = 1.5
"""Less than an outage lasts at least (``server.index.OUTAGE_MS``): what is younger than this cannot hide one."""


class Presence:
    """One node's heartbeat."""

    def __init__(self, index: Index, node: str) -> None:
        self._index = index
        self._node = node
        self.nodes: tuple[str, ...] = ()
        """The live nodes; none before the first beat. The same object as long as they are the same."""
        self.outages: tuple[Outage, ...] = ()
        """The latest ones, the earliest first."""
        self._asked_at = -math.inf
        """When the store was last asked (the event loop's clock)."""
        self._heard_at = -math.inf
        """When it last answered."""
        self._judge_at = -math.inf
        """Until then nobody is taken for dead: after a silence of the store the first to reach it would find itself
        alone, and report everybody else's connections as gone.
        """

    async def beat(self) -> None:
        """Say that this node lives, and ask who else does.

        Raises:
            StoreUnavailable, StoreFull: the store does not take it.
        """
        now = self._asked_at = asyncio.get_running_loop().time()
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

    async def refresh(self) -> None:
        """``beat`` unless that was done a moment ago. Where the store does not answer, what is known has to do:
        in a cluster a room's part of the store may work while this one does not.
        """
        if asyncio.get_running_loop().time() - self._asked_at > _OLD_SECONDS:
            with suppress(StoreUnavailable, StoreFull):
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
