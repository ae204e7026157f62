"""The lobby: the open rooms of a server, live, and the ways into one."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import DataTable, Static

from clients.cli import picture as pictures
from clients.cli.core import News
from clients.cli.parameters import CODE_LENGTH
from clients.cli.session import NotDone, Rooms
from clients.cli.tui.create import CreateRoom
from clients.cli.tui.dialogs import Ask, Line, Reading
from clients.cli.tui.hosting import Hosting
from clients.cli.tui.widgets import Heading, KeyBar, Painted, SittingWidget
from clients.cli.words import N_, _, common
from clients.cli.words.games import words_of
from clients.cli.words.people import team_name
from engine.game import Seat
from engine.registry import GAMES
from protocol.messages import Create, Join, ListRooms, RoomSummary, Watch

EVERY_SECONDS: Final = 3.0
"""Between two looks at the list."""
EVERY_GAME: Final = ""

BAR: Final = (
    ("⏎", N_("sit down"), "sit"),
    ("w", N_("watch"), "watch"),
    ("n", N_("new"), "new"),
    ("p", N_("quick match"), "quick"),
    ("c", N_("code"), "code"),
    ("g", N_("games"), "filter"),
    ("?", N_("help"), "help"),
    ("q", N_("quit"), "app.go"),
)
HELP: Final = N_("""\
The lobby of a server
  ↑ ↓    choose a room
  Enter  sit down in it: seat and team are asked
  w      watch it
  n      open a room of your own, with all options explained
  p      quick match: an open seat of a game, or a new room with AI
  c      join a room by its code, also a private one
  g      which games are listed
  o      looks: themes, symbols
  q      quit

Rooms are listed as long as a person can take a seat there. AI gives up its
seat to whoever comes, also during a match.""")


class Home(Screen[None]):
    """See the module."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "watch"),
        Binding("n", "new"),
        Binding("p", "quick"),
        Binding("c", "code"),
        Binding("g", "filter"),
        Binding("question_mark", "help"),
        Binding("o", "app.looks"),
        Binding("q", "app.go"),
    ]

    def __init__(self, host: Hosting, name: str) -> None:
        super().__init__()
        self._host = host
        self._shown = False
        self._name_at_table = name
        self._rooms: tuple[RoomSummary, ...] = ()
        self._listed: tuple[RoomSummary, ...] = ()
        """Those that are on the screen, row by row."""
        self._game = EVERY_GAME
        self._told = ""

    def compose(self) -> ComposeResult:
        """Heading, list, what was said last, keys."""
        yield Heading(id="heading")
        yield Static(id="home-about")
        table: DataTable[Text] = DataTable(id="rooms", cursor_type="row", zebra_stripes=True)
        table.add_columns(_("code"), _("game"), _("host"), _("now"), _("people"), _("free seats"))
        yield table
        yield Static(id="home-told")
        yield KeyBar(BAR, id="keys")

    def on_mount(self) -> None:
        """Look again and again."""
        self._shown = True
        self.set_interval(EVERY_SECONDS, self.ask_again)
        self.look()

    def ask_again(self) -> None:
        """Ask for the list, unless an answer is still awaited or nobody looks at it."""
        sitting = self._host.sitting
        if self.app.screen is self and sitting.session.ended is None and not sitting.session.asked(ListRooms):
            sitting.core.ask(ListRooms, game=self._game or None)

    def heard(self, item: News) -> None:
        """Something is new."""
        match item:
            case Rooms(rooms=rooms):
                self._rooms = tuple(room for room in rooms if room.game in GAMES)
            case NotDone():
                self._told = " ".join(self._host.sitting.said)
            case _:
                self._told = " ".join(self._host.sitting.said) or self._told
        self.look()

    def look(self) -> None:
        """Show everything as it is now."""
        if not self._shown:
            return
        for widget in self.query(SittingWidget):
            widget.sitting = self._host.sitting
        for painted in self.query(Painted):
            painted.changed(self._host.inks)
        listed = _("all games") if self._game == EVERY_GAME else _(words_of(self._game).title)
        about = _("Rooms at {url} · {games}").format(url=self._host.sitting.core.url, games=listed)
        self.query_one("#home-about", Static).update(Text(about))
        empty = _("No open rooms. n opens one, p plays at once.")
        self.query_one("#home-told", Static).update(Text(self._told or ("" if self._rooms else empty)))
        table = self.query_one(DataTable)
        row, pointed_at = table.cursor_row, self._room
        table.clear()
        self._listed = self._rooms
        for number, room in enumerate(self._listed):
            table.add_row(*map(Text, _row(room)))
            if pointed_at is not None and room.code == pointed_at.code:
                row = number  # rooms come, go and change places; Enter is for the one that was chosen
        table.move_cursor(row=row)

    @property
    def _room(self) -> RoomSummary | None:
        row = self.query_one(DataTable).cursor_row
        return self._listed[row] if 0 <= row < len(self._listed) else None

    def _ask(self, kind: type[Any], **fields: Any) -> None:
        sitting = self._host.sitting
        if sitting.session.ended is None and not any(sitting.session.asked(door) for door in (Create, Join, Watch)):
            self._told = ""
            sitting.core.ask(kind, **fields)

    # Ways in ----------------------------------------------------------------------------------------------

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Enter, or a second click on a room."""
        event.stop()
        self.action_sit()

    def action_sit(self) -> None:
        """Seat and team, then sit down."""
        room = self._room
        if room is None:
            return
        game = GAMES[room.game]
        ways = [("any", _("any seat"))]
        if game.sides != game.seats:
            ways += [(f"side {side}", _("any seat of the {team} team").format(team=team_name(side))) for side in (0, 1)]
            ways += [
                (f"seat {seat}", _("seat {seat} ({team})").format(seat=seat, team=team_name(game.side(Seat(seat)))))
                for seat in room.open
            ]
        else:
            ways += [(f"seat {seat}", _("seat {seat}").format(seat=seat)) for seat in room.open]

        def sit(way: str | None) -> None:
            if way is not None:
                what, _space, number = way.partition(" ")
                where = {what: int(number)} if number else {}
                self._ask(Join, code=room.code, name=self._name_at_table, **where)

        self.app.push_screen(Ask(_("Sit down in {code}").format(code=room.code), ways), sit)

    def action_watch(self) -> None:
        """Watch the room."""
        if self._room is not None:
            self._ask(Watch, code=self._room.code)

    def action_code(self) -> None:
        """A room that somebody told the code of."""

        def join(code: str | None) -> None:
            if code is not None:
                if len(code) != CODE_LENGTH or not (code.isalnum() and code.isascii()):
                    told = _("{text} is no room's code: it has six letters and digits")
                    self._told = told.format(text=code)
                    self.look()
                else:
                    self._ask(Join, code=code.upper(), name=self._name_at_table)

        self.app.push_screen(Line(_("The room's code"), longest=CODE_LENGTH), join)

    def action_new(self) -> None:
        """A room of one's own."""

        def create(fields: dict[str, Any] | None) -> None:
            if fields is not None:
                self._ask(Create, name=self._name_at_table, **fields)

        self.app.push_screen(CreateRoom(self._game or next(iter(GAMES))), create)

    def action_quick(self) -> None:
        """Any open seat of a game."""
        if self._game != EVERY_GAME:
            self._quick(self._game)
            return
        games = [(game, _(words_of(game).title)) for game in GAMES]
        self.app.push_screen(Ask(_("Quick match: which game?"), games), self._quick)

    def _quick(self, game: str | None) -> None:
        if game is None:
            return
        # Rooms before a match first: there one sits with people from the start.
        found = sorted(
            (room for room in self._rooms if room.game == game and room.open),
            key=lambda room: (room.phase != pictures.LOBBY, -room.persons),
        )
        if found:
            self._ask(Join, code=found[0].code, name=self._name_at_table)
        else:
            self._host.sitting.begin_at_once()
            self._ask(Create, game=game, name=self._name_at_table)

    def action_filter(self) -> None:
        """Which games are listed."""
        games = [("all", _("all games")), *((game, _(words_of(game).title)) for game in GAMES)]

        def choose(game: str | None) -> None:
            if game is not None:
                self._game = EVERY_GAME if game == "all" else game
                self.ask_again()
                self.look()

        self.app.push_screen(Ask(_("Which games?"), games), choose)

    def action_help(self) -> None:
        """What can be done here."""
        self.app.push_screen(Reading(_("Help"), tuple(_(HELP).splitlines())))


def _row(room: RoomSummary) -> tuple[str, ...]:
    people = f"{room.persons}/{room.seats}"
    free = " ".join(map(str, room.open)) or "-"
    return (room.code, _(words_of(room.game).title), room.host, common.phase(room.phase), people, free)
