"""How the table looks: four themes, each with colours for the furniture and inks for what is drawn on a canvas.

Belongs here: every colour there is. Nothing may be told by colour alone; ``monochrome`` is the proof, and what
``NO_COLOR`` gives. What is written can be read: at least 4.5 to 1 against what is behind it (WCAG 2.2, 1.4.3), lines
and signs 3 to 1 (1.4.11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.style import Style
from textual.app import App
from textual.filter import Monochrome, NoColor
from textual.theme import Theme

from clients.cli.words import N_

DARK, LIGHT, CONTRAST, MONOCHROME = "dark", "light", "high-contrast", "monochrome"
THEME_TITLES: Final[Mapping[str, str]] = {
    DARK: N_("dark"),
    LIGHT: N_("light"),
    CONTRAST: N_("high contrast"),
    MONOCHROME: N_("monochrome"),
}

INKS: Final = (
    *("text", "dim", "title", "frame", "note", "alarm", "good", "you", "side0", "side1", "turn"),
    *("card", "card-dim", "card-pointed", "card-held", "card-target", "mine", "back"),
    *("bright", "animal", "ribbon", "plain", "blue", "trump"),
)
"""What can be told apart. The second row are the papers of cards, the third are inks on any paper."""

_THEMES: Final[Mapping[str, Theme]] = {
    DARK: Theme(
        name=DARK,
        primary="#d9a441",
        secondary="#6fa8a0",
        accent="#f07f75",
        warning="#e8b04b",
        error="#ff7a70",
        success="#7fb069",
        foreground="#e9e3d5",
        background="#15171c",
        surface="#1d2027",
        panel="#262a33",
        dark=True,
    ),
    LIGHT: Theme(
        name=LIGHT,
        primary="#8a2f26",
        secondary="#29635d",
        accent="#b3261e",
        warning="#7a4e00",
        error="#b3261e",
        success="#2e6b34",
        foreground="#24211c",
        background="#f6f1e4",
        surface="#efe8d6",
        panel="#e4dbc4",
        dark=False,
    ),
    CONTRAST: Theme(
        name=CONTRAST,
        primary="#ffff00",
        secondary="#00ffff",
        accent="#ffff00",
        warning="#ffff00",
        error="#ff6060",
        success="#60ff60",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#000000",
        dark=True,
        text_alpha=1.0,
        variables={"border": "#ffffff", "footer-background": "#000000"},
    ),
    MONOCHROME: Theme(
        name=MONOCHROME,
        primary="#c0c0c0",
        secondary="#c0c0c0",
        accent="#ffffff",
        warning="#ffffff",
        error="#ffffff",
        success="#ffffff",
        foreground="#e0e0e0",
        background="#000000",
        surface="#101010",
        panel="#202020",
        dark=True,
    ),
}

_STYLES: Final[Mapping[str, Mapping[str, str]]] = {
    DARK: {
        "text": "#e9e3d5",
        "dim": "#9c968a",
        "title": "bold #d9a441",
        "frame": "#7b7a75",
        "note": "bold #f0d28a",
        "alarm": "bold #ffffff on #b3261e",
        "good": "#8fc97a",
        "you": "bold",
        "side0": "#7fc4e8",
        "side1": "#f0a8a0",
        "turn": "bold #15171c on #d9a441",
        "card": "#1c1a17 on #efe6d2",
        "card-dim": "#aaa394 on #34342f",
        "card-pointed": "bold #1c1a17 on #ffd75f",
        "card-held": "bold #1c1a17 on #f8c892",
        "card-target": "bold #1c1a17 on #c3eab2",
        "mine": "#1c1a17 on #efe6d2",
        "back": "#e9c9c4 on #7a2a2a",
        "bright": "bold #9e1b16",
        "animal": "bold #5f3394",
        "ribbon": "bold #8f3410",
        "plain": "#43542f",
        "blue": "bold #1d4699",
        "trump": "bold #9e1b16",
    },
    LIGHT: {
        "text": "#24211c",
        "dim": "#675f52",
        "title": "bold #8a2f26",
        "frame": "#857a63",
        "note": "bold #6b3d00",
        "alarm": "bold #ffffff on #b3261e",
        "good": "#2e6b34",
        "you": "bold",
        "side0": "#0b5a8a",
        "side1": "#a0362c",
        "turn": "bold #ffffff on #8a2f26",
        "card": "#1c1a17 on #fffdf6",
        "card-dim": "#655e50 on #e2d9c3",
        "card-pointed": "bold #1c1a17 on #ffd24a",
        "card-held": "bold #1c1a17 on #fbcf9f",
        "card-target": "bold #1c1a17 on #bfe6ad",
        "mine": "#1c1a17 on #fffdf6",
        "back": "#fbe9e6 on #8a2f26",
        "bright": "bold #9e1b16",
        "animal": "bold #5d3391",
        "ribbon": "bold #8f3410",
        "plain": "#44542f",
        "blue": "bold #1d4799",
        "trump": "bold #9e1b16",
    },
    CONTRAST: {
        "text": "#ffffff",
        "dim": "#d0d0d0",
        "title": "bold #ffff00",
        "frame": "#ffffff",
        "note": "bold #ffff00",
        "alarm": "bold #000000 on #ff6060",
        "good": "bold #60ff60",
        "you": "bold underline",
        "side0": "bold #00ffff",
        "side1": "bold #ffb000",
        "turn": "bold #000000 on #ffff00",
        "card": "#000000 on #ffffff",
        "card-dim": "#d0d0d0 on #000000",
        "card-pointed": "bold #000000 on #ffff00",
        "card-held": "bold #000000 on #ffb000",
        "card-target": "bold #000000 on #60ff60",
        "mine": "#000000 on #ffffff",
        "back": "#ffffff on #800000",
        "bright": "bold",
        "animal": "bold",
        "ribbon": "bold",
        "plain": "",
        "blue": "bold",
        "trump": "bold underline",
    },
    MONOCHROME: {
        "text": "",
        "dim": "dim",
        "title": "bold",
        "frame": "dim",
        "note": "bold",
        "alarm": "bold reverse",
        "good": "bold",
        "you": "bold underline",
        "side0": "",
        "side1": "italic",
        "turn": "reverse",
        "card": "",
        "card-dim": "dim",
        "card-pointed": "bold reverse",
        "card-held": "reverse",
        "card-target": "bold underline",
        "mine": "reverse",
        "back": "dim",
        "bright": "bold",
        "animal": "",
        "ribbon": "",
        "plain": "",
        "blue": "",
        "trump": "bold",
    },
}


class Inks:
    """The inks of one theme."""

    def __init__(self, theme: str) -> None:
        self._styles = {name: Style.parse(style) for name, style in _STYLES[theme].items()}
        self._mixed: dict[str, Style] = {"": Style()}

    def style(self, names: str) -> Style:
        """The style that the inks ``names`` make together; a later one covers an earlier one."""
        if names not in self._mixed:
            self._mixed[names] = Style.combine(self._styles[name] for name in names.split())
        return self._mixed[names]


def clothe(app: App[int], theme: str) -> Inks:
    """Put a theme on ``app``; returns its inks. With ``NO_COLOR`` (no-color.org) nothing is coloured at all."""
    if theme not in app.available_themes:
        for each in _THEMES.values():
            app.register_theme(each)
    app.theme = theme
    if not app.no_color:
        return Inks(theme)
    # By itself the library turns colours into shades of grey, which are colours to a terminal.
    app._filters = [NoColor() if isinstance(each, Monochrome) else each for each in app._filters]  # noqa: SLF001
    return Inks(MONOCHROME)
