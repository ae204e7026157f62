"""An event loop whose time is virtual and whose everything is repeated by a seed: nothing happens beside it.

Each thing that runs belongs to a *process* (a node, or None for people and the store), which it inherits from whatever
started it. A process can be stopped (what it would do waits, timers included) and killed (it never does anything again,
not even a ``finally``), as SIGSTOP and SIGKILL do.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections import Counter, deque
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from typing import Any, Final, TypeVarTuple, Unpack

Ts = TypeVarTuple("Ts")

PROCESS: Final[ContextVar[str | None]] = ContextVar("PROCESS", default=None)


class Stuck(AssertionError):
    """Nothing will ever happen again, and yet not everything is done."""


def context_of(process: str | None) -> Context:
    """A context in which what is started belongs to ``process``."""
    context = copy_context()
    context.run(PROCESS.set, process)
    return context


MOST_SECONDS: Final = 86_400.0
"""Nothing that is simulated lasts a day: what beats for ever would otherwise never be found to be stuck."""


def _nobody_strikes(_process: str, _step: int) -> None:
    """All go on."""


class VirtualLoop(asyncio.AbstractEventLoop):
    """See the module."""

    def __init__(self) -> None:
        self.faults: list[dict[str, Any]] = []
        """What was reported as going wrong in callbacks and forgotten tasks."""
        self._now = 0.0
        self._ready: deque[tuple[str | None, asyncio.Handle]] = deque()
        self._timers: list[tuple[float, int, str | None, asyncio.TimerHandle]] = []
        self._numbers = itertools.count()
        self._stopped: dict[str, deque[asyncio.Handle]] = {}
        """What processes would do if they were not stopped, or dead."""
        self._dead: set[str] = set()
        self.steps: Counter[str] = Counter()
        """How often each process has done something: its points between two awaits."""
        self.before: Callable[[str, int], None] = _nobody_strikes
        """Called before each step of a process, with the step's number; may stop or kill it."""
        self._tasks: list[asyncio.Task[Any]] = []
        """All there ever were: who is dead must not be tidied up behind everybody's back."""

    # Processes

    def stop_process(self, process: str) -> None:
        """SIGSTOP."""
        self._stopped.setdefault(process, deque())

    def go_on(self, process: str) -> None:
        """SIGCONT; does nothing for the dead."""
        if process not in self._dead:
            self._ready.extend((process, handle) for handle in self._stopped.pop(process, ()))

    def kill_process(self, process: str) -> None:
        """SIGKILL."""
        self.stop_process(process)
        self._dead.add(process)

    def running(self, process: str) -> bool:
        return process not in self._stopped

    # Running

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run ``work`` and whatever it started to its end.

        Raises:
            Stuck: it will never end.
        """
        asyncio._set_running_loop(self)
        try:
            task = self.create_task(work)
            while not task.done():
                if not self._step() or self._now > MOST_SECONDS:
                    raise Stuck(f"at {self._now:.3f} s: {[each.get_coro() for each in asyncio.all_tasks(self)]}")
            task.result()
        finally:
            asyncio._set_running_loop(None)

    def bury(self) -> None:
        """End in order what is left; those whom ``kill_process`` ended too. What they do about it matters to nobody."""
        asyncio._set_running_loop(self)
        self.before = _nobody_strikes  # whoever strikes between steps strikes the living
        self._dead.clear()
        for process in tuple(self._stopped):
            self.go_on(process)
        try:
            for _ in range(20):
                for task in self._tasks:
                    task.cancel()
                while self._ready:
                    self._step()
            assert not asyncio.all_tasks(self), "a task cannot be ended"
            for task in self._tasks:
                task.cancelled() or task.exception()
        finally:
            self._timers.clear()
            self._tasks.clear()
            asyncio._set_running_loop(None)

    def _step(self) -> bool:
        if not self._ready:
            if not self._timers:
                return False
            at, _, process, timer = heapq.heappop(self._timers)
            if timer.cancelled():
                return True
            self._now = max(self._now, at)
            self._ready.append((process, timer))
        process, handle = self._ready.popleft()
        if handle.cancelled():
            return True
        if process is not None:
            if process not in self._stopped:
                self.steps[process] += 1
                self.before(process, self.steps[process])
            if process in self._stopped:
                self._stopped[process].append(handle)
                return True
        handle._run()
        return True

    # What asyncio asks of a loop

    def time(self) -> float:
        return self._now

    def call_soon(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append((_process(context), handle))
        return handle

    def call_later(
        self, delay: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._timers, (when, next(self._numbers), _process(context), timer))
        return timer

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(  # type: ignore[override]  # typeshed promises more kinds of coroutines than are made here
        self, coro: Coroutine[Any, Any, Any], *, name: str | None = None, context: Context | None = None
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(coro, loop=self, name=name, context=context)
        self._tasks.append(task)
        return task

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self.faults.append(context)

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        pass  # it is passed over when its time comes


def _process(context: Context | None) -> str | None:
    return PROCESS.get() if context is None else context.get(PROCESS)
