"""Reads everything that was sent and finds what its reader was not entitled to."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from engine.game import AnyGame, Viewer
from protocol.codes import Close
from tests.security.oracle import NOTHING, Knowledge, Truth

_OPAQUE: Final = re.compile(r"[A-Za-z0-9_-]{43}|[0-9a-f]{64}|[a-z2-7]{26}|[A-Za-z0-9_-]{16,40}\.[0-9]{1,15}")
"""Tokens, hashes and ids: random letters in which a card's code means nothing."""

_REASONS: Final[dict[int, str]] = {
    **{code.value: code.name.lower().replace("_", "-") for code in Close},
    1011: "keepalive ping timeout",
}
"""What may be said with each close code."""

Path: TypeAlias = tuple[str | int, ...]


class Frame(NamedTuple):
    """One text frame, who read it, and what they had been shown before."""

    reader: str
    """The name of whoever read it."""
    viewer: Viewer
    """As whom: a seat, or None for a spectator and whoever is in no room."""
    number: int
    """The last event that this connection knew of."""
    muted: frozenset[str]
    """The names of those whom the reader had muted."""
    action: str | None
    """Of the command that this answers: a refusal may repeat it."""
    text: str


class Leak(NamedTuple):
    """Something that somebody should not have read."""

    what: str
    where: str
    frame: Frame | None


def strings(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every string in a JSON value, keys of objects among them, and where it stands."""
    match value:
        case str():
            yield path, value
        case dict():
            for key, inner in value.items():
                yield path, key
                yield from strings(inner, (*path, key))
        case list():
            for place, inner in enumerate(value):
                yield from strings(inner, (*path, place))
        case _:
            return


class Judge:
    """Judges frames by the ``truth`` of their room."""

    def __init__(self, truth: Truth, owners: dict[str, str], private: Collection[str] = ()) -> None:
        self._truth = truth
        self._owners = owners
        """Tokens and command ids, and whose they are."""
        self._private = private
        """The codes of rooms that no list may have."""
        self._cards = card_pattern(truth.game)
        self._partner_of = truth.game.side

    def leaks(self, frames: Iterable[Frame]) -> Iterator[Leak]:
        """Everything in ``frames`` that its reader was not entitled to."""
        for frame in frames:
            message = json.loads(frame.text)
            yield from self._secrets(frame, message)
            yield from self._talk(frame, message)
            for part, allowed in self._parts(frame, message):
                for path, card in self.cards(part):
                    # Which card is the trump suit's Robai everybody knows; who holds it is another question.
                    named = message["t"] == "refused" and path == ("params", "robai")
                    if card not in allowed and not named:
                        yield Leak(card, f"{message['t']} {path}", frame)

    def cards(self, value: Any) -> Iterator[tuple[Path, str]]:
        """Every card's code in a JSON value."""
        for path, text in strings(value):
            if not _OPAQUE.fullmatch(text):
                for found in self._cards.finditer(text):
                    yield path, found[0]

    def _parts(self, frame: Frame, message: Any) -> Iterator[tuple[Any, Knowledge]]:
        """The message in pieces, and the cards that may stand in each."""
        known = self._truth.known
        match message["t"]:
            case "events":
                for number, event in enumerate(message["events"], message["first"]):
                    yield event, known(frame.viewer, number)
            case "turn" | "snapshot":
                yield message, known(frame.viewer, message["at"])
            case "refused":
                named = {card for _, card in self.cards(frame.action)}
                yield message, known(frame.viewer, frame.number) | named
            case _:
                yield message, NOTHING

    def _secrets(self, frame: Frame, message: Any) -> Iterator[Leak]:
        """Tokens and command ids are for their owner; what the log keeps in bytes for nobody, or from a number on."""
        for listed in message.get("rooms") or ():
            if listed["code"] in self._private:
                yield Leak("a private room", f"{message['t']} rooms", frame)
        for path, text in strings(message):
            owner = self._owners.get(text)
            if owner is not None and owner != frame.reader:
                yield Leak(f"a secret of {owner}", f"{message['t']} {path}", frame)
        for secret, at in self._truth.secrets.items():
            if secret in frame.text:
                for path, text in strings(message):
                    if secret in text and (at is None or _shown_at(message, path) < at):
                        yield Leak("a secret of the log", f"{message['t']} {path}", frame)

    def _talk(self, frame: Frame, message: Any) -> Iterator[Leak]:
        if message["t"] == "events":
            said, at = message["events"], message["first"] + len(message["events"]) - 1
        else:
            said, at = message.get("chat", ()), message.get("at", 0)
        muted = frame.muted | {name for name, since in self._truth.silenced.items() if since <= at}
        for each in said:
            for name in muted:
                if f"I am {name}" in (each.get("text") or ""):
                    yield Leak(f"a line of {name}", message["t"], frame)
            if each.get("e") == "winked" and each["signal"] is not None:
                partner = frame.viewer is not None and self._side(frame.viewer) == self._side(each["seat"])
                if not partner:
                    yield Leak("a wink", message["t"], frame)

    def _side(self, seat: Any) -> int:
        return self._partner_of(seat)

    def record(self, text: str, number: int, where: str) -> Iterator[Leak]:
        """A deal's record that could be read when event ``number`` was the last: what it is made from is public then,
        and nothing else of the room stands in it.
        """
        for secret, at in self._truth.secrets.items():
            if secret in text and (at is None or at > number):
                yield Leak("a secret of the log", where, None)
        for secret in self._owners:
            if secret in text:
                yield Leak("a secret", where, None)
        if "I am " in text:
            yield Leak("a line", where, None)

    def closes(self, ends: Iterable[tuple[int | None, str | None]]) -> Iterator[Leak]:
        """A connection's end tells its code in words, and no more."""
        for code, reason in ends:
            if reason and _REASONS.get(code or 0) != reason:
                yield Leak(reason, f"close {code}", None)

    def in_the_open(self, text: str, where: str) -> Iterator[Leak]:
        """What stands where no card and no secret may ever stand: logs, metrics, wake-ups, the lobby's list."""
        for found in self._cards.finditer(text):
            yield Leak(found[0], where, None)
        for secret in (*self._owners, *self._truth.secrets):
            if secret in text:
                yield Leak("a secret", where, None)


def _shown_at(message: Any, path: Path) -> int:
    """The number of the event that what stands at ``path`` is shown with; 0 where it is no event's."""
    if path[:1] == ("events",) and len(path) > 1:
        return int(message["first"]) + int(path[1])
    return int(message.get("at") or 0)


def card_pattern(game: AnyGame) -> re.Pattern[str]:
    """Finds the codes of the game's cards, standing alone."""
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(game.cards)})(?![A-Za-z0-9])")
