"""What can be given on the command line of several commands, checked before anything is started."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from clients.cli.connection import server_url
from clients.cli.words import _, listed
from clients.cli.words.games import words_of
from engine.game import AnyGame, BadOption, Level, OptionValue
from engine.registry import GAMES
from protocol.limits import LEAST_TURN_LIMIT
from protocol.messages import ChosenSettings

F = TypeVar("F", bound=Callable[..., Any])

CODE_LENGTH: Final = 6


class Url(click.ParamType[str]):
    """The address of a server."""

    name = "url"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The URL that is meant."""
        try:
            return server_url(value)
        except ValueError:
            told = _("{text} is no server address: use ws://HOST:PORT, wss://HOST, or HOST:PORT")
            self.fail(told.format(text=value), param, ctx)


class GameName(click.ParamType[str]):
    """A game of the registry."""

    name = "game"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The game's name as the wire has it."""
        name = value.lower().replace("_", "-")
        if name not in GAMES:
            told = _("there is no game {game}; there are {known}")
            self.fail(told.format(game=value, known=listed(GAMES)), param, ctx)
        return name


class Code(click.ParamType[str]):
    """The short code of a room."""

    name = "code"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The code in capitals."""
        code = value.strip().upper()
        if len(code) != CODE_LENGTH or not (code.isalnum() and code.isascii()):
            self.fail(_("{text} is no room's code: it has six letters and digits").format(text=value), param, ctx)
        return code


class Assignment(click.ParamType[tuple[str, str]]):
    """``KEY=VALUE``."""

    name = "key=value"

    def convert(
        self, value: str | tuple[str, str], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Key and value."""
        if isinstance(value, tuple):
            return value
        key, _equals, chosen = value.partition("=")
        if not (key.strip() and chosen.strip()):
            self.fail(_("{text} is not KEY=VALUE").format(text=value), param, ctx)
        return key.strip(), chosen.strip()


server_option = click.option(
    "--server",
    "url",
    type=Url(),
    envvar="FUDAZA_SERVER",
    show_envvar=True,
    help="ws://HOST:PORT, wss://HOST or HOST:PORT.",
)
name_option = click.option("--name", envvar="FUDAZA_NAME", show_envvar=True, help="Your name at the table.")
json_option = click.option("--json", "as_json", is_flag=True, help="JSON lines, for scripts and bots.")
plain_option = click.option("--plain", is_flag=True, help="Lines instead of the full screen, also on a terminal.")


def face_options(command: F) -> F:
    """Which face shows the table."""
    return json_option(plain_option(command))


seat_option = click.option("--seat", type=click.IntRange(min=0), help="The seat to take, from 0.")


def room_options(command: F) -> F:
    """What the creator of a room can choose."""
    for option in (
        click.option(
            "--turn-limit",
            type=click.IntRange(min=0),
            default=0,
            help="Seconds for a decision, 10 or more; 0 for no limit.",
        ),
        click.option("--hints", is_flag=True, help="Whoever wants may ask what an AI would play."),
        click.option("--winks", is_flag=True, help="Partners may exchange eye signals during a deal."),
        click.option("--no-chat", is_flag=True, help="Nobody may talk."),
        click.option("--no-spectators", is_flag=True, help="Nobody may watch."),
        click.option("--private", is_flag=True, help="Not listed: found by its code alone."),
        seat_option,
        click.option(
            "--level",
            type=click.Choice([level.value for level in Level]),
            default=Level.MEDIUM.value,
            show_default=True,
            help="How well the AI in open seats plays.",
        ),
        click.option(
            *("-o", "--option", "options"),
            type=Assignment(),
            multiple=True,
            help="An option of the game; `fudaza rules GAME` lists them.",
        ),
        name_option,
    ):
        command = option(command)
    return command


def complete_options(game: AnyGame, given: tuple[tuple[str, str], ...]) -> dict[str, OptionValue]:
    """All options of ``game``, those ``given`` among them.

    Raises:
        click.BadParameter: the game has no such option or value; says which there are.
    """
    try:
        return game.complete_options(dict(given))
    except BadOption as bad:
        told = words_of(game.name).refusal(bad.refusal.code, bad.refusal.params)
        raise click.BadParameter(told, param_hint="--option") from bad


def creation(
    game: AnyGame,
    *,
    name: str | None,
    options: tuple[tuple[str, str], ...],
    level: str,
    seat: int | None,
    private: bool,
    hints: bool,
    winks: bool,
    no_chat: bool,
    no_spectators: bool,
    turn_limit: int,
) -> dict[str, Any]:
    """The fields of a ``Create``.

    Raises:
        click.BadParameter: the game has no such option, value, level or partners, or the time is too short; says
            what there is.
    """
    if level not in game.levels:
        told = _("{game} has the levels {levels}").format(game=game.name, levels=listed(game.levels))
        raise click.BadParameter(told, param_hint="--level")
    complete_options(game, options)
    if winks and game.sides == game.seats:
        told = _("in {game} there are no partners to wink at").format(game=game.name)
        raise click.BadParameter(told, param_hint="--winks")
    if 0 < turn_limit < LEAST_TURN_LIMIT:
        told = _("Seconds for a decision, 10 or more; 0 for no limit.")
        raise click.BadParameter(told, param_hint="--turn-limit")
    settings = ChosenSettings(
        private=private,
        spectators=not no_spectators,
        turn_limit=turn_limit,
        hints=hints,
        winks=winks,
        chat=not no_chat,
    )
    return {"game": game.name, "name": named(name), "options": dict(options), "settings": settings, "seat": seat}


def named(name: str | None) -> str:
    """The name to play under."""
    if name:
        return name
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without an entry, as in containers
        return _("guest")
