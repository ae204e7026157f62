"""``fudaza bench``: its arithmetic, its rooms and its connections, without a server and without time."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from websockets.frames import Close, Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import Protocol as Decoder
from websockets.protocol import Side
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from clients.cli.bench import command, processes, report
from clients.cli.bench.figures import Schedule, Spread, percentile, spread_of
from clients.cli.bench.line import Line, Refused
from clients.cli.bench.load import CannotLoad, Stage
from clients.cli.bench.plot import plot
from clients.cli.bench.report import (
    Arrivals,
    Discarded,
    Generator,
    Load,
    Measured,
    Processor,
    Report,
    Second,
    Stored,
    Traffic,
    faults_of,
)
from clients.cli.bench.room import Player, Room, Tally
from protocol.codec import decode_command, encode
from protocol.messages import Accepted, Act, AnyCommand, Contribute, Create, Look, Place, RefusedMessage, Start, Turn

LOAD = Load(game="koi-koi", rooms=2, idle=0, persons=2, ai=0, rate=None, seconds=2.0, storm=False)
AT_RATE = Load(game="koi-koi", rooms=2, idle=0, persons=2, ai=0, rate=10.0, seconds=2.0, storm=False)
CALM = Generator(busy=0.3, ran=0.2, late_ms=1.0)


# Percentiles and due times ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "value"), [(0.0, 15), (0.05, 15), (0.3, 20), (0.4, 20), (0.5, 35), (0.99, 50), (1.0, 50)]
)
def test_a_percentile_is_the_nearest_rank(share: float, value: float) -> None:
    assert percentile([15, 20, 35, 40, 50], share) == value


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0.001, 1.0))
def test_so_large_a_share_is_not_above_the_percentile_and_a_smaller_value_would_not_do(
    values: list[float], share: float
) -> None:
    ordered = sorted(values)
    found = percentile(ordered, share)
    assert sum(value <= found for value in ordered) >= share * len(ordered)
    assert sum(value < found for value in ordered) < share * len(ordered)


def test_a_spread_is_in_milliseconds_and_nothing_has_none() -> None:
    assert spread_of([]) is None
    seconds = [number / 1000 for number in range(1, 101)]
    Random(1).shuffle(seconds)
    found = spread_of(seconds)
    assert found is not None
    assert (found.count, found.p50, found.p90, found.p99, found.max) == pytest.approx((100, 50, 90, 99, 100))


def test_moves_are_due_at_fixed_times_whatever_happens() -> None:
    schedule = Schedule(10.0, 0.5)
    assert [schedule.take() for _ in range(4)] == [10.0, 10.5, 11.0, 11.5]
    assert schedule.missed(13.6) == [12.0, 12.5, 13.0, 13.5]
    assert schedule.missed(12.0) == []


def test_the_schedule_stands_while_the_rules_let_nobody_move() -> None:
    schedule = Schedule(10.0, 1.0)
    schedule.pause(10.25)
    schedule.pause(11.0)  # a second word about the same pause changes nothing
    assert schedule.missed(20.0) == [10.0], "what was due before stays late"
    schedule.go_on(12.25)
    schedule.go_on(13.0)
    assert [schedule.take(), schedule.take()] == [12.0, 13.0]


# A room -----------------------------------------------------------------------------------------------------------


class FakeLine(Line):
    """Keeps what is sent."""

    def __init__(self) -> None:
        super().__init__("nowhere", Random(1))
        self.commands: list[AnyCommand] = []

    def send(self, payload: bytes) -> None:
        self.commands.append(decode_command(payload))


class Clock:
    """Time that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Table:
    """A room of two with everything around it faked."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.tally = Tally(self.clock)
        self.tally.running = True
        self.lines = (FakeLine(), FakeLine())
        players = [Player(line, Random(1)) for line in self.lines]
        self.room = Room(players, self.tally)
        for player in players:
            player.room = self.room

    def tell(self, seat: int, message: Any) -> None:
        self.lines[seat].take(encode(message))

    def happen(self, seat: int, first: int, *kinds: str, **fields: str) -> None:
        events = [{"e": kind, **fields} for kind in kinds]
        self.lines[seat].take(json.dumps({"t": "events", "first": first, "events": events}).encode())

    def play(self, seat: int, at: int) -> None:
        """Ask a seat, and show everybody its move at once."""
        self.tell(seat, Turn(at=at, legal=("01r",)))
        self.happen(0, at + 1, "played")
        self.happen(1, at + 1, "played")

    def sent(self, seat: int, kind: type[AnyCommand]) -> list[Any]:
        return [one for one in self.lines[seat].commands if isinstance(one, kind)]


@pytest.fixture
async def table() -> Table:
    return Table()


async def test_a_move_has_arrived_when_the_last_seat_has_it(table: Table) -> None:
    table.room.start(None, 0.0)
    table.tell(0, Turn(at=7, legal=("03b",)))
    assert [(act.action, act.at) for act in table.sent(0, Act)] == [("03b", 7)]
    table.clock.now += 0.25
    table.happen(0, 8, "played")
    assert table.room.in_flight
    assert table.tally.took == []
    table.clock.now += 0.5
    table.happen(1, 8, "played")
    assert not table.room.in_flight
    assert table.tally.took == [0.75]
    assert table.tally.ended == [100.75]


async def test_a_stall_of_the_server_counts_for_every_move_that_was_due_meanwhile(table: Table) -> None:
    table.room.start(100.0, 0.1)
    table.tell(0, Turn(at=1, legal=("01r",)))  # due at 100.0, sent, and then the server stalls for a second
    table.clock.now = 101.0
    table.happen(0, 2, "played")
    table.happen(1, 2, "played")
    for at in range(2, 12):  # due at 100.1 to 101.0, all made as soon as possible
        table.play(at % 2, at)
    assert table.tally.took == pytest.approx([1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0])


async def test_without_a_rate_a_stall_counts_once(table: Table) -> None:
    table.room.start(None, 0.0)
    table.tell(0, Turn(at=1, legal=("01r",)))
    table.clock.now = 101.0
    table.happen(0, 2, "played")
    table.happen(1, 2, "played")
    table.play(1, 2)
    assert table.tally.took == [1.0, 0.0]


async def test_what_our_own_timer_is_late_is_not_the_servers_fault(table: Table) -> None:
    table.tally.running = False
    table.tell(0, Turn(at=1, legal=("01r",)))  # it could be made at 100.0
    table.clock.now, table.tally.running = 100.3, True
    table.room.start(100.1, 0.1)  # due at 100.1, but we only come to it now
    table.happen(0, 2, "played")
    table.happen(1, 2, "played")
    assert table.tally.took == [0.0]


async def test_moves_that_never_come_have_waited_since_they_were_due(table: Table) -> None:
    table.room.start(100.0, 0.5)
    table.tell(0, Turn(at=1, legal=("01r",)))
    assert table.room.waiting(102.0) == [100.0, 100.5, 101.0, 101.5]


async def test_nobody_moves_before_the_start_and_after_the_end(table: Table) -> None:
    table.tally.running = False
    table.tell(0, Turn(at=1, legal=("01r",)))
    assert not table.sent(0, Act)
    table.tally.running = True
    table.room.start(None, 0.0)
    assert len(table.sent(0, Act)) == 1
    table.tally.running = False
    table.tell(1, Turn(at=2, legal=("01r",)))
    assert not table.sent(1, Act)


async def test_an_idle_room_stands_still(table: Table) -> None:
    table.room.idle = True
    table.tell(0, Turn(at=1, legal=("01r",)))
    assert table.room.dealt.done()
    assert not table.lines[0].commands


async def test_sealed_answers_are_given_at_once_and_are_no_moves(table: Table) -> None:
    table.room.start(200.0, 1.0)
    table.tell(1, Turn(at=3, legal=("pass",), sealed=True))
    assert len(table.sent(1, Act)) == 1
    assert table.tally.answers == 1
    assert not table.room.in_flight


async def test_moves_of_ai_are_counted_apart_and_what_the_room_does_is_none(table: Table) -> None:
    table.room.start(None, 0.0)
    for seat in (0, 1):
        table.happen(seat, 5, "played", "turn-began")
        table.happen(seat, 7, "deal-began", "dealt")
        table.happen(seat, 9, "seat-ready")
    assert table.tally.ai_moves == 1
    assert table.tally.took == []


async def test_a_match_goes_on_and_another_begins(table: Table) -> None:
    for seat in (0, 1):
        table.happen(seat, 1, "match-opened")
        table.happen(seat, 5, "played", "deal-ended", reason="stop")
        table.happen(seat, 9, "played", "deal-ended", "match-ended", reason="stop")
    for seat in (0, 1):
        assert len(table.sent(seat, Contribute)) == 1
        assert len([one for one in table.lines[seat].commands if type(one).__name__ == "Ready"]) == 1
    assert [type(one).__name__ for one in table.lines[0].commands[-2:]] == ["Rematch", "Start"]
    assert not table.sent(1, Start)


async def test_a_redeal_comes_by_itself(table: Table) -> None:
    table.happen(0, 5, "deal-ended", reason="redeal")
    assert not table.lines[0].commands


async def test_who_was_refused_a_move_looks_where_the_room_stands(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    later: list[Any] = []
    monkeypatch.setattr(
        asyncio.get_running_loop(), "call_later", lambda _wait, call, *args: later.append((call, args)), raising=False
    )
    table.room.start(None, 0.0)
    table.tell(0, RefusedMessage(id="somebody-elses.1", code="not-now"))
    assert not later
    table.tell(0, Turn(at=1, legal=("01r",)))
    table.tell(0, RefusedMessage(id=table.sent(0, Act)[0].id, code="too-fast"))
    assert table.tally.refused == {"not-now": 1, "too-fast": 1}
    for call, args in later:
        call(*args)
    assert len(table.sent(0, Look)) == 1


async def test_who_waits_for_an_answer_learns_that_the_connection_has_ended(table: Table) -> None:
    player = table.room.players[0]
    asked = asyncio.ensure_future(player.sit_down(Create, game="koi-koi", name="bench"))
    await asyncio.sleep(0)
    table.lines[0].connection_lost(None)
    with pytest.raises(ConnectionResetError):
        await asked
    assert table.tally.lost.total() == 1
    table.lines[0].opened.exception()


async def test_who_comes_back_brings_their_token_and_the_last_number(table: Table) -> None:
    player = table.room.players[0]
    asked = asyncio.ensure_future(player.sit_down(Create, game="koi-koi", name="bench"))
    await asyncio.sleep(0)
    place = Place(room="a" * 26, code="ABC123", seat=0, token="t" * 43)
    table.tell(0, Accepted(id=table.lines[0].commands[-1].id, place=place))
    assert await asked == "ABC123"
    table.happen(0, 4, "dealt", "turn-began")
    line = FakeLine()
    back = asyncio.ensure_future(player.come_back(line))
    await asyncio.sleep(0)
    resume: Any = line.commands[0]
    assert (resume.room, resume.token, resume.after) == (place.room, place.token, 5)
    line.take(encode(Accepted(id=resume.id, place=Place(room="a" * 26, code="ABC123", seat=0, token="u" * 43))))
    await back


# A connection -----------------------------------------------------------------------------------------------------


class FakeTransport(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.ended = False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def close(self) -> None:
        self.ended = True

    def abort(self) -> None:
        self.ended = True


def upgraded(head: bytes) -> bytes:
    """A server's answer to an opening handshake."""
    server = ServerProtocol(subprotocols=[Subprotocol("fudaza.1")])
    server.receive_data(head)
    (request,) = server.events_received()
    assert isinstance(request, Request)
    assert request.headers["Host"] == "here:1"
    server.send_response(server.accept(request))
    return b"".join(server.data_to_send())


def frame(kind: Opcode, data: bytes) -> bytes:
    return Frame(kind, data).serialize(mask=False)


def opened() -> tuple[Line, FakeTransport, list[bytes]]:
    """A connection that was made, what it writes, and the text frames it has taken."""
    line, transport = Line("here:1", Random(1)), FakeTransport()
    line.connection_made(transport)
    taken: list[bytes] = []
    line.take = taken.append
    head, transport.written = transport.written, b""
    line.data_received(upgraded(head) + frame(Opcode.TEXT, b"welcome"))
    return line, transport, taken


def frames_in(data: bytes) -> list[Frame]:
    """What a server reads."""
    decoder = Decoder(Side.SERVER)
    decoder.receive_data(data)
    return [event for event in decoder.events_received() if isinstance(event, Frame)]


@given(st.lists(st.sampled_from((b"", b"a", b"b" * 125, b"c" * 126, b"d" * 65_536)), max_size=4), st.randoms())
def test_frames_are_the_same_however_they_arrive(payloads: list[bytes], rng: Random) -> None:
    async def received() -> list[bytes]:
        line, _transport, taken = opened()
        stream = b"".join(frame(Opcode.TEXT, payload) for payload in payloads)
        before = line.received
        while stream:
            size = rng.choice((1, 2, 3, 100, 70_000))
            line.data_received(stream[:size])
            stream = stream[size:]
        assert line.received - before == sum(len(frame(Opcode.TEXT, payload)) for payload in payloads)
        return taken

    assert asyncio.run(received()) == payloads


async def test_the_welcome_opens_the_connection_and_is_not_taken() -> None:
    line, _transport, taken = opened()
    assert line.opened.done()
    assert taken == []


@pytest.mark.parametrize("payload", [b"{}", b"x" * 125, b"x" * 126, b"x" * 4096])
async def test_what_is_sent_a_server_can_read(payload: bytes) -> None:
    line, transport, _taken = opened()
    before = line.sent
    line.send(payload)
    line.send(payload)
    assert [(each.opcode, each.data) for each in frames_in(transport.written)] == [(Opcode.TEXT, payload)] * 2
    assert line.sent - before == len(transport.written)


async def test_a_ping_is_answered_with_what_it_brought() -> None:
    line, transport, _taken = opened()
    line.data_received(frame(Opcode.PING, b"1234") + frame(Opcode.PONG, b""))
    assert [(each.opcode, each.data) for each in frames_in(transport.written)] == [(Opcode.PONG, b"1234")]


async def test_a_close_is_answered_and_its_code_told() -> None:
    line, transport, _taken = opened()
    codes: list[int | None] = []
    line.lost = codes.append
    line.data_received(frame(Opcode.CLOSE, Close(1012, "restart").serialize()))
    assert transport.ended
    line.connection_lost(None)
    assert codes == [1012]
    line.send(b"too late")
    assert [each.opcode for each in frames_in(transport.written)] == [Opcode.CLOSE]


async def test_a_connection_that_we_end_is_not_lost() -> None:
    line, transport, _taken = opened()
    codes: list[int | None] = []
    line.lost = codes.append
    line.abort()
    assert transport.ended
    line.connection_lost(None)
    assert codes == []


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 503 Service Unavailable\r\n\r\n", b"HTTP/1.1 101 Go\r\nSec-WebSocket-Accept: nonsense\r\n\r\n"],
)
async def test_who_is_not_let_in_is_told(answer: bytes) -> None:
    line, transport = Line("here:1", Random(1)), FakeTransport()
    line.connection_made(transport)
    for byte in answer:
        line.data_received(bytes((byte,)))
    with pytest.raises(Refused, match=r"HTTP/1\.1"):
        await line.opened
    assert transport.ended


async def test_the_handshake_is_one_that_a_server_takes_for_our_protocol() -> None:
    transport = FakeTransport()
    Line("here:1", Random(1)).connection_made(transport)
    answer = upgraded(transport.written)
    assert answer.startswith(b"HTTP/1.1 101 ")
    assert b"Sec-WebSocket-Protocol: fudaza.1\r\n" in answer


# What a run is worth ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("load", "generator", "moves", "faults"),
    [
        (LOAD, CALM, 5, ()),
        (LOAD, Generator(busy=0.95, ran=0.5, late_ms=1.0), 5, (Discarded.GENERATOR_BUSY,)),
        (LOAD, Generator(busy=0.5, ran=0.5, late_ms=80.0), 5, ()),  # it has no schedule to keep
        (AT_RATE, Generator(busy=0.5, ran=0.5, late_ms=80.0), 5, (Discarded.GENERATOR_LATE,)),
        (LOAD, CALM, 0, (Discarded.NOTHING_MOVED,)),
    ],
)
def test_a_run_is_discarded_where_the_load_was_the_bottleneck(
    load: Load, generator: Generator, moves: int, faults: Sequence[Discarded]
) -> None:
    assert faults_of(load, generator, moves) == faults


def test_every_reason_to_discard_has_words() -> None:
    assert set(command._DISCARDED) == set(Discarded)
    assert set(command._STAGES) == set(Stage)


def sample(*discarded: Discarded) -> Report:
    spread = Spread(4, 1.0, 2.0, 3.0, 4.0)
    measured = Measured(
        moves=20,
        moves_per_second=10.0,
        ai_moves=0,
        answers=0,
        took_ms=spread,
        unfinished=1,
        processor=Processor(server_us=400, store_us=30, ai_us=0, server_share=0.5, store_share=0.1, ai_share=0.0),
        traffic=Traffic(received=800, sent=90),
        stored=Stored(memory=300, disk=700),
        refused={"too-fast": 2},
        lost=0,
        each_second=(Second(9, 1.0, 3.0), Second(11, 1.5, 3.5)),
    )
    return Report(
        load=LOAD,
        start_ms=500.0,
        connecting=Arrivals(per_second=100.0, took_ms=spread, server_us=500.0, failed=0),
        returning=Arrivals(per_second=50.0, took_ms=spread, server_us=900.0, failed=3),
        memory=None,
        generator=CALM,
        discarded=discarded,
        measured=None if discarded else measured,
    )


def test_a_plot_has_a_curve_of_moves_and_two_of_times() -> None:
    drawn = ET.fromstring(plot(LOAD, sample().measured or pytest.fail("nothing measured")))  # noqa: S314 - ours
    curves = [each for each in drawn.iter() if each.tag.endswith("polyline")]
    assert [len(each.attrib["points"].split()) for each in curves] == [2, 2, 2]


@pytest.mark.parametrize("seconds", [(), (Second(0, 0, 0),)])
def test_nothing_that_moved_is_plotted_as_nothing(seconds: tuple[Second, ...]) -> None:
    measured = replace(sample().measured or pytest.fail("nothing measured"), each_second=seconds)
    drawn = ET.fromstring(plot(LOAD, measured))  # noqa: S314 - ours
    assert sum(each.tag.endswith("polyline") for each in drawn.iter()) == 3


def test_the_results_say_what_was_measured() -> None:
    text = "\n".join(command._lines(sample()))
    for said in ("moves a second               10", "server 400 µs", "received 800", "too-fast 2", "50/s", "500 ms"):
        assert said in text


def faked(monkeypatch: pytest.MonkeyPatch, outcome: Report | Exception) -> None:
    async def measured(*_arguments: object, **_named: object) -> Report:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(command, "_measured", measured)


def test_a_discarded_run_says_why_gives_no_figures_and_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    faked(monkeypatch, sample(Discarded.GENERATOR_BUSY))
    picture = tmp_path / "out.svg"
    ran = CliRunner().invoke(command.bench, ["127.0.0.1:1", "--plot", str(picture)])
    assert ran.exit_code == 1
    assert "the load generator itself was the bottleneck" in ran.output
    assert "moves a second" not in ran.output
    assert picture.read_text() == ""
    ran = CliRunner().invoke(command.bench, ["127.0.0.1:1", "--json"])
    told = json.loads(ran.output)
    assert (told["discarded"], told["measured"]) == (["generator-busy"], None)
    assert ran.exit_code == 1


def test_the_results_as_json_say_what_they_depend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    faked(monkeypatch, sample())
    ran = CliRunner().invoke(command.bench, ["127.0.0.1:1", "--json"])
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.output)
    assert told["measured"]["processor"]["server_us"] == 400
    assert told["load"]["rooms"] == 2
    assert {"version", "python", "system", "processors", "pinned"} <= set(told)


def test_what_stands_in_the_way_of_a_load_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    faked(monkeypatch, CannotLoad("HTTP/1.1 503"))
    ran = CliRunner().invoke(command.bench, ["127.0.0.1:1"])
    assert ran.exit_code == 1
    assert "The load cannot be made: HTTP/1.1 503" in ran.output


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "A server's address"),
        (("127.0.0.1:1", "example.org:2"), "another machine"),
        (("not an address",), "no server address"),
        (("example.org:1",), "another machine"),
        (("192.0.2.7:1",), "another machine"),
        (("127.0.0.1:1", "--pin"), "--pin needs --serve"),
        (("127.0.0.1:1", "--ai", "2"), "Somebody has to play"),
        (("127.0.0.1:1", "--rooms", "0"), "At least one room"),
        (("127.0.0.1:1", "-o", "deals=4"), "deals"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is_done(
    arguments: tuple[str, ...], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    faked(monkeypatch, AssertionError("something was done"))
    ran = CliRunner().invoke(command.bench, arguments)
    assert ran.exit_code == 2
    assert why in ran.output


def test_a_server_behind_tls_is_not_dialled_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    faked(monkeypatch, AssertionError("something was done"))
    ran = CliRunner().invoke(command.bench, ["127.0.0.1:1", "wss://127.0.0.1:1"])
    assert ran.exit_code == 2
    assert "name the server by ws://, not by wss://" in " ".join(ran.output.split())


@pytest.mark.parametrize("url", ["127.0.0.1:1", "localhost:1", "[::1]:1"])
def test_this_machine_needs_no_leave(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    faked(monkeypatch, sample())
    assert CliRunner().invoke(command.bench, [url]).exit_code == 0


def test_another_machine_is_loaded_when_it_is_said_to_be_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    faked(monkeypatch, sample())
    assert CliRunner().invoke(command.bench, ["192.0.2.7:1", "--remote"]).exit_code == 0


# The accounts of the machine --------------------------------------------------------------------------------------


@pytest.mark.skipif(not processes.KNOWN, reason="accounts of processes are read on Linux alone")
def test_a_process_has_used_what_the_system_says() -> None:
    before, ticks = processes.used(os.getpid()), os.times()
    while os.times().user - ticks.user < 0.1:  # a tenth of a second of work
        sum(range(1000))
    after = processes.used(os.getpid())
    assert before is not None
    assert after is not None
    assert after.cpu - before.cpu >= 0.1 - 0.02
    assert after.resident > 1_000_000


def test_of_a_process_that_is_not_there_nothing_is_known() -> None:
    assert processes.used(2**22 + 1) is None
    assert processes.children(2**22 + 1) == []


def test_ones_own_time_grows_with_work() -> None:
    before, began = processes.own_time(), time.process_time()
    while time.process_time() - began < 0.05:
        sum(range(1000))
    assert processes.own_time().since(before) >= 0.04


def test_away_from_linux_nothing_is_known_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "KNOWN", False)
    assert processes.used(os.getpid()) is None
    assert processes.cores() == []


def test_the_shape_of_the_report_can_be_read_again() -> None:
    import msgspec

    again = msgspec.json.decode(msgspec.json.encode(sample()), type=report.Report)
    assert again == sample()
