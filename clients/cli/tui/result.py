"""How a deal, or the match, came out, and what may follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from clients.cli import picture as pictures
from clients.cli.picture import Picture
from clients.cli.questions import Question, open_question
from clients.cli.tui.choosing import DIGITS
from clients.cli.tui.dialogs import Dialog
from clients.cli.tui.sitting import Sitting
from clients.cli.words import N_, Lines, _, common, listed
from clients.cli.words.games import words_of
from clients.cli.words.people import people_of

ROOM_FOR_WAYS: Final = 7
"""Rows of the screen that the account leaves to its frame, to what is asked and to two ways on."""


def account(sitting: Sitting, picture: Picture) -> Lines:
    """How the score came about: as the last events told it, then what the cards on the table show besides."""
    words, people = words_of(picture.game.name), people_of(picture)
    lines = list(sitting.coming_out)
    if picture.view is not None:
        told = {line.strip() for line in lines}
        lines += ["", *(line for line in words.score(picture.view, people) if line.strip() not in told)]
    if not sitting.coming_out and picture.match is not None and picture.match.deals > 1:
        lines += ["", _("Match so far: {totals}.").format(totals=common.sides(picture.match.totals, people))]
    return tuple(lines)


class Result(Dialog[None]):
    """See the module. The table closes it when the next deal begins."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,t", "look", N_("look at the table")),
        Binding("pageup", "scroll(-5)", show=False),
        Binding("pagedown", "scroll(5)", show=False),
        # The keys that stand below, at the table, do what they say here too.
        Binding("question_mark", "at_table('help')", show=False),
        Binding("l", "at_table('log')", show=False),
        Binding("c", "at_table('about')", show=False),
        Binding("slash", "at_table('talk')", show=False),
        Binding("m", "at_table('people')", show=False),
        Binding("o", "at_table('app.looks')", show=False),
        Binding("q", "at_table('go')", show=False),
    ]

    def __init__(self, sitting: Sitting, at_table: Callable[[str], None]) -> None:
        """``at_table`` does an action of the table's, named as in its bindings."""
        super().__init__()
        self._sitting = sitting
        self._at_table = at_table
        self._question: Question | None = None
        self._shown = False

    def compose(self) -> ComposeResult:
        """A page, and below it what can be done."""
        with Vertical(classes="result") as frame:
            frame.border_subtitle = _("Escape: look at the table · Page Up, Page Down")
            with VerticalScroll(can_focus=False):
                yield Static(id="account")
            yield Static(id="waiting")
            yield OptionList(id="ways")

    def on_mount(self) -> None:
        """Show what is known."""
        self._shown = True
        self.changed()
        self.query_one("#ways").focus()

    def on_resize(self, event: events.Resize) -> None:
        """What can be done stays in sight; the account scrolls."""
        self.query_one(VerticalScroll).styles.max_height = max(3, event.size.height - ROOM_FOR_WAYS)

    def changed(self) -> None:
        """Something was heard: seats became ready, the match ended."""
        picture = self._sitting.picture
        if picture is None or not self._shown:
            return
        match = picture.match
        number = 0 if match is None else match.deal
        over = picture.phase == pictures.FINISHED
        title = _("The match is over") if over else _("Deal {deal} is over").format(deal=number)
        self.query_one(".result", Vertical).border_title = title
        self.query_one("#account", Static).update(Text("\n".join(account(self._sitting, picture)).strip("\n")))
        question = open_question(self._sitting.core, self._sitting.level)
        if (None if question is None else question.key) != (None if self._question is None else self._question.key):
            self._offer(question)
        self._question = question
        self.query_one("#waiting", Static).update(Text(self._waiting(picture)))

    def _offer(self, question: Question | None) -> None:
        ways = self.query_one("#ways", OptionList)
        ways.clear_options()
        if question is not None:
            ways.add_options(
                Option(Text(f"{number}  {choice.label}"), id=choice.typed)
                for number, choice in enumerate(question.choices, 1)
            )
            # What is harmless is taken by Enter alone. Everything else has to be chosen first: the Enter that played
            # the last card may come twice, and must not leave the table.
            ways.highlighted = None if question.by_enter is None else question.choices.index(question.by_enter)

    def _waiting(self, picture: Picture) -> str:
        if self._question is not None:
            return self._question.text
        if picture.phase == pictures.BETWEEN_DEALS:
            people = people_of(picture)
            names = [
                people.name(seat)
                for seat, info in enumerate(picture.seats)
                if info.kind == "person" and not info.ready and not info.away and seat != picture.you
            ]
            return _("Waiting for {who} …").format(who=listed(names)) if names else _("The next deal comes now.")
        return ""

    def on_key(self, event: object) -> None:
        """A number points, as at the table: it may have been meant for a card."""
        key, ways = getattr(event, "character", None), self.query_one("#ways", OptionList)
        if key is not None and key in DIGITS and DIGITS.index(key) < ways.option_count:
            ways.highlighted = DIGITS.index(key)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter, or a click."""
        self._choose(event.option_index)

    def _choose(self, index: int) -> None:
        # Asked anew: what was offered may have been answered, or may be gone.
        question = open_question(self._sitting.core, self._sitting.level)
        if question is not None and self._question is not None and question.key == self._question.key:
            if index < len(question.choices):
                question.choices[index].do()
            self.changed()

    def action_scroll(self, rows: int) -> None:
        """Scroll the account."""
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)

    def action_at_table(self, action: str) -> None:
        """What the key does at the table."""
        self._at_table(action)

    def action_look(self) -> None:
        """Back to the table; the same key of the table brings this back."""
        self.dismiss(None)
