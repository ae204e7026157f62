"""Records of deals that were played on a server of one's own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from clients.cli.keeping import CannotKeep, keep_records
from clients.cli.local import LocalServer


async def test_of_a_server_that_is_gone_nothing_is_kept_and_it_is_said_why(private_state: Path) -> None:
    server = LocalServer.fresh("127.0.0.1", 0)
    with pytest.raises(CannotKeep, match="no server is running"):
        await keep_records(server, "koi-koi")
    assert not (private_state / "records").exists()


async def test_records_that_cannot_be_written_are_not_kept_and_it_is_said_why(
    private_state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = LocalServer.fresh("127.0.0.1", 0)
    exporter = tmp_path / "exporter"
    exporter.write_text("#!/bin/sh\necho '{}'\n")
    exporter.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(exporter))
    file = await keep_records(server, "koi-koi")
    assert file is not None
    file.unlink()
    (private_state / "records").rmdir()
    (private_state / "records").touch()
    with pytest.raises(CannotKeep, match="File exists"):
        await keep_records(server, "koi-koi")


async def test_before_a_deal_is_over_there_is_nothing_to_keep(private_state: Path) -> None:
    server = LocalServer.fresh("127.0.0.1", 0)
    await server.start()
    try:
        assert await keep_records(server, "koi-koi") is None
    finally:
        await server.stop()
    assert not (private_state / "records").exists()
