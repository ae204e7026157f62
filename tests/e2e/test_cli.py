"""The command ``fudaza`` as a newcomer uses it: real processes, real sockets, the real embedded store."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest

from engine.registry import GAMES
from tests.e2e.players import Player, Players, players_under, serving


@pytest.fixture
async def players(tmp_path: Path) -> AsyncIterator[Players]:
    async with players_under(tmp_path / "state") as them:
        yield them


def code_in(text: str) -> str:
    """The room's code, from the line that says how a friend joins."""
    found = re.search(r"fudaza join ([A-Z0-9]{6}) --server (\S+)", text)
    assert found, text
    return found[1]


def url_in(text: str) -> str:
    """The server's address, from the same line."""
    found = re.search(r"fudaza join ([A-Z0-9]{6}) --server (\S+)", text)
    assert found, text
    return found[2]


async def bot(player: Player, moves: int | None = None) -> list[dict[str, Any]]:
    """Play by the JSON mode: the last legal action each time, until the match is over or so many moves were made."""
    lines = []
    while True:
        line = await player.line()
        lines.append(line)
        if line["t"] == "turn":
            if moves == 0:
                return lines
            moves = None if moves is None else moves - 1
            player.type(line["legal"][-1])
        if line["t"] == "event" and (line["event"] or {}).get("e") == "match-ended":
            return lines


SEVERAL_DEALS: Final = ("--option", "deals=3")
"""For tests that need a match in play: a deal may end with the cards that are dealt (K2), and before the next one the
match waits for its people.
"""


async def until_turn(player: Player) -> None:
    """Wait until the player is asked about cards, in the next deal where this one is over."""
    while "Ready for the next deal?" in (asked := await player.until(">\n")):
        player.type("1")
    assert "The match is over." not in asked, asked


def events(lines: list[dict[str, Any]]) -> dict[int, Any]:
    return {line["number"]: line["event"] for line in lines if line["t"] == "event"}


@pytest.mark.parametrize("game", GAMES)
async def test_one_command_leads_to_a_table_and_through_a_whole_match_to_its_result(
    players: Players, game: str
) -> None:
    player = await players("play", game, "--name", "Aki")
    text = await player.play_to_the_end()
    deals = int(GAMES[game].options["deals"][0])
    assert text.count("checked: fair.") + (await rest_of(player)).count("checked: fair.") == deals
    assert f"Deal {deals} of {deals}" in player.text
    assert re.search(r"══ (You win|Your team wins|The \w+ team wins|AI \d wins|The match is a draw)", player.text)
    assert "(?)" not in player.text
    assert "WARNING" not in player.text


async def rest_of(player: Player) -> str:
    """Leave; returns what was written meanwhile."""
    start = len(player.text)
    player.type("leave")
    assert await player.ended() == 0
    return player.text[start:]


async def test_a_match_of_three_with_all_options_chosen(players: Players) -> None:
    options = ("deals=3", "viewing=on", "seven_doubles=on", "points=nintendo", "next_first=winner")
    chosen = [argument for option in options for argument in ("--option", option)]
    player = await players("play", "koi-koi", "--level", "easy", *chosen)
    await player.play_to_the_end()
    assert "Deal 3 of 3" in player.text


@pytest.mark.parametrize("game", GAMES)
async def test_a_bot_plays_a_whole_match_by_json_lines(players: Players, game: str) -> None:
    player = await players("play", game, "--json", "--option", f"deals={min(GAMES[game].options['deals'])}")
    lines = await bot(player)
    player.end_input()
    assert await player.ended() == 0
    assert not [line for line in lines if line["t"] == "error"]
    numbers = list(events(lines))
    assert numbers == list(range(numbers[0], numbers[-1] + 1))


async def test_a_friend_takes_over_an_ai_seat_on_the_other_team_and_both_play_to_the_end(players: Players) -> None:
    host = await players("play", "hachinin-meri", "--json", "--option", "deals=2")
    place: dict[str, Any] = {}
    while place.get("t") != "place":
        place = await host.line()
    friend = await players("join", place["code"], "--server", place["url"], "--side", "1", "--json", at="two")
    arrived = [await friend.line()]
    while arrived[-1]["t"] != "place":
        arrived.append(await friend.line())
    # The host answers nothing before: without them the match is not over before the friend has come.
    told, played = await asyncio.gather(bot(host), bot(friend))
    heard = arrived + played
    seats = [next(line["seat"] for line in lines if line["t"] == "place") for lines in ([place], heard)]
    assert seats[0] % 2 == 0
    assert seats[1] % 2 == 1
    assert any(line["t"] == "turn" for line in heard)
    common = sorted(set(events(told)) & set(events(heard)))
    assert common
    assert all(events(told)[n]["e"] == events(heard)[n]["e"] for n in common)
    # Each sees their own hand and nobody else's.
    for lines, seat in ((told, seats[0]), (heard, seats[1])):
        for dealt in (event for event in events(lines).values() if event["e"] == "dealt"):
            assert [number for number, hand in enumerate(dealt["hands"]) if hand is not None] == [seat]


async def test_the_friend_plays_on_after_the_host_has_quit(players: Players) -> None:
    host = await players("play", "koi-koi", "--name", "Aki", *SEVERAL_DEALS)
    invitation = await host.until("--host 0.0.0.0")
    await host.until(">\n")
    friend = await players(
        "join", code_in(invitation), "--server", url_in(invitation), "--name", "Bea", "--json", at="two"
    )
    await host.until("Bea takes over seat 1 from the AI.")
    host.type("leave")
    assert await host.ended() == 0
    lines = await bot(friend)
    assert any(line["t"] == "event" and line["event"]["e"] == "host-is" for line in lines)


async def test_a_server_killed_in_the_middle_of_a_match_costs_neither_client_a_move(
    players: Players, tmp_path: Path
) -> None:
    async with serving(tmp_path / "server") as server:
        host = await players("host", "hachinin-meri", "--server", server.url, "--json", "--option", "deals=1")
        place: dict[str, Any] = {}
        while place.get("t") != "place":
            place = await host.line()
        friend = await players("join", place["code"], "--server", server.url, "--seat", "3", "--json", at="two")
        while (await friend.line())["t"] != "table":
            pass
        host.type('{"do":"start"}')
        # One is killed in the middle of a decision, the other wherever it happens to be.
        theirs = asyncio.create_task(bot(friend))
        before = await bot(host, moves=4)
        await server.kill()
        await server.start()
        after = await bot(host)
        for lines in (before + after, await theirs):
            assert {"offline", "online"} <= {line["t"] for line in lines}
            numbers = [line["number"] for line in lines if line["t"] == "event"]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "no event twice, none left out"
            assert [line["t"] for line in lines if line["t"] in ("missed", "turned-back", "error")] == []
            alarms = [line for line in lines if line["t"] == "check" and line["alarm"]]
            assert not alarms


async def test_a_person_whose_own_server_is_killed_plays_on_without_doing_anything(players: Players) -> None:
    player = await players("play", "koi-koi", *SEVERAL_DEALS)
    await until_turn(player)
    player.type("1")
    await player.until("You play")
    await until_turn(player)
    (server,) = players.servers()
    os.kill(server, signal.SIGKILL)
    await player.until("was lost.")
    await player.until("Connected again.")
    await player.until("Your turn", "Which card", "Stop, or koi?")
    await player.until(">\n")
    player.type("1")
    await player.play_to_the_end()
    assert len(players.servers()) == 2
    assert "checked: fair" in player.text + await rest_of(player)


async def test_a_killed_client_comes_back_to_its_seat_by_rejoin_and_by_join(players: Players) -> None:
    player = await players("play", "hachinin-meri", "--name", "Aki")
    invitation = await player.until("--host 0.0.0.0")
    await player.until(">\n")
    player.signal(signal.SIGKILL)
    await player.ended()
    again = await players("rejoin")
    assert "Aki  (you, host" in await again.until(">\n")
    again.type("quit")
    assert await again.ended() == 0
    third = await players("join", code_in(invitation), "--server", url_in(invitation))
    assert "Aki  (you, host" in await third.until(">\n")
    # Somebody else on the same machine does not get the seat that is being played.
    fourth = await players("join", code_in(invitation), "--server", url_in(invitation), "--name", "Bea")
    told = await fourth.until("Shuffle", ">\n", "Trump")
    assert re.search(r"seat \d  \(you\)", told), "during a silent deal a newcomer's name is told to nobody"


@pytest.mark.parametrize("typed", [[], ["1"], ["help"]])
async def test_control_c_ends_without_a_traceback_wherever_it_comes(players: Players, typed: list[str]) -> None:
    player = await players("play", "koi-koi", *SEVERAL_DEALS)
    await player.until(">\n")
    for line in typed:
        player.type(line)
        await player.until(">\n")
    player.signal(signal.SIGINT)
    assert await player.ended() == 130
    assert "Your seat stays yours for now: fudaza rejoin" in player.text
    assert "Traceback" not in player.text


async def test_a_reader_that_goes_away_ends_the_client(players: Players) -> None:
    player = await players("play", "koi-koi")
    await player.until(">\n")
    transport = player.process._transport.get_pipe_transport(1)  # type: ignore[attr-defined]
    transport.close()
    player.type("help")
    player.type("help")
    assert await asyncio.wait_for(player.process.wait(), 60) == 1


async def test_rooms_are_listed_joined_and_watched(players: Players, tmp_path: Path) -> None:
    async with serving(tmp_path / "server") as server:
        empty = await players("rooms", "--server", server.url)
        assert await empty.ended() == 0
        assert "No open rooms" in empty.text
        host = await players("host", "go-stop", "--server", server.url, "--name", "Aki", at="one")
        code = code_in(await host.until("--server " + server.url))
        private = await players("host", "koi-koi", "--server", server.url, "--private", at="two")
        await private.until("You are the host.")
        listing = await players("rooms", "--server", server.url)
        assert await listing.ended() == 0
        assert f"{code}  Go-stop" in listing.text
        assert "Koi-koi" not in listing.text
        watcher = await players("watch", code.lower(), "--server", server.url, at="three")
        watcher.end_input()
        await watcher.until("Waiting for the host")
        host.type("start")
        await watcher.until("Deal 1 of 1")
        assert "Your hand" not in watcher.text
        await host.play_to_the_end()
        await watcher.until("══ ")
        host.type("leave")
        assert await host.ended() == 0


# What goes wrong ------------------------------------------------------------------------------------------


async def fails(players: Players, *arguments: str, status: int) -> str:
    player = await players(*arguments)
    assert await player.ended() == status
    assert "Traceback" not in player.text
    return player.text


async def test_a_port_in_use_is_said_in_words_with_the_log(players: Players) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        text = await fails(players, "play", "koi-koi", "--port", port, status=1)
    assert "The server does not start" in text
    assert port in text
    assert "server.log" in text


async def test_no_server_no_room_no_seat_are_said_in_words(players: Players, tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nowhere = f"127.0.0.1:{unused.getsockname()[1]}"
        for command in (("join", "ABC234"), ("watch", "ABC234"), ("host", "koi-koi"), ("rooms",)):
            assert "No server answers" in await fails(players, *command, "--server", nowhere, status=1)
    async with serving(tmp_path / "server") as server:
        assert "no such room" in await fails(players, "join", "ABC234", "--server", server.url, status=1)
        text = await fails(players, "host", "koi-koi", "--seat", "7", "--server", server.url, status=1)
        assert "no such seat" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("play", "bridge"), "koi-koi, go-stop, hachinin-meri"),
        (("play", "koi-koi", "--option", "deals=7"), "1, 3, 6, 12"),
        (("play", "koi-koi", "--option", "speed=fast"), "opponent_call_doubles"),
        (("play", "koi-koi", "--option", "deals"), "KEY=VALUE"),
        (("join", "ABC"), "six letters and digits"),
        (("join", "ABC234", "--server", "http://x"), "ws://HOST:PORT"),
        (("rules", "bridge"), "hachinin-meri"),
    ],
)
async def test_wrong_usage_is_said_in_words(players: Players, arguments: tuple[str, ...], said: str) -> None:
    assert said in await fails(players, *arguments, status=2)


async def test_no_seat_to_come_back_to_is_said_in_words(players: Players) -> None:
    assert "No seat of yours" in await fails(players, "rejoin", status=1)
