"""Flower cards on a canvas: a box in a hand, a chip in a line. Letters stand beside every symbol.

Belongs here: what one card looks like. Must not be known here: games, where cards lie.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from clients.cli.tui.canvas import DOTTED, HEAVY, THIN, Canvas, Piece, pad
from clients.cli.words import C_, _, within
from clients.cli.words.flowers import FlowerNames
from engine.flowers import Kind, kind
from engine.game import Card
from wording.columns import width as columns_of

WIDTH: Final = 8
WIDE: Final = 10
HEIGHT: Final = 4

SYMBOLS: Final[Mapping[Kind, str]] = {Kind.BRIGHT: "★", Kind.ANIMAL: "◆", Kind.RIBBON: "▮", Kind.PLAIN: "○"}
_INKS: Final[Mapping[Kind, str]] = {
    Kind.BRIGHT: "bright",
    Kind.ANIMAL: "animal",
    Kind.RIBBON: "ribbon",
    Kind.PLAIN: "plain",
}
_BLUE: Final = ("06r", "09r", "10r")

SHORT: Final[Mapping[str, str]] = {
    "pine": C_("on a card", "pine"),
    "plum": C_("on a card", "plum"),
    "cherry": C_("on a card", "cherry"),
    "wisteria": C_("on a card", "wist."),
    "iris": C_("on a card", "iris"),
    "peony": C_("on a card", "peony"),
    "bush clover": C_("on a card", "clover"),
    "pampas": C_("on a card", "pampas"),
    "chrysanthemum": C_("on a card", "mum"),
    "maple": C_("on a card", "maple"),
    "willow": C_("on a card", "willow"),
    "paulownia": C_("on a card", "paul."),
    "rain": C_("on a card", "rain"),
    "crane": C_("on a card", "crane"),
    "bush warbler": C_("on a card", "bird"),
    "curtain": C_("on a card", "curt."),
    "cuckoo": C_("on a card", "cuckoo"),
    "bridge": C_("on a card", "bridge"),
    "butterflies": C_("on a card", "bflies"),
    "boar": C_("on a card", "boar"),
    "moon": C_("on a card", "moon"),
    "geese": C_("on a card", "geese"),
    "sake cup": C_("on a card", "cup"),
    "deer": C_("on a card", "deer"),
    "rain man": C_("on a card", "rain"),
    "swallow": C_("on a card", "swall."),
    "phoenix": C_("on a card", "phoen."),
    "lightning": C_("on a card", "flash"),
    "bright": C_("on a card", "bright"),
    "poetry ribbon": C_("on a card", "poetry"),
    "blue ribbon": C_("on a card", "blue"),
    "red ribbon": C_("on a card", "red"),
    "plain ribbon": C_("on a card", "ribbon"),
    "plain": C_("on a card", "plain"),
    "junk": C_("on a card", "junk"),
    "coloured junk (double)": C_("on a card", "junk×2"),
    "lightning (double junk)": C_("on a card", "junk×2"),
}
"""What goes on a card: six columns at most, in any language. All names of ``clients.cli.words`` are here."""


def short(name: str) -> str:
    """A name as it goes on a card."""
    return {_(long): within("on a card", brief) for long, brief in SHORT.items()}.get(name, name)


def ink(card: Card) -> str:
    """The ink of a card's kind; ribbons have two colours."""
    return "blue" if card in _BLUE else _INKS[kind(card)]


def mark(card: Card, *, symbols: bool) -> str:
    """The letter of a card's code, with its kind's symbol: ``b★``."""
    return card[2] + (SYMBOLS[kind(card)] if symbols else "")


def draw_box(
    canvas: Canvas,
    x: int,
    y: int,
    card: Card,
    *,
    names: FlowerNames,
    paper: str,
    number: str,
    width: int,
    symbols: bool,
) -> None:
    """A whole card, ``width`` × ``HEIGHT``: code, flower, picture, and its key in the lower border."""
    chosen = paper in ("card-pointed", "card-held", "card-target")
    frame = HEAVY if chosen else DOTTED if paper == "card-dim" else THIN
    canvas.box(x, y, width, HEIGHT, frame=frame, inks=paper)
    inked = paper if paper == "card-dim" else f"{paper} {ink(card)}"
    canvas.put(x + 1, y, f"{card[:2]} {mark(card, symbols=symbols)}", inked)
    inner = width - 2
    flower, picture = names.flower(card), names.picture(card)
    for row, name in enumerate((flower, picture), 1):
        canvas.put(
            x + 1, y + row, pad(name if columns_of(name) <= inner else short(name), inner), inked if row == 2 else paper
        )
    canvas.put(x + (width - len(number)) // 2, y + HEIGHT - 1, number, paper)
    canvas.hit(x, y, width, HEIGHT, card)


def chip(card: Card, paper: str, number: str, *, symbols: bool) -> Piece:
    """A card of a known month in a line: ``b★``, with its key before it where it can be chosen."""
    inked = paper if paper == "card-dim" else f"{paper} {ink(card)}"
    return f"{number}{mark(card, symbols=symbols)}", inked
