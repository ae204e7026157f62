"""Every theme can be read: what the real screens show, against what is behind it. Nothing is told by colour alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.screen import ModalScreen

from clients.cli.tui import preferences
from clients.cli.tui.look import MONOCHROME, THEME_TITLES, Inks
from clients.cli.tui.preferences import Preferences
from clients.cli.tui.result import Result
from engine.registry import GAMES
from tests.cli.hall import CODE, Hall
from tests.cli.tuikit import Client, at_table

pytestmark = pytest.mark.usefixtures("private_state")

LOOKED_AT = 6
"""Moves of a deal before which the screen is looked at: later ones bring no new colours."""
TEXT, SIGNS = 4.5, 3.0
"""Contrast that words and lines need at least: WCAG 2.2, 1.4.3 and 1.4.11."""
LINES = set("─│╭╮╯╰┏┓┛┗━┃┌┐┘└╌┆▒▔▁▊▎▌▐█░▲▼▸▕▏╶╴╺╸╷╵┄┈●◌○")
SCROLLBARS = set("▄▀▂▃▅▆▇ ")
"""How far one has scrolled is told by the text as well."""


def luminance(colour: Color) -> float:
    """Relative luminance (WCAG 2.2, "relative luminance")."""
    red, green, blue = (
        part / 255 / 12.92 if part / 255 <= 0.04045 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in colour.get_truecolor()
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(style: Style) -> float:
    assert style.color is not None
    assert style.bgcolor is not None
    darker, lighter = sorted((luminance(style.color), luminance(style.bgcolor)))
    return (lighter + 0.05) / (darker + 0.05)


def shown(client: Client) -> Iterator[Segment]:
    """What goes to the terminal of the screen, as its filters leave it; of a dialog without the dimmed table behind."""
    screen = client.app.screen
    seen = screen.children[0].region if isinstance(screen, ModalScreen) else screen.region
    strips = screen._compositor.render_strips()
    for y in range(seen.y, seen.bottom):
        segments = list(strips[y].crop(seen.x, seen.right))
        for each in client.app._filters:
            segments = each.apply(segments, screen.styles.background)
        yield from (segment for segment in segments if segment.text.strip() and segment.style is not None)


def unreadable(client: Client) -> list[str]:
    found = []
    for segment in shown(client):
        assert segment.style is not None
        if segment.style.color is None or segment.style.bgcolor is None:
            continue  # the terminal's own colours
        if set(segment.text) <= SCROLLBARS:
            continue
        needed = SIGNS if set(segment.text) <= LINES | {" "} else TEXT
        ratio = contrast(segment.style)
        if ratio < needed:
            found.append(f"{ratio:.1f}: {segment.text.strip()} ({segment.style})")
    return found


async def dressed(client: Client) -> None:
    await client.pilot.pause()
    assert unreadable(client) == [], client.text


@pytest.mark.parametrize("theme", THEME_TITLES)
@pytest.mark.parametrize("name", GAMES)
async def test_the_table_its_dialogs_and_its_result_can_be_read_in_every_theme(name: str, theme: str) -> None:
    preferences.save(Preferences(theme=theme))
    async with at_table(GAMES[name], size=(110, 34)) as client:
        await client.my_turn()
        for move in range(60):
            await client.until(lambda: client.sitting.choice is not None or isinstance(client.app.screen, Result))
            if isinstance(client.app.screen, Result):
                break
            await client.press("right")
            if move < LOOKED_AT:
                await dressed(client)
            await client.press("enter")
            if client.sitting.choice is not None and client.sitting.choice.held is not None:
                await client.press("right")
                await dressed(client)
                await client.press("enter")
        await client.sees("is over")
        await dressed(client)
        await client.press("escape")
        for key in ("question_mark", "o", "q", "t"):
            await client.press(key)
            await dressed(client)
            await client.press("escape")


@pytest.mark.parametrize("theme", THEME_TITLES)
async def test_the_lobby_the_form_and_the_room_can_be_read_in_every_theme(theme: str) -> None:
    preferences.save(Preferences(theme=theme))
    async with at_table(GAMES["koi-koi"], lobby=True) as client:
        await client.sees(CODE)
        await dressed(client)
        await client.press("c")
        await dressed(client)
        await client.press("escape", "n")
        await client.sees("deals")
        await dressed(client)
        await client.pilot.resize_terminal(110, 60)
        await client.sees("[x] people may talk")
        client.app.screen.query_one("#setting-hints").focus()
        await dressed(client)
    async with at_table(GAMES["hachinin-meri"], start=False, hall=Hall(GAMES["hachinin-meri"], seed=5)) as client:
        await client.sees("You are the host")
        await dressed(client)
        client.network.down = 10_000
        client.network.wires[-1].drop()
        await client.sees("OFFLINE")
        await dressed(client)


PAIRS = [
    ("mine", "text"),
    *((paper, "card") for paper in ("card-dim", "card-pointed", "card-held", "card-target")),
    ("card-pointed", "card-target"),
    ("card-pointed", "card-held"),
    ("alarm", "note"),
    ("turn", "text"),
    ("trump", "text"),
    ("bright", "plain"),
]
"""Inks whose difference tells something that no letter beside them does."""


def test_without_colour_what_inks_tell_is_told_by_weight_and_reversal() -> None:
    inks = Inks(MONOCHROME)
    assert [(one, other) for one, other in PAIRS if inks.style(one) == inks.style(other)] == []
