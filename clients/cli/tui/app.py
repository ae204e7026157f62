"""The full-screen face: an application with one sitting at a time, the lobby before it where there is one.

Belongs here: which screen stands where, themes, coming and going. Must not be known here: what screens show.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Final

import msgspec
from textual.binding import Binding, BindingType

from clients.cli.core import GaveUp, News
from clients.cli.face import FAILED, OK, status_after
from clients.cli.session import Ended, NotDone
from clients.cli.telling import interrupted, way_back
from clients.cli.tui import preferences
from clients.cli.tui.dialogs import Ask
from clients.cli.tui.home import Home
from clients.cli.tui.joined import Joining
from clients.cli.tui.look import THEME_TITLES, clothe
from clients.cli.tui.play import Play
from clients.cli.tui.sitting import Sitting
from clients.cli.words import Lines, _
from protocol.messages import Create, Join, Watch

INTERRUPTED: Final = 130


class TableApp(Joining):
    """See the module. The result is the exit status; ``farewell`` is what to say on the ordinary screen after it.

    ``sit_down`` makes the sitting that is shown. With ``lobby`` (a name to play under) it is one before the door of a
    room, and after each room there is a new one.
    """

    TITLE = "Fudaza"
    CSS_PATH = Path(__file__).with_name("table.tcss")
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "interrupt", priority=True, system=True, show=False)]

    def __init__(self, sit_down: Callable[[], Sitting], *, lobby: str | None = None) -> None:
        super().__init__()
        self._sit_down = sit_down
        self._lobby = lobby
        self.sitting = sit_down()
        self.farewell: Lines = ()
        self.preferences = preferences.load()
        self.inks = clothe(self, self.preferences.theme)
        self._home = None if lobby is None else Home(self, lobby)
        self._play: Play | None = None

    # Looks ------------------------------------------------------------------------------------------------

    def action_looks(self) -> None:
        """Choose a theme, or whether there are symbols; it is kept."""
        ways = [(name, _("theme: {name}").format(name=_(title))) for name, title in THEME_TITLES.items()]
        other = _("symbols beside letters: off") if self.preferences.symbols else _("symbols beside letters: on")
        self.push_screen(Ask(_("Looks"), [*ways, ("symbols", other)]), self._look)

    def _look(self, way: str | None) -> None:
        if way is None:
            return
        if way == "symbols":
            self.preferences = msgspec.structs.replace(self.preferences, symbols=not self.preferences.symbols)
        else:
            self.preferences = msgspec.structs.replace(self.preferences, theme=way)
            self.inks = clothe(self, way)
        problem = preferences.save(self.preferences)
        if problem is not None:
            self.notify(_("This choice could not be kept: {problem}").format(problem=problem), severity="warning")
        for screen in (self._home, self._play):
            if screen is not None:
                screen.look()

    # Sittings ---------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Show where we are, and begin to listen."""
        if self._home is not None:
            self.push_screen(self._home)
        else:
            self._play = Play(self, self.sitting)
            self.push_screen(self._play)
        self._listen()

    def _listen(self) -> None:
        self.run_worker(self._follow(self.sitting), group="sitting", exclusive=True)

    async def _follow(self, sitting: Sitting) -> None:
        """Everything that is heard at one table, until its session is over."""
        async with sitting.core:
            async for item in sitting.table.news():
                sitting.hear(item)
                self._heard(sitting, item)
        if self._home is not None and sitting is self.sitting:
            self.sitting = self._sit_down()
            self._listen()

    def _heard(self, sitting: Sitting, item: News) -> None:
        if self._home is not None and self._play is None and sitting.picture is not None:
            self._play = Play(self, sitting)
            self._close_to(self._home)
            self.push_screen(self._play)
        if self._play is not None:
            self._play.heard(item)
        if self._home is not None:
            self._home.heard(item)
        match item:
            case Ended(end=end):
                self._over(sitting, status_after(end))
            case GaveUp():
                self._over(sitting, FAILED, give_up=True)
            case NotDone(command=Create() | Join() | Watch()) if self._home is None:
                self._over(sitting, FAILED, give_up=True)
            case _:
                pass

    def _over(self, sitting: Sitting, status: int, *, give_up: bool = False) -> None:
        """A sitting has ended: to the lobby, if there is one and it can be reached."""
        if self._home is None or give_up:
            self.farewell = sitting.said
            self.exit(status)
        elif self._play is not None:
            self._play = None
            self._close_to(self._home)

    def _close_to(self, screen: Home) -> None:
        while self.screen is not screen:
            self.pop_screen()

    # Going ------------------------------------------------------------------------------------------------

    def go(self) -> None:
        """End the client, or this sitting if there is a lobby; a seat stays the person's."""
        if self._home is not None and self._play is not None:
            self.notify("\n".join(way_back(self.sitting.session)))
            self._play = None
            self._close_to(self._home)
            self.sitting = self._sit_down()
            self._listen()
        else:
            self.farewell = way_back(self.sitting.session)
            self.exit(OK)

    def action_go(self) -> None:
        """Quit."""
        self.go()

    def action_interrupt(self) -> None:
        """Control-C ends the client at once, whatever is open."""
        self.farewell = interrupted(self.sitting.session)
        self.exit(INTERRUPTED)


async def run_full_screen(app: TableApp, write: Callable[[str], None]) -> int:
    """Run ``app`` on the terminal; returns the exit status. What has to be remembered is written when it has gone."""
    status = await app.run_async()
    write("".join(f"{line}\n" for line in app.farewell if line))
    return FAILED if status is None else status
