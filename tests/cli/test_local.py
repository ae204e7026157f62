from __future__ import annotations

import os
import time
from pathlib import Path

import click
import pytest

from clients.cli.local import KEPT_SECONDS, AlreadyRunning, CannotStart, LocalServer
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
def test_what_another_client_clears_away_at_the_same_time_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    directory = LocalServer.fresh("127.0.0.1", 0).directory
    listed = list(directory.parent.iterdir())
    directory.rmdir()
    monkeypatch.setattr(Path, "iterdir", lambda _servers: iter(listed))
    monkeypatch.setattr(Path, "exists", lambda _path: True)  # as it was a moment ago
    LocalServer.fresh("127.0.0.1", 0)


def test_a_directory_that_cannot_be_made_is_said(private_state: Path) -> None:
    private_state.mkdir(parents=True)
    (private_state / "servers").touch()
    with pytest.raises(click.ClickException, match="File exists"):
        LocalServer.fresh("127.0.0.1", 0)


async def test_a_directory_that_is_gone_is_a_reason_not_to_start(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="No such file"):
        await LocalServer(tmp_path / "gone", "127.0.0.1", 0).start()


@pytest.mark.usefixtures("private_state")
async def test_two_servers_do_not_start_on_one_directory() -> None:
    server = LocalServer.fresh("127.0.0.1", 0)
    (server.directory / "alive").touch()
    with (server.directory / "alive").open("rb") as held:
        assert take_lock(held.fileno())
        with pytest.raises(AlreadyRunning):
            await server.start()
