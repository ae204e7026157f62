"""What a person may be called."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.limits import MAX_NAME
from server.names import normalise


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Ann", "Ann"),
        ("  Ann \t\n Lee  ", "Ann Lee"),
        ("Ａｎｎ", "Ann"),
        ("An\u202en\u2066", "Ann"),
        ("A\u200bn\u200dn\ufeff", "Ann"),
        ("A\x00n\x1bn\x7f", "Ann"),
        ("e\u0301", "é"),
        ("e\u200b\u0301", "é"),
        ("花子", "花子"),
        ("김철수", "김철수"),
        ("राम", "राम"),
        ("\u0301Ann", "Ann"),
        ("A" + "\u0316" * 20, "A" + "\u0316" * 3),
        ("Ann\ufe0f", "Ann"),
        ("<b>Ann</b>", "‹b›Ann‹/b›"),
        ("x" * MAX_NAME, "x" * MAX_NAME),
        ("ﬁ" * 12, "fi" * 12),
    ],
)
def test_a_name_is_shown_plainly(typed: str, name: str) -> None:
    assert normalise(typed) == name


@pytest.mark.parametrize(
    "typed", ["", "   ", "\u200b", "\u3164", "\u2800", "\u0301", "\ue000", "x" * 25, "ﬁ" * 13, "\ud800", "\u034f"]
)
def test_a_name_of_nothing_or_too_much_is_none(typed: str) -> None:
    assert normalise(typed) is None


@given(st.text(max_size=60))
def test_a_normalised_name_is_short_visible_and_normal(typed: str) -> None:
    name = normalise(typed)

    if name is not None:
        assert 0 < len(name) <= MAX_NAME
        assert normalise(name) == name == unicodedata.normalize("NFKC", name)
        assert name == name.strip()
        assert not any(unicodedata.category(each).startswith("C") for each in name)
        assert not unicodedata.category(name[0]).startswith("M")
