"""The replay viewer: deal records at the table, forward and back, from any seat's eyes or with open cards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, Final, TypeAlias

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.widgets import RichLog

from clients.cli import hints
from clients.cli.manual import rules_of
from clients.cli.tui import preferences
from clients.cli.tui.canvas import Canvas, Piece
from clients.cli.tui.dialogs import Reading
from clients.cli.tui.film import Film, Frame, film_of, headline, looking_at, sentences
from clients.cli.tui.joined import Joining
from clients.cli.tui.look import clothe
from clients.cli.tui.panels import panel_of
from clients.cli.tui.play import WIDE
from clients.cli.tui.widgets import KeyBar, Painted, too_small
from clients.cli.words import N_, Lines, _, common
from clients.cli.words.games import words_of
from engine.game import AnyGame, Seat
from engine.record import DealRecord, Unplayable

Reel: TypeAlias = tuple[AnyGame, DealRecord]

BAR: Final = (
    ("→", N_("next"), "forward"),
    ("←", N_("back"), "rewind"),
    ("] [", N_("deal"), "deal(1)"),
    ("e", N_("eyes"), "eyes"),
    ("h", N_("AI would"), "hint"),
    ("l", N_("log"), "log"),
    ("?", N_("help, rules"), "help"),
    ("q", N_("quit"), "quit"),
)
HELP: Final = N_("""\
A record at the table
  → Space      the next step               ←        the step before
  Home End     the beginning, the end      ] [      the next deal, the previous
  e            whose eyes: all cards open, then each seat in turn
  h            what the AI would do in the decision that comes next, and why
  l            what happened so far        q        quit

From a seat's eyes you see what that seat saw: what others do next is not told,
and the card that the seat itself plays next is pointed at.

Numbers behind moves, the AI's choice first: the points that its side gets on
average in many deals of the cards that cannot be seen. The first guess is left
only for a move that is better beyond doubt, so the choice need not have the
highest number.

Hachinin Meri with all cards open: where a hand is too long for its place, each
suit has its letter once (Psu97 is Psu P9 P7).""")
UNSEEN: Final = N_("Another seat decides: e chooses its eyes, or open cards.")


class Viewer(Joining):
    """See the module. ``eyes``: the seat to begin with; None: all cards open. ``complain`` words what cannot be played.

    The result is the exit status.
    """

    TITLE = "Fudaza"
    CSS_PATH = Path(__file__).with_name("table.tcss")
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space,down,enter", "forward"),
        Binding("left,up,backspace", "rewind"),
        Binding("home", "to(0)"),
        Binding("end", "to(100000)"),
        Binding("right_square_bracket,pagedown", "deal(1)"),
        Binding("left_square_bracket,pageup", "deal(-1)"),
        Binding("e", "eyes"),
        Binding("tab", "eyes", priority=True),
        Binding("h", "hint"),
        Binding("l", "log"),
        Binding("question_mark", "help"),
        Binding("q", "quit"),
        Binding("ctrl+c", "quit", priority=True),
    ]

    def __init__(
        self, reels: Sequence[Reel], complain: Callable[[AnyGame, Unplayable], str], *, eyes: Seat | None = None
    ) -> None:
        super().__init__()
        self.reels = reels
        self.deal = 0
        self.place = 0
        self.eyes = eyes
        self.film: Film | None = None
        self.hint = ""
        self.values = ""
        self.remark = ""
        self._complain = complain
        chosen = preferences.load()
        self.symbols = chosen.symbols
        self.inks = clothe(self, chosen.theme)

    @property
    def frame(self) -> Frame | None:
        """What is on the table."""
        return None if self.film is None else self.film.frames[self.place]

    def compose(self) -> ComposeResult:
        """Heading, table, prompt, log, keys."""
        yield _Heading(self, id="heading")
        with Container(id="middle"):
            with Vertical(id="stage"):
                yield _Table(self, id="table")
                yield _Prompt(self, id="prompt")
            log = RichLog(id="log", wrap=True, markup=False, highlight=False, min_width=0)
            log.can_focus = False
            yield log
        yield KeyBar(BAR, id="keys")

    def on_mount(self) -> None:
        """The first deal."""
        self._open(0)

    def on_resize(self, event: events.Resize) -> None:
        """Where the log stands depends on the width."""
        self.screen_stack[0].set_class(event.size.width >= WIDE, "wide")
        self.call_after_refresh(self._look)

    def _open(self, deal: int) -> None:
        self.deal, self.place, self.film = deal, 0, None
        self._forget()
        game, record = self.reels[deal]
        if self.eyes is not None and self.eyes >= game.seats:
            self.eyes = None
        try:
            self.film = film_of(game, record)
        except Unplayable as problem:
            self.remark = self._complain(game, problem)
        self._look()

    def _look(self) -> None:
        log = self.screen_stack[0].query_one(RichLog)
        log.clear()
        for line in self._told():
            log.write(Text(line))
        for widget in self.screen_stack[0].query(Painted):
            widget.changed(self.inks)

    def _told(self) -> Lines:
        if self.film is None:
            return ()
        return tuple(
            line for frame in self.film.frames[: self.place + 1] for line in sentences(self.film, frame, self.eyes)
        )

    def _forget(self) -> None:
        """What was said of another step, or to other eyes."""
        self.hint = self.values = self.remark = ""

    def _go(self, place: int) -> None:
        if self.film is not None:
            self.place = max(0, min(place, len(self.film.frames) - 1))
            self._forget()
            self._look()

    def action_forward(self) -> None:
        """The next step; after the last one the next deal."""
        if self.film is None or self.place == len(self.film.frames) - 1:
            self.action_deal(1)
        else:
            self._go(self.place + 1)

    def action_rewind(self) -> None:
        """The step before."""
        self._go(self.place - 1)

    def action_to(self, place: int) -> None:
        """A step by its number."""
        self._go(place)

    def action_deal(self, by: int) -> None:
        """Another deal."""
        if 0 <= self.deal + by < len(self.reels):
            self._open(self.deal + by)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:  # noqa: ARG002 - Textual's signature
        """No other eyes behind a page that is read: Tab, which the library would use for itself, reaches that far."""
        return action != "eyes" or len(self.screen_stack) == 1

    def action_eyes(self) -> None:
        """Somebody else's eyes."""
        seats = self.reels[self.deal][0].seats
        self.eyes = Seat(0) if self.eyes is None else Seat(self.eyes + 1) if self.eyes + 1 < seats else None
        self._forget()  # it may tell what these eyes do not see
        self._look()

    def action_hint(self) -> None:
        """What the AI would have done next."""
        frame = self.frame
        if frame is None or frame.upcoming is None:
            return
        seat, _action = frame.upcoming
        if self.eyes in (None, seat):
            self.remark = _("Thinking …")
            self.run_worker(self._think(frame, seat), exclusive=True)
        else:
            self.remark = _(UNSEEN)  # the AI's choice would tell that seat's cards
        self._look()

    async def _think(self, frame: Frame, seat: Seat) -> None:
        assert self.film is not None, "there is a frame"
        game = self.film.game
        view = game.view(frame.state, seat)
        thought = await asyncio.to_thread(hints.thought_of, game, view, seed=self.place)
        if frame is self.frame and self.eyes in (None, seat):
            self.hint, self.remark = hints.in_words(game, view, thought)
            self.values = hints.values_in_words(game, thought)
            self._look()

    def action_log(self) -> None:
        """What happened so far."""
        self.push_screen(Reading(_("What happened so far"), self._told(), at_end=True))

    def action_help(self) -> None:
        """Keys and rules."""
        game = self.reels[self.deal][0]
        self.push_screen(Reading(_("Help and rules"), (*_(HELP).splitlines(), "", "", *rules_of(game.name))))

    async def action_quit(self) -> None:
        """Enough."""
        self.exit(0)


class _Part(Painted):
    """A painted part of the viewer."""

    def __init__(self, viewer: Viewer, *, id: str) -> None:  # noqa: A002 - as Textual calls it
        super().__init__(id=id)
        self._viewer = viewer


class _Heading(_Part):
    """One row: which deal, which step, whose eyes."""

    def paint(self, canvas: Canvas) -> None:
        """See the class."""
        viewer = self._viewer
        small = too_small(viewer.size)
        if small:
            canvas.line(0, 0, [(f" {small} ", "alarm")])
            return
        game, _record = viewer.reels[viewer.deal]
        pieces: list[Piece] = [(f" {_(words_of(game.name).title)}", "title")]
        deal = _("record {deal} of {deals}").format(deal=viewer.deal + 1, deals=len(viewer.reels))
        pieces.append((f"  {deal}", "text"))
        film = viewer.film
        if film is not None:
            step = _("step {step} of {steps}").format(step=viewer.place, steps=len(film.frames) - 1)
            pieces.append((f"  {step}", "note"))
        if film is None or viewer.eyes is None:
            eyes = _("all cards open")
        else:
            eyes = _("the eyes of {who}").format(who=film.people(None).name(viewer.eyes))
        canvas.line(0, 0, pieces, canvas.right(0, [(f" {eyes} ", "turn")]) - 1)


class _Table(_Part):
    """The table of the frame."""

    def paint(self, canvas: Canvas) -> None:
        """See the class."""
        viewer = self._viewer
        if viewer.film is None or viewer.frame is None:
            return
        panel = panel_of(viewer.film.game.name)
        looking = looking_at(viewer.film, viewer.frame, panel, viewer.eyes, symbols=viewer.symbols)
        panel.draw(canvas, looking)


class _Prompt(_Part):
    """Three rows: what happened in this step, what comes next, and the AI's opinion."""

    def paint(self, canvas: Canvas) -> None:
        """See the class."""
        viewer, frame = self._viewer, self._viewer.frame
        if viewer.film is None or frame is None:
            canvas.line(0, 1, [(viewer.remark, "alarm")])
            return
        people = viewer.film.people(None)
        told = viewer.hint or headline(viewer.film, frame, panel_of(viewer.film.game.name), viewer.eyes)
        canvas.line(0, 0, [("» ", "title"), (told, "note")] if told else [(f"  {_('Nothing is told yet.')}", "dim")])
        if frame.upcoming is None:
            outcome = viewer.film.game.outcome(frame.state)
            assert outcome is not None, "the last frame of a film is the deal's end"
            ending = words_of(viewer.film.game.name).ending(outcome.reason)
            scores = _("The deal is over ({ending}). Scores: {scores}.").format(
                ending=ending, scores=common.sides(outcome.scores, people)
            )
            canvas.line(2, 1, [(scores, "you")])
        else:
            seat, action = frame.upcoming
            text = _("next: {who}: {action}") if viewer.eyes in (None, seat) else _("next: {who}")
            text = text.format(who=people.name(seat), action=action)
            canvas.line(canvas.line(2, 1, [(text, "dim")]) + 3, 1, [(viewer.values, "note")])
        canvas.line(2, 2, [(viewer.remark, "text")])
