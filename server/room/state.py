"""What a room is: its phases, seats, match and decision. Values only; what changes them stands in ``folding``.

Rules for maintainers: everything here is decided by the log's entries alone, and this package does not know sockets,
stores or clocks. A time is always milliseconds since the epoch. Why ``gc=False``: see ``engine.game``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from engine.game import AnyGame, Card, OptionValue, Seat
from engine.match import Match
from engine.record import Move as RecordedMove
from engine.record import Player
from protocol.messages import Settings
from server.entries import Actor, Timing

Games: TypeAlias = Mapping[str, AnyGame]
"""The games that can be played, by name: ``engine.registry.GAMES``, or a test's own."""


class Phase(StrEnum):
    """Where a room stands."""

    LOBBY = "lobby"
    SHUFFLING = "shuffling"
    """Commitments are published, contributions awaited."""
    PLAYING = "playing"
    BETWEEN_DEALS = "between-deals"
    FINISHED = "finished"
    CLOSED = "closed"


TRANSITIONS: Final[dict[Phase, frozenset[Phase]]] = {
    # A dealt hand can end its deal at once, so what comes after PLAYING can come instead of it.
    Phase.LOBBY: frozenset({Phase.SHUFFLING, Phase.CLOSED}),
    Phase.SHUFFLING: frozenset({Phase.PLAYING, Phase.BETWEEN_DEALS, Phase.FINISHED, Phase.CLOSED}),
    Phase.PLAYING: frozenset({Phase.BETWEEN_DEALS, Phase.FINISHED, Phase.CLOSED}),
    Phase.BETWEEN_DEALS: frozenset({Phase.PLAYING, Phase.FINISHED, Phase.CLOSED}),
    Phase.FINISHED: frozenset({Phase.LOBBY, Phase.CLOSED}),
    Phase.CLOSED: frozenset(),
}
"""What may follow a phase. The fold makes no other change; every phase but the last has a way out by time."""

IN_MATCH: Final = frozenset({Phase.SHUFFLING, Phase.PLAYING, Phase.BETWEEN_DEALS})
"""During these a match is on: whoever leaves is played for by an AI."""

HISTORY: Final = 64
"""Events kept for resuming; who missed more gets a snapshot."""
SESSIONS_REMEMBERED: Final = 64
"""Client sessions whose last commands are answered again when repeated."""
COMMANDS_REMEMBERED: Final = 16
"""Commands per session."""
LONG: Final = 50_000
"""Entries after which a room ends as soon as no match is on, for whoever reads it reads all of them: many hours of play
without a pause, or somebody who wants to see it grow …
"""
TOO_LONG: Final = 2 * LONG
"""… and after which it ends at once. No match comes so far by being played."""


# Seats -----------------------------------------------------------------------------------------------------------


class Open(Struct, frozen=True, gc=False, tag="open"):
    """Nobody's seat."""


class Ai(Struct, frozen=True, gc=False, tag="ai"):
    """A seat that an AI holds."""

    level: str
    kept: bool = False
    """Its person was removed during this deal: until it is over nobody takes the AI's place and sees that hand."""


class Person(Struct, frozen=True, gc=False, kw_only=True, tag="person"):
    """A seat that a person holds."""

    name: str
    since: int
    """The version at which they sat down in this room. No two persons share one."""
    epoch: int
    """The version at which their connection came: what a connection compares to know whether it is still theirs."""
    token: bytes
    """SHA-256 of the newest token."""
    kept: bytes | None = None
    """SHA-256 of the token before, valid until the newest is first used."""
    spare: bytes | None = None
    """SHA-256 of the newest token at a return by the one before it. Of two returns with one token, either can have been
    the one whose answer arrived: the person may hold this one."""
    proved: bool = False
    """They have shown a token, so the answer that brought the first one was not lost."""
    node: str = ""
    """The node that holds, or last held, their connection."""
    away: bool = False
    """Their connection is gone."""
    grace_until: int | None = None
    """When that has consequences; None while they are here and after it had."""
    stand_in: bool = False
    """An AI moves for them."""
    number: int = 0
    """Of the event with which they sat down in this room: who they are to the public. No two persons share one."""
    muted: tuple[int, ...] = ()
    """Whom they do not want to read, by ``number``."""
    talked: tuple[int, ...] = ()
    """When they last talked or winked, as often as counts (``measure.TALK``)."""
    arranged: tuple[int, ...] = ()
    """When they last changed something about the room, as often as counts (``measure.HOUSEKEEPING``)."""
    returned: tuple[int, ...] = ()
    """When they last came back, as often as counts (``measure.RETURNS``)."""
    unnamed: bool = False
    """They sat down while nobody might say anything: nobody is told their name before the deal is over."""


Holder: TypeAlias = Open | Ai | Person

HOLDERS: Final = ("person", "away", "ai", "open")
"""Who can hold a seat, for whoever counts."""


def holder_of(seat: Holder) -> str:
    """Which of ``HOLDERS`` holds ``seat``."""
    match seat:
        case Person(away=away):
            return "away" if away else "person"
        case Ai():
            return "ai"
        case Open():
            return "open"


# The match -------------------------------------------------------------------------------------------------------


class Legal(Struct, dict=True):
    """What the seats that a decision asks may do, in the game's notation; worked out once for each seat, when somebody
    asks. It follows from the rest of the room and is no part of the room's value: it has no fields, so any two are
    equal and are written alike.
    """

    def of(self, seat: Seat, game: AnyGame, state: Any) -> tuple[str, ...]:
        """What ``seat`` may do in ``state``, which must be the one in which the decision was opened."""
        known: dict[Seat, tuple[str, ...]] = self.__dict__.setdefault("texts", {})
        texts = known.get(seat)
        if texts is None:
            texts = known[seat] = tuple([game.text(action) for action in game.legal_at(state, seat)])
        return texts


class Decision(Struct, frozen=True, gc=False, kw_only=True):
    """What the match waits for."""

    at: int
    """The number of the event that opened it. It names the decision: no two share one."""
    seats: tuple[Seat, ...]
    """Who is asked, ascending. More than one: the answers are sealed."""
    since: int
    """When it was opened."""
    publish_at: int | None = None
    """When sealed answers take effect; None for a decision of one seat."""
    deadline: int | None = None
    """When a person's turn limit ends. Kept while an AI stands in, so that dropping out gains no time."""
    exit_at: int
    """The way out of a wait without a turn limit: the AI stands in for a person, or the default action for an AI."""
    legal: Legal = msgspec.field(default_factory=Legal)

    @property
    def sealed(self) -> bool:
        """The answers are published together."""
        return self.publish_at is not None


class SealedAnswer(Struct, frozen=True, gc=False):
    """An answer that nobody may see yet."""

    seat: Seat
    action: str
    actor: Actor


class SeatBytes(Struct, frozen=True, gc=False):
    """A contribution to the shuffle, received but not yet published."""

    seat: Seat
    value: bytes


class PlayedDeal(Struct, frozen=True, gc=False):
    """A deal that is over, as its record will need it."""

    match: Match
    deck: tuple[Card, ...]
    moves: tuple[RecordedMove, ...]
    players: tuple[Player, ...]
    """Who held the seats when it ended."""


class Table(Struct, frozen=True, gc=False, kw_only=True):
    """The match in play or just played."""

    id: str
    rules: int
    level: str
    """Of the AI that stand in or play on."""
    seeds: tuple[bytes, ...]
    contributors: tuple[Seat, ...]
    contributed: tuple[SeatBytes, ...] = ()
    """Ascending by seat. Complete once ``fixed``."""
    fixed: bool = False
    """Nothing more is mixed into the decks; the contributions are public."""
    wait_until: int
    """For contributions; between deals, for the next one."""
    match: Match
    deck: tuple[Card, ...] = ()
    moves: tuple[RecordedMove, ...] = ()
    """Of the deal in play or just over."""
    decision: Decision | None = None
    answers: tuple[SealedAnswer, ...] = ()
    """Sealed answers given to the open decision, in the order in which they came."""
    ready: tuple[Seat, ...] = ()
    """Persons who want the next deal, ascending."""
    redealt: tuple[PlayedDeal, ...] = ()
    """This deal's earlier attempts; their records would tell the seed and wait until it is revealed."""


# The room --------------------------------------------------------------------------------------------------------


class Line(Struct, frozen=True, gc=False):
    """Something that was said."""

    number: int
    """Of its event."""
    seat: Seat
    by: int
    """The speaker's ``Person.number``."""
    name: str
    text: str


class Done(Struct, frozen=True, gc=False):
    """A command that was done, to answer it again when it is repeated."""

    number: int
    """The counter of its id: thousands of rooms remember dozens of commands each, so the session's part, which all of
    a session share, is kept once."""
    at: int | None
    """The number of the last event that it made; None if it made none."""
    seated: int | None = None
    """For a command that seated a person: the ``since`` of that person."""


class Room(Struct, frozen=True, gc=False, kw_only=True):
    """A room as of its log's entry ``version``."""

    id: str
    code: str
    game: str
    options: dict[str, OptionValue]
    settings: Settings
    timing: Timing
    phase: Phase = Phase.LOBBY
    seats: tuple[Holder, ...]
    host: Seat | None = None
    """None while no person is here."""
    version: int = 0
    at: int
    """The time of the last entry."""
    active_at: int
    """The time of the last command."""
    abandoned_at: int | None = None
    """When the last person left. The room stands still until somebody joins or it closes."""
    number: int = 0
    """Of the last event."""
    history: tuple[Any, ...] = ()
    """The last events, whole; the last of them is event ``number``."""
    done: dict[str, tuple[Done, ...]] = {}
    """The last commands of each client session, by its part of their ids; the session used longest ago first."""
    table: Table | None = None
    chat: tuple[Line, ...] = ()
    """The last lines, for who comes or comes back."""
    silenced: tuple[int, ...] = ()
    """Whom the host muted for everyone, by ``Person.number``."""
    locked: bool = False
    """Nobody new may sit down."""
    salted: bool = False
    """The hashes of its log cannot be foreseen, so pieces of them may be shown."""


def person_at(room: Room, seat: Seat | None) -> Person | None:
    """The person in ``seat``, if one holds it."""
    holder = room.seats[seat] if seat is not None else None
    return holder if isinstance(holder, Person) else None


def persons(room: Room) -> tuple[Seat, ...]:
    """The seats that persons hold, ascending."""
    return tuple(Seat(seat) for seat, holder in enumerate(room.seats) if isinstance(holder, Person))


def present(room: Room) -> tuple[Seat, ...]:
    """The seats of the persons who are connected and move for themselves, ascending."""
    return tuple(seat for seat in persons(room) if (who := person_at(room, seat)) and not (who.away or who.stand_in))


def mover_is_ai(room: Room, seat: Seat) -> bool:
    """Whether an AI moves for ``seat``: it holds it, or stands in for its person."""
    holder = room.seats[seat]
    return isinstance(holder, Ai) or (isinstance(holder, Person) and holder.stand_in)


def table_of(room: Room) -> Table:
    """The room's match, where the phase says that there is one."""
    assert room.table is not None, f"a room without a match in phase {room.phase}"
    return room.table


def seat_of(room: Room, epoch: int) -> Seat | None:
    """The seat of the connection with ``epoch``; None if it has been replaced, or its person has lost the seat."""
    return next((seat for seat in persons(room) if (who := person_at(room, seat)) and who.epoch == epoch), None)


def token_of(room: Room, epoch: int) -> bytes | None:
    """The SHA-256 of the token that the connection with ``epoch`` was given; None as for ``seat_of``."""
    person = person_at(room, seat_of(room, epoch))
    return None if person is None else person.token
