"""The notation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.game import Card, MalformedAction
from engine.koi_koi import KOI_KOI
from engine.koi_koi.types import Action, Choose, Koi, Play, Stop

CARDS = st.sampled_from(KOI_KOI.cards)
ACTIONS: st.SearchStrategy[Action] = st.one_of(
    st.builds(Play, CARDS, st.none() | CARDS), st.builds(Choose, CARDS), st.just(Stop()), st.just(Koi())
)


@pytest.mark.parametrize(
    ("written", "action"),
    [
        ("03r", Play(Card("03r"))),
        ("03r*03p", Play(Card("03r"), Card("03p"))),
        ("*05r", Choose(Card("05r"))),
        ("stop", Stop()),
        ("koi", Koi()),
    ],
)
def test_each_form_of_the_notation(written: str, action: Action) -> None:
    assert KOI_KOI.parse(written) == action
    assert KOI_KOI.text(action) == written


@given(ACTIONS)
def test_every_action_is_read_back_as_written(action: Action) -> None:
    assert KOI_KOI.parse(KOI_KOI.text(action)) == action


@given(st.text(max_size=9) | st.from_regex(r"[0-9a-z*]{0,9}", fullmatch=True))
def test_other_text_is_malformed_and_never_anything_else(written: str) -> None:
    try:
        action = KOI_KOI.parse(written)
    except MalformedAction:
        return
    assert KOI_KOI.text(action) == written


@pytest.mark.parametrize(
    "written",
    [
        "",
        "*",
        "03r*",
        "*03r*",
        "03r*03p*03q",
        "03R",
        " 03r",
        "03r ",
        "03r\n",
        "11q",
        "13b",
        "3r",
        "Stop",
        "koi-koi",
        "go",
    ],
)
def test_near_misses_are_malformed(written: str) -> None:
    with pytest.raises(MalformedAction):
        KOI_KOI.parse(written)
