"""A copy of the store's files is a backup: put elsewhere, every room goes on from where the copy was made."""

from __future__ import annotations

import asyncio
import shutil
import signal
from pathlib import Path

import pytest

from tests.e2e.client import Player
from tests.e2e.serverprocess import QUICK, ServerProcess


@pytest.mark.parametrize("running", [False, True], ids=["stopped", "running"])
async def test_a_match_goes_on_from_a_backup_of_a_server_that_is(running: bool, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    old, new = ServerProcess(tmp_path / "old", *QUICK), ServerProcess(tmp_path / "new", *QUICK)
    home = old
    await old.start()
    try:
        ann, bob = Player(lambda: home.port, "Ann", seed=1), Player(lambda: home.port, "Bob", seed=2)
        await bob.join(await ann.sit("hachinin-meri", deals=2), seat=1)
        await ann.start()
        playing = asyncio.gather(ann.play(), bob.play())
        await ann.until(lambda: ann.number > 40)

        if running:
            old.signal(signal.SIGSTOP)  # what came after the copy would be missing from it; the store runs on
        else:
            old.signal(signal.SIGTERM)
            assert await old.ended() == 0
        files = "data/appendonlydir"
        await asyncio.to_thread(shutil.copytree, old.directory / files, new.directory / files)
        await old.close()
        await new.start()
        home = new
        await playing
    finally:
        await old.close()
        await new.close()

    assert ann.result is not None
    assert ann.result == bob.result
    assert ann.resumed
    assert bob.resumed
