"""Whether this node is alive and whether it should be given clients, for balancers and people.

``/healthz`` answers while the event loop turns; ``/readyz`` also says no while the node drains, cannot reach the
store, or the store is full. Must not be known here: rooms, and how anything is mended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final

import structlog

from server.log import StoreFull, StoreUnavailable

_PATIENCE_SECONDS: Final = 3.0
"""So long the store may be silent before the node calls itself unready: a failover takes about as long."""

_PROBE_SECONDS: Final = 1.0

_log = structlog.get_logger(__name__)


class Health:
    """What this node knows about itself. Times are seconds of the clock it is given."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._store_answered = clock()
        self._store_full = False
        self._told: str | None = None
        """What the log has about this node's readiness."""
        self.draining = False
        """The node is about to stop."""

    def store_works(self) -> None:
        """The store has just answered, and taken what it was given."""
        self._store_answered = self._clock()
        self._store_full = False

    def store_failed(self, problem: StoreUnavailable | StoreFull) -> None:
        """The store has just not answered, or refused to take anything more."""
        if isinstance(problem, StoreFull):
            self._store_answered = self._clock()
            self._store_full = True

    async def probe(self, store: Callable[[], Awaitable[None]]) -> None:
        """Ask ``store`` whether it would take something now, and note what it says."""
        try:
            await store()
        except (StoreUnavailable, StoreFull) as problem:
            self.store_failed(problem)
        else:
            self.store_works()
        self._tell()

    async def probe_always(self, store: Callable[[], Awaitable[None]]) -> None:
        """``probe`` until cancelled."""
        while True:
            await self.probe(store)
            await asyncio.sleep(_PROBE_SECONDS)

    def _tell(self) -> None:
        """Say once in the log that the node has become unready, or ready again."""
        why = self.why_not_ready()
        if why != self._told:
            if why is None:
                _log.info("ready-again", after=self._told)
            else:
                _log.warning("not-ready", why=why)
            self._told = why

    def why_not_ready(self) -> str | None:
        """Why new clients should go elsewhere; None if they are welcome."""
        if self.draining:
            return "draining"
        if self._store_full:
            return "store-full"
        if self._clock() - self._store_answered > _PATIENCE_SECONDS:
            return "store-unavailable"
        return None

    def http(self, path: str) -> tuple[HTTPStatus, str]:
        """Status and text for a plain HTTP request; NOT_FOUND for any other path."""
        if path == "/healthz":
            return HTTPStatus.OK, "alive\n"
        if path == "/readyz":
            problem = self.why_not_ready()
            return (HTTPStatus.OK, "ready\n") if problem is None else (HTTPStatus.SERVICE_UNAVAILABLE, problem + "\n")
        return HTTPStatus.NOT_FOUND, "Fudaza speaks WebSocket at /, and answers /healthz and /readyz.\n"
