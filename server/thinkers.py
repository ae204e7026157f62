"""The AI processes seen from the server: a queue of questions, started, replaced and given up on.

Belongs here: processes, deadlines, back-off, what they complain of. Must not be known here: rooms, seats, what a view
holds. Thinking never happens on the event loop's thread; who gets no answer in time is told so and takes the game's
default action.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Final

import msgspec
import structlog
from msgspec.structs import replace

from server.metrics import Metrics
from server.settings import ENVIRONMENT_PREFIX
from server.worker import LENGTH_BYTES, MAX_MESSAGE_BYTES, Answer, Question, packed

COMMAND: Final = (sys.executable, "-m", "server.worker")
_QUEUE: Final = 4096
"""Questions that may wait; beyond that seats get their default action at once."""
_ATTEMPTS: Final = 2
"""A process may have died for another reason; the second that dies of the same question does not get a third."""
_BACKOFF_SECONDS: Final = (0.05, 5.0)
_STOP_SECONDS: Final = 2.0
_START_SECONDS: Final = 30.0
_LINES_KEPT: Final = 50
"""Of what one process writes to its standard error: a process that complains without end must not fill the log."""
_LINE_BYTES: Final = 2_000
_READ_BYTES: Final = 4_096

_log = structlog.get_logger()


class Missed(StrEnum):
    """Why there is no answer."""

    LATE = "late"
    CRASHED = "crashed"
    FAULTY = "faulty"
    """The game raised an exception."""
    BUSY = "busy"
    """Too many questions are waiting already."""


class NoAnswer(Exception):
    """No AI answered; the caller takes the default action."""

    def __init__(self, why: Missed) -> None:
        super().__init__(why.value)
        self.why = why


class _Broken(Exception):
    """The process ended or does not answer; nothing more can be asked of it."""


class _Waiting:
    """A question on its way to an answer."""

    __slots__ = ("answer", "attempts", "deadline", "question")

    def __init__(self, question: Question, answer: asyncio.Future[Answer], deadline: float) -> None:
        self.question = question
        self.answer = answer
        self.deadline = deadline
        """Of the event loop's clock."""
        self.attempts = 0


class Thinkers:
    """A number of AI processes. ``start`` it, ``think`` with it, ``stop`` it."""

    def __init__(
        self,
        *,
        processes: int,
        deadline_seconds: float,
        tasks_per_process: int,
        metrics: Metrics,
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._processes = processes
        self._deadline = deadline_seconds
        self._tasks_per_process = tasks_per_process
        self._metrics = metrics
        self._command = command
        self._queue: asyncio.Queue[_Waiting] = asyncio.Queue(_QUEUE)
        self._keepers: list[asyncio.Task[None]] = []
        self._up: set[_Process] = set()
        self._asked = 0

    def start(self) -> None:
        """Start the processes in the background; questions wait for them."""
        loop = asyncio.get_running_loop()
        self._keepers = [loop.create_task(self._keep(), name=f"ai-process-{n}") for n in range(self._processes)]

    async def stop(self) -> None:
        """End the processes; who still waits is told that there is no answer."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        self._keepers = []
        for process in tuple(self._up):  # of keepers that were cancelled while they ended it
            await self._end(process, now=True)
        while not self._queue.empty():
            _refuse(self._queue.get_nowait(), Missed.CRASHED)

    @property
    def pids(self) -> frozenset[int]:
        """The ids of the processes that are up."""
        return frozenset(process.pid for process in self._up)

    async def think(self, question: Question) -> Answer:
        """The answer to ``question``, whose number is given here.

        Raises:
            NoAnswer: too late, too busy, or the process or the game failed.
        """
        loop = asyncio.get_running_loop()
        self._asked += 1
        waiting = _Waiting(
            replace(question, number=self._asked), loop.create_future(), deadline=loop.time() + self._deadline
        )
        try:
            self._queue.put_nowait(waiting)
        except asyncio.QueueFull:
            raise NoAnswer(Missed.BUSY) from None
        try:
            async with asyncio.timeout_at(waiting.deadline):
                answer = await waiting.answer
        except TimeoutError:
            raise NoAnswer(Missed.LATE) from None
        if answer.action is None:
            _log.error("ai-fault", game=question.game, level=question.level, problem=answer.problem)
            raise NoAnswer(Missed.FAULTY)
        return answer

    async def _keep(self) -> None:
        """Keep one process running: replace it when it is worn out, restart it with back-off when it breaks."""
        least, most = _BACKOFF_SECONDS
        pause = least
        process: _Process | None = None
        while True:
            try:
                fresh = await _Process.start(self._command)
                self._up.add(fresh)
                self._metrics.worker_starts.inc()
                if process is not None:
                    await self._end(process)
                process = fresh
                await self._serve(process)
            except Exception as broken:  # noqa: BLE001 - without a keeper no AI would think any more
                if not isinstance(broken, (_Broken, OSError)):
                    self._metrics.internal_errors.inc()
                    _log.exception("ai-keeper-failed")
                if process is not None and process.answered:
                    pause = least
                _log.warning("ai-process-broken", problem=str(broken), restart_seconds=pause)
                if process is not None:
                    await self._end(process, now=True)
                    process = None
                await asyncio.sleep(pause)
                pause = min(most, pause * 2)
            except BaseException:
                if process is not None:
                    await self._end(process)
                raise

    async def _end(self, process: _Process, *, now: bool = False) -> None:
        await (process.kill() if now else process.stop())
        self._up.discard(process)

    async def _serve(self, process: _Process) -> None:
        """Put questions to ``process`` until it has had its share."""
        for _ in range(self._tasks_per_process):
            waiting = await self._queue.get()
            if waiting.answer.done():
                continue
            waiting.attempts += 1
            try:
                answer = await process.ask(waiting.question, waiting.deadline)
            except BaseException as problem:
                self._give_up(waiting, problem)
                raise
            if not waiting.answer.done():
                waiting.answer.set_result(answer)

    def _give_up(self, waiting: _Waiting, problem: BaseException) -> None:
        if waiting.answer.done():
            return  # it was too late for whoever asked
        if isinstance(problem, _Broken) and waiting.attempts < _ATTEMPTS and not self._queue.full():
            self._queue.put_nowait(waiting)
        else:
            _refuse(waiting, Missed.CRASHED)


class _Process:
    """One AI process that is up and has loaded its games."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._to = process.stdin
        self._from = process.stdout
        self._listening = asyncio.create_task(_note_lines(process.stderr, process.pid))
        self._decoder = msgspec.msgpack.Decoder(Answer)
        self.answered = 0
        """Questions it has answered: one that answers some before it breaks is restarted without delay."""

    @classmethod
    async def start(cls, command: Sequence[str]) -> _Process:
        """Start one and wait until it is warm.

        Raises:
            OSError: it cannot be started.
            _Broken: it ended or said nothing.
        """
        # A session of its own: Ctrl-C at the terminal reaches the server alone, which ends in order.
        process = cls(
            await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,  # what is written straight to ours, no log would scrub
                start_new_session=True,
                env=_environment(),
            )
        )
        try:
            await process._receive(0, asyncio.get_running_loop().time() + _START_SECONDS)
        except BaseException:
            await process.kill()
            raise
        return process

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    async def ask(self, question: Question, deadline: float) -> Answer:
        """The process's answer.

        Raises:
            _Broken: it ended, or did not answer by ``deadline`` (the loop's clock).
        """
        if self._to.is_closing():  # it died while nobody asked; uvloop raises no OSError then
            raise _Broken("it takes no more questions")
        try:
            self._to.write(packed(question))
            await self._to.drain()
        except OSError as problem:
            raise _Broken("it takes no more questions") from problem
        answer = await self._receive(question.number, deadline)
        self.answered += 1
        return answer

    async def _receive(self, number: int, deadline: float) -> Answer:
        try:
            async with asyncio.timeout_at(deadline):
                length = int.from_bytes(await self._from.readexactly(LENGTH_BYTES), "big")
                if length > MAX_MESSAGE_BYTES:
                    raise _Broken("it speaks nonsense")
                answer = self._decoder.decode(await self._from.readexactly(length))
        except TimeoutError as problem:
            raise _Broken("it did not answer in time") from problem
        except (asyncio.IncompleteReadError, OSError) as problem:
            raise _Broken("it ended") from problem
        except msgspec.MsgspecError as problem:
            raise _Broken("it speaks nonsense") from problem
        if answer.number != number:
            raise _Broken("it answered another question")
        return answer

    async def stop(self) -> None:
        """Let it end by itself, soon."""
        self._to.close()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await self._process.wait()
        except TimeoutError:
            await self.kill()
        else:
            await self._hear_out()

    async def kill(self) -> None:
        """End it now."""
        with suppress(ProcessLookupError):  # it has ended by itself
            self._process.kill()
        self._to.close()
        await self._process.wait()
        await self._hear_out()

    async def _hear_out(self) -> None:
        """Read the last that it said; not for ever, for a process that it started may go on holding the pipe."""
        await asyncio.wait([self._listening], timeout=_STOP_SECONDS)
        self._listening.cancel()


async def _note_lines(source: asyncio.StreamReader, pid: int) -> None:
    """Log what the process ``pid`` writes to its standard error, as far as it may be long; read all of it, or the
    process would wait for its reader.
    """
    count = 0
    async for line in _lines(source):
        count += 1
        if count <= _LINES_KEPT:
            text = f"more than {_LINE_BYTES} bytes" if len(line) > _LINE_BYTES else line.decode(errors="replace")
            _log.warning("ai-process-said", pid=pid, text=text)
    if count > _LINES_KEPT:
        _log.warning("ai-process-said-more", pid=pid, lines=count - _LINES_KEPT)


async def _lines(source: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Each line that was finished. Of one that is too long only so much that this can be seen, and of an unfinished one
    nothing: in a piece of a token no scrubber recognises a token.
    """
    begun = b""
    while data := await source.read(_READ_BYTES):
        *finished, begun = (begun + data).split(b"\n")
        for line in finished:
            yield line
        begun = begun[: _LINE_BYTES + 1]


def _environment() -> dict[str, str]:
    """Ours without our settings: an AI has no business with the store, least of all with its password."""
    return {name: value for name, value in os.environ.items() if not name.startswith(ENVIRONMENT_PREFIX)}


def _refuse(waiting: _Waiting, why: Missed) -> None:
    if not waiting.answer.done():
        waiting.answer.set_exception(NoAnswer(why))
