"""One person's (or bot's) session at a server, without any socket: what arrives goes in, updates and commands come out.

Belongs here: command ids, what waits for an answer, resuming after a lost connection, the picture of the room, the
part in the shuffle. Must not be known here: sockets, time, files, words. After every call that may have made
commands the caller sends what ``to_send`` hands out.

A command stays pending until it is answered; after a new connection it goes out again under its old id, so nothing
that was asked is lost and nothing is done twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from clients.cli import picture as pictures
from clients.cli.fairness import Auditor, Found
from clients.cli.picture import Picture
from engine.codec import codec_of
from engine.game import Param, Seat
from engine.registry import UnknownGame
from engine.shuffle import CONTRIBUTION_BYTES
from protocol.codes import Close, Notified, Refused
from protocol.events import ROOM_EVENTS, ContributionsFixed, MatchOpened, RoomClosed, RoomEvent, Said, SeedRevealed
from protocol.messages import (
    Accepted,
    Act,
    AnyServerMessage,
    ChatLine,
    Command,
    Contribute,
    Events,
    GameInfo,
    Leave,
    Look,
    Mute,
    Notice,
    Place,
    RefusedMessage,
    Resume,
    RoomSummary,
    Snapshot,
    Turn,
    Watch,
    Welcome,
)

Params: TypeAlias = dict[str, Param]

TRY_AGAIN: Final = frozenset({Refused.STORE_UNAVAILABLE, Refused.TOO_FAST, Refused.DRAINING})
"""Refusals after which the same command is sent again, under the same id, after a while."""
DEFAULT_DELAY_MS: Final = 1_000
_TOKENS_KEPT: Final = 8


class End(StrEnum):
    """Why a session is over for good."""

    LEFT = "left"
    """As asked."""
    SUPERSEDED = "superseded"
    """Another connection took over the seat."""
    REMOVED = "removed"
    """The host removed us."""
    ROOM_CLOSED = "room-closed"
    PLACE_LOST = "place-lost"
    """We cannot get back to our place. ``code``: of the refusal."""
    TOO_MANY_STRIKES = "too-many-strikes"
    UNKNOWN_GAME = "unknown-game"
    """The room plays a game that this client does not know. ``game``."""


class Updated(Struct, frozen=True):
    """Something that the session tells whoever shows it."""


class Welcomed(Updated, frozen=True):
    """The server introduced itself."""

    server: str
    games: tuple[GameInfo, ...]


class Seated(Updated, frozen=True):
    """We are in a room: as a player if ``place.seat`` says so, otherwise as a spectator. ``place.token`` is new."""

    place: Place


class Happened(Updated, frozen=True):
    """An event, and the picture before and after it. ``event`` is None if this client does not know it."""

    number: int
    event: Any
    before: Picture
    after: Picture


class Refreshed(Updated, frozen=True):
    """The whole picture is new: at first, and after something was missed."""

    picture: Picture
    chat: tuple[ChatLine, ...] = ()
    """What was said, as far as the room remembers it and this session has not heard it; oldest first."""


class Asked(Updated, frozen=True):
    """It is our turn: the decision ``turn`` is open."""

    turn: Turn


class Done(Updated, frozen=True):
    """A command of ours was accepted."""

    command: Command
    answer: Accepted


class NotDone(Updated, frozen=True):
    """A command of ours was refused; nothing has changed. ``command`` is None where the refusal does not say which."""

    command: Command | None
    code: str
    params: Params


class Delayed(Updated, frozen=True):
    """A command could not be done now and is to be sent again (``Session.again``) in ``after_ms`` milliseconds."""

    command: Command
    code: str
    after_ms: int


class Told(Updated, frozen=True):
    """The server has something to say to the person: a value of ``Notified``."""

    code: str
    params: Params


class Checked(Updated, frozen=True):
    """What a check of the shuffle found."""

    found: Found


class Missed(Updated, frozen=True):
    """Events were lost on the way (``expected`` is the number that should have come); a snapshot is on its way."""

    expected: int
    came: int


class TurnedBack(Updated, frozen=True):
    """The server's log ends before what it had told us: its store lost the newest events."""

    had: int
    has: int


class OtherRules(Updated, frozen=True):
    """The match is played by another version of the rules than this client knows."""

    theirs: int
    ours: int


class Rooms(Updated, frozen=True):
    """The public rooms, as asked."""

    rooms: tuple[RoomSummary, ...]


class Ended(Updated, frozen=True):
    """The session is over; there will be no more updates."""

    end: End
    params: Params = {}


AnyUpdate: TypeAlias = (
    Welcomed
    | Seated
    | Happened
    | Refreshed
    | Asked
    | Done
    | NotDone
    | Delayed
    | Told
    | Checked
    | Missed
    | TurnedBack
    | OtherRules
    | Rooms
    | Ended
)

_CLOSES: Final[dict[int | None, End]] = {
    Close.SUPERSEDED: End.SUPERSEDED,
    Close.REMOVED: End.REMOVED,
    Close.ROOM_CLOSED: End.ROOM_CLOSED,
    Close.TOO_MANY_STRIKES: End.TOO_MANY_STRIKES,
}
"""Close codes after which there is no coming back. All others are a lost connection."""
_NOTICES: Final[dict[str, End]] = {
    Notified.SUPERSEDED: End.SUPERSEDED,
    Notified.REMOVED: End.REMOVED,
    Notified.ROOM_CLOSED: End.ROOM_CLOSED,
}
"""Notices that say the same before the connection is closed."""


class Session:
    """See the module. ``random_part`` begins every command id; ``random_bytes(n)`` makes our part in the shuffle."""

    def __init__(self, random_part: str, random_bytes: Callable[[int], bytes]) -> None:
        self.picture: Picture | None = None
        """What we know of the room; None before the first snapshot."""
        self.place: Place | None = None
        """Where we are, with the newest token; None outside a room."""
        self.turn: Turn | None = None
        """The decision that is open for us."""
        self.ended: Ended | None = None
        self._random_part = random_part
        self._random_bytes = random_bytes
        self._counter = 0
        self._pending: dict[str, Command] = {}
        """Asked and not yet answered, oldest first."""
        self._outgoing: list[Command] = []
        self._admitted = False
        """This connection is where it should be, so commands go out at once; otherwise they wait."""
        self._entry: str | None = None
        """The id of the command that is to bring this connection there; on the next one it is another."""
        self._looking = False
        """A snapshot is on its way; events until then are skipped."""
        self._mark: str | None = None
        """Names the history that the picture belongs to."""
        self._former_tokens: deque[str] = deque(maxlen=_TOKENS_KEPT)
        """Those before the newest: if the server's store has lost its last moments, it may know one of them only."""
        self._auditor: Auditor | None = None
        self._heard: dict[int, int] = {}
        """Lines of chat that were told: the number of each one's event, and who spoke."""

    # Asking -----------------------------------------------------------------------------------------------

    def ask(self, kind: type[Command], **fields: Any) -> Command:
        """Ask something of the server, now or as soon as there is a connection."""
        command = self._command(kind, **fields)
        self._pending[command.id] = command
        if self._admitted:
            self._outgoing.append(command)
        return command

    def act(self, action: str) -> Command:
        """Make a move (text in the notation of the game) in the decision that is open for us.

        Whether it is legal is for the server to say.
        """
        assert self.turn is not None, "no decision is open for us"
        return self.ask(Act, action=action, at=self.turn.at)

    def again(self, command_id: str) -> None:
        """Send a delayed command again, unless it has been answered meanwhile or goes out anyway."""
        command = self._pending.get(command_id)
        if command is not None and command not in self._outgoing and (self._admitted or command_id == self._entry):
            self._outgoing.append(command)

    @property
    def answering(self) -> Act | None:
        """Our move in the open decision that the server has not answered yet."""
        moves = [command for command in self._pending.values() if isinstance(command, Act)]
        return next((move for move in moves if self.turn is not None and move.at == self.turn.at), None)

    def asked(self, kind: type[Command]) -> bool:
        """Whether such a command waits for its answer."""
        return any(isinstance(command, kind) for command in self._pending.values())

    @property
    def busy(self) -> bool:
        """Whether anything waits for its answer."""
        return bool(self._pending)

    def to_send(self) -> tuple[Command, ...]:
        """What is to be sent now, in order. Handed out once."""
        commands, self._outgoing = tuple(self._outgoing), []
        return commands

    def _command(self, kind: type[Command], **fields: Any) -> Command:
        self._counter += 1
        return kind(id=f"{self._random_part}.{self._counter}", **fields)

    # The connection ---------------------------------------------------------------------------------------

    def disconnected(self, close_code: int | None) -> list[AnyUpdate]:
        """The connection is gone; ``close_code`` as in RFC 6455, or None if none came."""
        self._admitted = self._looking = False
        self._give_up_entry()
        self._outgoing.clear()
        self.turn = None
        end = _CLOSES.get(close_code)
        return [] if end is None else self._end(end)

    def feed(self, message: AnyServerMessage | None) -> list[AnyUpdate]:
        """What a message of the server's means; None stands for one that this client does not know.

        Raises:
            msgspec.MsgspecError: an event or a view is not what it claims to be.
        """
        match message:
            case None:
                return []
            case Welcome(server=server, games=games):
                self._enter()
                return [Welcomed(server, games)]
            case Accepted():
                return self._accepted(message)
            case RefusedMessage():
                return self._refused(message)
            case Events():
                return self._events(message)
            case Turn():
                self.turn = message
                return [Asked(message)]
            case Snapshot():
                return self._snapshot(message)
            case Notice(code=code, params=params):
                end = _NOTICES.get(code)
                return [Told(code, dict(params)), *([] if end is None else self._end(end))]

    def _enter(self) -> None:
        """First on a new connection: back to our place. What else waits for an answer goes out once we are there.

        Without a place, what waits is what will bring us there (or needs none), under the ids it had.
        """
        self._give_up_entry()
        if self.place is None:
            self._admitted = True
            self._outgoing = list(self._pending.values())
            return
        if self.place.token is None:
            entry = self._command(Watch, code=self.place.code)
        else:
            after = 0 if self.picture is None else self.picture.at
            entry = self._command(Resume, room=self.place.room, token=self.place.token, after=after, mark=self._mark)
        self._entry, self._pending = entry.id, {entry.id: entry, **self._pending}
        self._outgoing = [entry]

    def _give_up_entry(self) -> None:
        """Each connection has to be admitted, whatever became of an attempt on an earlier one: under a new id."""
        if self._entry is not None:
            self._pending.pop(self._entry, None)
            self._entry = None

    # Answers ----------------------------------------------------------------------------------------------

    def _accepted(self, answer: Accepted) -> list[AnyUpdate]:
        command = self._pending.pop(answer.id, None)
        if command is None:
            return []  # the answer to a repetition of what has been answered already
        updates: list[AnyUpdate] = []
        if answer.place is not None:
            updates += self._placed(answer.place)
        if answer.rooms is not None:
            updates.append(Rooms(answer.rooms))
        if isinstance(command, Act) and self.turn is not None and self.turn.at == command.at:
            self.turn = None  # a sealed answer; any other was followed by events before this
        if isinstance(command, Mute) and self.picture is not None:
            self.picture = pictures.muted(self.picture, command.seat, on=command.on)
        updates.append(Done(command, answer))
        if isinstance(command, Leave):
            updates += self._end(End.LEFT)
        return updates

    def _placed(self, place: Place) -> list[AnyUpdate]:
        if place.token is None and self.place is not None:
            place = replace(place, token=self.place.token)  # another seat, the same secret
        elif self.place is not None and self.place.token is not None:
            self._former_tokens.append(self.place.token)
        self.place = place
        if self.picture is not None:
            self.picture = replace(self.picture, you=None if place.seat is None else Seat(place.seat))
        if not self._admitted:
            self._admitted = True
            self._outgoing += self._pending.values()
        return [Seated(place)]

    def _refused(self, answer: RefusedMessage) -> list[AnyUpdate]:
        params: Params = dict(answer.params)
        command = None if answer.id is None else self._pending.get(answer.id)
        if command is None:
            return [] if answer.id is not None else [NotDone(None, answer.code, params)]
        if answer.code in TRY_AGAIN:
            after_ms = params.get("retry_ms", DEFAULT_DELAY_MS)
            return [Delayed(command, answer.code, after_ms if isinstance(after_ms, int) else DEFAULT_DELAY_MS)]
        del self._pending[command.id]
        if isinstance(command, Contribute) and self._auditor is not None:
            self._auditor.contributed(None)
        if answer.code == Refused.BAD_TOKEN and self.place is not None and self._former_tokens:
            self.place = replace(self.place, token=self._former_tokens.pop())
            self._enter()
            return []
        if not self._admitted:
            return self._end(End.PLACE_LOST, {"code": answer.code})
        return [NotDone(command, answer.code, params)]

    # What happens -----------------------------------------------------------------------------------------

    def _events(self, message: Events) -> list[AnyUpdate]:
        if self.picture is None or self._looking:
            return []
        expected = self.picture.at + 1
        if message.first > expected:
            self._looking = True
            self.ask(Look)
            return [Missed(expected, message.first)]
        updates: list[AnyUpdate] = []
        codec = codec_of(self.picture.game, ROOM_EVENTS)
        for raw in message.events[expected - message.first :]:
            updates += self._event(codec.event(raw))
        if self.picture.at == message.first + len(message.events) - 1:
            self._mark = message.mark
        return updates

    def _event(self, event: Any) -> list[AnyUpdate]:
        assert self.picture is not None
        before, self.picture = self.picture, pictures.after(self.picture, event)
        if self.turn is not None and event is not None and not isinstance(event, RoomEvent):
            self.turn = None  # the deal has gone on: by our move, or by a default action
        updates: list[AnyUpdate] = [Happened(self.picture.at, event, before, self.picture)]
        if self._auditor is not None:
            self._auditor.see(event)
        match event:
            case MatchOpened():
                updates += self._opened(event, self.picture)
            case ContributionsFixed() if self._auditor is not None and self.picture.match is not None:
                updates += map(Checked, self._auditor.fixed(self.picture.match.contributions or ()))
            case SeedRevealed(deal=deal, seed=seed) if self._auditor is not None:
                updates.append(Checked(self._auditor.revealed(deal, seed)))
            case Said(by=by):
                self._heard[self.picture.at] = by
            case RoomClosed():
                updates += self._end(End.ROOM_CLOSED)
            case _:
                pass
        return updates

    def _opened(self, event: MatchOpened, picture: Picture) -> list[AnyUpdate]:
        self._auditor = self._audit(picture, event.match, event.commitments)
        if picture.you in event.contributors:
            self._contribute(self._auditor)
        ours = picture.game.rules_version
        return [] if event.rules == ours else [OtherRules(theirs=event.rules, ours=ours)]

    def _contribute(self, auditor: Auditor) -> None:
        value = self._random_bytes(CONTRIBUTION_BYTES)
        auditor.contributed(value)
        self.ask(Contribute, value=value.hex())

    def _snapshot(self, message: Snapshot) -> list[AnyUpdate]:
        self._looking = False
        self.turn = None  # if a decision is open for us the server says so next
        try:
            picture = pictures.from_snapshot(message)
        except UnknownGame as unknown:
            return self._end(End.UNKNOWN_GAME, {"game": unknown.name})
        updates: list[AnyUpdate] = []
        if self.picture is not None and message.at < self.picture.at:
            updates.append(TurnedBack(had=self.picture.at, has=message.at))
        updates += map(Checked, self._reaudit(picture))
        self.picture, self._mark = picture, message.mark
        # Who spoke is compared too: after the store has lost its newest moves a number may mean something else.
        unheard = tuple(line for line in message.chat if self._heard.get(line.at) != line.by)
        self._heard = {line.at: line.by for line in message.chat}
        return [*updates, Refreshed(picture, unheard)]

    def _reaudit(self, picture: Picture) -> list[Found]:
        """A snapshot says where the match stands: check what we know of it, and take up what we do not."""
        match = picture.match
        if match is None:
            self._auditor = None
            return []
        found = []
        if self._auditor is None or self._auditor.match != match.id:
            self._auditor = self._audit(picture, match.id, match.commitments)
            if picture.phase == pictures.SHUFFLING and picture.you is not None:
                self._contribute(self._auditor)  # an earlier session of ours may have: then this is refused
        else:
            found = self._auditor.interrupted(match.commitments)
        return found if match.contributions is None else found + self._auditor.fixed(match.contributions)

    @staticmethod
    def _audit(picture: Picture, match: str, commitments: tuple[str, ...]) -> Auditor:
        return Auditor(picture.game, picture.options, picture.you, match=match, commitments=commitments)

    def _end(self, end: End, params: Params | None = None) -> list[AnyUpdate]:
        if self.ended is not None:
            return []
        self.ended = Ended(end, params or {})
        return [self.ended]
