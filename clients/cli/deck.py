"""``fudaza cards``: the deck of a game, with the names of its cards in the languages of its home."""

from __future__ import annotations

from typing import Final

import click

from clients.cli.parameters import GameName
from clients.cli.words import SOURCE, Lines, _, speaking
from clients.cli.words.games import words_of
from engine.game import Card
from wording.columns import padded, width
from wording.languages import LANGUAGES

SPOKEN: Final = (SOURCE, "ja", "ko")
"""The languages of the columns."""


def deck_of(game: str) -> Lines:
    """A line for each card, in card-id order: code, and the name in each language."""
    words = words_of(game)
    heads = [_("code"), *(LANGUAGES[language] for language in SPOKEN)]
    columns: list[list[str]] = [list(words.game.cards)]
    for language in SPOKEN:
        with speaking(language):
            columns.append([_name(words.card(card), card) for card in words.game.cards])
    rows = [heads, *map(list, zip(*columns, strict=True))]
    widths = [max(width(row[column]) for row in rows) for column in range(len(heads))]
    return tuple("  ".join(map(padded, row, widths)).rstrip() for row in rows)


def _name(coded: str, card: Card) -> str:
    """A card's name from code and name together: ``03b cherry curtain``, ``Ksu (Koppu Sun)``."""
    name = coded.removeprefix(card).strip()
    return name[1:-1] if name.startswith("(") and name.endswith(")") else name


@click.command()
@click.argument("game", type=GameName())
def cards(*, game: str) -> None:
    """The cards of GAME: codes, and names in English, Japanese and Korean."""
    for line in deck_of(game):
        click.echo(line)
