"""What balancers are told."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

import pytest
from structlog.testing import capture_logs

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


async def test_the_log_has_once_that_the_node_became_unready_and_once_that_it_is_ready_again(health: Health) -> None:
    async def full() -> None:
        raise StoreFull

    async def works() -> None:
        return

    with capture_logs() as lines:
        for store in (works, full, full, works, works):
            await health.probe(store)

    assert [(line["log_level"], line["event"]) for line in lines] == [("warning", "not-ready"), ("info", "ready-again")]
    assert lines[0]["why"] == "store-full"


def test_other_paths_are_not_found(health: Health) -> None:
    assert health.http("/metrics")[0] is HTTPStatus.NOT_FOUND
