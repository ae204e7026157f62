"""The lobby: the list, the ways into a room and back, the form with all options."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import CliRunner
from textual.events import Key

from clients.cli.commands import _in_lobby
from clients.cli.main import main
from clients.cli.tui import app as application
from clients.cli.tui.app import TableApp
from clients.cli.tui.create import CreateRoom
from clients.cli.tui.home import Home
from clients.cli.tui.play import Play
from engine.registry import GAMES
from protocol.codes import Refused
from protocol.events import Said
from protocol.messages import Create, Join, Leave, ListRooms, RefusedMessage, RoomSummary, Start, Watch
from tests.cli.hall import CODE, Hall
from tests.cli.tuikit import SIZES, Client, at_table

pytestmark = pytest.mark.usefixtures("private_state")

KOI_KOI = GAMES["koi-koi"]
MERI = GAMES["hachinin-meri"]


def asked(client: Client, kind: type[Join | Create | Watch]) -> list[Join | Create | Watch]:
    return [command for command in client.hall.commands if isinstance(command, kind)]


@pytest.mark.parametrize("size", SIZES)
async def test_open_rooms_are_listed_and_looked_for_again(size: str) -> None:
    async with at_table(KOI_KOI, lobby=True, size=SIZES[size]) as client:
        text = await client.sees(CODE)
        assert "Koi-koi" in text
        assert "before a match" in text
        home = client.app.screen
        assert isinstance(home, Home)
        home.ask_again()
        await client.until(lambda: sum(isinstance(command, ListRooms) for command in client.hall.commands) >= 2)


async def test_one_sits_down_in_a_listed_room_and_comes_back_to_the_lobby() -> None:
    async with at_table(KOI_KOI, lobby=True) as client:
        await client.sees(CODE)
        await client.press("enter")
        await client.sees("any seat")
        await client.press("2")
        await client.until(lambda: isinstance(client.app.screen, Play), "the table")
        (join,) = asked(client, Join)
        assert isinstance(join, Join)
        assert (join.code, join.name, join.seat) == (CODE, "Aki", 1)
        await client.press("q", "3")
        await client.until(lambda: isinstance(client.app.screen, Home), "the lobby")
        assert any(isinstance(command, Leave) for command in client.hall.commands)
        await client.until(lambda: client.sitting.online is True, "a new session")
        await client.press("q")
    assert client.app.return_value == 0


async def test_what_was_said_before_one_sat_down_is_in_the_log() -> None:
    hall = Hall(KOI_KOI, seed=5)
    hall.events += [Said(seat=1, by=1, text="nobody here?")]
    async with at_table(KOI_KOI, hall=hall, lobby=True) as client:
        await client.sees(CODE)
        await client.press("enter", "1")
        await client.until(lambda: isinstance(client.app.screen, Play), "the table")
        await client.sees("nobody here?")


async def test_one_chooses_a_team_where_there_are_teams() -> None:
    async with at_table(MERI, lobby=True) as client:
        await client.sees(CODE)
        await client.press("enter")
        await client.sees("any seat of the odd team")
        await client.press("3")
        await client.until(lambda: bool(asked(client, Join)))
        (join,) = asked(client, Join)
        assert isinstance(join, Join)
        assert join.side == 1


async def test_a_private_room_is_joined_by_its_code() -> None:
    async with at_table(KOI_KOI, lobby=True) as client:
        await client.sees(CODE)
        await client.press("c", *"abc", "enter")
        await client.sees("ABC is no room's code" if "ABC" in client.text else "abc is no room's code")
        await client.press("c", *"k7m2qx", "enter")
        await client.until(lambda: bool(asked(client, Join)))
        (join,) = asked(client, Join)
        assert isinstance(join, Join)
        assert join.code == CODE


async def test_a_room_is_watched_from_the_lobby() -> None:
    async with at_table(KOI_KOI, lobby=True) as client:
        await client.sees(CODE)
        await client.press("w")
        await client.until(lambda: bool(asked(client, Watch)))
        await client.until(lambda: isinstance(client.app.screen, Play))


async def test_quick_match_takes_any_open_seat_of_the_game() -> None:
    async with at_table(KOI_KOI, lobby=True) as client:
        await client.sees(CODE)
        await client.press("p", "1")
        await client.until(lambda: bool(asked(client, Join)))


async def test_quick_match_opens_a_room_with_ai_where_there_is_none() -> None:
    async with at_table(KOI_KOI, lobby=True) as client:
        await client.sees(CODE)
        await client.press("g", "3")
        home = client.app.screen
        assert isinstance(home, Home)
        home._rooms = ()
        await client.press("p")
        await client.until(lambda: bool(asked(client, Create)))
        await client.until(lambda: any(isinstance(command, Start) for command in client.hall.commands))


async def test_a_refusal_is_told_in_the_lobby() -> None:
    async with at_table(KOI_KOI, lobby=True) as client:
        await client.sees(CODE)
        client.hall.refuse_next = RefusedMessage(id=None, code=Refused.ROOM_FULL)
        await client.press("p", "1")
        await client.sees("The table is full")
        assert isinstance(client.app.screen, Home)


@pytest.mark.parametrize("name", GAMES)
async def test_the_form_offers_every_option_of_the_game_explained_and_opens_the_room(name: str) -> None:
    game = GAMES[name]
    async with at_table(game, lobby=True, size=(110, 60)) as client:
        await client.sees(CODE)
        made: list[object] = []
        client.app.push_screen(CreateRoom(name), made.append)
        text = await client.sees("Open the room")
        for option in game.options:
            assert f"{option}: " in text
        await client.press("f10")
        await client.until(lambda: bool(made))
        (fields,) = made
        assert isinstance(fields, dict)
        assert fields["game"] == name
        assert fields["options"] == game.complete_options({})
        assert fields["settings"].hints is False


async def test_another_game_in_the_form_brings_its_own_options() -> None:
    async with at_table(KOI_KOI, lobby=True, size=(110, 60)) as client:
        await client.sees(CODE)
        await client.press("n")
        await client.sees("seven_doubles: ")
        await client.press("enter", "down", "down", "enter")
        await client.sees("concealed_robai: ")
        await client.press("f10")
        await client.until(lambda: bool(asked(client, Create)))
        (create,) = asked(client, Create)
        assert isinstance(create, Create)
        assert create.game == "hachinin-meri"


async def test_control_c_ends_the_lobby() -> None:
    async with at_table(KOI_KOI, lobby=True) as client:
        await client.sees(CODE)
        await client.press("ctrl+c")
    assert client.app.return_value == 130
    assert client.app.farewell == ("Interrupted.",)


async def test_a_dropped_connection_in_the_lobby_is_shown_and_recovered() -> None:
    async with at_table(KOI_KOI, lobby=True) as client:
        await client.sees(CODE)
        client.network.wires[-1].drop()
        await client.until(lambda: len(client.network.wires) == 2)
        await client.until(lambda: client.sitting.online is True)
        await client.press("p", "1")
        await client.until(lambda: bool(asked(client, Join)))


def test_without_a_terminal_the_lobby_says_so_and_does_not_hang() -> None:
    result = CliRunner().invoke(main, ["lobby"])
    assert result.exit_code == 1
    assert "needs a terminal" in result.output


async def test_whether_a_setting_is_on_is_told_by_what_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with at_table(KOI_KOI, lobby=True, size=(110, 60)) as client:
        await client.sees(CODE)
        await client.press("n")
        await client.sees("[ ] hints: ")
        client.app.screen.query_one("#setting-hints").focus()
        await client.press("enter")
        await client.sees("[x] hints: ")


async def test_a_room_of_the_lobby_says_how_friends_join(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[TableApp] = []

    async def show(app: TableApp, write: Callable[[str], None]) -> int:
        del write
        shown.append(app)
        return 0

    monkeypatch.setattr(application, "run_full_screen", show)
    assert await _in_lobby("ws://cards.example:443", "Aki") == 0
    async with at_table(KOI_KOI, start=False) as client:
        await client.sees("You are the host")
        picture = client.sitting.picture
        assert picture is not None
        (line,) = shown[0].sitting._invitation(picture)
        assert line.endswith(f"fudaza join {CODE} --server ws://cards.example:443")


async def test_keys_that_come_twice_take_one_dialog_away() -> None:
    async with at_table(KOI_KOI, lobby=True) as client:
        await client.sees(CODE)
        for first, last in (("p", "1"), ("g", "escape"), ("c", "escape"), ("question_mark", "space"), ("n", "escape")):
            await client.press(first)
            await client.until(lambda: not isinstance(client.app.screen, Home), "a dialog")
            dialog = client.app.screen
            # As a terminal tells them: the second before the first has done its work.
            for key in (last, last):
                client.app.post_message(Key(key, key if len(key) == 1 else None))
            await client.until(lambda: client.app.screen is not dialog, "an end")  # noqa: B023 - awaited here
            await client.pilot.pause()
            assert isinstance(client.app.screen, Home | Play)
            if first == "p":
                await client.until(lambda: isinstance(client.app.screen, Play), "the table")
                await client.press("q", "2")
                await client.until(lambda: isinstance(client.app.screen, Home), "the lobby")
        assert len(asked(client, Join)) == 1


async def test_the_room_that_was_pointed_at_stays_so_when_others_are_listed_before_it() -> None:
    async with at_table(KOI_KOI, lobby=True) as client:
        await client.sees(CODE)
        other = RoomSummary(code="QQQQQQ", game="koi-koi", host="Bo", phase="lobby", open=(1,), seats=2, persons=1)
        client.hall.other_rooms = (other,)
        home = client.app.screen
        assert isinstance(home, Home)
        home.ask_again()
        await client.sees("QQQQQQ")
        await client.press("w")
        await client.until(lambda: bool(asked(client, Watch)))
        assert [command.code for command in asked(client, Watch) if isinstance(command, Watch)] == [CODE]
