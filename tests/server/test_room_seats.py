"""Who sits where: joining, moving, leaving, hosting, and what becomes of a room that nobody is in."""

from __future__ import annotations

from typing import Any

import pytest

from engine.game import Seat
from engine.registry import GAMES
from protocol.codes import Refused
from protocol.events import (
    AiSeated,
    HostIs,
    RoomClosed,
    SeatBack,
    SeatFreed,
    SeatTaken,
    WhyClosed,
    WhyFreed,
)
from protocol.events import Rematched as RematchedEvent
from protocol.messages import Act, ClearSeat, Join, Move, Rematch, SeatAi
from server.entries import Actor, Joined
from server.room import (
    Ai,
    AiMove,
    Open,
    Phase,
    Refuse,
    ai_moves,
    move_for,
    next_due,
    summary,
    turn,
)
from tests.server.roomkit import START_MS, TIMING, Hall, accepted, happened, leave, person
from tests.server.test_room_commands import PLAIN_DECK, in_phase, playing

# Sitting down ----------------------------------------------------------------------------------------------------


def test_a_join_takes_an_open_seat_rather_than_an_ais() -> None:
    hall = Hall(seat=1)
    hall.must(SeatAi(id=hall.id_at(1), seat=0), 1)
    assert hall.join("Bob") == 0

    hall = Hall(GAMES["hachinin-meri"])
    hall.must(SeatAi(id=hall.id_at(0), seat=1), 0)
    assert hall.join("Bob") == 2
    assert hall.join("Cid", side=1) == 3


def test_a_person_moves_and_an_ai_changes_places_with_them() -> None:
    hall = Hall()
    hall.must(SeatAi(id=hall.id_at(0), seat=1, level="easy"), 0)
    before = len(hall.events)

    hall.must(Move(id=hall.id_at(0), seat=1), 0)

    assert hall.room.seats[0] == Ai("easy")
    assert hall.name_at(1) == "Ann"
    assert hall.room.host == 1
    assert hall.events[before:] == [
        SeatFreed(seat=0, why=WhyFreed.MOVED),
        SeatTaken(seat=1, name="Ann"),
        AiSeated(seat=0, level="easy"),
        HostIs(seat=1),
    ]


def test_a_moved_person_keeps_connection_and_token() -> None:
    hall = Hall()
    epoch = hall.epoch(0)
    token = hall.tokens[Seat(0)]

    hall.must(Move(id=hall.id_at(0), seat=1), 0)

    assert hall.epoch(1) == epoch
    assert hall.tokens == {1: token}
    accepted(hall.resume(1))


def test_who_joins_in_the_middle_of_an_ais_decision_decides_it_and_the_ais_move_is_refused() -> None:
    hall = playing()
    accepted(hall.act(0, "d2"))
    (move,) = ai_moves(hall.room)
    at = hall.decision.at

    hall.join("Bob", 1)

    assert ai_moves(hall.room) == ()
    assert move_for(hall.room, move, "d3", Actor.AI, hall.now, games=hall.games) is None
    asked = turn(hall.room, Seat(1), hall.now, games=hall.games)
    assert asked is not None
    assert asked.at == at
    accepted(hall.act(1, "d3"))


def test_leaving_during_a_match_hands_the_open_decision_to_an_ai_at_once() -> None:
    hall = playing()
    hall.join("Bob", 1)
    at = hall.decision.at

    leave(hall, 0)

    assert hall.room.seats[0] == Ai("medium")
    assert [(move.seat, move.at) for move in ai_moves(hall.room)] == [(0, at)]
    assert happened(hall.events, SeatFreed)[-1] == SeatFreed(seat=0, why=WhyFreed.LEFT, level="medium")


@pytest.mark.parametrize("phase", [Phase.LOBBY, Phase.FINISHED])
def test_leaving_while_no_match_is_on_opens_the_seat(phase: Phase) -> None:
    hall = in_phase(phase)
    hall.join("Bob", 1)

    leave(hall, 1)

    assert hall.room.seats[1] == Open()


def test_the_host_removes_a_person_during_a_match_and_an_ai_plays_on() -> None:
    hall = playing()
    hall.join("Bob", 1)

    hall.must(ClearSeat(id=hall.id_at(0), seat=1), 0)

    assert hall.room.seats[1] == Ai("medium", kept=True)
    assert happened(hall.events, SeatFreed)[-1].why is WhyFreed.REMOVED


def test_nobody_takes_the_seat_of_who_was_removed_from_a_deal_and_sees_that_hand() -> None:
    """Not even the host, under another name; and whoever asks for any seat is told what they wait for."""
    hall = playing()
    hall.join("Bob", 1)
    hall.must(ClearSeat(id=hall.id_at(0), seat=1), 0)
    for fields in ({}, {"seat": 1}, {"side": 1}):
        joining = Join(id=hall.client("Ann again").id(), code=hall.room.code, name="Ann again", **fields)
        assert hall.ask(joining) == Refuse(Refused.SEAT_KEPT, {"seat": 1, "free": ()})
    assert summary(hall.room).open == ()

    while hall.phase() is Phase.PLAYING:
        if not hall.ai():
            hall.act(0)

    assert hall.room.seats[1] == Ai("medium")
    assert summary(hall.room).open == (1,)
    hall.join("Cid", 1)


def test_a_person_who_leaves_a_deal_leaves_a_seat_that_anybody_may_take_at_once() -> None:
    hall = playing()
    hall.join("Bob", 1)
    leave(hall, 1)

    hall.join("Cid", 1)

    assert hall.name_at(1) == "Cid"


def test_where_another_seat_is_free_a_newcomer_who_names_none_gets_that_one() -> None:
    hall = Hall(GAMES["hachinin-meri"])
    hall.join("Bob", 1)
    hall.start("easy")
    hall.deal_now()
    hall.must(ClearSeat(id=hall.id_at(0), seat=1), 0)

    assert hall.join("Cid", side=1) == 3


def test_a_room_of_an_older_log_in_which_such_a_seat_was_taken_is_read_as_it_was() -> None:
    hall = playing()
    hall.join("Bob", 1)
    hall.must(ClearSeat(id=hall.id_at(0), seat=1), 0)

    hall.body(Joined(seat=Seat(1), name="Cid", token=b"t" * 32))

    assert happened(hall.events, SeatTaken)[-1] == SeatTaken(seat=1, name="Cid")
    assert hall.name_at(1) == "Cid"


# Hosting ---------------------------------------------------------------------------------------------------------


def test_hosting_passes_to_the_person_seated_longest() -> None:
    hall = Hall(seat=1)
    hall.join("Bob", 0)
    leave(hall, 1)
    assert hall.room.host == 0
    hall.join("Cid", 1)

    leave(hall, 0)

    assert hall.room.host == 1
    assert [event.seat for event in happened(hall.events, HostIs)] == [1, 0, 1]


def test_hosting_passes_on_when_an_ai_stands_in_for_the_host_and_stays_there() -> None:
    hall = playing()
    hall.join("Bob", 1)
    hall.drop(0)
    hall.later(TIMING.grace_ms - 1)
    assert hall.room.host == 0

    hall.later(1)
    assert hall.room.host == 1
    hall.resume(0)
    assert hall.room.host == 1


def test_hosting_stays_where_it_is_while_nobody_better_is_here_and_goes_to_the_first_who_returns() -> None:
    hall = playing()
    hall.join("Bob", 1)
    hall.drop(1)
    hall.drop(0)
    hall.later(TIMING.grace_ms)
    assert all(person(hall, seat).stand_in for seat in (0, 1))
    assert hall.room.host == 1
    assert len(happened(hall.events, HostIs)) == 2

    hall.resume(0)

    assert hall.room.host == 0


def test_hosting_passes_to_who_is_here_before_who_is_away() -> None:
    hall = Hall(GAMES["hachinin-meri"])
    hall.join("Bob", 1)
    hall.join("Cid", 2)
    hall.drop(1)

    leave(hall, 0)

    assert hall.room.host == 2


# No person left --------------------------------------------------------------------------------------------------


def test_a_match_stands_still_when_the_last_person_leaves_and_the_room_closes_after_a_while() -> None:
    hall = playing()
    leave(hall, 0)

    assert ai_moves(hall.room) == ()
    assert next_due(hall.room) == hall.now + TIMING.abandoned_ms
    hall.later(TIMING.abandoned_ms - 1)
    assert hall.phase() is Phase.PLAYING
    hall.later(1)
    assert hall.phase() is Phase.CLOSED
    assert hall.events[-1] == RoomClosed(why=WhyClosed.NOBODY_LEFT)


def test_who_joins_a_room_that_stands_still_is_its_host_and_the_match_goes_on_with_the_time_it_had() -> None:
    hall = in_phase(Phase.PLAYING)
    publish_at = hall.decision.publish_at
    leave(hall, 0)
    hall.later(TIMING.abandoned_ms - 1)

    hall.join("Bob", 0)

    assert hall.room.host == 0
    assert hall.decision.publish_at == publish_at + TIMING.abandoned_ms - 1
    assert [move.seat for move in ai_moves(hall.room)] == [1]
    hall.play_on()
    assert hall.phase() is Phase.FINISHED


def test_when_the_last_person_merely_drops_the_ai_play_the_match_to_its_end_and_the_room_closes() -> None:
    hall = in_phase(Phase.PLAYING)
    hall.drop(0)

    hall.later(TIMING.grace_ms)
    hall.play_on()
    assert hall.phase() is Phase.FINISHED
    hall.later(TIMING.finished_idle_ms)
    assert hall.phase() is Phase.CLOSED
    assert hall.events[-1] == RoomClosed(why=WhyClosed.IDLE)


def test_the_result_stays_to_be_seen_however_long_ago_the_last_command_was() -> None:
    hall = playing()
    hall.later(TIMING.person_idle_ms)
    hall.play_on()

    hall.later(TIMING.finished_idle_ms - 1)

    assert hall.phase() is Phase.FINISHED


@pytest.mark.parametrize("phase", [Phase.LOBBY, Phase.FINISHED])
def test_a_room_where_nothing_happens_closes(phase: Phase) -> None:
    hall = in_phase(phase)
    idle_ms = {Phase.LOBBY: TIMING.lobby_idle_ms, Phase.FINISHED: TIMING.finished_idle_ms}[phase]

    hall.later(idle_ms - 1)
    assert hall.phase() is phase
    hall.later(1)
    assert hall.events[-1] == RoomClosed(why=WhyClosed.IDLE)


def test_every_command_puts_off_the_end_of_an_idle_room() -> None:
    hall = Hall()
    hall.later(TIMING.lobby_idle_ms - 1)
    hall.must(SeatAi(id=hall.id_at(0), seat=1), 0)

    hall.later(TIMING.lobby_idle_ms - 1)

    assert hall.phase() is Phase.LOBBY


# Rematch ---------------------------------------------------------------------------------------------------------


def test_a_rematch_goes_back_to_the_lobby_with_everyone_in_their_seats() -> None:
    hall = in_phase(Phase.FINISHED)
    seats = [type(holder) for holder in hall.room.seats]
    assert hall.room.table is not None
    first = hall.room.table.id

    hall.must(Rematch(id=hall.id_at(0)), 0)

    assert hall.events[-1] == RematchedEvent()
    assert hall.phase() is Phase.LOBBY
    assert hall.room.table is None, "the match that was played is shown no more"
    assert [type(holder) for holder in hall.room.seats] == seats
    hall.start()
    assert hall.room.table is not None
    assert hall.room.table.id != first
    hall.play_on()
    assert hall.phase() is Phase.FINISHED


def test_after_a_rematch_nobody_is_stood_in_for_and_who_is_away_has_a_new_grace_period() -> None:
    hall = playing()
    hall.join("Bob", 1)
    hall.drop(1)
    hall.later(TIMING.grace_ms)
    hall.play_on()

    hall.must(Rematch(id=hall.id_at(0)), 0)

    bob = person(hall, 1)
    assert (bob.away, bob.stand_in, bob.grace_until) == (True, False, hall.now + TIMING.grace_ms)
    hall.later(TIMING.grace_ms)
    assert hall.room.seats[1] == Open()


def test_after_a_rematch_who_is_here_moves_for_themselves_though_an_ai_stood_in() -> None:
    hall = playing()
    hall.join("Bob", 1)
    while not (hall.phase() is Phase.PLAYING and hall.decision.seats == (1,)):
        accepted(hall.act(0))
    hall.later(TIMING.person_idle_ms)
    bob = person(hall, 1)
    assert (bob.away, bob.stand_in) == (False, True)
    hall.play_on()
    assert person(hall, 1).stand_in

    hall.must(Rematch(id=hall.id_at(0)), 0)

    assert not person(hall, 1).stand_in
    assert hall.events[-1] == SeatBack(seat=1)


def test_the_ai_moves_asked_for_name_seat_level_and_decision() -> None:
    hall = playing()
    accepted(hall.act(0, "d2"))

    assert ai_moves(hall.room) == (AiMove(Seat(1), "medium", hall.decision.at, hall.now, sealed=False),)


def test_an_ai_that_was_seated_plays_at_its_own_level_and_not_at_that_of_stand_ins() -> None:
    hall = Hall()
    hall.must(SeatAi(id=hall.id_at(0), seat=1, level="easy"), 0)
    hall.start("medium")
    hall.deal_now()

    assert [(move.seat, move.level) for move in ai_moves(hall.room)] == [(1, "easy")]


def test_a_rooms_time_never_goes_back() -> None:
    hall = Hall()
    hall.now = START_MS - 60_000  # another node's clock

    decided = hall.must(SeatAi(id=hall.id_at(0), seat=1), 0)

    assert decided.entry.at == START_MS
    assert hall.fire() == []


def test_a_closed_seat_number_is_never_mistaken_for_a_person() -> None:
    hall = in_phase(Phase.PLAYING)
    decided: Any = hall.ask(Act(id=hall.client("Eve").id(), action="single", at=hall.decision.at), 1)

    assert decided == Refuse(Refused.NOT_IN_A_ROOM)


def test_dealing_goes_on_for_who_comes_in_the_middle_of_the_shuffle() -> None:
    hall = in_phase(Phase.SHUFFLING)
    hall.join("Bob", 1)
    hall.deal_now(PLAIN_DECK)

    assert hall.decision.seats == (0, 1)
