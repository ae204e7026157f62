"""What is refused, and what is said about it: every code of ``types.Why`` with its parameters."""

from __future__ import annotations

import pytest

from engine.game import IllegalAction, MalformedAction, Message, Param, Seat
from engine.game import Why as AnyWhy
from engine.go_stop import GO_STOP
from engine.go_stop.types import Choose, Go, Play, State, Stop, Why
from tests.engine.go_stop.positions import ME, RIVAL, cards, play, position

BIRDS_AND_TWO = "02a 04a 08a 05a 06a"


def refused(state: State, text: str, seat: Seat = ME) -> Message:
    """What is said, by view and by engine alike."""
    action = GO_STOP.parse(text)
    said = GO_STOP.why(GO_STOP.view(state, seat), action)
    with pytest.raises(IllegalAction) as illegal:
        GO_STOP.apply(state, seat, action)
    assert said is not None
    assert illegal.value.refusal == said
    return said


def choosing() -> State:
    return play(position(hand="03r 05p", layout="01p 01q 03p", stock="01b"), "03r").state


def deciding(hand: str = "07a 10p") -> State:
    return play(position(hand=hand, layout="07p", mine=BIRDS_AND_TWO), "07a").state


def test_G4_two_matches_and_none_named() -> None:
    state = position(hand="03r 05p", layout="03p 01p 03q")
    assert refused(state, "03r") == Message(Why.TAKE_NEEDED, {"card": "03r", "among": ("03p", "03q")})


@pytest.mark.parametrize("take", ["01p", "03b", "09a"])
def test_G4_two_matches_and_another_card_named(take: str) -> None:
    state = position(hand="03r 05p", layout="03p 01p 03q")
    expected: dict[str, Param] = {"card": "03r", "take": take, "among": ("03p", "03q")}
    assert refused(state, f"03r*{take}") == Message(Why.TAKE_NOT_MATCHING, expected)


@pytest.mark.parametrize(
    ("layout", "take", "matches"),
    [("01p", "01p", ()), ("03p 01p", "03p", ("03p",)), ("03p 03q 03b", "03q", ("03p", "03q", "03b"))],
)
def test_G4_where_there_is_no_choice_nothing_may_be_named(layout: str, take: str, matches: tuple[str, ...]) -> None:
    state = position(hand="03r 05p", layout=layout)
    expected: dict[str, Param] = {"card": "03r", "take": take, "matches": matches}
    assert refused(state, f"03r*{take}") == Message(Why.TAKE_NOT_OPEN, expected)


def test_G4_a_card_that_is_not_in_the_hand() -> None:
    state = position(hand="03r 05p", rival="04r", layout="03p")
    assert refused(state, "04r") == Message(AnyWhy.NOT_IN_HAND, {"card": "04r"})


def test_G5_a_wrong_choice_for_the_stock_card() -> None:
    expected: dict[str, Param] = {"card": "01b", "take": "03p", "among": ("01p", "01q")}
    assert refused(choosing(), "*03p") == Message(Why.NOT_AMONG, expected)


def test_G5_a_hand_card_while_a_choice_is_open() -> None:
    assert refused(choosing(), "05p") == Message(Why.STOCK_CHOICE_OPEN, {"card": "01b", "among": ("01p", "01q")})


def test_G5_a_choice_where_none_is_open() -> None:
    assert refused(position(hand="03r 05p", layout="03p"), "*03p") == Message(Why.NO_STOCK_CHOICE_OPEN)
    assert refused(deciding(), "*07p") == Message(Why.NO_STOCK_CHOICE_OPEN)


def test_G15_a_card_while_the_decision_is_open() -> None:
    assert refused(deciding(), "10p") == Message(Why.DECISION_OPEN, {"points": 7})


@pytest.mark.parametrize("text", ["stop", "go"])
def test_G15_a_decision_where_none_is_open(text: str) -> None:
    state = position(hand="03r 05p", layout="03p", mine=BIRDS_AND_TWO)
    assert refused(state, text) == Message(Why.NO_DECISION_OPEN, {"points": 6, "needed": 7})
    later = position(hand="03r 05p", layout="03p", mine=f"{BIRDS_AND_TWO} 07a", goes=(1, 0), go_points=(9, 0))
    assert refused(later, text) == Message(Why.NO_DECISION_OPEN, {"points": 7, "needed": 10})
    assert refused(choosing(), text) == Message(Why.NO_DECISION_OPEN, {"points": 0, "needed": 7})


def test_G16_go_with_an_empty_hand() -> None:
    assert refused(deciding(hand="07a"), "go") == Message(Why.ONLY_STOP, {"points": 7})


@pytest.mark.parametrize("text", ["stop", "go", "11q", "*01p"])
def test_whoever_is_not_to_act_is_told_no_more_than_that(text: str) -> None:
    for state in (position(hand="03r 05p"), choosing(), deciding()):
        assert refused(state, text, seat=RIVAL) == Message(AnyWhy.NOT_YOUR_TURN)


@pytest.mark.parametrize("text", ["stop", "go", "10p", "*01p"])
@pytest.mark.parametrize("seat", [ME, RIVAL])
def test_after_the_end_nothing_is_open(text: str, seat: Seat) -> None:
    assert refused(play(deciding(), "stop").state, text, seat=seat) == Message(AnyWhy.DEAL_OVER)


def test_a_spectator_may_do_nothing() -> None:
    view = GO_STOP.view(position(hand="03r 05p"), None)
    for action in (Stop(), Go(), Play(cards("03r")[0]), Choose(cards("03r")[0])):
        assert GO_STOP.why(view, action) == Message(AnyWhy.NOT_YOUR_TURN)
    assert GO_STOP.legal(view) == ()


@pytest.mark.parametrize("text", ["03r", "11s", "03r*03p", "*05r", "stop", "go"])
def test_notation_is_read_as_it_is_written(text: str) -> None:
    assert GO_STOP.text(GO_STOP.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "3r",
        "03R",
        "03x",
        "11a",
        "12q",
        "03r*",
        "03r*03x",
        "03r*03r",
        "**03r",
        "Stop",
        "GO",
        "koi",
        "03r ",
    ],
)
def test_what_is_no_notation_is_malformed(text: str) -> None:
    with pytest.raises(MalformedAction) as malformed:
        GO_STOP.parse(text)
    assert malformed.value.text == text
