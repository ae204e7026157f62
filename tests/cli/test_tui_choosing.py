"""Pointing and confirming, and the canvas: no widgets, no event loop."""

from __future__ import annotations

import pytest

from clients.cli.tui.canvas import THIN, Canvas, pad
from clients.cli.tui.choosing import Choice, Pick
from clients.cli.tui.look import INKS, THEME_TITLES, Inks
from clients.cli.tui.preferences import Preferences, load, path, save
from wording.columns import shortened

CHOICE = Choice(
    7,
    (
        Pick("01p", ("01p",), "01p"),
        Pick("02p", (), "02p"),
        Pick("03r", ("03r*03b", "03r*03p"), "03r"),
    ),
)


def test_nothing_is_pointed_at_first_and_confirming_does_nothing() -> None:
    assert CHOICE.pick is None
    assert CHOICE.confirmed() is None


def test_confirming_is_a_second_step() -> None:
    assert CHOICE.point(0).confirmed() == "01p"


def test_what_is_not_possible_can_be_pointed_at_but_not_confirmed() -> None:
    choice = CHOICE.point(1)
    assert choice.pick is not None
    assert choice.confirmed() is None


def test_arrows_go_round_what_is_possible() -> None:
    assert CHOICE.step(1).pointed == 0
    assert CHOICE.step(-1).pointed == 2
    assert CHOICE.point(0).step(1).pointed == 2
    assert CHOICE.point(2).step(1).pointed == 0
    assert CHOICE.point(1).step(-1).pointed == 0
    nothing = Choice(1, (Pick("x", (), "x"),))
    assert nothing.step(1) == nothing


def test_a_number_beyond_the_list_points_at_nothing_else() -> None:
    assert CHOICE.point(0).point(9) == CHOICE.point(0)


def test_a_card_with_two_targets_asks_for_the_target_and_remembers_the_card() -> None:
    targets = CHOICE.point(2).confirmed()
    assert isinstance(targets, Choice)
    assert targets.at == CHOICE.at
    assert targets.held_key == "03r"
    assert [pick.key for pick in targets.picks] == ["03b", "03p"]
    assert targets.confirmed() is None
    assert targets.point(1).confirmed() == "03r*03p"
    assert targets.back() == CHOICE.point(2)


def test_what_lies_outside_a_canvas_is_cut_off() -> None:
    canvas = Canvas(4, 2)
    canvas.put(-1, 0, "abcdef")
    canvas.put(0, 5, "x")
    assert canvas.text() == "bcde\n"


def test_wide_characters_take_two_columns_and_are_never_halved() -> None:
    canvas = Canvas(5, 2)
    canvas.put(0, 0, "松に鶴")
    assert canvas.text().splitlines()[0] == "松に"
    assert canvas.put(0, 1, "松x") == 3


@pytest.mark.parametrize(
    ("x", "text", "shown"),
    [(1, "x", " xに鶴"), (2, "x", "松x 鶴"), (1, "亀", " 亀 鶴"), (2, "亀", "松亀鶴"), (5, "x", "松に x")],
)
def test_what_covers_half_of_a_wide_character_blanks_the_other_half(x: int, text: str, shown: str) -> None:
    canvas = Canvas(6, 1)
    canvas.put(0, 0, "松に鶴")
    canvas.put(x, 0, text)
    assert canvas.text() == shown


def test_combining_marks_stand_on_the_letter_before_them() -> None:
    canvas = Canvas(6, 1)
    assert canvas.put(0, 0, "e\u0301a") == 2
    assert canvas.text() == "e\u0301a"


def test_a_combining_mark_without_a_letter_on_the_canvas_is_cut_off() -> None:
    canvas = Canvas(2, 1)
    canvas.put(0, 0, "\u0301")
    canvas.put(-1, 0, "e\u0301")
    canvas.put(2, 0, "e\u0301")
    assert canvas.text() == ""
    Canvas(0, 1).put(0, 0, "\u0301")


@pytest.mark.parametrize(
    ("text", "width", "fitted"), [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("松に鶴", 4, "松…"), ("a", 0, "")]
)
def test_what_is_too_long_ends_with_an_ellipsis(text: str, width: int, fitted: str) -> None:
    assert shortened(text, width) == fitted


def test_padding_counts_columns() -> None:
    assert pad("松", 4) == "松  "


def test_the_region_drawn_last_takes_the_click() -> None:
    canvas = Canvas(10, 3)
    canvas.hit(0, 0, 10, 3, "table")
    canvas.hit(2, 1, 3, 1, "card")
    assert canvas.at(3, 1) == "card"
    assert canvas.at(5, 1) == "table"
    assert canvas.at(10, 1) is None


def test_only_what_differs_is_drawn_anew_in_whole_words() -> None:
    before, after = Canvas(20, 3), Canvas(20, 3)
    before.put(1, 1, "one two three", "text")
    after.put(1, 1, "one twa three", "text")
    assert after.unlike(before) == [(5, 1, 3)]
    assert after.unlike(after) == []
    after.put(1, 2, "ink", "title")
    before.put(1, 2, "ink", "text")
    assert after.unlike(before) == [(5, 1, 3), (1, 2, 3)]


def test_no_half_of_a_wide_character_is_drawn_anew() -> None:
    before, after = Canvas(10, 1), Canvas(10, 1)
    before.put(0, 0, "札座x")
    after.put(0, 0, "札座y")
    assert after.unlike(before) == [(0, 0, 5)]


def test_a_box_has_its_size() -> None:
    canvas = Canvas(5, 3)
    canvas.box(0, 0, 5, 3, frame=THIN, inks="card")
    assert canvas.text() == "╭───╮\n│   │\n╰───╯"


@pytest.mark.parametrize("theme", THEME_TITLES)
def test_every_theme_has_every_ink(theme: str) -> None:
    inks = Inks(theme)
    for name in INKS:
        inks.style(name)


def test_the_monochrome_theme_has_no_colour() -> None:
    inks = Inks("monochrome")
    assert not [name for name in INKS if inks.style(name).color or inks.style(name).bgcolor]


@pytest.mark.usefixtures("private_state")
def test_preferences_are_kept() -> None:
    assert load() == Preferences()
    assert save(Preferences(theme="light", symbols=False)) is None
    assert load() == Preferences(theme="light", symbols=False)


@pytest.mark.usefixtures("private_state")
@pytest.mark.parametrize("written", [b"", b"{", b'{"theme": 3}', b"\xff", b'{"theme": "purple"}'])
def test_preferences_that_cannot_be_read_cost_the_choice_and_nothing_else(written: bytes) -> None:
    path().parent.mkdir(parents=True)
    path().write_bytes(written)
    assert load() == Preferences()


@pytest.mark.usefixtures("private_state")
def test_preferences_that_cannot_be_written_are_reported() -> None:
    path().parent.parent.mkdir(parents=True, exist_ok=True)
    path().parent.write_bytes(b"a file where a directory should be")
    assert isinstance(save(Preferences()), OSError)
