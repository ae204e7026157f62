from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from clients.cli.main import COMMANDS, main
from engine.registry import GAMES


def test_the_overview_loads_nothing_that_a_command_needs() -> None:
    script = (
        "import sys\n"
        "from clients.cli.main import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "heavy = {'websockets', 'msgspec', 'asyncio', 'engine', 'protocol', 'structlog', 'redis'}\n"
        "print('LOADED', sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "LOADED []" in done.stdout
    assert all(f"  {name} " in done.stdout for name in COMMANDS)


BECOMING = [name for name, (where, _help) in COMMANDS.items() if where.startswith("clients.cli.serving:")]
"""Commands that become another program. In this process that would be the end of the tests, without a word."""


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in BECOMING])
def test_every_command_has_help(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert "Usage:" in result.output
    assert len(result.output.splitlines()) > 3


def test_the_help_of_serve_is_the_servers() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "clients.cli.main", "serve", "--help"], capture_output=True, text=True, check=True
    )
    assert "--exit-when-empty" in done.stdout


def test_an_unknown_command_is_refused() -> None:
    result = CliRunner().invoke(main, ["dance"])
    assert result.exit_code == 2
    assert "No such command" in result.output


@pytest.mark.parametrize("name", GAMES)
def test_the_rules_of_every_game_can_be_read(name: str) -> None:
    result = CliRunner().invoke(main, ["rules", name])
    assert result.exit_code == 0
    assert len(result.output.splitlines()) > 50
