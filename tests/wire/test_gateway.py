"""The gateway over real sockets: handshakes, commands and answers, and everything a bad client can send."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.typing import Origin, Subprotocol

from protocol.limits import MAX_COMMAND_BYTES, SUBPROTOCOL
from server.log import StoreFull
from server.settings import Settings
from tests.wire.gatekit import Gate, Wire, gate

ID = "q83Jxk0v_yP2sE1d.17"


# The handshake ---------------------------------------------------------------------------------------------------


async def refused_handshake(port: int, **options: Any) -> tuple[int, str]:
    with pytest.raises(InvalidStatus) as caught:
        async with connect(f"ws://127.0.0.1:{port}{options.pop('path', '/')}", **options):
            pass
    response = caught.value.response
    return response.status_code, (response.body or b"").decode()


async def test_the_first_message_tells_version_games_options_and_levels(opened: Gate) -> None:
    async with opened.wire() as wire:
        (welcome,) = wire.heard

    assert (welcome["server"], welcome["protocol"]) == ("9.9", 1)
    (duel,) = welcome["games"]
    assert duel["name"] == "duel"
    assert duel["options"]["deals"] == [1, 3]
    assert duel["levels"] == ["easy", "medium"]


@pytest.mark.parametrize("offered", [None, ["chat"], ["fudaza.2"]])
async def test_a_client_that_does_not_offer_the_protocol_is_told_which(opened: Gate, offered: list[str] | None) -> None:
    subprotocols = None if offered is None else [Subprotocol(each) for each in offered]

    status, body = await refused_handshake(opened.port, subprotocols=subprotocols)

    assert status == 400
    assert SUBPROTOCOL in body


async def test_only_configured_web_origins_may_connect_and_clients_that_are_no_browsers() -> None:
    async with gate(Settings(data="", origins=("https://play.example",))) as opened:
        protocols = [Subprotocol(SUBPROTOCOL)]
        foreign = await refused_handshake(opened.port, subprotocols=protocols, origin=Origin("https://evil.example"))
        assert foreign[0] == 403
        url = f"ws://127.0.0.1:{opened.port}"
        async with connect(url, subprotocols=protocols, origin=Origin("https://play.example")), opened.wire():
            assert len(opened.gateway.sessions) == 2


async def test_no_compression_is_agreed_to(opened: Gate) -> None:
    url = f"ws://127.0.0.1:{opened.port}"
    async with connect(url, subprotocols=[Subprotocol(SUBPROTOCOL)], compression="deflate") as connection:
        assert connection.protocol.extensions == []


async def test_connections_share_the_table_of_their_attributes_names(opened: Gate, ann: Wire) -> None:
    """CPython gives each instance a table of its own, a kilobyte and more, from the thirty-first name on."""
    (session,) = opened.gateway.sessions

    assert len(vars(session.connection)) <= 30
    assert not hasattr(session, "__dict__")


async def test_more_connections_than_allowed_are_asked_to_come_later() -> None:
    async with gate(Settings(data="", max_connections=1)) as opened, opened.wire():
        status, body = await refused_handshake(opened.port, subprotocols=[Subprotocol(SUBPROTOCOL)])

        assert (status, body) == (503, "hall-full\n")


async def http_status(port: int, method: str, path: str) -> tuple[int, bytes]:
    def request() -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        try:
            connection.request(method, path)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    return await asyncio.to_thread(request)


async def test_balancers_are_answered_on_the_same_port(opened: Gate) -> None:
    assert await http_status(opened.port, "GET", "/healthz") == (200, b"alive\n")
    assert await http_status(opened.port, "GET", "/readyz?x=1") == (200, b"ready\n")
    assert await http_status(opened.port, "HEAD", "/readyz") == (200, b"")
    assert (await http_status(opened.port, "GET", "/metrics"))[0] == 404
    assert (await http_status(opened.port, "DELETE", "/healthz"))[0] == 405
    assert (await http_status(opened.port, "GET", "/"))[0] == 426
    opened.house.health.draining = True
    assert await http_status(opened.port, "GET", "/readyz") == (503, b"draining\n")
    assert await http_status(opened.port, "GET", "/healthz") == (200, b"alive\n")
    assert (await refused_handshake(opened.port, subprotocols=[Subprotocol(SUBPROTOCOL)]))[0] == 503


# Frames that are no commands -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frame", "code", "command_id"),
    [
        ("hello", "not-json", None),
        ("{", "not-json", None),
        ("", "not-json", None),
        ("[]", "not-json", None),
        ('{"t":"act","id":"' + ID + '","at":NaN}', "not-json", None),
        ("[" * 4000, "not-json", None),
        ('{"t":"act","id":"' + ID + '","at":' + "[" * 3000, "not-json", None),
        (b'{"t":"list"}', "not-json", None),
        (b"\x00\xff", "not-json", None),
        ('{"t":"fly","id":"' + ID + '"}', "unknown-command", ID),
        ('{"t":"list"}', "bad-field", None),
        ('{"t":"list","id":"short.1"}', "bad-field", "short.1"),
        ('{"t":"list","id":"' + ID + '","colour":1}', "bad-field", ID),
        ('{"t":"act","id":"' + ID + '","action":"K7","at":-1}', "bad-field", ID),
        ('{"t":"act","id":"' + ID + '","action":"K7","at":1e400}', "bad-field", ID),
        ('{"t":"act","id":"' + ID + '","action":"K7","at":99999999999999999999}', "bad-field", ID),
        ('{"t":"join","id":"' + ID + '","code":"K7M2Q","name":"x"}', "bad-field", ID),
        ('{"t":"join","id":"' + ID + '","code":"K7M2Q\\n","name":"x"}', "bad-field", ID),
        ('{"t":"join","id":"' + ID + '","code":"K7M2QX","name":"\\ud800"}', "not-json", None),
    ],
)
async def test_what_is_no_command_is_refused_and_harms_nobody(
    opened: Gate, frame: str | bytes, code: str, command_id: str | None
) -> None:
    async with opened.wire() as wire:
        refusal = await wire.raw(frame)

        assert (refusal["code"], refusal["id"]) == (code, command_id)
        assert (await wire.ask("list"))["t"] == "accepted"
    assert opened.house.counted("fudaza_internal_errors_total") == 0


@pytest.mark.parametrize("size", [MAX_COMMAND_BYTES + 1, 10_000_000])
async def test_a_frame_that_is_too_large_closes_its_connection_at_its_first_bytes_and_disturbs_nobody(
    opened: Gate, ann: Wire, size: int
) -> None:
    async with opened.wire() as wire:
        frame = Frame(Opcode.TEXT, b"x" * size).serialize(mask=True)
        wire.socket.transport.write(frame[:1_000])
        assert await wire.closed() == 1009

    assert (await ann.ask("look"))["t"] == "accepted"


async def test_a_frame_of_exactly_the_limit_is_read(opened: Gate) -> None:
    async with opened.wire() as wire:
        command = json.dumps({"t": "list", "id": ID})
        refusal = await wire.raw(command + " " * (MAX_COMMAND_BYTES - len(command) - 1) + "x")
        assert refusal["code"] == "not-json"
        await wire.socket.send(command.ljust(MAX_COMMAND_BYTES))
        assert (await wire.until("accepted"))["rooms"] == []


async def test_endless_fragments_close_the_connection(opened: Gate, ann: Wire) -> None:
    async def endless() -> AsyncIterator[str]:
        while True:
            yield "x" * 512
            await asyncio.sleep(0)

    async with opened.wire() as wire:
        with pytest.raises(ConnectionClosed):
            await wire.socket.send(endless())
        assert await wire.closed() == 1009

    assert (await ann.ask("look"))["t"] == "accepted"


async def test_text_that_is_no_utf8_closes_the_connection(opened: Gate) -> None:
    async with opened.wire() as wire:
        await wire.socket.send(b'{"t":"\xff"}', text=True)
        assert await wire.closed() == 1007


async def test_too_many_bad_frames_close_the_connection(opened: Gate) -> None:
    async with opened.wire() as wire:
        for _ in range(20):
            assert (await wire.raw("nonsense"))["code"] == "not-json"
        assert (await wire.raw("nonsense"))["code"] == "not-json"
        assert await wire.closed() == 4004


async def test_commands_that_come_too_fast_are_refused_with_the_time_to_wait_and_taken_again_after_it() -> None:
    settings = Settings(data="", commands_per_second=10, command_burst=5)
    async with gate(settings) as opened, opened.wire() as wire:
        for _ in range(5):
            assert (await wire.ask("list"))["t"] == "accepted"

        refusal = await wire.ask("list")
        assert (refusal["code"], refusal["params"]) == ("too-fast", {"retry_ms": 101})
        opened.seconds += 0.1
        assert (await wire.ask("list"))["t"] == "accepted"


async def test_rooms_opened_too_fast_from_one_address_are_refused() -> None:
    async with gate(Settings(data="", rooms_per_minute=1)) as opened:
        async with opened.wire("one") as wire:
            assert (await wire.ask("create", game="duel", name="One"))["t"] == "accepted"
        async with opened.wire("two") as wire:
            assert (await wire.ask("create", game="duel", name="Two"))["code"] == "too-fast"
            opened.seconds += 60
            assert (await wire.ask("create", game="duel", name="Two"))["t"] == "accepted"


async def test_who_guesses_codes_is_slowed_down(opened: Gate, ann: Wire) -> None:
    async with opened.wire("guesser") as wire:
        for _ in range(30):
            assert (await wire.ask("join", code="AAAAAA", name="x"))["code"] == "unknown-room"
        assert (await wire.ask("watch", code="AAAAAA"))["code"] == "too-fast"
        assert (await wire.ask("join", code=ann.place["code"], name="x"))["code"] == "too-fast"
        opened.seconds += 2
        assert (await wire.ask("join", code=ann.place["code"], name="x"))["t"] == "accepted"


async def test_wrong_tokens_do_no_harm_to_the_rightful_person_even_from_the_same_address(
    opened: Gate, ann: Wire
) -> None:
    async with opened.wire("thief") as thief:
        for guess in range(50):
            answer = await thief.ask("resume", room=ann.place["room"], token=f"{guess:02}".rjust(43, "A"))
            assert answer["code"] == "bad-token"
    assert (await ann.ask("look"))["t"] == "accepted"
    assert all(message["t"] != "notice" for message in ann.heard)
    ann.socket.transport.abort()
    async with opened.wire("Ann again") as again:
        answer = await again.ask("resume", room=ann.place["room"], token=ann.place["token"])
        assert answer["place"]["seat"] == 0


# Commands --------------------------------------------------------------------------------------------------------


async def test_every_command_gets_exactly_one_answer(opened: Gate) -> None:
    async with opened.wire() as wire:
        commands: dict[str, dict[str, str | int]] = {
            "create": {"game": "poker", "name": "x"},
            "list": {},
            "join": {"code": "AAAAAA", "name": "x"},
            "watch": {"code": "AAAAAA"},
            "resume": {"room": "a" * 26, "token": "A" * 43},
            "move": {"seat": 1},
            "seat-ai": {"seat": 1},
            "clear-seat": {"seat": 1},
            "start": {},
            "contribute": {"value": "00" * 32},
            "act": {"action": "d1", "at": 1},
            "ready": {},
            "rematch": {},
            "leave": {},
            "look": {},
        }
        for command, fields in commands.items():
            await wire.socket.send(json.dumps({"t": command, "id": wire.client.id(), **fields}))
        answers = [await wire.hear() for _ in commands]
        assert (await wire.ask("list"))["t"] == "accepted", "nothing more was said"

    assert [answer["id"] for answer in answers] == [f"{wire.client.session}.{n}" for n in range(1, len(commands) + 1)]
    codes = [answer.get("code") for answer in answers]
    assert codes == ["unknown-game", None, *["unknown-room"] * 3, *["not-in-a-room"] * 10]


async def test_a_connection_is_in_one_room_at_a_time(opened: Gate, ann: Wire) -> None:
    async with opened.wire("Bob") as bob:
        assert (await bob.ask("create", game="duel", name="Bob"))["t"] == "accepted"

        assert (await bob.ask("join", code=ann.place["code"], name="Bob"))["code"] == "already-in-a-room"
        assert (await bob.ask("watch", code=ann.place["code"]))["code"] == "already-in-a-room"
        assert (await bob.ask("create", game="duel", name="Bob"))["code"] == "already-in-a-room"
        assert (await bob.ask("leave"))["t"] == "accepted"
        assert (await bob.ask("look"))["code"] == "not-in-a-room"
        assert (await bob.ask("join", code=ann.place["code"], name="Bob"))["t"] == "accepted"


async def test_a_double_click_on_join_sits_down_once_and_is_answered_alike_twice(opened: Gate, ann: Wire) -> None:
    async with opened.wire("Bob") as bob:
        command = bob.client.id()
        fields = {"code": ann.place["code"], "name": "Bob"}

        first = await bob.ask("join", id=command, **fields)
        second = await bob.ask("join", id=command, **fields)

        assert first == second
        assert (await bob.ask("look"))["t"] == "accepted"
        snapshot = await bob.until("snapshot")
        assert [seat["kind"] for seat in snapshot["seats"]] == ["person", "person"]


async def test_a_taken_seat_an_unknown_room_and_a_wrong_seat_are_refused_with_what_is_possible(
    opened: Gate, ann: Wire
) -> None:
    async with opened.wire("Bob") as bob:
        taken = await bob.ask("join", code=ann.place["code"], name="Bob", seat=0)
        assert (taken["code"], taken["params"]) == ("seat-taken", {"seat": 0, "free": ["1"]})
        absent = await bob.ask("join", code=ann.place["code"], name="Bob", seat=9)
        assert (absent["code"], absent["params"]) == ("no-such-seat", {"seats": 2})
        assert (await bob.ask("join", code="ZZZZZZ", name="Bob"))["code"] == "unknown-room"


async def test_moves_out_of_turn_illegal_and_stale_are_refused_and_the_game_goes_on(opened: Gate, ann: Wire) -> None:
    async with opened.wire("Bob") as bob:
        await bob.ask("join", code=ann.place["code"], name="Bob")
        assert (await bob.ask("start"))["code"] == "only-the-host"
        assert (await bob.ask("act", action="d1", at=1))["code"] == "not-now"
        await ann.ask("start", level="easy")
        for wire in (ann, bob):
            assert (await wire.ask("contribute", value="ab" * 32))["t"] == "accepted"
        host = next(iter(opened.house.hall.hosts.values()))
        await host.fire()
        turn = await ann.until("turn")
        assert turn["sealed"]

        assert (await ann.ask("act", action="d9", at=turn["at"]))["code"] == "malformed-action"
        assert (await ann.ask("act", action="d1", at=turn["at"]))["code"] == "not-in-this-phase"
        assert (await ann.ask("act", action="single", at=turn["at"] - 1))["code"] == "stale"
        sealed = await ann.ask("act", action="single", at=turn["at"])
        assert sealed == {"t": "accepted", "id": sealed["id"]}
        assert (await ann.ask("act", action="single", at=turn["at"]))["code"] == "already-answered"


async def test_a_watcher_sees_and_cannot_play(opened: Gate, ann: Wire) -> None:
    async with opened.wire("Eve") as eve:
        answer = await eve.ask("watch", code=ann.place["code"].lower())
        assert answer["place"] == {"room": ann.place["room"], "code": ann.place["code"], "seat": None, "token": None}
        assert (await eve.until("snapshot"))["you"] is None
        assert (await eve.ask("start"))["code"] == "spectators-only-watch"
        assert (await eve.ask("leave"))["t"] == "accepted"


async def test_public_rooms_are_listed(opened: Gate, ann: Wire) -> None:
    await opened.house.keeper.flush()

    (room,) = (await ann.ask("list"))["rooms"]

    assert (room["code"], room["game"], room["host"], room["open"]) == (ann.place["code"], "duel", "Ann", [1])
    assert (await ann.ask("list", game="poker"))["params"] == {"game": "poker", "known": ["duel"]}


async def test_an_unreachable_and_a_full_store_are_told_and_nothing_is_half_done(opened: Gate, ann: Wire) -> None:
    memory = opened.house.memory
    memory.available = False
    assert (await ann.ask("start"))["code"] == "store-unavailable"
    memory.available = True
    memory.full = True
    assert (await ann.ask("start"))["code"] == "store-full"
    memory.full = False

    command = ann.client.id()
    assert (await ann.ask("start", id=command))["t"] == "accepted"
    assert (await ann.ask("start", id=command))["t"] == "accepted", "the same command again is the same command"
    assert (await ann.ask("start"))["code"] == "not-now"


async def test_a_fault_of_ours_is_answered_and_ends_nothing_else(
    opened: Gate, ann: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret 03b")

    with monkeypatch.context() as patch:
        patch.setattr("server.host.rooms.decide", broken)
        refusal = await ann.ask("start")
    assert refusal == {"t": "refused", "id": refusal["id"], "code": "internal", "params": {}}
    assert opened.house.counted("fudaza_internal_errors_total") == 1
    assert (await ann.ask("start"))["t"] == "accepted"


async def test_a_store_full_at_the_opening_of_a_room_leaves_nothing_behind(
    opened: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        await asyncio.sleep(0)
        raise StoreFull

    async with opened.wire() as wire:
        command = wire.client.id()
        with monkeypatch.context() as patch:
            patch.setattr(opened.house.memory, "append", full)
            assert (await wire.ask("create", id=command, game="duel", name="x"))["code"] == "store-full"
        assert not opened.house.hall.hosts
        assert (await wire.ask("create", id=command, game="duel", name="x"))["t"] == "accepted"
