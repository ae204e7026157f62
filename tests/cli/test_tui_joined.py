"""Scripts whose letters join: every word is written at its own column, whatever a terminal makes of it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import pytest
from rich.cells import cell_len

from clients.cli.tui.joined import measure, placed
from wording.columns import width

KOI = "\u0915\u094b\u0907"
"""Three columns for us, two for who joins the vowel sign with its letter."""


def test_a_word_is_written_on_blanks_and_what_follows_it_at_its_own_column() -> None:
    assert placed(f"\x1b[3;5H\x1b[1mab {KOI}\x1b[0m!") == f"\x1b[3;5H\x1b[1mab    \x1b[8G{KOI}\x1b[11G\x1b[0m!"


def test_words_on_the_same_row_are_counted_one_after_the_other() -> None:
    row = placed(f"\x1b[1;1H{KOI} {KOI}")
    assert row.count("\x1b[1G") == row.count("\x1b[4G") == row.count("\x1b[5G") == row.count("\x1b[8G") == 1


def test_wide_characters_before_a_word_are_counted_as_two_columns() -> None:
    assert f"\x1b[5G{KOI}" in placed(f"\x1b[1;1H\u672d\u672d{KOI}")


@pytest.mark.parametrize(
    "before", ["", "\x1b[1;1H\n", "\x1b[1;1H\x1b[?25l", "\x1b[1;1H\x1b[2C", "\x1b[1;1H\x1b]0;t\x07"]
)
def test_where_the_cursor_is_not_known_a_word_stays_as_it_is(before: str) -> None:
    assert placed(before + KOI) == before + KOI


def shown(output: str, columns_of: Callable[[str], int]) -> dict[int, str]:
    """What a terminal with its own idea of widths has in each column of a row that was full of old text."""
    cells = dict.fromkeys(range(1, 30), "?")
    column = 1
    for token in re.finditer(r"\x1b\[(?:1;)?(\d+)[HG]|\x1b\[[\d;]*m|(.)", output):
        if token[1] is not None:
            column = int(token[1])
        elif token[2] is not None:
            if columns_of(token[2]):
                cells[column] = token[2]
            column += columns_of(token[2])
    return cells


def test_frames_stand_where_they_belong_on_terminals_of_either_kind_and_nothing_old_is_left() -> None:
    row = placed(f"\x1b[1;1H|{KOI} {KOI}|\x1b[1m{KOI}|")

    for terminal in (width, lambda sign: int(unicodedata.category(sign)[0] != "M")):
        cells = shown(row, terminal)
        assert [column for column, sign in cells.items() if sign == "|"] == [1, 9, 13]
        assert [column for column, sign in cells.items() if sign == "?"] == list(range(14, 30))


def test_everything_else_goes_out_as_it_came() -> None:
    text = "\x1b[1;1H\x1b[38;2;1;2;3mabc \u672d\x1b[0m\n\x1b]0;t\x07\x1b[?25l\x1b7"
    assert placed(text) == text
    assert placed(f"{text}{KOI}") == f"{text}{KOI}"


def test_the_library_measures_spacing_marks_as_we_do_however_often_it_is_told() -> None:
    for _time in range(2):
        measure()
        assert [cell_len(text) for text in (KOI, "\u0915\u093e", "\u0930\u094d", "\u672d", "a\u0301", "\u0e33")] == [
            width(text) for text in (KOI, "\u0915\u093e", "\u0930\u094d", "\u672d", "a\u0301", "\u0e33")
        ]
