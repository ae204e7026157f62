"""The JSON mode: one JSON object a line out, one action a line in. ``docs/json-mode.md`` describes it.

Belongs here: what a script needs to play, and nothing that a person reads (but the text of errors). Every turn carries
the whole view and every legal action, so a bot needs no memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from clients.cli import picture as pictures
from clients.cli.core import GaveUp, News, Offline, Online, Unkept
from clients.cli.face import FAILED, OK, Face, status_after
from clients.cli.picture import Picture
from clients.cli.reading import LineReader
from clients.cli.session import (
    Asked,
    Checked,
    Delayed,
    Done,
    Ended,
    Happened,
    Missed,
    NotDone,
    OtherRules,
    Refreshed,
    Rooms,
    Seated,
    Told,
    TurnedBack,
    Welcomed,
)
from clients.cli.table import Table
from clients.cli.words import common
from clients.cli.words.games import refusal
from engine.game import Level
from protocol.events import Signal
from protocol.messages import (
    Act,
    Chat,
    ClearSeat,
    Command,
    Contribute,
    Create,
    Join,
    Leave,
    Line,
    Lock,
    Look,
    Move,
    Mute,
    Ready,
    Rematch,
    SeatAi,
    SeatNumber,
    Start,
    Watch,
    Wink,
)

BAD_LINE: Final = "bad-line"
"""The code of an error about a line that is no action and no command."""

_encoder: Final = msgspec.json.Encoder()


class DoAct(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="act"):
    """Make a move, in the next decision that is ours. The same as the action's text alone."""

    action: str


class DoStart(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="start"):
    """Host: begin the match, AI in open seats. Without a level it is the one that was given with the command."""

    level: Level | None = None


class DoSeatAi(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="seat-ai"):
    """Host: AI into a seat; of the level that was given with the command, if none is named."""

    seat: int
    level: Level | None = None


class DoClearSeat(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="clear-seat"):
    """Host: a seat becomes free."""

    seat: int


class DoMove(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="move"):
    """To another seat."""

    seat: int


class DoChat(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="chat"):
    """Say something to the table."""

    text: Line


class DoWink(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="wink"):
    """Give one's partners an eye signal."""

    signal: Signal


class DoMute(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="mute"):
    """Hide what the person in a seat says, or read it again; the host can do so for everyone."""

    seat: SeatNumber
    on: bool = True
    everyone: bool = False


class DoLock(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="lock"):
    """Host: let nobody new sit down, or open the room again."""

    on: bool = True


class DoRematch(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="rematch"):
    """Host: the same once more."""


class DoLeave(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="leave"):
    """Give up the seat and end."""


class DoLook(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="look"):
    """A ``table`` line, please."""


Doing: TypeAlias = (
    DoAct | DoStart | DoSeatAi | DoClearSeat | DoMove | DoChat | DoWink | DoMute | DoLock | DoRematch | DoLeave | DoLook
)
_decoder: Final = msgspec.json.Decoder(str | Doing)


class JsonFace(Face):
    """Shows one table to a program."""

    def __init__(
        self,
        table: Table,
        reader: LineReader,
        write: Callable[[str], None],
        *,
        level: str = Level.MEDIUM,
        start: bool = False,
    ) -> None:
        super().__init__(table, reader)
        self._write = write
        self._level = level
        self._start = start
        self._held: str | None = None
        """An action that waits for a turn; no further line is read meanwhile."""
        self._input_ended = False

    # Out --------------------------------------------------------------------------------------------------

    def _tell(self, kind: str, **fields: Any) -> None:
        self._write(_encoder.encode({"t": kind, **fields}).decode() + "\n")

    def hear(self, item: News) -> None:
        """One line for each piece of news."""
        match item:
            case Seated(place=place):
                self._tell("place", url=self._core.url, code=place.code, room=place.room, seat=place.seat)
            case Refreshed(picture=picture):
                self._refreshed(picture)
            case Happened(number=number, event=event):
                self._tell("event", number=number, event=event)
            case Asked(turn=turn):
                view = None if self._session.picture is None else self._session.picture.view
                about = {"at": turn.at, "legal": turn.legal, "sealed": turn.sealed, "left_ms": turn.left_ms}
                self._tell("turn", **about, view=view)
            case Done(command=command, answer=answer):
                if not isinstance(command, Contribute | Ready):
                    self._tell("done", **_about(command), at=answer.at)
            case NotDone(command=command, code=code, params=params):
                self._refused(command, code, params)
            case Delayed(command=command, code=code):
                self._tell("delayed", **_about(command), code=code)
            case Told(code=code, params=params):
                self._tell("notice", code=code, params=params)
            case Checked(found=found):
                self._tell("check", finding=found.finding, params=found.params, alarm=common.is_alarm(found))
            case Online(again=again):
                self._tell("online", again=again)
            case Offline(trouble=trouble, detail=detail):
                self._tell("offline", trouble=trouble, detail=detail)
            case GaveUp(trouble=trouble, detail=detail):
                text = common.trouble(trouble, self._core.url, detail)
                self._tell("end", end=trouble, params={}, text=text)
                self.status = FAILED
            case Unkept(problem=problem):
                self._tell("unkept", problem=problem)
            case Missed(expected=expected, came=came):
                self._tell("missed", expected=expected, came=came)
            case TurnedBack(had=had, has=has):
                self._tell("turned-back", had=had, has=has)
            case OtherRules(theirs=theirs, ours=ours):
                self._tell("other-rules", theirs=theirs, ours=ours)
            case Ended(end=end, params=params):
                self._tell("end", end=end, params=params, text=common.end(item))
                self.status = status_after(end)
            case Welcomed() | Rooms():
                pass

    def _refreshed(self, picture: Picture) -> None:
        self._tell(
            "table",
            at=picture.at,
            code=picture.code,
            game=picture.game.name,
            options=picture.options,
            phase=picture.phase,
            host=picture.host,
            you=picture.you,
            seats=picture.seats,
            match=picture.match,
            view=picture.view,
        )
        if self._start and picture.phase == pictures.LOBBY and picture.is_host:
            self._core.ask(Start, level=self._level)
        self._start = False

    def _refused(self, command: Command | None, code: str, params: dict[str, Any]) -> None:
        if isinstance(command, Contribute | Ready):
            return  # not the program's doing
        self._tell(
            "error", **_about(command), code=code, params=params, text=refusal(self._session.picture, code, params)
        )
        if isinstance(command, Create | Join | Watch):
            self.status = FAILED

    # In ---------------------------------------------------------------------------------------------------

    def wants_line(self) -> bool:
        """One line is read ahead, so that commands need not wait for a turn."""
        return self._held is None and not self._input_ended

    def take(self, line: str | None) -> None:
        """An action or a command."""
        if line is None:
            self._input_ended = True
        elif line.strip():
            self._do(line.strip())
        self.settled()

    def settled(self) -> None:
        """Make the move that waits, if it can be made; go on after a deal; end when all input is dealt with."""
        if self._held is not None and self._session.turn is not None and self._session.answering is None:
            action, self._held = self._held, None
            self._core.act(action)
        picture = self._session.picture
        if picture is not None and picture.waits_for_you and not self._session.asked(Ready):
            self._core.ask(Ready)  # a program needs no time to look at a result
        if self._input_ended and self._held is None and not self._session.busy:
            if picture is not None and picture.you is None:
                return  # a spectator needs no input
            if picture is not None and picture.phase == pictures.FINISHED:
                self._core.ask(Leave)
            else:
                self.status = OK

    def _do(self, line: str) -> None:
        try:
            doing = _decoder.decode(line) if line[0] in '{"' else line
        except msgspec.MsgspecError as problem:
            self._tell("error", line=line, code=BAD_LINE, params={}, text=str(problem))
            return
        match doing:
            case str(action) | DoAct(action=action):
                self._held = action
            case DoStart(level=level):
                self._core.ask(Start, level=level or self._level)
            case DoSeatAi(seat=seat, level=level):
                self._core.ask(SeatAi, seat=seat, level=level or self._level)
            case DoClearSeat(seat=seat):
                self._core.ask(ClearSeat, seat=seat)
            case DoMove(seat=seat):
                self._core.ask(Move, seat=seat)
            case DoChat(text=text):
                self._core.ask(Chat, text=text)
            case DoWink(signal=signal):
                self._core.ask(Wink, signal=signal)
            case DoMute(seat=seat, on=on, everyone=everyone):
                self._core.ask(Mute, seat=seat, on=on, everyone=everyone)
            case DoLock(on=on):
                self._core.ask(Lock, on=on)
            case DoRematch():
                self._core.ask(Rematch)
            case DoLeave():
                self._core.ask(Leave)
            case DoLook():
                self._core.ask(Look)


def _about(command: Command | None) -> dict[str, Any]:
    if command is None:
        return {"command": None}
    about: dict[str, Any] = {"command": str(command.__struct_config__.tag)}
    return {**about, "action": command.action} if isinstance(command, Act) else about
