"""The full-screen table with a person at its keys: every decision, what can go wrong, and who else is there."""

from __future__ import annotations

import re

import pytest
from msgspec import Struct

from clients.cli import hints
from clients.cli.session import Happened
from clients.cli.tui.dialogs import Line, Reading
from clients.cli.tui.panels import panel_of
from clients.cli.tui.play import Play
from clients.cli.tui.result import Result
from engine.game import Card, Seat
from engine.go_stop import types as go_stop
from engine.hachinin_meri import types as meri
from engine.koi_koi import types as koi_koi
from engine.registry import GAMES
from protocol import events as room
from protocol.codes import Notified, Refused
from protocol.messages import (
    Act,
    Chat,
    ClearSeat,
    Leave,
    Mute,
    Ready,
    RefusedMessage,
    Rematch,
    SeatInfo,
    Start,
    Wink,
)
from tests.cli.hall import CODE, Hall, Lose, notice
from tests.cli.playing import KOI_KOI, MERI, PROMPTS, Permissive, come_to, go_on, hall_for, play_on
from tests.cli.samples import Sampler
from tests.cli.scenes import check_snapshot
from tests.cli.tuikit import SIZES, at_table

pytestmark = pytest.mark.usefixtures("private_state")


# Whole matches ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
async def test_a_whole_match_is_played_by_keys_to_its_result_and_left(name: str) -> None:
    game = GAMES[name]
    async with at_table(game, hall=Hall(game, options={"deals": game.options["deals"][1]}, seed=5)) as client:
        for _deal in range(20):  # some may be dealt again
            await play_on(client)
            text = await client.sees("is over")
            if "The match is over" in text:
                break
            await go_on(client)
        await client.sees("leave the table")
        await client.press("1", "enter")
        await client.until(lambda: client.app.return_value is not None, "the end")
    assert client.app.return_value == 0
    assert isinstance(client.hall.commands[-1], Leave)
    assert client.app.farewell == ("You have left the table.",)
    assert not any("(?)" in line or "WARNING" in line for line in client.sitting.log)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", GAMES)
async def test_the_whole_screen_looks_as_it_did(name: str, size: str) -> None:
    async with at_table(GAMES[name], size=SIZES[size]) as client:
        await client.my_turn()
        await client.press("right")
        await client.pilot.pause()
        check_snapshot(f"screen-{name}-{size}", client.text)


async def test_keys_that_come_too_late_do_not_leave_the_table() -> None:
    async with at_table(KOI_KOI) as client:
        await play_on(client)
        await client.sees("leave the table")
        await client.press("enter", "enter", "space", "right")
        assert isinstance(client.app.screen, Result)
        assert not any(isinstance(command, Leave | Rematch) for command in client.hall.commands)
        await client.press("down", "enter")
        await client.until(lambda: client.app.return_value is not None)
    assert isinstance(client.hall.commands[-1], Leave)


async def test_a_guests_keys_that_come_too_late_do_not_leave_the_table_either() -> None:
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        client.network.wires[-1].say(client.hall.happen(room.HostIs(seat=1)))
        await play_on(client)
        text = await client.sees("leave the table")
        assert "The host may open another one." in text
        assert "play another match" not in text
        await client.press("enter", "enter", "space", "1", "2")
        assert isinstance(client.app.screen, Result)
        assert not any(isinstance(command, Leave | Rematch) for command in client.hall.commands)


@pytest.mark.parametrize("size", SIZES)
async def test_the_log_is_in_sight_at_every_size(size: str) -> None:
    async with at_table(KOI_KOI, size=SIZES[size]) as client:
        await client.my_turn()
        await client.pilot.pause()
        assert client.app.screen.region.contains_region(client.app.screen.query_one("#log").region)
        assert client.app.screen.region.contains_region(client.app.screen.query_one("#table").region)
        await client.sees(client.sitting.log[-1].strip()[:20])


async def test_the_host_plays_another_match() -> None:
    async with at_table(KOI_KOI) as client:
        await play_on(client)
        await client.sees("play another match")
        await client.press("2", "enter")
        await client.until(lambda: not isinstance(client.app.screen, Result))
        assert any(isinstance(command, Rematch) for command in client.hall.commands)
        await client.sees("You are the host")
        await client.press("s")
        await client.my_turn()
        assert sum(isinstance(command, Start) for command in client.hall.commands) == 2


# Every decision -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "phase"), PROMPTS)
async def test_every_decision_is_made_by_number_and_enter(name: str, phase: str) -> None:
    async with at_table(GAMES[name], hall=hall_for(name, phase)) as client:
        await come_to(client, phase)
        choice = client.sitting.choice
        assert choice is not None
        index = next(index for index, pick in enumerate(choice.picks) if len(pick.actions) == 1)
        before = len(client.moves)
        await client.press(str((index + 1) % 10))
        assert len(client.moves) == before
        assert "do it" in client.text
        await client.press("enter")
        await client.until(lambda: len(client.moves) == before + 1)
        assert client.moves[-1] == choice.picks[index].actions[0]


@pytest.mark.parametrize(("name", "phase"), PROMPTS)
async def test_a_connection_dropped_at_any_decision_is_shown_and_recovered_and_the_decision_is_still_open(
    name: str, phase: str
) -> None:
    async with at_table(GAMES[name], hall=hall_for(name, phase)) as client:
        await come_to(client, phase)
        assert client.sitting.session.turn is not None
        legal = client.sitting.session.turn.legal
        client.network.down = 3
        client.network.wires[-1].drop()
        await client.until(lambda: len(client.network.wires) == 2, "a new connection")
        await client.until(lambda: any("Connected again" in line for line in client.sitting.log))
        assert any("was lost" in line for line in client.sitting.log)
        await client.until(lambda: client.sitting.choice is not None, "the decision again")
        assert client.sitting.session.turn is not None
        assert client.sitting.session.turn.legal == legal
        before = len(client.moves)
        await client.press("right", "enter")
        if client.sitting.choice is not None and client.sitting.choice.held is not None:
            await client.press("right", "enter")
        await client.until(lambda: len(client.moves) == before + 1)


@pytest.mark.parametrize(("name", "phase"), PROMPTS)
async def test_control_c_at_any_decision_ends_the_client_and_keeps_the_seat(name: str, phase: str) -> None:
    async with at_table(GAMES[name], hall=hall_for(name, phase)) as client:
        await come_to(client, phase)
        await client.press("ctrl+c")
    assert client.app.return_value == 130
    assert client.app.farewell == (
        "Interrupted.",
        f"Your seat stays yours for now: fudaza rejoin {CODE} brings you back.",
    )
    assert not any(isinstance(command, Leave) for command in client.hall.commands)


async def test_a_card_with_two_targets_asks_which_and_escape_goes_back() -> None:
    async with at_table(KOI_KOI, hall=Hall(KOI_KOI, seed=0)) as client:
        for _move in range(20):
            await client.my_turn()
            choice = client.sitting.choice
            assert choice is not None
            several = [index for index, pick in enumerate(choice.picks) if len(pick.actions) > 1]
            if several:
                break
            await client.press("right", "enter")
        assert choice is not None
        await client.press(str(several[0] + 1))
        assert "choose what it takes" in client.text
        before = len(client.moves)
        await client.press("enter")
        assert "Which card does" in client.text
        await client.press("escape")
        assert "Your turn" in client.text
        await client.press("enter", "enter")
        assert len(client.moves) == before, "the second step needs a choice of its own"
        assert "First choose" in client.text
        await client.press("2", "enter")
        await client.until(lambda: len(client.moves) == before + 1)
        assert client.moves[-1] == choice.picks[several[0]].actions[1]


async def test_the_stock_card_is_in_sight_while_its_target_is_chosen() -> None:
    async with at_table(KOI_KOI, hall=hall_for("koi-koi", "choose")) as client:
        await come_to(client, "choose")
        picture = client.sitting.picture
        assert picture is not None
        turned = picture.view.table.turned
        assert re.search(rf"from the stock: +{turned} ", client.text)
        assert f"Which card does {turned}" in client.text


async def test_the_decision_shows_the_yaku_and_the_points_it_is_about() -> None:
    async with at_table(KOI_KOI, hall=hall_for("koi-koi", "decide")) as client:
        await come_to(client, "decide")
        assert "You have a yaku" in client.text
        assert re.search(r"You have \d+ points?; a stop scores \d+", client.text)
        assert "[1] " in client.text


async def test_a_key_on_an_impossible_card_says_why_and_plays_nothing() -> None:
    async with at_table(MERI, hall=hall_for("hachinin-meri", "playing")) as client:
        for _move in range(20):
            await client.my_turn()
            choice = client.sitting.choice
            if choice is not None and any(not pick.actions for pick in choice.picks):
                break
            await client.press("right", "enter")
        assert choice is not None
        index = next(index for index, pick in enumerate(choice.picks) if not pick.actions)
        before = len(client.moves)
        await client.press(str(index + 1), "enter")
        assert re.search(r"(Monchi|Meri): |no trump", client.text)
        assert len(client.moves) == before


# Twice is once ------------------------------------------------------------------------------------------------


async def test_keys_that_come_twice_play_one_card() -> None:
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        await client.press("1", "1", "enter", "enter", "enter")
        await client.my_turn()
        await client.press("enter", "space")
        assert len([move for move in client.moves if move]) == 1


async def test_clicks_that_come_twice_play_nothing_and_the_place_that_says_so_plays_once() -> None:
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        rows = client.text.splitlines()
        y = next(row for row, line in enumerate(rows) if "[1]" in line)
        x = rows[y].index("[1]")
        await client.pilot.click(offset=(x, y))
        await client.pilot.click(offset=(x, y))
        assert client.moves == []
        rows = client.text.splitlines()
        y = next(row for row, line in enumerate(rows) if line.endswith("do it"))
        for _click in range(3):
            await client.pilot.click(offset=(rows[y].index("do it"), y))
        await client.my_turn()
        assert len(client.moves) == 1


async def test_a_confirmed_move_belongs_to_its_decision() -> None:
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        old = client.sitting.choice
        await client.press("right", "enter")
        await client.my_turn()
        assert old is not None
        client.sitting.choice = old.step(1)
        client.sitting.confirm()
        await client.pilot.pause()
        assert len(client.moves) == 1


async def test_a_lost_answer_leaves_one_move_and_says_that_it_is_on_its_way() -> None:
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        client.hall.lose_next = Lose.ANSWER
        client.network.down = 1
        await client.press("right", "enter")
        await client.until(lambda: len(client.network.wires) == 2)
        await client.my_turn()
        acts = [command for command in client.hall.commands if isinstance(command, Act)]
        assert len({act.id for act in acts}) == 1


async def test_a_refused_move_is_undone_on_the_screen_with_the_reason() -> None:
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        client.hall.refuse_next = RefusedMessage(id=None, code=Refused.STALE, params={"at": 0})
        await client.press("right", "enter")
        await client.sees("Too late")
        await client.my_turn()
        await client.press("right", "enter")
        await client.until(lambda: len(client.moves) == 2, "the move again, after the refused one")


# What is shown ------------------------------------------------------------------------------------------------


async def test_a_lost_connection_is_in_sight_as_long_as_it_lasts() -> None:
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        assert "online" in client.text
        client.network.down = 10_000
        client.network.wires[-1].drop()
        await client.sees("OFFLINE")
        await client.sees("Your seat stays yours")
        await client.until(lambda: len(client.network.slept) > 10, "further attempts")
        assert sum("Trying to come back" in line for line in client.sitting.log) == 1


async def test_the_clock_counts_down_where_there_is_a_limit() -> None:
    now = [100.0]
    async with at_table(KOI_KOI, clock=lambda: now[0]) as client:
        await client.my_turn()
        turn = client.hall.turn()
        assert turn is not None
        client.network.wires[-1].say([type(turn)(at=turn.at, legal=turn.legal, left_ms=65_000)])
        await client.sees("1:05")
        now[0] += 60
        play = client.app.screen
        assert isinstance(play, Play)
        play._tick()
        await client.sees("0:05")


async def test_the_score_the_log_and_the_rules_are_one_key_away() -> None:
    async with at_table(MERI) as client:
        await client.my_turn()
        await play_on(client, "playing")
        for key, wanted in (("t", "Points of this deal"), ("l", "is trump"), ("?", "At the table"), ("c", "Seats:")):
            await client.press(key)
            assert isinstance(client.app.screen, Reading)
            await client.sees(wanted)
            await client.press("escape")
            assert isinstance(client.app.screen, Play)
        await client.press("?", "end")
        await client.sees("ninth_trick")


@pytest.mark.parametrize("name", GAMES)
async def test_every_event_worth_noticing_is_announced_and_kept_in_the_log(name: str) -> None:
    panel = panel_of(name)
    sampler = Sampler(GAMES[name].cards)
    async with at_table(GAMES[name]) as client:
        await client.my_turn()
        sitting, picture = client.sitting, client.sitting.picture
        assert picture is not None
        for kind in (*panel.notable, *panel.endings):
            sitting.announcement = ""
            before = len(sitting.log)
            sitting.hear(Happened(1, sampler.of(kind), picture, picture))
            # How a deal came out is told with the score, which follows.
            assert sitting.announcement if kind in panel.notable else sitting.coming_out == sitting.said, kind
            assert sitting.log[before:] == list(sitting.said) != []


@pytest.mark.parametrize("name", ["koi-koi", "go-stop"])
async def test_what_the_other_player_did_in_their_turn_stays_in_sight_in_one_line(name: str) -> None:
    async with at_table(GAMES[name]) as client:
        seen = 0
        for _move in range(6):
            await client.my_turn()
            picture = client.sitting.picture
            assert picture is not None
            if re.match(r"AI 1: \d\d\w .*stock: \d\d\w", client.sitting.announcement):
                seen += 1
                assert f"» {client.sitting.announcement}" in client.text
            await client.press("right", "enter")
            if client.sitting.choice is not None and client.sitting.choice.held is not None:
                await client.press("right", "enter")
        assert seen >= 3


async def test_what_people_say_is_not_covered_by_the_next_turn() -> None:
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        client.network.wires[-1].say(client.hall.happen(room.Said(seat=1, by=1, text="hello there")))
        await client.sees("hello there")
        picture = client.sitting.picture
        assert picture is not None
        played = koi_koi.HandPlayed(Seat(1), Card("01p"), (Card("01b"),))
        client.sitting.hear(Happened(1, played, picture, picture))
        assert "hello there" in client.sitting.announcement


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("go-stop", go_stop.PpukMade),
        ("go-stop", go_stop.JunkTaken),  # chok, ttadak, sseul
        ("koi-koi", koi_koi.YakuMade),
        ("hachinin-meri", meri.Declared),
        ("hachinin-meri", meri.TrickSettled),  # a combination moves points
    ],
)
def test_what_must_not_be_overlooked_is_worth_noticing(name: str, kind: type[Struct]) -> None:
    assert kind in panel_of(name).notable


async def test_a_result_shows_how_the_score_came_about() -> None:
    async with at_table(KOI_KOI, hall=hall_for("koi-koi", "decide"), size=SIZES["usual"]) as client:
        await come_to(client, "decide")
        assert client.sitting.choice is not None
        stop = client.sitting.choice.by_key("stop")
        assert stop is not None
        await client.press(str(stop + 1), "enter")
        text = await client.sees("is over")
        assert re.search(r"You stop\.|You take \d+", text)
        assert re.search(r"\((inoshikachō|akatan|aotan|tane|tan|kasu|sankō|tsukimi-zake|hanami-zake)\) \+\d+", text)


async def test_notices_and_what_people_say_are_announced_and_kept_in_the_log() -> None:
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        client.network.wires[-1].say(notice(Notified.ANNOUNCEMENT, text="tea at five"))
        client.network.wires[-1].say(client.hall.happen(room.Said(seat=1, by=1, text="hello there")))
        await client.sees("hello there")
        assert any("tea at five" in line for line in client.sitting.log)


async def test_what_was_said_before_the_connection_was_lost_stays_in_the_log_once() -> None:
    hall = Hall(KOI_KOI, seed=5)
    hall.events += [room.Said(seat=0, by=1, text="tea?")]
    async with at_table(KOI_KOI, hall=hall) as client:
        await client.my_turn()
        hall.happen(room.Said(seat=0, by=1, text="in the kitchen"))
        client.network.wires[-1].say([hall.snapshot()])
        await client.sees("in the kitchen")
        await client.press("l")
        await client.sees("tea?")
    said = [line.strip() for line in client.sitting.log if "Aki: " in line]
    assert said == ["Aki: tea?", "Aki: in the kitchen"]


async def test_the_result_can_be_put_aside_to_look_at_the_table_and_comes_back() -> None:
    async with at_table(KOI_KOI) as client:
        await play_on(client)
        await client.sees("is over")
        await client.press("escape")
        assert isinstance(client.app.screen, Play)
        assert "On the table" in client.text
        await client.press("t")
        assert isinstance(client.app.screen, Result)


async def test_between_deals_enter_says_ready_once() -> None:
    async with at_table(KOI_KOI, hall=Hall(KOI_KOI, options={"deals": 3}, seed=5)) as client:
        await play_on(client)
        await client.sees("Ready for the next deal?")
        await client.press("enter", "enter", "enter")
        await client.my_turn()
        assert sum(isinstance(command, Ready) for command in client.hall.commands) == 1


# Hints --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
async def test_a_hint_says_what_the_ai_would_do_and_why(name: str) -> None:
    async with at_table(GAMES[name], hall=Permissive(GAMES[name], seed=5), size=SIZES["large"]) as client:
        await client.my_turn()
        picture, choice = client.sitting.picture, client.sitting.choice
        assert picture is not None
        assert choice is not None
        await client.press("h")
        await client.sees("would: ")
        assert client.moves == []
        thought = hints.thought_of(picture.game, picture.view, seed=choice.at)
        told = *hints.in_words(picture.game, picture.view, thought), hints.values_in_words(picture.game, thought)
        assert client.sitting.said == tuple(filter(None, told))
        assert client.sitting.log[-len(client.sitting.said) :] == list(client.sitting.said)


async def test_there_is_no_hint_where_the_room_does_not_allow_it_or_it_is_not_your_turn() -> None:
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        await client.press("h")
        await client.sees("This room was opened without hints.")


async def test_a_hint_goes_with_the_decision_that_it_was_for() -> None:
    async with at_table(MERI, hall=Permissive(MERI, seed=5)) as client:
        await client.my_turn()
        client.sitting.advised("pass", "AI would: pass.", "because", "")
        assert client.sitting.remark == "because"
        client.sitting.session.turn = None
        client.network.wires[-1].say(client.hall.happen(room.SeatReady(seat=1)))
        await client.until(lambda: client.sitting.choice is None)
        assert (client.sitting.remark, client.sitting.announcement) == ("", "")


async def test_a_number_beyond_the_hand_and_clearing_ones_own_seat_are_answered() -> None:
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        await client.press("9")
        await client.sees("Here the keys are 1 to 8.")
    async with at_table(KOI_KOI, start=False) as client:
        await client.sees("You are the host")
        await client.press("x")
        await client.sees("That is your own seat: q gives it up.")
        assert not any(isinstance(command, ClearSeat) for command in client.hall.commands)


# Talking ------------------------------------------------------------------------------------------------------


async def test_one_winks_at_partners() -> None:
    async with at_table(MERI, hall=Permissive(MERI, seed=5)) as client:
        await client.my_turn()
        await client.press("w", "2")
        await client.until(lambda: any(isinstance(command, Wink) for command in client.hall.commands))
        signs = [command.signal for command in client.hall.commands if isinstance(command, Wink)]
        assert signs == [room.Signal.RIGHT_EYE]


async def test_one_talks_to_the_table() -> None:
    async with at_table(KOI_KOI) as client:
        await client.my_turn()
        await client.press("slash")
        assert isinstance(client.app.screen, Line)
        await client.press(*"q1?", "enter")
        await client.until(lambda: any(isinstance(command, Chat) for command in client.hall.commands))
        assert [command.text for command in client.hall.commands if isinstance(command, Chat)] == ["q1?"]


async def test_without_winks_the_key_says_so() -> None:
    async with at_table(MERI) as client:
        await client.my_turn()
        await client.press("w")
        await client.sees("opened without winks")


async def test_the_host_mutes_and_removes_people() -> None:
    hall = Hall(KOI_KOI, seed=5)
    hall.seats[1] = SeatInfo(kind="person", name="Bo")
    async with at_table(KOI_KOI, hall=hall, start=False) as client:
        await client.sees("Bo")
        await client.press("m", "1")
        await client.press("m", "3")
        await client.until(lambda: any(isinstance(command, ClearSeat) for command in hall.commands))
        done = [command for command in hall.commands if isinstance(command, Mute | ClearSeat)]
        assert [(type(command), command.seat) for command in done] == [(Mute, 1), (ClearSeat, 1)]


async def test_over_a_result_the_keys_of_the_table_do_what_they_say() -> None:
    async with at_table(KOI_KOI, hall=Hall(KOI_KOI, options={"deals": 3}, seed=5)) as client:
        await play_on(client)
        await client.sees("Ready for the next deal?")
        result = client.app.screen
        for key, shown in (("l", "What happened so far"), ("question_mark", "Help and rules"), ("c", "This table")):
            await client.press(key)
            await client.sees(shown)
            await client.press("escape")
            await client.until(lambda: client.app.screen is result, "the result")
        await client.press("slash", *"well played", "enter")
        await client.until(lambda: any(isinstance(command, Chat) for command in client.hall.commands), "a word")
        await client.press("q")
        await client.sees("leave for good")
        await client.press("3")
        await client.until(lambda: any(isinstance(command, Leave) for command in client.hall.commands), "the end")


async def test_a_line_that_is_being_typed_when_the_next_deal_begins_is_not_lost() -> None:
    hall = Hall(KOI_KOI, options={"deals": 3}, seed=5)
    async with at_table(KOI_KOI, hall=hall) as client:
        await play_on(client)
        await client.sees("Ready for the next deal?")
        await client.press("slash", *"well pl")
        client.sitting.core.ask(Ready)  # as if the others had been the last that were waited for
        await client.until(lambda: isinstance(client.app.screen, Play), "the table")
        await client.press("slash")
        await client.sees("well pl")
