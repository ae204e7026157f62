"""Talk, winks, mutes and the lock as people type them: ``say``, ``wink``, ``mute``, ``unmute``, ``lock``, ``unlock``.

Belongs here: which command a typed line asks for, and what to say where it lacks something. What the room allows is the
server's word; only what anybody at the table can see is told at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from clients.cli import picture as pictures
from clients.cli.picture import Picture
from clients.cli.words import N_, _, common, listed
from clients.cli.words.people import people_of
from protocol.codes import Refused
from protocol.events import Signal
from protocol.limits import MAX_LINE
from protocol.messages import Chat, Command, Lock, Mute, Wink

SIGNS: Final[Mapping[Signal, str]] = {
    Signal.LEFT_EYE: N_("close the left eye"),
    Signal.RIGHT_EYE: N_("close the right eye"),
    Signal.BOTH_EYES: N_("close both eyes"),
    Signal.EYEBROWS: N_("raise the eyebrows"),
}
"""What one can do to wink."""

Asked: TypeAlias = tuple[type[Command], dict[str, Any]]
"""A command and its fields."""

EVERYONE: Final = "all"
"""Behind ``mute SEAT``: for everyone."""


class CannotSay(Exception):
    """The line asks for something, but not for anything that can be done. The text is for the person."""


def asked_in(line: str, picture: Picture) -> Asked | None:
    """What ``line`` asks of the room; None: it is none of these commands.

    Raises:
        CannotSay: it is one, and lacks something or cannot be done at this table.
    """
    name, _space, rest = line.strip().partition(" ")
    rest = rest.strip()
    match name.casefold():
        case "say":
            return _say(rest, picture)
        case "wink":
            return _wink(rest.casefold(), picture)
        case "mute" | "unmute" as verb:
            return _mute(verb, rest.casefold().split(), picture)
        case "lock" | "unlock" as verb if not rest:
            return Lock, {"on": verb == "lock"}
        case _:
            return None


def is_silent(picture: Picture) -> bool:
    """Whether a deal is played in which nobody may talk."""
    return picture.game.silent_deals and picture.phase == pictures.PLAYING


def _say(text: str, picture: Picture) -> Asked:
    if not text:
        raise CannotSay(_("Say what? For example: say good luck"))
    if len(text) > MAX_LINE:
        raise CannotSay(common.refusal(Refused.BAD_LINE, {"limit": MAX_LINE}))
    if is_silent(picture):
        raise CannotSay(_("This game is played in silence. You can talk before and after a deal."))
    return Chat, {"text": text}


def _wink(signal: str, picture: Picture) -> Asked:
    if not picture.settings.winks:
        raise CannotSay(_("This room was opened without winks."))
    if signal not in tuple(Signal):
        ways = [f"wink {each} ({_(text)})" for each, text in SIGNS.items()]
        raise CannotSay(_("A wink is one of these: {ways}.").format(ways=listed(ways)))
    return Wink, {"signal": Signal(signal)}


def _mute(verb: str, arguments: Sequence[str], picture: Picture) -> Asked:
    people = people_of(picture)
    others = [seat for seat, info in enumerate(picture.seats) if info.kind == "person" and seat != picture.you]
    match arguments:
        case [seat, *rest] if seat in map(str, others) and rest in ([], [EVERYONE]):
            return Mute, {"seat": int(seat), "on": verb == "mute", "everyone": bool(rest)}
        case _ if not others:
            raise CannotSay(_("There is no other person at the table."))
        case _:
            ways = listed([f"{verb} {seat} ({people.name(seat)})" for seat in others])
            raise CannotSay(_("Name the seat of a person: {ways}.").format(ways=ways))
