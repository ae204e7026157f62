"""How often somebody may do something: token buckets, in memory or shared. The caller says what time it is.

Belongs here: counting. Must not be known here: what is counted, and what happens to whoever did it too often.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from itertools import islice
from typing import Final, NamedTuple, Protocol

_SLACK: Final = 1e-9
"""Rounding of floating-point refills must not refuse a token that is due."""
_LOOKED_AT: Final = 32
"""Buckets that are looked at when one has to go."""


class Rate(NamedTuple):
    """How much is allowed."""

    per_second: float
    """In the long run."""
    burst: int
    """At once."""


class Rates(Protocol):
    """What all nodes count together: where somebody could go from node to node and begin anew at each."""

    async def take(self, what: str, whose: str, rate: Rate, tokens: int = 1) -> float:
        """Take ``tokens`` from the bucket for ``what`` of ``whose`` (an address): 0, or, where there is not even one,
        the seconds until there will be, and nothing is taken. More than there are make a debt. A negative number gives
        back, and is never refused.

        Raises:
            server.log.StoreUnavailable, StoreFull: nobody knows.
        """
        ...


class Bucket:
    """A bucket of tokens that refills steadily. Times are seconds of any clock that does not go back."""

    __slots__ = ("_at", "_tokens", "burst", "rate")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self.rate = rate
        """Tokens per second."""
        self.burst = burst
        """What it holds when full; it starts full."""
        self._tokens = burst
        self._at = now

    def take(self, now: float) -> float:
        """Take a token: 0 when there was one, else the seconds until there will be (and nothing is taken)."""
        wait = self.wait(now)
        if not wait:
            self._tokens = max(0.0, self._tokens - 1)
        return wait

    def reserve(self, now: float) -> float:
        """Take a token, the next one that is to come if there is none: the seconds until it is there."""
        self._refill(now)
        self._tokens -= 1
        return 0.0 if self._tokens >= -_SLACK else -self._tokens / self.rate

    def give(self, tokens: float, now: float) -> None:
        """Put tokens back; what does not fit is lost. A negative number makes a debt."""
        self._refill(now)
        self._tokens = min(self.burst, self._tokens + tokens)

    def wait(self, now: float) -> float:
        """Seconds until there is a token; 0 when there is one. Takes nothing."""
        self._refill(now)
        return 0.0 if self._tokens >= 1 - _SLACK else (1 - self._tokens) / self.rate

    def full(self, now: float) -> bool:
        """Nothing has been taken that has not come back."""
        self._refill(now)
        return self._tokens >= self.burst

    def _refill(self, now: float) -> None:
        self._tokens = min(self.burst, self._tokens + max(0.0, now - self._at) * self.rate)
        self._at = now


class Buckets:
    """One bucket for each key (an address), bounded: of those unused longest full ones go first, or else the first."""

    def __init__(self, rate: float, burst: float, *, limit: int = 10_000) -> None:
        self._rate = rate
        self._burst = burst
        self._limit = limit
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, key: str, now: float) -> float:
        """As ``Bucket.take``, from the bucket of ``key``."""
        return self._of(key, now).take(now)

    def reserve(self, key: str, now: float) -> float:
        """As ``Bucket.reserve``, from the bucket of ``key``."""
        return self._of(key, now).reserve(now)

    def wait(self, key: str, now: float) -> float:
        """Seconds until ``key`` may be taken from; 0 when it may now. Takes nothing."""
        bucket = self._buckets.get(key)
        return 0.0 if bucket is None else bucket.wait(now)

    def _of(self, key: str, now: float) -> Bucket:
        bucket = self._buckets.get(key)
        if bucket is None:
            self._make_room(now)
            bucket = self._buckets[key] = Bucket(self._rate, self._burst, now)
        self._buckets.move_to_end(key)
        return bucket

    def _make_room(self, now: float) -> None:
        if len(self._buckets) < self._limit:
            return
        # Only the first ones are looked at: to look at all of them for every newcomer would be the slowest part of a
        # connection, for whoever has ten thousand addresses.
        oldest = list(islice(self._buckets.items(), _LOOKED_AT))
        full = [key for key, bucket in oldest if bucket.full(now)]
        for key in full or [oldest[0][0]]:
            del self._buckets[key]

    def give(self, key: str, tokens: float, now: float) -> None:
        """As ``Bucket.give``; an absent bucket is full."""
        if key in self._buckets:
            self._buckets[key].give(tokens, now)


class LocalRates:
    """``Rates`` of a node that shares them with no other."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        """Seconds."""
        self._kinds: dict[tuple[str, Rate], Buckets] = {}

    async def take(self, what: str, whose: str, rate: Rate, tokens: int = 1) -> float:
        """See ``Rates``."""
        buckets = self._kinds.get((what, rate))
        if buckets is None:
            buckets = self._kinds[what, rate] = Buckets(rate.per_second, rate.burst)
        now = self._clock()
        wait = buckets.take(whose, now) if tokens > 0 else 0.0
        if not wait:
            buckets.give(whose, min(1, max(0, tokens)) - tokens, now)
        return wait
