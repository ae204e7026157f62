"""The command ``fudaza``. Loads nothing of what a command needs before that command is given."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Final

import click

from clients.cli.usage import WideContext, in_language
from clients.cli.words import N_, _, listed
from wording.languages import LANGUAGES, VARIABLE, become, language_of, wanted

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "play": ("clients.cli.commands:play", N_("Play now: a server of your own, AI at the table, friends may join.")),
    "host": ("clients.cli.commands:host", N_("Open a room on a server and wait for friends.")),
    "join": ("clients.cli.commands:join", N_("Sit down in a room, also in the middle of a match.")),
    "rejoin": ("clients.cli.commands:rejoin", N_("Come back to a seat that is yours.")),
    "lobby": ("clients.cli.commands:lobby", N_("The lobby of a server, on the full screen.")),
    "rooms": ("clients.cli.commands:rooms", N_("List the open rooms of a server.")),
    "watch": ("clients.cli.commands:watch", N_("Watch a room.")),
    "rules": ("clients.cli.commands:rules", N_("Read the rules of a game.")),
    "cards": ("clients.cli.deck:cards", N_("List the cards of a game, in three languages.")),
    "serve": ("clients.cli.serving:serve", N_("Run a server.")),
    "admin": ("clients.cli.serving:admin", N_("Look after a running server: list, close, kick, announce, drain.")),
    "replay": ("clients.cli.records:replay_command", N_("Replay deal records, or check them.")),
    "verify": ("clients.cli.records:verify_command", N_("Check the shuffles of deal records.")),
    "arena": (
        "clients.cli.arena:arena",
        N_("Measure players against each other: levels, or a program of yours."),
    ),
    "bench": (
        "clients.cli.bench.command:bench",
        N_("Measure a server under load: what a move costs, how long it takes."),
    ),
}
"""Where each command is, and its line in the overview."""

LANGUAGE_OPTION: Final = "--lang"


class LazyGroup(click.Group):
    """Knows its commands by name and imports the one that is asked for. Speaks the language of the reader."""

    context_class = WideContext

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The language first, wherever it stands: everything else may have to be said in it."""
        languages, others = _parted(args)
        become(_wanted(languages))
        return super().parse_args(ctx, [*languages, *others])

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
        return in_language(command)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The overview, in the reader's language."""
        super(LazyGroup, in_language(self)).format_help(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - likewise
        """The overview's commands, without importing any."""
        with formatter.section(_("Commands")):
            formatter.write_dl([(name, _(help_line)) for name, (_where, help_line) in COMMANDS.items()])


class Language(click.ParamType[str]):
    """A language of ours."""

    name = "language"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Its code."""
        language = language_of(value)
        if language is None:
            known = listed(f"{code} ({name})" for code, name in LANGUAGES.items())
            told = _("fudaza does not speak {language}; it speaks {known}")
            self.fail(told.format(language=value, known=known), param, ctx)
        return language


def _parted(args: list[str]) -> tuple[list[str], list[str]]:
    """Every ``--lang`` among ``args``, before the command or behind it; and everything else."""
    languages: list[str] = []
    others: list[str] = []
    remaining = iter(args)
    for argument in remaining:
        if argument == "--":
            others += [argument, *remaining]
        elif argument == LANGUAGE_OPTION:
            value = next(remaining, None)
            languages.append(argument if value is None else f"{argument}={value}")
        elif argument.startswith(f"{LANGUAGE_OPTION}="):
            languages.append(argument)
        else:
            others.append(argument)
    return languages, others


def _wanted(languages: list[str]) -> str:
    """The reader's language. One that we do not speak is refused when the option is read, in the next best."""
    given = [option.partition("=")[2] for option in reversed(languages)]
    return next(filter(None, map(language_of, given)), None) or wanted(os.environ)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="fudaza", message="%(prog)s %(version)s")
@click.option(
    LANGUAGE_OPTION,
    type=Language(),
    envvar=VARIABLE,
    show_envvar=True,
    is_eager=True,
    expose_value=False,
    help="The language: en, ja, ko, de, da, cs, hi or pt. Otherwise that of your locale.",
)
def main() -> None:
    """Koi-koi, go-stop and Hachinin Meri at one table, for people and AI.

    `fudaza play hachinin-meri` seats you at a table with seven AI. FUDAZA_SERVER names the server that commands use
    where no --server is given.
    """


if __name__ == "__main__":
    sys.exit(main())
