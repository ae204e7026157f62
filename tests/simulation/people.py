"""People in the virtual world: the real client, and hands that play by a seed."""

from __future__ import annotations

import asyncio
import hashlib
import math
from random import Random
from typing import Any

import msgspec

from clients.cli.core import Core, GaveUp, News, Offline, Online
from clients.cli.session import Done, Ended, Happened, Missed, NotDone, Refreshed, Session, Told
from protocol.codec import encode
from protocol.messages import Accepted, Command, Place, Ready
from tests.simulation.world import World


class Guest:
    """A person with the real client, who plays whatever happens."""

    def __init__(self, world: World, name: str) -> None:
        self.name = name
        self._rng = Random(f"{world.seed}/{name}")
        self.session = Session(hashlib.sha256(f"{world.seed}/{name}".encode()).hexdigest()[:24], self._rng.randbytes)
        self.core = Core(
            "ws://simulated",
            self.session,
            dial=lambda _: world.dial(name),
            chance=self._rng.random,
            patience=math.inf,
        )
        self.given: dict[str, Command] = {}
        self.accepted: dict[str, Accepted] = {}
        self.refused: dict[str, str] = {}
        self.events: dict[int, dict[str, Any]] = {}
        self.first = 0
        self.number = 0
        self.online = False
        self.rolled_back = 0
        self.over: News | None = None
        self.news = asyncio.Event()
        self._playing: asyncio.Task[Any] | None = None
        self._considered = 0

    @property
    def place(self) -> Place | None:
        return self.session.place

    @place.setter
    def place(self, _: Place | None) -> None:
        raise AssertionError("only the session knows")

    def leave_for_good(self) -> None:
        """Switch the machine off."""
        assert self._playing is not None
        self._playing.cancel()

    async def play(self) -> None:
        self._playing = asyncio.current_task()
        async with self.core:
            async for item in self.core.news():
                self._hear(item)
                self._do_ones_part()
                self.news.set()

    async def until_online(self) -> None:
        while not self.online:
            self.news.clear()
            await self.news.wait()

    @property
    def is_finished(self) -> bool:
        return self.session.picture is not None and self.session.picture.phase == "finished"

    async def until(self, phase: str) -> None:
        while self.over is None and (self.session.picture is None or self.session.picture.phase != phase):
            self.news.clear()
            await self.news.wait()

    def _hear(self, item: News) -> None:
        match item:
            case Happened(number=number, event=event):
                self.events[number] = msgspec.json.decode(encode(event))
                self.number = number
            case Refreshed(picture=picture):
                self.events.clear()
                self.first, self.number = picture.at + 1, picture.at
            case Done(command=command, answer=answer):
                self.given[command.id] = command
                self.accepted[command.id] = answer
            case NotDone(command=command, code=code):
                assert command is not None
                self.given[command.id] = command
                self.refused[command.id] = code
            case Told(code="rolled-back"):
                self.rolled_back += 1
            case Missed():
                raise AssertionError(f"{self.name} was sent a gap: {item}")
            case Online():
                self.online = True
            case Offline():
                self.online = False
            case GaveUp() | Ended():
                self.over = item
            case _:
                pass

    def _do_ones_part(self) -> None:
        session = self.session
        if session.ended is not None:
            return
        if session.turn is not None and session.answering is None:
            self._considered += 1
            asyncio.get_running_loop().call_later(self._rng.expovariate(1), self._move, self._considered)
        elif session.picture is not None and session.picture.waits_for_you and not session.asked(Ready):
            self.core.ask(Ready)

    def _move(self, considered: int) -> None:
        turn = self.session.turn
        if considered == self._considered and turn is not None and self.session.answering is None:
            self.core.act(self._rng.choice(turn.legal))
