"""The picture of go-stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from clients.cli.tui.canvas import Piece
from clients.cli.tui.flowers import FlowerPanel, Middle, Progress
from clients.cli.tui.panel import HEADLINE, Looking
from clients.cli.words import C_, N_, Lines, _, counted, within
from clients.cli.words.go_stop import NAMES, junk_in_brief, score_in_brief, turn_in_brief
from clients.cli.words.people import People
from engine.game import Seat
from engine.go_stop.scoring import (
    ANIMAL_ROW,
    ANIMALS,
    BRIGHT_ROWS,
    BRIGHTS,
    JUNK_ROW,
    RIBBON_ROW,
    RIBBONS,
    SET_ROWS,
    junk_units,
    pile_of,
)
from engine.go_stop.types import (
    Combo,
    Dealt,
    FourOfAMonth,
    GoCalled,
    HandCardPlayed,
    JunkTaken,
    Nagari,
    PpukMade,
    Redeal,
    ScoreChanged,
    Stopped,
    ThreePpuk,
)
from engine.registry import game_named

SHORT: Final[Mapping[str, str]] = {
    Combo.GODORI: C_("combination", "godori"),
    Combo.RED_POETRY: C_("combination", "poetry"),
    Combo.BLUE: C_("combination", "blue"),
    Combo.PLAIN_RED: C_("combination", "red"),
}


class GoStopPanel(FlowerPanel):
    """See the module."""

    game = game_named("go-stop")
    names = NAMES
    opening = Dealt
    notable = (Dealt, PpukMade, JunkTaken, ScoreChanged, GoCalled)
    endings = (Stopped, Nagari, ThreePpuk, FourOfAMonth, Redeal)

    def headline(self, event: Any, said: Lines, people: People) -> str:
        """Of junk the codes of the cards; of a score the points in all, however many combinations change."""
        match event:
            case JunkTaken():
                return junk_in_brief(event, people)
            case ScoreChanged():
                return score_in_brief(event, people, HEADLINE)
            case _:
                return super().headline(event, said, people)

    def began_turn(self, event: Any) -> Seat | None:
        """With a card from the hand (G4)."""
        return event.seat if isinstance(event, HandCardPlayed) else None

    def turn_in_brief(self, events: Sequence[Any], people: People) -> str:
        """Both halves of a turn."""
        return turn_in_brief(events, people)

    def middle(self, looking: Looking) -> Middle:
        """The layout; stacks (G3, G6) are marked with whose they are."""
        table = looking.view.table
        pending = table.pending
        turned = None if pending is None else pending.revealed
        so_far = () if pending is None else (pending.card, *pending.matched)
        notes = {stack.month: _stack(stack.owner, looking) for stack in table.stacks}
        return Middle(table.layout, table.stock_left, turned, so_far, notes)

    def facts(self, looking: Looking, seat: int) -> tuple[Piece, ...]:
        """Points, calls of go, ppuks, and how the cup counts (G14)."""
        table = looking.view.table
        score = table.scores[seat]
        pieces: list[Piece] = []
        if score.points:
            pieces.append((counted(score.points, N_("1 point"), N_("{n} points")), "good"))
        if table.goes[seat]:
            told = _("GO ×{n}, at {points}").format(n=table.goes[seat], points=table.go_points[seat])
            pieces.append((f"  {told}", "note"))
        if table.ppuks[seat]:
            pieces.append(("  " + _("ppuk ×{n}").format(n=table.ppuks[seat]), "note"))
        if score.cup_is_junk:
            pieces.append(("  " + _("cup = 2 junk"), "dim"))
        return tuple(pieces)

    def progress(self, view: Any, seat: int) -> list[Progress]:
        """The way to every combination; junk in units (G13), with the cup where it counts as junk (G14)."""
        table = view.table
        mine, theirs = (pile_of(table.captured[each]) for each in (seat, 1 - seat))
        score = table.scores[seat]
        made = {each.name: each.points for each in score.combinations}
        bright = next((made[row.name] for row in BRIGHT_ROWS if row.name in made), 0)
        cup = int(score.cup_is_junk)
        ways = [
            Progress(_("brights"), (mine & BRIGHTS).bit_count(), 3, bright, lost=(BRIGHTS & ~theirs).bit_count() < 3),
            *(
                Progress(
                    within("combination", SHORT[row.name]),
                    (mine & row.cards).bit_count(),
                    3,
                    made.get(row.name, 0),
                    lost=bool(theirs & row.cards),
                )
                for row in SET_ROWS
            ),
        ]
        for row, name, have in (
            (ANIMAL_ROW, _("animals"), (mine & ANIMALS).bit_count() - cup),
            (RIBBON_ROW, _("ribbons"), (mine & RIBBONS).bit_count()),
            (JUNK_ROW, _("junk"), junk_units(mine) + 2 * cup),
        ):
            ways.append(Progress(name, have, row.least, made.get(row.name, 0)))
        return ways


def _stack(owner: int | None, looking: Looking) -> str:
    if owner is None:
        return _("stack")
    return _("your ppuk") if owner == looking.people.you else _("ppuk")


PANEL: Final = GoStopPanel()
