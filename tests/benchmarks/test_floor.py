from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from hashlib import sha256
from random import Random
from typing import TypeVar

import pytest
import pytest_asyncio

from benchmarks.floor.load import Table, Wanted, measure
from benchmarks.floor.server import connect as connect_store
from benchmarks.floor.server import run
from benchmarks.floor.wire import Act, Sit, encode
from clients.cli.bench.line import Line, connect
from tests.stores import StoreServer

T = TypeVar("T")
SEATS = 3


async def soon(awaited: Awaitable[T]) -> T:
    """So that a floor that does not work fails a test, and does not hold it up."""
    return await asyncio.wait_for(awaited, 20)


@pytest_asyncio.fixture
async def url(shared_valkey: StoreServer) -> AsyncIterator[str]:
    """A floor with tables of three."""
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    server = asyncio.create_task(run(shared_valkey.url, SEATS, port.set_result))
    yield f"ws://127.0.0.1:{await soon(port)}"
    server.cancel()
    await asyncio.wait([server])


async def seated(url: str) -> tuple[list[Line], list[asyncio.Queue[bytes]]]:
    lines, shown = [], []
    for _ in range(SEATS):
        line, frames = await connect(url, Random(1)), asyncio.Queue[bytes]()
        line.take = frames.put_nowait
        line.send(encode(Sit(1)))
        lines.append(line)
        shown.append(frames)
    for frames in shown:
        assert json.loads(await soon(frames.get()))["first"] == 0
    return lines, shown


async def test_a_move_is_shown_to_every_seat_and_the_store_has_it_chained_to_the_last(
    url: str, shared_valkey: StoreServer
) -> None:
    lines, shown = await seated(url)

    for number in (1, 2):
        lines[number].send(encode(Act(id="x.1", action="01a", at=number)))
        for frames in shown:
            frame = await soon(frames.get())
            assert json.loads(frame)["first"] == number
            assert 1_000 < len(frame) < 1_200

    store = await connect_store(shared_valkey.url)
    (key,) = await store.call("KEYS", "floor:*-1}:log")
    (_, first), (_, second) = await store.call("XRANGE", key, "-", "+")
    store.close()
    assert first[1] == sha256(bytes(32) + first[3]).digest()
    assert second[1] == sha256(first[1] + second[3]).digest()
    for line in lines:
        line.abort()


@pytest.mark.parametrize("rate", [0.0, 1_000.0], ids=["full", "fixed rate"])
async def test_a_load_counts_the_moves_that_every_seat_has_seen(
    url: str, rate: float, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Table(2)
    lines = [await connect(url, Random(1)) for _ in range(SEATS)]
    table.sit(lines)
    await soon(table.settled.wait())

    counted = await measure([table], Wanted(rate, 0.1))

    assert json.loads(capsys.readouterr().out) == {"began": True}
    assert counted.moves == len(table.took) > 0
    assert counted.p50 is not None
    for line in lines:
        line.abort()
