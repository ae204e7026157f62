"""What is counted is what the manual says is counted, and is so."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client.metrics_core import Metric

from server import driver
from server.index import ORDERS_KEPT, Order
from server.keeper import Keeper
from server.log import Head, StoreFull
from server.metrics import Metrics
from server.orders import Orders
from server.room import HOLDERS
from server.store import Bounds, Store, StoredIndex
from server.worker import Question
from tests.server.hallkit import House, until
from tests.server.memory import MemoryIndex, MemoryLog


def test_the_manual_names_every_metric_and_no_other() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
    named = set(re.findall(r"`(fudaza_[a-z_]+)[`{]", manual))

    def name(family: Metric) -> str:
        return f"{family.name}_total" if family.type == "counter" else family.name

    assert named == set(map(name, Metrics().registry.collect()))


async def test_seats_are_counted_by_who_holds_them_in_rooms_that_the_node_drives(house: House) -> None:
    ann, bob, eve = (house.person(name) for name in ("Ann", "Bob", "Eve"))
    await ann.create()
    await bob.join(ann.room.code)
    await eve.create()
    await bob.vanish()
    await eve.start()

    await house.driver.heal()

    seats = {holder: house.counted("fudaza_seats", holder=holder) for holder in HOLDERS}
    assert seats == {"person": 2, "away": 1, "ai": 1, "open": 0}


async def test_how_long_appends_took_is_counted_once_for_each_that_the_log_took(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = time.perf_counter()

    class Slow(MemoryLog):
        async def append(self, room: str, head: Head, data: bytes) -> Head:
            nonlocal now
            now += 0.03
            return await super().append(room, head, data)

    monkeypatch.setattr(time, "perf_counter", lambda: now)
    log = Slow()
    house = House(log=log)
    ann, bob = house.person("Ann"), house.person("Bob")
    await ann.create()  # whose entry founds the log, and is not measured
    await bob.join(ann.room.code)
    await ann.start()
    log.full = True
    with pytest.raises(StoreFull):
        await ann.contribute()

    assert house.counted("fudaza_append_seconds_count") == 2
    assert house.counted("fudaza_append_seconds_sum") == pytest.approx(0.06)
    assert house.counted("fudaza_append_seconds_bucket", le="0.025") == 0
    assert house.counted("fudaza_append_seconds_bucket", le="0.05") == 2
    await house.close()


async def test_how_long_the_ai_took_is_counted_once_for_each_question(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    real, ahead = loop.time, 0.0

    def slowly(question: Question) -> str:
        nonlocal ahead
        ahead += 0.3
        return house.thinker._choose(question)

    monkeypatch.setattr(loop, "time", lambda: real() + ahead)
    house.thinker.answer = slowly
    ann = house.person("Ann")
    await ann.create()
    await ann.start()
    await ann.contribute()
    assert ann.host is not None
    await ann.host.fire()
    await until(lambda: house.counted("fudaza_ai_moves_total") > 0)

    asked = len(house.thinker.asked)
    assert house.counted("fudaza_ai_seconds_count") == asked
    assert 0.3 * asked <= house.counted("fudaza_ai_seconds_sum") < 0.5 * asked
    assert house.counted("fudaza_ai_seconds_bucket", le="0.25") == 0
    assert house.counted("fudaza_ai_seconds_bucket", le="0.5") == asked


async def test_of_too_many_records_that_wait_for_the_store_the_oldest_is_given_up_and_counted() -> None:
    index, metrics = MemoryIndex(), Metrics()
    keeper = Keeper(
        index,
        MemoryLog(),
        drives=lambda _: True,
        holds=lambda _: True,
        forget_seconds=1,
        metrics=metrics,
        most_records=2,
    )
    for number in (1, 2, 3):
        keeper.finished(*ended(number))

    await keeper.flush()

    assert [each.deal async for each in index.archived()] == [2, 3]
    assert metrics.registry.get_sample_value("fudaza_records_given_up_total") == 1


async def test_records_that_a_full_archive_gives_up_for_newer_ones_are_counted(store: Store) -> None:
    index, metrics = StoredIndex(store, Bounds(archive_records=16 * 2)), Metrics()
    keeper = Keeper(index, MemoryLog(), drives=lambda _: True, holds=lambda _: True, forget_seconds=1, metrics=metrics)
    for number in (1, 2, 3, 4, 5):
        index.time_source = number
        keeper.finished(*ended(number))
        await keeper.flush()

    assert [each.deal async for each in index.archived()] == [4, 5]
    assert metrics.registry.get_sample_value("fudaza_records_dropped_total") == 3


async def test_rounds_that_find_more_rooms_overdue_than_one_looks_up_are_counted(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "_DUE_AT_ONCE", 3)
    for number in range(4):
        await house.index.set_due(f"never opened {number}", house.clock.now)

    await house.driver.heal()
    await house.driver.heal()

    assert await house.index.count_live() == 0
    assert house.counted("fudaza_due_put_off_total") == 1


async def test_rooms_that_drop_out_of_a_full_lobby_are_counted(house: House, store: Store) -> None:
    index = StoredIndex(store, Bounds(lobby_rooms=1))
    keeper = Keeper(
        index, house.memory, drives=lambda _: True, holds=lambda _: True, forget_seconds=1, metrics=house.metrics
    )
    for name in ("Ann", "Bob", "Eve"):
        person = house.person(name)
        await person.create()
        assert person.host is not None
        keeper.changed(person.host)

    await keeper.flush()

    assert len(await index.listed(None, 10)) == 1
    assert house.counted("fudaza_lobby_overflows_total") == 2


async def test_orders_that_were_forgotten_before_they_were_heard_are_counted() -> None:
    index, metrics = MemoryIndex(), Metrics()
    told: list[str] = []
    orders = Orders(index, "n1", metrics, announce=told.append, drain=lambda: None)
    await orders.look()
    for number in range(ORDERS_KEPT + 2):
        await index.order(Order(what="announce", text=str(number)))

    await orders.look()
    await orders.look()

    assert told == [str(number) for number in range(2, ORDERS_KEPT + 2)]
    assert metrics.registry.get_sample_value("fudaza_orders_missed_total") == 2


def ended(number: int) -> tuple[Any, Any]:
    """A room's host and the end of one of its deals, as far as a keeper looks at them."""
    host = SimpleNamespace(room=SimpleNamespace(id="r"))
    return host, SimpleNamespace(match="m", deal=number, attempt=1, record=b"{}")
