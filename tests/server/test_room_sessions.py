"""Whose seat it is: connections that go and come back, tokens, repeated commands."""

from __future__ import annotations

from hmac import compare_digest

import pytest
from msgspec.structs import replace

from engine.game import Seat
from protocol.codes import Refused
from protocol.events import (
    SeatAway,
    SeatBack,
    SeatFreed,
    SeatTaken,
    StandIn,
    WhyClosed,
    WhyFreed,
)
from protocol.messages import Act, ClearSeat, Join, Leave, Resume, SeatAi
from server.entries import Actor, Closed
from server.room import (
    Append,
    Open,
    Phase,
    Refuse,
    Repeat,
    ai_moves,
    drop,
    move_for,
    seat_of,
)
from server.room.measure import HOUSEKEEPING, RETURNS
from server.room.state import COMMANDS_REMEMBERED, SESSIONS_REMEMBERED
from tests.server.roomkit import TIMING, Hall, accepted, happened, leave, person, refused
from tests.server.test_room_commands import in_phase, playing

# Connections -----------------------------------------------------------------------------------------------------


def test_a_drop_shorter_than_the_grace_period_changes_no_mover() -> None:
    hall = playing()
    hall.drop(0)

    hall.later(TIMING.grace_ms - 1)
    hall.resume(0)
    hall.later(TIMING.grace_ms * 2)

    assert happened(hall.events, StandIn) == []
    assert happened(hall.events, SeatAway) == [SeatAway(seat=0, grace_ms=TIMING.grace_ms)]
    assert happened(hall.events, SeatBack) == [SeatBack(seat=0)]


def test_an_ai_stands_in_exactly_when_the_grace_period_is_over() -> None:
    hall = playing()
    hall.drop(0)

    hall.later(TIMING.grace_ms - 1)
    assert ai_moves(hall.room) == ()
    hall.later(1)

    assert happened(hall.events, StandIn) == [StandIn(seat=0, level="medium")]
    assert [move.seat for move in ai_moves(hall.room)] == [0]


@pytest.mark.parametrize("phase", [Phase.SHUFFLING, Phase.BETWEEN_DEALS])
def test_an_ai_stands_in_during_the_whole_match_and_not_only_while_a_deal_is_played(phase: Phase) -> None:
    hall = in_phase(phase, replace(TIMING, grace_ms=1_000))
    hall.drop(0)

    hall.later(1_000)

    assert hall.phase() is phase
    assert person(hall, 0).stand_in
    hall.play_on()
    assert hall.phase() is Phase.FINISHED


def test_who_returns_decides_again_and_the_stand_ins_move_in_flight_is_discarded() -> None:
    hall = playing()
    hall.drop(0)
    hall.later(TIMING.grace_ms)
    (move,) = ai_moves(hall.room)

    hall.resume(0)

    assert move_for(hall.room, move, "d2", Actor.AI, hall.now, games=hall.games) is None
    accepted(hall.act(0, "d2"))


def test_away_for_longer_than_grace_while_no_match_is_on_loses_the_seat() -> None:
    hall = Hall()
    hall.join("Bob", 1)
    hall.drop(1)

    hall.later(TIMING.grace_ms)

    assert hall.room.seats[1] == Open()
    assert happened(hall.events, SeatFreed) == [SeatFreed(seat=1, why=WhyFreed.LOST)]


def test_who_was_stood_in_for_and_then_drops_has_no_grace_period_left() -> None:
    hall = playing()
    hall.later(TIMING.person_idle_ms)

    hall.drop(0)

    assert hall.events[-1] == SeatAway(seat=0, grace_ms=0)
    assert person(hall, 0).grace_until is None


def test_the_drop_of_an_old_connection_does_not_mark_the_new_one_as_away() -> None:
    hall = playing()
    old = hall.epoch(0)
    hall.resume(0)

    assert drop(hall.room, Seat(0), old, hall.now) is None
    assert happened(hall.events, SeatAway) == []
    assert seat_of(hall.room, old) is None
    assert seat_of(hall.room, hall.epoch(0)) == 0


def test_a_new_connection_before_the_old_one_is_known_to_be_gone_makes_no_event() -> None:
    hall = playing()
    before = hall.room.number

    hall.resume(0)

    assert hall.room.number == before
    assert drop(hall.room, Seat(0), hall.epoch(0), hall.now) is not None


def test_commands_of_a_replaced_connection_are_refused() -> None:
    hall = playing()
    old = hall.epoch(0)
    hall.resume(0)
    act = Act(id=hall.id_at(0), action="d2", at=hall.decision.at)

    assert refused(hall.do(act, 0, epoch=old)) == Refused.NOT_IN_A_ROOM
    accepted(hall.do(act, 0, epoch=hall.epoch(0)))


def test_a_second_drop_of_one_connection_is_no_news() -> None:
    hall = playing()
    epoch = hall.epoch(0)
    hall.drop(0)

    assert drop(hall.room, Seat(0), epoch, hall.now) is None


def test_the_room_knows_on_which_node_a_connection_is() -> None:
    hall = Hall()

    assert person(hall, 0).node == "n1"


# Tokens ----------------------------------------------------------------------------------------------------------


def test_the_log_holds_no_token() -> None:
    hall = playing()
    hall.join("Bob", 1)
    hall.resume(0)
    tokens = list(hall.tokens.values())

    assert len(tokens) == 2
    assert not any(token.encode() in data for token in tokens for data in hall.log)


def test_a_renewed_token_replaces_the_previous_one_only_when_it_is_first_used() -> None:
    hall = Hall()
    first = hall.tokens[Seat(0)]
    hall.resume(0, first)
    second = hall.tokens[Seat(0)]

    accepted(hall.resume(0, first))  # the answer with `second` was lost
    third = hall.tokens[Seat(0)]
    accepted(hall.resume(0, third))
    for replaced in (first, second):
        assert refused(hall.resume(0, replaced)) == Refused.BAD_TOKEN
    assert len({first, second, third}) == 3


def test_of_two_returns_with_one_token_whichever_answer_arrived_brought_a_good_token() -> None:
    """The earlier one may have waited at a node that did not reach the store, and come second into the log."""
    hall = Hall()
    first = hall.tokens[Seat(0)]
    hall.resume(0, first)
    arrived = hall.tokens[Seat(0)]
    hall.resume(0, first)  # nobody heard the answer to this one
    unheard = hall.tokens[Seat(0)]

    accepted(hall.resume(0, arrived))

    accepted(hall.resume(0, hall.tokens[Seat(0)]))
    for replaced in (first, arrived, unheard):
        assert refused(hall.resume(0, replaced)) == Refused.BAD_TOKEN


@pytest.mark.parametrize("shown", ["the first one's", "the other's", "one that is kept", "a wrong one"])
def test_whatever_token_is_shown_is_compared_with_every_valid_one_in_constant_time(
    shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time tells neither how much of a token was right nor whose it nearly was."""
    hall = Hall()
    kept = hall.tokens[Seat(0)]
    hall.join("Bob", 1)
    hall.resume(0)
    hall.resume(0, kept)  # now the newest, the one before and a spare one are all valid
    tokens = {"the first one's": hall.tokens[Seat(0)], "the other's": hall.tokens[Seat(1)], "one that is kept": kept}
    known = [hashed for each in (person(hall, 0), person(hall, 1)) for hashed in (each.token, each.kept, each.spare)]
    compared: list[bytes] = []

    def counted(one: bytes, other: bytes) -> bool:
        compared.append(one)
        return compare_digest(one, other)

    monkeypatch.setattr("server.room.tokens.hmac.compare_digest", counted)
    token = tokens.get(shown, "A" * 43)
    outcome = hall.do(Resume(id=hall.client("Eve").id(), room=hall.room.id, token=token))

    assert isinstance(outcome, Refuse) == (shown == "a wrong one")
    assert compared == [hashed or bytes(32) for hashed in known]


@pytest.mark.parametrize("how", ["leave", "kick", "lost"])
def test_a_lost_seat_takes_its_token_with_it(how: str) -> None:
    hall = Hall()
    hall.join("Bob", 1)
    token = hall.tokens[Seat(1)]
    if how == "leave":
        leave(hall, 1)
    elif how == "kick":
        hall.must(ClearSeat(id=hall.id_at(0), seat=1), 0)
    else:
        hall.drop(1)
        hall.later(TIMING.grace_ms)
    hall.join("Cid", 1)

    assert refused(hall.resume(1, token)) == Refused.BAD_TOKEN


def test_a_wrong_token_changes_nothing_and_the_right_one_still_fits() -> None:
    hall = playing()
    hall.drop(0)
    before = hall.room
    for guess in range(100):
        wrong = Resume(id=hall.client("Eve").id(), room=hall.room.id, token=f"{guess:043}")
        assert refused(hall.do(wrong)) == Refused.BAD_TOKEN

    assert hall.room is before
    accepted(hall.resume(0))


# Repeated commands -----------------------------------------------------------------------------------------------


def test_a_repeated_move_is_answered_as_the_first_time_and_done_once() -> None:
    hall = playing()
    act = Act(id=hall.id_at(0), action="d2", at=hall.decision.at)
    accepted(hall.do(act, 0))
    number, version = hall.room.number, hall.room.version
    hall.join("Bob", 1)

    assert hall.do(act, 0) == Repeat(number)
    assert hall.room.version == version + 1


def test_a_command_id_with_other_content_is_answered_as_the_first() -> None:
    hall = playing()
    act = Act(id=hall.id_at(0), action="d2", at=hall.decision.at)
    accepted(hall.do(act, 0))

    other = Act(id=act.id, action="d4", at=1)
    leaving = Leave(id=act.id)

    assert hall.ask(other, 0) == hall.ask(leaving, 0) == Repeat(hall.room.number)


def test_a_repeated_leave_is_accepted_though_the_seat_is_gone() -> None:
    hall = Hall()
    bob = hall.join("Bob", 1)
    command = Leave(id=hall.id_at(1))
    hall.must(command, bob)

    assert hall.do(command, None) == Repeat(hall.room.number)


def test_a_repeated_create_or_join_brings_a_fresh_token_as_often_as_it_is_repeated() -> None:
    hall = Hall()
    joining = Join(id=hall.client("Bob").id(), code=hall.room.code, name="Bob")
    first = hall.must(joining)

    again, created = hall.must(joining), hall.must(hall.create)
    again = hall.must(joining)

    assert (again.seat, created.seat) == (1, 0)
    assert again.token is not None
    assert again.token != first.token
    assert len([event for event in happened(hall.events, SeatTaken) if event.seat == 1]) == 1
    assert [len(known) for known in hall.room.done.values()] == [1, 1]
    accepted(hall.resume(1, again.token))


def test_the_token_before_a_repeated_join_stays_good_until_the_fresh_one_is_used() -> None:
    hall = Hall()
    joining = Join(id=hall.client("Bob").id(), code=hall.room.code, name="Bob")
    first = hall.must(joining)
    hall.must(joining)

    accepted(hall.resume(1, first.token))
    accepted(hall.resume(1, first.token))


def test_repeating_a_join_gives_no_token_to_a_seat_whose_token_was_shown_or_that_is_another_persons() -> None:
    hall = Hall()
    joining = Join(id=hall.client("Bob").id(), code=hall.room.code, name="Bob")
    hall.must(joining)
    accepted(hall.resume(1))
    assert refused(hall.do(joining)) == Refused.NOT_IN_A_ROOM

    leave(hall, 1)
    hall.join("Cid", 1)
    assert refused(hall.do(joining)) == Refused.NOT_IN_A_ROOM


def test_repeating_what_seated_somebody_changes_nothing_in_a_closed_room() -> None:
    hall = Hall()
    hall.body(Closed(why=WhyClosed.IDLE))

    assert refused(hall.do(hall.create)) == Refused.NOT_IN_A_ROOM


def test_a_repeated_resume_is_judged_by_its_token_alone() -> None:
    hall = Hall()
    command = Resume(id=hall.id_at(0), room=hall.room.id, token=hall.tokens[Seat(0)])
    accepted(hall.do(command))

    stolen = Resume(id=command.id, room=command.room, token="A" * 43)

    assert refused(hall.do(stolen)) == Refused.BAD_TOKEN
    accepted(hall.do(command))


def test_a_return_that_waited_while_its_client_came_again_pushes_nobody_out() -> None:
    """It stood before a node that was cut off, whose connection was lost without the node's noticing."""
    hall = Hall()
    token = hall.tokens[Seat(0)]
    waiting = Resume(id=hall.id_at(0), room=hall.room.id, token=token)
    newer = Resume(id=hall.id_at(0), room=hall.room.id, token=token)
    other = Resume(id=hall.client("Ann, elsewhere").id(), room=hall.room.id, token=token)
    accepted(hall.do(newer))

    assert refused(hall.do(waiting)) == Refused.NOT_IN_A_ROOM
    accepted(hall.do(newer))
    accepted(hall.do(other))


def test_what_is_remembered_is_bounded_and_a_busy_session_does_not_push_out_a_quiet_one() -> None:
    hall = Hall()
    for _ in range(COMMANDS_REMEMBERED * 2):
        hall.now += HOUSEKEEPING.window_ms
        hall.must(SeatAi(id=hall.id_at(0), seat=1), 0)
    hall.must(ClearSeat(id=hall.id_at(0), seat=1), 0)
    joining = Join(id=hall.client("Bob").id(), code=hall.room.code, name="Bob")
    hall.must(joining)
    for _ in range(COMMANDS_REMEMBERED * 2):
        hall.now += RETURNS.window_ms
        accepted(hall.resume(0))

    assert {len(known) for known in hall.room.done.values()} == {COMMANDS_REMEMBERED, 1}
    assert isinstance(hall.ask(joining), Append)

    for number in range(SESSIONS_REMEMBERED * 2):
        hall.must(Leave(id=hall.id_at(1)), 1)
        hall.join(f"Guest {number}", 1)
        hall.now += 3_000
        accepted(hall.resume(0))
    assert len(hall.room.done) == SESSIONS_REMEMBERED
    assert len(hall.room.done[hall.clients["Ann"].session]) == COMMANDS_REMEMBERED
    assert hall.clients["Bob"].session not in hall.room.done
