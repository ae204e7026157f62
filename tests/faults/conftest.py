"""Three nodes on one store that survives SIGKILL, shared by all tests that leave them in order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.faults.installation import Installation
from tests.stores import VALKEY, StoreServer


@pytest.fixture(scope="session")
def always() -> Iterator[StoreServer]:
    """A store that writes every append to disk before it answers."""
    server = StoreServer(VALKEY, "--appendonly", "yes", "--appendfsync", "always")
    server.start()
    yield server
    server.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_nodes(tmp_path_factory: pytest.TempPathFactory, always: StoreServer) -> AsyncIterator[Installation]:
    installation = Installation(tmp_path_factory.mktemp("faults"), always)
    try:
        await installation.start()
        yield installation
    finally:
        await installation.close()


@pytest_asyncio.fixture(loop_scope="session")
async def nodes(shared_nodes: Installation) -> AsyncIterator[Installation]:
    """Three nodes that run and reach the store. A test may do anything to them."""
    await shared_nodes.whole()
    yield shared_nodes
    shared_nodes.assert_no_faults()
