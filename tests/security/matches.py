"""A match with everybody who could overhear something, played to its end, and what leaked on the way."""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from random import Random
from typing import Any, Final, NamedTuple

import msgspec
import redis.asyncio
import structlog
from websockets.exceptions import ConnectionClosed

from engine.game import AnyGame
from server import logs
from server.admin import inspected
from server.log import Head
from server.room import replay
from server.store.keys import Keys
from tests.security.guests import PATIENCE_SECONDS, Guest
from tests.security.judge import Frame, Judge, Leak
from tests.security.nodes import OneNode
from tests.security.oracle import Truth

SHARE_OF_LONGER: Final = 0.25
SHARE_OF_LEAVERS: Final = 0.3
SHARE_OF_STRICT_HOSTS: Final = 0.4
RESTLESS: Final = 0.12
"""How likely people do something besides playing, after each frame."""


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


class Place(NamedTuple):
    """Where matches are played and overheard."""

    nodes: list[OneNode]
    keys: Keys
    store_of: Callable[[str], str]
    """The URL of the server that a channel is on."""
    log: io.StringIO


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
    partners = game.sides < game.seats
    created = await host.ask(
        "create",
        game=game.name,
        name=host.name,
        options=mixed_options(game, rng),
        settings={"winks": partners},
        seat=rng.randrange(game.seats),
    )
    assert created["t"] == "accepted", created
    place = created["place"]
    async with _eavesdropping(at.store_of, at.keys.wake(place["room"])) as wakeups:
        try:
            await _play(game, guests, watchers, place, rng)
        except Exception as problem:
            problem.add_note(f"match {seed}:\n{await _told(at, place['room'], everybody, began)}")
            raise
    entries = await at.nodes[0].entries(place["room"])
    truth = Truth(entries)
    owners = dict(secret for guest in everybody for secret in guest.owned())
    judge = Judge(truth, owners)
    frames = [frame for guest in everybody for frame in guest.frames]
    leaks = list(judge.leaks(frames))
    at.log.seek(began)
    leaks += judge.in_the_open(at.log.read(), "the log")
    for node in at.nodes:
        leaks += judge.in_the_open(node.metrics_text(), "the metrics")
    for summary in await at.nodes[0].index.listed(None, 100):
        leaks += judge.in_the_open(summary.decode(), "the lobby")
    for count in (rng.randrange(1, len(entries)), len(entries)):
        room = replay(entries[:count])
        assert room is not None
        told = inspected(room, Head(count, bytes(32)), count)
        leaks += judge.in_the_open(msgspec.json.encode(told).decode(), "what an operator sees")
    for payload in wakeups:
        if not payload.isdecimal():
            leaks.append(Leak(payload, "a wake-up", None))
    return Played(leaks, frames, wakeups, truth)


async def _play(game: AnyGame, guests: list[Guest], watchers: list[Guest], place: dict[str, Any], rng: Random) -> None:
    """From the first to the last that anybody hears of the match."""
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
    async with asyncio.TaskGroup() as group:
        for turn in turns:
            group.create_task(turn)
        await _over((host, opponent), (*guests, *watchers))
    for guest in (*guests, *watchers):
        await guest.leave()


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
