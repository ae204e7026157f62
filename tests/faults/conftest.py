"""Three nodes on one store that survives SIGKILL, shared by all tests that leave them in order."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
import pytest_asyncio

from tests.faults.installation import Installation
from tests.faults.people import all_leave
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


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Callable[..., None]:
    """Report what was measured, as a line of JSON; nothing is asserted about it."""

    def report(**measured: object) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\n{json.dumps(measured)}\n")

    return report


@pytest_asyncio.fixture(loop_scope="session")
async def nodes(shared_nodes: Installation) -> AsyncIterator[Installation]:
    """Three nodes that run and reach the store. A test may do anything to them."""
    await shared_nodes.whole()
    yield shared_nodes
    await all_leave()
    shared_nodes.assert_no_faults()
