"""What an operator does to a running hall: seen by the people at its tables, and never a card or a token shown."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio
from websockets.exceptions import ConnectionClosed

from engine.record import read_record
from engine.registry import GAMES
from engine.verify import misfits
from protocol.codes import Close
from server.embedded import socket_path
from server.log import Conflict
from server.store import StoredLog, open_store
from tests.e2e.client import Player
from tests.e2e.serverprocess import QUICK, ServerProcess

CARD = re.compile(r'"(?:\d\d[barpqs]|[PIKOG](?:su|un|so|ro|re|ka|\d))"')


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerProcess]:
    process = ServerProcess(tmp_path, *QUICK)
    await process.start()
    yield process
    await process.close()


async def admin(server: ServerProcess, *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    """Exit status, what was printed, and what was complained about."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "server.admin", "--data", str(server.directory / "data"), *arguments),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )
    out, complaint = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode is not None
    assert b"Traceback" not in complaint, complaint.decode()
    return process.returncode, [json.loads(line) for line in out.splitlines()], complaint.decode()


async def done(server: ServerProcess, *arguments: str) -> list[dict[str, Any]]:
    status, rows, complaint = await admin(server, *arguments)
    assert (status, complaint) == (0, "")
    return rows


async def seated(server: ServerProcess, game: str = "hachinin-meri") -> tuple[Player, Player, str]:
    """Two people in seats 0 and 1 of a match that has begun."""
    ann, bob = Player(lambda: server.port, "Ann", seed=1), Player(lambda: server.port, "Bob", seed=2)
    code = await ann.sit(game)
    await bob.join(code, seat=1)
    await ann.start()
    return ann, bob, code


async def sit_still(player: Player) -> int | None:
    """Hear everything and do nothing, until the connection is closed; the code."""
    try:
        while True:
            await player.hear()
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd is not None else None


async def test_rooms_are_listed_and_looked_into_without_a_card_or_a_token(server: ServerProcess) -> None:
    ann, bob, code = await seated(server)
    playing = asyncio.gather(ann.play(), bob.play())
    await ann.until(lambda: ann.number > 30)

    (row,) = await done(server, "list")
    (found,) = await done(server, "inspect", code.lower())
    assert await done(server, "list", "--game", "koi-koi") == []
    await playing

    assert (row["code"], row["game"], row["persons"], row["connected"]) == (code, "hachinin-meri", 2, 2)
    assert found["room"] == row["room"]
    assert [seat["kind"] for seat in found["seats"]] == ["person", "person", *["ai"] * 6]
    assert found["seats"][0]["name"] == "Ann"
    assert found["version"] == found["entries"] > 10
    text = json.dumps([row, found])
    assert not CARD.search(text)
    for player in (ann, bob):
        assert player.place is not None
        assert str(player.place.token) not in text


async def test_a_person_who_is_kicked_loses_the_seat_and_an_ai_plays_on(server: ServerProcess) -> None:
    ann, bob, code = await seated(server)
    kicked = asyncio.create_task(sit_still(bob))  # so the match waits for Bob
    playing = asyncio.create_task(ann.play())
    await ann.until(lambda: "deal-began" in {event["e"] for event in ann.events.values()})

    await done(server, "kick", code, "1")

    assert await kicked == Close.REMOVED
    await playing
    freed = [event for event in ann.events.values() if event["e"] == "seat-freed"]
    assert [(event["seat"], event["why"]) for event in freed] == [(1, "removed")]
    assert ann.result is not None


async def test_a_room_that_is_closed_says_so_and_is_gone(server: ServerProcess) -> None:
    ann, bob, code = await seated(server)
    codes = asyncio.gather(ann.close_code(), bob.close_code())

    await done(server, "close", code)

    assert set(await codes) == {Close.ROOM_CLOSED}
    assert list(ann.events.values())[-1] == {"e": "room-closed", "why": "operator"}
    status, _, complaint = await admin(server, "close", code)
    assert status == 1
    assert "closed already" in complaint or "no room" in complaint


def store_of(server: ServerProcess) -> str:
    """The URL of its embedded store."""
    return f"unix://{quote(socket_path((server.directory / 'data').absolute()))}"


async def damage(server: ServerProcess, room: str) -> None:
    """Let the log of ``room`` have an entry that is none."""
    store = await open_store(store_of(server))
    log = StoredLog(store)
    try:
        while True:
            with suppress(Conflict):  # the match goes on
                await log.append(room, (await log.heads([room]))[room], b"nonsense")
                return
    finally:
        await log.aclose()
        await store.aclose()


async def test_a_room_whose_log_is_damaged_can_be_closed_and_a_sentence_says_what_was_done(
    server: ServerProcess,
) -> None:
    ann, _, _ = await seated(server)
    assert ann.place is not None
    room = ann.place.room
    codes = asyncio.create_task(sit_still(ann))
    await damage(server, room)
    assert await codes == Close.SERVICE_RESTART
    status, _, complaint = await admin(server, "inspect", room)
    assert status == 1
    assert f"room {room} cannot be read by this version: not an entry" in complaint

    status, rows, complaint = await admin(server, "close", room)

    assert (status, rows) == (0, [])
    assert complaint.startswith(f"fudaza admin: room {room} was closed without being read, and its log ends in 24 h")
    assert complaint.count("\n") == 1
    assert await done(server, "list") == []
    status, _, complaint = await admin(server, "close", room)
    assert status == 1
    assert "there is no room" in complaint


async def test_an_announcement_reaches_everybody_who_is_connected(server: ServerProcess) -> None:
    ann, bob, _ = await seated(server)
    playing = asyncio.gather(ann.play(), bob.play())

    await done(server, "announce", "tea  is\u202e ready")

    await playing
    for player in (ann, bob):
        while not player.announced:  # where the match was over before
            await player._take(await player.hear())
        assert player.announced == ["tea is ready"]


async def test_a_node_that_is_told_to_drain_ends_in_order(server: ServerProcess) -> None:
    (row,) = await done(server, "nodes")

    await done(server, "drain", row["node"])

    assert await server.ended() == 0
    status, _, complaint = await admin(server, "list")
    assert status == 1
    assert "no server is running" in complaint


async def test_exported_records_replay_and_their_shuffles_are_fair(server: ServerProcess) -> None:
    ann, bob, _ = await seated(server, "koi-koi")
    await asyncio.gather(ann.play(), bob.play())

    async with asyncio.timeout(20):
        while not (rows := await done(server, "export")):  # the archive is told a moment after the table
            pass

    record = read_record(json.dumps(rows[-1]).encode(), GAMES)
    assert rows[-1]["game"] == "koi-koi"
    assert misfits(GAMES["koi-koi"], record) == ()
    assert rows == await done(server, "export", "--match", rows[0]["match"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("inspect", "ZZZZZZ"), "there is no room"),
        (("close", "nonsense"), "there is no room"),
        (("inspect", ""), "there is no room"),
        (("drain", "nobody"), "no node nobody is up"),
        (("announce", "\u200b"), "one line of 1 to"),
    ],
)
async def test_what_cannot_be_done_is_one_sentence(
    server: ServerProcess, arguments: tuple[str, ...], said: str
) -> None:
    status, rows, complaint = await admin(server, *arguments)

    assert status == 1
    assert rows == []
    assert said in complaint
    assert complaint.count("\n") == 1


async def test_a_seat_that_no_person_holds_cannot_be_kicked(server: ServerProcess) -> None:
    ann = Player(lambda: server.port, "Ann")
    code = await ann.sit("koi-koi")

    for seat in ("1", "7", "-1", "-2", "-9"):
        status, _, complaint = await admin(server, "kick", code, seat)
        assert status == 1
        assert "persons hold: 0" in complaint
    await ann.leave_the_room()


async def test_what_stands_in_a_full_store_can_be_looked_at_and_nothing_is_changed(server: ServerProcess) -> None:
    ann = Player(lambda: server.port, "Ann")
    code = await ann.sit("koi-koi")
    store = await open_store(store_of(server))
    (node,) = await store.route.primaries()
    await store.at(node, "CONFIG", "SET", "maxmemory", "1")
    try:
        assert [row["code"] for row in await done(server, "list")] == [code]
        assert (await done(server, "inspect", code))[0]["phase"] == "lobby"
        assert len(await done(server, "nodes")) == 1
        assert await done(server, "export") == []
        for order in (("close", code), ("kick", code, "0"), ("announce", "now")):
            status, _, complaint = await admin(server, *order)
            assert (status, complaint) == (1, "fudaza admin: the store is full: nothing was changed\n")
    finally:
        await store.at(node, "CONFIG", "SET", "maxmemory", "0")
        await store.aclose()
    assert (await done(server, "inspect", code))[0]["seats"][0]["name"] == "Ann"
    await ann.leave_the_room()


@pytest.mark.parametrize("arguments", [("--redis", "http://host", "list"), ("list", "--game", "poker")])
async def test_what_is_used_wrongly_ends_with_status_2(server: ServerProcess, arguments: tuple[str, ...]) -> None:
    status, rows, _ = await admin(server, *arguments)

    assert (status, rows) == (2, [])
