"""Widgets that are drawn on a canvas: the heading, the table, the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from clients.cli import picture as pictures
from clients.cli.tui.canvas import Canvas, Piece
from clients.cli.tui.look import Inks
from clients.cli.tui.panel import BUTTONS, Looking
from clients.cli.tui.panels import panel_of
from clients.cli.tui.sitting import Sitting
from clients.cli.words import _, common, within
from clients.cli.words.games import words_of

CONFIRM = "\r"
"""The key of the place in the prompt that confirms."""
NARROWEST: Final = Size(80, 24)
"""The smallest screen on which everything has room."""


class Painted(Widget):
    """A widget whose whole content is drawn anew on a canvas when something has changed."""

    class Hit(Message):
        """Somebody clicked on something that means ``key``."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, *, id: str) -> None:  # noqa: A002 - as Textual calls it
        super().__init__(id=id)
        self._canvas: Canvas | None = None
        self._inks: Inks | None = None
        """Of the theme in use; before the first ``changed`` there is nothing to be shown."""

    def paint(self, canvas: Canvas) -> None:
        """Draw everything."""
        raise NotImplementedError

    def changed(self, inks: Inks) -> None:
        """What is shown has changed: what differs goes to the terminal, which may be far away."""
        before, self._canvas = self._canvas, None
        repainted, self._inks = inks is not self._inks, inks
        if before is None or repainted or (before.width, before.height) != (self.size.width, self.size.height):
            self.refresh()
            return
        spans = self._painted(self.size).unlike(before)
        if spans:
            self.refresh(*(Region(x, y, width, 1) for x, y, width in spans))

    def _painted(self, size: Size) -> Canvas:
        if self._canvas is None or (self._canvas.width, self._canvas.height) != (size.width, size.height):
            self._canvas = Canvas(size.width, size.height)
            self.paint(self._canvas)
        return self._canvas

    def render_line(self, y: int) -> Strip:
        """One row of the canvas."""
        width, base = self.size.width, self.rich_style
        if self._inks is None or y >= self.size.height:
            return Strip([Segment(" " * width, base)], width)
        return Strip(self._painted(self.size).segments(y, self._inks, base), width)

    def on_click(self, event: events.Click) -> None:
        """Tell what was clicked on."""
        key = self._painted(self.size).at(event.x, event.y)
        if key is not None:
            self.post_message(self.Hit(key))


class KeyBar(Painted):
    """The last row: what keys do here. A click does the same."""

    def __init__(self, keys: Sequence[tuple[str, str, str]], *, id: str) -> None:  # noqa: A002 - as Textual calls it
        """``keys``: as shown, what for (marked for translation), the screen's action."""
        super().__init__(id=id)
        self.keys = keys

    def paint(self, canvas: Canvas) -> None:
        """See the class."""
        x = 1
        for shown, label, action in self.keys:
            end = canvas.line(x, 0, [(shown, "title"), (f" {_(label)}", "text")])
            canvas.hit(x, 0, end - x, 1, action)
            x = end + 2

    async def on_painted_hit(self, message: Painted.Hit) -> None:
        """A click does what the key does."""
        message.stop()
        await self.screen.run_action(message.key)


class SittingWidget(Painted):
    """A painted widget that shows a sitting."""

    sitting: Sitting | None = None


def too_small(size: Size) -> str:
    """What to say where a part of the screen has no room."""
    if size.width >= NARROWEST.width and size.height >= NARROWEST.height:
        return ""
    told = _("needs {columns}×{rows}, here {width}×{height}")
    return told.format(columns=NARROWEST.width, rows=NARROWEST.height, width=size.width, height=size.height)


class Heading(SittingWidget):
    """One row: which game and room, which deal, the match's score, clock and connection."""

    def paint(self, canvas: Canvas) -> None:
        """See the class."""
        sitting = self.sitting
        picture = None if sitting is None else sitting.picture
        small = too_small(self.app.size)
        if small:
            canvas.line(0, 0, [(f" {small} ", "alarm")])
            return
        end = canvas.right(0, self._right()) - 1
        if sitting is None or picture is None:
            canvas.line(0, 0, [(" Fudaza", "title")], end)
            return
        pieces: list[Piece] = [(f" {_(words_of(picture.game.name).title)}", "title"), (f"  {picture.code}", "text")]
        match = picture.match
        if match is not None and match.deal:
            told = _("deal {deal} of {deals}").format(deal=match.deal, deals=match.deals)
            pieces += [(f"  {told}  ", "text"), (common.sides(match.totals, sitting.people), "note")]
        else:
            pieces.append((f"  {common.phase(picture.phase)}", "dim"))
        if picture.you is None:
            pieces.append((f"  {_('watching')}", "dim"))
        canvas.line(0, 0, pieces, end)

    def _right(self) -> list[Piece]:
        sitting = self.sitting
        if sitting is None:
            return []
        pieces: list[Piece] = []
        left = sitting.seconds_left
        if left is not None:
            pieces.append((f" {left // 60}:{left % 60:02} ", "alarm" if left <= 10 else "turn"))
        if sitting.online:
            pieces.append((f" ● {_('online')} ", "good"))
        elif sitting.online is None:
            pieces.append((f" ◌ {_('connecting')} ", "dim"))
        else:
            pieces.append((f" ○ {_('OFFLINE, trying again')} ", "alarm"))
        return pieces


class TableView(SittingWidget, can_focus=True):
    """The table itself, drawn by the game's panel."""

    symbols = True

    def paint(self, canvas: Canvas) -> None:
        """See the class."""
        sitting = self.sitting
        picture = None if sitting is None else sitting.picture
        if sitting is None or picture is None:
            return
        if picture.view is None:
            told = _("Shuffling …") if picture.phase == pictures.SHUFFLING else _("No cards are on the table yet.")
            canvas.line(2, canvas.height // 2, [(told, "dim")])
            return
        looking = Looking(picture.view, sitting.people, sitting.choice, self.symbols)
        panel_of(picture.game.name).draw(canvas, looking)


class Prompt(SittingWidget):
    """Three rows: what was announced, what is asked, and what the thing pointed at would do."""

    def paint(self, canvas: Canvas) -> None:
        """See the class."""
        sitting = self.sitting
        if sitting is None:
            return
        if sitting.announcement:
            canvas.line(0, 0, [("» ", "title"), (sitting.announcement, "alarm" if sitting.alarmed else "note")])
        asked = sitting.choice is not None
        canvas.line(0, 1, [("▶ " if asked else "  ", "title"), (sitting.question(), "you" if asked else "dim")])
        self._third_row(canvas, sitting)

    def _third_row(self, canvas: Canvas, sitting: Sitting) -> None:
        choice = sitting.choice
        x = 2
        if choice is not None and any(pick.word for pick in choice.picks):
            for index, pick in enumerate(choice.picks):
                text = f" [{index + 1}] {within('button', BUTTONS[pick.key])} "
                start, x = x, canvas.line(x, 2, [(text, "card-pointed" if index == choice.pointed else "card")]) + 1
                canvas.hit(start, 2, x - 1 - start, 1, pick.key)
        end = canvas.width
        if choice is not None and choice.pick is not None and choice.pick.actions:
            label = f" ⏎ {_('do it') if len(choice.pick.actions) == 1 else _('choose')} "
            end = canvas.right(2, [(label, "turn")]) - 1
            canvas.hit(end + 1, 2, canvas.width - end, 1, CONFIRM)
        possible = choice is None or choice.pick is None or bool(choice.pick.actions)
        text = sitting.remark or sitting.explanation()
        canvas.line(x, 2, [(text, "note" if sitting.remark or not possible else "text")], end - x)
