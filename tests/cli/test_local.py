from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from clients.cli.local import KEPT_SECONDS, AlreadyRunning, LocalServer
from clients.cli.locks import take_lock

LONG_AGO = time.time() - 2 * KEPT_SECONDS


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "ws://127.0.0.1:99"),
        ("0.0.0.0", "ws://127.0.0.1:99"),  # noqa: S104 - the case under test
        ("::", "ws://[::1]:99"),
        ("10.1.2.3", "ws://10.1.2.3:99"),
    ],
)
def test_where_this_machine_reaches_its_server(tmp_path: Path, host: str, url: str) -> None:
    assert LocalServer(tmp_path, host, 99).url == url


def test_friends_are_given_an_address_that_is_not_this_machines_loopback(tmp_path: Path) -> None:
    server = LocalServer(tmp_path, "0.0.0.0", 99)  # noqa: S104 - the case under test
    assert not server.local_only
    assert "0.0.0.0" not in server.url_for_friends  # noqa: S104 - likewise
    assert LocalServer(tmp_path, "127.0.0.1", 99).local_only


@pytest.mark.usefixtures("private_state")
def test_what_a_server_left_is_removed_when_it_is_old_and_nobody_runs_on_it() -> None:
    old, young, running = (LocalServer.fresh("127.0.0.1", 0).directory for _ in range(3))
    for directory in (old, running):
        (directory / "alive").touch()
        os.utime(directory, (LONG_AGO, LONG_AGO))
    with (running / "alive").open("rb") as held:
        assert take_lock(held.fileno())
        LocalServer.fresh("127.0.0.1", 0)
        assert [directory.exists() for directory in (old, young, running)] == [False, True, True]


@pytest.mark.usefixtures("private_state")
async def test_two_servers_do_not_start_on_one_directory() -> None:
    server = LocalServer.fresh("127.0.0.1", 0)
    (server.directory / "alive").touch()
    with (server.directory / "alive").open("rb") as held:
        assert take_lock(held.fileno())
        with pytest.raises(AlreadyRunning):
            await server.start()
