"""The room around the table on the full screen: seats and host, talk, ways in and out, looks, long pages."""

from __future__ import annotations

import re

import pytest

from clients.cli.tui.dialogs import Ask, Line
from clients.cli.tui.panel import BUTTONS
from clients.cli.tui.play import Play
from clients.cli.tui.result import Result, account
from clients.cli.words import speaking
from engine.registry import GAMES
from protocol.codes import Refused
from protocol.messages import (
    Chat,
    ClearSeat,
    Leave,
    Lock,
    Move,
    RefusedMessage,
    SeatAi,
    SeatInfo,
    Start,
    Watch,
)
from tests.cli.hall import CODE, Hall
from tests.cli.playing import KOI_KOI, MERI, Permissive, hall_for, play_on
from tests.cli.scenes import looking, states
from tests.cli.tuikit import at_table

pytestmark = pytest.mark.usefixtures("private_state")


# The room -----------------------------------------------------------------------------------------------------


async def test_the_host_fills_and_clears_seats_moves_locks_and_starts() -> None:
    async with at_table(MERI, start=False) as client:
        text = await client.sees("You are the host")
        assert f"Room {CODE}" in text
        assert "The usual options (c lists them)." in text
        assert "monchi" not in text
        assert all(re.search(rf"^ +{seat} +(even|odd) ", text, re.MULTILINE) for seat in range(8))
        await client.press("down", "down", "a", "down", "x", "k", "enter")
        await client.until(lambda: any(isinstance(command, Move) for command in client.hall.commands))
        kinds = [type(command) for command in client.hall.commands[1:]]
        assert kinds == [SeatAi, ClearSeat, Lock, Move]
        seats = [command.seat for command in client.hall.commands if isinstance(command, SeatAi | ClearSeat | Move)]
        assert seats == [2, 3, 3]
        await client.press("s", "1")
        await client.my_turn()


async def test_ai_plays_as_the_command_was_told_unless_the_host_chooses_otherwise() -> None:
    hall = Hall(MERI, seed=5)
    hall.seats[2] = SeatInfo(kind="ai", level="hard")
    async with at_table(MERI, hall=hall, start=False) as client:
        await client.sees("You are the host")
        client.sitting.level = "hard"
        await client.press("down", "a", "down", "a", "s")
        await client.sees("How well shall AI")
        await client.press("enter")
        await client.my_turn()
        told = [command.level for command in client.hall.commands if isinstance(command, SeatAi | Start)]
        assert told == ["hard", "expert", "hard"]


async def test_a_guest_waits_for_the_host_and_is_refused_in_words() -> None:
    hall = Hall(KOI_KOI, you=1)
    hall.seats[0] = SeatInfo(kind="person", name="Bo")
    async with at_table(KOI_KOI, hall=hall, start=False) as client:
        await client.sees("Waiting for the host to begin.")
        for key in ("s", "a", "x"):
            assert f" {key} " not in client.text.splitlines()[-1]
            await client.press(key)
            assert "Only the host (seat 0) can do that." in client.text
            client.sitting.remark = ""
        assert not any(isinstance(command, Start | SeatAi | ClearSeat) for command in hall.commands)


async def test_a_host_is_not_asked_how_ai_plays_where_no_seat_is_open() -> None:
    hall = Hall(KOI_KOI, seed=5)
    hall.seats[1] = SeatInfo(kind="ai", level="hard")
    async with at_table(KOI_KOI, hall=hall, start=False) as client:
        await client.sees("You are the host")
        await client.press("s")
        await client.my_turn()


async def test_the_last_row_has_only_keys_that_do_something() -> None:
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        keys = client.text.splitlines()[-1]
        assert "h hint" not in keys
        assert "⏎ do it" in keys
    async with at_table(KOI_KOI, hall=Permissive(KOI_KOI, seed=5)) as client:
        await client.my_turn()
        assert "h hint" in client.text.splitlines()[-1]
    async with at_table(KOI_KOI, hall=Permissive(KOI_KOI, seed=5), door=Watch, code=CODE, start=False) as client:
        await client.sees("K7M2QX")
        keys = client.text.splitlines()[-1]
        assert not re.search("sit here|talk|start|AI|clear|lock", keys), keys
        client.hall._open("easy")
        client.network.wires[-1].say(client.hall.news())
        await client.until(lambda: isinstance(client.app.screen, Result))
        await client.press("escape")
        keys = client.text.splitlines()[-1]
        assert not re.search("do it|hint|talk", keys), keys
        assert "t score" in keys


async def test_the_way_in_for_friends_is_announced_and_in_the_log_and_stays_until_the_first_move() -> None:
    line = "A friend joins with:  fudaza join"
    async with at_table(KOI_KOI, invitation=lambda picture: (f"{line} {picture.code}",)) as client:
        await client.my_turn()
        assert f"» {line} {CODE}" in client.text
        assert f"{line} {CODE}" in client.sitting.log
        await client.press("c")
        await client.sees(line)
        await client.press("escape", "right", "enter")
        await client.my_turn()
        assert f"» {line}" not in client.text


async def test_in_a_game_played_in_silence_one_is_told_so_before_typing_and_nothing_typed_is_lost() -> None:
    async with at_table(MERI, hall=Permissive(MERI, seed=5), start=False) as client:
        await client.sees("You are the host")
        await client.press("slash", *"hi")
        client.hall._open("easy")
        client.network.wires[-1].say(client.hall.news())
        await client.until(lambda: client.sitting.picture is not None and client.sitting.picture.phase == "playing")
        await client.press("enter")
        await client.sees("Talk is for between deals; w winks.")
        await client.press("slash")
        assert not isinstance(client.app.screen, Line)
        assert not any(isinstance(command, Chat) for command in client.hall.commands)
        play = client.app.screen
        assert isinstance(play, Play)
        assert play._draft == "hi"


async def test_a_spectator_watches_and_is_asked_nothing() -> None:
    async with at_table(KOI_KOI, door=Watch, code=CODE, start=False) as client:
        await client.until(lambda: client.sitting.picture is not None)
        client.hall._open("easy")
        client.network.wires[-1].say(client.hall.news())
        await client.sees("watching")
        await client.until(lambda: isinstance(client.app.screen, Result))
        assert client.moves == []
        await client.press("escape", "q")
    assert client.app.return_value == 0


# Going --------------------------------------------------------------------------------------------------------


async def test_going_keeps_the_seat_and_says_how_to_come_back() -> None:
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        await client.press("q")
        assert isinstance(client.app.screen, Ask)
        await client.press("1")
        assert isinstance(client.app.screen, Play)
        await client.press("q", "2")
    assert client.app.return_value == 0
    assert f"fudaza rejoin {CODE}" in client.app.farewell[0]
    assert not any(isinstance(command, Leave) for command in client.hall.commands)


async def test_leaving_for_good_gives_the_seat_up() -> None:
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        await client.press("q", "3")
        await client.until(lambda: client.app.return_value is not None)
    assert isinstance(client.hall.commands[-1], Leave)


async def test_a_server_that_is_not_there_ends_the_client_with_a_sentence() -> None:
    hall = Hall(KOI_KOI)
    async with at_table(KOI_KOI, hall=hall, down=1) as client:
        await client.until(lambda: client.app.return_value is not None)
    assert client.app.return_value == 1
    assert "No server answers" in client.app.farewell[0]


async def test_a_refused_door_ends_the_client_with_the_reason() -> None:
    hall = Hall(KOI_KOI)
    hall.refuse_next = RefusedMessage(id=None, code=Refused.UNKNOWN_ROOM)
    async with at_table(KOI_KOI, hall=hall) as client:
        await client.until(lambda: client.app.return_value is not None)
    assert client.app.return_value == 1
    assert "no such room" in client.app.farewell[0]


# Looks --------------------------------------------------------------------------------------------------------


async def test_themes_and_symbols_are_chosen_and_kept() -> None:
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        await client.press("o", "2")
        assert client.app.theme == "light"
        assert "★" in client.text
        await client.press("o", "5")
        await client.until(lambda: "★" not in client.text)
    async with at_table(KOI_KOI) as client:
        assert client.app.theme == "light"
        await client.my_turn()
        assert "★" not in client.text


async def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        strips = client.app.screen._compositor.render_strips()
        lines = [client.app._filters[-1].apply(list(strip), client.app.screen.styles.background) for strip in strips]
        colours = {
            colour
            for line in lines
            for segment in line
            if segment.style is not None
            for colour in (segment.style.color, segment.style.bgcolor)
            if colour is not None and not colour.is_default
        }
    assert colours == set()


async def test_options_are_told_in_words() -> None:
    async with at_table(MERI, hall=Hall(MERI, options={"monchi": "suit-first"}), start=False) as client:
        text = await client.sees("You are the host")
        assert "what Monchi asks (H20): a card of the suit led; a trump only without one" in text
        assert "usual options" not in text
        await client.press("c")
        text = await client.sees("Options:")
        assert "how many deals make a match; level totals are a draw: 8" in text
        assert "who deals first: drawn at random" in text
        assert "suit-first" not in text


async def test_buttons_speak_the_readers_language() -> None:
    with speaking("de"):
        async with at_table(MERI) as client:
            await client.my_turn()
            await client.sees("[1] ansagen")
            await client.sees("[2] passen")


@pytest.mark.parametrize("name", GAMES)
def test_every_action_without_a_card_has_a_button(name: str) -> None:
    words = {
        pick.key
        for state in (state for seed in range(40) for state in states(GAMES[name], seed))
        if (look := looking(GAMES[name], state)).choice is not None
        for pick in look.choice.picks
        if pick.word
    }
    assert words
    assert words <= set(BUTTONS)


async def test_a_terminal_that_is_too_small_is_told_so_and_a_larger_one_is_not() -> None:
    async with at_table(MERI, size=(80, 20)) as client:
        await client.sees("needs 80×24, here 80×20")
        await client.pilot.resize_terminal(70, 30)
        await client.sees("needs 80×24, here 70×30")
        await client.pilot.resize_terminal(80, 24)
        await client.until(lambda: "needs" not in client.text)
        assert CODE in client.text


async def test_a_long_page_says_which_part_of_it_is_in_sight() -> None:
    async with at_table(MERI) as client:
        await client.my_turn()
        await client.press("?")
        await client.sees("lines 1 to ")
        await client.press("end")
        text = await client.sees("ninth_trick")
        found = re.search(r"lines (\d+) to (\d+) of (\d+)", text)
        assert found is not None
        first, last, total = map(int, found.groups())
        assert 1 < first < last == total
        await client.press("escape", "c")
        await client.sees("Seats:")


@pytest.mark.parametrize("name", GAMES)
async def test_a_result_tells_nothing_twice(name: str) -> None:
    async with at_table(GAMES[name], hall=hall_for(name, "over")) as client:
        await play_on(client)
        await client.sees("is over")
        picture = client.sitting.picture
        assert picture is not None
        told = [line.strip() for line in account(client.sitting, picture) if line]
        assert len(told) > 4
        assert len(told) == len(set(told))
