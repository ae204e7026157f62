"""The screen at a table: the room before a match, the cards during it, and everything that keys do there."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, Final

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import DataTable, RichLog

from clients.cli import hints
from clients.cli import picture as pictures
from clients.cli.core import News
from clients.cli.manual import chosen_options, rules_of
from clients.cli.manual.page import WIDTH as PAGE
from clients.cli.picture import Picture
from clients.cli.talking import SIGNS, is_silent
from clients.cli.tui.choosing import DIGITS
from clients.cli.tui.dialogs import Ask, Line, Reading
from clients.cli.tui.hosting import Hosting
from clients.cli.tui.panels import panel_of
from clients.cli.tui.result import Result
from clients.cli.tui.room import RoomView
from clients.cli.tui.sitting import Sitting
from clients.cli.tui.widgets import CONFIRM, Heading, KeyBar, Painted, Prompt, SittingWidget, TableView
from clients.cli.words import N_, Lines, _, common
from clients.cli.words.games import words_of
from engine.game import Level, Seat
from protocol.codes import Refused
from protocol.events import Signal
from protocol.limits import MAX_LINE
from protocol.messages import Chat, ClearSeat, Leave, Lock, Move, Mute, SeatAi, Start, Wink
from wording.columns import wrapped

WIDE: Final = 124
"""Columns from which the log stands beside the table instead of below."""

KEYS: Final = N_("""\
At the table
  1 … 9, 0      point at a card or a word; also at one that is not possible:
                then you are told why
  ← → ↑ ↓       point at the next possible one
  Enter, Space  do it. Two steps, so that no key that comes twice plays twice
  Escape        one step back
  mouse         click to point; click on "do it"
  h             a hint: what the AI would do, and why, if the room allows it
  t             the score and how it comes about; after a deal, the result
  l             everything that was said so far
  c             this table: options, seats, how friends join
  /             talk to the table (Hachinin Meri: before and after a deal)
  w             wink at your partners, if the room allows it
  m             people: mute somebody; the host can remove a person
  o             looks: themes, symbols
  q             go: the seat stays yours for a while, or give it up for good
  ?             this page, with the rules below

In the room, before a match
  ↑ ↓ Enter     choose a seat, and sit there
  s             the host begins; AI takes the open seats
  a             the host puts AI into the seat, or gives it the next level
  x             the host clears the seat of AI, or removes the person
  k             the host locks the room for newcomers, or opens it""")

BAR: Final = (
    ("⏎", N_("do it"), "confirm"),
    ("?", N_("help"), "help"),
    ("h", N_("hint"), "hint"),
    ("t", N_("score"), "score"),
    ("l", N_("log"), "log"),
    ("c", N_("table"), "about"),
    ("/", N_("talk"), "talk"),
    ("o", N_("looks"), "app.looks"),
    ("q", N_("go"), "go"),
)

ROOM_BAR: Final = (
    ("⏎", N_("sit here"), "confirm"),
    ("s", N_("start"), "start"),
    ("a", N_("AI"), "seat_ai"),
    ("x", N_("clear"), "clear_seat"),
    ("k", N_("lock"), "lock"),
    ("/", N_("talk"), "talk"),
    ("?", N_("help, rules"), "help"),
    ("q", N_("go"), "go"),
)

FOR_SEATED: Final = frozenset({"confirm", "hint", "talk"})
FOR_HOST: Final = frozenset({"start", "seat_ai", "clear_seat", "lock"})


def keys_for(picture: Picture) -> tuple[tuple[str, str, str], ...]:
    """The keys that do something for this viewer in this room."""
    idle: set[str] = set()
    if picture.you is None:
        idle |= FOR_SEATED
    if not picture.is_host:
        idle |= FOR_HOST
    if not picture.settings.hints:
        idle.add("hint")
    if not picture.settings.chat:
        idle.add("talk")
    return tuple(key for key in (ROOM_BAR if picture.phase == pictures.LOBBY else BAR) if key[2] not in idle)


MUTE, EVERYONE, HEAR, EVERYONE_HEARS, REMOVE = "mute", "everyone", "hear", "everyone-hears", "remove"


class Play(Screen[None]):
    """See the module."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "confirm"),
        Binding("left,up", "step(-1)"),
        Binding("right,down", "step(1)"),
        Binding("escape", "back"),
        Binding("question_mark", "help"),
        Binding("h", "hint"),
        Binding("t", "score"),
        Binding("l", "log"),
        Binding("slash", "talk"),
        Binding("c", "about"),
        Binding("w", "wink"),
        Binding("m", "people"),
        Binding("o", "app.looks"),
        Binding("q", "go"),
        Binding("s", "start"),
        Binding("a", "seat_ai"),
        Binding("x", "clear_seat"),
        Binding("k", "lock"),
    ]

    def __init__(self, host: Hosting, sitting: Sitting) -> None:
        super().__init__()
        self._host = host
        self._shown = False
        self.sitting = sitting
        self._result: Result | None = None
        self._draft = ""
        """A line that could not be said when it was typed, or was being typed when the next deal began."""

    def compose(self) -> ComposeResult:
        """Heading, room or table, prompt, log, keys."""
        yield Heading(id="heading")
        with Horizontal(id="middle"):
            with Vertical(id="stage"):
                yield RoomView(id="room")
                yield TableView(id="table")
                yield Prompt(id="prompt")
            log = RichLog(id="log", wrap=True, markup=False, highlight=False, max_lines=500, min_width=0)
            log.can_focus = False
            yield log
        yield KeyBar(BAR, id="keys")

    def on_mount(self) -> None:
        """Widgets are told whose table they show."""
        self._shown = True
        for widget in self.query(SittingWidget):
            widget.sitting = self.sitting
        self.set_interval(1.0, self._tick)
        self.look()

    def on_resize(self, event: events.Resize) -> None:
        """Where the log stands depends on the width."""
        self.set_class(event.size.width >= WIDE, "wide")
        self.call_after_refresh(self._rewrite_log)
        self.call_after_refresh(self.look)

    # Showing ----------------------------------------------------------------------------------------------

    def heard(self, item: News) -> None:
        """The sitting has taken in what is new: show it."""
        del item
        self._told()

    def _told(self) -> None:
        if self._shown:  # otherwise the whole log is written when the screen is
            for line in self.sitting.said:
                self.query_one(RichLog).write(Text(line))
        self.look()

    def look(self) -> None:
        """Show everything as it is now."""
        if not self._shown:
            return
        picture = self.sitting.picture
        in_room = picture is not None and picture.phase == pictures.LOBBY
        self.query_one("#room").display = in_room
        self.query_one("#table").display = not in_room
        if picture is not None:
            self.query_one(KeyBar).keys = keys_for(picture)
        self.query_one(TableView).symbols = self._host.preferences.symbols
        for widget in self.query(Painted):
            widget.changed(self._host.inks)
        if picture is not None:
            if in_room:
                self.query_one(RoomView).show(self.sitting, picture)
            self._follow_phase(picture)
        wanted = self.query_one("#seats", DataTable) if in_room else self.query_one(TableView)
        if self.focused is not wanted:
            self.set_focus(wanted)

    def _follow_phase(self, picture: Picture) -> None:
        """The result stands over the table between two deals and after the match."""
        over = picture.phase in (pictures.BETWEEN_DEALS, pictures.FINISHED)
        if over and self._result is None:
            self._show_result()
        elif not over and self._result is not None:
            result, self._result = self._result, None
            while result in self.app.screen_stack:  # also when it has not come up yet
                if isinstance(self.app.screen, Line):
                    self._draft = self.app.screen.written
                self.app.pop_screen()
        elif self._result is not None:
            self._result.changed()

    def _show_result(self) -> None:
        self._result = Result(self.sitting, self._beside_result)
        self.app.push_screen(self._result)

    def _beside_result(self, action: str) -> None:
        """An action that was asked for while the result is in front: by this screen, which outlives that one."""
        self.call_later(self.run_action, action)

    def _tick(self) -> None:
        """The clock goes on."""
        if self.sitting.seconds_left is not None:
            self.query_one(Heading).changed(self._host.inks)

    def _rewrite_log(self) -> None:
        log = self.query_one(RichLog)
        log.clear()
        for line in self.sitting.log[-200:]:
            log.write(Text(line))

    # Choosing ---------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """A number points."""
        if event.character is not None and event.character in DIGITS:
            self.sitting.point(DIGITS.index(event.character))
            self.look()

    def on_painted_hit(self, message: Painted.Hit) -> None:
        """A click points; on the place that says so it confirms."""
        if message.key == CONFIRM:
            self.sitting.confirm()
        else:
            self.sitting.touch(message.key)
        self.look()

    def action_step(self, by: int) -> None:
        """Arrows."""
        self.sitting.step(by)
        self.look()

    def action_back(self) -> None:
        """Escape."""
        self.sitting.back()
        self.look()

    def action_confirm(self) -> None:
        """Enter: the move, or in the room the seat."""
        picture = self.sitting.picture
        if picture is not None and picture.phase == pictures.LOBBY:
            self._sit()
            return
        self.sitting.confirm()
        self.look()

    # Reading ----------------------------------------------------------------------------------------------

    def action_help(self) -> None:
        """Keys, what is asked just now, and the rules of the game."""
        lines: Lines = tuple(_(KEYS).splitlines())
        picture = self.sitting.picture
        if picture is not None:
            legend = _(panel_of(picture.game.name).legend).splitlines()
            lines = (*lines, "", *legend, "", "", *rules_of(picture.game.name))
        self.app.push_screen(Reading(_("Help and rules"), lines))

    def action_log(self) -> None:
        """Everything that was said."""
        self.app.push_screen(Reading(_("What happened so far"), tuple(self.sitting.log), at_end=True))

    def action_score(self) -> None:
        """How the score comes about; after a deal, how it came out."""
        picture = self.sitting.picture
        if picture is None or picture.view is None:
            return
        if picture.phase in (pictures.BETWEEN_DEALS, pictures.FINISHED):
            if self._result is None or self._result not in self.app.screen_stack:
                self._show_result()
            return
        words, people = words_of(picture.game.name), self.sitting.people
        last = words.last(picture.view, people)
        lines = (*words.score(picture.view, people), *(("", *last) if last else ()))
        self.app.push_screen(Reading(_("The score, and how it comes about"), lines))

    def action_about(self) -> None:
        """The room."""
        picture = self.sitting.picture
        if picture is not None:
            lines = common.table_of_seats(picture, self.sitting.people)
            invitation = self.sitting.invitation
            chosen = chosen_options(picture.game.name, picture.options)
            told = (row for line in chosen for row in wrapped(line, PAGE, "  ", "    "))
            self.app.push_screen(Reading(_("This table"), (*lines, "", _("Options:"), *told, "", *invitation)))

    def action_hint(self) -> None:
        """What the AI would do."""
        picture, choice = self.sitting.picture, self.sitting.choice
        if picture is None or choice is None:
            self._remark(_("A hint is for when it is your turn."))
        elif not picture.settings.hints:
            self._remark(_("This room was opened without hints."))
        else:
            self._remark(_("Thinking …"))
            self.run_worker(self._think(picture, choice.at), exclusive=True)

    async def _think(self, picture: Picture, at: int) -> None:
        thought = await asyncio.to_thread(hints.thought_of, picture.game, picture.view, seed=at)
        if self.sitting.choice is not None and self.sitting.choice.at == at:
            told, why = hints.in_words(picture.game, picture.view, thought)
            values = hints.values_in_words(picture.game, thought)
            self.sitting.advised(picture.game.text(thought.action), told, why, values)
            self._told()

    def _remark(self, text: str) -> None:
        self.sitting.remark = text
        self.look()

    # Talking ----------------------------------------------------------------------------------------------

    def action_talk(self) -> None:
        """Say something, where people may talk just now."""
        if self._may_talk():
            draft, self._draft = self._draft, ""
            self.app.push_screen(Line(_("Say to the table"), value=draft, longest=MAX_LINE), self._say)

    def _may_talk(self) -> bool:
        picture = self.sitting.picture
        if picture is None or picture.you is None:
            return False
        if not picture.settings.chat:
            self._remark(_("This room was opened without talk."))
        elif is_silent(picture):
            winks = picture.settings.winks
            self._remark(_("Talk is for between deals; w winks.") if winks else _("Talk is for between deals."))
        else:
            return True
        return False

    def _say(self, text: str | None) -> None:
        if text is None:
            return
        if self._may_talk():
            self._ask(Chat, text=text)
        else:
            self._draft = text  # a deal has begun since; it is there when talk is again

    def action_wink(self) -> None:
        """Give the partners a sign."""
        picture = self.sitting.picture
        if picture is None or not picture.settings.winks:
            self._remark(_("This room was opened without winks."))
            return
        signs = [(str(signal), _(text)) for signal, text in SIGNS.items()]
        self.app.push_screen(Ask(_("Wink at your partners"), signs), self._wink)

    def _wink(self, signal: str | None) -> None:
        if signal is not None:
            self._ask(Wink, signal=Signal(signal))

    def action_people(self) -> None:
        """Hide what somebody says; the host can do it for everyone, and can remove a person."""
        picture = self.sitting.picture
        if picture is None or picture.you is None:
            return
        ways: list[tuple[str, str]] = []
        for seat, info in enumerate(picture.seats):
            if info.kind != "person" or seat == picture.you:
                continue
            who = self.sitting.people.name(seat)
            muting = [(MUTE, _("mute {who}")), (EVERYONE, _("mute {who} for everyone"))]
            hearing = [(HEAR, _("hear {who} again")), (EVERYONE_HEARS, _("let {who} speak again"))]
            offered = [*(hearing if info.muted else muting), (REMOVE, _("remove {who} from the table"))]
            allowed = offered if picture.is_host else offered[:1]
            ways += [(f"{what} {seat}", text.format(who=who)) for what, text in allowed]
        if not ways:
            self._remark(_("There is no other person at the table."))
            return
        self.app.push_screen(Ask(_("People"), ways), self._treat)

    def _treat(self, way: str | None) -> None:
        if way is None:
            return
        what, _space, seat = way.partition(" ")
        if what == REMOVE:
            self._ask(ClearSeat, seat=int(seat))
        else:
            on, everyone = what in (MUTE, EVERYONE), what in (EVERYONE, EVERYONE_HEARS)
            self._ask(Mute, seat=int(seat), on=on, everyone=everyone)

    # The room ---------------------------------------------------------------------------------------------

    def _ask(self, kind: type[Any], **fields: Any) -> None:
        self.sitting.remark = ""
        if self.sitting.session.ended is None:
            self.sitting.core.ask(kind, **fields)

    def _in_room(self) -> Picture | None:
        picture = self.sitting.picture
        return picture if picture is not None and picture.phase == pictures.LOBBY else None

    def _hosted(self) -> Picture | None:
        """The room before a match, if this person is its host; others are told whose key that was."""
        picture = self._in_room()
        if picture is None or picture.is_host:
            return picture
        if picture.you is None or picture.host is None:
            self._remark(_("You are watching."))
        else:
            self._remark(common.refusal(Refused.ONLY_THE_HOST, {"host": picture.host}))
        return None

    def _sit(self) -> None:
        picture, seat = self._in_room(), self.query_one(RoomView).seat
        if picture is not None and picture.you is not None and seat != picture.you:
            self._ask(Move, seat=seat)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Enter, or a second click on a seat."""
        event.stop()
        self._sit()

    def action_start(self) -> None:
        """The host begins; how well AI plays is asked where there are open seats."""
        picture = self._hosted()
        if picture is None:
            return
        if any(info.kind == "open" for info in picture.seats):
            options = [(str(level), common.level(level)) for level in picture.game.levels]
            question = _("How well shall AI in the open seats play?")
            self.app.push_screen(Ask(question, options, at=self.sitting.level), self._begin)
        else:
            self._begin(self.sitting.level)

    def _begin(self, level: str | None) -> None:
        if level is not None:
            self._ask(Start, level=level)

    def action_seat_ai(self) -> None:
        """The host puts an AI into the seat, or gives it the next level."""
        picture = self._hosted()
        if picture is None:
            return
        seat, levels = self.query_one(RoomView).seat, picture.game.levels
        info = picture.seats[seat]
        level = self.sitting.level
        if info.kind == "ai" and info.level in levels:
            level = levels[(levels.index(Level(info.level)) + 1) % len(levels)]
        self._ask(SeatAi, seat=seat, level=level)

    def action_clear_seat(self) -> None:
        """The host takes an AI out, or removes a person."""
        picture = self._hosted()
        if picture is None:
            return
        seat = self.query_one(RoomView).seat
        if Seat(seat) == picture.you:
            self._remark(_("That is your own seat: q gives it up."))
        else:
            self._ask(ClearSeat, seat=seat)

    def action_lock(self) -> None:
        """The host locks the room, or opens it."""
        picture = self.sitting.picture
        if picture is not None and picture.is_host:
            self._ask(Lock, on=not picture.locked)

    # Going ------------------------------------------------------------------------------------------------

    def action_go(self) -> None:
        """Go for a while, or for good."""
        picture = self.sitting.picture
        if picture is None or picture.you is None:
            self._host.go()
            return
        ways = [
            ("stay", _("stay")),
            ("go", _("go; the seat stays yours: fudaza rejoin {code}").format(code=picture.code)),
            ("leave", _("leave for good; AI plays on in your seat")),
        ]
        self.app.push_screen(Ask(_("Go?"), ways), self._gone)

    def _gone(self, way: str | None) -> None:
        if way == "go":
            self._host.go()
        elif way == "leave":
            self._ask(Leave)
