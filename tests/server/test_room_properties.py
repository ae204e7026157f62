"""Whatever people, sockets, clocks and AI do to a room, in whatever order: the invariants hold, no accepted command is
lost or done twice, and the log makes the same room again.

``roomkit.check`` holds after every single entry.
"""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.game import Seat
from protocol.events import RoomEvent, WhyClosed
from protocol.messages import (
    Act,
    ChosenSettings,
    ClearSeat,
    Contribute,
    Join,
    Leave,
    Move,
    Ready,
    Rematch,
    SeatAi,
    Start,
)
from server.entries import Actor
from server.room import (
    AiMove,
    Append,
    Open,
    Person,
    Phase,
    Refuse,
    Repeat,
    RoomCommand,
    ai_moves,
    close,
    drop,
    move_for,
    next_due,
    persons,
    question,
    refund,
    shown,
    snapshot,
    turn,
)
from tests.server.roomkit import GAMES, Hall

SEATS = st.integers(0, 1)
NAMES = st.sampled_from(["Bob", "Cid", "Dan"])
ACTIONS = st.sampled_from(["single", "double", "d1", "d2", "d3", "d4", "d5", "d6", "x9"])
TIMES = st.sampled_from([1, 999, 5_000, 10_000, 15_000, 30_000, 60_000, 900_000])


class RoomMachine(RuleBasedStateMachine):
    """One room of Duel, and everybody who has ever been near it."""

    hall: Hall

    @initialize(limit=st.sampled_from([0, 10, 60]), deals=st.sampled_from([1, 3]), seed=st.text("abc", max_size=4))
    def open(self, limit: int, deals: int, seed: str) -> None:
        self.hall = Hall(options={"deals": deals}, settings=ChosenSettings(turn_limit=limit), seed=seed)
        self.accepted: dict[str, tuple[RoomCommand, int | None, int | None]] = {}
        """By command id: the command, its seat, and the number it was answered with."""
        self.old_moves: list[AiMove] = []
        self.old_epochs: list[tuple[Seat, int]] = []
        self.old_tokens: list[str] = []

    def do(self, command: RoomCommand, seat: int | None) -> None:
        hall = self.hall
        before, version = hall.room, hall.room.version
        decided = hall.do(command, seat)
        match decided:
            case Refuse():
                assert hall.room is before
            case Repeat(at):
                assert hall.room is before
                known = self.accepted.get(command.id)
                assert known is None or known[2] == at
            case Append():
                assert hall.room.version == version + 1
                number = hall.room.number if hall.room.number > before.number else None
                self.accepted.setdefault(command.id, (command, seat, number))
                self.old_tokens += [decided.token] if decided.token else []

    def sender(self, seat: int) -> str:
        holder = self.hall.room.seats[seat]
        return self.hall.client(holder.name if isinstance(holder, Person) else "Eve").id()

    # People ----------------------------------------------------------------------------------------------------

    @rule(name=NAMES, seat=st.none() | SEATS)
    def join(self, name: str, seat: int | None) -> None:
        self.do(Join(id=self.hall.client(name).id(), code=self.hall.room.code, name=name, seat=seat), None)

    @rule(seat=SEATS, to=SEATS)
    def move(self, seat: int, to: int) -> None:
        self.do(Move(id=self.sender(seat), seat=to), seat)

    @rule(seat=SEATS, to=SEATS)
    def seat_ai(self, seat: int, to: int) -> None:
        self.do(SeatAi(id=self.sender(seat), seat=to), seat)

    @rule(seat=SEATS, to=SEATS)
    def clear(self, seat: int, to: int) -> None:
        self.do(ClearSeat(id=self.sender(seat), seat=to), seat)

    @rule(seat=SEATS)
    def start(self, seat: int) -> None:
        self.do(Start(id=self.sender(seat)), seat)

    @rule(seat=SEATS)
    def contribute(self, seat: int) -> None:
        self.do(Contribute(id=self.sender(seat), value=f"{seat + 1:064x}"), seat)

    @rule(seat=SEATS, action=ACTIONS, off=st.sampled_from([0, 0, 0, -1, 1]))
    def act(self, seat: int, action: str, off: int) -> None:
        at = self.hall.decision.at if self.hall.phase() is Phase.PLAYING else 0
        self.do(Act(id=self.sender(seat), action=action, at=max(0, at + off)), seat)

    @precondition(lambda self: self.hall.phase() is Phase.PLAYING)
    @rule(data=st.data())
    def act_legally(self, data: st.DataObject) -> None:
        seat = data.draw(st.sampled_from(self.hall.decision.seats))
        asked = turn(self.hall.room, seat, self.hall.now, games=GAMES)
        if asked is not None:
            action = data.draw(st.sampled_from(asked.legal))
            decided = self.hall.do(Act(id=self.sender(seat), action=action, at=asked.at), seat)
            assert isinstance(decided, Append), "what a turn offers is accepted"

    @rule(seat=SEATS)
    def ready(self, seat: int) -> None:
        self.do(Ready(id=self.sender(seat)), seat)

    @rule(seat=SEATS)
    def rematch(self, seat: int) -> None:
        self.do(Rematch(id=self.sender(seat)), seat)

    @rule(seat=SEATS)
    def leave(self, seat: int) -> None:
        self.do(Leave(id=self.sender(seat)), seat)

    @precondition(lambda self: self.accepted)
    @rule(data=st.data())
    def repeat(self, data: st.DataObject) -> None:
        """Somebody has not got the answer. Nothing is done again; at most a lost token is renewed."""
        command, seat, number = self.accepted[data.draw(st.sampled_from(sorted(self.accepted)))]
        table, seats = self.hall.room.table, [type(holder) for holder in self.hall.room.seats]
        decided = self.hall.do(command, seat)
        assert self.hall.room.table is table or isinstance(command, Join)
        assert [type(holder) for holder in self.hall.room.seats] == seats
        if not isinstance(command, Join):
            assert decided == Repeat(number)

    # Sockets ---------------------------------------------------------------------------------------------------

    @rule(seat=SEATS)
    def drop(self, seat: int) -> None:
        holder = self.hall.room.seats[seat]
        if isinstance(holder, Person):
            self.old_epochs.append((Seat(seat), holder.epoch))
            entry = drop(self.hall.room, Seat(seat), holder.epoch, self.hall.now)
            if entry is not None:
                self.hall.append(entry)

    @rule(seat=SEATS)
    def resume(self, seat: int) -> None:
        if isinstance(self.hall.room.seats[seat], Person) and self.hall.phase() is not Phase.CLOSED:
            decided = self.hall.resume(seat)
            assert isinstance(decided, Append), "the newest token of a seat fits"
            assert decided.seat == seat

    @precondition(lambda self: self.old_epochs)
    @rule(data=st.data())
    def a_late_drop(self, data: st.DataObject) -> None:
        seat, epoch = data.draw(st.sampled_from(self.old_epochs))
        holder = self.hall.room.seats[seat]
        entry = drop(self.hall.room, seat, epoch, self.hall.now)
        assert entry is None or (isinstance(holder, Person) and holder.epoch == epoch)

    # AI and time -------------------------------------------------------------------------------------------------

    @rule(pick=st.integers(0, 3))
    def ai(self, pick: int) -> None:
        self.old_moves += ai_moves(self.hall.room)
        self.hall.ai(pick)

    @precondition(lambda self: self.old_moves)
    @rule(data=st.data())
    def a_late_ai(self, data: st.DataObject) -> None:
        move = data.draw(st.sampled_from(self.old_moves))
        hall = self.hall
        if move not in ai_moves(hall.room):
            assert move_for(hall.room, move, "single", Actor.AI, hall.now, games=GAMES) is None

    @rule(ms=TIMES)
    def later(self, ms: int) -> None:
        self.hall.later(ms)

    @rule()
    def until_something_is_due(self) -> None:
        due = next_due(self.hall.room)
        if due is not None:
            self.hall.later(max(0, due - self.hall.now))

    @rule(ms=TIMES)
    def another_nodes_clock(self, ms: int) -> None:
        self.hall.now -= ms // 100

    @rule(ms=TIMES)
    def outage(self, ms: int) -> None:
        entry = refund(self.hall.room, ms, self.hall.now)
        if entry is not None:
            self.hall.append(entry)

    @precondition(lambda self: self.hall.room.version > 30)
    @rule()
    def close(self) -> None:
        entry = close(self.hall.room, WhyClosed.OPERATOR, self.hall.now)
        if entry is not None:
            self.hall.append(entry)

    # What holds ----------------------------------------------------------------------------------------------------

    @invariant()
    def times_never_go_back(self) -> None:
        times = [entry.at for entry in self.hall.entries]
        assert times == sorted(times)

    @invariant()
    def everybody_is_shown_as_many_events_and_room_events_unchanged(self) -> None:
        last = tuple(self.hall.events[-5:])
        for viewer in (None, Seat(0), Seat(1)):
            seen = shown(self.hall.room, last, viewer, games=GAMES)
            assert len(seen) == len(last)
            assert all(one is two for one, two in zip(seen, last, strict=True) if isinstance(two, RoomEvent))

    @invariant()
    def who_is_asked_can_answer_and_nobody_else_is(self) -> None:
        room = self.hall.room
        for seat in (Seat(0), Seat(1)):
            asked = turn(room, seat, self.hall.now, games=GAMES)
            if asked is not None:
                assert seat in persons(room)
                assert asked.legal
        for move in ai_moves(room):
            assert question(room, move.seat, games=GAMES).legal

    @invariant()
    def open_seats_play_no_match(self) -> None:
        if self.hall.phase() in {Phase.SHUFFLING, Phase.PLAYING, Phase.BETWEEN_DEALS}:
            assert Open() not in self.hall.room.seats

    def teardown(self) -> None:
        hall = self.hall
        assert msgspec.json.encode(hall.replayed()) == msgspec.json.encode(hall.room)
        commands = [entry.command for entry in hall.entries if entry.command in self.accepted]
        done_once = [name for name in self.accepted if not isinstance(self.accepted[name][0], Join)]
        assert all(commands.count(name) == 1 for name in done_once), "an accepted command was lost or done twice"
        snapshots: list[Any] = [snapshot(hall.room, viewer, games=GAMES) for viewer in (None, Seat(0), Seat(1))]
        assert len({each.at for each in snapshots}) == 1
        self.everybody_goes_home()

    def everybody_goes_home(self) -> None:
        """Left alone, every room closes."""
        for _ in range(2_000):
            due = next_due(self.hall.room)
            if due is None:
                break
            self.hall.later(max(0, due - self.hall.now))
        assert self.hall.phase() is Phase.CLOSED


RoomMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=40)
TestRoom = RoomMachine.TestCase
