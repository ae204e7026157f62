"""What balancers are told."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

import pytest

from server.health import Health
from server.log import StoreFull, StoreUnavailable


@pytest.fixture
def now() -> list[float]:
    return [100.0]


@pytest.fixture
def health(now: list[float]) -> Health:
    return Health(lambda: now[0])


def test_a_node_with_a_working_store_is_alive_and_ready(health: Health) -> None:
    assert health.http("/healthz") == (HTTPStatus.OK, "alive\n")
    assert health.http("/readyz") == (HTTPStatus.OK, "ready\n")


def test_a_draining_node_is_alive_but_not_ready(health: Health) -> None:
    health.draining = True

    assert health.http("/healthz")[0] is HTTPStatus.OK
    assert health.http("/readyz") == (HTTPStatus.SERVICE_UNAVAILABLE, "draining\n")


def test_a_store_that_is_silent_for_a_while_makes_the_node_unready_until_it_answers(
    health: Health, now: list[float]
) -> None:
    now[0] += 2
    health.store_failed(StoreUnavailable())
    assert health.why_not_ready() is None, "a failover is waited for"
    now[0] += 2
    assert health.why_not_ready() == "store-unavailable"
    health.store_works()
    assert health.why_not_ready() is None


def test_a_full_store_makes_the_node_unready_until_it_takes_something(health: Health) -> None:
    health.store_failed(StoreFull())
    assert health.http("/readyz") == (HTTPStatus.SERVICE_UNAVAILABLE, "store-full\n")
    health.store_works()
    assert health.why_not_ready() is None


async def test_what_a_probe_finds_is_noted(health: Health, now: list[float]) -> None:
    async def answer(problem: StoreFull | StoreUnavailable | None) -> str | None:
        async def store() -> None:
            await asyncio.sleep(0)
            if problem is not None:
                raise problem

        await health.probe(store)
        return health.why_not_ready()

    assert await answer(StoreFull()) == "store-full"
    assert await answer(None) is None
    now[0] += 4
    assert await answer(StoreUnavailable()) == "store-unavailable"
    assert await answer(None) is None


def test_other_paths_are_not_found(health: Health) -> None:
    assert health.http("/metrics")[0] is HTTPStatus.NOT_FOUND
