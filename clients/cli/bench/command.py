"""``fudaza bench``: the command line, the progress bar, the words of the results, and a server of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import version
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, TextIO, TypeAlias
from urllib.parse import urlsplit

import click
import msgspec

from clients.cli.bench.figures import Spread
from clients.cli.bench.load import Accounts, Bench, CannotLoad, Stage, clock
from clients.cli.bench.plot import plot
from clients.cli.bench.processes import KNOWN, children, cores, pin
from clients.cli.bench.report import Discarded, Load, Measured, Report
from clients.cli.local import CannotStart, LocalServer
from clients.cli.parameters import Assignment, GameName, Url, complete_options
from clients.cli.words import N_, _
from engine.game import AnyGame, OptionValue
from engine.registry import GAMES
from wording.columns import padded, width

FAILED: Final = 1
_STAGES: Final = {
    Stage.CONNECTING: N_("connecting"),
    Stage.OPENING: N_("opening rooms"),
    Stage.PLAYING: N_("measuring"),
    Stage.RETURNING: N_("coming back"),
}
_DISCARDED: Final = {
    Discarded.GENERATOR_BUSY: N_("the load generator itself was the bottleneck"),
    Discarded.GENERATOR_LATE: N_("the load generator could not keep its own schedule"),
    Discarded.NOTHING_MOVED: N_("no move was made"),
}
Run: TypeAlias = Coroutine[Any, Any, Report]
_SPARE: Final = 64
"""File descriptors and connections beyond those of the load."""


@click.command("bench")
@click.argument("where", nargs=-1, metavar="URL... | --serve [-- SERVER FLAGS]")
@click.option("--serve", is_flag=True, help="Start a server and a store for it; flags behind -- are the server's.")
@click.option("--game", type=GameName(), default="koi-koi", show_default=True, help="The game.")
@click.option("--rooms", type=click.IntRange(min=0), default=100, show_default=True, help="Rooms that play.")
@click.option("--idle", type=click.IntRange(min=0), default=0, help="Rooms beside them that stand still.")
@click.option("--ai", type=click.IntRange(min=0), default=0, help="AI seats in each room; all others are connections.")
@click.option("--seconds", type=click.FloatRange(min=0), default=10.0, show_default=True, help="How long to measure.")
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    help="Moves a second of all rooms, at fixed times whatever the server does; else as fast as it allows.",
)
@click.option("--storm", is_flag=True, help="Open all connections at once, and in the end again.")
@click.option("--pin", "pinned", is_flag=True, help="The server on one processor, the load and the store on another.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of the moves that are chosen.")
@click.option(
    *("-o", "--option", "options"),
    type=Assignment(),
    multiple=True,
    help="An option of the game; `fudaza rules GAME` lists them.",
)
@click.option("--remote", is_flag=True, help="The server may be on another machine: it is yours.")
@click.option("--json", "as_json", is_flag=True, help="The results as JSON.")
@click.option("--plot", "picture", type=click.File("w", encoding="utf-8", lazy=False), help="Draw the results (SVG).")
def bench(
    *,
    where: tuple[str, ...],
    serve: bool,
    remote: bool,
    pinned: bool,
    options: tuple[tuple[str, str], ...],
    as_json: bool,
    picture: TextIO | None,
    **asked: Any,
) -> None:
    """Play at many tables of the server at URL (or of one of its own: --serve), and say what a move costs.

    Every seat is a connection that plays any legal move. Times count until every seat has the move; with --rate from
    when it was due, so that nobody's waiting is left out. A run in which the load itself was the bottleneck is
    discarded.
    """
    if not serve and not where:
        raise click.UsageError(_("A server's address, or --serve."))
    urls = () if serve else tuple(Url().convert(url, None, None) for url in where)
    if not remote and not all(map(_is_loopback, urls)):
        raise click.UsageError(_("That is another machine. A load is for servers of yours: --remote says that it is."))
    if any(urlsplit(url).scheme == "wss" for url in urls):
        raise click.UsageError(_("A load is sent without TLS: name the server by ws://, not by wss://."))
    if pinned and (not serve or len(cores()) < 2):
        raise click.UsageError(_("--pin needs --serve and two processors, on Linux."))
    game = GAMES[asked["game"]]
    load = _load(game, asked)
    if load.rooms + load.idle < 1:
        raise click.UsageError(_("At least one room."))
    with _progress() as watch:
        run = _measured(urls, load, watch, where, complete_options(game, options), pinned=pinned, seed=asked["seed"])
        report = _outcome(run)
    if as_json:
        click.echo(msgspec.json.encode({**_setup(pinned=pinned), **msgspec.to_builtins(report)}))
    else:
        click.echo("\n".join(_lines(report)))
    if picture is not None and report.measured is not None:
        picture.write(plot(report.load, report.measured))
    if report.discarded:
        sys.exit(FAILED)


def _load(game: AnyGame, asked: dict[str, Any]) -> Load:
    if asked["ai"] >= game.seats:
        told = _("Somebody has to play: the game has {n} seats.").format(n=game.seats)
        raise click.BadParameter(told, param_hint="--ai")
    return Load(persons=game.seats - asked["ai"], **{name: value for name, value in asked.items() if name != "seed"})


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _setup(*, pinned: bool) -> dict[str, Any]:
    """What the figures depend on."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    processors = os.cpu_count()
    return {
        "version": version("fudaza"),
        "python": python,
        "system": system,
        "processors": processors,
        "pinned": pinned,
    }


# Running ----------------------------------------------------------------------------------------------------------


def _outcome(run: Run) -> Report:
    try:
        return _loop(run)
    except CannotStart as problem:
        raise click.ClickException(_("The server does not start: {words}").format(words=problem.words)) from problem
    except CannotLoad as problem:
        told = _("The load cannot be made: {why}").format(why=problem)
        raise click.ClickException(told) from problem


def _loop(run: Run) -> Report:
    try:
        import uvloop
    except ImportError:
        return asyncio.run(run)
    return uvloop.run(run)


async def _measured(
    urls: Sequence[str],
    load: Load,
    watch: Callable[[Stage, float, float], None],
    flags: tuple[str, ...],
    options: dict[str, OptionValue],
    *,
    pinned: bool,
    seed: int,
) -> Report:
    connections = (load.rooms + load.idle) * load.persons
    _raise_limit(connections + _SPARE)
    if urls:
        return await Bench(urls, load, seed=seed, options=options, watch=watch).run()
    async with _own_server(connections, load, flags, pinned=pinned) as (ours, accounts, started):
        bench = Bench([ours], load, seed=seed, options=options, accounts=accounts, started=started, watch=watch)
        return await bench.run()


@asynccontextmanager
async def _own_server(
    connections: int, load: Load, flags: tuple[str, ...], *, pinned: bool
) -> AsyncIterator[tuple[str, Accounts, float]]:
    """A server with a store of its own, whose limits this load does not meet."""
    allowed = str(connections + _SPARE)
    lifted = (
        *("--max-connections", allowed, "--connections-per-address", allowed, "--connection-burst", allowed),
        *("--connections-per-second", "1000000", "--commands-per-second", "1000000", "--command-burst", "1000000"),
        *("--talk-per-minute", "1000000", "--rooms-per-minute", "1000000"),
        *("--max-rooms", str(load.rooms + load.idle + _SPARE)),
        *("--idle-seconds", "3600", "--ai-pause-ms", "0", "--timing", "question_ms=500,redeal_ms=0"),
    )
    with tempfile.TemporaryDirectory(prefix="fudaza-bench-") as directory:
        server = LocalServer(Path(directory), "127.0.0.1", 0, (*lifted, *flags))
        there = cores()
        if pinned:
            pin(0, there[0])  # children inherit it
        started = clock()
        try:
            await server.start()
            accounts = Accounts((server.pid,), int((Path(directory) / "data" / "store.pid").read_text("ascii")))
            if pinned:
                for process in (0, *children(server.pid)):  # the store, and AI
                    pin(process, there[1])
            yield server.url, accounts, started
        finally:
            await server.stop()


def _raise_limit(files: int) -> None:
    """Let this process, and the server that it starts, open so many files.

    Raises:
        CannotLoad: the system does not allow it.
    """
    try:
        import resource
    except ImportError:  # Windows, which has another limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and files > hard:
        raise CannotLoad(f"RLIMIT_NOFILE {hard} < {files}")
    if soft != resource.RLIM_INFINITY and files > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))


@contextmanager
def _progress() -> Iterator[Callable[[Stage, float, float], None]]:
    """A bar for each stage, on a terminal."""
    with contextlib.ExitStack() as bars:
        shown: Any = None
        stage_shown: Stage | None = None

        def watch(stage: Stage, done: float, total: float) -> None:
            nonlocal shown, stage_shown
            if stage is not stage_shown:
                bars.close()
                stage_shown = stage
                bar = click.progressbar(
                    length=int(total), label=_(_STAGES[stage]), file=sys.stderr, hidden=not sys.stderr.isatty()
                )
                shown = bars.enter_context(bar)
            shown.update(int(done) - shown.pos)

        yield watch


# Words ------------------------------------------------------------------------------------------------------------


def _lines(report: Report) -> list[str]:
    rows = [(_("discarded"), _(_DISCARDED[why])) for why in report.discarded]
    if report.measured is not None:
        rows += [*_moving(report.measured), *_standing(report)]
    rows.append((_("load generator"), f"busy {report.generator.busy:.0%}  late {report.generator.late_ms:.1f} ms"))
    wide = max(width(label) for label, _figures in rows)
    return [f"{padded(label, wide)}  {figures}" for label, figures in rows]


def _moving(measured: Measured) -> list[tuple[str, str]]:
    """What moves cost: a label, and figures by the names that they have in JSON."""
    rows = []
    if spread := measured.took_ms:
        rows.append((_("moves a second"), f"{measured.moves_per_second:.0f}"))
        rows.append((_("until every seat has a move"), _spread(spread)))
    if cpu := measured.processor:
        if measured.moves:
            micro = f"server {cpu.server_us:.0f} µs  store {cpu.store_us:.0f} µs  AI {cpu.ai_us:.0f} µs"
            rows.append((_("processor time a move"), micro))
        shares = f"server {cpu.server_share:.1%}  store {cpu.store_share:.1%}  AI {cpu.ai_share:.1%}"
        rows.append((_("of one processor"), shares))
    if traffic := measured.traffic:
        rows.append((_("bytes a move"), f"received {traffic.received:.0f}  sent {traffic.sent:.0f}"))
    if measured.refused or measured.lost or measured.unfinished:
        refused = "".join(f"  {code} {count}" for code, count in measured.refused.items())
        rows.append((_("in vain"), f"lost {measured.lost}  unfinished {measured.unfinished}{refused}"))
    return rows


def _standing(report: Report) -> list[tuple[str, str]]:
    """What connections and rooms cost."""
    arrivals = {Stage.CONNECTING: report.connecting, Stage.RETURNING: report.returning}
    rows = [
        (_(_STAGES[stage]), f"{each.per_second:.0f}/s  {_spread(each.took_ms)}")
        for stage, each in arrivals.items()
        if each is not None
    ]
    if memory := report.memory:
        sizes = f"connection {memory.connection:.1f}  room {memory.room:.1f}  both {memory.room_with_connections:.1f}"
        rows.append((_("memory, KiB each"), f"{sizes}  played {memory.played_room:.1f}"))
    elif not KNOWN:
        rows.append((_("memory, KiB each"), _("known on Linux alone")))
    if report.start_ms is not None:
        rows.append((_("first connection after"), f"{report.start_ms:.0f} ms"))
    return rows


def _spread(spread: Spread) -> str:
    return f"p50 {spread.p50:.2f} ms  p99 {spread.p99:.2f} ms  max {spread.max:.1f} ms"
