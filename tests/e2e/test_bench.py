"""``fudaza bench`` against real servers on the loopback. What is measured is asserted to be there, never how much."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest

from clients.cli.bench.line import Line, connect
from clients.cli.bench.load import Accounts, Bench, CannotLoad, Stage
from clients.cli.bench.processes import KNOWN
from clients.cli.bench.report import Load, Report
from server.embedded import socket_path
from tests.e2e.serverprocess import QUICK, ServerProcess

LOAD = Load(game="koi-koi", rooms=3, idle=0, persons=2, ai=0, rate=None, seconds=1.0, storm=False)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerProcess]:
    process = ServerProcess(tmp_path, *QUICK, "--rooms-per-minute", "1000")
    await process.start()
    yield process
    await process.close()


async def report_of(server: ServerProcess, urls: Sequence[str] = (), **changed: Any) -> Report:
    load = msgspec.structs.replace(LOAD, **changed)
    accounts = Accounts((server.pid,), int((server.directory / "data" / "store.pid").read_text()))
    stages: list[Stage] = []
    report = await Bench(
        urls or [f"ws://127.0.0.1:{server.port}"],
        load,
        settle=0.1,
        accounts=accounts,
        watch=lambda stage, done, total: stages.append(stage) if done >= total else None,
    ).run()
    wanted = {Stage.CONNECTING, Stage.OPENING, *([Stage.PLAYING] if load.seconds else [])}
    assert set(stages) == wanted | ({Stage.RETURNING} if load.storm else set())
    assert server.lines("unhandled") == []
    return report


def made(report: Report) -> Any:
    """What was measured, of a run at whose length the load itself may well be what takes most of the time."""
    assert report.measured is not None, report.discarded
    return report.measured


@pytest.fixture(autouse=True)
def on_any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that runs other tests at the same time is no reason to discard these runs."""
    monkeypatch.setattr("clients.cli.bench.report.BUSY", float("inf"))
    monkeypatch.setattr("clients.cli.bench.report.LATE_SECONDS", float("inf"))


@pytest.mark.parametrize("game", ["koi-koi", "go-stop"])
async def test_rooms_play_on_and_every_seat_has_every_move(server: ServerProcess, game: str) -> None:
    report = await report_of(server, game=game, seconds=3.0)
    measured = made(report)
    assert measured.moves > 0
    assert measured.took_ms.count >= 1
    assert (measured.refused, measured.lost, measured.unfinished) == ({}, 0, 0)
    assert measured.traffic.received > measured.traffic.sent > 0
    assert len(measured.each_second) == 3
    assert report.connecting.took_ms.count == 6
    if KNOWN:
        assert measured.processor.server_us > 0
        assert report.memory is not None


async def test_hachinin_meri_with_ai_seats_at_a_rate(server: ServerProcess) -> None:
    measured = made(await report_of(server, game="hachinin-meri", persons=3, ai=5, rate=30.0, seconds=2.0))
    assert measured.moves > 0
    assert measured.ai_moves > 0
    assert measured.lost == 0


async def test_eight_seats_answer_the_sealed_question_and_play(server: ServerProcess) -> None:
    measured = made(await report_of(server, game="hachinin-meri", persons=8, rooms=2, seconds=3.0))
    assert measured.moves > 0
    assert measured.lost == 0


async def test_in_a_storm_everybody_comes_back_to_their_seat(server: ServerProcess) -> None:
    report = await report_of(server, rooms=4, idle=4, storm=True)
    assert report.returning is not None
    assert report.returning.took_ms.count == report.connecting.took_ms.count == 16
    assert made(report).lost == 0


async def test_idle_rooms_alone_are_measured_without_a_move(server: ServerProcess) -> None:
    report = await report_of(server, rooms=0, idle=5)
    measured = made(report)
    assert (measured.moves, measured.took_ms, measured.traffic) == (0, None, None)
    if KNOWN:
        assert measured.processor.server_us is None
        assert measured.processor.server_share >= 0
    assert report.discarded == ()
    assert report.connecting.took_ms.count == 10


async def test_the_seats_of_a_room_are_spread_over_nodes(server: ServerProcess, tmp_path: Path) -> None:
    store = f"unix://{socket_path(server.directory / 'data')}"
    second = ServerProcess(tmp_path / "second", *QUICK, "--redis", store)
    (tmp_path / "second").mkdir()
    await second.start()
    try:
        ports = [server.port, second.port]
        measured = made(await report_of(server, [f"ws://127.0.0.1:{port}" for port in ports]))
        assert measured.moves > 0
        assert (measured.lost, measured.unfinished) == (0, 0)
        commands = second.lines("command")
        assert {line["outcome"] for line in commands if line["command"] == "act"} == {"accepted"}
        assert "create" not in {line["command"] for line in commands}
    finally:
        await second.close()


async def test_a_server_without_room_for_the_load_is_said_to_be_so(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, *QUICK, "--max-connections", "3")
    await server.start()
    try:
        with pytest.raises(CannotLoad, match="503"):
            await report_of(server)
    finally:
        await server.close()


async def test_connections_are_ended_whatever_happens(server: ServerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[Line] = []
    attempts = 0

    async def remembered(url: str, masks: Random) -> Line:
        nonlocal attempts
        attempts += 1
        if attempts > 5:
            raise ConnectionRefusedError("enough")
        lines.append(await connect(url, masks))
        return lines[-1]

    monkeypatch.setattr("clients.cli.bench.load.connect", remembered)
    with pytest.raises(CannotLoad, match="enough"):
        await report_of(server)
    assert all(line.ended for line in lines)


@pytest.mark.skipif(not KNOWN, reason="accounts of processes are read on Linux alone")
def test_the_command_brings_a_server_of_its_own_and_leaves_nothing(tmp_path: Path) -> None:
    picture = tmp_path / "out.svg"
    environment = {**os.environ, "TMPDIR": str(tmp_path), "FUDAZA_LANG": "en"}
    ran = subprocess.run(
        (
            *(sys.executable, "-m", "clients.cli.main", "bench", "--serve", "--rooms", "2", "--seconds", "2"),
            *("--json", "--plot", str(picture), "--", "--log-level", "warning"),
        ),
        capture_output=True,
        env=environment,
        timeout=120,
        check=False,
    )
    told = json.loads(ran.stdout)
    assert told["start_ms"] > 0
    assert told["load"] | {"rooms": 2, "game": "koi-koi", "rate": None} == told["load"]
    if not told["discarded"]:  # on a machine that is too busy it must be, and say so
        assert told["measured"]["moves"] > 0
        assert ET.fromstring(picture.read_text()).tag.endswith("svg")  # noqa: S314 - we drew it
    assert ran.returncode == (1 if told["discarded"] else 0)
    assert [path.name for path in tmp_path.iterdir()] == ["out.svg"]
