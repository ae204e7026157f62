"""Which command does what in which phase, and what refuses it."""

from __future__ import annotations

import itertools
from typing import Any, Final

import pytest

from engine.game import Seat, Why
from protocol.codec import Malformed, decode_command, encode
from protocol.codes import Refused
from protocol.events import WhyClosed
from protocol.messages import (
    Act,
    Chat,
    ChosenSettings,
    ClearSeat,
    Contribute,
    Create,
    Join,
    Leave,
    Lock,
    Move,
    Mute,
    Ready,
    Rematch,
    Resume,
    SeatAi,
    Start,
    Wink,
)
from server.entries import Created, Timing
from server.room import Ai, Append, Open, Phase, Refuse, Repeat, may_watch, open_room, room_id_of
from server.room.answers import Params
from server.room.clock import close
from server.room.deciding import ALLOWED, HOST_ONLY
from server.room.state import TRANSITIONS
from tests.server.roomkit import GAMES, START_MS, TIMING, Dice, Hall, accepted, any_command, refused

PLAIN_DECK = ("d2", "d4", "d3", "d5", "d1", "d6")
"""The beginner holds d2 and d4, the other d3 and d5; nothing is dealt again."""


def in_phase(phase: Phase, timing: Timing = TIMING) -> Hall:
    """A room of Ann (host, seat 0) and an AI in seat 1, in ``phase``."""
    hall = Hall(options={"deals": 3}, timing=timing)
    if phase is Phase.LOBBY:
        hall.must(SeatAi(id=hall.id_at(0), seat=1), 0)
        return hall
    hall.start()
    if phase is Phase.SHUFFLING:
        return hall
    hall.deal_now(PLAIN_DECK)
    if phase is Phase.PLAYING:
        return hall
    hall.publish()
    play_deal(hall)
    if phase is Phase.BETWEEN_DEALS:
        return hall
    while hall.phase() is not Phase.FINISHED:
        hall.deal_now(PLAIN_DECK)
        hall.publish()
        play_deal(hall)
    if phase is Phase.CLOSED:
        entry = close(hall.room, WhyClosed.OPERATOR, hall.now)
        assert entry is not None
        hall.append(entry)
    assert hall.phase() is phase
    return hall


def play_deal(hall: Hall) -> None:
    while hall.phase() is Phase.PLAYING:
        if not hall.ai():
            accepted(hall.act(0))


NOT_NOW = str(Refused.NOT_NOW)
MATCH = (Phase.SHUFFLING, Phase.PLAYING, Phase.BETWEEN_DEALS)
EXPECTED: dict[type[Any], dict[Phase, str]] = {
    # What the host in seat 0 is told, an AI being in seat 1: "" is accepted.
    Create: dict.fromkeys(Phase, str(Refused.ALREADY_IN_A_ROOM)) | {Phase.CLOSED: NOT_NOW},
    Join: dict.fromkeys(Phase, str(Refused.ALREADY_IN_A_ROOM)) | {Phase.CLOSED: NOT_NOW},
    Resume: dict.fromkeys(Phase, "") | {Phase.CLOSED: NOT_NOW},
    Move: dict.fromkeys(Phase, NOT_NOW) | {Phase.LOBBY: ""},
    SeatAi: dict.fromkeys(Phase, NOT_NOW) | {Phase.LOBBY: ""},
    ClearSeat: dict.fromkeys(Phase, NOT_NOW) | {Phase.LOBBY: ""},
    Start: dict.fromkeys(Phase, NOT_NOW) | {Phase.LOBBY: ""},
    Contribute: dict.fromkeys(Phase, NOT_NOW) | {Phase.SHUFFLING: ""},
    Act: dict.fromkeys(Phase, NOT_NOW) | {Phase.PLAYING: ""},
    Ready: dict.fromkeys(Phase, NOT_NOW) | {Phase.BETWEEN_DEALS: ""},
    Rematch: dict.fromkeys(Phase, NOT_NOW) | {Phase.FINISHED: ""},
    Chat: dict.fromkeys(Phase, "") | {Phase.CLOSED: NOT_NOW},
    Wink: dict.fromkeys(Phase, NOT_NOW) | {Phase.PLAYING: str(Refused.SWITCHED_OFF)},
    Mute: dict.fromkeys(Phase, str(Refused.NO_PERSON)) | {Phase.CLOSED: NOT_NOW},
    Lock: dict.fromkeys(Phase, "") | {Phase.CLOSED: NOT_NOW},
    Leave: dict.fromkeys(Phase, "") | {Phase.CLOSED: NOT_NOW},
}


@pytest.mark.parametrize(("kind", "phase"), list(itertools.product(EXPECTED, Phase)))
def test_each_command_in_each_phase_is_accepted_or_refused_with_its_code(kind: type[Any], phase: Phase) -> None:
    hall = in_phase(phase)
    before = hall.room

    decided = hall.ask(any_command(hall, kind, 0), 0)

    if EXPECTED[kind][phase]:
        assert refused(decided) == EXPECTED[kind][phase]
    else:
        assert isinstance(decided, Append)
        hall.append(decided.entry)
    assert before == hall.room or isinstance(decided, Append)


def test_the_table_of_commands_knows_every_command_of_a_room() -> None:
    assert set(ALLOWED) == set(EXPECTED)


def test_every_phase_can_be_left_but_the_last() -> None:
    assert set(TRANSITIONS) == set(Phase)
    assert [phase for phase, after in TRANSITIONS.items() if not after] == [Phase.CLOSED]
    assert all(Phase.CLOSED in after for phase, after in TRANSITIONS.items() if after)


@pytest.mark.parametrize("kind", [kind for kind in EXPECTED if kind not in {Create, Join, Resume}])
@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.CLOSED])
def test_a_spectator_only_watches(kind: type[Any], phase: Phase) -> None:
    hall = in_phase(phase)
    expected = str(Refused.SPECTATORS_ONLY_WATCH) if phase in ALLOWED[kind] else NOT_NOW

    assert refused(hall.ask(any_command(hall, kind, 0), None)) == expected


@pytest.mark.parametrize(
    ("kind", "phase"),
    [
        (SeatAi, Phase.LOBBY),
        (ClearSeat, Phase.LOBBY),
        (Start, Phase.LOBBY),
        (Rematch, Phase.FINISHED),
        (Lock, Phase.LOBBY),
    ],
)
def test_a_guest_cannot_do_what_is_for_the_host(kind: type[Any], phase: Phase) -> None:
    assert kind in HOST_ONLY
    hall = in_phase(phase)
    guest = hall.join("Bob", 1)

    decided = hall.ask(any_command(hall, kind, guest), guest)

    assert decided == Refuse(Refused.ONLY_THE_HOST, {"host": 0})


@pytest.mark.parametrize("phase", [Phase.LOBBY, Phase.PLAYING])
def test_who_lost_the_seat_commands_nothing_there_any_more(phase: Phase) -> None:
    hall = in_phase(phase)
    bob = hall.join("Bob", 1)
    epoch = hall.epoch(bob)
    if phase is Phase.LOBBY:
        hall.must(ClearSeat(id=hall.id_at(0), seat=bob), 0)
    else:
        hall.must(Leave(id=hall.id_at(bob)), bob)

    leave = Leave(id=hall.client("Bob").id())
    assert refused(hall.ask(leave, bob, epoch=epoch)) == Refused.NOT_IN_A_ROOM
    hall.join("Cid", bob)
    assert refused(hall.ask(leave, bob, epoch=epoch)) == Refused.NOT_IN_A_ROOM


# Opening a room --------------------------------------------------------------------------------------------------


def create(**fields: Any) -> Create:
    return Create(**({"id": "a" * 24 + ".1", "game": "duel", "name": "Ann"} | fields))


def opened(command: Create) -> Append | Refuse:
    return open_room(command, START_MS, Dice(), games=GAMES)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"game": "bridge"}, Refused.UNKNOWN_GAME),
        ({"options": {"hands": 3}}, Why.UNKNOWN_OPTION),
        ({"options": {"deals": 2}}, Why.BAD_OPTION_VALUE),
        ({"seat": 2}, Refused.NO_SUCH_SEAT),
        ({"name": "\u200b"}, Refused.BAD_NAME),
        ({"name": "x" * 25}, Refused.BAD_NAME),
    ],
)
def test_a_room_that_cannot_be_is_refused_with_its_code(fields: dict[str, Any], code: str) -> None:
    assert refused(opened(create(**fields))) == code


DAYS_7: Final = 7 * 24 * 3600


@pytest.mark.parametrize("seconds", [0, 10, DAYS_7])
def test_a_turn_is_without_limit_or_lasts_from_ten_seconds_to_seven_days(seconds: int) -> None:
    command = create(settings=ChosenSettings(turn_limit=seconds))

    found = opened(decode(command))

    assert isinstance(found, Append)
    assert isinstance(found.entry.body, Created)
    assert found.entry.body.settings.turn_limit == seconds


@pytest.mark.parametrize("seconds", [1, 9])
def test_a_turn_of_less_than_ten_seconds_is_refused(seconds: int) -> None:
    command = create(settings=ChosenSettings(turn_limit=seconds))

    assert refused(opened(decode(command))) == Refused.BAD_FIELD


@pytest.mark.parametrize("seconds", [-1, DAYS_7 + 1])
def test_a_turn_of_more_than_seven_days_or_less_than_nothing_is_not_even_a_command(seconds: int) -> None:
    with pytest.raises(Malformed) as refusal:
        decode(create(settings=ChosenSettings(turn_limit=seconds)))

    assert refusal.value.code == Refused.BAD_FIELD
    assert refusal.value.params["path"] == "$.settings.turn_limit"


def decode(command: Create) -> Create:
    """The command as it comes out of a frame."""
    decoded = decode_command(encode(command))
    assert isinstance(decoded, Create)
    return decoded


def test_two_nodes_given_one_create_command_open_one_room() -> None:
    command = create()

    first = open_room(command, START_MS, Dice("a"), games=GAMES)
    second = open_room(command, START_MS + 5_000, Dice("b"), games=GAMES)

    assert isinstance(first, Append)
    assert isinstance(second, Append)
    assert first.entry.body.room == second.entry.body.room == room_id_of(command.id)  # type: ignore[union-attr]
    assert first.token != second.token


def test_a_room_opens_with_its_creator_as_host_in_the_seat_they_chose() -> None:
    hall = Hall(seat=1, host=" An\u202en \t Lee ")

    assert hall.room.host == 1
    assert hall.name_at(1) == "Ann Lee"
    assert hall.room.seats[0] == Open()
    assert hall.room.options == {"deals": 1, "next_first": "alternating", "stakes": "double"}


# Each command ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Move, SeatAi, ClearSeat])
def test_a_seat_that_does_not_exist_is_refused(kind: type[Any]) -> None:
    hall = Hall()

    assert hall.ask(kind(id=hall.id_at(0), seat=2), 0) == Refuse(Refused.NO_SUCH_SEAT, {"seats": 2})


def test_a_taken_seat_is_refused_and_the_free_ones_are_named() -> None:
    hall = Hall()

    joining = Join(id=hall.client("Bob").id(), code=hall.room.code, name="Bob", seat=0)

    assert hall.ask(joining) == Refuse(Refused.SEAT_TAKEN, {"seat": 0, "free": ("1",)})
    assert hall.ask(SeatAi(id=hall.id_at(0), seat=0), 0) == Refuse(Refused.SEAT_TAKEN, {"seat": 0, "free": ("1",)})


def test_a_taken_side_is_refused_and_a_full_room_too() -> None:
    hall = Hall()
    bob = hall.client("Bob")

    assert hall.ask(Join(id=bob.id(), code=hall.room.code, name="Bob", side=0)) == Refuse(
        Refused.SEAT_TAKEN, {"side": 0, "free": ("1",)}
    )
    assert hall.join("Bob", side=1) == 1
    assert refused(hall.ask(Join(id=bob.id(), code=hall.room.code, name="Bob"))) == Refused.ROOM_FULL


def test_an_open_seat_cannot_be_cleared() -> None:
    hall = Hall()

    assert hall.ask(ClearSeat(id=hall.id_at(0), seat=1), 0) == Refuse(Refused.SEAT_OPEN, {"seat": 1})


@pytest.mark.parametrize("kind", [Start, SeatAi])
def test_a_level_that_the_game_does_not_play_is_refused(kind: type[Any]) -> None:
    hall = Hall()
    fields = {"seat": 1} if kind is SeatAi else {}

    decided = hall.ask(kind(id=hall.id_at(0), level="expert", **fields), 0)

    told: Params = {"option": "level", "value": "expert", "allowed": ("easy", "medium")}
    assert decided == Refuse(Why.BAD_OPTION_VALUE, told)


def test_start_puts_ai_of_its_level_into_open_seats_only() -> None:
    hall = Hall()
    hall.start("easy")
    assert hall.room.seats[1] == Ai("easy")

    other = Hall()
    other.must(SeatAi(id=other.id_at(0), seat=1, level="medium"), 0)
    other.start("easy")
    assert other.room.seats[1] == Ai("medium")


def test_moving_to_the_own_seat_and_being_ready_twice_are_accepted_and_change_nothing() -> None:
    hall = Hall()
    assert hall.ask(Move(id=hall.id_at(0), seat=0), 0) == Repeat()

    hall = in_phase(Phase.BETWEEN_DEALS)
    guest = hall.join("Bob", 1)
    hall.must(Ready(id=hall.id_at(guest)), guest)
    assert hall.ask(Ready(id=hall.id_at(guest)), guest) == Repeat()


def test_only_who_was_seated_when_the_match_was_opened_contributes_and_only_once() -> None:
    hall = in_phase(Phase.SHUFFLING)
    bob = hall.join("Bob", 1)
    hall.must(Contribute(id=hall.id_at(0), value="11" * 32), 0)

    assert refused(hall.ask(Contribute(id=hall.id_at(0), value="22" * 32), 0)) == Why.ALREADY_ANSWERED
    assert refused(hall.ask(Contribute(id=hall.id_at(bob), value="22" * 32), bob)) == Refused.NOT_NOW


def test_watching_is_for_the_room_to_allow() -> None:
    assert may_watch(Hall().room) is None
    assert may_watch(Hall(settings=ChosenSettings(spectators=False)).room) == Refuse(Refused.SPECTATORS_NOT_ALLOWED)
    closed = may_watch(in_phase(Phase.CLOSED).room)
    assert closed is not None
    assert closed.code == Refused.NOT_NOW


# Acting ----------------------------------------------------------------------------------------------------------


def playing() -> Hall:
    """Ann holds d2 and d4 and is to play; the AI in seat 1 holds d3 and d5."""
    hall = in_phase(Phase.PLAYING)
    hall.publish()
    return hall


def act(hall: Hall, action: str, *, at: int | None = None, seat: int = 0) -> Any:
    number = hall.decision.at if at is None else at
    return hall.ask(Act(id=hall.client("Ann").id(), action=action, at=number), seat)


def test_a_text_that_is_no_action_of_the_game_is_malformed() -> None:
    assert act(playing(), "x9") == Refuse(Refused.MALFORMED_ACTION, {"action": "x9"})


def test_a_move_that_the_rules_forbid_is_refused_with_the_games_code() -> None:
    assert act(playing(), "d3") == Refuse(Why.NOT_IN_HAND, {"card": "d3"})


def test_a_move_for_another_decision_is_stale_and_told_which_is_open() -> None:
    hall = playing()

    assert act(hall, "d2", at=hall.decision.at - 1) == Refuse(Refused.STALE, {"at": hall.decision.at})
    assert act(hall, "d2", at=hall.decision.at + 1) == Refuse(Refused.STALE, {"at": hall.decision.at})


def test_a_move_out_of_turn_is_refused() -> None:
    hall = playing()
    bob = hall.join("Bob", 1)
    decision = hall.decision.at

    assert refused(act(hall, "d3", seat=bob)) == Why.NOT_YOUR_TURN
    assert act(hall, "d3", seat=bob, at=decision - 1) == Refuse(Refused.STALE, {"at": 0})


def test_a_doubled_move_hits_only_the_decision_it_answers() -> None:
    hall = playing()
    at = hall.decision.at
    accepted(hall.act(0, "d2"))

    assert refused(act(hall, "d4", at=at)) == Refused.STALE


def test_the_seat_is_where_the_connection_is_then() -> None:
    hall = Hall()
    hall.join("Bob", 1)

    assert hall.must(Leave(id=hall.id_at(1)), 1).seat is None
    assert hall.must(Move(id=hall.id_at(0), seat=1), 0).seat == Seat(1)
    assert hall.must(ClearSeat(id=hall.id_at(1), seat=1), 1).seat is None
