from __future__ import annotations

from typing import NoReturn

import pytest

from benchmarks import ratios
from benchmarks.peers.figures import Discarded, Figure, Result
from benchmarks.peers.systems import System
from benchmarks.peers.trial import TrialFailed


def result(system: System) -> Result:
    if system.seats != 2:
        return Discarded(system.name, "full", "not asked for")
    server_us = 50.0 if system.programs else 75.0
    values = {"moves_per_second": 1.0, "store_us": 1.0, "p50_ms": 1.0, "p99_ms": 1.0, "max_ms": 1.0, "load_busy": 0.1}
    return Figure(system=system.name, load="full", server_us=server_us, **values)


@pytest.fixture(autouse=True)
def _unpinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratios, "Cores", lambda: None)


def test_the_ratio_is_of_two_seats_here_to_two_seats_on_the_floor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def trial(system: System, *_: object, **__: object) -> list[Result]:
        return [result(system)]

    monkeypatch.setattr(ratios, "trial", trial)

    ratios.main()

    assert "1.50 times the bare loop: 75 and 50 µs" in capsys.readouterr().out


def test_whatever_goes_wrong_is_told_and_is_no_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def trial(*_: object, **__: object) -> NoReturn:
        raise TrialFailed("fudaza bench ended: it is broken")

    monkeypatch.setattr(ratios, "trial", trial)

    ratios.main()

    assert capsys.readouterr().out == "no ratio: fudaza bench ended: it is broken\n"
