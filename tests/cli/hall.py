"""A hall of one room in memory, as the protocol describes it, for tests of clients: no sockets, no store, no clock.

It plays by the real rules with honestly shuffled decks; the other seats are played at random. What can go wrong on a
network or with a server is a field to set: the next command or its answer is lost, events are left out or told twice,
the seed is not the one committed to.
"""

from __future__ import annotations

import asyncio
import random
from enum import Enum
from typing import Any

import msgspec

from clients.cli.connection import CannotConnect, Dropped, Trouble
from engine import match as matches
from engine.game import AnyGame, IllegalAction, MalformedAction, OptionValue, Seat
from engine.match import REDEAL, Match, Need
from engine.shuffle import Contribution, Draw, beginner_of, commitment, deck_of
from protocol import events as room
from protocol.codec import decode_command, encode
from protocol.codes import Refused
from protocol.messages import (
    Accepted,
    Act,
    AnyServerMessage,
    Chat,
    ChatLine,
    Command,
    Contribute,
    Create,
    Events,
    GameInfo,
    Join,
    Leave,
    ListRooms,
    Lock,
    Look,
    MatchInfo,
    Mute,
    Notice,
    Place,
    Ready,
    RefusedMessage,
    Rematch,
    Resume,
    RoomSummary,
    SeatInfo,
    Settings,
    Snapshot,
    Start,
    Turn,
    Watch,
    Welcome,
    Wink,
)

CODE = "K7M2QX"
ROOM = "a" * 26


class Lose(Enum):
    """What the network loses, and the connection with it."""

    COMMAND = "command"
    ANSWER = "answer"


class Hall:
    """See the module. ``you`` is the seat that the client gets; None makes it a spectator's room."""

    def __init__(
        self, game: AnyGame, *, options: dict[str, OptionValue] | None = None, you: int = 0, seed: int = 0
    ) -> None:
        self.game = game
        self.options = game.complete_options(options or {})
        self.you: Seat | None = Seat(you)
        self.rng = random.Random(seed)
        self.events: list[Any] = []
        self.seats = [SeatInfo(kind="open")] * game.seats
        self.phase = "lobby"
        self.match: Match | None = None
        self.match_id = ""
        self.contributions: tuple[Contribution, ...] | None = None
        self.seeds: dict[int, bytes] = {}
        self.done: dict[str, AnyServerMessage] = {}
        self.commands: list[Command] = []
        """Everything that arrived, repetitions included."""
        self.tokens = 0
        self.opened_at = 0
        self.answered: set[Seat] = set()
        self.settings = Settings()
        self.other_rooms: tuple[RoomSummary, ...] = ()
        """Listed before this one."""
        self.shown = 0
        """The number of the last event sent."""
        self.refuse_next: RefusedMessage | None = None
        self.lose_next: Lose | None = None
        self.lie_about_seed = False
        self.swap_cards = False
        """Deal from another deck than the committed one."""
        self.shift_beginner = False
        """Let the seat after the right one begin."""

    # Messages ---------------------------------------------------------------------------------------------

    def hello(self) -> list[AnyServerMessage]:
        """What a new connection hears first."""
        info = GameInfo(
            name=self.game.name,
            seats=self.game.seats,
            sides=self.game.sides,
            options=dict(self.game.options),
            levels=tuple(self.game.levels),
        )
        return [Welcome(server="test", protocol=1, games=(info,))]

    def receive(self, command: Command) -> list[AnyServerMessage]:
        """Everything that is said because of ``command``, in order."""
        self.commands.append(command)
        if self.refuse_next is not None:
            refusal, self.refuse_next = self.refuse_next, None
            return [msgspec.structs.replace(refusal, id=command.id)]
        if command.id in self.done and not isinstance(command, Resume | Look):
            return [self.done[command.id]]
        said: list[AnyServerMessage] = []
        answer, after = self._do(command)
        said += self.news()
        said.append(answer)
        said += after
        self.done[command.id] = answer
        turn = self.turn()
        if turn is not None and not isinstance(answer, RefusedMessage):
            said.append(turn)
        return said

    def news(self) -> list[AnyServerMessage]:
        """Events that were not sent yet."""
        fresh = self.events[self.shown :]
        first, self.shown = self.shown + 1, len(self.events)
        return [Events(first=first, events=tuple(map(self._raw, fresh)))] if fresh else []

    def happen(self, event: Any) -> list[AnyServerMessage]:
        """Something happens that is nobody's command."""
        self.events.append(event)
        return self.news()

    def turn(self) -> Turn | None:
        """The turn of the client's seat, if it has one."""
        match = self.match
        if match is None or match.need is not Need.ACTION or self.phase != "playing" or self.you is None:
            return None
        if self.you not in self.game.awaiting(match.state) or self.you in self.answered:
            return None
        legal = tuple(map(self.game.text, self.game.legal_at(match.state, self.you)))
        sealed = len(self.game.awaiting(match.state)) > 1
        return Turn(at=self.opened_at, legal=legal, sealed=sealed)

    def snapshot(self) -> Snapshot:
        """The room as the client may see it."""
        self.shown = len(self.events)
        view = None
        info = None
        if self.match is not None:
            if self.match.state is not None:
                view = msgspec.Raw(msgspec.json.encode(self.game.view(self.match.state, self.you)))
            info = MatchInfo(
                id=self.match_id,
                deal=self.match.deal,
                deals=int(self.options["deals"]),
                attempt=self.match.attempt,
                beginner=self.match.beginner,
                carry=self.match.carry,
                totals=self.match.totals,
                commitments=self._commitments(),
                contributions=None
                if self.contributions is None
                else tuple((each.seat, each.value.hex()) for each in self.contributions),
                outcome=None if self.match.outcome is None else msgspec.Raw(msgspec.json.encode(self.match.outcome)),
            )
        return Snapshot(
            at=len(self.events),
            room=ROOM,
            code=CODE,
            game=self.game.name,
            options=dict(self.options),
            settings=self.settings,
            phase=self.phase,
            host=0,
            seats=tuple(self.seats),
            you=self.you,
            chat=tuple(
                ChatLine(at=number, seat=each.seat, by=each.by, name=self.seats[each.seat].name or "", text=each.text)
                for number, each in enumerate(self.events, 1)
                if isinstance(each, room.Said)
            ),
            match=info,
            view=view,
        )

    def place(self) -> Place:
        """Where the client is, with a new token if it plays."""
        self.tokens += 1
        token = None if self.you is None else f"{self.tokens:043}"
        return Place(room=ROOM, code=CODE, seat=self.you, token=token)

    # Doing ------------------------------------------------------------------------------------------------

    def _do(self, command: Command) -> tuple[AnyServerMessage, list[AnyServerMessage]]:
        accepted = Accepted(id=command.id)
        match command:
            case Create(name=name) | Join(name=name):
                assert self.you is not None
                self.seats[self.you] = SeatInfo(kind="person", name=name)
                self.events.append(room.SeatTaken(seat=self.you, name=name))
                self.shown = len(self.events)
                return Accepted(id=command.id, at=len(self.events), place=self.place()), [self.snapshot()]
            case Watch():
                self.you = None
                return Accepted(id=command.id, place=self.place()), [self.snapshot()]
            case Resume(after=after):
                self.shown = after
                missed: list[AnyServerMessage] = self.news() if after else [self.snapshot()]
                return Accepted(id=command.id, place=self.place()), missed
            case ListRooms():
                ours = RoomSummary(
                    code=CODE, game=self.game.name, host="Aki", phase=self.phase, open=(1,), seats=2, persons=1
                )
                return Accepted(id=command.id, rooms=(*self.other_rooms, ours)), []
            case Look():
                return accepted, [self.snapshot()]
            case Start(level=level):
                self._open(level)
            case Contribute(value=value):
                if self.contributions is not None:
                    return RefusedMessage(id=command.id, code=Refused.NOT_NOW, params={"phase": self.phase}), []
                assert self.you is not None
                self._fix((Contribution(self.you, bytes.fromhex(value)),))
                return accepted, []
            case Act():
                return self._act(command), []
            case Ready():
                if self.phase != "between-deals":
                    return RefusedMessage(id=command.id, code=Refused.NOT_NOW, params={"phase": self.phase}), []
                self._deal()
            case Rematch():
                self.phase, self.match, self.contributions = "lobby", None, None
                self.events.append(room.Rematched())
            case Chat(text=text):
                assert self.you is not None
                self.events.append(room.Said(seat=self.you, by=1, text=text))
            case Wink(signal=signal):
                assert self.you is not None
                self.events.append(room.Winked(seat=self.you, signal=signal))
            case Mute(everyone=False):
                return accepted, []
            case Mute(seat=seat, on=on):
                self.events.append(room.SeatMuted(seat=seat, on=on))
            case Lock(on=on):
                self.events.append(room.RoomLock(on=on))
            case Leave():
                return Accepted(id=command.id, at=len(self.events)), []
            case _:
                return RefusedMessage(id=command.id, code=Refused.NOT_NOW, params={"phase": self.phase}), []
        return Accepted(id=command.id, at=len(self.events)), []

    def _open(self, level: str) -> None:
        for seat in range(self.game.seats):
            if self.seats[seat].kind == "open":
                self.seats[seat] = SeatInfo(kind="ai", level=level)
                self.events.append(room.AiSeated(seat=seat, level=level))
        self.match = matches.begin(self.game, self.options)
        self.match_id = f"match-{self.rng.random()}"
        self.seeds = {deal: self.rng.randbytes(32) for deal in range(1, int(self.options["deals"]) + 1)}
        self.phase = "shuffling"
        contributors = () if self.you is None else (int(self.you),)
        self.events.append(
            room.MatchOpened(
                match=self.match_id,
                rules=self.game.rules_version,
                commitments=self._commitments(),
                contributors=contributors,
                wait_ms=5000,
            )
        )
        if self.you is None:
            self._fix(())

    def _commitments(self) -> tuple[str, ...]:
        return tuple(commitment(self.match_id, deal, seed).hex() for deal, seed in self.seeds.items())

    def _fix(self, contributions: tuple[Contribution, ...]) -> None:
        self.contributions = contributions
        told = tuple(room.SeatContribution(each.seat, each.value.hex()) for each in contributions)
        self.events.append(room.ContributionsFixed(contributions=told))
        self._deal()

    def _deal(self) -> None:
        assert self.match is not None
        assert self.contributions is not None
        deal, attempt = matches.upcoming(self.match)
        draw = Draw(self.match_id, deal, attempt, self.seeds[deal], self.contributions)
        first = Draw(self.match_id, deal, 1, self.seeds[deal], self.contributions)
        deck = list(deck_of(draw, self.game.cards))
        if self.swap_cards:
            deck.reverse()
        drawn, match = beginner_of(first, self.game.seats), self.match
        if self.shift_beginner:
            drawn, match = self._next(drawn), msgspec.structs.replace(match, beginner=self._next(match.beginner))
        self.phase = "playing"
        self._go_on(matches.deal(self.game, match, deck, drawn))

    def _next(self, seat: Seat) -> Seat:
        return Seat((seat + 1) % self.game.seats)

    def _act(self, command: Act) -> AnyServerMessage:
        match = self.match
        if self.turn() is None or match is None or command.at != self.opened_at:
            return RefusedMessage(
                id=command.id, code=Refused.STALE, params={"at": self.opened_at if self.turn() else 0}
            )
        assert self.you is not None
        sealed = len(self.game.awaiting(match.state)) > 1
        try:
            action = self.game.parse(command.action)
            progress = matches.act(self.game, match, self.you, action)
        except MalformedAction:
            return RefusedMessage(id=command.id, code=Refused.MALFORMED_ACTION, params={"action": command.action})
        except IllegalAction as illegal:
            return RefusedMessage(id=command.id, code=illegal.refusal.code, params=illegal.refusal.params)
        self.answered.add(self.you)
        self._go_on(progress)
        return Accepted(id=command.id, at=None if sealed else len(self.events))

    def _go_on(self, progress: matches.Progress) -> None:
        """Take a step over, and let the other seats play until the client's seat is awaited or the deal is over."""
        while True:
            self.match = progress.match
            self.events += progress.events
            if progress.events:
                self.opened_at = len(self.events)
                self.answered.clear()
            if self.match.need is not Need.ACTION:
                self._deal_over()
                return
            awaited = self.game.awaiting(self.match.state)
            others = sorted(awaited - {self.you}) if self.you is not None else sorted(awaited)
            if self.you in awaited and self.you not in self.answered:
                if len(awaited) > 1:
                    self.events.append(room.QuestionOpened(wait_ms=10_000))
                    self.opened_at = len(self.events)
                return
            seat = others[0]
            action = self.rng.choice(self.game.legal_at(self.match.state, seat))
            progress = matches.act(self.game, self.match, seat, action)

    def _deal_over(self) -> None:
        assert self.match is not None
        assert self.match.outcome is not None
        self.phase = "finished" if self.match.over else "between-deals"
        if self.match.outcome.reason != REDEAL:
            seed = self.seeds[self.match.deal]
            told = bytes(32) if self.lie_about_seed else seed
            self.events.append(room.SeedRevealed(deal=self.match.deal, seed=told.hex()))

    def _raw(self, event: Any) -> msgspec.Raw:
        ours = isinstance(event, room.RoomEvent | matches.MatchEvent | msgspec.Raw)
        return msgspec.Raw(msgspec.json.encode(event if ours else self.game.redact(event, self.you)))


class HallWire:
    """A connection to a hall, for ``Core``."""

    def __init__(self, hall: Hall) -> None:
        self._hall = hall
        self._frames: asyncio.Queue[bytes | Dropped] = asyncio.Queue()
        self.open = True
        self.say(hall.hello())

    def say(self, messages: list[AnyServerMessage]) -> None:
        """The hall says something."""
        for message in messages:
            self._frames.put_nowait(encode(message))

    def drop(self, code: int | None = None) -> None:
        """The connection ends."""
        self.open = False
        self._frames.put_nowait(Dropped(code))

    async def send(self, frame: bytes) -> None:
        if not self.open:
            raise Dropped(None)
        lose, self._hall.lose_next = self._hall.lose_next, None
        if lose is not Lose.COMMAND:
            said = self._hall.receive(decode_command(frame))
            if lose is None:
                self.say(said)
        if lose is not None:
            self.drop()

    async def receive(self) -> bytes:
        item = await self._frames.get()
        if isinstance(item, Dropped):
            raise item
        return item

    async def close(self) -> None:
        self.open = False


class Network:
    """Dials a hall; remembers the wires. ``down``: how many of the next attempts find nobody."""

    def __init__(self, hall: Hall) -> None:
        self.hall = hall
        self.wires: list[HallWire] = []
        self.down = 0
        self.slept: list[float] = []

    async def dial(self, url: str) -> HallWire:
        assert url
        if self.down:
            self.down -= 1
            raise CannotConnect(Trouble.NOBODY_THERE)
        self.wires.append(HallWire(self.hall))
        return self.wires[-1]

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def notice(code: str, **params: str | int) -> list[AnyServerMessage]:
    """Something that a hall tells unasked."""
    return [Notice(code=code, params=dict(params))]
