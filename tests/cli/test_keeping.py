"""Records of deals that were played on a server of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from clients.cli.keeping import CannotKeep, keep_records
from clients.cli.local import LocalServer


async def test_of_a_server_that_is_gone_nothing_is_kept_and_it_is_said_why(private_state: Path) -> None:
    server = LocalServer.fresh("127.0.0.1", 0)
    with pytest.raises(CannotKeep, match="no server is running"):
        await keep_records(server, "koi-koi")
    assert not (private_state / "records").exists()


async def test_before_a_deal_is_over_there_is_nothing_to_keep(private_state: Path) -> None:
    server = LocalServer.fresh("127.0.0.1", 0)
    await server.start()
    try:
        assert await keep_records(server, "koi-koi") is None
    finally:
        await server.stop()
    assert not (private_state / "records").exists()
