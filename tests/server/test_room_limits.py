"""Time and AI in a room: turn limits, time that is given back, and what a driver may do for a seat."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.game import IllegalAction, MalformedAction, Seat
from protocol.codes import Refused
from protocol.events import (
    SeatBack,
    StandIn,
    WhyClosed,
)
from protocol.messages import Act, ChosenSettings, Leave, Resume
from server.entries import Acted, Actor, Closed, StoodIn
from server.room import (
    Append,
    Phase,
    Refuse,
    ai_moves,
    default_action,
    fire,
    fold,
    move_for,
    next_due,
    refund,
    turn,
)
from server.room.measure import RETURNS
from server.room.state import LONG, TOO_LONG
from tests.server.roomkit import GAMES, TIMING, Hall, accepted, bodies, happened, refused
from tests.server.test_room_commands import PLAIN_DECK, in_phase, playing


def limited(seconds: int = 20) -> Hall:
    """Ann, with a turn limit, is to play from d2 and d4; the AI in seat 1 holds d3 and d5."""
    hall = Hall(settings=ChosenSettings(turn_limit=seconds))
    hall.start()
    hall.deal_now(PLAIN_DECK)
    hall.publish()
    assert hall.decision.seats == (0,)
    return hall


# Turn limits -----------------------------------------------------------------------------------------------------


def test_a_turn_says_how_much_time_is_left() -> None:
    hall = limited(20)

    asked = turn(hall.room, Seat(0), hall.now + 5_000, games=GAMES)
    late = turn(hall.room, Seat(0), hall.now + 21_000, games=GAMES)

    assert asked is not None
    assert asked.left_ms == 15_000
    assert late is not None
    assert late.left_ms == 0
    unlimited = turn(playing().room, Seat(0), 0, games=GAMES)
    assert unlimited is not None
    assert unlimited.left_ms is None


def test_one_ms_before_the_deadline_nothing_is_due() -> None:
    hall = limited(20)
    deadline = hall.now + 20_000

    assert next_due(hall.room) == deadline
    assert fire(hall.room, deadline - 1, games=GAMES) is None


@pytest.mark.parametrize("late_ms", [0, 1])
def test_at_the_deadline_and_after_it_the_default_action_is_taken(late_ms: int) -> None:
    hall = limited(20)
    hall.now += 20_000 + late_ms

    (entry,) = hall.fire()

    assert entry.body == Acted(seat=Seat(0), action="d2", actor=Actor.CLOCK)
    assert entry.command is None


@pytest.mark.parametrize("late_ms", [-1, 0, 1])
def test_of_a_move_and_the_default_action_around_the_deadline_exactly_one_is_in_the_log(late_ms: int) -> None:
    for first in ("move", "clock"):
        hall = limited(20)
        hall.now += 20_000 + late_ms
        command = Act(id=hall.id_at(0), action="d4", at=hall.decision.at)
        if first == "clock":
            hall.fire()
        decided = hall.do(command, 0)
        hall.fire()

        made = [(body.action, body.actor) for body in bodies(hall, Acted)]
        if first == "clock" and late_ms >= 0:
            assert refused(decided) == "stale"
            assert made == [("d2", Actor.CLOCK)]
        else:
            assert made == [("d4", Actor.PERSON)]


def test_without_a_limit_a_person_who_does_nothing_for_far_too_long_is_stood_in_for() -> None:
    hall = playing()
    hall.later(TIMING.person_idle_ms - 1)
    assert happened(hall.events, StandIn) == []

    (entry,) = hall.later(1)

    assert entry.body == StoodIn(seat=Seat(0))
    assert [move.seat for move in ai_moves(hall.room)] == [0]


def test_a_move_of_a_person_who_was_idle_ends_the_standing_in() -> None:
    hall = playing()
    hall.later(TIMING.person_idle_ms)
    assert turn(hall.room, Seat(0), hall.now, games=GAMES) is not None

    accepted(hall.act(0, "d2"))

    assert happened(hall.events, SeatBack) == [SeatBack(seat=0)]


def test_dropping_out_and_returning_gains_no_time() -> None:
    hall = limited(60)
    deadline = hall.now + 60_000
    hall.drop(0)
    hall.later(TIMING.grace_ms)  # an AI stands in
    hall.resume(0)

    assert next_due(hall.room) == deadline
    hall.drop(0)
    hall.resume(0)
    assert next_due(hall.room) == deadline


def test_nothing_that_others_do_shortens_a_persons_time() -> None:
    hall = limited(60)
    hall.join("Bob", 1)
    deadline = hall.now + 60_000
    for _ in range(3):
        hall.later(1_000)
        hall.drop(1)
        hall.later(1_000)
        hall.resume(1)
    hall.drop(1)
    hall.later(TIMING.grace_ms)
    hall.must(Leave(id=hall.id_at(1)), 1)

    assert next_due(hall.room) == deadline


def test_who_takes_over_a_seat_has_the_whole_turn_limit_and_not_their_predecessors_rest() -> None:
    hall = limited(60)
    hall.join("Bob", 1)
    hall.later(50_000)
    hall.must(Leave(id=hall.id_at(0)), 0)
    hall.join("Cid", 0)

    assert next_due(hall.room) == hall.now + 60_000


def test_who_takes_over_an_ais_decision_has_the_whole_turn_limit() -> None:
    hall = limited(60)
    accepted(hall.act(0, "d2"))
    hall.later(50_000)
    hall.join("Bob", 1)

    assert next_due(hall.room) == hall.now + 60_000


def test_an_ai_that_never_answers_is_replaced_by_the_default_action() -> None:
    hall = playing()
    accepted(hall.act(0, "d2"))

    hall.later(TIMING.ai_limit_ms - 1)
    assert hall.phase() is Phase.PLAYING
    (entry, *_) = hall.later(1)

    assert entry.body == Acted(seat=Seat(1), action="d3", actor=Actor.CLOCK)


@pytest.mark.parametrize("wait", ["deadline", "publication", "pause", "grace", "contributions", "idle", "abandoned"])
def test_time_that_an_outage_took_is_given_back_to_everything_that_waits(wait: str) -> None:
    if wait == "deadline":
        hall = limited()
    elif wait == "abandoned":
        hall = playing()
        hall.must(Leave(id=hall.id_at(0)), 0)
    else:
        phases = {"publication": Phase.PLAYING, "pause": Phase.BETWEEN_DEALS, "contributions": Phase.SHUFFLING}
        hall = in_phase(phases.get(wait, Phase.LOBBY))
        if wait == "grace":
            hall.drop(0)
    due = next_due(hall.room)
    assert due is not None

    entry = refund(hall.room, 7_000, hall.now)
    assert entry is not None
    assert hall.append(entry) == ()

    assert next_due(hall.room) == due + 7_000


# The driver's door -----------------------------------------------------------------------------------------------


def test_an_ais_illegal_or_malformed_answer_is_an_error_and_changes_nothing() -> None:
    hall = playing()
    accepted(hall.act(0, "d2"))
    (move,) = ai_moves(hall.room)

    with pytest.raises(IllegalAction):
        move_for(hall.room, move, "d4", Actor.AI, hall.now, games=GAMES)
    with pytest.raises(MalformedAction):
        move_for(hall.room, move, "knock", Actor.AI, hall.now, games=GAMES)
    fallback = move_for(
        hall.room, move, default_action(hall.room, move.seat, games=GAMES), Actor.CLOCK, hall.now, games=GAMES
    )
    assert fallback is not None
    assert fallback.body == Acted(seat=Seat(1), action="d3", actor=Actor.CLOCK)


def test_an_ais_answer_to_an_earlier_decision_is_dropped() -> None:
    hall = in_phase(Phase.PLAYING)
    (asked,) = ai_moves(hall.room)
    hall.publish()
    accepted(hall.act(0, "d2"))

    assert [move.seat for move in ai_moves(hall.room)] == [asked.seat]
    assert move_for(hall.room, asked, "d3", Actor.AI, hall.now, games=GAMES) is None


# The length of a room --------------------------------------------------------------------------------------------


def test_a_room_whose_log_has_become_long_ends_when_no_match_is_on() -> None:
    """Whoever reads a room reads all of it: one that grows without end would be the end of every node that takes it
    over.
    """
    hall = limited()
    hall._room = replace(hall.room, version=LONG)
    assert fire(hall.room, hall.now, games=GAMES) is None

    finished = in_phase(Phase.FINISHED)
    finished._room = replace(finished.room, version=LONG)
    assert fire(finished.room, finished.now, games=GAMES) is None, "the result can be read"
    later = fire(finished.room, finished.now + TIMING.pause_ms, games=GAMES)
    assert later is not None
    assert later.body == Closed(why=WhyClosed.OPERATOR)

    lobby = in_phase(Phase.LOBBY)
    lobby._room = replace(lobby.room, version=LONG)
    entry = fire(lobby.room, lobby.now, games=GAMES)
    assert entry is not None
    assert entry.body == Closed(why=WhyClosed.OPERATOR)


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.CLOSED])
def test_a_room_whose_log_has_become_too_long_ends_whatever_goes_on(phase: Phase) -> None:
    hall = in_phase(phase)
    hall._room = replace(hall.room, version=TOO_LONG)

    room, fired = hall.room, 0
    while (entry := fire(room, hall.now + TIMING.pause_ms, games=GAMES)) is not None:
        room, fired = fold(room, entry, games=GAMES).room, fired + 1

    assert room.phase is Phase.CLOSED
    assert fired <= 2


def test_one_comes_back_only_so_often_and_again_after_a_while() -> None:
    """Each return is an entry: with a token, and without a limit, one could make a room as long as one likes."""
    hall = limited()
    for _ in range(RETURNS.burst):
        accepted(hall.resume(Seat(0)))
        hall.now += 10

    resume = Resume(id=hall.client("Ann").id(), room=hall.room.id, token=hall.tokens[Seat(0)])
    assert hall.ask(resume, None) == Refuse(Refused.TOO_FAST, {"retry_ms": RETURNS.window_ms - 10 * RETURNS.burst})
    hall.now += RETURNS.window_ms - 10 * RETURNS.burst
    assert isinstance(hall.ask(resume, None), Append)
