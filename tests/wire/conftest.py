"""An open gateway, and Ann who has a room there."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.wire.gatekit import Gate, Wire, gate

ID = "q83Jxk0v_yP2sE1d.17"


@pytest_asyncio.fixture
async def opened() -> AsyncIterator[Gate]:
    async with gate() as made:
        yield made


@pytest_asyncio.fixture
async def ann(opened: Gate) -> AsyncIterator[Wire]:
    async with opened.wire("Ann") as wire:
        assert (await wire.ask("create", game="duel", name="Ann"))["t"] == "accepted"
        await wire.until("snapshot")
        yield wire
