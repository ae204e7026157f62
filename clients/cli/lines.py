"""The line mode: sentences out, lines in. For terminals of every kind, pipes and files.

Belongs here: what is printed when, and what typed lines mean. Must not be known here: how a game is worded
(``clients.cli.words``), sockets, files.

On a terminal a line is taken whenever it comes. From a pipe or a file the next line is read only when a question is
open, so a script needs no timing: its lines answer one question after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from clients.cli import hints
from clients.cli import picture as pictures
from clients.cli.core import GaveUp, News, Offline, Online
from clients.cli.face import FAILED, OK, Face, status_after
from clients.cli.manual import rules_of
from clients.cli.picture import Picture
from clients.cli.questions import Question, in_notation, number_in, open_question
from clients.cli.reading import LineReader
from clients.cli.session import Ended, Happened, NotDone, Refreshed
from clients.cli.table import Table
from clients.cli.talking import CannotSay, asked_in
from clients.cli.telling import cut_off, on_its_way, told, way_back, why_not
from clients.cli.words import N_, Lines, _, common
from clients.cli.words.games import words_of
from clients.cli.words.people import people_of
from engine.game import Level, MalformedAction
from protocol.messages import (
    Act,
    ClearSeat,
    Command,
    Create,
    Join,
    Leave,
    Move,
    Ready,
    Rematch,
    SeatAi,
    Start,
    Watch,
)

UNCONFIRMED_SECONDS: Final = 0.7
"""A move that is not confirmed by then is said to be on its way."""

MOST_SEATS: Final = 64
"""No game has more (``protocol.messages.SeatNumber``)."""
LONGEST_ECHO: Final = 40
"""Characters of a line that is repeated to its writer."""

HELP: Final = N_("""\
Answer a question with a number or with what stands beside it ({examples}).
At any time:
  help    this text                    score   the score and how it comes about
  table   the table again              last    what happened since your last move
  seats   who sits where               rules   the rules of the game
  quit    go; the seat stays yours     leave   go for good; AI plays on
The host, before a match: start [LEVEL] · ai SEAT [LEVEL] · clear SEAT (also removes a person). Anyone: seat NUMBER.""")
HELP_WITH_HINTS: Final = N_("  hint    what an AI would play, and why")
HELP_WITH_OTHERS: Final = N_("""\
With the others: say TEXT · wink SIGN · mute SEAT, unmute SEAT (what they say is hidden, or read again).
The host also: mute SEAT all, unmute SEAT all (for everyone) · lock, unlock (the room, for newcomers).""")


class LineFace(Face):
    """Shows one table by lines."""

    def __init__(
        self,
        table: Table,
        reader: LineReader,
        write: Callable[[str], None],
        *,
        level: str = Level.MEDIUM,
        start: bool = False,
        invitation: Callable[[Picture], Lines] = lambda _picture: (),
        unconfirmed_seconds: float = UNCONFIRMED_SECONDS,
    ) -> None:
        super().__init__(table, reader)
        self._write = write
        self._level = level
        """Of the AI that takes open seats when a match begins."""
        self._start = start
        """Begin the first match at once."""
        self._invitation = invitation
        self._unconfirmed_seconds = unconfirmed_seconds
        self._asked: tuple[object, ...] | None = None
        self._told: list[str] = []
        """Sentences since the reader's last move, for ``last``."""
        self._told_before: list[str] = []
        self._input_ended = False
        self._prompt_open = False
        """``> `` is the last thing on the terminal."""
        self._offline = False
        self._table_due = False
        """The whole table is new and has not been shown yet."""
        self._doubted = ""
        """The id of the last move that was said to be on its way."""

    # The loop ---------------------------------------------------------------------------------------------

    def wants_line(self) -> bool:
        """On a terminal always; otherwise only when a question is open."""
        if self._input_ended:
            return False
        return self._reader.interactive or (self._question() is not None and self._core.idle())

    def patience(self) -> float | None:
        """Until an unconfirmed move is mentioned, once."""
        move = self._session.answering
        return None if move is None or move.id == self._doubted else self._unconfirmed_seconds

    def nothing_came(self) -> None:
        """The move is still on its way."""
        move = self._session.answering
        if move is not None:
            self._doubted = move.id
            self._say(on_its_way(move))

    # Out --------------------------------------------------------------------------------------------------

    def _say(self, *lines: str) -> None:
        if lines and self._prompt_open:
            self._write("\n")
            self._prompt_open = False
        for line in lines:
            self._write(f"{line}\n")

    def settled(self) -> None:
        """Ask what is open: in full if it is new, otherwise with the prompt alone."""
        question = self._question()
        if self._table_due and not (question is not None and question.about_cards):
            self._say(*self._table_lines())
        self._table_due = False
        if question is None:
            self._asked = None
            return
        if question.key != self._asked:
            self._asked = question.key
            self._say_question(question)
        if not self._prompt_open:
            self._prompt()

    def _say_question(self, question: Question) -> None:
        if question.about_cards:
            self._say("", *self._table_lines(asking=True))
        self._say(question.text)
        width = max(len(choice.typed) for choice in question.choices)
        for number, choice in enumerate(question.choices, 1):
            by_enter = f"  ({_('or just Enter')})" if choice is question.by_enter else ""
            self._say(f"  {number:2}  {choice.typed:{width}}  {choice.label}{by_enter}")

    def _prompt(self) -> None:
        # Whoever reads this from a pipe reads lines.
        self._write("> " if self._reader.interactive else ">\n")
        self._prompt_open = self._reader.interactive

    def _table_lines(self, *, asking: bool = False) -> Lines:
        picture = self._session.picture
        if picture is None or picture.view is None:
            return (_("No cards are on the table yet."),)
        words = words_of(picture.game.name)
        hand = () if asking and words.moves_show_hand(picture.view) else words.hand(picture.view)
        return (*words.table(picture.view, people_of(picture)), *hand)

    def _question(self) -> Question | None:
        return open_question(self._core, self._level)

    def _send(self, kind: type[Command], **fields: Any) -> None:
        self._core.ask(kind, **fields)

    # In: the server ---------------------------------------------------------------------------------------

    def hear(self, item: News) -> None:
        """Say what is new."""
        lines = told(item, self._session, self._core.url)
        match item:
            case Happened():
                self._told += lines
            case Refreshed(picture=picture):
                self._refreshed(picture)
            case NotDone(command=command):
                if command is None or isinstance(command, Act | Ready | Rematch | Leave):
                    self._asked = None  # an answer to the question was refused, not something done beside it
                if isinstance(command, Create | Join | Watch):
                    self.status = FAILED
            case Online():
                self._offline, self._asked = False, None
            case Offline():
                lines = () if self._offline else lines
                self._offline = True
            case GaveUp():
                self.status = FAILED
            case Ended(end=end):
                self.status = status_after(end)
            case _:
                pass
        self._say(*lines)

    def _refreshed(self, picture: Picture) -> None:
        self._asked = None
        people = people_of(picture)
        title = _(words_of(picture.game.name).title)
        self._say("", f"══ {title} ══ " + _("room {code}").format(code=picture.code))
        self._say(*common.table_of_seats(picture, people), *self._invitation(picture))
        self._invitation = lambda _picture: ()
        if picture.match is not None and picture.match.deal:
            place = _("Deal {deal} of {deals}.").format(deal=picture.match.deal, deals=picture.match.deals)
            self._say(f"{place} {common.sides(picture.match.totals, people)}")
        if picture.phase == pictures.LOBBY:
            if not picture.is_host:
                self._say(_("Waiting for the host to begin."))
            elif self._start:
                self._send(Start, level=self._level)
            self._start = False
        else:
            self._table_due = True

    # In: the person ---------------------------------------------------------------------------------------

    def take(self, line: str | None) -> None:
        """What a person typed."""
        self._prompt_open = False
        if line is None:
            self._input_over()
        elif not line.strip():
            self._take_nothing()
        elif not (self._answer(line.strip()) or self._talk(line) or self._command(line.split())):
            self._say(self._not_possible(line.strip()))
        if self.status is None and self._core.idle():
            self.settled()

    def _input_over(self) -> None:
        self._input_ended = True
        picture = self._session.picture
        if picture is not None and picture.you is None and not self._reader.interactive:
            return  # a spectator needs no input
        if picture is not None and picture.phase == pictures.FINISHED:
            self._send(Leave)
            return
        self._quit()

    def _take_nothing(self) -> None:
        question = self._question()
        if question is not None and question.by_enter is not None:
            self._answer(question.by_enter.typed)

    def _answer(self, line: str) -> bool:
        question = self._question()
        if question is None:
            return False
        choice = question.chosen(line)
        if choice is None:
            return False
        self._told_before, self._told = self._told, []
        choice.do()
        return True

    def _talk(self, line: str) -> bool:
        picture = self._session.picture
        try:
            asked = None if picture is None else asked_in(line, picture)
        except CannotSay as problem:
            self._say(str(problem))
            return True
        if asked is None:
            return False
        kind, fields = asked
        self._send(kind, **fields)
        return True

    def _command(self, words: list[str]) -> bool:
        name, *arguments = [word.casefold() for word in words]
        plain: dict[str, Callable[[], None]] = {
            "help": self._say_help,
            "?": self._say_help,
            "table": lambda: self._say(*self._table_lines()),
            "score": self._say_score,
            "last": self._say_last,
            "seats": self._say_seats,
            "rules": self._say_rules,
            "hint": self._say_hint,
            "quit": self._quit,
            "q": self._quit,
            "leave": self._leave,
        }
        if name in plain and not arguments:
            plain[name]()
            return True
        return self._host_command(name, arguments)

    def _host_command(self, name: str, arguments: list[str]) -> bool:
        level = self._level
        if arguments and arguments[-1] in tuple(Level):
            level = arguments.pop()
        seats = [seat for seat in map(number_in, arguments) if seat is not None and seat < MOST_SEATS]
        match name, arguments, seats:
            case "start", [], _:
                self._send(Start, level=level)
            case "ai", [_seat], [seat]:
                self._send(SeatAi, seat=seat, level=level)
            case "clear", [_seat], [seat]:
                self._send(ClearSeat, seat=seat)
            case "seat", [_seat], [seat]:
                self._send(Move, seat=seat)
            case _:
                return False
        return True

    def _not_possible(self, line: str) -> str:
        """Why a line does nothing, and what would."""
        picture, session = self._session.picture, self._session
        if picture is None:
            return _("There is no table yet.")
        if self._offline:
            return cut_off(session)
        question = self._question()
        if line.isdecimal() and question is not None:
            most = len(question.choices)
            return _("There is no {number}; choose from 1 to {most}.").format(number=line[:LONGEST_ECHO], most=most)
        try:
            action = None if line.isdecimal() else picture.game.parse(in_notation(line, picture.game.cards))
        except MalformedAction:
            return _("{line}? Type help for what can be done.").format(line=line[:LONGEST_ECHO])
        return why_not(session, action)

    def _say_help(self) -> None:
        question = self._question()
        examples = _("or its code") if question is None else f"1, {question.choices[0].typed}"
        picture = self._session.picture
        allowed = picture is not None and picture.settings.hints
        self._say(_(HELP).format(examples=examples), *((_(HELP_WITH_HINTS),) if allowed else ()), _(HELP_WITH_OTHERS))

    def _say_score(self) -> None:
        picture = self._session.picture
        if picture is None or picture.view is None or picture.match is None:
            self._say(_("There is no score yet."))
            return
        people = people_of(picture)
        self._say(*words_of(picture.game.name).score(picture.view, people))
        place = _("Deal {deal} of {deals}.").format(deal=picture.match.deal, deals=picture.match.deals)
        self._say(f"{place} " + _("Deals before: {totals}.").format(totals=common.sides(picture.match.totals, people)))

    def _say_last(self) -> None:
        picture = self._session.picture
        last: Lines = ()
        if picture is not None and picture.view is not None:
            last = words_of(picture.game.name).last(picture.view, people_of(picture))
        self._say(*(last or self._told or self._told_before or (_("Nothing has happened yet."),)))

    def _say_seats(self) -> None:
        picture = self._session.picture
        if picture is not None:
            self._say(*common.table_of_seats(picture, people_of(picture)))

    def _say_rules(self) -> None:
        picture = self._session.picture
        if picture is not None:
            self._say(*rules_of(picture.game.name))

    def _say_hint(self) -> None:
        picture, turn = self._session.picture, self._session.turn
        if picture is None or picture.view is None or turn is None or self._session.answering is not None:
            self._say(_("A hint is for when it is your turn."))
        elif not picture.settings.hints:
            self._say(_("This room was opened without hints."))
        else:
            # It takes part of a second at most, and whoever asks waits for it.
            thought = hints.thought_of(picture.game, picture.view, seed=turn.at)
            said = hints.in_words(picture.game, picture.view, thought)
            self._say(*filter(None, (*said, hints.values_in_words(picture.game, thought))))

    def _leave(self) -> None:
        self._send(Leave)
        if self._offline:
            self._say(_("You leave as soon as the connection is back; Control-C ends at once and keeps the seat."))

    def _quit(self) -> None:
        self._say(*way_back(self._session))
        self.status = OK
