"""Rates that all nodes count together, in the store."""

from __future__ import annotations

import hashlib

from server.limits import Rate
from server.store.client import Store


class StoredRates:
    """``Rates`` in ``store``: one small key for each counted thing, which expires once its bucket is full again."""

    def __init__(self, store: Store, *, time_source: int | None = None) -> None:
        self._store = store
        self.time_source: int | str = "" if time_source is None else time_source
        """Milliseconds since the epoch in tests, else the store's clock."""

    async def take(self, what: str, whose: str, rate: Rate, tokens: int = 1) -> float:
        """See ``Rates``."""
        # Hashed only so that keys are short and of one form; an address can be found by trying all.
        key = self._store.keys.rate(what, hashlib.blake2b(whose.encode(), digest_size=12).hexdigest())
        wait_ms = await self._store.function("take", [key], rate.per_second, rate.burst, tokens, self.time_source)
        return float(wait_ms) / 1000
