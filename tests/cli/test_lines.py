from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.game import AnyGame
from engine.registry import GAMES
from protocol.codes import Close, Notified, Refused
from protocol.events import Said, SeatTaken
from protocol.messages import (
    Act,
    Chat,
    Create,
    Join,
    Leave,
    Lock,
    Mute,
    Ready,
    RefusedMessage,
    SeatInfo,
    Settings,
    Snapshot,
    Start,
    Watch,
    Wink,
)
from tests.cli.hall import CODE, Hall, Lose, notice
from tests.cli.screen import Seat, seated

pytestmark = pytest.mark.usefixtures("private_state")

KOI_KOI = GAMES["koi-koi"]
MERI = GAMES["hachinin-meri"]


def moves(seat: Seat) -> list[str]:
    return [command.action for command in seat.hall.commands if isinstance(command, Act)]


def offered(text: str) -> list[tuple[int, str]]:
    """The numbered choices in ``text``."""
    _before, _question, choices = text.rpartition("Your turn: play a card.\n")
    return [(int(number), typed) for number, typed in re.findall(r"^ +(\d+)  (\S+)  ", choices, re.MULTILINE)]


@pytest.mark.parametrize("name", GAMES)
async def test_a_whole_match_is_played_by_numbers_from_a_pipe(name: str) -> None:
    async with seated(GAMES[name]) as seat:
        seat.screen.type(*["1"] * 500)
        assert await seat.status() == 0
        assert "══ " in seat.screen.text
        assert re.search(r"(win|wins|is a draw)", seat.screen.text)
        assert "You have left the table." in seat.screen.text
        assert "(?)" not in seat.screen.text
        assert "WARNING" not in seat.screen.text


async def test_a_script_is_read_no_further_than_its_questions() -> None:
    async with seated(KOI_KOI) as seat:
        seat.screen.type("1")
        await seat.screen.until("Your turn")
        await seat.screen.until("Your turn")
        assert len(moves(seat)) == 1


async def test_what_was_said_before_one_came_or_came_back_is_told_once() -> None:
    hall = Hall(KOI_KOI, seed=5)
    hall.events += [Said(seat=0, by=1, text="tea?"), Said(seat=0, by=1, text=None)]
    async with seated(KOI_KOI, hall=hall, start=False) as seat:
        text = await seat.screen.until("Aki: tea?\n")
        assert text.endswith("Said before:\n  Aki: tea?\n")
        seat.network.wires[-1].say([hall.snapshot()])
        await seat.screen.until("Seats:")
        hall.happen(Said(seat=0, by=1, text="yes"))
        seat.network.wires[-1].say([hall.snapshot()])
        await seat.screen.until("Said before:\n  Aki: yes\n")
        assert seat.screen.text.count("tea?") == 1


class Permissive(Hall):
    """A hall whose rooms allow hints."""

    def snapshot(self) -> Snapshot:
        """With other settings."""
        return replace(super().snapshot(), settings=Settings(hints=True))


@pytest.mark.parametrize("name", GAMES)
async def test_a_hint_says_what_an_ai_would_play_and_why_and_plays_nothing(name: str) -> None:
    async with seated(GAMES[name], hall=Permissive(GAMES[name], seed=5), interactive=True) as seat:
        await seat.screen.until("> ")
        seat.screen.type("help", "hint")
        await seat.screen.until("what an AI would play")
        await seat.screen.until("would: ")
        if name != "hachinin-meri":  # there the first decision leaves no choice
            assert re.search(r" [+-]\d+\.\d · ", await seat.screen.until(" · ")), "what actions are worth"
        assert moves(seat) == []


async def test_there_is_no_hint_where_the_room_does_not_allow_it() -> None:
    async with seated(KOI_KOI, interactive=True) as seat:
        await seat.screen.until("> ")
        seat.screen.type("hint")
        await seat.screen.until("This room was opened without hints.")


async def test_the_end_of_the_input_keeps_the_seat_and_says_how_to_come_back(private_state: Path) -> None:
    async with seated(KOI_KOI) as seat:
        seat.screen.type("1")
        seat.screen.end_input()
        assert await seat.status() == 0
        assert f"fudaza rejoin {CODE}" in seat.screen.text
        assert not any(isinstance(command, Leave) for command in seat.hall.commands)
    assert len(list((private_state / "seats").glob("*.json"))) == 1


async def test_leaving_gives_the_seat_up_and_forgets_it(private_state: Path) -> None:
    async with seated(KOI_KOI) as seat:
        seat.screen.type("leave")
        assert await seat.status() == 0
        assert any(isinstance(command, Leave) for command in seat.hall.commands)
    assert list((private_state / "seats").glob("*.json")) == []


async def test_a_move_is_made_by_number_or_by_code_in_any_case() -> None:
    async with seated(KOI_KOI) as seat:
        (number, typed), *_rest = offered(await seat.screen.until(">\n"))
        assert number == 1
        seat.screen.type(typed.upper())
        choices = offered(await seat.screen.until(">\n"))
        seat.screen.type(str(len(choices)))
        await seat.screen.until(">\n")
        assert moves(seat) == [typed, choices[-1][1]]


async def test_what_the_rules_forbid_is_refused_with_what_is_possible_and_not_sent() -> None:
    async with seated(MERI) as seat:
        await seat.screen.until(">\n")
        seat.screen.type("-p5")
        answer = await seat.screen.until(">\n")
        assert "declare or pass" in answer
        assert moves(seat) == []


@pytest.mark.parametrize(
    "line", ["99", "0", "hello", "03z", "*", "{}", "\x1b[A", "²", "9" * 5000, "seat " + "9" * 5000]
)
async def test_nonsense_is_answered_and_the_question_stays_open(line: str) -> None:
    async with seated(KOI_KOI) as seat:
        await seat.screen.until(">\n")
        seat.screen.type(line)
        answer = await seat.screen.until(">\n")
        assert "choose from 1 to" in answer or "Type help" in answer or "not" in answer
        seat.screen.type("1")
        await seat.screen.until(">\n")
        assert len(moves(seat)) == 1


async def test_help_table_score_last_seats_and_rules_are_there_at_any_time() -> None:
    async with seated(KOI_KOI) as seat:
        await seat.screen.until(">\n")
        for command, shown in {
            "help": "At any time",
            "?": "At any time",
            "table": "Your hand",
            "score": "Captured",
            "last": "begin",
            "seats": "Seats:",
            "rules": "K10",
        }.items():
            seat.screen.type(command)
            assert shown in await seat.screen.until(">\n"), command
        assert moves(seat) == []


async def test_on_a_terminal_commands_work_while_somebody_else_is_asked() -> None:
    hall = Hall(KOI_KOI)
    async with seated(KOI_KOI, hall=hall, interactive=True, start=False) as seat:
        await seat.screen.until("You are the host.")
        hall.seats[0] = hall.seats[1]
        seat.screen.type("03r")
        assert "not your turn" in await seat.screen.until("turn")
        seat.screen.type("seats")
        await seat.screen.until("Seats:")


async def test_a_number_typed_while_nothing_is_asked_is_no_riddle() -> None:
    hall = Hall(KOI_KOI, seed=5)
    async with seated(KOI_KOI, hall=hall, interactive=True, start=False, door=Join, code=CODE, name="Bea") as seat:
        await seat.screen.until("You are the host.")
        hall.phase = "playing"
        seat.network.wires[-1].say([hall.snapshot()])
        await seat.screen.until("No cards are on the table yet.")
        seat.screen.type("1")
        await seat.screen.until("It is not your turn.")


async def test_quit_keeps_the_seat() -> None:
    async with seated(KOI_KOI) as seat:
        seat.screen.type("quit")
        assert await seat.status() == 0
        assert "rejoin" in seat.screen.text


async def test_a_refusal_of_the_servers_is_worded_and_the_question_asked_again() -> None:
    async with seated(KOI_KOI) as seat:
        await seat.screen.until(">\n")
        seat.hall.refuse_next = RefusedMessage(id=None, code=Refused.STALE, params={"at": 0})
        seat.screen.type("1")
        assert "Too late" in await seat.screen.until(">\n")
        seat.screen.type("1")
        await seat.screen.until("You play")


async def test_a_refusal_of_what_was_done_beside_a_question_does_not_repeat_the_whole_table() -> None:
    async with seated(KOI_KOI) as seat:
        await seat.screen.until(">\n")
        seat.hall.refuse_next = RefusedMessage(id=None, code=Refused.ONLY_THE_HOST, params={"host": 1})
        seat.screen.type("lock")
        text = await seat.screen.until("Only the host (seat 1) can do that.\n>\n")
        seat.screen.type("1")
        text += await seat.screen.until("You play")
        assert "Your turn" not in text


async def test_a_move_that_is_not_confirmed_is_said_to_be_on_its_way() -> None:
    async with seated(KOI_KOI, unconfirmed_seconds=0.01) as seat:
        await seat.screen.until(">\n")
        seat.hall.refuse_next = RefusedMessage(id=None, code=Refused.STORE_UNAVAILABLE, params={"retry_ms": 3_600_000})
        seat.network.sleep = _never  # type: ignore[method-assign,assignment]
        seat.face._core._sleep = _never
        seat.screen.type("1")
        assert "cannot reach its store" in await seat.screen.until("once at most.")
        await seat.screen.until("is on its way")


async def _never(_seconds: float) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("lose", Lose)
async def test_a_lost_connection_is_shown_and_the_move_is_done_once(lose: Lose) -> None:
    async with seated(KOI_KOI) as seat:
        await seat.screen.until(">\n")
        seat.hall.lose_next = lose
        seat.screen.type("1")
        await seat.screen.until("The connection to ws://hall was lost.")
        await seat.screen.until("Connected again.")
        await seat.screen.until("You play")
        await seat.screen.until(">\n")
        assert len({command.id for command in seat.hall.commands if isinstance(command, Act)}) == 1


async def test_whoever_moves_while_there_is_no_connection_is_told_so() -> None:
    async with seated(KOI_KOI, interactive=True) as seat:
        await seat.screen.until("> ")
        back = asyncio.Event()

        async def wait(_seconds: float) -> None:
            await back.wait()

        seat.face._core._sleep = wait
        seat.network.wires[-1].drop()
        await seat.screen.until("Trying to come back …\n")
        seat.screen.type("1")
        assert "not your turn" not in await seat.screen.until("No connection. Your seat stays yours")
        back.set()
        await seat.screen.until("Your turn")


async def test_between_deals_the_person_says_when_to_go_on() -> None:
    hall = Hall(KOI_KOI, options={"deals": 3}, seed=5)
    async with seated(KOI_KOI, hall=hall) as seat:
        seat.screen.type(*["1"] * 60)
        text = await seat.screen.until("Deal 2 of 3")
        assert "Ready for the next deal?" in text
        assert sum(isinstance(command, Ready) for command in hall.commands) >= 1


async def test_after_a_lost_connection_between_deals_the_question_is_asked_again_in_full() -> None:
    async with seated(KOI_KOI, hall=Hall(KOI_KOI, options={"deals": 3}, seed=5)) as seat:
        while "Ready for the next deal?" not in await seat.screen.until(">\n"):
            seat.screen.type("1")
        seat.network.wires[-1].drop()
        await seat.screen.until("Connected again.\n")
        assert "Ready for the next deal?" in await seat.screen.until(">\n")
        seat.screen.type("next")
        await seat.screen.until("Deal 2 of 3")


async def test_the_host_may_play_another_match() -> None:
    async with seated(KOI_KOI) as seat:
        while "The match is over." not in await seat.screen.until(">\n"):
            seat.screen.type("1")
        seat.screen.type("rematch")
        await seat.screen.until("Once more: the table is as before the match.")
        await seat.screen.until("You are the host.")
        seat.screen.type("start")
        await seat.screen.until("Deal 1 of 1")


async def test_the_host_decides_when_a_match_begins() -> None:
    async with seated(KOI_KOI, start=False) as seat:
        await seat.screen.until("You are the host.")
        assert not any(isinstance(command, Start) for command in seat.hall.commands)
        seat.screen.type("start easy")
        await seat.screen.until("Deal 1 of 1")
        assert [command.level for command in seat.hall.commands if isinstance(command, Start)] == ["easy"]


async def test_superseded_ends_with_an_explanation() -> None:
    async with seated(KOI_KOI) as seat:
        await seat.screen.until(">\n")
        seat.network.wires[-1].say(notice(Notified.SUPERSEDED))
        seat.network.wires[-1].drop(Close.SUPERSEDED)
        assert await seat.status() == 0
        assert "another connection took over your seat" in seat.screen.text


async def test_removed_ends_with_an_explanation_and_a_failure() -> None:
    async with seated(KOI_KOI) as seat:
        await seat.screen.until(">\n")
        seat.network.wires[-1].drop(Close.REMOVED)
        assert await seat.status() == 1
        assert "host removed you" in seat.screen.text


async def test_a_room_that_does_not_exist_ends_with_an_explanation() -> None:
    hall = Hall(KOI_KOI)
    hall.refuse_next = RefusedMessage(id=None, code=Refused.UNKNOWN_ROOM)
    async with seated(KOI_KOI, hall=hall, door=Join, code=CODE, name="Aki") as seat:
        assert await seat.status() == 1
        assert "no such room" in seat.screen.text


async def test_a_server_that_is_not_there_ends_with_an_explanation() -> None:
    async with seated(KOI_KOI) as seat:
        seat.network.down = 1
        assert await seat.status() == 1
        assert "No server answers at ws://hall" in seat.screen.text


async def test_a_spectator_needs_no_input_and_sees_no_hand() -> None:
    hall = Hall(KOI_KOI, seed=5)
    hall.receive(Create(id="o" * 20 + ".1", game="koi-koi", name="Aki"))
    async with seated(KOI_KOI, hall=hall, start=False, door=Watch, code=CODE) as seat:
        seat.screen.end_input()
        await seat.screen.until("══ Koi-koi ══")
        seat.network.wires[-1].say(hall.receive(Start(id="o" * 20 + ".2")))
        await seat.screen.until("══ ")
        assert "Your hand" not in seat.screen.text


async def test_an_unfair_deck_is_warned_of_loudly() -> None:
    hall = Hall(KOI_KOI, seed=5)
    hall.swap_cards = True
    async with seated(KOI_KOI, hall=hall) as seat:
        seat.screen.type(*["1"] * 60)
        assert await seat.status() == 0
        assert "!!! WARNING: the cards of deal 1" in seat.screen.text


async def test_news_do_not_run_into_the_prompt_of_a_terminal() -> None:
    hall = Hall(KOI_KOI)
    async with seated(KOI_KOI, hall=hall, interactive=True, start=False) as seat:
        await seat.screen.until("> ")
        seat.network.wires[-1].say(hall.happen(SeatTaken(seat=1, name="Bea")))
        text = await seat.screen.until("Bea sits down in seat 1.")
        assert text.startswith("\n")
        await seat.screen.until("> ")


async def test_enter_alone_does_the_one_thing_there_is_to_do_in_a_deal() -> None:
    async with seated(MERI) as seat:
        text = await seat.screen.until(">\n")
        only = offered_declaration(text)
        seat.screen.type("")
        await seat.screen.until(">\n")
        assert (moves(seat) == ["pass"]) == only


def offered_declaration(text: str) -> bool:
    return "1  pass" in text and "declare  " not in text


async def test_enter_alone_neither_begins_a_match_nor_leaves_the_table() -> None:
    async with seated(KOI_KOI, start=False) as seat:
        await seat.screen.until(">\n")
        seat.screen.type("")
        await seat.screen.until(">\n")
        assert not any(isinstance(command, Start) for command in seat.hall.commands)


async def test_enter_alone_does_not_choose_among_several_moves() -> None:
    async with seated(KOI_KOI) as seat:
        await seat.screen.until(">\n")
        seat.screen.type("")
        await seat.screen.until(">\n")
        assert moves(seat) == []


# With the others -------------------------------------------------------------------------------------------------


def beside(game: AnyGame) -> Hall:
    """A hall in which Bea sits at the table too, and winks are allowed."""
    hall = Hall(game, seed=5)
    hall.seats[1] = SeatInfo(kind="person", name="Bea")
    hall.settings = Settings(winks=True)
    return hall


async def test_a_person_says_winks_mutes_and_locks_by_lines() -> None:
    hall = beside(MERI)
    async with seated(MERI, hall=hall, start=False) as seat:
        await seat.screen.until(">\n")
        for line, shown in {
            "say Good luck, BEA": "You: Good luck, BEA",
            "wink left-eye": "You give a sign: the left eye closes.",
            "mute 1": "What Bea says is hidden from you.",
            "unmute 1": "You read Bea again.",
            "Mute 1 ALL": "The host mutes Bea.",
            "unmute 1 all": "The host lets Bea speak again.",
            "lock": "The host locks the room.",
            "unlock": "The host opens the room.",
        }.items():
            seat.screen.type(line)
            await seat.screen.until(f"{shown}\n")

    done = [command for command in hall.commands if isinstance(command, Chat | Wink | Mute | Lock)]
    assert [type(command) for command in done] == [Chat, Wink, Mute, Mute, Mute, Mute, Lock, Lock]
    assert [(each.on, each.everyone) for each in done if isinstance(each, Mute)] == [
        (True, False),
        (False, False),
        (True, True),
        (False, True),
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("say", "Say what? For example: say good luck"),
        ("say " + "o" * 201, "A line has 1 to 200 visible characters."),
        ("wink", "A wink is one of these: wink left-eye (close the left eye), wink right-eye"),
        ("wink twice", "A wink is one of these: "),
        ("mute", "Name the seat of a person: mute 1 (Bea)."),
        ("mute 0", "Name the seat of a person: mute 1 (Bea)."),
        ("unmute 7", "Name the seat of a person: unmute 1 (Bea)."),
        ("mute 1 loudly", "Name the seat of a person: mute 1 (Bea)."),
        ("mute ²", "Name the seat of a person: mute 1 (Bea)."),
    ],
)
async def test_what_lacks_something_is_answered_with_what_is_possible_and_not_sent(line: str, why: str) -> None:
    hall = beside(MERI)
    async with seated(MERI, hall=hall, start=False) as seat:
        await seat.screen.until(">\n")
        seat.screen.type(line)
        assert why in await seat.screen.until(">\n")
    assert not any(isinstance(command, Chat | Wink | Mute) for command in hall.commands)


async def test_where_nobody_else_sits_or_nobody_winks_or_talks_that_is_said() -> None:
    async with seated(MERI) as seat:
        await seat.screen.until("2  pass")
        await seat.screen.until(">\n")
        for line, why in {
            "say psst": "This game is played in silence. You can talk before and after a deal.",
            "wink eyebrows": "This room was opened without winks.",
            "mute 1": "There is no other person at the table.",
        }.items():
            seat.screen.type(line)
            assert why in await seat.screen.until(">\n")


async def test_help_tells_of_talk_and_a_refusal_of_the_servers_is_worded() -> None:
    async with seated(KOI_KOI) as seat:
        await seat.screen.until(">\n")
        seat.screen.type("help")
        assert "say TEXT · wink SIGN · mute SEAT" in await seat.screen.until(">\n")
        seat.hall.refuse_next = RefusedMessage(id=None, code=Refused.SWITCHED_OFF, params={"setting": "chat"})
        seat.screen.type("say hello")
        await seat.screen.until("This room was opened without that (chat).")
