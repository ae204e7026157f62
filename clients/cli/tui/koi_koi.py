"""The picture of koi-koi."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from clients.cli.tui.canvas import Piece
from clients.cli.tui.flowers import FlowerPanel, Middle, Progress
from clients.cli.tui.panel import HEADLINE, Looking
from clients.cli.words import C_, N_, Lines, _, counted, within
from clients.cli.words.koi_koi import NAMES, turn_in_brief, yaku_in_brief
from clients.cli.words.people import People
from engine.game import Seat
from engine.koi_koi.scoring import BIT, BRIGHTS, COUNTS, RAIN_MAN, SETS, VIEWING_SETS, mask_of
from engine.koi_koi.types import (
    BoardRedeal,
    DealDrawn,
    Dealt,
    HandPlayed,
    HandsRedeal,
    KoiCalled,
    OpeningScored,
    Stopped,
    Viewing,
    Yaku,
    YakuMade,
)
from engine.registry import game_named

SHORT: Final[Mapping[str, str]] = {
    Yaku.BOAR_DEER_BUTTERFLY: C_("yaku", "boar-deer"),
    Yaku.POETRY_RIBBONS: C_("yaku", "poetry"),
    Yaku.BLUE_RIBBONS: C_("yaku", "blue"),
    Yaku.FLOWER_VIEWING: C_("yaku", "flowers"),
    Yaku.MOON_VIEWING: C_("yaku", "moon"),
    Yaku.ANIMALS: C_("yaku", "animals"),
    Yaku.RIBBONS: C_("yaku", "ribbons"),
    Yaku.PLAINS: C_("yaku", "plains"),
}
BRIGHT_YAKU: Final = (Yaku.FIVE_BRIGHTS, Yaku.FOUR_BRIGHTS, Yaku.RAINY_FOUR_BRIGHTS, Yaku.THREE_BRIGHTS)


class KoiKoiPanel(FlowerPanel):
    """See the module."""

    game = game_named("koi-koi")
    names = NAMES
    opening = Dealt
    notable = (Dealt, YakuMade, KoiCalled)
    endings = (Stopped, DealDrawn, OpeningScored, BoardRedeal, HandsRedeal)

    def headline(self, event: Any, said: Lines, people: People) -> str:
        """Of a yaku the points in all as well, however many it makes."""
        if isinstance(event, YakuMade):
            return yaku_in_brief(event, people, HEADLINE)
        return super().headline(event, said, people)

    def began_turn(self, event: Any) -> Seat | None:
        """With a card from the hand (K4)."""
        return event.seat if isinstance(event, HandPlayed) else None

    def turn_in_brief(self, events: Sequence[Any], people: People) -> str:
        """Both halves of a turn."""
        return turn_in_brief(events, people)

    def middle(self, looking: Looking) -> Middle:
        """The board."""
        table = looking.view.table
        return Middle(table.board, table.stock, table.turned)

    def facts(self, looking: Looking, seat: int) -> tuple[Piece, ...]:
        """Points, and how often the player has called koi."""
        table = looking.view.table
        standing = table.standings[seat]
        pieces: list[Piece] = []
        if standing.total:
            pieces.append((counted(standing.total, N_("1 point"), N_("{n} points")), "good"))
            if standing.score != standing.total:
                pieces.append((_(", a stop scores {n}").format(n=standing.score), "good"))
        if table.calls[seat]:
            pieces.append(("  " + _("KOI ×{n}").format(n=table.calls[seat]), "note"))
        return tuple(pieces)

    def progress(self, view: Any, seat: int) -> list[Progress]:
        """The way to every yaku that the options allow."""
        table = view.table
        mine, theirs = (mask_of(table.captured[each]) for each in (seat, 1 - seat))
        made = {each.yaku: each.points for each in table.standings[seat].yaku}
        bright = next((made[yaku] for yaku in BRIGHT_YAKU if yaku in made), 0)
        dry = BRIGHTS & ~BIT[RAIN_MAN]  # the first bright yaku wants three without the rain man
        ways = [Progress(_("brights"), (mine & dry).bit_count(), 3, bright, lost=(dry & ~theirs).bit_count() < 3)]
        for each in SETS if table.rules.viewing is Viewing.OFF else (*SETS, *VIEWING_SETS):
            have, size = (mine & each.cards).bit_count(), each.cards.bit_count()
            ways.append(
                Progress(
                    within("yaku", SHORT[each.yaku]), have, size, made.get(each.yaku, 0), lost=bool(theirs & each.cards)
                )
            )
        for count in COUNTS:
            have, left = (mine & count.cards).bit_count(), (count.cards & ~theirs).bit_count()
            ways.append(
                Progress(
                    within("yaku", SHORT[count.yaku]),
                    have,
                    count.least,
                    made.get(count.yaku, 0),
                    lost=left < count.least,
                )
            )
        return ways


PANEL: Final = KoiKoiPanel()
