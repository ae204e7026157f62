"""A room for tests: its log as bytes, a clock and an entropy that the test holds in its hands, and people at the table.

Every entry goes through its bytes before it is folded, and every fold is checked for what must hold after any entry.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final, TypeVar

import msgspec

from engine.game import AnyGame, Seat
from engine.match import DealBegan
from protocol.events import Signal
from protocol.messages import (
    Act,
    AnyCommand,
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
from server.entries import Actor, AnyBody, Dealt, Entry, Timing, decode_entry, encode_entry
from server.room import (
    AiMove,
    Append,
    Decided,
    FinishedDeal,
    Person,
    Phase,
    Refuse,
    Repeat,
    Room,
    RoomCommand,
    ai_moves,
    decide,
    drop,
    fire,
    fold,
    move_for,
    next_due,
    open_room,
    persons,
    question,
    replay,
)
from server.room.state import HISTORY
from tests.toy import DUEL

GAMES: Final[dict[str, AnyGame]] = {DUEL.name: DUEL}
START_MS: Final = 1_000_000
TIMING: Final = Timing(
    contributions_ms=5_000,
    question_ms=10_000,
    pause_ms=15_000,
    redeal_ms=3_000,
    grace_ms=30_000,
    person_idle_ms=86_400_000,
    ai_limit_ms=60_000,
    abandoned_ms=300_000,
    lobby_idle_ms=3_600_000,
    finished_idle_ms=900_000,
)

T = TypeVar("T")


class Dice:
    """Entropy that gives the same bytes in every run of a test, and never the same twice."""

    def __init__(self, seed: str = "") -> None:
        self.seed = seed
        self.drawn = 0

    def __call__(self, count: int) -> bytes:
        self.drawn += 1
        return hashlib.shake_256(f"{self.seed}/{self.drawn}".encode()).digest(count)


class Client:
    """Makes command ids as a client session does."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.session = hashlib.sha256(name.encode()).hexdigest()[:24]
        self.sent = 0

    def id(self) -> str:
        self.sent += 1
        return f"{self.session}.{self.sent}"


class Hall:
    """One room with its log."""

    def __init__(
        self,
        game: AnyGame = DUEL,
        *,
        options: dict[str, str | int] | None = None,
        settings: ChosenSettings | None = None,
        timing: Timing = TIMING,
        seed: str = "",
        seat: int | None = None,
        host: str = "Ann",
    ) -> None:
        self.games = {game.name: game}
        self.game = game
        self.now = START_MS
        self.entropy = Dice(seed)
        self.log: list[bytes] = []
        self.entries: list[Entry] = []
        self.events: list[Any] = []
        """All events ever, whole; event 1 is the first."""
        self.finished: list[FinishedDeal] = []
        self.tokens: dict[Seat, str] = {}
        """The last token told for each seat."""
        self.clients: dict[str, Client] = {}
        self.create = Create(
            id=self.client(host).id(),
            game=game.name,
            name=host,
            options=options or {},
            settings=settings or ChosenSettings(),
            seat=seat,
        )
        opened = open_room(self.create, self.now, self.entropy, timing=timing, node="n1", games=self.games)
        assert isinstance(opened, Append), opened
        self._room: Room | None = None
        self.append(opened.entry)
        assert opened.seat is not None
        assert opened.token is not None
        self.tokens[opened.seat] = opened.token

    # The log -------------------------------------------------------------------------------------------------

    @property
    def room(self) -> Room:
        assert self._room is not None
        return self._room

    def phase(self) -> Phase:
        return self.room.phase

    def append(self, entry: Entry) -> tuple[Any, ...]:
        """What the log has accepted, folded and checked; its events."""
        before = self._room
        data = encode_entry(entry)
        decoded = decode_entry(data)
        folded = fold(before, decoded, games=self.games)
        self.log.append(data)
        self.entries.append(decoded)
        self._room = folded.room
        self.events += folded.events
        self.finished += folded.finished
        check(self)
        return folded.events

    def body(self, body: AnyBody) -> tuple[Any, ...]:
        """An entry that no command made."""
        return self.append(Entry(at=self.now, body=body))

    def replayed(self) -> Room | None:
        return replay(map(decode_entry, self.log), games=self.games)

    # People --------------------------------------------------------------------------------------------------

    def client(self, name: str) -> Client:
        return self.clients.setdefault(name, Client(name))

    def ask(self, command: RoomCommand, seat: int | None = None, *, epoch: int | None = None) -> Decided:
        """What the room would say; nothing changes."""
        at = None if seat is None else Seat(seat)
        return decide(self.room, command, at, self.now, self.entropy, epoch=epoch, node="n1", games=self.games)

    def do(self, command: RoomCommand, seat: int | None = None, *, epoch: int | None = None) -> Decided:
        """Ask, and append what was decided."""
        decided = self.ask(command, seat, epoch=epoch)
        if isinstance(decided, Append):
            self.append(decided.entry)
            if decided.token is not None:
                assert decided.seat is not None
                self.tokens[decided.seat] = decided.token
            elif isinstance(command, Move):
                assert seat is not None
                self.tokens[Seat(command.seat)] = self.tokens.pop(Seat(seat))
        return decided

    def must(self, command: RoomCommand, seat: int | None = None) -> Append:
        """``do``, where the command must be accepted."""
        decided = self.do(command, seat)
        assert isinstance(decided, Append), decided
        return decided

    def epoch(self, seat: int) -> int:
        holder = self.room.seats[seat]
        assert isinstance(holder, Person), holder
        return holder.epoch

    def name_at(self, seat: int) -> str:
        holder = self.room.seats[seat]
        assert isinstance(holder, Person), holder
        return holder.name

    def id_at(self, seat: int) -> str:
        return self.client(self.name_at(seat)).id()

    def join(self, name: str, seat: int | None = None, side: int | None = None) -> Seat:
        decided = self.must(Join(id=self.client(name).id(), code=self.room.code, name=name, seat=seat, side=side))
        assert decided.seat is not None
        return decided.seat

    def start(self, level: str = "medium") -> None:
        assert self.room.host is not None
        self.must(Start(id=self.id_at(self.room.host), level=level), self.room.host)

    def act(self, seat: int, action: str | None = None) -> Decided:
        """An action at the open decision; the first legal one if none is named."""
        decision = self.decision
        text = action if action is not None else question(self.room, Seat(seat), games=self.games).legal[0]
        return self.do(Act(id=self.id_at(seat), action=text, at=decision.at), seat)

    @property
    def decision(self) -> Any:
        assert self.room.table is not None
        assert self.room.table.decision is not None
        return self.room.table.decision

    def drop(self, seat: int) -> tuple[Any, ...]:
        entry = drop(self.room, Seat(seat), self.epoch(seat), self.now)
        assert entry is not None
        return self.append(entry)

    def resume(self, seat: int, token: str | None = None) -> Decided:
        used = token or self.tokens[Seat(seat)]
        return self.do(Resume(id=self.id_at(seat), room=self.room.id, token=used))

    # Time and AI ---------------------------------------------------------------------------------------------

    def fire(self) -> list[Entry]:
        """Everything that is due now."""
        fired: list[Entry] = []
        while (entry := fire(self.room, self.now, games=self.games)) is not None:
            self.append(entry)
            fired.append(entry)
            assert len(fired) < 100, "what has fired is due again"
        return fired

    def later(self, ms: int) -> list[Entry]:
        """Let time pass, stopping wherever something is due; what fired."""
        until = self.now + ms
        fired = self.fire()
        while (due := next_due(self.room)) is not None and due <= until:
            self.now = max(self.now, due)
            fired += self.fire()
        self.now = until
        return fired

    def ai(self, pick: int = 0) -> list[AiMove]:
        """Every AI that is asked moves once, with its ``pick``-th legal action."""
        moves = list(ai_moves(self.room))
        for move in moves:
            legal = question(self.room, move.seat, games=self.games).legal
            entry = move_for(self.room, move, legal[pick % len(legal)], Actor.AI, self.now, games=self.games)
            assert entry is not None
            self.append(entry)
        return moves

    def deal_now(self, deck: Iterable[str] | None = None) -> None:
        """Deal at once, ``deck`` if one is named, whatever is still awaited."""
        self.now = max(self.now, next_due(self.room) or self.now)
        entry = fire(self.room, self.now, games=self.games)
        assert entry is not None
        assert isinstance(entry.body, Dealt), entry
        if deck is not None:
            body = msgspec.structs.replace(entry.body, deck=tuple(deck), drawn=Seat(0))
            entry = msgspec.structs.replace(entry, body=body)
        self.append(entry)

    def publish(self) -> None:
        """Let the question's time pass."""
        self.later(self.decision.publish_at - self.now)

    def play_on(self, limit: int = 2_000) -> None:
        """People, AI and the clock go on until the match is over."""
        for _ in range(limit):
            if self.phase() in {Phase.FINISHED, Phase.CLOSED}:
                return
            if self.ai():
                continue
            acted = False
            if self.phase() is Phase.PLAYING and not self.decision.sealed:
                (seat,) = self.decision.seats
                if isinstance(self.room.seats[seat], Person):
                    acted = isinstance(self.act(seat), Append)
            if not acted:
                due = next_due(self.room)
                assert due is not None
                self.later(due - self.now)
        raise AssertionError(f"the match does not end: {self.phase()}")


def accepted(decided: Decided) -> Append | Repeat:
    assert not isinstance(decided, Refuse), decided
    return decided


def refused(decided: Decided) -> str:
    """The code of a refusal."""
    assert isinstance(decided, Refuse), decided
    return str(decided.code)


def happened(events: Iterable[Any], kind: type[T]) -> list[T]:
    return [event for event in events if isinstance(event, kind)]


def check(hall: Hall) -> None:
    """What holds after any entry."""
    room = hall.room
    assert room.version == len(hall.log)
    assert room.number == len(hall.events), "numbers have a hole"
    assert list(room.history) == hall.events[-HISTORY:]
    assert (room.host is None) == (not persons(room)), "people without a host, or a host without people"
    assert (room.abandoned_at is not None) == (not persons(room))
    assert room.host is None or isinstance(room.seats[room.host], Person)
    epochs = [holder.epoch for holder in room.seats if isinstance(holder, Person)]
    assert len(epochs) == len(set(epochs))
    assert (next_due(room) is None) == (room.phase is Phase.CLOSED), "a room that could live for ever"
    decision = room.table.decision if room.table is not None else None
    assert (decision is not None) == (room.phase is Phase.PLAYING)
    if decision is not None:
        assert decision.at <= room.number
        assert room.table is not None
        assert set(decision.seats) == hall.game.awaiting(room.table.match.state)
        assert sum(isinstance(event, DealBegan) for event in hall.events) > 0


def any_command(hall: Hall, kind: type[AnyCommand], seat: int) -> RoomCommand:
    """A command of ``kind`` with sensible fields, as the person in ``seat`` would send it now."""
    made = hall.id_at(seat) if isinstance(hall.room.seats[seat], Person) else hall.client("nobody").id()
    at = hall.decision.at if hall.phase() is Phase.PLAYING else 0
    commands: dict[type[Any], RoomCommand] = {
        Create: Create(id=made, game=hall.game.name, name="Eve"),
        Join: Join(id=made, code=hall.room.code, name="Eve"),
        Resume: Resume(id=made, room=hall.room.id, token=hall.tokens[Seat(seat)]),
        Move: Move(id=made, seat=1),
        SeatAi: SeatAi(id=made, seat=1),
        ClearSeat: ClearSeat(id=made, seat=1),
        Start: Start(id=made),
        Contribute: Contribute(id=made, value="ab" * 32),
        Act: Act(id=made, action="single", at=at),
        Ready: Ready(id=made),
        Rematch: Rematch(id=made),
        Chat: Chat(id=made, text="Hello"),
        Wink: Wink(id=made, signal=Signal.LEFT_EYE),
        Mute: Mute(id=made, seat=1),
        Lock: Lock(id=made),
        Leave: Leave(id=made),
    }
    return commands[kind]


def person(hall: Hall, seat: int) -> Person:
    holder = hall.room.seats[seat]
    assert isinstance(holder, Person)
    return holder


def leave(hall: Hall, seat: int) -> Append:
    return hall.must(Leave(id=hall.id_at(seat)), seat)


def bodies(hall: Hall, kind: type[Any]) -> list[Any]:
    return [entry.body for entry in hall.entries if isinstance(entry.body, kind)]
