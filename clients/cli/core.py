"""A session on the network: dials, keeps talking, and comes back when the connection breaks.

Belongs here: one task that carries frames between a ``Session`` and a ``Wire``. Must not be known here: what messages
mean, what people see. Time and chance are arguments, so that tests need neither.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, Self, TypeAlias

import msgspec

from clients.cli.connection import LASTING, CannotConnect, Dial, Dropped, Trouble, Wire, dial
from clients.cli.session import AnyUpdate, Asked, Delayed, Refreshed, Rooms, Seated, Session, Updated
from protocol.codec import decode_message, encode
from protocol.codes import Refused
from protocol.limits import MAX_COMMAND_BYTES
from protocol.messages import Command, RefusedMessage

FIRST_DELAY: Final = 0.25
"""Seconds before the first attempt to come back; each further one waits twice as long …"""
LONGEST_DELAY: Final = 8.0
"""… up to this. Half of each delay is random, so that the clients of a dead server do not come back all at once."""
PATIENCE: Final = 900.0
"""Seconds of waiting after which a lost server is given up. The seat can still be resumed later."""


class Online(Updated, frozen=True):
    """There is a connection; ``again``: after one was lost."""

    again: bool


class Offline(Updated, frozen=True):
    """There is no connection; the next attempt is made in ``retry_in`` seconds."""

    trouble: Trouble
    detail: str
    retry_in: float


class GaveUp(Updated, frozen=True):
    """There is no connection and no further attempt. The last update."""

    trouble: Trouble
    detail: str


class Unkept(Updated, frozen=True):
    """What it takes to come back to our seat could not be written down (``table.Table`` does that, and tells it once):
    when this client ends the seat may be lost. ``problem``: the system's words.
    """

    problem: str


News: TypeAlias = AnyUpdate | Online | Offline | GaveUp | Unkept
"""What a face hears."""


class Core:
    """Runs one session. Use as an async context manager and iterate over ``news``."""

    def __init__(
        self,
        url: str,
        session: Session,
        *,
        dial: Dial = dial,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
        patience: float = PATIENCE,
    ) -> None:
        self.url = url
        self.session = session
        self._dial = dial
        self._sleep = sleep
        self._chance = chance
        self._patience = patience
        self._news: asyncio.Queue[News | None] = asyncio.Queue()
        self._wake = asyncio.Event()
        self._delays: set[asyncio.Task[None]] = set()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        tasks = (self._task, *self._delays)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def news(self) -> AsyncIterator[News]:
        """What happens, until the session ends or is given up."""
        assert self._task is not None
        while (item := await self._news.get()) is not None:
            yield item
        await self._task  # a fault in there is raised here

    def idle(self) -> bool:
        """Whether everything that has arrived was handed out."""
        return self._news.empty()

    def ask(self, kind: type[Command], **fields: Any) -> Command:
        """``Session.ask``, and it goes out."""
        command = self.session.ask(kind, **fields)
        self._wake.set()
        return command

    def act(self, action: str) -> Command:
        """``Session.act``, and it goes out."""
        command = self.session.act(action)
        self._wake.set()
        return command

    # The task ---------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        try:
            await self._stay_connected()
        finally:
            self._news.put_nowait(None)

    async def _stay_connected(self) -> None:
        was_online = False
        failures, waited = 0, 0.0
        while True:
            try:
                wire = await self._dial(self.url)
            except CannotConnect as problem:
                trouble, detail = problem.trouble, problem.detail
            else:
                self._news.put_nowait(Online(again=was_online))
                was_online = True
                heard, trouble, detail = await self._talk(wire)
                if self.session.ended is not None:
                    return
                if heard:
                    failures, waited = 0, 0.0
            if trouble in LASTING or not was_online or waited >= self._patience:
                self._news.put_nowait(GaveUp(trouble, detail))
                return
            delay = min(LONGEST_DELAY, FIRST_DELAY * 2**failures) * (0.5 + self._chance() / 2)
            failures, waited = failures + 1, waited + delay
            self._news.put_nowait(Offline(trouble, detail, delay))
            await self._sleep(delay)

    async def _talk(self, wire: Wire) -> tuple[bool, Trouble, str]:
        """Carry frames until the connection or the session ends. Returns whether we got anywhere, and the trouble."""
        sender = asyncio.create_task(self._send(wire))
        heard = False
        try:
            while self.session.ended is None:
                message = decode_message(await wire.receive())
                updates = self.session.feed(message)
                heard = heard or any(isinstance(update, Seated | Refreshed | Rooms | Asked) for update in updates)
                self._tell(updates)
                self._wake.set()
        except Dropped as dropped:
            self._tell(self.session.disconnected(dropped.code))
            return heard, Trouble.DROPPED, ""
        except msgspec.MsgspecError as problem:
            self.session.disconnected(None)
            return heard, Trouble.NOT_UNDERSTOOD, str(problem)
        finally:
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)
            await wire.close()
        return heard, Trouble.DROPPED, ""

    async def _send(self, wire: Wire) -> None:
        while True:
            self._wake.clear()
            for command in self.session.to_send():
                frame = encode(command)
                if len(frame) > MAX_COMMAND_BYTES:
                    # The server would end the connection over it, and over its repetition on the next one.
                    too_large = RefusedMessage(
                        id=command.id, code=Refused.TOO_LARGE, params={"limit": MAX_COMMAND_BYTES}
                    )
                    self._tell(self.session.feed(too_large))
                    continue
                try:
                    await wire.send(frame)
                except Dropped:
                    return  # the receiving side says so; what was not sent stays pending
            await self._wake.wait()

    def _tell(self, updates: list[AnyUpdate]) -> None:
        for update in updates:
            self._news.put_nowait(update)
            if isinstance(update, Delayed):
                task = asyncio.create_task(self._again(update))
                self._delays.add(task)
                task.add_done_callback(self._delays.discard)

    async def _again(self, delayed: Delayed) -> None:
        await self._sleep(delayed.after_ms / 1000)
        self.session.again(delayed.command.id)
        self._wake.set()
