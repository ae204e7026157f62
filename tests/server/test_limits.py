"""Token buckets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.limits import Bucket, Buckets


def test_a_bucket_gives_its_burst_at_once_and_then_its_rate() -> None:
    bucket = Bucket(rate=2, burst=3, now=100)

    assert [bucket.take(100) for _ in range(3)] == [0, 0, 0]
    assert bucket.take(100) == pytest.approx(0.5)
    assert bucket.take(100.49) > 0
    assert bucket.take(100.5) == 0


def test_a_refusal_takes_nothing() -> None:
    bucket = Bucket(rate=1, burst=1, now=0)
    bucket.take(0)

    for _ in range(100):
        assert bucket.take(0.5) > 0

    assert bucket.take(1) == 0


def test_a_clock_that_goes_back_gives_nothing_away() -> None:
    bucket = Bucket(rate=1, burst=1, now=10)
    bucket.take(10)

    assert bucket.take(0) > 0
    assert bucket.take(0.5) > 0


@given(st.lists(st.floats(0, 2), max_size=200), st.floats(0.1, 10), st.integers(1, 10))
def test_in_any_time_no_more_is_given_than_burst_and_rate_allow(gaps: list[float], rate: float, burst: int) -> None:
    bucket, now, taken = Bucket(rate, burst, 0), 0.0, 0
    for gap in gaps:
        now += gap
        taken += bucket.take(now) == 0

    assert taken <= burst + rate * now + 1e-6


def test_who_reserves_waits_in_line_and_no_longer_than_the_rate_takes() -> None:
    bucket = Bucket(rate=2, burst=2, now=0)

    assert [bucket.reserve(0) for _ in range(5)] == pytest.approx([0, 0, 0.5, 1.0, 1.5])
    assert bucket.reserve(1.5) == pytest.approx(0.5)
    assert bucket.reserve(10) == 0


def test_each_key_has_a_bucket_of_its_own() -> None:
    buckets = Buckets(rate=1, burst=1)

    assert buckets.take("a", 0) == 0
    assert buckets.take("a", 0) > 0
    assert buckets.wait("a", 0) > 0
    assert buckets.take("b", 0) == 0
    assert buckets.wait("nobody", 0) == 0


def test_buckets_are_bounded_and_forget_the_full_ones_first() -> None:
    buckets = Buckets(rate=1, burst=2, limit=3)
    for key in "abc":
        buckets.take(key, 0)
    buckets.take("a", 0)

    buckets.take("d", 1)  # by now b and c are full again, a is not

    assert len(buckets) == 2
    assert buckets.take("a", 1) == 0
    assert buckets.take("a", 1) > 0, "a was not forgotten"
    for key in map(str, range(50)):
        buckets.take(key, 1)
    assert len(buckets) == 3


def test_a_newcomer_to_many_buckets_costs_a_look_at_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has ten thousand addresses must not make each of their connections the work of all."""
    buckets = Buckets(rate=1, burst=2, limit=1_000)
    for number in range(1_000):
        buckets.take(str(number), 0)
    looked_at = 0
    full = Bucket.full

    def counted(bucket: Bucket, now: float) -> bool:
        nonlocal looked_at
        looked_at += 1
        return full(bucket, now)

    monkeypatch.setattr(Bucket, "full", counted)
    for number in range(10):
        buckets.take(f"new {number}", 0)

    assert len(buckets) == 1_000
    assert 0 < looked_at < 10 * 50
