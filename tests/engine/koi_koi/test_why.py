"""What a refusal says: a code, and what would have been possible."""

from __future__ import annotations

import pytest

from engine.game import IllegalAction, Message, Param, Seat, Viewer
from engine.koi_koi import KOI_KOI
from engine.koi_koi.types import State
from tests.engine.koi_koi.scenes import FIRST, SECOND, act, cards, deal, deck, position

PLAYING = position(("03r 04a 05r 12p", "03q 12q"), "03p 03b 05a 07a 07r 07p", "12s 11p")
CHOOSING = act(position(("12p 11p", "12q"), "05a 04a 05r", "05p"), "12p").state
DECIDING = act(position(("06a 12p", "12q"), "06p", "12s", ("07a 10a", "")), "06a").state
OVER = act(DECIDING, "stop").state


def why(state: State, action: str, viewer: Viewer = FIRST) -> Message | None:
    """What ``why`` says, having made sure that ``apply`` says the same and changes nothing."""
    said = KOI_KOI.why(KOI_KOI.view(state, viewer), KOI_KOI.parse(action))
    if viewer is not None:
        if said is None:
            KOI_KOI.apply(state, viewer, KOI_KOI.parse(action))
        else:
            with pytest.raises(IllegalAction) as refused:
                KOI_KOI.apply(state, viewer, KOI_KOI.parse(action))
            assert refused.value.refusal == said
    return said


@pytest.mark.parametrize(
    ("state", "action"),
    [
        (PLAYING, "03r*03b"),
        (PLAYING, "04a"),
        (PLAYING, "05r"),
        (CHOOSING, "*05a"),
        (DECIDING, "koi"),
        (DECIDING, "stop"),
    ],
)
def test_a_legal_action_is_not_refused(state: State, action: str) -> None:
    assert why(state, action) is None


def test_K4_a_missing_target_is_asked_for_with_the_two_there_are() -> None:
    assert why(PLAYING, "03r") == Message("target-needed", {"card": "03r", "targets": cards("03p 03b")})


@pytest.mark.parametrize("take", ["03q", "05a", "03r", "11p"])
def test_K4_a_wrong_target_is_refused_with_the_two_there_are(take: str) -> None:
    expected: dict[str, Param] = {"card": "03r", "take": take, "targets": cards("03p 03b")}
    assert why(PLAYING, f"03r*{take}") == Message("wrong-target", expected)


def test_K4_a_target_is_not_named_where_none_matches() -> None:
    assert why(PLAYING, "04a*05a") == Message("no-target-to-name", {"card": "04a", "take": "05a", "matching": ()})


def test_K4_a_target_is_not_named_where_one_matches() -> None:
    expected: dict[str, Param] = {"card": "05r", "take": "05a", "matching": cards("05a")}
    assert why(PLAYING, "05r*05a") == Message("no-target-to-name", expected)


def test_K4_a_target_is_not_named_where_three_match() -> None:
    state = position(("07q", "12q"), "07a 07r 07p", "12s")
    expected: dict[str, Param] = {"card": "07q", "take": "07a", "matching": cards("07a 07r 07p")}
    assert why(state, "07q*07a") == Message("no-target-to-name", expected)


@pytest.mark.parametrize("action", ["03q", "03q*03p", "07a", "11p", "10a"])
def test_a_card_that_is_not_held_is_refused_alike_wherever_it_is(action: str) -> None:
    assert why(PLAYING, action) == Message("not-in-hand", {"card": action[:3]})


@pytest.mark.parametrize("action", ["11p", "03r", "stop", "koi"])
def test_K5_the_stock_choice_comes_first(action: str) -> None:
    assert why(CHOOSING, action) == Message("choice-open", {"card": "05p", "targets": cards("05a 05r")})


@pytest.mark.parametrize("take", ["04a", "05q", "05p"])
def test_K5_a_wrong_choice_for_the_stock_card_is_refused_with_the_two_there_are(take: str) -> None:
    expected: dict[str, Param] = {"card": "05p", "take": take, "targets": cards("05a 05r")}
    assert why(CHOOSING, f"*{take}") == Message("wrong-target", expected)


def test_K5_there_is_nothing_to_choose_before_a_stock_card_waits() -> None:
    assert why(PLAYING, "*05a") == Message("no-choice-open")


@pytest.mark.parametrize("action", ["12p", "*05a"])
def test_K8_the_decision_comes_first(action: str) -> None:
    assert why(DECIDING, action) == Message("decision-open", {"total": 5, "choices": ("koi", "stop")})


def test_K9_a_card_cannot_be_played_past_a_forced_stop() -> None:
    forced = act(position(("06a", "12q"), "06p", "11p", ("07a 10a", "")), "06a").state
    assert why(forced, "12s") == Message("decision-open", {"total": 5, "choices": ("stop",)})
    assert why(forced, "koi") == Message("hand-empty")


@pytest.mark.parametrize("action", ["stop", "koi"])
def test_K8_stop_and_koi_are_refused_outside_a_decision(action: str) -> None:
    assert why(PLAYING, action) == Message("no-decision-open", {"total": 0})


@pytest.mark.parametrize("state", [PLAYING, CHOOSING, DECIDING])
@pytest.mark.parametrize("action", ["stop", "koi", "12q", "*05a", "03r*03b"])
@pytest.mark.parametrize("viewer", [SECOND, None])
def test_whoever_is_not_to_act_is_told_just_that(state: State, action: str, viewer: Viewer) -> None:
    assert why(state, action, viewer) == Message("not-your-turn")


@pytest.mark.parametrize("state", [OVER, deal(deck(lead="02a 02r 03b 03r 04a 04r 05a 05r")).state])
@pytest.mark.parametrize("action", ["stop", "koi", "12p", "*05a"])
@pytest.mark.parametrize("seat", [FIRST, SECOND])
def test_nothing_can_be_done_once_the_deal_is_over(state: State, action: str, seat: Seat) -> None:
    assert why(state, action, seat) == Message("deal-over")


def test_a_doubled_stop_scores_once() -> None:
    assert why(OVER, "stop") == Message("deal-over")
    assert KOI_KOI.outcome(OVER) == KOI_KOI.outcome(act(DECIDING, "stop").state)
