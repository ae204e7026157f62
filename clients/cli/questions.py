"""What is open for the person at this moment, with every possible answer: the same for every face with a keyboard.

Belongs here: which question the state of a session asks, and the reading of a typed answer. Must not be known here:
how questions are shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct

from clients.cli import picture as pictures
from clients.cli.core import Core
from clients.cli.picture import Picture
from clients.cli.words import _, common
from clients.cli.words.games import words_of
from protocol.messages import Leave, Ready, Rematch, Start, Turn

MOST_DIGITS: Final = 9
"""A number with more of them names nothing at a table, and Python reads none with thousands."""


class Choice(Struct, frozen=True):
    """One way to answer a question."""

    typed: str
    """What may be typed besides its number."""
    label: str
    do: Callable[[], object]


class Question(Struct, frozen=True):
    """Something that waits for a person."""

    key: tuple[object, ...]
    """The same key is the same question: it is asked once."""
    text: str
    choices: tuple[Choice, ...]
    about_cards: bool = False
    """The table belongs to it."""
    by_enter: Choice | None = None
    """What an empty line chooses, where there is one harmless thing to do."""

    def chosen(self, line: str) -> Choice | None:
        """The choice that a line names, by number from 1 or by its text in any case; None: it names none."""
        if line.isdecimal():
            # No code of any game consists of digits alone.
            number = number_in(line)
            return self.choices[number - 1] if number is not None and 1 <= number <= len(self.choices) else None
        written = "".join(line.split()).casefold()
        return next((choice for choice in self.choices if choice.typed.casefold() == written), None)


def open_question(core: Core, level: str) -> Question | None:
    """What waits for the person; None if nothing does. ``level``: of AI in open seats when a match begins."""
    session, picture = core.session, core.session.picture
    if picture is None or picture.you is None or session.asked(Leave):
        return None
    if session.turn is not None:
        return None if session.answering is not None else _decision(core, picture, session.turn)
    match picture.phase:
        case pictures.BETWEEN_DEALS if picture.waits_for_you and not session.asked(Ready):
            go_on = Choice("next", _("go on"), lambda: core.ask(Ready))
            return Question(("next", picture.match), _("Ready for the next deal?"), (go_on,), by_enter=go_on)
        case pictures.FINISHED if not session.asked(Rematch):
            choices = [Choice("leave", _("leave the table"), lambda: core.ask(Leave))]
            if picture.is_host:
                choices.append(Choice("rematch", _("play another match"), lambda: core.ask(Rematch)))
            text = (
                _("The match is over.") if picture.is_host else _("The match is over. The host may open another one.")
            )
            return Question(("finished", picture.match, picture.is_host), text, tuple(choices))
        case pictures.LOBBY if picture.is_host and not session.asked(Start):
            label = _("begin; AI ({level}) takes the open seats").format(level=common.level(level))
            start = Choice("start", label, lambda: core.ask(Start, level=level))
            return Question(("lobby", picture.seats), _("You are the host."), (start,))
        case _:
            return None


def _decision(core: Core, picture: Picture, turn: Turn) -> Question:
    words = words_of(picture.game.name)
    text = words.question(picture.view)
    if turn.left_ms is not None:
        text += " " + _("({seconds} s left)").format(seconds=turn.left_ms // 1000)

    def mover(action: str) -> Callable[[], object]:
        return lambda: core.act(action)

    choices = tuple(Choice(action, words.move(action, picture.view), mover(action)) for action in turn.legal)
    only = choices[0] if len(choices) == 1 else None
    return Question(("turn", turn.at), text, choices, about_cards=True, by_enter=only)


def number_in(text: str) -> int | None:
    """The number that ``text`` writes; None if it is not made of digits, or of more than ``MOST_DIGITS``."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def in_notation(line: str, cards: Iterable[str]) -> str:
    """``line`` with its cards written as the game writes them: ``k7`` → ``K7``, ``03B * 03p`` → ``03b*03p``."""
    written = {card.casefold(): card for card in cards}

    def as_written(found: re.Match[str]) -> str:
        return written.get(found[0].casefold(), found[0].casefold())

    return re.sub(r"[^\W_]+", as_written, "".join(line.split()))
