"""The arithmetic of capacity, by hand; and that the document says what the arithmetic does."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks import capacity, scaling
from benchmarks.capacity import AtRate, AtSize, Choosing, Coming, Figures, Move, Nodes, NotMeasured, Standing, Thinking
from benchmarks.scaling import Assumed
from clients.cli.bench.figures import Spread
from clients.cli.bench.report import Arrivals, Discarded, Generator, Load, Measured, Processor, Report

DOCS = Path(__file__).parents[2] / "docs"


def standing(game: str, seats: int, rooms: int, server: float, store: float) -> Standing:
    return Standing(
        game=game,
        seats=seats,
        rooms=rooms,
        server_share=server,
        store_share=store,
        base_kib=1.0,
        connection_kib=10.0,
        room_kib=20.0,
    )


def move(game: str, seats: int, server_us: float) -> Move:
    return Move(
        game=game,
        seats=seats,
        server_us=server_us,
        store_us=40.0,
        received=1000.0,
        stored=400.0,
        disk=300.0,
        played_kib=60.0,
    )


# A node takes 1 % of a core, a room 5 µs a second and a connection 10 µs a second; the store 2 µs a second and room.
FIGURES = Figures(
    moves=(move("koi-koi", 2, 400.0), move("go-stop", 2, 400.0), move("hachinin-meri", 8, 800.0)),
    rates=(AtRate(rate=100.0, share=0.05, carried=100.0, p50_ms=0.8, p99_ms=2.0),),
    flat=(
        AtSize(rooms=10, server_us=400.0, store_us=40.0, room_kib=50.0),
        AtSize(rooms=5_000, server_us=440.0, store_us=40.0, room_kib=45.0),
    ),
    standing=(
        standing("koi-koi", 2, 10, 0.01 + 10 * 25e-6, 0.001 + 10 * 2e-6),
        standing("koi-koi", 2, 5_000, 0.01 + 5_000 * 25e-6, 0.001 + 5_000 * 2e-6),
        standing("hachinin-meri", 8, 1_000, 0.01 + 1_000 * 85e-6, 0.001 + 1_000 * 2e-6),
    ),
    coming=Coming(connections=2_000, connect_us=500.0, return_us=1_000.0, return_seconds=3.0),
    nodes=Nodes(one_us=500.0, two_us=700.0, one_store_us=40.0, two_store_us=60.0),
    choosing=Choosing(node_us=1.0),
    thinking=tuple(
        Thinking(game=game, level="easy", per_second=100.0) for game in ("koi-koi", "go-stop", "hachinin-meri")
    ),
)
ASSUMED = Assumed(pace=4.0, busy=0.61)


def test_what_stands_still_is_parted_into_node_rooms_and_connections() -> None:
    found = scaling.standing_of(FIGURES)
    assert found.node == pytest.approx(0.01)
    assert found.room == pytest.approx(5e-6)
    assert found.connection == pytest.approx(10e-6)
    assert found.store_room == pytest.approx(2e-6)


def test_rooms_of_a_core_are_its_time_over_that_of_a_room() -> None:
    # 400 µs every 4 s, and 5 + 2 × 10 µs every second: 125 µs a second, of 0.61 - 0.01 s
    assert scaling.rooms_per_core(FIGURES, ASSUMED, "koi-koi") == pytest.approx(0.6 / 125e-6)
    assert scaling.rooms_per_core(FIGURES, ASSUMED, "hachinin-meri") == pytest.approx(0.6 / (200e-6 + 85e-6))


def test_rooms_of_a_primary_are_bounded_by_its_processor_and_its_memory() -> None:
    assert scaling.rooms_per_primary(FIGURES, ASSUMED, "koi-koi") == pytest.approx(0.61 / (10e-6 + 2e-6))
    # half an hour of life: an entry is kept for a quarter of an hour and what comes after
    kept = 1.25 * 3600
    assert scaling.kept_seconds(ASSUMED, 1.0) == kept
    rooms = scaling.rooms_in_memory(FIGURES, ASSUMED, "koi-koi", 1.0)
    assert rooms == pytest.approx(16 * 2**30 / (400 / 4 * kept))


def test_an_ai_seat_decides_when_its_turn_comes() -> None:
    # 61 decisions a second, and a seat of eight decides every 32 s
    assert scaling.ai_seats(ASSUMED, 100.0, 8) == pytest.approx(61 * 32)


@pytest.mark.parametrize(("seats", "nodes", "places"), [(2, 1, 1.0), (2, 2, 1.75), (8, 1, 1.0)])
def test_a_room_is_where_its_seats_and_its_driver_are(seats: int, nodes: int, places: float) -> None:
    assert scaling.nodes_of_room(seats, nodes) == pytest.approx(places)
    assert scaling.nodes_of_room(seats, 10**6) == pytest.approx(seats + 1, rel=1e-4)


def test_a_room_on_several_nodes_costs_each_of_them() -> None:
    alone = scaling.room_share(FIGURES, ASSUMED, "koi-koi", 1)
    assert alone == pytest.approx(125e-6)
    # on two nodes 1.75 have it on average: 0.75 × 200 µs a move more, and 0.75 × 5 µs a second
    assert scaling.room_share(FIGURES, ASSUMED, "koi-koi", 2) == pytest.approx(alone + 0.75 * (50e-6 + 5e-6))


@pytest.mark.parametrize("rooms", [1, 1_000, 100_000, 1_000_000])
def test_so_many_nodes_are_enough_and_one_less_is_not(rooms: int) -> None:
    nodes = scaling.nodes_for(FIGURES, ASSUMED, "koi-koi", rooms)

    def needed(nodes: int) -> float:
        return rooms * scaling.room_share(FIGURES, ASSUMED, "koi-koi", nodes) / 0.6

    assert needed(nodes) <= nodes
    assert nodes == 1 or needed(nodes - 1) > nodes - 1
    together = scaling.nodes_for(FIGURES, ASSUMED, "koi-koi", rooms, together=True)
    assert together == max(1, -(-rooms * 125 // 600_000))
    assert together <= nodes


def test_when_a_node_comes_or_goes_every_node_looks_at_each_of_its_rooms() -> None:
    # nearly three nodes have each of the rooms, and look at each node for it
    assert scaling.change_seconds(FIGURES, "koi-koi", 1_000_000, 10_000) == pytest.approx(3.0, rel=1e-3)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (0.123, "0.12"), (9.87, "9.9"), (10.4, "10"), (1234.0, "1,200"), (98_765.0, "99,000")],
)
def test_estimates_have_two_digits(value: float, shown: str) -> None:
    assert scaling.number(value) == shown


def test_every_table_can_be_drawn() -> None:
    for drawn in scaling.TABLES.values():
        rows = drawn(FIGURES, ASSUMED).splitlines()
        assert len({row.count("|") for row in rows}) == 1


@pytest.mark.parametrize(
    ("document", "name"), [("operations", "core"), *(("scaling", name) for name in scaling.TABLES)]
)
def test_documents_have_the_tables_that_the_figures_make(document: str, name: str) -> None:
    drawn = scaling.TABLES[name](scaling.load(), Assumed())
    text = (DOCS / f"{document}.md").read_text(encoding="utf-8")
    assert f"<!-- table: {name} -->\n{drawn}\n" in text, "python -m benchmarks.scaling"


# Measuring --------------------------------------------------------------------------------------------------------


def test_medians_are_taken_value_by_value() -> None:
    rounds = [[AtSize(rooms=10, server_us=us, store_us=10 - us, room_kib=1.0)] for us in (3.0, 1.0, 2.5)]
    assert capacity.medians(rounds) == (AtSize(rooms=10, server_us=2.5, store_us=7.5, room_kib=1.0),)


def report(*, discarded: bool) -> Report:
    spread = Spread(1, 1.0, 1.0, 1.0, 1.0)
    measured = Measured(
        moves=1,
        moves_per_second=99.0,
        ai_moves=0,
        answers=0,
        took_ms=spread,
        unfinished=0,
        processor=Processor(server_us=1.0, store_us=1.0, ai_us=0.0, server_share=0.5, store_share=0.1, ai_share=0.0),
        traffic=None,
        stored=None,
        refused={},
        lost=0,
        each_second=(),
    )
    return Report(
        load=Load(game="koi-koi", rooms=1, idle=0, persons=2, ai=0, rate=100.0, seconds=1.0, storm=False),
        start_ms=1.0,
        connecting=Arrivals(per_second=1.0, took_ms=spread, server_us=1.0, failed=0),
        returning=None,
        memory=None,
        generator=Generator(busy=0.1, ran=0.1, late_ms=0.1),
        discarded=(Discarded.GENERATOR_BUSY,) if discarded else (),
        measured=None if discarded else measured,
    )


def ran(monkeypatch: pytest.MonkeyPatch, *reports: Report) -> None:
    coming = iter(reports)

    def run(*_arguments: Any, **_named: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess((), 0, stdout=msgspec.json.encode(next(coming)), stderr=b"")

    monkeypatch.setattr(subprocess, "run", run)


def test_a_discarded_run_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ran(monkeypatch, report(discarded=True), report(discarded=False))
    found = capacity.rate_of(capacity.bench("--rate", "100"))
    assert found == AtRate(rate=100.0, share=0.5, carried=99.0, p50_ms=1.0, p99_ms=1.0)


def test_where_every_run_is_discarded_there_is_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    ran(monkeypatch, *[report(discarded=True)] * 10)
    with pytest.raises(NotMeasured, match="generator-busy"):
        capacity.bench("--rate", "100")
