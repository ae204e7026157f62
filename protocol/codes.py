"""The codes of refusals, notices and closes. Sentences belong to clients; a game's own codes belong to the game."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Refused(StrEnum):
    """Why a command was refused, besides what the rules of the game say (``engine`` codes pass through as they are).

    Parameters stand behind each; a code without them has none.
    """

    # malformed
    TOO_LARGE = "too-large"
    """``limit``: bytes."""
    NOT_JSON = "not-json"
    UNKNOWN_COMMAND = "unknown-command"
    """``known``: the commands there are."""
    BAD_FIELD = "bad-field"
    """``path``: where (``$.seat``); ``problem``: what the codec says."""
    MALFORMED_ACTION = "malformed-action"
    """``action``: the text that is no action of this game."""

    # illegal
    UNKNOWN_GAME = "unknown-game"
    """``game``; ``known``."""
    UNKNOWN_ROOM = "unknown-room"
    """No room has this code or id (any more)."""
    NOT_IN_A_ROOM = "not-in-a-room"
    ALREADY_IN_A_ROOM = "already-in-a-room"
    BAD_TOKEN = "bad-token"  # noqa: S105 - a code, not a secret
    NO_SUCH_SEAT = "no-such-seat"
    """``seats``: how many there are."""
    SEAT_TAKEN = "seat-taken"
    """``seat`` (or ``side``, if that was asked for); ``free``: seats a person may take."""
    SEAT_OPEN = "seat-open"
    """Nobody holds it. ``seat``."""
    ROOM_FULL = "room-full"
    """Every seat is held by a person."""
    SEAT_KEPT = "seat-kept"
    """Its person was removed during this deal: the AI keeps it until the deal is over. ``seat``; ``free``."""
    SPECTATORS_NOT_ALLOWED = "spectators-not-allowed"
    SPECTATORS_FULL = "spectators-full"
    """``limit``: how many may watch through one node."""
    SPECTATORS_ONLY_WATCH = "spectators-only-watch"
    ONLY_THE_HOST = "only-the-host"
    """``host``: the host's seat."""
    NOT_NOW = "not-now"
    """The room's phase does not allow it. ``phase``."""
    STALE = "stale"
    """The decision this answers is no longer open. ``at``: the number of the open one, 0 for none of yours."""
    BAD_NAME = "bad-name"
    """``limit``: characters."""
    BAD_LINE = "bad-line"
    """Nothing that can be shown is left of the chat line, or it is too long. ``limit``: characters."""
    SWITCHED_OFF = "switched-off"
    """This room was opened without it. ``setting``: ``chat`` or ``winks``."""
    MUTED = "muted"
    """The host has muted you for everyone."""
    NO_PERSON = "no-person"
    """No other person holds this seat. ``seat``."""
    ROOM_LOCKED = "room-locked"
    """The host lets nobody new sit down."""

    # the hall
    TOO_FAST = "too-fast"
    """``retry_ms``."""
    HALL_FULL = "hall-full"
    """No more rooms or connections are taken."""
    STORE_UNAVAILABLE = "store-unavailable"
    """The store does not answer. The outcome may be unknown: send the same command id again."""
    STORE_FULL = "store-full"
    """The store takes no more writes; nothing was changed."""
    DRAINING = "draining"
    """This node is about to stop; connect again."""
    INTERNAL = "internal"
    """A fault of the server's. Nothing more is told; the log has it."""


class Notified(StrEnum):
    """What the server says unasked."""

    SUPERSEDED = "superseded"
    """Another connection took over this seat; this one is closed with ``Close.SUPERSEDED``."""
    DRAINING = "draining"
    """This node is about to stop; connect again in a moment. The room goes on."""
    REMOVED = "removed"
    """The host removed this seat's holder."""
    ROOM_CLOSED = "room-closed"
    ROLLED_BACK = "rolled-back"
    """The store has lost the last moves; the ``snapshot`` that follows is the room as it now is."""
    ANNOUNCEMENT = "announcement"
    """The operator speaks. ``text``."""
    TIME_RUNS_OUT = "time-runs-out"
    """``left_ms``: until the default action is taken for you."""


class Close(IntEnum):
    """The close codes that the server sends: RFC 6455 section 7.4.1, and our own from 4000. A reader that falls too far
    behind gets none: a close frame would only wait behind what it does not read.
    """

    TOO_BIG = 1009
    SERVICE_RESTART = 1012
    SUPERSEDED = 4001
    REMOVED = 4002
    ROOM_CLOSED = 4003
    TOO_MANY_STRIKES = 4004
    """Too many malformed or too fast commands."""
    IDLE = 4006
    """In no room and silent for too long. 4005 is not used."""
