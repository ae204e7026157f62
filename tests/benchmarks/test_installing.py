from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.peers import __main__ as command
from benchmarks.peers import scratch
from benchmarks.peers.figures import Figure, Load, Result
from benchmarks.peers.systems import System


def tool(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder where programs are found."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_without_npm_a_node_peer_cannot_be_had_and_nothing_is_made(tools: Path, tmp_path: Path) -> None:
    with pytest.raises(scratch.CannotHave, match="npm is not installed"):
        scratch.node_kit(tmp_path / "scratch", "colyseus")

    assert not (tmp_path / "scratch").exists()


def test_what_npm_says_is_why_a_peer_cannot_be_had(tools: Path, tmp_path: Path) -> None:
    tool(tools, "node", "exit 0")
    tool(tools, "npm", "echo 'npm error network is unreachable' >&2; exit 1")

    with pytest.raises(scratch.CannotHave, match="npm failed: npm error network is unreachable"):
        scratch.node_kit(tmp_path, "colyseus")


def test_a_peer_is_installed_once_with_its_pinned_packages_and_our_programs(tools: Path, tmp_path: Path) -> None:
    tool(tools, "node", "exit 0")
    tool(tools, "npm", "echo x >> calls")

    for _ in range(2):
        folder = scratch.node_kit(tmp_path, "boardgame_io")

    assert (folder / "calls").read_text() == "x\n"
    assert '"koa-compose": "4.1.0"' in (folder / "package.json").read_text()
    assert (folder / "load.mjs").exists()


async def test_a_peer_that_cannot_be_had_is_left_out_once_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    async def trial(system: System, loads: Sequence[Load], **_where: object) -> Sequence[Result]:
        asked.append(system.name)
        if system.name == "Colyseus":
            raise scratch.CannotHave("npm is not installed")
        kept = {"server_us": 1.0, "store_us": None, "p50_ms": 1.0, "p99_ms": 1.0, "max_ms": 1.0, "load_busy": 0.0}
        return [Figure(system=system.name, load=load.name, moves_per_second=1.0, **kept) for load in loads]  # type: ignore[arg-type]

    monkeypatch.setattr(command, "trial", trial)
    monkeypatch.setattr(command, "Cores", lambda: None)

    results = await command.measure(
        command.arguments(["--rounds", "2", "--only", "floor (2,colyseus,koi", "--loads", "full", "--more-loads", ""]),
        tmp_path,
    )

    assert asked == ["floor (2 seats)", "Fudaza (koi-koi)", "Colyseus", "floor (2 seats)", "Fudaza (koi-koi)"]
    assert [result.system for result in results] == ["floor (2 seats)", "Fudaza (koi-koi)"] * 2
    assert "left out: Colyseus: npm is not installed" in capsys.readouterr().err
