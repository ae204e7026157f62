"""Nodes in one process, on stores in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.server.hallkit import House


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    made = House()
    await made.driver.beat()
    yield made
    await made.close()


@pytest_asyncio.fixture
async def second(house: House) -> AsyncIterator[House]:
    """Another node on the same log."""
    made = House("n2", beside=house)
    await made.driver.beat()
    yield made
    await made.close()
