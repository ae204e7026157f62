"""The commands that talk to a server: play, host, join, rejoin, watch, rooms; and rules.

Belongs here: putting a table, a face and (for ``play``) a server together. Exit statuses: 0 as wished, 1 it could not
be done, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final, NoReturn, Protocol
from urllib.parse import urlsplit

import click
import msgspec

from clients.cli.connection import DEFAULT_URL, CannotConnect, Dial, Trouble, Wire, dial
from clients.cli.core import Core, GaveUp
from clients.cli.face import FAILED, OK
from clients.cli.json_lines import JsonFace
from clients.cli.keeping import CannotKeep, keep_records
from clients.cli.lines import LineFace
from clients.cli.local import AlreadyRunning, CannotStart, LocalServer
from clients.cli.manual import rules_of
from clients.cli.parameters import (
    Code,
    GameName,
    Url,
    creation,
    face_options,
    json_option,
    name_option,
    named,
    room_options,
    seat_option,
    server_option,
)
from clients.cli.picture import Picture
from clients.cli.places import PlaceFile, SavedPlace, saved
from clients.cli.reading import LineReader, is_screen
from clients.cli.session import NotDone, Rooms
from clients.cli.table import Table, new_session
from clients.cli.telling import interrupted
from clients.cli.words import Lines, _, common
from clients.cli.words.games import words_of
from engine.game import Level
from engine.registry import GAMES
from protocol.messages import Create, Join, ListRooms, RoomSummary, Watch
from wording.columns import padded, width

INTERRUPTED: Final = 130


def _no_invitation(_picture: Picture) -> Lines:
    return ()


@click.command()
@click.argument("game", type=GameName())
@click.option("--server", "url", type=Url(), help="Play on this server instead of one of your own.")
@click.option(
    *("--host", "address"),
    default="127.0.0.1",
    show_default=True,
    help="Address of your own server; 0.0.0.0 for friends on other machines.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of your own server; 0 for any free one.")
@room_options
@face_options
def play(*, game: str, url: str | None, address: str, port: int, as_json: bool, plain: bool, **chosen: Any) -> None:
    """Play GAME now.

    Starts a server of your own, opens a room, puts AI into the other seats and begins. Friends may join at any time and
    take over AI seats; how is shown at the start. The server runs as long as anybody is connected.
    """
    create, show = creation(GAMES[game], **chosen), _faces(as_json=as_json, plain=plain)
    if url is not None:
        _run(_hosted(url, create, show, level=chosen["level"], start=True))
    _run(_played(LocalServer.fresh(address, port), create, show, level=chosen["level"]))


@click.command()
@click.argument("game", type=GameName())
@server_option
@room_options
@face_options
def host(*, game: str, url: str | None, as_json: bool, plain: bool, **chosen: Any) -> None:
    """Open a room for GAME on a server, and begin when your friends are there."""
    create, show = creation(GAMES[game], **chosen), _faces(as_json=as_json, plain=plain)
    _run(_hosted(url or DEFAULT_URL, create, show, level=chosen["level"], start=False))


@click.command()
@click.argument("code", type=Code())
@server_option
@name_option
@seat_option
@click.option("--side", type=click.IntRange(min=0), help="The team to play for: 0 the even seats, 1 the odd ones.")
@click.option("--new", is_flag=True, help="Another seat, although one at this table is yours already.")
@face_options
def join(
    *,
    code: str,
    url: str | None,
    name: str | None,
    seat: int | None,
    side: int | None,
    new: bool,
    as_json: bool,
    plain: bool,
) -> None:
    """Sit down in the room CODE: in an open seat, or in the place of an AI, also during a match.

    If a seat in that room is yours already (the client was closed, or killed) you are back in it.
    """
    url = url or DEFAULT_URL
    mine = None if new else _mine(url, code, seat)
    if mine is not None:
        _run(_returned(*mine, _faces(as_json=as_json, plain=plain)))
    _run(_faces(as_json=as_json, plain=plain)(Table.at(url, Join, code=code, name=named(name), seat=seat, side=side)))


@click.command()
@click.argument("code", type=Code(), required=False)
@face_options
def rejoin(*, code: str | None, as_json: bool, plain: bool) -> None:
    """Come back to the seat that you had in the room CODE, or to the last one that you had anywhere."""
    mine = _mine(None, code, None)
    if mine is None:
        raise click.ClickException(_("No seat of yours is known here, or another window plays from it."))
    _run(_returned(*mine, _faces(as_json=as_json, plain=plain)))


@click.command()
@click.argument("code", type=Code())
@server_option
@face_options
def watch(*, code: str, url: str | None, as_json: bool, plain: bool) -> None:
    """Watch the room CODE: everything that is public, and nothing else."""
    _run(_faces(as_json=as_json, plain=plain)(Table.at(url or DEFAULT_URL, Watch, code=code)))


@click.command()
@server_option
@click.option("--game", type=GameName(), help="Only rooms of this game.")
@json_option
def rooms(*, url: str | None, game: str | None, as_json: bool) -> None:
    """List the rooms that anybody may join."""
    _run(_listed(url or DEFAULT_URL, game, as_json=as_json))


@click.command()
@server_option
@name_option
def lobby(*, url: str | None, name: str | None) -> None:
    """The lobby of a server, on the full screen: open rooms live, a room of your own, quick match."""
    if not is_screen():
        raise click.ClickException(_("The lobby needs a terminal. Without one: fudaza rooms, host, join."))
    _run(_in_lobby(url or DEFAULT_URL, named(name)))


@click.command()
@click.argument("game", type=GameName())
def rules(*, game: str) -> None:
    """The complete rules of GAME, with all options."""
    text = "".join(f"{line}\n" for line in rules_of(game))
    if sys.stdout.isatty():
        click.echo_via_pager(text)
    else:
        click.echo(text, nl=False)


# Putting together ---------------------------------------------------------------------------------------------


def _mine(url: str | None, code: str | None, seat: int | None) -> tuple[SavedPlace, PlaceFile] | None:
    """The newest seat of ours that fits."""
    chosen = None
    for file, place in saved(url, code):
        if chosen is None and seat in (None, place.seat):
            chosen = (place, file)
        else:
            file.close()
    return chosen


class Show(Protocol):
    """Shows a table by one of the faces until it is over; returns the exit status.

    ``level``: of the AI in open seats when a match begins; ``start``: begin the first at once.
    """

    def __call__(
        self,
        table: Table,
        *,
        level: str = Level.MEDIUM,
        start: bool = False,
        invitation: Callable[[Picture], Lines] = _no_invitation,
    ) -> Coroutine[Any, Any, int]:
        """See the class."""


def _faces(*, as_json: bool, plain: bool) -> Show:
    """The face that is wished for, and that this terminal (if it is one) can show."""
    if as_json:
        return _by_json
    return _by_lines if plain or not is_screen() else _on_screen


async def _by_json(table: Table, *, level: str = Level.MEDIUM, start: bool = False, invitation: object = None) -> int:
    del invitation  # a program needs none: the room's code is in its first line
    return await JsonFace(table, LineReader(), _write, level=level, start=start).run()


async def _by_lines(
    table: Table,
    *,
    level: str = Level.MEDIUM,
    start: bool = False,
    invitation: Callable[[Picture], Lines] = _no_invitation,
) -> int:
    try:
        return await LineFace(table, LineReader(), _write, level=level, start=start, invitation=invitation).run()
    except asyncio.CancelledError:  # Control-C
        _write("".join(f"{line}\n" for line in ("", *interrupted(table.session))))
        return INTERRUPTED


async def _on_screen(
    table: Table,
    *,
    level: str = Level.MEDIUM,
    start: bool = False,
    invitation: Callable[[Picture], Lines] = _no_invitation,
) -> int:
    # Imported late: it takes a third of a second, which no other face should wait for.
    from clients.cli.tui.app import TableApp, run_full_screen
    from clients.cli.tui.sitting import Sitting

    sitting = Sitting(table, level=level, start=start, invitation=invitation)
    return await run_full_screen(TableApp(lambda: sitting), _write)


async def _in_lobby(url: str, name: str) -> int:
    from clients.cli.tui.app import TableApp, run_full_screen
    from clients.cli.tui.sitting import Sitting

    def sit_down() -> Sitting:
        return Sitting(Table.at(url, ListRooms), invitation=_inviting(url))

    return await run_full_screen(TableApp(sit_down, lobby=name), _write)


async def _hosted(url: str, create: dict[str, Any], show: Show, *, level: str, start: bool) -> int:
    table = Table.at(url, Create, **create)
    return await show(table, level=level, start=start, invitation=_inviting(url))


def _inviting(url: str) -> Callable[[Picture], Lines]:
    """How friends join a room at ``url``."""
    return lambda picture: (_("A friend joins with:  {command}").format(command=_join_command(picture.code, url)),)


async def _played(server: LocalServer, create: dict[str, Any], show: Show, *, level: str) -> int:
    try:
        await server.start()
    except CannotStart as problem:
        click.echo(_("The server does not start: {words}").format(words=problem.words), err=True)
        click.echo(_("Its log: {log}").format(log=problem.log), err=True)
        return FAILED
    table = Table.at(server.url, Create, local=str(server.directory), dial=_reviving(server), **create)

    def invitation(picture: Picture) -> Lines:
        command = _join_command(picture.code, server.url_for_friends)
        lines = [_("A friend joins with:  {command}").format(command=command)]
        if server.local_only:
            lines.append(_("(On this machine. For friends on other machines start with --host 0.0.0.0.)"))
        return tuple(lines)

    status = await show(table, level=level, start=True, invitation=invitation)
    await _kept(server, create["game"], show)
    return status


async def _returned(place: SavedPlace, file: PlaceFile, show: Show) -> int:
    if place.local is None:
        return await show(Table.back_at(place, file))
    address = urlsplit(place.url)
    server = LocalServer(Path(place.local), address.hostname or "127.0.0.1", address.port or 0)
    status = await show(Table.back_at(place, file, dial=_reviving(server)))
    await _kept(server, place.game, show)
    return status


async def _kept(server: LocalServer, game: str, show: Show) -> None:
    """Keep the records of what was played on our own server, and say where; programs are not told what they know."""
    if show is _by_json:
        return
    try:
        file = await keep_records(server, game)
    except CannotKeep as problem:
        click.echo(_("The records of the deals are not kept: {words}").format(words=problem), err=True)
        return
    if file is not None:
        click.echo(_("Records of the deals: {file}").format(file=file))
        click.echo(
            _("To watch them again:  {command}").format(command=shlex.join(["fudaza", "replay", str(file), "--watch"]))
        )


def _reviving(server: LocalServer) -> Dial:
    """Dials our own server, and starts it again on its data where it is gone: rooms go on where they were."""

    async def dial_ours(url: str) -> Wire:
        try:
            return await dial(url)
        except CannotConnect as problem:
            if problem.trouble is not Trouble.NOBODY_THERE:
                raise
            try:
                await server.start()
            except AlreadyRunning:
                raise problem from None  # it is starting, or ending: another attempt follows in a moment
            except CannotStart as failure:
                raise CannotConnect(Trouble.LOCAL_SERVER_DIED, str(failure.log)) from failure
        return await dial(url)

    return dial_ours


async def _listed(url: str, game: str | None, *, as_json: bool) -> int:
    session = new_session()
    session.ask(ListRooms, game=game)
    async with Core(url, session) as core:
        async for item in core.news():
            match item:
                case Rooms(rooms=found):
                    for line in map(_json_line, found) if as_json else _room_lines(found, url):
                        click.echo(line)
                    return OK
                case NotDone(code=code, params=params):
                    click.echo(common.refusal(code, params), err=True)
                    return FAILED
                case GaveUp(trouble=trouble, detail=detail):
                    click.echo(common.trouble(trouble, url, detail), err=True)
                    return FAILED
                case _:
                    pass
    return FAILED


def _json_line(room: RoomSummary) -> str:
    return msgspec.json.encode(room).decode()


def _room_lines(found: tuple[RoomSummary, ...], url: str) -> list[str]:
    if not found:
        return [_("No open rooms. Open one:  fudaza host GAME --server {url}").format(url=url)]
    rows = [(_("code"), _("game"), _("host"), _("now"), _("seats you can take"))]
    for room in found:
        free = " ".join(map(str, room.open)) or "-"
        game = _(words_of(room.game).title) if room.game in GAMES else room.game
        rows.append((room.code, game, room.host, common.phase(room.phase), free))
    widths = [max(map(width, column)) + 2 for column in zip(*rows, strict=True)]
    lines = ["".join(map(padded, row, widths)).rstrip() for row in rows]
    return [*lines, "", _join_command("CODE", url)]


def _join_command(code: str, url: str) -> str:
    return f"fudaza join {code} --server {url}"


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _run(doing: Coroutine[Any, Any, int]) -> NoReturn:
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal that cannot show a sign shows another
    try:
        status = asyncio.run(doing)
    except KeyboardInterrupt:
        click.echo("\n" + _("Interrupted."))
        status = INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output is gone; nothing more can be said, not even by the interpreter at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = FAILED
    sys.exit(status)
