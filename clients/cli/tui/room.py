"""The room before a match: who sits where, and what the host and everybody else can do about it."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import DataTable, Static

from clients.cli.manual import chosen_options
from clients.cli.picture import Picture
from clients.cli.tui.sitting import Sitting
from clients.cli.words import Lines, _, common, listed
from clients.cli.words.people import people_of
from engine.game import Seat
from protocol.messages import SeatInfo


class RoomView(Vertical):
    """See the module."""

    def compose(self) -> ComposeResult:
        """Options and invitation, then the seats."""
        yield Static(id="room-about")
        table: DataTable[Text] = DataTable(id="seats", cursor_type="row", zebra_stripes=True)
        table.add_columns(_("seat"), _("team"), _("who"), "")
        yield table

    @property
    def seat(self) -> int:
        """The seat under the cursor."""
        return max(0, self.query_one(DataTable).cursor_row)

    def show(self, sitting: Sitting, picture: Picture) -> None:
        """Show the room as it is now."""
        self.query_one("#room-about", Static).update(Text("\n".join(about(sitting, picture))))
        table = self.query_one(DataTable)
        row = table.cursor_row
        table.clear()
        for seat, info in enumerate(picture.seats):
            table.add_row(*map(Text, _row(picture, seat, info)))
        table.move_cursor(row=row)


def about(sitting: Sitting, picture: Picture) -> Lines:
    """What is played, and how friends join."""
    chosen = chosen_options(picture.game.name, picture.options, unusual=True)
    allowed = picture.settings
    facts = [
        _("private") if allowed.private else _("listed"),
        _("spectators") if allowed.spectators else _("no spectators"),
        _("hints") if allowed.hints else _("no hints"),
    ]
    if allowed.turn_limit:
        facts.append(_("{n} s for a decision").format(n=allowed.turn_limit))
    if allowed.winks:
        facts.append(_("winks"))
    if picture.locked:
        facts.append(_("LOCKED"))
    return (
        _("Room {code}: {facts}").format(code=picture.code, facts=listed(facts)),
        *(chosen or (_("The usual options (c lists them)."),)),
        *sitting.invitation,
    )


def _row(picture: Picture, seat: int, info: SeatInfo) -> tuple[str, str, str, str]:
    people = people_of(picture)
    marks = [
        mark
        for mark, here in (
            (_("you"), seat == picture.you),
            (_("host"), seat == picture.host),
            (_("away"), info.away),
            (_("muted"), info.muted),
        )
        if here
    ]
    team = "" if people.game.sides == people.game.seats else people.side(people.game.side(Seat(seat)))
    held = {"ai": _("AI ({level})").format(level=common.level(info.level)), "open": _("open")}
    return str(seat), team, held.get(info.kind, info.name or ""), listed(marks)
