"""A connection to one server that many callers share: commands go out in batches, replies come back in order.

One connection, one task at a time that owns it: it takes everything that has been asked since the last batch, writes it
at once, and reads one reply for each command, whoever is still waiting for it. So a cancelled caller cannot shift
replies, and batching makes a command about five times cheaper than a pool does. Nothing is ever sent twice: when the
connection breaks, everybody waiting is told that the outcome is unknown, and the next call connects anew.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

from hiredis import pack_command
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import MasterDownError, ReadOnlyError, RedisError, ResponseError

from server.log import StoreUnavailable

Argument = str | bytes | int | float
Connect = Callable[[], Awaitable[AbstractConnection]]

_BATCH: Final = 256
"""Commands in flight at most; more wait, so that a flood of reads cannot hold an append back for long."""
_CLOSE_SECONDS: Final = 1.0


class _Request(NamedTuple):
    packed: bytes
    reply: asyncio.Future[Any]
    """Done already when its caller was cancelled; the server's reply is then read and dropped."""

    def fail(self, problem: str) -> None:
        if not self.reply.done():
            self.reply.set_exception(StoreUnavailable(problem))


class Line:
    """See the module. ``connect`` gives an open connection to the server that is to be used *now*.

    ``timeout`` is how many seconds a batch may take, connecting included; ``most_waiting`` bounds the queue.
    """

    def __init__(self, connect: Connect, *, timeout: float, most_waiting: int = 8192) -> None:
        self._connect = connect
        self._timeout = timeout
        self._most_waiting = most_waiting
        self._connection: AbstractConnection | None = None
        self._waiting: list[_Request] = []
        self._worker: asyncio.Task[None] | None = None
        self._closed = False

    async def call(self, *command: Argument) -> Any:
        """The server's reply, in RESP3's shapes with bytes for strings.

        Raises:
            StoreUnavailable: it may or may not have been done.
            redis.exceptions.ResponseError: the server refused it.
        """
        return await self._ask(command)

    async def call_asking(self, *command: Argument) -> Any:
        """Like ``call``, preceded by ASKING: for a hash slot that is just moving to this server."""
        # queued in one step, so nothing can come between the two
        asking, reply = self._ask(("ASKING",)), self._ask(command)
        await asyncio.gather(asking, reply)
        return reply.result()

    def _ask(self, command: tuple[Argument, ...]) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        request = _Request(pack_command(command), loop.create_future())  # type: ignore[arg-type]  # stub: a tuple of one
        if self._closed:
            request.fail("the store has been closed")
        elif len(self._waiting) >= self._most_waiting:
            request.fail("too many commands are waiting for the store")
        else:
            self._waiting.append(request)
            if self._worker is None:
                self._worker = loop.create_task(self._work(), name="store line")
        return request.reply

    async def _work(self) -> None:
        batch: list[_Request] = []
        problem: str | None = "the store has been closed"
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:_BATCH], self._waiting[_BATCH:]
                async with asyncio.timeout(self._timeout):
                    await self._exchange(batch)
            problem = None
        except TimeoutError:
            problem = f"the store did not answer within {self._timeout:g} s"
        except (RedisError, OSError, StoreUnavailable) as error:
            problem = str(error)
        finally:
            self._worker = None
            if problem is not None:
                unanswered, self._waiting = (*batch, *self._waiting), []
                for request in unanswered:
                    request.fail(problem)
            if problem is not None or self._closed:
                await self._hang_up()

    async def _exchange(self, batch: list[_Request]) -> None:
        connection = self._connection
        # data where none was asked for, or its end, means that the server has hung up
        if connection is not None and (not connection.is_connected or await connection.can_read()):
            await self._hang_up()
            connection = None
        if connection is None:
            connection = self._connection = await self._connect()
        await connection.send_packed_command([b"".join(request.packed for request in batch)], check_health=False)
        demoted = False
        for request in batch:
            try:
                answer = await connection.read_response(timeout=math.inf)
            except ResponseError as refusal:
                demoted |= isinstance(refusal, ReadOnlyError | MasterDownError)
                if not request.reply.done():
                    request.reply.set_exception(refusal)
            else:
                if not request.reply.done():
                    request.reply.set_result(answer)
        if demoted:
            # the server is no primary any more: let the next call look for the one that is
            await self._hang_up()

    async def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await hang_up(connection)

    async def retire(self) -> None:
        """Close when what has been asked is answered. Later calls raise ``StoreUnavailable``."""
        self._closed = True
        if self._worker is None:
            await self._hang_up()

    async def aclose(self) -> None:
        """Close now; everybody waiting is told that the outcome is unknown. Later calls raise ``StoreUnavailable``."""
        self._closed = True
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.wait([self._worker])
        await self._hang_up()


async def hang_up(connection: AbstractConnection) -> None:
    """Close ``connection``, whatever state it is in, and wait a moment for it to be closed."""
    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            await connection.disconnect()
    except (RedisError, OSError):
        # it is gone either way; TimeoutError is an OSError
        await connection.disconnect(nowait=True)
