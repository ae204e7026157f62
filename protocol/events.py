"""Events of the room itself. They share one numbering with match and game events, which travel raw beside them.

Room events are public in full but for two: what is said is hidden from who muted its speaker, and a wink's signal is
for partners alone. Tag field ``e``; games must not use these tags (a test says so).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct


class RoomEvent(Struct, frozen=True, tag_field="e", kw_only=True):
    """What happens to a room."""


class SeatTaken(RoomEvent, frozen=True, tag="seat-taken"):
    """A person sat down, in an open seat or in the place of an AI (at that seat's next decision)."""

    seat: int
    name: str | None
    """None while a deal is played and nobody may say anything, for a name can be a message: ``seat-named`` comes when
    the deal is over.
    """


class SeatNamed(RoomEvent, frozen=True, tag="seat-named"):
    """The deal is over, in which a person sat down whose name was not told: here it is."""

    seat: int
    name: str


class AiSeated(RoomEvent, frozen=True, tag="ai-seated"):
    """The host put an AI into an open seat, or ``start`` did."""

    seat: int
    level: str


class WhyFreed(StrEnum):
    """Why a seat is no longer held by whoever held it."""

    LEFT = "left"
    REMOVED = "removed"
    MOVED = "moved"
    """To another seat, which a ``seat-taken`` right after names."""
    LOST = "lost"
    """Away for longer than the grace period while no match was on."""


class SeatFreed(RoomEvent, frozen=True, tag="seat-freed"):
    """A seat lost its holder. During a match an AI plays on (``level`` says which), otherwise the seat is open."""

    seat: int
    why: WhyFreed
    level: str | None = None


class SeatAway(RoomEvent, frozen=True, tag="seat-away"):
    """A person's connection is gone; the AI sits in after the grace period."""

    seat: int
    grace_ms: int


class StandIn(RoomEvent, frozen=True, tag="stand-in"):
    """The grace period is over: an AI moves for this person until they return."""

    seat: int
    level: str


class SeatBack(RoomEvent, frozen=True, tag="seat-back"):
    """The person is back."""

    seat: int


class HostIs(RoomEvent, frozen=True, tag="host-is"):
    """Hosting passed on."""

    seat: int


class MatchOpened(RoomEvent, frozen=True, tag="match-opened"):
    """A match is about to begin. Clients of seated persons now contribute to the shuffle (``contribute``)."""

    match: str
    rules: int
    """The version of the game's rules."""
    commitments: tuple[str, ...]
    """One per deal: SHA-256, 64 hex digits (``engine.shuffle.commitment``)."""
    contributors: tuple[int, ...]
    """The seats whose contributions count, ascending."""
    wait_ms: int
    """After this time missing contributions are replaced by zeros."""


class SeatContribution(Struct, frozen=True):
    """One seat's contribution: 64 hex digits; all zeros where none arrived in time."""

    seat: int
    value: str


class ContributionsFixed(RoomEvent, frozen=True, tag="contributions-fixed"):
    """All contributions, published together; nothing more is mixed into the decks of this match."""

    contributions: tuple[SeatContribution, ...]


class QuestionOpened(RoomEvent, frozen=True, tag="question-opened"):
    """Several seats are asked at once; their answers stay sealed and are published after ``wait_ms``, always."""

    wait_ms: int


class SeatReady(RoomEvent, frozen=True, tag="seat-ready"):
    """A person is ready for the next deal."""

    seat: int


class SeedRevealed(RoomEvent, frozen=True, tag="seed-revealed"):
    """The secret of a deal that is over: with the contributions it determines that deal's decks (redeals too)."""

    deal: int
    seed: str
    """64 hex digits."""


class Rematched(RoomEvent, frozen=True, tag="rematch"):
    """Back to the state before the match, everyone in their seats. Away persons have a new grace period."""


class Said(RoomEvent, frozen=True, tag="said"):
    """A person said something to the table."""

    seat: int
    by: int
    """Who: the number of the ``seat-taken`` with which this person first sat down."""
    text: str | None
    """One line, normalised; None if you, or the host, muted this person."""


class Signal(StrEnum):
    """The eye signals. What they mean is between partners."""

    LEFT_EYE = "left-eye"
    RIGHT_EYE = "right-eye"
    BOTH_EYES = "both-eyes"
    EYEBROWS = "eyebrows"


class Winked(RoomEvent, frozen=True, tag="winked"):
    """A person winked at their partners. Everybody sees that, only partners see how."""

    seat: int
    signal: Signal | None
    """None for all but the seat's own side."""


class SeatMuted(RoomEvent, frozen=True, tag="seat-muted"):
    """The host muted a person for everyone, or let them speak again."""

    seat: int
    on: bool


class RoomLock(RoomEvent, frozen=True, tag="room-lock"):
    """The host lets nobody new sit down, or opens the room again."""

    on: bool


class WhyClosed(StrEnum):
    """Why a room is closed."""

    NOBODY_LEFT = "nobody-left"
    IDLE = "idle"
    OPERATOR = "operator"


class RoomClosed(RoomEvent, frozen=True, tag="room-closed"):
    """The room takes no more commands."""

    why: WhyClosed


ROOM_EVENTS: Final = (
    SeatTaken,
    SeatNamed,
    AiSeated,
    SeatFreed,
    SeatAway,
    StandIn,
    SeatBack,
    HostIs,
    MatchOpened,
    ContributionsFixed,
    QuestionOpened,
    SeatReady,
    SeedRevealed,
    Rematched,
    Said,
    Winked,
    SeatMuted,
    RoomLock,
    RoomClosed,
)
