"""What is counted is what the manual says is counted, and is so."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from server.keeper import Keeper
from server.metrics import Metrics
from server.room import HOLDERS
from tests.server.hallkit import House
from tests.server.memory import MemoryIndex, MemoryLog


def test_the_manual_names_every_metric_and_no_other() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
    named = set(re.findall(r"`(fudaza_[a-z_]+)[`{]", manual))
    served = {
        f"{family.name}_total" if family.type == "counter" else family.name for family in Metrics().registry.collect()
    }
    assert named == served


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


async def test_of_too_many_records_that_wait_for_the_store_the_oldest_is_given_up_and_counted() -> None:
    index, lost = MemoryIndex(), []
    keeper = Keeper(
        index, MemoryLog(), drives=lambda _: True, forget_seconds=1, overflowed=lambda: lost.append(1), most_records=2
    )
    host: Any = SimpleNamespace(room=SimpleNamespace(id="r"))
    for number in (1, 2, 3):
        deal: Any = SimpleNamespace(match="m", deal=number, attempt=1, record=b"{}")
        keeper.finished(host, deal)

    await keeper.flush()

    assert [each.deal async for each in index.archived()] == [2, 3]
    assert len(lost) == 1
