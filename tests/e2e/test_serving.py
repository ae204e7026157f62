"""The server as a real process with a real store: whole matches, SIGKILL in the middle, orderly ends, refusals."""

from __future__ import annotations

import asyncio
import http.client
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from engine.registry import GAMES
from protocol.messages import Accepted, Look, RefusedMessage, Start
from tests.e2e.client import Player
from tests.e2e.serverprocess import QUICK, ServerProcess
from tests.stores import StoreServer, free_port

Starting = Callable[..., Awaitable[ServerProcess]]


@pytest_asyncio.fixture
async def start(tmp_path: Path) -> AsyncIterator[Starting]:
    """Start a server; each of a test's servers has a directory of its own."""
    servers: list[ServerProcess] = []

    async def run(*flags: str, **options: Any) -> ServerProcess:
        directory = tmp_path / f"server-{len(servers)}"
        directory.mkdir()
        servers.append(ServerProcess(directory, *QUICK, *flags, **options))
        await servers[-1].start()
        return servers[-1]

    yield run
    for server in servers:
        await server.close()


def tags(player: Player, since: int) -> list[tuple[int, str]]:
    return [(number, event["e"]) for number, event in player.events.items() if number >= since]


def assert_same_story(one: Player, other: Player) -> None:
    """Both were told the same, each number once, up to the same result."""
    since = max(one.first, other.first)
    assert tags(one, since) == tags(other, since)
    assert one.result == other.result
    for player in (one, other):
        assert sorted(player.events) == list(range(player.first, player.number + 1))


async def get(port: int, path: str) -> tuple[int, str]:
    """Status and body of a plain HTTP request."""

    def request() -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    return await asyncio.to_thread(request)


async def told(port: int, path: str, answer: tuple[int, str]) -> None:
    """Ask until this is the answer, slowly enough for an address's share of connections."""
    async with asyncio.timeout(20):
        while await get(port, path) != answer:  # noqa: ASYNC110 - another process cannot set our event
            await asyncio.sleep(0.03)


async def sit_together(server: ServerProcess, game: str, **options: str | int) -> tuple[Player, Player]:
    """Two people at one table, on different sides, AI in all other seats; the match is starting."""
    ann = Player(lambda: server.port, "Ann", seed=1)
    bob = Player(lambda: server.port, "Bob", seed=2)
    code = await ann.sit(game, **options)
    await bob.join(code, seat=1)
    await ann.start()
    return ann, bob


# Whole matches ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", sorted(GAMES))
async def test_two_people_play_a_whole_match_of_every_game_with_ai_in_the_other_seats(
    start: Starting, game: str
) -> None:
    server = await start()
    ann, bob = await sit_together(server, game)

    await asyncio.gather(ann.play(), bob.play())

    assert_same_story(ann, bob)
    assert ann.resumed == bob.resumed == 0
    assert not server.lines("ai-fault")
    assert not server.lines("ai-illegal")
    assert "Traceback" not in server.errors()


async def test_people_play_on_a_redis_by_url(start: Starting, valkey: StoreServer) -> None:
    server = await start("--redis", valkey.tcp_url)
    ann, bob = await sit_together(server, "koi-koi", deals=3)

    await asyncio.gather(ann.play(), bob.play())

    assert_same_story(ann, bob)
    assert not (server.directory / "data").exists()


async def test_a_full_store_is_told_and_when_it_has_room_again_play_goes_on(
    start: Starting, valkey: StoreServer
) -> None:
    server = await start("--redis", valkey.tcp_url)
    ann = Player(lambda: server.port, "Ann")
    await ann.sit("koi-koi")

    assert valkey.ask("CONFIG", "SET", "maxmemory", "1") == b"+OK\r\n"
    answer = await ann.ask(Start(id=ann.next_id()))
    assert isinstance(answer, RefusedMessage)
    assert answer.code == "store-full"
    await told(server.port, "/readyz", (503, "store-full\n"))
    assert valkey.ask("CONFIG", "SET", "maxmemory", "0") == b"+OK\r\n"
    await ann.start()
    await ann.play()

    assert ann.result is not None
    await told(server.port, "/readyz", (200, "ready\n"))


# SIGKILL ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["koi-koi", "hachinin-meri"])
async def test_a_server_killed_in_the_middle_of_a_match_goes_on_after_it_without_a_lost_or_doubled_move(
    start: Starting, game: str
) -> None:
    server = await start()
    ann, bob = await sit_together(server, game, deals=max(map(int, GAMES[game].options["deals"])))
    playing = asyncio.gather(ann.play(), bob.play())

    for kills in range(1, 4):
        goal = ann.number + 15
        await ann.until(lambda goal=goal: ann.number >= goal or ann.result is not None)  # type: ignore[misc]
        assert ann.result is None, "the match was over before the server could be killed"
        await server.kill()
        await server.start()
        for player in (ann, bob):
            await player.until(lambda player=player, kills=kills: player.resumed >= kills)  # type: ignore[misc]

    await playing
    assert_same_story(ann, bob)
    for player in (ann, bob):
        numbers = [answer.at for answer in player.accepted.values() if answer.at is not None]
        assert all(number <= player.number for number in numbers), "an accepted move is nowhere to be seen"
    assert "Traceback" not in server.errors()


async def test_two_nodes_serve_one_room_and_when_one_is_killed_the_other_goes_on(
    start: Starting, valkey: StoreServer
) -> None:
    first = await start("--redis", valkey.tcp_url)
    second = await start("--redis", valkey.tcp_url)
    home = {"Ann": first}
    ann = Player(lambda: home["Ann"].port, "Ann", seed=1)
    bob = Player(lambda: second.port, "Bob", seed=2)
    await bob.join(await ann.sit("hachinin-meri", deals=8), seat=1)
    await ann.start()
    playing = asyncio.gather(ann.play(), bob.play())
    await ann.until(lambda: ann.number > 60)

    await first.kill()
    home["Ann"] = second
    await playing

    assert ann.resumed
    assert not bob.resumed
    assert_same_story(ann, bob)
    assert "Traceback" not in second.errors()


async def test_a_room_that_nobody_watches_goes_on_after_a_kill_to_its_end(start: Starting) -> None:
    server = await start("--timing", "pause_ms=0,redeal_ms=0,question_ms=100,grace_ms=50,contributions_ms=50")
    ann = Player(lambda: server.port, "Ann")
    code = await ann.sit("hachinin-meri", deals=8)
    await ann.start()
    await ann.expect(Accepted)
    await server.kill()

    await server.start()
    eve = Player(lambda: server.port, "Eve")
    await eve.watch(code)
    await eve.play()

    assert eve.result is not None
    assert "stand-in" in {event["e"] for event in eve.events.values()}
    assert sorted(eve.events) == list(range(eve.first, eve.number + 1))


# Ends in order ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_server_in_order_and_tells_everybody_to_come_again(
    start: Starting, number: signal.Signals
) -> None:
    server = await start()
    ann, bob = await sit_together(server, "hachinin-meri")
    closes = asyncio.gather(ann.close_code(), bob.close_code())
    await asyncio.sleep(0)

    server.signal(number)

    assert set(await closes) == {1012}
    assert await server.ended() == 0
    assert ann.notices == bob.notices == ["draining"]
    assert "Traceback" not in server.errors()
    await server.start()
    await asyncio.gather(ann._come_back(), bob._come_back())
    await asyncio.gather(ann.play(), bob.play())
    assert_same_story(ann, bob)


async def test_a_server_that_ends_when_it_is_empty_does_so_after_its_last_guest(start: Starting) -> None:
    server = await start("--exit-when-empty", "0.1")
    ann, bob = await sit_together(server, "koi-koi")

    await ann.leave_the_room()
    await bob.leave_the_room()

    assert await server.ended() == 0


async def test_metrics_are_served_on_a_port_of_their_own(start: Starting) -> None:
    port = free_port()
    server = await start("--metrics-port", str(port))
    ann, bob = await sit_together(server, "koi-koi")
    await asyncio.gather(ann.play(), bob.play())

    _, metrics = await get(port, "/metrics")
    assert 'fudaza_commands_total{command="create",outcome="accepted"} 1.0' in metrics
    assert "fudaza_connections 2.0" in metrics


async def test_what_is_logged_holds_no_token_no_card_and_no_seed(start: Starting) -> None:
    server = await start("--log-level", "debug")
    ann, bob = await sit_together(server, "koi-koi")
    await asyncio.gather(ann.play(), bob.play())
    server.signal(signal.SIGTERM)
    await server.ended()

    logged = server.errors()
    secrets = [place.token for place in (ann.place, bob.place) if place and place.token]
    seeds = [event["seed"] for event in ann.events.values() if event["e"] == "seed-revealed"]
    assert len(secrets) == 2
    assert seeds
    for secret in (*secrets, *seeds):
        assert secret not in logged
    words = {word.strip('",:{}') for line in server.lines("command") for word in map(str, line.values())}
    assert not words & set(GAMES["koi-koi"].cards)


async def test_every_command_makes_one_line_with_its_room_seat_outcome_and_time(start: Starting) -> None:
    server = await start()
    ann, bob = await sit_together(server, "koi-koi")
    await asyncio.gather(ann.play(), bob.play())

    for person in (ann, bob):  # who has not read all answers yet reads them on the way
        await person.ask(Look(id=person.next_id()))

    lines = server.lines("command")
    assert len(lines) == ann._sent + bob._sent
    for line in lines:
        assert {"session", "command", "outcome", "ms", "room", "seat", "timestamp"} <= line.keys()
    assert ann.place is not None
    assert {line["room"] for line in lines} == {ann.place.room}
    assert {line["seat"] for line in lines} == {0, 1}


# What cannot be served -------------------------------------------------------------------------------------------


async def refusal(directory: Path, *flags: str, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Exit status and what is said by a server that cannot start."""
    server = ServerProcess(directory, *flags, environment=environment)
    await server.launch()
    status = await server.ended()
    said = [line for line in server.errors().splitlines() if not line.startswith("{")]
    assert len(said) == 1, said
    return status, said[0]


async def test_a_port_in_use_is_one_clear_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, said = await refusal(tmp_path, "--port", str(port))

    assert status == 1
    assert said == (f"fudaza serve: port {port} of 127.0.0.1 is in use: stop what uses it, or name another with --port")


async def test_an_unreachable_redis_is_one_clear_sentence_without_its_password(tmp_path: Path) -> None:
    url = f"redis://:hunter2@127.0.0.1:{free_port()}"

    status, said = await refusal(tmp_path, environment={"FUDAZA_REDIS": url})

    assert status == 1
    assert said.startswith("fudaza serve: the store at redis://")
    assert "hunter2" not in said


async def test_a_wrong_setting_is_one_clear_sentence(tmp_path: Path) -> None:
    status, said = await refusal(tmp_path, "--ai-workers", "none")

    assert status == 2
    assert "wrong value for ai_workers: 'none'" in said


async def test_a_url_that_is_none_is_a_wrong_setting(tmp_path: Path) -> None:
    status, said = await refusal(tmp_path, environment={"FUDAZA_REDIS": "redis://:hunter2@db?colour=hunter3"})

    assert status == 2
    assert said.startswith("fudaza serve: redis://db?colour=… is no store URL")


async def test_a_data_directory_in_use_is_one_clear_sentence(start: Starting, tmp_path: Path) -> None:
    server = await start()
    second = tmp_path / "second"
    second.mkdir()

    status, said = await refusal(second, "--data", str(server.directory / "data"))

    assert status == 1
    assert "another server is running on the data directory" in said
    assert "--redis" in said
