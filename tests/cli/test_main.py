from __future__ import annotations

import subprocess
import sys
from typing import Any

import click
import pytest
from click.testing import CliRunner

from clients.cli.main import COMMANDS, main
from clients.cli.parameters import creation
from engine.registry import GAMES
from protocol.limits import LEAST_TURN_LIMIT
from protocol.messages import ChosenSettings


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


CHOSEN: dict[str, Any] = {
    "name": "Aki",
    "options": (),
    "level": "easy",
    "seat": None,
    "turn_limit": 0,
    **dict.fromkeys(("private", "hints", "winks", "no_chat", "no_spectators"), False),
}
"""What the command line gives where nothing was said."""


def test_a_room_is_opened_with_what_was_chosen() -> None:
    game = GAMES["hachinin-meri"]

    plain = creation(game, **CHOSEN)["settings"]
    chosen = creation(game, **CHOSEN | {"winks": True, "no_chat": True, "no_spectators": True})["settings"]

    assert plain == ChosenSettings()
    assert chosen == ChosenSettings(winks=True, chat=False, spectators=False)


@pytest.mark.parametrize("name", ["koi-koi", "go-stop"])
def test_a_game_without_partners_cannot_be_opened_with_winks(name: str) -> None:
    with pytest.raises(click.BadParameter, match=f"in {name} there are no partners to wink at"):
        creation(GAMES[name], **CHOSEN | {"winks": True})


def test_a_turn_limit_that_the_server_would_refuse_is_refused_with_the_least_that_there_is() -> None:
    chosen = CHOSEN | {"turn_limit": LEAST_TURN_LIMIT - 1}
    with pytest.raises(click.BadParameter, match=f"{LEAST_TURN_LIMIT} or more; 0 for no limit"):
        creation(GAMES["koi-koi"], **chosen)
    assert creation(GAMES["koi-koi"], **CHOSEN | {"turn_limit": LEAST_TURN_LIMIT})["settings"].turn_limit == 10
