"""The composition root: starts everything in order, and ends it in order.

Belongs here: who is given what, signals, exit statuses, the ready line. Must not be known here: how anything is done.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import secrets
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import msgspec
import structlog
from prometheus_client import start_http_server

from engine.registry import GAMES
from server import logs
from server.driver import Driver
from server.embedded import EmbeddedStore
from server.gateway import Gateway
from server.hall import Hall
from server.health import Health
from server.host import Node
from server.keeper import Keeper
from server.log import StoreFull, StoreUnavailable
from server.metrics import Metrics
from server.orders import Orders
from server.presence import Presence
from server.settings import BadSetting, Settings, load, unknown_in
from server.store import BadAddress, CannotOpen, StoredIndex, StoredLog, StoredRates, open_store
from server.thinkers import Thinkers
from server.watchdog import Watchdog
from wording import Lines, _
from wording.languages import become, wanted

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
_FIRST_GUEST_SECONDS: Final = 60.0
"""How long a server that ends when it is empty waits for its first guest, at least."""
_LAST_WORDS_SECONDS: Final = 10.0
"""How long a node that ends goes on telling the index; supervisors commonly kill after thirty seconds."""
_HOUR_SECONDS: Final = 3600
_COLLECT: Final = 20_000, 20, 10
"""Objects more than before at which the youngest are looked at; and how many such times make one for the older ones."""

_log = structlog.get_logger()


class CannotServe(Exception):
    """The server cannot start or go on; the message is one sentence for the operator."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop; the exit status: 0 ended in order, 1 could not serve, 2 a wrong setting."""
    become(wanted(os.environ))
    try:
        settings = load(sys.argv[1:] if arguments is None else arguments, os.environ)
    except BadSetting as problem:
        return _say(problem, USAGE)
    pretty = settings.log_format == "pretty" or (settings.log_format == "auto" and sys.stderr.isatty())
    logs.configure(settings.log_level, pretty=pretty)
    for name in unknown_in(os.environ):
        _log.warning("unknown-setting", name=name)
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(serve(settings))
    except BadAddress as problem:
        return _say(problem, USAGE)
    except (CannotServe, CannotOpen) as problem:
        return _say(problem, FAILED)
    return OK


async def serve(settings: Settings) -> None:
    """Serve until SIGTERM, SIGINT, or until it has been empty for long enough.

    Raises:
        CannotServe, CannotOpen: it cannot start.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    loop.set_exception_handler(_unhandled)
    async with AsyncExitStack() as stack:
        stack.enter_context(Watchdog().watching())
        gateway = await _build(settings, stack, stop)
        port = await _listen(gateway, settings)
        stack.push_async_callback(gateway.drain)
        _collect_rarely()
        kernels = [game.name for game in GAMES.values() if game.kernel_available()]
        node = gateway.hall.node.name
        _log.info("serving", host=settings.host, port=port, pid=os.getpid(), node=node, kernels=kernels)
        if settings.ready_json:
            ready = {"ready": {"host": settings.host, "port": port, "pid": os.getpid()}}
            sys.stdout.write(msgspec.json.encode(ready).decode() + "\n")
            sys.stdout.flush()
        elif sys.stdout.isatty():
            sys.stdout.write("".join(f"{line}\n" for line in _greeting(settings, port)))
            sys.stdout.flush()
        if settings.exit_when_empty is not None:
            watch = asyncio.create_task(_stop_when_empty(gateway, settings.exit_when_empty, stop))
            stack.callback(watch.cancel)
        await stop.wait()
        _log.info("stopping", connections=len(gateway.sessions))
    _log.info("stopped")


def _greeting(settings: Settings, port: int) -> Lines:
    """What a person who starts a server wants to know: where it is, and what to do there."""
    everywhere = settings.host in ("0.0.0.0", "::")  # noqa: S104 - compared
    host = "127.0.0.1" if everywhere else settings.host
    url = f"ws://{f'[{host}]' if ':' in host else host}:{port}"
    return (
        _("Fudaza is open at {url}. Control-C closes it; its rooms are kept.").format(url=url),
        *((_("Other machines reach it by this machine's own address."),) if everywhere else ()),
        _("  Who plays here:       {command}").format(command=f"fudaza lobby --server {url}"),
        _("  A room for friends:   {command}").format(command=f"fudaza host koi-koi --server {url}"),
    )


def _collect_rarely() -> None:
    """Let Python look for reference cycles rarely, and never among what is there now. Rooms are values and have none:
    looking at them again and again was a fourteenth of all work. Connections that end do have some.
    """
    gc.freeze()
    gc.set_threshold(*_COLLECT)


async def _build(settings: Settings, stack: AsyncExitStack, stop: asyncio.Event) -> Gateway:
    """Everything but the open port. What is started here is ended by ``stack``, in the opposite order."""
    metrics = Metrics()
    health = Health(time.monotonic)
    if settings.metrics_port is not None:
        stack.enter_context(_metrics_served(settings.metrics_port, metrics))
    store = await open_store(await _store_url(settings, stack), password=settings.redis_password)
    stack.push_async_callback(store.aclose)
    log, index = StoredLog(store), StoredIndex(store)
    stack.push_async_callback(log.aclose)
    thinkers = Thinkers(
        processes=settings.ai_workers,
        deadline_seconds=settings.ai_deadline_ms / 1000,
        tasks_per_process=settings.ai_tasks_per_process,
        metrics=metrics,
    )
    thinkers.start()
    stack.push_async_callback(thinkers.stop)
    name = secrets.token_hex(8)
    node = Node(
        name=name,
        log=log,
        games=GAMES,
        clock=store.now_ms,
        entropy=secrets.token_bytes,
        metrics=metrics,
        presence=Presence(index, name, time.monotonic),
        spectators=settings.spectators_per_room,
    )
    hall = Hall(node, index, settings.timing, max_rooms=settings.max_rooms)
    stack.push_async_callback(hall.close)
    forget_seconds = int(settings.forget_hours * _HOUR_SECONDS)
    driver = Driver(
        hall,
        index,
        thinkers,
        secret=secrets.token_bytes(32),
        pause_ms=settings.ai_pause_ms,
        forget_seconds=forget_seconds,
    )
    keeper = Keeper(
        *(index, log),
        drives=driver.drives,
        holds=hall.hosts.__contains__,
        forget_seconds=forget_seconds,
        metrics=metrics,
    )
    hall.observers += [driver, keeper]
    stack.push_async_callback(_last_words, hall, keeper)
    try:
        await driver.beat()
    except (StoreUnavailable, StoreFull) as problem:
        raise CannotServe(_("the store does not work: {problem}").format(problem=problem)) from problem
    gateway = Gateway(hall, health, settings, version=_version(), rates=StoredRates(store))
    orders = Orders(index, name, metrics, announce=gateway.announce, drain=stop.set)
    parts = {
        "driver": driver.run(),
        "keeper": keeper.run(),
        "health": health.probe_always(store.probe),
        "orders": orders.run(),
    }
    stack.push_async_callback(driver.stop)
    await stack.enter_async_context(_running(parts, stop))
    return gateway


async def _store_url(settings: Settings, stack: AsyncExitStack) -> str:
    if settings.redis is not None:
        return settings.redis
    embedded = EmbeddedStore(
        Path(settings.data), durability=settings.durability, binary=os.environ.get("FUDAZA_STORE_BINARY")
    )
    await embedded.start()
    stack.push_async_callback(embedded.stop)
    return embedded.url


async def _listen(gateway: Gateway, settings: Settings) -> int:
    try:
        return await gateway.listen(settings.host, settings.port)
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            told = _("port {port} of {host} is in use: stop what uses it, or name another with --port")
            raise CannotServe(told.format(port=settings.port, host=settings.host)) from problem
        told = _("cannot listen on {host}:{port}: {cause}")
        raise CannotServe(told.format(host=settings.host, port=settings.port, cause=problem.strerror)) from problem


@asynccontextmanager
async def _running(parts: dict[str, Coroutine[Any, Any, None]], stop: asyncio.Event) -> AsyncIterator[None]:
    """Let ``parts`` run; should one fail, nothing is served any more."""
    tasks = [asyncio.create_task(part, name=name) for name, part in parts.items()]
    for task in tasks:
        task.add_done_callback(lambda _: stop.set())
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for task, result in zip(tasks, results, strict=True):
        if isinstance(result, Exception):
            _log.error("part-failed", part=task.get_name(), exc_info=result)
            told = _("a part of the server failed ({part}); its log says more")
            raise CannotServe(told.format(part=task.get_name())) from result


async def _last_words(hall: Hall, keeper: Keeper) -> None:
    """Tell the index what it does not know yet, records above all."""
    try:
        async with asyncio.timeout(_LAST_WORDS_SECONDS):
            await hall.settle()
            await keeper.flush()
    except (StoreUnavailable, StoreFull, TimeoutError) as problem:
        _log.warning("index-left-behind", problem=str(problem))  # whoever drives the rooms next tells it


async def _stop_when_empty(gateway: Gateway, seconds: float, stop: asyncio.Event) -> None:
    patience = max(seconds, _FIRST_GUEST_SECONDS)
    while True:
        await gateway.empty.wait()
        try:
            async with asyncio.timeout(patience):
                await gateway.occupied.wait()
        except TimeoutError:
            stop.set()
            return
        patience = seconds


@contextmanager
def _metrics_served(port: int, metrics: Metrics) -> Iterator[None]:
    """Metrics for Prometheus, on the loopback interface alone."""
    try:
        server, thread = start_http_server(port, addr="127.0.0.1", registry=metrics.registry)
    except OSError as problem:
        told = _("metrics port {port} cannot be used: {cause}")
        raise CannotServe(told.format(port=port, cause=problem.strerror)) from problem
    _log.info("metrics", port=server.server_port)
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The faster loop of uvloop, where there is one (not on Windows)."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _unhandled(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    _log.error("unhandled", text=context.get("message"), exc_info=context.get("exception"))


def _version() -> str:
    try:
        return version("fudaza")
    except PackageNotFoundError:
        return "0"


def _say(problem: Exception, status: int) -> int:
    sys.stderr.write(f"fudaza serve: {problem}\n")
    return status
