"""``fudaza admin``: what an operator does to a running hall, through its store.

Whoever can reach the store is the operator; there is no other door. What changes a room is an ordinary entry in its
log, so every node and client learns of it as of any move; what is said to nodes goes by ``Index.order``. Nothing here
prints a card, a token or a seed of a match that is not over.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from engine.game import Seat
from engine.registry import GAMES
from protocol.events import WhyClosed
from protocol.limits import MAX_LINE
from server import room as rooms
from server.embedded import socket_path
from server.entries import Closed, Entry, decode_entry, encode_entry
from server.index import LONG_AGO, Index, Order
from server.keeper import lay_aside
from server.log import EMPTY, Conflict, Head, RoomLog, StoreFull, StoreUnavailable, follow
from server.names import line_of
from server.orders import ANNOUNCE, DRAIN
from server.reading import NoSuchRoom, RoomElsewhere, RoomGone, RoomOutlived, read_whole
from server.room import Games, Room
from server.settings import BadSetting, Settings, load
from server.store import BadAddress, CannotOpen, StoredIndex, StoredLog, open_store
from server.usage import WideHelp
from wording import _
from wording import listed as joined
from wording.languages import become, wanted

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
_ATTEMPTS: Final = 100
_HOUR_SECONDS: Final = 3600


class CannotDo(Exception):
    """An order that cannot be carried out; the message is one sentence for the operator."""


class Unreadable(CannotDo):
    """An order about a room whose log cannot be read; ``problem`` is why."""

    def __init__(self, room_id: str, problem: Exception) -> None:
        self.problem = problem
        self.cause = problem.__cause__ or problem
        told = _("room {room} cannot be read by this version: {cause}")
        super().__init__(told.format(room=room_id, cause=self.cause))


class Store(Struct, frozen=True):
    """What the commands work on."""

    log: RoomLog
    index: Index
    clock: Callable[[], int]
    """Milliseconds since the epoch: the store's clock."""
    games: Games = GAMES


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command; the exit status: 0 done, 1 not done, 2 used wrongly."""
    become(wanted(os.environ))
    asked = _parser().parse_args(arguments)
    try:
        settings = load(_connection_flags(asked), os.environ)
        asyncio.run(_run(asked, settings))
    except (BadSetting, BadAddress) as problem:
        return _say(problem, USAGE)
    except (CannotDo, CannotOpen) as problem:
        return _say(problem, FAILED)
    except StoreFull:
        return _say(CannotDo(_("the store is full: nothing was changed")), FAILED)
    except StoreUnavailable as problem:
        told = _("the store does not answer, look again before you repeat this: {cause}")
        return _say(CannotDo(told.format(cause=problem)), FAILED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has seen enough
    return OK


async def _run(asked: argparse.Namespace, settings: Settings) -> None:
    async with _opened(settings) as store:
        match asked.command:
            case "list":
                async for row in listed(store, asked.game):
                    _print(row)
            case "inspect":
                _print(inspected(*await _room(store, asked.room)))
            case "close":
                told = await close(store, await _id_of(store, asked.room), settings.forget_hours)
                if told is not None:
                    _say(told, OK)
            case "kick":
                await amend(store, await _id_of(store, asked.room), _removing(asked.seat))
            case "announce":
                await store.index.order(Order(what=ANNOUNCE, text=_announcement(asked.text)))
            case "nodes":
                for node in await store.index.nodes():
                    _print({"node": node})
            case "drain":
                await _drain(store, asked.node)
            case "export":
                async for archived in store.index.archived(match=asked.match):
                    sys.stdout.write(archived.record.decode() + "\n")
            case unknown:
                raise AssertionError(f"the parser let {unknown!r} through")


async def listed(store: Store, game: str | None = None) -> AsyncIterator[dict[str, Any]]:
    """A row for every live room, private ones too, of ``game`` or of all games."""
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        cursor, found = await store.index.all_live(cursor)
        for room_id in found:
            if room_id in seen:
                continue
            seen.add(room_id)
            try:
                room, *_rest = await _read(store, room_id)
            except CannotDo as problem:
                yield {"room": room_id, "problem": str(problem)}
                continue
            if game in (None, room.game):
                people = [holder for holder in room.seats if isinstance(holder, rooms.Person)]
                yield {
                    "room": room.id,
                    "code": room.code,
                    "game": room.game,
                    "phase": room.phase,
                    "persons": len(people),
                    "connected": sum(not person.away for person in people),
                    "private": room.settings.private,
                    "changed_ms_ago": max(0, store.clock() - room.at),
                }
        if cursor is None:
            return


def inspected(room: Room, head: Head, entries: int) -> dict[str, Any]:
    """What an operator may know of a room: everything but cards and secrets."""
    view = rooms.snapshot(room, None)
    return {
        "room": room.id,
        "code": room.code,
        "game": room.game,
        "phase": room.phase,
        "options": room.options,
        "settings": room.settings,
        "host": view.host,
        "seats": view.seats,
        "events": room.number,
        "entries": entries,
        "version": head.version,
        "hash": head.hash.hex(),
        "changed_at_ms": room.at,
        "due_at_ms": rooms.next_due(room),
        "match": None
        if view.match is None
        else {"id": view.match.id, "deal": view.match.deal, "deals": view.match.deals, "totals": view.match.totals},
    }


async def amend(store: Store, room_id: str, make: Callable[[Room, int], Entry]) -> None:
    """Append what ``make`` decides about the room as it is then.

    Raises:
        CannotDo: there is no such room, it cannot be read, or ``make`` says that it cannot be done.
        StoreUnavailable, StoreFull: see ``RoomLog.append``.
    """
    for _attempt in range(_ATTEMPTS):
        room, head, _entries = await _read(store, room_id)
        entry = make(room, store.clock())
        rooms.fold(room, entry, games=store.games)  # what cannot be folded must never stand in a log
        try:
            await store.log.append(room_id, head, encode_entry(entry))
        except Conflict:
            continue
        return
    raise CannotDo(_("the room changes too fast; try again"))


async def close(store: Store, room_id: str, forget_hours: float) -> str | None:
    """End the room; None, or one sentence for the operator where it had to be done without reading the room.

    Raises:
        CannotDo: there is no such room, it is closed already, or newer servers look after it.
        StoreUnavailable, StoreFull: see ``RoomLog.append``.
    """
    try:
        await amend(store, room_id, _closing)
    except Unreadable as unread:
        if isinstance(unread.problem, RoomOutlived):
            await _close_unread(store, room_id)  # nodes that can read it tell everybody there
        elif isinstance(unread.problem, RoomElsewhere):
            told = _("a newer version looks after room {room}; close it with the fudaza admin of that one: {cause}")
            raise CannotDo(told.format(room=room_id, cause=unread.cause)) from unread
        await lay_aside(store.index, store.log, room_id, int(forget_hours * _HOUR_SECONDS))
        told = _("room {room} was closed without being read, and its log ends in {hours} h: {cause}")
        return told.format(room=room_id, hours=f"{forget_hours:g}", cause=unread.cause)
    await store.index.set_due(room_id, LONG_AGO)  # where no node has the room in memory, none was woken
    return None


async def _close_unread(store: Store, room_id: str) -> None:
    """Append the last entry to a log whose match only an older version can read: to close needs no rules."""
    for _attempt in range(_ATTEMPTS):
        stored = await store.log.read(room_id)
        last = decode_entry(stored[-1].data)
        if isinstance(last.body, Closed):
            return
        entry = Entry(at=max(last.at, store.clock()), body=Closed(why=WhyClosed.OPERATOR))
        try:
            await store.log.append(room_id, follow(EMPTY, stored), encode_entry(entry))
        except Conflict:
            continue
        return
    raise CannotDo(_("the room changes too fast; try again"))


def _closing(room: Room, now: int) -> Entry:
    entry = rooms.close(room, WhyClosed.OPERATOR, now)
    if entry is None:
        raise CannotDo(_("room {code} is closed already").format(code=room.code))
    return entry


def _removing(seat: int) -> Callable[[Room, int], Entry]:
    def make(room: Room, now: int) -> Entry:
        entry = rooms.remove(room, Seat(seat), now) if 0 <= seat < len(room.seats) else None
        if entry is None:
            held = [str(number) for number, holder in enumerate(room.seats) if isinstance(holder, rooms.Person)]
            told = _("no person holds seat {seat} of room {code}; persons hold: {held}")
            raise CannotDo(told.format(seat=seat, code=room.code, held=joined(held) or "-"))
        return entry

    return make


def _announcement(text: str) -> str:
    line = line_of(text)
    if line is None:
        raise CannotDo(_("an announcement is one line of 1 to {limit} characters").format(limit=MAX_LINE))
    return line


async def _drain(store: Store, node: str) -> None:
    nodes = await store.index.nodes()
    if node not in nodes:
        told = _("no node {node} is up; these are: {nodes}")
        raise CannotDo(told.format(node=node, nodes=joined(nodes) or "-"))
    await store.index.order(Order(what=DRAIN, node=node))


async def _id_of(store: Store, name: str) -> str:
    """The room that ``name`` (a short code or an id) means."""
    return await store.index.room_of(name.upper()) or name.lower()


async def _room(store: Store, name: str) -> tuple[Room, Head, int]:
    return await _read(store, await _id_of(store, name))


async def _read(store: Store, room_id: str) -> tuple[Room, Head, int]:
    """A room, the end of its log, and the number of its entries."""
    try:
        room, head, *_rest = await read_whole(store.log, room_id, store.games)
    except NoSuchRoom as problem:
        raise CannotDo(_("there is no room {room}").format(room=room_id)) from problem
    except RoomGone as problem:
        raise Unreadable(room_id, problem) from problem
    except StoreUnavailable:
        raise
    except Exception as problem:  # a log that trips a fault of ours must hide no other, and must be possible to close
        raise Unreadable(room_id, problem) from problem
    return room, head, head.version


# The store -------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Store]:
    store = await open_store(_url(settings), password=settings.redis_password, even_full=True)
    log = StoredLog(store)
    try:
        yield Store(log, StoredIndex(store), store.now_ms)
    finally:
        await log.aclose()
        await store.aclose()


def _url(settings: Settings) -> str:
    if settings.redis is not None:
        return settings.redis
    path = socket_path(Path(settings.data).absolute())
    if not Path(path).exists():
        told = _("no server is running on the data directory {data}; name another store with --redis")
        raise CannotDo(told.format(data=settings.data))
    return f"unix://{quote(path)}"


# The command line ------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fudaza admin",
        description=_(
            "Look after a running hall. Works through its store: the one of --redis or FUDAZA_REDIS, otherwise "
            "the embedded one in --data. Prints JSON, one object a line."
        ),
        formatter_class=WideHelp,
        allow_abbrev=False,
    )
    parser.add_argument("--config", metavar="FILE", help=_("the server's configuration file"))
    parser.add_argument("--redis", metavar="URL", help=_("the store; a password belongs into FUDAZA_REDIS_PASSWORD"))
    parser.add_argument("--data", metavar="DIR", help=_("the data directory of a server with the embedded store"))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text, formatter_class=WideHelp)

    room = _("code or id of the room")
    listing = command("list", _("every live room, private ones too"))
    listing.add_argument("--game", metavar="GAME", choices=sorted(GAMES), help=_("only rooms of this game"))
    command("inspect", _("one room: seats, phase, log; no cards")).add_argument("room", help=room)
    command("close", _("end a room at once")).add_argument("room", help=room)
    kick = command("kick", _("take a seat from its person; during a match an AI plays on"))
    kick.add_argument("room", help=room)
    kick.add_argument("seat", type=int, help=_("number of the seat, from 0"))
    command("announce", _("say something to everybody who is connected")).add_argument("text")
    command("nodes", _("the nodes that are up"))
    command("drain", _("let a node end in order; its clients go to others")).add_argument("node")
    export = command("export", _("the records of finished deals that are kept"))
    export.add_argument("--match", help=_("only this match"))
    return parser


def _connection_flags(asked: argparse.Namespace) -> list[str]:
    given = (("--config", asked.config), ("--redis", asked.redis), ("--data", asked.data))
    return [part for flag, value in given if value is not None for part in (flag, value)]


def _print(row: Any) -> None:
    sys.stdout.write(msgspec.json.encode(row).decode() + "\n")


def _say(problem: Exception | str, status: int) -> int:
    sys.stderr.write(f"fudaza admin: {problem}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
