"""Connections over real sockets: how they end, come again, are cut off and counted; and whose address they are of."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from protocol.limits import SUBPROTOCOL
from server import gateway
from server.limits import Rate
from server.room.measure import HOUSEKEEPING
from server.session import Session
from server.settings import Settings
from tests.server.hallkit import until
from tests.wire.gatekit import Gate, Wire, gate

ID = "q83Jxk0v_yP2sE1d.17"


# Connections -----------------------------------------------------------------------------------------------------


async def test_the_newest_connection_wins_and_the_older_one_is_told_and_closed(opened: Gate, ann: Wire) -> None:
    async with opened.wire("Ann again") as again:
        answer = await again.ask("resume", room=ann.place["room"], token=ann.place["token"])
        assert answer["place"]["seat"] == 0
        assert answer["place"]["token"] != ann.place["token"]

        assert await ann.closed() == 4001
        assert ann.heard[-1] == {"t": "notice", "code": "superseded", "params": {}}
        assert (await again.ask("start"))["t"] == "accepted"


async def test_a_dropped_socket_is_reported_to_the_room(opened: Gate, ann: Wire) -> None:
    async with opened.wire("Bob") as bob:
        await bob.ask("join", code=ann.place["code"], name="Bob")
        bob.socket.transport.abort()

    while (await ann.until("events"))["events"][-1]["e"] != "seat-away":
        pass


async def stop_reading(wire: Wire, session: Session) -> None:
    """Let nothing more be read of what ``session`` is sent, and the kernel hold little of it."""
    for end in (wire.socket.transport, session.connection.transport):
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, option, 4_096)
    wire.socket.transport.pause_reading()


async def until_cut_off(opened: Gate, ann: Wire) -> None:
    """Let things happen in Ann's room until somebody has been cut off who does not read of them."""
    for turn in range(5_000):
        if opened.house.counted("fudaza_outbox_overflows_total"):
            break
        opened.house.clock.now += HOUSEKEEPING.window_ms
        assert (await ann.ask("lock", on=turn % 2 == 0))["t"] == "accepted"
    await until(lambda: len(opened.gateway.sessions) == 1)
    assert opened.house.counted("fudaza_outbox_overflows_total") == 1


def numbers(heard: list[dict[str, Any]]) -> list[int]:
    """Those of the events in what was heard, in its order."""
    return [each["first"] + place for each in heard if each["t"] == "events" for place in range(len(each["events"]))]


async def test_a_watcher_that_does_not_read_is_cut_off_and_nobody_waits_for_it() -> None:
    settings = Settings(data="", write_buffer=16_384, command_burst=100_000)
    async with gate(settings) as opened, opened.wire("Ann") as ann:
        await ann.ask("create", game="duel", name="Ann")
        (anns,) = opened.gateway.sessions
        async with opened.wire("Eve") as eve:
            await eve.ask("watch", code=ann.place["code"])
            (eves,) = opened.gateway.sessions - {anns}
            await stop_reading(eve, eves)
            await until_cut_off(opened, ann)

        assert opened.gateway.sessions == {anns}
        assert (await ann.ask("look"))["t"] == "accepted"


@pytest.mark.parametrize(
    ("write_buffer", "by_number"),
    [
        pytest.param(2_048, True, id="a little"),  # less than an operator may choose, so that the room remembers it all
        pytest.param(65_536, False, id="much"),
    ],
)
async def test_a_person_that_was_cut_off_for_not_reading_comes_back_to_where_they_were(
    write_buffer: int, by_number: bool
) -> None:
    settings = Settings(data="", write_buffer=write_buffer, command_burst=100_000)
    async with gate(settings) as opened, opened.wire("Ann") as ann:
        await ann.ask("create", game="duel", name="Ann")
        (anns,) = opened.gateway.sessions
        async with opened.wire("Bob") as bob:
            await bob.ask("join", code=ann.place["code"], name="Bob", seat=1)
            began = (await bob.until("snapshot"))["at"]
            (bobs,) = opened.gateway.sessions - {anns}
            await stop_reading(bob, bobs)
            await until_cut_off(opened, ann)
            bob.socket.transport.resume_reading()
            assert await bob.closed() == 1006
        await ann.until("events")  # Bob is away
        known = numbers(bob.heard)
        assert known == list(range(began + 1, began + 1 + len(known)))
        marks = [each["mark"] for each in bob.heard if each["t"] in {"events", "snapshot"}]

        async with opened.wire("Bob again") as again:
            answer = await again.ask(
                "resume", room=ann.place["room"], token=bob.place["token"], after=[began, *known][-1], mark=marks[-1]
            )
            assert (answer["t"], answer["place"]["seat"]) == ("accepted", 1)
            assert (await ann.ask("chat", text="Are you back?"))["t"] == "accepted"
            last = numbers(ann.heard)[-1]
            while numbers(again.heard)[-1:] != [last]:
                await again.hear()

        assert all(each["t"] != "notice" for each in again.heard)
        snapshots = [each["at"] for each in again.heard if each["t"] == "snapshot"]
        if by_number:
            assert not snapshots
            assert [*known, *numbers(again.heard)] == list(range(began + 1, last + 1))
            assert shown_in(bob.heard) | shown_in(again.heard) == {
                number: event for number, event in shown_in(ann.heard).items() if number > began
            }
        else:
            (at,) = snapshots
            assert at > [began, *known][-1]
            assert numbers(again.heard) == list(range(at + 1, last + 1))


def shown_in(heard: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """The events in what was heard, by number."""
    return {
        each["first"] + place: event
        for each in heard
        if each["t"] == "events"
        for place, event in enumerate(each["events"])
    }


async def test_a_drain_tells_everybody_and_answers_what_is_in_work(
    opened: Gate, ann: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = opened.house.memory.append
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def slow(*arguments: Any) -> Any:
        reached.set()
        await go_on.wait()
        return await append(*arguments)

    monkeypatch.setattr(opened.house.memory, "append", slow)
    command = ann.client.id()
    await ann.socket.send(json.dumps({"t": "start", "id": command}))
    await reached.wait()

    draining = asyncio.create_task(opened.gateway.drain())
    assert (await ann.until("notice"))["code"] == "draining"
    go_on.set()

    assert (await ann.until("accepted"))["id"] == command
    assert await ann.closed() == 1012
    await draining
    assert not opened.gateway.sessions


async def test_a_drain_waits_only_so_long_for_a_silent_store_and_says_that_the_outcome_is_unknown(
    opened: Gate, ann: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = asyncio.Event()

    async def silent(*arguments: Any) -> Any:
        reached.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(opened.house.memory, "append", silent)
    monkeypatch.setattr(gateway, "_DRAIN_SECONDS", 0.0)
    command = ann.client.id()
    await ann.socket.send(json.dumps({"t": "start", "id": command}))
    await reached.wait()

    draining = asyncio.create_task(opened.gateway.drain())

    assert (await ann.until("refused"))["code"] == "store-unavailable"
    assert await ann.closed() == 1012
    await draining
    assert not opened.gateway.sessions


async def test_a_drain_while_a_right_code_is_given_back_leaves_its_command_with_one_answer(
    opened: Gate, ann: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = opened.gateway.shared.rates
    take, reached = rates.take, asyncio.Event()

    async def slow(what: str, whose: str, rate: Rate, tokens: int = 1) -> float:
        if tokens < 0:
            reached.set()
            await asyncio.Event().wait()
        return await take(what, whose, rate, tokens)

    monkeypatch.setattr(rates, "take", slow)
    monkeypatch.setattr(gateway, "_DRAIN_SECONDS", 0.0)
    async with opened.wire("Bob") as bob:
        command = {"t": "join", "id": bob.client.id(), "code": ann.place["code"], "name": "Bob"}
        await bob.socket.send(json.dumps(command))
        await reached.wait()

        await opened.gateway.drain()

        await bob.closed()
        assert len([message for message in bob.heard if message.get("id") == command["id"]]) == 1


# Addresses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("203.0.113.7:5123", "203.0.113.7:5124"),
        ("203.0.113.7", "203.0.113.7:1"),
        ("[2001:db8::1]:443", "2001:db8::2"),
        ("unknown", "_hidden"),
        ("203.0.113.7:x:y", ""),
    ],
)
async def test_whatever_a_proxy_writes_beside_an_address_makes_no_other_of_it(one: str, other: str) -> None:
    """A port is left out, and what is no address counts as the proxy's own."""
    async with gate(Settings(data="", rooms_per_minute=1, proxies=("127.0.0.1",))) as opened:
        told = [await _opens_a_room(opened, each) for each in (one, other, "203.0.113.99:5123")]

    assert told == ["accepted", "refused", "accepted"]


async def _opens_a_room(opened: Gate, forwarded: str) -> str:
    wire = opened.wire(forwarded)
    wire._connect = connect(
        f"ws://127.0.0.1:{opened.port}",
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        additional_headers={"X-Forwarded-For": f"198.51.100.1, {forwarded}"},
    )
    async with wire:
        return str((await wire.ask("create", game="duel", name="x"))["t"])


async def test_all_connections_of_an_address_wait_for_each_other_and_none_is_refused_for_a_neighbour() -> None:
    settings = Settings(data="", commands_per_second=1, command_burst=3, commands_per_address=2)
    async with gate(settings) as opened, opened.wire("Ann") as ann, opened.wire("Bob") as bob:
        told = [(await each.ask("list"))["t"] for each in (ann, ann, ann, bob, bob, bob)]
        assert opened.slept == []
        async with opened.wire("Cid") as cid:  # a new connection gains nothing by being new
            told += [(await cid.ask("list"))["t"] for _ in range(3)]
        assert opened.slept == pytest.approx([0.5, 1.0, 1.5])
        assert opened.house.counted("fudaza_frames_held_total") == 3
        opened.seconds += 60
        told.append((await bob.ask("list"))["t"])

        assert told == ["accepted"] * 10
        assert len(opened.slept) == 3


async def test_what_is_no_command_waits_too() -> None:
    """Else each new connection would bring new strikes."""
    settings = Settings(data="", commands_per_second=1, command_burst=1, commands_per_address=1)
    async with gate(settings) as opened, opened.wire() as wire:
        for _ in range(3):
            await wire.raw("nonsense")

        assert opened.slept == pytest.approx([1.0, 2.0])


async def test_whose_frame_waits_while_the_node_ends_is_sent_away_without_it() -> None:
    settings = Settings(data="", commands_per_second=1, command_burst=1, commands_per_address=1)
    async with gate(settings) as opened, opened.wire() as wire:
        held, go_on = asyncio.Event(), asyncio.Event()

        async def hold(seconds: float) -> None:
            held.set()
            await go_on.wait()

        opened.hold = hold
        assert (await wire.ask("list"))["t"] == "accepted"
        await wire.socket.send(json.dumps({"t": "list", "id": wire.client.id()}))
        await held.wait()
        draining = asyncio.create_task(opened.gateway.drain())

        assert await wire.closed() == 1012
        go_on.set()
        await draining
        assert [each["t"] for each in wire.heard] == ["welcome", "accepted", "notice"]
