"""What is measured, what each of them promises, and how it is started."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.peers import scratch

_MEMORY: Final = "in memory: a game is lost with the process"
_DURABLE: Final = "shown only once the store has it; append-only file, everysec"


class Site(NamedTuple):
    """Where a trial takes place."""

    scratch: Path
    port: int
    """Free, for a server that must be told."""
    store: str
    """URL of a store of its own, if the system needs one."""
    rooms: int


class Programs(NamedTuple):
    """Command lines."""

    server: list[str]
    """Says a line of JSON with ``ready`` when it serves; where that has a ``port``, it has chosen it itself."""
    load: Callable[[int], list[str]]
    """For the port that is served. Speaks as ``programs/load.mjs`` does."""
    folder: Path | None = None
    """Where they are started; None: here."""


class System(NamedTuple):
    """A server to be measured."""

    name: str
    seats: int
    keeps: str
    """What it promises of a move that has been shown."""
    needs_store: bool
    strong: bool
    """Whether it is given the loads that only some carry."""
    programs: Callable[[Site], Programs] | None
    """None: ``fudaza bench`` does all of it. Raises ``scratch.CannotHave``."""
    warm_up: float = 1.0
    """Seconds of the heaviest load before anything is measured: Node.js compiles what it does often."""
    game: str = ""
    """What ``fudaza bench`` plays …"""
    options: tuple[str, ...] = ()
    """… and with which options."""


def _floor(seats: int) -> System:
    def programs(site: Site) -> Programs:
        module = (sys.executable, "-m")
        return Programs(
            server=[*module, "benchmarks.floor.server", "--store", site.store, "--seats", str(seats)],
            load=lambda port: [
                *(*module, "benchmarks.floor.load", "--port", str(port)),
                *("--tables", str(site.rooms), "--seats", str(seats)),
            ],
        )

    return System(f"floor ({seats} seats)", seats, _DURABLE, True, True, programs)


def _node_peer(name: str, kit: str, *, strong: bool) -> System:
    def programs(site: Site) -> Programs:
        folder = scratch.node_kit(site.scratch, kit)
        node = scratch.needed("node")
        return Programs(
            server=[node, f"{kit}_server.mjs", str(site.port)],
            load=lambda port: [node, "load.mjs", kit, str(port), str(site.rooms)],
            folder=folder,
        )

    return System(name, 2, _MEMORY, False, strong, programs, warm_up=3.0)


def _socketio(name: str, *, redis: bool) -> System:
    def programs(site: Site) -> Programs:
        folder = scratch.node_kit(site.scratch, "socketio")
        node = scratch.needed("node")
        server = [str(scratch.python_kit(site.scratch)), scratch.program("socketio_server.py"), str(site.port)]
        return Programs(
            server=[*server, site.store] if redis else server,
            load=lambda port: [node, "load.mjs", "socketio", str(port), str(site.rooms)],
            folder=folder,
        )

    keeps = "in memory; Redis passes messages between processes and keeps nothing" if redis else _MEMORY
    return System(name, 2, keeps, redis, False, programs)


SYSTEMS: Final = (
    _floor(2),
    System("Fudaza (koi-koi)", 2, _DURABLE, True, True, None, game="koi-koi", options=("deals=12",)),
    _node_peer("Colyseus", "colyseus", strong=True),
    _node_peer("boardgame.io", "boardgame_io", strong=False),
    _socketio("python-socketio", redis=False),
    _socketio("python-socketio (Redis manager)", redis=True),
    _floor(8),
    System("Fudaza (Hachinin Meri)", 8, _DURABLE, True, True, None, game="hachinin-meri", options=("deals=16",)),
)
FLOORS: Final = {system.name: f"floor ({system.seats} seats)" for system in SYSTEMS}
"""By system, what it is compared with."""
