"""Flower cards on a canvas: a box in a hand, a chip in a line. Letters stand beside every symbol.

Belongs here: what one card looks like. Must not be known here: games, where cards lie.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.cells import cell_len

from clients.cli.tui.canvas import DOTTED, HEAVY, THIN, Canvas, Piece, pad
from clients.cli.words import N_, _
from clients.cli.words.flowers import FlowerNames
from engine.flowers import Kind, kind
from engine.game import Card

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

_SHORT: Final[Mapping[str, str]] = {
    N_("chrysanthemum"): N_("mum"),
    N_("bush clover"): N_("clover"),
    N_("wisteria"): N_("wist."),
    N_("paulownia"): N_("paul."),
    N_("bush warbler"): N_("bird"),
    N_("curtain"): N_("drape"),
    N_("butterflies"): N_("bflies"),
    N_("sake cup"): N_("cup"),
    N_("poetry ribbon"): N_("poetry"),
    N_("blue ribbon"): N_("blue"),
    N_("red ribbon"): N_("red"),
    N_("plain ribbon"): N_("ribbon"),
    N_("rain man"): N_("rain"),
    N_("swallow"): N_("swift"),
    N_("phoenix"): N_("phoen."),
    N_("lightning"): N_("flash"),
    N_("coloured junk (double)"): N_("junk×2"),
    N_("lightning (double junk)"): N_("junk×2"),
}
"""What does not go on a card: six columns in all, in any language."""


def short(name: str) -> str:
    """A name as it goes on a card."""
    return {_(long): _(brief) for long, brief in _SHORT.items()}.get(name, name)


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
            x + 1, y + row, pad(name if cell_len(name) <= inner else short(name), inner), inked if row == 2 else paper
        )
    canvas.put(x + (width - len(number)) // 2, y + HEIGHT - 1, number, paper)
    canvas.hit(x, y, width, HEIGHT, card)


def chip(card: Card, paper: str, number: str, *, symbols: bool) -> Piece:
    """A card of a known month in a line: ``b★``, with its key before it where it can be chosen."""
    inked = paper if paper == "card-dim" else f"{paper} {ink(card)}"
    return f"{number}{mark(card, symbols=symbols)}", inked
