"""Small screens over the table: choose one of several, type a line, read a text.

Belongs here: what is alike for every dialog. Must not be known here: what is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from clients.cli.tui.choosing import DIGITS
from clients.cli.words import N_, Lines, _

CANCEL = Binding("escape", "cancel", N_("back"), show=False)

Answer = TypeVar("Answer")


class Dialog(ModalScreen[Answer]):
    """A screen over others that goes when it has its result."""

    def dismiss(self, result: Answer | None = None) -> AwaitComplete:
        """Go, unless it went already: the key that answers may come twice before the first has done its work, and the
        library would take away whatever screen is on top then.
        """
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()


class Ask(Dialog[str | None]):
    """Choose one of several, by number, arrows or mouse. The result is the option's id; None if nothing was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [CANCEL, Binding("q", "cancel", show=False)]

    def __init__(
        self, title: str, options: Sequence[tuple[str, str]], *, text: Lines = (), at: str | None = None
    ) -> None:
        """``options``: the id of each, and how it reads; ``at``: the id of the one pointed at, else the first."""
        super().__init__()
        self._title = title
        self._options = options
        self._text = text
        self._at = at

    def compose(self) -> ComposeResult:
        """A framed list."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Text(self._title).plain
            if self._text:
                yield Static(Text("\n".join(self._text)), classes="dialog-text")
            yield OptionList(
                *(
                    Option(Text(f"{number % 10 if number <= len(DIGITS) else ' '}  {label}"), id=key)
                    for number, (key, label) in enumerate(self._options, 1)
                )
            )

    def on_mount(self) -> None:
        """Point at what Enter chooses."""
        keys = [key for key, _label in self._options]
        if self._at in keys:
            self.query_one(OptionList).highlighted = keys.index(self._at)

    def on_key(self, event: object) -> None:
        """A number chooses."""
        key = getattr(event, "character", None)
        if key is not None and key in DIGITS and DIGITS.index(key) < len(self._options):
            self.dismiss(self._options[DIGITS.index(key)][0])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter, or a click."""
        self.dismiss(event.option_id)

    def action_cancel(self) -> None:
        """Nothing is chosen."""
        self.dismiss(None)


class Line(Dialog[str | None]):
    """Type one line. The result is what was typed; None if nothing was."""

    BINDINGS: ClassVar[list[BindingType]] = [CANCEL]

    def __init__(self, title: str, *, value: str = "", longest: int = 200) -> None:
        super().__init__()
        self._title = title
        self._value = value
        self._longest = longest

    def compose(self) -> ComposeResult:
        """A framed line."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = self._title
            yield Input(self._value, max_length=self._longest)

    @property
    def written(self) -> str:
        """What stands there so far."""
        return self.query_one(Input).value

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter."""
        self.dismiss(event.value.strip() or None)

    def action_cancel(self) -> None:
        """Nothing is said."""
        self.dismiss(None)


class Reading(Dialog[None]):
    """Read a text of any length."""

    BINDINGS: ClassVar[list[BindingType]] = [
        CANCEL,
        Binding("q,enter,space,question_mark", "cancel", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown", "scroll(10)", show=False),
        Binding("home", "scroll(-100000)", show=False),
        Binding("end", "scroll(100000)", show=False),
    ]

    def __init__(self, title: str, lines: Lines, *, at_end: bool = False) -> None:
        super().__init__()
        self._title = title
        self._lines = lines
        self._at_end = at_end

    def compose(self) -> ComposeResult:
        """A framed page."""
        with VerticalScroll(classes="page", can_focus=False) as page:
            page.border_title = self._title
            page.border_subtitle = _("Escape goes back")
            yield Static(Text("\n".join(self._lines)))

    def on_mount(self) -> None:
        """The newest first, where that is what one looks for."""
        page = self.query_one(VerticalScroll)
        for what in ("scroll_y", "virtual_size", "size"):
            self.watch(page, what, self._tell_place)
        if self._at_end:
            page.scroll_end(animate=False)

    def _tell_place(self) -> None:
        """Which part of the text is in sight: a page may have no column to spare for a scrollbar."""
        page = self.query_one(VerticalScroll)
        first, rows, total = round(page.scroll_y), page.size.height, page.virtual_size.height
        if total > rows:
            told = _("lines {first} to {last} of {total} · arrows, Page Up, Page Down · Escape goes back")
            page.border_subtitle = told.format(first=first + 1, last=min(first + rows, total), total=total)
        else:
            page.border_subtitle = _("Escape goes back")

    def action_scroll(self, rows: int) -> None:
        """Scroll by so many rows."""
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)

    def action_cancel(self) -> None:
        """Enough."""
        self.dismiss(None)
