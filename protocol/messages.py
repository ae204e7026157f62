"""The envelopes: what a client may ask (``Command``) and what the hall says (``ServerMessage``).

Tag field ``t``, kebab-case tags, JSON text. Commands forbid unknown fields; what the hall says does not, and clients
skip messages and events that they do not know, so both can grow within version 1. A connection is in one room at a
time, and in at most one seat of it; the seat comes from the connection, never from a message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from msgspec import Meta, Raw, Struct
from msgspec.structs import force_setattr

from protocol.events import Signal
from protocol.limits import MAX_ACTION, MAX_COMMAND_ID, MAX_SAFE_INTEGER

if TYPE_CHECKING:
    OptionalRaw: TypeAlias = Raw | None
else:
    OptionalRaw = Raw  # msgspec reads ``Raw | None`` as None alone; ``_none_for_null`` makes up for it

CommandId: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9_-]{16,40}\.[0-9]{1,15}(?!\n)$",
        max_length=MAX_COMMAND_ID,
        description="A random part of at least 96 bits, made once per client session, a dot, and a counter that goes "
        "up. The same id again is the same command: it is answered again, never done twice.",
    ),
]
Number: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)]
SeatNumber: TypeAlias = Annotated[int, Meta(ge=0, le=63)]
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=96)]
"""Sent as typed; the hall normalises it and refuses what is too long then (``bad-name``)."""
Line: TypeAlias = Annotated[str, Meta(min_length=1, max_length=300)]
"""Sent as typed; the hall normalises it and refuses what is too long then (``bad-line``)."""
Code: TypeAlias = Annotated[str, Meta(pattern=r"^[A-Za-z0-9]{6}(?!\n)$", description="A room's short code.")]
RoomId: TypeAlias = Annotated[str, Meta(pattern=r"^[a-z2-7]{26}(?!\n)$")]
Token: TypeAlias = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{43}(?!\n)$", description="A seat's secret, 256 bits.")]
Hex32: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}(?!\n)$", description="32 bytes.")]
Mark: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^[0-9a-f]{6}(?!\n)$",
        description="Names the history that an event belongs to. Comes with events and snapshots; ``resume`` gives the "
        "last one back, so that nobody is sent the continuation of a history that they have not seen.",
    ),
]
# `(?!\n)$` because Python's `$` alone also matches before a last newline; schema readers understand both.
LevelName: TypeAlias = Annotated[str, Meta(pattern=r"^(easy|medium|hard|expert)(?!\n)$")]


class Settings(Struct, frozen=True, kw_only=True):
    """What the creator of a room chooses besides the game's own options."""

    private: bool = False
    """Not listed; found by its code alone."""
    spectators: bool = True
    turn_limit: Annotated[int, Meta(ge=0, le=7 * 24 * 3600)] = 0
    """Seconds a person has for a decision; 0 for no limit, otherwise at least 10."""
    chat: bool = True
    """Persons may talk: any time, but not during a deal of a game that is played in silence (Hachinin Meri)."""
    winks: bool = False
    """Partners may exchange eye signals while a deal is played. Only for games with partners."""
    hints: bool = False
    """Clients may tell a person what an AI would play. A hint is made from the person's own view alone, by their
    client, so this is an agreement: it binds honest clients and tells everybody at the table what to expect."""


class ChosenSettings(Settings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``Settings`` as a command sends them: a misspelt one is refused, never ignored."""


# Commands -------------------------------------------------------------------------------------------------------


class Command(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="t"):
    """Something a client asks. Each gets exactly one answer: ``accepted`` or ``refused``."""

    id: CommandId


class Create(Command, frozen=True, tag="create"):
    """Open a room and sit down in it as its host. Accepted with ``place``."""

    game: Annotated[str, Meta(max_length=32)]
    name: Name
    options: Annotated[dict[str, str | int], Meta(max_length=16)] = {}
    """Options of the game; absent ones take their defaults."""
    settings: ChosenSettings = ChosenSettings()
    seat: SeatNumber | None = None
    """None: the first seat."""


class ListRooms(Command, frozen=True, tag="list"):
    """Which public rooms are there? Accepted with ``rooms``."""

    game: Annotated[str, Meta(max_length=32)] | None = None


class Join(Command, frozen=True, tag="join"):
    """Sit down in a room: in an open seat or, also during a match, in the place of an AI. Accepted with ``place``."""

    code: Code
    name: Name
    seat: SeatNumber | None = None
    """None: any seat, of ``side`` if that is given."""
    side: Annotated[int, Meta(ge=0, le=63)] | None = None
    """The side (team) to play for."""


class Watch(Command, frozen=True, tag="watch"):
    """See what is public in a room. Accepted with ``place``, then a ``snapshot``."""

    code: Code


class Resume(Command, frozen=True, tag="resume"):
    """Be back in one's seat. Accepted with ``place`` (a new token), then the missed ``events`` or a ``snapshot``.

    The token used stays valid until the new one is first used, so a lost answer locks nobody out.
    """

    room: RoomId
    token: Token
    after: Number = 0
    """The last event number the client has; 0 for none: a ``snapshot`` comes."""
    mark: Mark | None = None
    """The ``mark`` of the message that brought that event. Another than the hall's: the history has changed, ``notice``
    ``rolled-back`` and a ``snapshot`` come. None: not compared."""


class Move(Command, frozen=True, tag="move"):
    """Before a match: change to another seat (open, or an AI's)."""

    seat: SeatNumber


class SeatAi(Command, frozen=True, tag="seat-ai"):
    """Host, before a match: put an AI into an open seat, or change an AI's level."""

    seat: SeatNumber
    level: LevelName = "medium"


class ClearSeat(Command, frozen=True, tag="clear-seat"):
    """Host: take an AI out (before a match), or remove a person (any time; during a match an AI plays on)."""

    seat: SeatNumber


class Start(Command, frozen=True, tag="start"):
    """Host: begin the match, with AI of ``level`` in every open seat."""

    level: LevelName = "medium"


class Contribute(Command, frozen=True, tag="contribute"):
    """One's part in the shuffle, once per match, after ``match-opened``. Published only with all the others."""

    value: Hex32


class Act(Command, frozen=True, tag="act"):
    """Make a move. A sealed answer is accepted without ``at`` and is not shown before all are."""

    action: Annotated[str, Meta(min_length=1, max_length=MAX_ACTION)]
    """In the notation of the game: ``03r*03p``, ``K7``, ``declare``."""
    at: Number
    """The ``at`` of the ``turn`` this answers, so that a late or doubled move cannot hit the next decision."""


class Ready(Command, frozen=True, tag="ready"):
    """Between two deals: go on. The next deal comes when all persons are ready or the pause is over."""


class Rematch(Command, frozen=True, tag="rematch"):
    """Host, after a match: back to the state before it, everyone in their seats."""


class Chat(Command, frozen=True, tag="chat"):
    """Say something to the table. Seated persons only."""

    text: Line


class Wink(Command, frozen=True, tag="wink"):
    """Give one's partners an eye signal, while a deal is played and no sealed question is open."""

    signal: Signal


class Mute(Command, frozen=True, tag="mute"):
    """Hide what the person in ``seat`` says, now and earlier, also after you reconnect. Nobody else is told."""

    seat: SeatNumber
    on: bool = True
    everyone: bool = False
    """Host: hide it from all, and refuse what they say from now on. Everybody is told that."""


class Lock(Command, frozen=True, tag="lock"):
    """Host: let nobody new sit down (``clear-seat`` removes who is there already), or open the room again."""

    on: bool = True


class Leave(Command, frozen=True, tag="leave"):
    """Give the seat up for good (or stop watching). During a match an AI plays on. The token dies."""


class Look(Command, frozen=True, tag="look"):
    """Send me a ``snapshot``. Accepted first."""


AnyCommand: TypeAlias = (
    Create
    | ListRooms
    | Join
    | Watch
    | Resume
    | Move
    | SeatAi
    | ClearSeat
    | Start
    | Contribute
    | Act
    | Ready
    | Rematch
    | Chat
    | Wink
    | Mute
    | Lock
    | Leave
    | Look
)


def _none_for_null(message: Struct, field: str) -> None:
    """What was read as the raw JSON ``null`` becomes None."""
    raw = getattr(message, field)
    if raw is not None and bytes(raw) == b"null":
        force_setattr(message, field, None)


# What the hall says ---------------------------------------------------------------------------------------------


class GameInfo(Struct, frozen=True):
    """A game that can be hosted here."""

    name: str
    seats: int
    sides: int
    options: dict[str, tuple[str | int, ...]]
    """Every option with its values, the default first."""
    levels: tuple[str, ...]
    """The AI levels this server has."""


class Place(Struct, frozen=True, kw_only=True):
    """Where the connection now is."""

    room: str
    code: str
    seat: int | None
    """None for a spectator."""
    token: str | None = None
    """The seat's secret. Keep it: it is what ``resume`` wants."""


class RoomSummary(Struct, frozen=True, kw_only=True):
    """A public room in the list."""

    code: str
    game: str
    host: str
    """The host's name; empty while nobody may be told it."""
    phase: str
    open: tuple[int, ...]
    """Seats a person can take: open ones and, unless the room says otherwise, those of AI."""
    seats: int
    persons: int


class SeatInfo(Struct, frozen=True, kw_only=True):
    """Who holds a seat."""

    kind: str
    """``open``, ``person`` or ``ai``."""
    name: str | None = None
    """Of a person; None also for one who sat down during a deal in which nobody may say anything, until it is over."""
    level: str | None = None
    """Of the AI that holds the seat or stands in."""
    away: bool = False
    """A person whose connection is gone."""
    stand_in: bool = False
    """An AI moves for this person."""
    ready: bool = False
    """Between deals: the person waits for the next one."""
    muted: bool = False
    """What this person says is hidden from you: you muted them, or the host did for everyone."""


class ChatLine(Struct, frozen=True, kw_only=True):
    """Something that was said."""

    at: int
    """The number of its event."""
    seat: int
    """Where the speaker sat."""
    by: int
    """As in the event."""
    name: str
    text: str | None
    """None if you, or the host, muted the speaker."""


class MatchInfo(Struct, frozen=True, kw_only=True):
    """Where the match stands."""

    id: str
    deal: int
    deals: int
    attempt: int
    beginner: int
    carry: int
    totals: tuple[int, ...]
    commitments: tuple[str, ...]
    contributions: tuple[tuple[int, str], ...] | None
    """None while they are being collected."""
    seeds: dict[int, str] = {}
    """Revealed ones, by deal."""
    outcome: OptionalRaw = None
    """``{"reason", "scores"}`` of the deal just over."""

    def __post_init__(self) -> None:
        _none_for_null(self, "outcome")


class ServerMessage(Struct, frozen=True, kw_only=True, tag_field="t"):
    """Something the hall says."""


class Welcome(ServerMessage, frozen=True, tag="welcome"):
    """The first message on every connection."""

    server: str
    protocol: int
    games: tuple[GameInfo, ...]


class Accepted(ServerMessage, frozen=True, tag="accepted", omit_defaults=True):
    """The command was done, and whoever may see its effect has been sent it."""

    id: str
    at: int | None = None
    """The number of the last event it made; absent for sealed answers and for commands that make none."""
    place: Place | None = None
    rooms: tuple[RoomSummary, ...] | None = None


class RefusedMessage(ServerMessage, frozen=True, tag="refused"):
    """The command was not done and nothing has changed."""

    id: str | None
    """None when the frame was too broken to have one."""
    code: str
    """A value of ``protocol.codes.Refused`` or a code of the game."""
    params: dict[str, str | int | tuple[str, ...]] = {}


class Events(ServerMessage, frozen=True, tag="events", omit_defaults=True):
    """What happened, redacted for this viewer. Numbers have no holes and are alike for every viewer."""

    first: int
    """The number of the first event here, from 1; the others follow."""
    events: tuple[Raw, ...]
    mark: str | None = None
    """Of the last event here, for ``resume``. Absent in rooms that an older server opened."""


class Turn(ServerMessage, frozen=True, tag="turn"):
    """You are to act. Comes after the events that led to it, and again after a ``resume`` or ``snapshot``."""

    at: int
    """Echo it in ``act``."""
    legal: tuple[str, ...]
    sealed: bool = False
    """Others are asked at the same time; answers are published together."""
    left_ms: int | None = None
    """Until the default action is taken for you; None for no limit."""


class Snapshot(ServerMessage, frozen=True, tag="snapshot"):
    """Everything this viewer knows, as of event number ``at``."""

    at: int
    room: str
    code: str
    game: str
    options: dict[str, str | int]
    settings: Settings
    phase: str
    """``lobby``, ``shuffling``, ``playing``, ``between-deals``, ``finished`` or ``closed``."""
    host: int | None
    seats: tuple[SeatInfo, ...]
    you: int | None
    """Your seat; None for a spectator."""
    answered: bool = False
    """You have given your sealed answer."""
    locked: bool = False
    """Nobody new may sit down."""
    chat: tuple[ChatLine, ...] = ()
    """The last things that were said, oldest first."""
    match: MatchInfo | None = None
    view: OptionalRaw = None
    """The game's view for this viewer; None before the first deal."""
    mark: str | None = None
    """Of event ``at``, for ``resume``."""

    def __post_init__(self) -> None:
        _none_for_null(self, "view")


class Notice(ServerMessage, frozen=True, tag="notice"):
    """Something to tell the person. ``code`` is a value of ``protocol.codes.Notified``."""

    code: str
    params: dict[str, str | int | tuple[str, ...]] = {}


AnyServerMessage: TypeAlias = Welcome | Accepted | RefusedMessage | Events | Turn | Snapshot | Notice

COMMANDS: Final[tuple[type[Command], ...]] = AnyCommand.__args__
SERVER_MESSAGES: Final[tuple[type[ServerMessage], ...]] = AnyServerMessage.__args__
