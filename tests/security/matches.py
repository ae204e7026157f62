"""A match with everybody who could overhear something, played to its end, and what leaked on the way."""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from random import Random
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
import pytest
import redis.asyncio
import structlog
from websockets.exceptions import ConnectionClosed

from engine.game import AnyGame, Card
from engine.registry import GAMES
from engine.shuffle import Draw, deck_of
from protocol.events import WhyClosed
from protocol.messages import RoomSummary
from server import admin, logs
from server.entries import Entry
from server.log import Head, StoreUnavailable
from server.room import Phase, Room, close, replay
from server.store.keys import Keys
from tests.security.guests import PATIENCE_SECONDS, Guest
from tests.security.judge import Frame, Judge, Leak
from tests.security.nodes import OneNode, wall_ms
from tests.security.oracle import Truth
from tests.server.hallkit import until

SHARE_OF_LONGER: Final = 0.25
SHARE_OF_LEAVERS: Final = 0.3
SHARE_OF_STRICT_HOSTS: Final = 0.4
SHARE_OF_REMOVED: Final = 0.4
SHARE_OF_DOUBLES: Final = 0.6
"""Somebody comes a second time while they are there."""
SHARE_OF_CLOSED: Final = 0.5
"""The operator closes the room after the match."""
LOOKS_INTO_THE_ARCHIVE: Final = 5
"""While a match is played; and once when it is over."""
SHARE_OF_REDEALT: Final = 0.3
"""Matches whose deals are dealt twice, where the game has that."""
RESTLESS: Final = 0.12
"""How likely people do something besides playing, after each frame."""


T = TypeVar("T")


class Played(NamedTuple):
    """A match that is over."""

    leaks: list[Leak]
    frames: list[Frame]
    wakeups: list[str]
    truth: Truth


def mixed_options(game: AnyGame, rng: Random) -> dict[str, Any]:
    """Any value of any option; matches stay short."""
    options = {name: rng.choice(values) for name, values in game.options.items()}
    shortest, next_to_it, *_ = sorted(deals for deals in game.options["deals"] if isinstance(deals, int))
    return options | {"deals": next_to_it if rng.random() < SHARE_OF_LONGER else shortest}


def mixed_settings(game: AnyGame, rng: Random) -> dict[str, Any]:
    """Any settings, but for spectators, who are wanted. Nobody needs so long as a turn's limit is."""
    return {
        "private": rng.random() < 0.3,
        "turn_limit": rng.choice((0, 0, 10, 60)),
        "chat": rng.random() < 0.85,
        "winks": game.sides < game.seats and rng.random() < 0.8,
        "hints": rng.random() < 0.5,
    }


_BOARDS: Final = {"koi-koi": 16, "go-stop": 20}
"""Where in the deck the cards on the table begin (K1, G1)."""


def dealt_twice(draw: Draw, cards: Sequence[Card]) -> list[Card]:
    """The draw's deck; of some matches with four of a month on the table at first, so that it is dealt again (K2, G2).
    So rare a thing would hardly ever be judged otherwise.
    """
    deck = list(deck_of(draw, cards))
    board = next((at for name, at in _BOARDS.items() if tuple(cards) == GAMES[name].cards), None)
    if board is None or draw.attempt > 1 or Random(draw.match).random() >= SHARE_OF_REDEALT:
        return deck
    four = [card for card in deck if card[:2] == cards[0][:2]]
    rest = [card for card in deck if card not in four]
    return [*rest[:board], *four, *rest[board:]]


@contextmanager
def some_dealt_twice() -> Iterator[None]:
    """Deal with ``dealt_twice`` on all nodes of this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("server.room.clock.deck_of", dealt_twice)
        yield


class Place(NamedTuple):
    """Where matches are played and overheard."""

    nodes: list[OneNode]
    keys: Keys
    store_of: Callable[[str], str]
    """The URL of the server that a channel is on."""
    log: io.StringIO
    private: set[str]
    """The codes of private rooms that were opened here."""


async def play(game: AnyGame, at: Place, seed: int) -> Played:
    """A match: the host, a guest opposite and, where there are partners, a guest beside them; spectators, one of whom
    takes a seat during the match; now and then somebody leaves theirs, or is muted for everyone. All others are AI.
    """
    rng = Random(seed)
    ports = [node.port for node in at.nodes]
    guests = [Guest(name, game, ports, Random(f"{seed}/{name}")) for name in ("Ann", "Bob", "Eve")]
    host = guests[0]
    watchers = [Guest(name, game, ports, Random(f"{seed}/{name}")) for name in ("Wim", "Zoe")]
    everybody = [*guests, *watchers]
    began = at.log.tell()
    for guest in everybody:
        await guest.connect()
    settings = mixed_settings(game, rng)
    created = await host.ask(
        "create",
        game=game.name,
        name=host.name,
        options=mixed_options(game, rng),
        settings=settings,
        seat=rng.randrange(game.seats),
    )
    assert created["t"] == "accepted", created
    place = created["place"]
    if settings["private"]:
        at.private.add(place["code"])
    read: list[_Read] = []
    async with _eavesdropping(at.store_of, at.keys.wake(place["room"])) as wakeups:
        try:
            moments = [rng.uniform(0.0, 0.4) for _ in range(LOOKS_INTO_THE_ARCHIVE)]
            looks = [
                _after(moment, lambda: _look_into_the_archive(at.nodes[0], place["room"], read)) for moment in moments
            ]
            await _play(game, guests, watchers, place, rng, *looks)
            if rng.random() < SHARE_OF_CLOSED:
                await _close(at.nodes, place["room"], everybody)
            for guest in everybody:
                await guest.leave()
        except Exception as problem:
            problem.add_note(f"match {seed}:\n{await _told(at, place['room'], everybody, began)}")
            raise
    await _look_into_the_archive(at.nodes[0], place["room"], read)
    entries = await _insist(lambda: at.nodes[0].entries(place["room"]))
    truth = Truth(entries)
    owners = dict(secret for guest in everybody for secret in guest.owned())
    judge = Judge(truth, owners, at.private)
    frames = [frame for guest in everybody for frame in guest.frames]
    leaks = list(judge.leaks(frames))
    leaks += judge.closes(end for guest in everybody for end in guest.closes)
    for records, version in read:
        for record in records:
            leaks += judge.record(record, truth.numbers[version], "the archive")
    for number, kept in truth.records:
        leaks += judge.record(kept.decode(), number, "a record")
    at.log.seek(began)
    leaks += judge.in_the_open(at.log.read(), "the log")
    for node in at.nodes:
        leaks += judge.in_the_open(node.metrics_text(), "the metrics")
    for summary in await _insist(lambda: at.nodes[0].index.listed(None, 100)):
        leaks += judge.in_the_open(summary.decode(), "the lobby")
        if msgspec.json.decode(summary, type=RoomSummary).code in at.private:
            leaks.append(Leak("a private room", "the lobby", None))
    for count in (rng.randrange(1, len(entries)), len(entries)):
        room = replay(entries[:count])
        assert room is not None
        told = admin.inspected(room, Head(count, bytes(32)), count)
        leaks += judge.in_the_open(msgspec.json.encode(told).decode(), "what an operator sees")
    for payload in wakeups:
        if not payload.isdecimal():
            leaks.append(Leak(payload, "a wake-up", None))
    return Played(leaks, frames, wakeups, truth)


class _Read(NamedTuple):
    """What stood in the archive, and how many entries the room's log had after that."""

    records: list[str]
    version: int


async def _insist(ask: Callable[[], Awaitable[T]]) -> T:
    """What ``ask`` gives, and again where the store does not answer: it may be made to stand still."""
    while True:
        try:
            return await ask()
        except StoreUnavailable:
            await asyncio.sleep(0.05)


async def _look_into_the_archive(node: OneNode, room: str, read: list[_Read]) -> None:
    async def look() -> _Read:
        records = [archived.record.decode() async for archived in node.index.archived(room=room)]
        return _Read(records, (await node.log.heads([room]))[room].version)

    read.append(await _insist(look))


async def _close(nodes: list[OneNode], room: str, everybody: Iterable[Guest]) -> None:
    """The operator closes the room; all nodes have told everybody."""
    for guest in everybody:
        await guest.stop()

    def closing(known: Room, now: int) -> Entry:
        entry = close(known, WhyClosed.OPERATOR, now)
        if entry is None:
            raise admin.CannotDo("it is closed already")
        return entry

    with suppress(admin.CannotDo):  # where the store did not say that it was done
        await _insist(lambda: admin.amend(admin.Store(nodes[0].log, nodes[0].index, wall_ms), room, closing))
    for node in nodes:
        host = node.hall.hosts.get(room)
        await until(lambda host=host: host is None or host.gone or host.room.phase is Phase.CLOSED)  # type: ignore[misc]


async def _play(
    game: AnyGame,
    guests: list[Guest],
    watchers: list[Guest],
    place: dict[str, Any],
    rng: Random,
    *others: Coroutine[Any, Any, None],
) -> None:
    """From the first to the last that anybody hears of the match; ``others`` is done meanwhile."""
    host, opponent, partner = guests
    await _sit_down(game, guests, place)
    for watcher in watchers:
        await watcher.ask("watch", code=place["code"])
    await host.insist("start", level="easy")
    for guest in (*guests, watchers[1]):
        guest.restless = RESTLESS
    leaver = partner if game.seats > 2 else opponent
    turns = [_after(rng.uniform(0.02, 0.2), lambda: _take_a_seat(watchers[0], place["code"]))]
    if rng.random() < SHARE_OF_LEAVERS:
        turns.append(_after(rng.uniform(0.02, 0.2), leaver.stand_up))
    if rng.random() < SHARE_OF_STRICT_HOSTS:
        turns.append(_after(rng.uniform(0.0, 0.2), lambda: host.silence((place["seat"] + 1) % game.seats)))
    if rng.random() < SHARE_OF_REMOVED:
        turns.append(_after(rng.uniform(0.0, 0.2), lambda: host.remove((place["seat"] + 1) % game.seats)))
    if rng.random() < SHARE_OF_DOUBLES:
        turns.append(_after(rng.uniform(0.0, 0.1), host.be_there_twice))
    async with asyncio.TaskGroup() as group:
        for turn in (*turns, *others):
            group.create_task(turn)
        await _over((host, opponent), (*guests, *watchers))


async def _over(awaited: Iterable[Guest], everybody: Iterable[Guest]) -> None:
    """Until the match has ended for all ``awaited``; raises as soon as anybody is in trouble, or patience ends."""
    async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as group:
        watched = [group.create_task(guest.in_trouble()) for guest in everybody]
        for guest in awaited:
            await guest.over.wait()
        for watch in watched:
            watch.cancel()


async def _told(at: Place, room: str, everybody: Iterable[Guest], began: int) -> str:
    """Who waits for what, as everybody sees it, and the last lines of the log."""
    entries = (await at.nodes[0].entries(room))[-6:]
    at.log.seek(began)
    return "\n".join(
        [
            *(f"{guest.name}: {guest.told()}" for guest in everybody),
            *(str(node.told(room)) for node in at.nodes),
            *(f"{entry.at} {type(entry.body).__name__}" for entry in entries),
            *at.log.read().splitlines()[-40:],
        ]
    )


async def _sit_down(game: AnyGame, guests: list[Guest], place: dict[str, Any]) -> None:
    """One opposite the host and, in a game of teams, one beside; the host does not want to read the first."""
    host, opponent, partner = guests
    seat = place["seat"]
    await opponent.ask("join", code=place["code"], name=opponent.name, seat=(seat + 1) % game.seats)
    if game.seats > 2:
        await partner.ask("join", code=place["code"], name=partner.name, seat=(seat + 2) % game.seats)
    else:
        await partner.ask("watch", code=place["code"])
    await host.mute((seat + 1) % game.seats, opponent.name)
    await opponent.insist("chat", text=f"I am {opponent.name}")


async def _after(seconds: float, do: Callable[[], Awaitable[None]]) -> None:
    """Do something in the course of the match; a connection that is lost meanwhile is nobody's fault."""
    await asyncio.sleep(seconds)
    with suppress(ConnectionClosed):
        await do()


async def _take_a_seat(watcher: Guest, code: str) -> None:
    """A spectator sits down in an AI's place while the match is on; in a full room that fails."""
    await watcher.ask("leave")
    await watcher.ask("join", code=code, name=watcher.name)
    watcher.restless = RESTLESS


class _eavesdropping:  # noqa: N801 - used like a function
    """Listens to a room's wake-up channel; gives what was heard."""

    def __init__(self, store_of: Callable[[str], str], channel: str) -> None:
        self._client = redis.asyncio.Redis.from_url(store_of(channel), protocol=3)
        self._channel = channel
        self._heard: list[str] = []
        self._task: asyncio.Task[None]

    async def __aenter__(self) -> list[str]:
        self._pubsub = self._client.pubsub()
        await self._pubsub.execute_command("SSUBSCRIBE", self._channel)
        self._task = asyncio.create_task(self._listen())
        return self._heard

    async def _listen(self) -> None:
        while True:
            reply = await self._pubsub.parse_response(block=True)
            if reply[0] in {b"smessage", "smessage"}:
                self._heard.append(reply[2].decode() if isinstance(reply[2], bytes) else str(reply[2]))

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._pubsub.aclose()  # type: ignore[no-untyped-call]
        await self._client.aclose()


@contextmanager
def log_kept(*, pretty: bool = False) -> Iterator[io.StringIO]:
    """Everything that is logged, as it would be written."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    logs.configure("debug", pretty=pretty, stream=stream)
    structlog.configure(cache_logger_on_first_use=False)  # the server's loggers must not keep to this stream
    yield stream
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)
