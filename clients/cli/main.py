"""The command ``fudaza``. Loads nothing of what a command needs before that command is given."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Final

import click

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "play": ("clients.cli.commands:play", "Play now: a server of your own, AI at the table, friends may join."),
    "host": ("clients.cli.commands:host", "Open a room on a server and wait for friends."),
    "join": ("clients.cli.commands:join", "Sit down in a room, also in the middle of a match."),
    "rejoin": ("clients.cli.commands:rejoin", "Come back to a seat that is yours."),
    "rooms": ("clients.cli.commands:rooms", "List the open rooms of a server."),
    "watch": ("clients.cli.commands:watch", "Watch a room."),
    "rules": ("clients.cli.commands:rules", "Read the rules of a game."),
    "serve": ("clients.cli.serving:serve", "Run a server."),
    "replay": ("clients.cli.records:replay_command", "Replay deal records, or check them."),
    "verify": ("clients.cli.records:verify_command", "Check the shuffles of deal records."),
    "arena": ("clients.cli.arena:arena", "Measure players against each other: levels, or a program of yours."),
}
"""Where each command is, and its line in the overview."""


class LazyGroup(click.Group):
    """Knows its commands by name and imports the one that is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """All commands, in the order of the overview."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - likewise
        """The command, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module, _colon, name = COMMANDS[cmd_name][0].partition(":")
        command = getattr(import_module(module), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - likewise
        """The overview, without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_line) for name, (_where, help_line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="fudaza", message="%(prog)s %(version)s")
def main() -> None:
    """Koi-koi, go-stop and Hachinin Meri at one table, for people and AI.

    `fudaza play hachinin-meri` seats you at a table with seven AI. FUDAZA_SERVER names the server that commands use
    where no --server is given.
    """


if __name__ == "__main__":
    sys.exit(main())
