"""A connection to one server that many callers share: commands go out as they are asked, replies come back in order.

What is asked in one turn of the event loop is written at once, and each reply goes to the command that is the longest
on its way, whoever is still waiting for it. So a cancelled caller cannot shift replies, and a command costs a tenth of
what a pool takes: no task, no time limit and no lock of its own. Nothing is ever sent twice: when the connection
breaks, everybody waiting is told that the outcome is unknown, and the next call connects anew.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple, TypeAlias

import hiredis
from redis.asyncio.connection import (  # type: ignore[attr-defined]  # where the parser is defined is private
    AbstractConnection,
    BaseParser,
)
from redis.exceptions import InvalidResponse, MasterDownError, ReadOnlyError, RedisError, ResponseError

from server.log import StoreUnavailable

Argument: TypeAlias = str | bytes | int | float
Connect: TypeAlias = Callable[[], Awaitable[AbstractConnection]]

_CLOSE_SECONDS: Final = 1.0
_CLOSED: Final = "the store has been closed"
_NOTHING: Final = object()
"""Stands for "no whole reply yet": False and None are replies."""


class _Request(NamedTuple):
    packed: bytes
    at: float
    """When it was asked (the event loop's clock)."""
    reply: asyncio.Future[Any]
    """Done already when its caller was cancelled; the server's reply is then read and dropped."""

    def fail(self, problem: str) -> None:
        if not self.reply.done():
            self.reply.set_exception(StoreUnavailable(problem))


class Line:
    """See the module. ``connect`` gives an open connection to the server that is to be used *now*.

    ``timeout`` is how many seconds a command may take, connecting included; ``most_waiting`` bounds how many are.
    """

    def __init__(self, connect: Connect, *, timeout: float, most_waiting: int = 8192) -> None:
        self._connect = connect
        self._timeout = timeout
        self._most_waiting = most_waiting
        self._wire: _Wire | None = None
        self._waiting: deque[_Request] = deque()
        """What is to be sent as soon as there is a wire."""
        self._connecting: asyncio.Task[None] | None = None
        self._closed = False

    def call(self, *command: Argument) -> asyncio.Future[Any]:
        """The server's reply to come, in RESP3's shapes with bytes for strings.

        Raises (when awaited):
            StoreUnavailable: it may or may not have been done.
            redis.exceptions.ResponseError: the server refused it.
        """
        wire = self._wire
        loop = asyncio.get_running_loop() if wire is None else wire.loop
        # the stub has a tuple of one
        request = _Request(hiredis.pack_command(command), loop.time(), loop.create_future())  # type: ignore[arg-type]
        if self._closed:
            request.fail(_CLOSED)
        elif len(self._waiting if wire is None else wire.asked) >= self._most_waiting:
            request.fail("too many commands are waiting for the store")
        elif wire is not None:
            wire.send(request)
        else:
            self._waiting.append(request)
            if self._connecting is None:
                self._connecting = loop.create_task(self._open(), name="store line")
        return request.reply

    async def call_asking(self, *command: Argument) -> Any:
        """Like ``call``, preceded by ASKING: for a hash slot that is just moving to this server."""
        # sent in one step, so nothing can come between the two
        asking, reply = self.call("ASKING"), self.call(*command)
        await asyncio.gather(asking, reply)
        return reply.result()

    async def _open(self) -> None:
        problem = _CLOSED
        try:
            async with asyncio.timeout(self._timeout):
                connection = await self._connect()
            self._wire = _Wire(connection, self._timeout, self._lose)
        except TimeoutError:
            problem = _too_late(self._timeout)
        except (RedisError, OSError, StoreUnavailable) as error:
            problem = str(error)
        finally:
            self._connecting = None
            waiting, self._waiting = self._waiting, deque()
            for request in waiting:
                if self._wire is not None:
                    self._wire.send(request)
                else:
                    request.fail(problem)

    def _lose(self, wire: _Wire) -> None:
        """``wire`` takes no more commands."""
        if self._wire is wire:
            self._wire = None

    async def retire(self) -> None:
        """Close when what has been asked is answered. Later calls raise ``StoreUnavailable``."""
        self._closed = True
        if self._connecting is not None:
            await asyncio.wait([self._connecting])
        if self._wire is not None:
            self._wire.finish()

    async def aclose(self) -> None:
        """Close now; everybody waiting is told that the outcome is unknown. Later calls raise ``StoreUnavailable``."""
        self._closed = True
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.wait([self._connecting])
        if self._wire is not None:
            wire = self._wire
            wire.cut(_CLOSED)
            await wire.closed


class _Wire(asyncio.Protocol):
    """An open connection, taken over from redis-py, which has found the server and logged in.

    Its own reader wakes a task for each reply and limits the time of each read; this gives replies to whom they belong
    as they come, and looks at the time once in a while.
    """

    def __init__(self, connection: AbstractConnection, timeout: float, lose: Callable[[_Wire], None]) -> None:
        self.loop = asyncio.get_running_loop()
        self.asked: deque[_Request] = deque()
        """What has not been answered, the oldest first."""
        self.closed: asyncio.Future[None] = self.loop.create_future()
        self._packed: list[bytes] = []
        """The part of it that is to be written."""
        self._timeout = timeout
        self._lose = lose
        self._reader = hiredis.Reader(
            protocolError=InvalidResponse, replyError=BaseParser.parse_error, notEnoughData=_NOTHING
        )
        self._watch: asyncio.TimerHandle | None = None
        self._finishing = False
        self._problem = "the store has hung up"
        # redis-py has no public way to give up a connection; from here on it must not close what is not its any more
        writer = connection._writer  # noqa: SLF001
        assert writer is not None, "connections come open"
        connection._reader = connection._writer = None  # noqa: SLF001
        self._writer = writer
        """Kept because it closes the transport when it is forgotten."""
        self._transport = writer.transport
        self._transport.set_protocol(self)

    def send(self, request: _Request) -> None:
        """Send a command after those before it."""
        self.asked.append(request)
        if not self._packed:
            self.loop.call_soon(self._write)
        self._packed.append(request.packed)
        if self._watch is None:
            self._watch = self.loop.call_at(request.at + self._timeout, self._look_at_time)

    def _write(self) -> None:
        """Write at once what was asked in one turn of the event loop."""
        packed, self._packed = self._packed, []
        if packed:  # nothing, where the connection has ended in that turn
            self._transport.write(b"".join(packed))

    def data_received(self, data: bytes) -> None:
        """Give replies to those who asked, in order."""
        self._reader.feed(data)
        try:
            while (answer := self._reader.gets()) is not _NOTHING:
                if not self.asked:  # nobody could know whom the next reply is for
                    self.cut("the store said something that it was not asked")
                    return
                self._answer(self.asked.popleft(), answer)
        except RedisError as problem:  # not a reply at all, or one that stands for the end of the connection
            self.cut(str(problem))
            return
        if self._finishing and not self.asked:
            self._transport.close()

    def _answer(self, request: _Request, answer: Any) -> None:
        if isinstance(answer, RedisError):
            if not isinstance(answer, ResponseError):
                self.asked.appendleft(request)
                raise answer
            if isinstance(answer, ReadOnlyError | MasterDownError):
                self.finish()  # the server is no primary any more: let the next call look for the one that is
            if not request.reply.done():
                request.reply.set_exception(answer)
        elif not request.reply.done():
            request.reply.set_result(answer)

    def _look_at_time(self) -> None:
        """End the connection if the oldest command has waited for too long; one timer serves all of them."""
        self._watch = None
        if self.asked:
            late = self.asked[0].at + self._timeout
            if late <= self.loop.time():
                self.cut(_too_late(self._timeout))
            else:
                self._watch = self.loop.call_at(late, self._look_at_time)

    def finish(self) -> None:
        """Take no more commands, and close when those sent are answered."""
        self._finishing = True
        self._lose(self)
        if not self.asked:
            self._transport.close()

    def cut(self, problem: str) -> None:
        """Close now; whoever waits is told that the outcome is unknown, and why."""
        self._problem = problem
        self._end()
        self._transport.abort()

    def eof_received(self) -> None:
        """The server has hung up: nothing may be sent any more, also before the transport has noticed."""
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        if exc is not None:
            self._problem = str(exc)
        self._end()
        if not self.closed.done():
            self.closed.set_result(None)

    def _end(self) -> None:
        self._lose(self)
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        self._packed = []
        while self.asked:
            self.asked.popleft().fail(self._problem)


def _too_late(seconds: float) -> str:
    return f"the store did not answer within {seconds:g} s"


async def hang_up(connection: AbstractConnection) -> None:
    """Close ``connection``, whatever state it is in, and wait a moment for it to be closed."""
    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            await connection.disconnect()
    except (RedisError, OSError):
        # it is gone either way; TimeoutError is an OSError
        await connection.disconnect(nowait=True)
