"""How many rooms what carries, computed from what was measured: ``python -m benchmarks.scaling``.

Prints the tables of ``docs/scaling.md`` from ``capacity.json``, which ``python -m benchmarks.capacity`` writes. The
formulas are the functions of this file; assumptions are ``Assumed``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from math import ceil
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from benchmarks.capacity import FILE, Figures, Move
from server.store.keys import DUE_SHARDS

_MICRO: Final = 1e-6
_KIB: Final = 1024
_GIB: Final = 1024**3
_HOUR: Final = 3600
_BEATS_PER_SECOND: Final = 2.5
"""Of each node (``server.presence.BEAT_SECONDS``)."""
_NAME_BYTES: Final = 22
"""Of a node, in the list that each beat is answered with."""
_LOOKS_PER_SECOND: Final = 0.5
"""Of each node at each shard of what is due (``server.driver.HEAL_SECONDS``)."""
_LISTINGS_PER_SECOND: Final = 0.1
"""Of each public room in the lobby (``server.keeper``)."""


class Assumed(Struct, frozen=True, kw_only=True):
    """What the tables assume. None of it was measured."""

    pace: float = 4.0
    """Seconds between two moves at a table of people."""
    busy: float = 0.6
    """Share of a processor that is planned for; the rest is for bursts. ``rates`` shows what it does to times."""
    life_hours: float = 0.5
    """How long a room lives."""
    forget_hours: float = 24.0
    """How long its log is kept afterwards: the setting ``forget_hours``, by default."""
    short_hours: float = 1.0
    """The same, where memory matters."""
    store_gib: float = 16.0
    """Memory of a store's primary."""


class Standing(Struct, frozen=True, kw_only=True):
    """Processor time that nobody's move causes: of a node by itself, a room and a connection, as shares."""

    node: float
    room: float
    connection: float
    store_room: float


def standing_of(figures: Figures) -> Standing:
    """Three runs, three unknowns: base + rooms × (room + seats × connection) = share."""
    few, many, large = figures.standing
    pair = (many.server_share - few.server_share) / (many.rooms - few.rooms)
    node = few.server_share - few.rooms * pair
    full = (large.server_share - node) / large.rooms
    connection = (full - pair) / (large.seats - many.seats)
    store_room = (many.store_share - few.store_share) / (many.rooms - few.rooms)
    return Standing(node=node, room=pair - many.seats * connection, connection=connection, store_room=store_room)


def move_of(figures: Figures, game: str) -> Move:
    """What a move of ``game`` costs."""
    return next(move for move in figures.moves if move.game == game)


def rooms_per_core(figures: Figures, assumed: Assumed, game: str) -> float:
    """Rooms on one node with one core, everybody on that node."""
    move, still = move_of(figures, game), standing_of(figures)
    room = move.server_us * _MICRO / assumed.pace + still.room + move.seats * still.connection
    return (assumed.busy - still.node) / room


def kept_seconds(assumed: Assumed, forget_hours: float) -> float:
    """How long an entry is kept, on average: half of its room's life, and what comes after."""
    return (assumed.life_hours / 2 + forget_hours) * _HOUR


def rooms_per_primary(figures: Figures, assumed: Assumed, game: str) -> float:
    """Rooms that a primary's processor carries."""
    return assumed.busy / (move_of(figures, game).store_us * _MICRO / assumed.pace + standing_of(figures).store_room)


def rooms_in_memory(figures: Figures, assumed: Assumed, game: str, forget_hours: float) -> float:
    """Rooms that are played in all the time, whose logs a primary's memory carries."""
    per_room = move_of(figures, game).stored / assumed.pace * kept_seconds(assumed, forget_hours)
    return assumed.store_gib * _GIB / per_room


def ai_seats(assumed: Assumed, per_second: float, seats: int) -> float:
    """AI seats of one core, at tables that move at the pace of people: each decides when its turn comes."""
    return assumed.busy * per_second * assumed.pace * seats


def nodes_of_room(seats: int, nodes: int) -> float:
    """How many nodes have a room in memory: those of its seats and the one that drives it, each any node."""
    return nodes * (1 - (1 - 1 / nodes) ** (seats + 1))


def room_share(figures: Figures, assumed: Assumed, game: str, nodes: int) -> float:
    """Of a core: a room on a cluster of so many nodes whose balancer does not know rooms."""
    move, still = move_of(figures, game), standing_of(figures)
    assert figures.nodes is not None
    places = nodes_of_room(move.seats, nodes)
    another = figures.nodes.two_us - figures.nodes.one_us
    moving = (move.server_us + (places - 1) * another) * _MICRO / assumed.pace
    return moving + places * still.room + move.seats * still.connection


def change_seconds(figures: Figures, game: str, rooms: int, nodes: int) -> float:
    """How long each node is busy when a node comes or goes: it finds out anew who drives each of its rooms."""
    assert figures.choosing is not None
    here = rooms * nodes_of_room(move_of(figures, game).seats, nodes) / nodes
    return here * nodes * figures.choosing.node_us * _MICRO


def nodes_for(figures: Figures, assumed: Assumed, game: str, rooms: int, *, together: bool = False) -> int:
    """Nodes of one core for so many rooms. ``together``: a room's seats and its driver are on one node, which nothing
    brings about today.
    """
    still = standing_of(figures)
    nodes = 1
    while True:  # a room is on no more nodes than it has seats and a driver, so this ends
        share = room_share(figures, assumed, game, 1 if together else nodes)
        needed = ceil(rooms * share / (assumed.busy - still.node))
        if needed <= nodes:
            return nodes
        nodes = needed


# Tables -----------------------------------------------------------------------------------------------------------


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown: the first column words, all others numbers."""
    ruler = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ruler, *rows))


def number(value: float) -> str:
    """Two significant digits: no estimate is better than that."""
    if value <= 0:
        return "0"
    if value < 10:
        return f"{value:.2g}"
    digits = len(str(int(value))) - 2
    return f"{round(value / 10**digits) * 10**digits:,}"


def core_table(figures: Figures, assumed: Assumed) -> str:
    """One core, one node."""
    assert figures.coming is not None
    rows = []
    for move in figures.moves:
        rooms = rooms_per_core(figures, assumed, move.game)
        connections = rooms * move.seats
        rows.append(
            [
                move.game,
                f"{move.server_us:.0f}",
                number(assumed.busy / (move.server_us * _MICRO)),
                number(rooms),
                number(connections),
                f"{number(rooms * move.played_kib / _KIB)} MiB",
                f"{number(connections * figures.coming.return_us * _MICRO)} s",
            ]
        )
    head = ("game", "µs a move", "moves a second", "rooms", "connections", "memory", "all back after a restart")
    return table(head, rows)


def store_table(figures: Figures, assumed: Assumed) -> str:
    """One primary."""
    rows = []
    for move in figures.moves:
        long = rooms_in_memory(figures, assumed, move.game, assumed.forget_hours)
        short = rooms_in_memory(figures, assumed, move.game, assumed.short_hours)
        rows.append(
            [
                move.game,
                f"{move.store_us:.0f}",
                number(assumed.busy / (move.store_us * _MICRO)),
                number(rooms_per_primary(figures, assumed, move.game)),
                f"{move.stored:.0f}",
                number(long),
                number(short),
            ]
        )
    head = (
        "game",
        "µs a move",
        "moves a second",
        "rooms by processor",
        "bytes a move",
        f"rooms by {assumed.store_gib:g} GiB, {assumed.forget_hours:g} h",
        f"{assumed.short_hours:g} h",
    )
    return table(head, rows)


def rate_table(figures: Figures, assumed: Assumed) -> str:  # noqa: ARG001 - all tables are asked alike
    """How times grow with the share of the processor."""
    rows = [
        [f"{each.rate:,.0f}", f"{each.share:.0%}", f"{each.carried:,.0f}", f"{each.p50_ms:.1f}", f"{each.p99_ms:.1f}"]
        for each in figures.rates
    ]
    return table(("moves a second wanted", "processor", "made", "p50, ms", "p99, ms"), rows)


def flat_table(figures: Figures, assumed: Assumed) -> str:  # noqa: ARG001 - all tables are asked alike
    """The same load on more and more rooms."""
    first = figures.flat[0]
    rows = [
        [
            f"{each.rooms:,}",
            f"{each.server_us:.0f}",
            f"{each.server_us / first.server_us:.2f}",
            f"{each.store_us:.0f}",
            f"{each.room_kib:.0f}",
        ]
        for each in figures.flat
    ]
    return table(("rooms", "server µs a move", "to the first", "store µs a move", "KiB a room"), rows)


def ai_table(figures: Figures, assumed: Assumed) -> str:
    """AI seats that the processes of one core think for."""
    levels = list(dict.fromkeys(each.level for each in figures.thinking))
    games = {move.game: move.seats for move in figures.moves}
    speeds = {(each.game, each.level): each.per_second for each in figures.thinking}
    rows = [
        [game, *(number(ai_seats(assumed, speeds[game, level], seats)) for level in levels)]
        for game, seats in games.items()
    ]
    return table(("AI seats a core", *levels), rows)


def size_table(figures: Figures, assumed: Assumed, game: str = "koi-koi") -> str:
    """A cluster of so many rooms."""
    move, still = move_of(figures, game), standing_of(figures)

    def column(rooms: int) -> list[str]:
        nodes = nodes_for(figures, assumed, game, rooms)
        moves = rooms / assumed.pace
        primaries = rooms / rooms_per_primary(figures, assumed, game)
        long = rooms / rooms_in_memory(figures, assumed, game, assumed.forget_hours)
        short = rooms / rooms_in_memory(figures, assumed, game, assumed.short_hours)
        listing = rooms * _LISTINGS_PER_SECOND * move.store_us * _MICRO
        looking = nodes * DUE_SHARDS * _LOOKS_PER_SECOND * move.store_us * _MICRO
        return [
            number(moves),
            number(rooms * move.seats),
            number(nodes),
            number(nodes_for(figures, assumed, game, rooms, together=True)),
            f"{number(change_seconds(figures, game, rooms, nodes))} s",
            number(ceil(primaries)),
            number(ceil(long)),
            number(ceil(short)),
            f"{listing:.0%}",
            f"{nodes * _BEATS_PER_SECOND * 2 * move.store_us * _MICRO:.1%}",
            f"{number(nodes**2 * _BEATS_PER_SECOND * _NAME_BYTES / 1e6)} MB/s",
            f"{number(looking)} cores",
            f"{number(moves * move.received * 8 / 1e6)} Mbit/s",
            f"{number(rooms * move.seats * still.connection)} cores",
        ]

    sizes = (1_000, 100_000, 1_000_000)
    names = (
        "moves a second",
        "connections",
        "nodes of one core",
        "nodes, if the seats of a room met on one",
        "a node comes or goes: busy with it is each node for",
        "primaries by processor",
        f"primaries by memory, logs kept {assumed.forget_hours:g} h",
        f"primaries by memory, logs kept {assumed.short_hours:g} h",
        "processor of the primary with the lobby",
        "processor of the primary with the nodes' list",
        "what that primary sends to nodes",
        "primaries' time for nodes that look what is due",
        "sent to clients",
        "pings and their answers",
    )
    columns = [column(size) for size in sizes]
    rows = [[name, *(each[place] for each in columns)] for place, name in enumerate(names)]
    return table((f"rooms of {game}", *(f"{size:,}" for size in sizes)), rows)


TABLES: Final[dict[str, Callable[[Figures, Assumed], str]]] = {
    "core": core_table,
    "store": store_table,
    "ai": ai_table,
    "rates": rate_table,
    "flat": flat_table,
    "size": size_table,
}
"""By the name that marks the place in the document: ``<!-- table: core -->``."""


def load(path: Path = FILE) -> Figures:
    """What was measured."""
    return msgspec.json.decode(path.read_bytes(), type=Figures)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    for name, default in msgspec.structs.asdict(Assumed()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=default)
    assumed = Assumed(**vars(parser.parse_args()))
    figures = load()
    for name, drawn in TABLES.items():
        print(f"<!-- table: {name} -->\n{drawn(figures, assumed)}\n")


if __name__ == "__main__":
    main()
