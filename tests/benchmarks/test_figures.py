from __future__ import annotations

import pytest

from benchmarks.peers.figures import Discarded, Figure, interleaved, judged, medians, table


def figure(system: str = "ours", server_us: float = 100.0, **others: float | None) -> Figure:
    values = {
        "moves_per_second": 400.0,
        "store_us": None,
        "p50_ms": 1.0,
        "p99_ms": 2.0,
        "max_ms": 3.0,
        "load_busy": 0.1,
    }
    return Figure(system=system, load="400", server_us=server_us, **{**values, **others})  # type: ignore[arg-type]


def test_every_round_measures_every_system_before_the_next_round_begins() -> None:
    assert interleaved(["A", "B", "C"], 2) == [(1, "A"), (1, "B"), (1, "C"), (2, "A"), (2, "B"), (2, "C")]


def test_a_median_is_of_one_system_under_one_load_and_a_ratio_is_to_its_floor() -> None:
    results = [
        *(figure("floor", us) for us in (50.0, 40.0, 90.0)),
        *(figure("ours", us, store_us=us / 10) for us in (100.0, 130.0, 70.0)),
    ]

    floor, ours = medians(results, {"ours": "floor", "floor": "floor"})

    assert floor.figure is not None
    assert floor.figure.server_us == 50.0
    assert (floor.ratio, floor.figure.store_us) == (1.0, None)
    assert ours.figure is not None
    assert (ours.figure.server_us, ours.figure.store_us, ours.ratio) == (100.0, 10.0, 2.0)
    assert (ours.runs, ours.least_us, ours.most_us) == (3, 70.0, 130.0)


def test_there_is_no_ratio_to_a_floor_that_was_not_measured() -> None:
    (ours,) = medians([figure()], {"ours": "floor"})

    assert ours.ratio is None


def test_a_discarded_trial_counts_in_no_median_and_is_told() -> None:
    (ours,) = medians([figure(), Discarded("ours", "400", "carried 50% of the load")], {})

    assert (ours.runs, ours.discarded) == (1, ("carried 50% of the load",))
    (nothing,) = medians([Discarded("ours", "400", "carried 50% of the load")], {})
    assert nothing.figure is None
    assert "carried 50% of the load" in table([nothing])[-1]


@pytest.mark.parametrize(
    ("measured", "carried", "why"),
    [
        (figure(load_busy=0.95), 1.0, "the load generator was the bottleneck"),
        (figure(), 0.5, "carried 50% of the load"),
    ],
)
def test_a_figure_that_says_more_about_the_load_than_the_server_is_discarded(
    measured: Figure, carried: float, why: str
) -> None:
    assert judged(measured, carried) == Discarded("ours", "400", why)


def test_any_other_figure_is_kept() -> None:
    measured = figure()

    assert judged(measured, 0.98) is measured
