"""Limits: how fast, how much and how many, for a connection, an address, a person and everybody."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest
import pytest_asyncio
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidMessage
from websockets.frames import Frame, Opcode
from websockets.typing import Subprotocol

from protocol.limits import SUBPROTOCOL
from server.door import Door, network_of
from server.limits import LocalRates, Rate, Rates
from server.metrics import Metrics
from server.settings import Settings
from server.store import Store, StoredRates
from tests.security.attacks import Attack, header_flood, huge_frame, long_header
from tests.server.hallkit import House, until
from tests.wire.gatekit import Gate, gate

SLOW = Rate(per_second=0.5, burst=3)

Watch = Callable[[float], None]


# Rates that nodes count together ---------------------------------------------------------------------------------


class Counted:
    """Rates and their clock."""

    def __init__(self, rates: Rates, set_clock: Watch) -> None:
        self.rates = rates
        self._set = set_clock
        self.seconds = 1_000.0
        set_clock(self.seconds)

    def later(self, seconds: float) -> None:
        self.seconds += seconds
        self._set(self.seconds)

    async def take(self, whose: str = "203.0.113.7", tokens: int = 1, what: str = "guess") -> float:
        return await self.rates.take(what, whose, SLOW, tokens)


@pytest_asyncio.fixture(params=["local", "stored"])
async def counted(request: pytest.FixtureRequest, store: Store) -> AsyncIterator[Counted]:
    if request.param == "local":
        clock = [0.0]
        yield Counted(LocalRates(lambda: clock[0]), lambda seconds: clock.__setitem__(0, seconds))
        return
    rates = StoredRates(store, time_source=0)
    yield Counted(rates, lambda seconds: setattr(rates, "time_source", int(seconds * 1000)))


async def test_a_burst_may_come_at_once_and_then_one_after_the_other(counted: Counted) -> None:
    assert [await counted.take() for _ in range(3)] == [0, 0, 0]
    assert await counted.take() == pytest.approx(2.0)
    counted.later(1.5)
    assert await counted.take() == pytest.approx(0.5)
    counted.later(0.5)
    assert await counted.take() == 0
    assert await counted.take() > 0


async def test_whose_and_what_are_counted_apart(counted: Counted) -> None:
    for _ in range(3):
        await counted.take()

    assert await counted.take() > 0
    assert await counted.take("203.0.113.8") == 0
    assert await counted.take(what="create") == 0


async def test_what_is_given_back_can_be_taken_again_and_never_more_than_the_burst(counted: Counted) -> None:
    for _ in range(3):
        await counted.take()
    assert await counted.take(tokens=-1) == 0
    assert await counted.take() == 0
    assert await counted.take() > 0
    for _ in range(9):
        await counted.take(tokens=-1)

    assert [await counted.take() for _ in range(4)] == [0, 0, 0, pytest.approx(2.0)]


async def test_more_than_there_is_makes_a_debt(counted: Counted) -> None:
    assert await counted.take(tokens=5) == 0

    assert await counted.take() == pytest.approx(6.0), "two owed and one to come, at a half a second"


async def test_nodes_on_one_store_count_together(store: Store) -> None:
    one, other = StoredRates(store), StoredRates(store)
    for each in (one, other, one):
        assert await each.take("guess", "203.0.113.7", Rate(0.001, 3)) == 0

    assert await other.take("guess", "203.0.113.7", Rate(0.001, 3)) > 0


async def test_what_is_counted_expires_by_itself(store: Store) -> None:
    rates = StoredRates(store)
    await rates.take("guess", "203.0.113.7", SLOW)
    (key,) = [key async for key in store.scan(f"{store.keys.rate('guess', '*')}")]

    assert 0 < await store.call(key.decode(), "PTTL", key.decode()) <= 2_000


# The door --------------------------------------------------------------------------------------------------------


def door(**settings: Any) -> Door:
    return Door(Settings(data="", **settings), Metrics(), clock=lambda: 0.0)


def test_an_address_has_only_so_many_sockets_and_gets_another_for_each_that_goes() -> None:
    entrance = door(connections_per_address=2)

    assert [entrance.claim("203.0.113.7") for _ in range(3)] == [True, True, False]
    assert entrance.claim("203.0.113.8")
    entrance.release("203.0.113.7")
    assert entrance.claim("203.0.113.7")


def test_an_address_opens_sockets_only_so_fast() -> None:
    entrance = door(connection_burst=2, connections_per_second=1)
    for _ in range(2):
        assert entrance.claim("203.0.113.7")
        entrance.release("203.0.113.7")

    assert not entrance.claim("203.0.113.7")


def test_sockets_in_all_are_bounded_whatever_they_are() -> None:
    entrance = door(max_connections=10)
    let_in = sum(entrance.enter() for _ in range(5_000))

    assert 10 < let_in < 500
    entrance.leave()
    assert entrance.enter()
    assert not entrance.enter()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:203.0.113.7", "203.0.113.7", True),
        ("203.0.113.7", "203.0.113.8", False),
        ("", "", True),
    ],
)
def test_an_ipv6_customer_is_one_address(one: str, other: str, same: bool) -> None:
    assert (network_of(one) == network_of(other)) == same


# At the gateway --------------------------------------------------------------------------------------------------


async def test_a_socket_too_many_is_turned_away_before_any_handshake() -> None:
    async with gate(Settings(data="", connections_per_address=2)) as opened:
        reader, writer = await asyncio.open_connection("127.0.0.1", opened.port)  # half open: it never says a word
        async with opened.wire() as wire:
            with pytest.raises(InvalidMessage):
                async with opened.wire():
                    pass
            assert (await wire.ask("list"))["t"] == "accepted"
        assert opened.house.counted("fudaza_sockets_turned_away_total") == 1
        writer.close()
        await until(lambda: opened.gateway.door.sockets == 0)
        async with opened.wire():
            assert opened.gateway.door.sockets == 1
        assert not await reader.read()


async def test_behind_a_proxy_each_client_is_counted_and_not_the_proxy() -> None:
    async with gate(Settings(data="", connections_per_address=1, proxies=("127.0.0.1",))) as opened:
        first, second = "X-Forwarded-For: 203.0.113.1", "X-Forwarded-For: 203.0.113.2"
        async with asyncio.TaskGroup() as group:
            held = [group.create_task(handshake(opened.port, [header])) for header in (first, second)]
        assert [(await each)[0] for each in held] == [101, 101]
        assert await status_of(opened.port, [first]) == 429
        (await held[0])[1].transport.abort()
        await until(lambda: opened.gateway.door.sockets == 1)
        assert await status_of(opened.port, [first]) == 101
        (await held[1])[1].transport.abort()


async def test_who_never_finishes_the_handshake_is_cut_off() -> None:
    async with gate(Settings(data="", handshake_seconds=0.1)) as opened:
        reader, writer = await asyncio.open_connection("127.0.0.1", opened.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n")
        async with asyncio.timeout(20):
            await reader.read()
        await until(lambda: opened.gateway.door.sockets == 0)
        writer.close()


async def test_who_is_in_no_room_and_says_nothing_is_sent_away_and_who_sits_at_a_table_is_not() -> None:
    async with gate(Settings(data="", idle_seconds=0.5)) as opened, opened.wire("Ann") as ann:
        await ann.ask("create", game="duel", name="Ann")
        async with opened.wire("idle") as idle:
            assert await idle.closed() == 4006
        assert (await ann.ask("look"))["t"] == "accepted"


async def test_who_does_not_answer_pings_is_disconnected_and_the_room_is_told() -> None:
    async with (
        gate(Settings(data="", ping_seconds=1.0)) as opened,
        opened.wire("Bob") as bob,
        opened.wire("Ann") as ann,
    ):
        await ann.ask("create", game="duel", name="Ann")
        await bob.ask("join", code=ann.place["code"], name="Bob")
        ann.socket.transport.pause_reading()  # no ping is read, so no pong is sent

        while (await bob.until("events"))["events"][0]["e"] != "seat-away":
            pass
        ann.socket.transport.abort()


@pytest.mark.parametrize("opcode", [Opcode.PING, Opcode.PONG, Opcode.CONT])
async def test_a_flood_of_frames_of_any_kind_ends_its_connection(opcode: Opcode) -> None:
    """Frames that the library deals with by itself, of which no session would ever know."""
    settings = Settings(data="", commands_per_second=1, command_burst=5)
    async with gate(settings) as opened, opened.wire() as wire, opened.wire("other") as other:
        first = Frame(Opcode.TEXT, b"{", fin=False).serialize(mask=True)
        wire.socket.transport.write(first + Frame(opcode, b"", fin=opcode is not Opcode.CONT).serialize(mask=True) * 60)

        assert await wire.closed() == 4004
        assert opened.house.counted("fudaza_floods_total") == 1
        assert (await other.ask("list"))["t"] == "accepted"


async def test_answers_to_pings_that_nobody_reads_do_not_pile_up() -> None:
    settings = Settings(data="", write_buffer=16_384, commands_per_second=1e6, command_burst=1_000_000)
    async with gate(settings) as opened:
        async with opened.wire() as wire:
            wire.socket.transport.pause_reading()
            pings = Frame(Opcode.PING, b"x" * 125).serialize(mask=True) * 64
            async with asyncio.timeout(20):
                while opened.house.counted("fudaza_outbox_overflows_total") == 0:
                    wire.socket.transport.write(pings)
                    await asyncio.sleep(0)
            wire.socket.transport.abort()
        await until(lambda: not opened.gateway.sessions)


async def test_wrong_codes_are_counted_over_all_connections_of_an_address(opened_with_room: Gate) -> None:
    opened = opened_with_room
    for number in range(30):
        async with opened.wire(f"guesser {number}") as wire:
            assert (await wire.ask("watch", code="AAAAAA"))["code"] == "unknown-room"

    async with opened.wire("guesser again") as wire:
        assert (await wire.ask("watch", code="AAAAAA"))["code"] == "too-fast"


async def test_right_codes_cost_nothing(opened_with_room: Gate) -> None:
    code = next(iter(opened_with_room.house.hall.hosts.values())).room.code
    async with opened_with_room.wire("regular") as wire:
        for _ in range(60):
            assert (await wire.ask("watch", code=code))["t"] == "accepted"
            assert (await wire.ask("leave"))["t"] == "accepted"


async def test_rooms_are_read_for_an_address_only_so_fast_and_those_in_memory_at_any_time() -> None:
    """To read a room costs as much as a hundred commands: over and over again it would be all that a node does."""
    async with gate(Settings(data="", connections_per_second=5, connection_burst=3)) as opened:
        hall = opened.house.hall
        async with opened.wire("Ann") as ann, opened.wire("Eve") as eve:
            await ann.ask("create", game="duel", name="Ann")
            await ann.ask("leave")
            room, code = ann.place["room"], ann.place["code"]

            async def read_by_eve() -> dict[str, Any]:
                await eve.ask("leave")
                hall.let_go(hall.hosts[room])
                assert not hall.hosts
                return await eve.ask("watch", code=code)

            answers = [await read_by_eve() for _ in range(5)]
            assert {answer["t"] for answer in answers} == {"accepted"}
            assert opened.slept == pytest.approx([1, 2])
            refused = await read_by_eve()
            assert (refused["code"], refused["params"]["retry_ms"]) == ("too-fast", 3_001)
            assert not hall.hosts

            opened.seconds += 1
            assert (await eve.ask("watch", code=code))["t"] == "accepted"
            assert (await ann.ask("watch", code=code))["t"] == "accepted"
            assert opened.slept == pytest.approx([1, 2, 2]), "it was in memory for the second"


async def test_who_has_gone_waits_no_more_for_the_turn_of_their_address() -> None:
    """Their sessions would outlive their sockets by as many turns as they have left frames: until all the connections
    that the hall takes are of people who are not there.
    """
    settings = Settings(data="", commands_per_second=1, command_burst=1, commands_per_address=1)
    async with gate(settings) as opened:
        held: list[float] = []

        async def until_they_have_gone(seconds: float) -> None:
            held.append(seconds)
            await until(lambda: opened.gateway.door.sockets == 0)

        opened.hold = until_they_have_gone
        async with opened.wire() as wire:
            for _ in range(8):
                await wire.socket.send(json.dumps({"t": "list", "id": wire.client.id()}))
            await until(lambda: bool(held))
            wire.socket.transport.abort()

        await until(lambda: not opened.gateway.sessions)
        assert held == [1.0]


async def test_who_tries_ids_of_rooms_takes_no_readings_from_a_neighbour() -> None:
    async with gate(Settings(data="", connections_per_second=5, connection_burst=2)) as opened, opened.wire() as wire:
        for number in range(20):
            fields = {"room": f"{number:a>26}".translate(str.maketrans("0189", "zyxw")), "token": "A" * 43}
            assert (await wire.ask("resume", **fields))["code"] == "unknown-room"

        assert not opened.slept


async def test_while_many_guess_a_wrong_code_counts_tenfold_and_a_right_one_costs_nothing(
    opened_with_room: Gate,
) -> None:
    opened = opened_with_room
    code = next(iter(opened.house.hall.hosts.values())).room.code
    everybody = opened.gateway.shared.rates
    for _ in range(3_000):
        assert await everybody.take("guess", "everybody", Rate(50.0, 3_000)) == 0
    async with opened.wire("guesser") as wire:
        answers = [(await wire.ask("watch", code="AAAAAA"))["code"] for _ in range(4)]
        assert answers == ["unknown-room"] * 3 + ["too-fast"]
        opened.seconds += 2
        assert (await wire.ask("watch", code=code))["t"] == "accepted"


async def test_who_leaves_and_comes_again_does_not_talk_faster_for_it(opened_with_room: Gate) -> None:
    code = next(iter(opened_with_room.house.hall.hosts.values())).room.code
    said: list[str] = []
    async with opened_with_room.wire("flooder") as wire:
        while "refused" not in said:  # a name that is shown is something said, too
            said.append((await wire.ask("join", code=code, name=f"spam {len(said)}"))["t"])
            said += [(await wire.ask("chat", text="spam"))["t"] for _ in range(3) if said[-1] == "accepted"]
            await wire.ask("leave")

    assert said.count("accepted") == 30


async def test_no_more_rooms_are_opened_than_there_may_be_and_a_repeated_command_still_finds_its_room() -> None:
    house = House()
    house.hall._max_rooms = 1
    async with gate(house=house) as opened, opened.wire("Ann") as ann, opened.wire("Bob") as bob:
        command = ann.client.id()
        assert (await ann.ask("create", id=command, game="duel", name="Ann"))["t"] == "accepted"
        assert (await bob.ask("create", game="duel", name="Bob"))["code"] == "hall-full"
        ann.socket.transport.abort()
        async with opened.wire("Ann again") as again:
            answer = await again.ask("create", id=command, game="duel", name="Ann")
            assert answer["place"]["room"] == ann.place["room"]


async def test_a_stranger_cannot_name_another_address_as_theirs() -> None:
    """X-Forwarded-For counts only where a configured proxy wrote it."""
    for proxies, refused in ((), True), (("127.0.0.1",), False):
        async with gate(Settings(data="", rooms_per_minute=1, proxies=proxies)) as opened:
            answers = []
            for number in range(2):
                wire = opened.wire(f"guest {number}")
                wire._connect = connect(
                    f"ws://127.0.0.1:{opened.port}",
                    subprotocols=[Subprotocol(SUBPROTOCOL)],
                    additional_headers={"X-Forwarded-For": f"198.51.100.1, 203.0.113.{number}"},
                )
                async with wire:
                    answers.append((await wire.ask("create", game="duel", name="x"))["t"])
            assert answers == ["accepted", "refused" if refused else "accepted"]


async def test_a_browser_of_no_configured_origin_and_a_null_origin_are_turned_away() -> None:
    async with gate(Settings(data="", origins=("https://play.example",))) as opened:
        for origin in ("https://play.example.evil.example", "http://play.example", "null", "https://PLAY.example:8443"):
            assert await status_of(opened.port, [f"Origin: {origin}"]) == 403
        assert await status_of(opened.port, ["Origin: https://play.example"]) == 101
        assert await status_of(opened.port, []) == 101


async def status_of(port: int, headers: Sequence[str]) -> int:
    """The status of a handshake with these headers; the connection is ended."""
    status, writer = await handshake(port, headers)
    writer.transport.abort()
    return status


async def handshake(port: int, headers: Sequence[str]) -> tuple[int, asyncio.StreamWriter]:
    """The status of a handshake with these headers, and the connection."""
    lines = [
        "GET / HTTP/1.1",
        "Host: x",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        f"Sec-WebSocket-Protocol: {SUBPROTOCOL}",
        *headers,
    ]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write("\r\n".join([*lines, "", ""]).encode())
    return int((await reader.readline()).split()[1]), writer


@pytest_asyncio.fixture
async def opened_with_room() -> AsyncIterator[Gate]:
    settings = Settings(data="", command_burst=1_000)
    async with gate(settings) as opened, opened.wire("host") as wire:
        assert (await wire.ask("create", game="duel", name="Host"))["t"] == "accepted"
        yield opened


@pytest.mark.parametrize("flood", [header_flood, long_header, huge_frame])
async def test_what_comes_outside_an_open_connection_is_not_read_for_long(flood: Attack) -> None:
    """The library would read and drop it until the close has timed out: a processor's work for nothing."""
    async with gate() as opened:
        await flood(opened.port)

        assert opened.house.counted("fudaza_floods_total") == 1
        await until(lambda: opened.gateway.door.sockets == 0)
