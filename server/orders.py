"""What operators tell nodes that are up (``fudaza admin``), on the node's side.

Belongs here: hearing orders and passing them on. Must not be known here: how they are given (``server.admin``) and how
sessions or the process carry them out. Orders change no room: what an operator does to a room is an entry in its log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

from server.index import Index
from server.log import StoreUnavailable
from server.metrics import Metrics

ANNOUNCE: Final = "announce"
DRAIN: Final = "drain"
_EVERY_SECONDS: Final = 0.5

_log = structlog.get_logger()


class Orders:
    """Listens for one node."""

    def __init__(
        self, index: Index, node: str, metrics: Metrics, *, announce: Callable[[str], None], drain: Callable[[], None]
    ) -> None:
        self._index = index
        self._node = node
        self._metrics = metrics
        self._announce = announce
        self._drain = drain
        self._after: str | None = None
        """Where to go on; None before it is known where to begin."""

    async def run(self) -> None:
        """Carry out what is ordered, until cancelled. While the store is silent, orders wait there."""
        while True:
            try:
                await self.look()
            except StoreUnavailable as problem:
                _log.debug("orders-not-heard", problem=str(problem))
            await asyncio.sleep(_EVERY_SECONDS)

    async def look(self) -> None:
        """Carry out what was ordered since the last look; the first one only finds out where to begin.

        Raises:
            StoreUnavailable: it could not be asked.
        """
        heard = await self._index.orders(self._after)
        self._after = heard.cursor
        if heard.missed:
            self._metrics.orders_missed.inc(heard.missed)
            _log.warning("orders-missed", orders=heard.missed)
        for order in heard.orders:
            if order.what == ANNOUNCE:
                _log.info("announced", length=len(order.text))
                self._announce(order.text)
            elif order.what == DRAIN and order.node == self._node:
                _log.info("ordered-to-drain")
                self._drain()
