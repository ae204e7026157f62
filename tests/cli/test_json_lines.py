from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from engine.codec import codec_of
from engine.game import Level
from engine.registry import GAMES
from protocol.codec import encode
from protocol.codes import Refused
from protocol.events import Signal
from protocol.messages import Act, Chat, Create, Leave, Lock, Mute, RefusedMessage, SeatAi, Start, Watch, Wink
from tests.cli.hall import CODE, Hall, Lose
from tests.cli.screen import Seat, seated

pytestmark = pytest.mark.usefixtures("private_state")

KOI_KOI = GAMES["koi-koi"]
MERI = GAMES["hachinin-meri"]


def spoken(seat: Seat) -> list[dict[str, Any]]:
    return [json.loads(line) for line in seat.screen.text.splitlines()]


async def turn_of(seat: Seat) -> dict[str, Any]:
    await seat.screen.until('{"t":"turn"')
    await seat.screen.until("\n")
    turns = [line for line in spoken(seat) if line["t"] == "turn"]
    return turns[-1]


@pytest.mark.parametrize("name", GAMES)
async def test_a_bot_that_knows_nothing_but_the_lines_plays_a_whole_match(name: str) -> None:
    """View and legal moves come with every turn: the engine finds the same moves legal in that view."""
    game = GAMES[name]
    async with seated(game, as_json=True) as seat:
        while True:
            text = await seat.screen.until("\n")
            line = json.loads(text)
            if line["t"] == "turn":
                view = codec_of(game).view(msgspec.json.encode(line["view"]))
                assert line["legal"] == [game.text(action) for action in game.legal(view)]
                seat.screen.type(line["legal"][0])
            if line["t"] == "event" and line["event"]["e"] == "match-ended":
                break
        seat.screen.end_input()
        assert await seat.status() == 0
        assert not [line for line in spoken(seat) if line["t"] == "error"]
        numbers = [line["number"] for line in spoken(seat) if line["t"] == "event"]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert spoken(seat)[-1]["t"] == "end"


async def test_the_same_match_and_moves_give_the_same_lines() -> None:
    texts = []
    for _ in range(2):
        async with seated(KOI_KOI, as_json=True) as seat:
            for _move in range(4):
                seat.screen.type((await turn_of(seat))["legal"][0])
            await turn_of(seat)
            texts.append(seat.screen.text)
    assert texts[0] == texts[1]


@pytest.mark.parametrize("form", ["{}", '"{}"', '{{"do":"act","action":"{}"}}'])
async def test_an_action_may_be_text_a_json_string_or_an_object(form: str) -> None:
    async with seated(KOI_KOI, as_json=True) as seat:
        action = (await turn_of(seat))["legal"][0]
        seat.screen.type(form.format(action))
        await turn_of(seat)
        assert [command.action for command in seat.hall.commands if isinstance(command, Act)] == [action]


async def test_actions_may_be_written_ahead_of_their_turns() -> None:
    async with seated(KOI_KOI, as_json=True, start=False) as seat:
        seat.screen.type("nonsense", '{"do":"start"}')
        await seat.screen.until('{"t":"place"')
        await seat.screen.until("\n")
        # The action waits for its turn, and so does what stands behind it.
        assert not any(isinstance(command, Start | Act) for command in seat.hall.commands)
    async with seated(KOI_KOI, as_json=True) as seat:
        seat.screen.type("nonsense")
        await seat.screen.until('"t":"error"')
        await seat.screen.until("\n")
        (error,) = [line for line in spoken(seat) if line["t"] == "error"]
        assert error["code"] == Refused.MALFORMED_ACTION
        assert error["action"] == "nonsense"


async def test_an_illegal_move_is_an_error_with_code_parameters_and_text() -> None:
    async with seated(KOI_KOI, as_json=True) as seat:
        await turn_of(seat)
        seat.screen.type("stop")
        await seat.screen.until('{"t":"error"')
        await seat.screen.until("\n")
        error = spoken(seat)[-1]
        assert (error["command"], error["action"], error["code"]) == ("act", "stop", "no-decision-open")
        assert error["params"] == {"total": 0}
        assert error["text"].startswith("Stop and koi are open only")


@pytest.mark.parametrize("line", ["{", '{"do":"dance"}', '{"do":"act"}', '{"do":"leave","now":true}', '"x', "{}"])
async def test_a_broken_line_is_an_error_and_changes_nothing(line: str) -> None:
    async with seated(KOI_KOI, as_json=True) as seat:
        await turn_of(seat)
        seat.screen.type(line)
        await seat.screen.until('{"t":"error"')
        await seat.screen.until("\n")
        assert spoken(seat)[-1]["code"] == "bad-line"
        assert not any(isinstance(command, Act | Leave) for command in seat.hall.commands)


async def test_commands_of_the_host() -> None:
    async with seated(KOI_KOI, as_json=True, start=False) as seat:
        seat.screen.type('{"do":"start","level":"easy"}')
        await turn_of(seat)
        assert [command.level for command in seat.hall.commands if isinstance(command, Start)] == ["easy"]
        seat.screen.type('{"do":"leave"}')
        assert await seat.status() == 0
        assert spoken(seat)[-1]["end"] == "left"


async def test_ai_without_a_level_plays_as_the_command_was_told() -> None:
    async with seated(MERI, as_json=True, start=False, level=Level.HARD) as seat:
        seat.screen.type('{"do":"seat-ai","seat":1}', '{"do":"seat-ai","seat":2,"level":"easy"}', '{"do":"start"}')
        await turn_of(seat)
        told = [command.level for command in seat.hall.commands if isinstance(command, SeatAi | Start)]
        assert told == ["hard", "easy", "hard"]


async def test_talk_winks_mutes_and_the_lock() -> None:
    async with seated(KOI_KOI, as_json=True, start=False) as seat:
        seat.screen.type(
            '{"do":"chat","text":"hello"}',
            '{"do":"wink","signal":"eyebrows"}',
            '{"do":"mute","seat":1}',
            '{"do":"mute","seat":1,"on":false,"everyone":true}',
            '{"do":"lock"}',
            '{"do":"lock","on":false}',
        )
        for _ in range(2):
            await seat.screen.until('"command":"lock"')
        done = [command for command in seat.hall.commands if isinstance(command, Chat | Wink | Mute | Lock)]
        assert [encode(command) for command in done] == [
            encode(each)
            for each in (
                Chat(id=done[0].id, text="hello"),
                Wink(id=done[1].id, signal=Signal.EYEBROWS),
                Mute(id=done[2].id, seat=1),
                Mute(id=done[3].id, seat=1, on=False, everyone=True),
                Lock(id=done[4].id),
                Lock(id=done[5].id, on=False),
            )
        ]
        told = [line["event"] for line in spoken(seat) if line["t"] == "event"]
        assert {"e": "said", "seat": 0, "by": 1, "text": "hello"} in told


@pytest.mark.parametrize(
    "line",
    [
        '{"do":"wink","signal":"nose"}',
        '{"do":"chat","text":""}',
        '{"do":"mute","seat":-1}',
        '{"do":"mute","seat":99}',
        '{"do":"lock","on":"yes"}',
    ],
)
async def test_talk_that_no_server_would_take_is_an_error_and_not_sent(line: str) -> None:
    async with seated(KOI_KOI, as_json=True, start=False) as seat:
        seat.screen.type(line)
        await seat.screen.until('{"t":"error"')
        await seat.screen.until("\n")
        assert spoken(seat)[-1]["code"] == "bad-line"
        assert not any(isinstance(command, Chat | Wink | Mute | Lock) for command in seat.hall.commands)


async def test_the_next_deal_needs_no_word_from_the_bot() -> None:
    hall = Hall(KOI_KOI, options={"deals": 3}, seed=5)
    async with seated(KOI_KOI, as_json=True, hall=hall) as seat:
        seen = 0
        while seen < 3:
            line = json.loads(await seat.screen.until("\n"))
            if line["t"] == "turn":
                seat.screen.type(line["legal"][0])
            seen += line["t"] == "event" and line["event"]["e"] == "deal-began"


async def test_a_lost_connection_is_told_and_the_move_done_once() -> None:
    async with seated(KOI_KOI, as_json=True) as seat:
        action = (await turn_of(seat))["legal"][0]
        seat.hall.lose_next = Lose.ANSWER
        seat.screen.type(action)
        await seat.screen.until('{"t":"offline"')
        await seat.screen.until('{"t":"online","again":true}')
        await seat.screen.until('{"t":"done","command":"act"')
        assert len({command.id for command in seat.hall.commands if isinstance(command, Act)}) == 1


async def test_the_end_of_the_input_ends_the_client_after_the_last_move_is_done() -> None:
    async with seated(KOI_KOI, as_json=True) as seat:
        seat.screen.type((await turn_of(seat))["legal"][0])
        seat.screen.end_input()
        assert await seat.status() == 0
        assert [line for line in spoken(seat) if line["t"] == "done" and line["command"] == "act"]


async def test_a_room_that_does_not_exist_is_an_error_and_a_failure() -> None:
    hall = Hall(KOI_KOI)
    hall.refuse_next = RefusedMessage(id=None, code=Refused.UNKNOWN_ROOM)
    async with seated(KOI_KOI, as_json=True, hall=hall, door=Watch, code=CODE) as seat:
        assert await seat.status() == 1
        assert spoken(seat)[-1]["code"] == Refused.UNKNOWN_ROOM


async def test_a_spectator_gets_events_and_views_without_hands() -> None:
    hall = Hall(KOI_KOI, seed=5)
    hall.receive(Create(id="o" * 20 + ".1", game="koi-koi", name="Aki"))
    async with seated(KOI_KOI, as_json=True, hall=hall, start=False, door=Watch, code=CODE) as seat:
        seat.screen.end_input()
        await seat.screen.until('{"t":"table"')
        seat.network.wires[-1].say(hall.receive(Start(id="o" * 20 + ".2")))
        await seat.screen.until('"e":"match-ended"')
        (dealt,) = [line["event"] for line in spoken(seat) if line["t"] == "event" and line["event"]["e"] == "dealt"]
        assert dealt["hands"] == [None, None]
