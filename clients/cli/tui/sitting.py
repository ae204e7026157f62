"""One person at one table, as the screens show it: a table, what was said so far, what is being chosen.

Belongs here: everything the screens share between two pieces of news. Must not be known here: widgets, keys.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from clients.cli import picture as pictures
from clients.cli.core import GaveUp, News, Offline, Online, Unkept
from clients.cli.picture import Picture
from clients.cli.session import Asked, Checked, Delayed, Ended, Happened, NotDone, Refreshed, TurnedBack
from clients.cli.table import Table
from clients.cli.telling import cut_off, on_its_way, told, why_not
from clients.cli.tui.choosing import DIGITS, Choice, Pick
from clients.cli.tui.panel import Panel
from clients.cli.tui.panels import panel_of
from clients.cli.words import Lines, _, common
from clients.cli.words.games import words_of
from clients.cli.words.people import People, people_of
from engine.game import Card, Level, MalformedAction
from engine.match import DealBegan, DealEnded, MatchEnded
from protocol import events as room
from protocol.messages import Start

LOG_LINES: Final = 2_000
"""Sentences that are kept for scrolling back."""


class Sitting:
    """See the module. ``level``: of the AI in open seats when a match begins; ``start``: begin the first at once."""

    def __init__(
        self,
        table: Table,
        *,
        level: str = Level.MEDIUM,
        start: bool = False,
        invitation: Callable[[Picture], Lines] = lambda _picture: (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.table = table
        self.core = table.core
        self.session = table.session
        self.level = level
        self.log: list[str] = []
        self.announcement = ""
        """The latest sentence that must not be overlooked; until the next decision is made."""
        self.alarmed = False
        """It is a warning."""
        self.remark = ""
        """An answer to the last key: why something is not possible, a hint."""
        self.coming_out: Lines = ()
        """How the deal just over came out, as its events told it."""
        self.online: bool | None = None
        """None before the first connection."""
        self.choice: Choice | None = None
        self.said: tuple[str, ...] = ()
        """What the latest news added to the log."""
        self._turn: tuple[Any, ...] = ()
        """What was done in the turn that goes on, unless something in it was announced."""
        self._advice = ""
        """The latest hint."""
        self._heed = False
        """What is announced was said by people, or is for them: neither a deal's beginning nor a turn covers it."""
        self._entered = False
        self._start = start
        self._invitation = invitation
        self._clock = clock
        self._deadline: float | None = None

    # What is shown ----------------------------------------------------------------------------------------

    @property
    def picture(self) -> Picture | None:
        """The room."""
        return self.session.picture

    @property
    def people(self) -> People:
        """Who sits where. There must be a picture."""
        assert self.session.picture is not None, "nobody is known before the first picture"
        return people_of(self.session.picture)

    @property
    def invitation(self) -> Lines:
        """How friends join."""
        return () if self.picture is None else self._invitation(self.picture)

    @property
    def seconds_left(self) -> int | None:
        """Until the default action is taken for the reader; None: no limit, or no decision of theirs."""
        if self._deadline is None or self.session.turn is None:
            return None
        return max(0, round(self._deadline - self._clock()))

    def question(self) -> str:
        """What is asked of the reader, or who is waited for."""
        picture, session = self.picture, self.session
        if picture is None:
            return _("Connecting to {url} …").format(url=self.core.url)
        if self.online is False:
            return cut_off(session)
        if session.answering is not None:
            return on_its_way(session.answering)
        if picture.phase == pictures.LOBBY:
            waiting = _("Waiting for the host to begin.")
            return _("You are the host: s begins, and AI takes the open seats.") if picture.is_host else waiting
        if picture.view is None or picture.phase != pictures.PLAYING:
            return common.phase(picture.phase)
        if session.turn is not None:
            if self.choice is not None and self.choice.held_key is not None:
                return _("Which card does {card} take?").format(card=self._card(self.choice.held_key))
            return words_of(picture.game.name).question(picture.view)
        turn = panel_of(picture.game.name).turn(picture.view)
        if turn is None or turn == picture.you:
            return _("Waiting for the others …")
        return _("Waiting for {who} …").format(who=self.people.name(turn))

    def explanation(self) -> str:
        """What pointing at something means: what it would do, or why it is not possible."""
        choice = self.choice
        if choice is None or choice.pick is None:
            return ""
        pick = choice.pick
        assert self.picture is not None
        if not pick.actions:
            return self._why_not(pick.attempt)
        if len(pick.actions) > 1:
            return _("{card}: choose what it takes").format(card=self._card(pick.key))
        return words_of(self.picture.game.name).move(pick.actions[0], self.picture.view)

    def _card(self, key: str) -> str:
        assert self.picture is not None
        return words_of(self.picture.game.name).card(Card(key)) if key in self.picture.game.cards else key

    # What is done -----------------------------------------------------------------------------------------

    def point(self, index: int) -> None:
        """Point at a pick by its number, from 0."""
        if self.choice is None:
            return
        last = min(len(self.choice.picks), len(DIGITS))
        if index < last:
            self.choice, self.remark = self.choice.point(index), ""
        else:
            self.remark = _("Here the keys are 1 to {last}.").format(last=last)

    def touch(self, key: str) -> None:
        """Point at a card wherever it lies, or say why that does nothing."""
        self.remark = ""
        choice = self.choice
        while choice is not None and choice.by_key(key) is None:
            choice = choice.held  # another card instead of a target
        if choice is not None:
            index = choice.by_key(key)
            assert index is not None
            self.choice = choice.point(index)
        else:
            self.remark = self._why_not(key)

    def step(self, by: int) -> None:
        """Point at the next possible pick, or the one before."""
        if self.choice is not None:
            self.choice, self.remark = self.choice.step(by), ""

    def back(self) -> None:
        """Undo the last step of choosing."""
        if self.choice is not None:
            self.choice, self.remark = self.choice.back(), ""

    def confirm(self) -> None:
        """Make the move that is pointed at. In the decision it was chosen in, or not at all."""
        choice, turn = self.choice, self.session.turn
        if choice is None or turn is None or turn.at != choice.at or self.session.answering is not None:
            return
        match choice.confirmed():
            case None:
                self.remark = self.explanation() or _("First choose: a number key, the arrows, or the mouse.")
            case Choice() as targets:
                self.choice, self.remark = targets, ""
            case str() as action:
                self.core.act(action)
                self.choice, self.remark, self.announcement = None, "", ""
                self.alarmed = self._heed = False

    def _why_not(self, attempt: str) -> str:
        picture = self.picture
        if picture is None or picture.view is None:
            return ""
        try:
            action = picture.game.parse(attempt)
        except MalformedAction:
            return ""
        if self.online is False:
            return cut_off(self.session)
        if self.session.turn is None and picture.you is None:
            return _("You are watching.")
        return why_not(self.session, action)

    def advised(self, action: str, told: str, why: str, values: str) -> None:
        """A hint for the open decision: it is announced, kept in the log with the values of other actions, and what it
        names is pointed at.
        """
        choice = self.choice
        if choice is not None:
            index = next((index for index, pick in enumerate(choice.picks) if action in pick.actions), None)
            self.choice = choice if index is None else choice.point(index)
        self.announcement, self.alarmed, self.remark, self._advice = told, False, why, told
        self._say(told, why, values)

    def _say(self, *lines: str) -> None:
        self.said = tuple(filter(None, lines))
        self.log = [*self.log, *self.said][-LOG_LINES:]

    def begin_at_once(self) -> None:
        """Begin a match in the next room that this sitting comes to host."""
        self._start = True

    # What is heard ----------------------------------------------------------------------------------------

    def hear(self, item: News) -> None:
        """Take in what is new."""
        again = isinstance(item, Offline) and self.online is False  # one more attempt has failed: that is no news
        entering = isinstance(item, Refreshed) and not self._entered
        self._say(*(() if again else told(item, self.session, self.core.url)), *(self.invitation if entering else ()))
        match item:
            case Online():
                self.online = True
                self._announce()
            case Offline() | GaveUp():
                self.online = False
                self._announce(alarm=True)
            case Refreshed(picture=picture):
                self._refreshed(picture)
            case Asked(turn=turn):
                self._deadline = None if turn.left_ms is None else self._clock() + turn.left_ms / 1000
            case Happened(event=event, after=picture):
                self._happened(event, picture)
            case Checked(found=found):
                if common.is_alarm(found):
                    self._announce(alarm=True)
            case NotDone() | Delayed() | TurnedBack() | Ended() | Unkept():
                self._announce(alarm=True)
            case _:
                pass
        self._choose()

    def _announce(self, *, alarm: bool = False) -> None:
        if self.said:
            self.announcement, self.alarmed, self._heed = self.said[0].strip(" ─═!"), alarm, False

    def _refreshed(self, picture: Picture) -> None:
        self.coming_out = ()
        if not self._entered and self.invitation:
            self.announcement, self._heed = self.invitation[0], True  # it stays while a match begins at once
        self._entered = True
        if picture.phase == pictures.LOBBY and picture.is_host and self._start:
            self.core.ask(Start, level=self.level)
        self._start = False

    def _happened(self, event: Any, picture: Picture) -> None:
        panel = panel_of(picture.game.name)
        match event:
            case DealBegan() | room.Rematched():
                self.coming_out = ()
                if not self._heed:
                    self._announce()
            case DealEnded() | MatchEnded():
                self.coming_out = (*self.said, *self.coming_out)  # the outcome first, then how it came about
                self._announce()
            case room.Said() | room.Winked() | room.StandIn() | room.SeatAway() | room.SeatBack() | room.SeatTaken():
                self._announce()
                self._heed = True
            case room.RoomEvent():
                pass
            case _ if isinstance(event, panel.endings):
                self.coming_out = self.said
            case _:
                self._moved(event, panel, picture)

    def _moved(self, event: Any, panel: Panel, picture: Picture) -> None:
        """Something happened in the deal: what is notable is announced, or else what somebody else does in their turn.

        A turn takes the place of what the games tell, not of what people say or of a warning.
        """
        people = people_of(picture)
        seat = panel.began_turn(event)
        if seat is not None:
            self._turn = ()
        if seat is not None or self._turn:
            self._turn = (*self._turn, event)
        headline = panel.headline(event, self.said, people) if isinstance(event, panel.notable) else ""
        if headline and not (self._heed and isinstance(event, panel.opening)):
            self.announcement, self.alarmed, self._heed, self._turn = headline, False, False, ()
        elif self._turn and panel.began_turn(self._turn[0]) != picture.you and not self.alarmed and not self._heed:
            self.announcement = panel.turn_in_brief(self._turn, people)

    def _choose(self) -> None:
        """The open decision, as far as it has been made; a new one is begun from its start."""
        picture, turn = self.picture, self.session.turn
        if picture is None or picture.view is None or turn is None or self.session.answering is not None:
            if self.choice is not None:  # it was decided otherwise: what was said about it is of no use any more
                self.choice, self.remark = None, ""
                self.announcement = "" if self.announcement == self._advice else self.announcement
        elif self.choice is None or self.choice.at != turn.at:
            picks: tuple[Pick, ...] = panel_of(picture.game.name).picks(picture.view, turn.legal)
            self.choice, self.remark = Choice(turn.at, picks), ""
