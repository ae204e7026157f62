"""A room of one's own: a form with every option of the game, each explained by the words of the rules."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Checkbox, Select, Static

from clients.cli.manual import explained_options
from clients.cli.tui.dialogs import Dialog
from clients.cli.words import N_, _
from clients.cli.words.games import words_of
from engine.registry import GAMES
from protocol.messages import ChosenSettings

TURN_LIMITS: Final = (0, 15, 30, 60, 120, 600)
"""Seconds for a decision that the form offers."""

SWITCHES: Final = (
    ("private", N_("private: not listed, found by its code alone")),
    ("spectators", N_("people may watch; they see what is public and no more")),
    ("hints", N_("hints: whoever wants may ask what an AI would play")),
    ("chat", N_("people may talk (not during a deal of Hachinin Meri)")),
    ("winks", N_("winks: partners may exchange eye signals during a deal")),
)
"""Settings of a room that are on or off."""


class OnOff(Checkbox):
    """On or off, told by what is drawn and not by colour: ``[x]`` or ``[ ]``."""

    @property
    def _button(self) -> Content:
        style = self.get_visual_style("toggle--button")
        return Content.assemble(("[x]" if self.value else "[ ]", style))


class CreateRoom(Dialog[dict[str, Any] | None]):
    """See the module. The result are fields of a ``Create``; None if nothing is to be opened."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel"), Binding("ctrl+s,f10", "open")]

    def __init__(self, game: str) -> None:
        super().__init__()
        self._game = game

    def compose(self) -> ComposeResult:
        """Game, options, settings, button."""
        with VerticalScroll(classes="form", can_focus=False) as page:
            page.border_title = _("A room of your own")
            page.border_subtitle = _("Tab: next · Enter: change · F10: open the room · Escape: back")
            games = [(_(words_of(game).title), game) for game in GAMES]
            yield Select(games, value=self._game, allow_blank=False, id="game", compact=True)
            with Vertical(id="options"):
                yield from self._options()
            defaults = ChosenSettings()
            for name, text in SWITCHES:
                yield OnOff(Text(_(text)), getattr(defaults, name), id=f"setting-{name}", compact=True)
            limits = [(_("no limit") if not n else _("{n} s for a decision").format(n=n), n) for n in TURN_LIMITS]
            yield Static(Text(_("Time for a decision")), classes="option-about")
            yield Select(limits, value=0, allow_blank=False, id="turn-limit", compact=True)
            yield Button(_("Open the room"), id="open", variant="primary", compact=True)

    def _options(self) -> ComposeResult:
        for option in explained_options(self._game):
            yield Static(Text(f"{option.name}: {option.about}"), classes="option-about")
            choices = [(f"{value}  {meaning}".strip(), str(value)) for value, meaning in option.values]
            yield Select(choices, value=choices[0][1], allow_blank=False, id=f"option-{option.name}", compact=True)

    def on_mount(self) -> None:
        """Partners have winks; others have none."""
        self._show_switches()

    def _show_switches(self) -> None:
        game = GAMES[self._game]
        self.query_one("#setting-winks", OnOff).display = game.sides != game.seats

    @on(Select.Changed, "#game")
    async def another_game(self, event: Select.Changed) -> None:
        """Other options."""
        if str(event.value) == self._game:
            return
        self._game = str(event.value)
        options = self.query_one("#options", Vertical)
        await options.remove_children()
        await options.mount(*self._options())
        self._show_switches()

    @on(Button.Pressed, "#open")
    def action_open(self) -> None:
        """Open it."""
        game = GAMES[self._game]
        options = {option: str(self.query_one(f"#option-{option}", Select).value) for option in game.options}
        chosen = {name: self.query_one(f"#setting-{name}", OnOff).value for name, _text in SWITCHES}
        if game.sides == game.seats:
            chosen["winks"] = False
        limit = self.query_one("#turn-limit", Select).value
        assert isinstance(limit, int)
        settings = ChosenSettings(**chosen, turn_limit=limit)
        self.dismiss({"game": self._game, "options": dict(game.complete_options(options)), "settings": settings})

    def action_cancel(self) -> None:
        """Nothing is opened."""
        self.dismiss(None)
