"""K8 to K10: stop or koi, the empty hand, the draw."""

from __future__ import annotations

import pytest

from engine.game import IllegalAction, Message, Outcome, Seat
from engine.koi_koi import KOI_KOI
from engine.koi_koi.types import DealDrawn, KoiCalled, Made, Phase, Standing, State, Stopped, Yaku, YakuMade
from tests.engine.koi_koi.scenes import FIRST, SECOND, act, cards, legal, only, outcome, position

NEAR = ("07a 10a", "")
"""One card short of boar, deer, butterfly."""


def decision(turn: Seat = FIRST, more: str = "12p") -> State:
    """``turn`` has just made boar, deer, butterfly and holds ``more``."""
    hands = (f"06a {more}", "12q") if turn == FIRST else ("12q", f"06a {more}")
    captured = NEAR if turn == FIRST else ("", NEAR[0])
    return act(position(hands, "06p", "12s 11p 05a 04a", captured, turn=turn), "06a").state


@pytest.mark.parametrize("turn", [FIRST, SECOND])
def test_K8_a_player_whose_total_rose_decides(turn: Seat) -> None:
    state = decision(turn)
    assert state.table.phase is Phase.DECIDE
    assert KOI_KOI.awaiting(state) == {turn}
    assert legal(state) == ["koi", "stop"]


def test_K8_a_turn_without_a_rise_asks_nothing() -> None:
    step = act(position(("06p 12p", "12q"), "06r", "11p", ("06a 07a 10a", "")), "06p")
    assert step.state.table.turn == SECOND
    assert step.state.table.phase is Phase.PLAY


def test_K8_the_view_of_a_decision_has_the_yaku_the_points_and_what_the_other_player_captured() -> None:
    before = position(("06a 12p", "12q"), "06p", "12s", ("07a 10a", "01b 01p"))
    view = KOI_KOI.view(act(before, "06a").state, FIRST)
    boar_deer_butterfly = Made(Yaku.BOAR_DEER_BUTTERFLY, 5, cards("06a 07a 10a"))
    assert view.table.standings[FIRST] == Standing((boar_deer_butterfly,), 5, (), 5)
    assert view.table.captured[SECOND] == cards("01b 01p")


def test_K8_a_yaku_is_announced_with_what_was_gained_and_what_a_stop_would_score() -> None:
    event = only(YakuMade, act(position(("06a 12p", "12q"), "06p", "12s", NEAR), "06a").events)
    made = Made(Yaku.BOAR_DEER_BUTTERFLY, 5, cards("06a 07a 10a"))
    assert event == YakuMade(FIRST, gained=(made,), lost=(), standing=Standing((made,), 5, (), 5), only_stop=None)


def test_K8_a_yaku_that_grows_is_announced_with_its_new_points() -> None:
    before = position(("11a 12p", "12q"), "11p", "12s", ("02a 04a 05a 06a 08a", ""))
    event = only(YakuMade, act(before, "11a").events)
    assert event.gained == (Made(Yaku.ANIMALS, 2, cards("02a 04a 05a 06a 08a 11a")),)


def test_K8_yaku_that_a_player_had_already_are_not_announced_as_gained() -> None:
    before = position(("06a 12p", "12q"), "06p", "12s", ("07a 10a 01r 02r 03r", ""))
    event = only(YakuMade, act(before, "06a").events)
    assert [made.yaku for made in event.gained] == [Yaku.BOAR_DEER_BUTTERFLY]
    assert [made.yaku for made in event.standing.yaku] == [Yaku.BOAR_DEER_BUTTERFLY, Yaku.POETRY_RIBBONS]


def test_K7_K8_a_bright_yaku_that_a_higher_one_replaces_is_announced_as_lost() -> None:
    before = position(("11b 12p", "12q"), "11p", "02p", ("01b 03b 08b", ""))
    event = only(YakuMade, act(before, "11b").events)
    assert [made.yaku for made in event.gained] == [Yaku.RAINY_FOUR_BRIGHTS]
    assert event.lost == (Yaku.THREE_BRIGHTS,)
    assert event.standing.total == 8


@pytest.mark.parametrize("turn", [FIRST, SECOND])
def test_K8_stop_scores_the_whole_total_and_the_other_player_scores_nothing(turn: Seat) -> None:
    theirs = "01b 03b 12b"
    hands = ("06a 12p", "12q") if turn == FIRST else ("12q", "06a 12p")
    mine = "07a 10a 01r 02r 03r"
    captured = (mine, theirs) if turn == FIRST else (theirs, mine)
    state = act(position(hands, "06p", "11p", captured, turn=turn), "06a").state
    step = act(state, "stop")
    assert outcome(step.state) == Outcome("stop", (11, 0) if turn == FIRST else (0, 11))
    stopped = only(Stopped, step.events)
    assert (stopped.seat, stopped.standing.score, stopped.unclaimed.total) == (turn, 11, 6)
    assert KOI_KOI.awaiting(step.state) == frozenset()


def test_K8_koi_plays_on_with_nothing_claimed() -> None:
    step = act(decision(), "koi")
    assert step.events == (KoiCalled(FIRST, 1, Standing()),)
    assert step.state.table.turn == SECOND
    assert step.state.table.phase is Phase.PLAY
    assert KOI_KOI.outcome(step.state) is None


def test_K8_after_a_call_the_total_must_rise_again() -> None:
    called = act(decision(more="01p 05p 04p"), "koi", "12q").state
    idle = act(called, "01p").state
    assert idle.table.turn == SECOND
    before = position(("11a 12p", "12q"), "11p", "12s", ("02a 04a 05a 06a 08a", ""), calls=(1, 0))
    assert legal(act(before, "11a").state) == ["koi", "stop"]


def test_K8_a_total_that_the_other_player_reached_meanwhile_opens_no_decision() -> None:
    called = position(("12p 11p", "05p"), "05a", "12s 04p", ("06a 07a 10a", "02a 04a 08a 11a"), calls=(1, 0))
    raised = act(called, "12p", "05p").state
    assert (raised.table.turn, raised.table.phase) == (SECOND, Phase.DECIDE)


def test_K8_calls_are_unlimited_and_change_nobodys_score() -> None:
    captured = ("02a 04a 05a 06a", "01b 03b 12b")
    state = position(("08a 09a 11a 12p", "07p 04r 04q"), "08p 09p 11p 07q", "12s 01r 03p 02r 10r", captured)
    state = act(state, "08a", "koi", "04r", "09a", "koi", "04q", "11a").state
    assert state.table.calls == (2, 0)
    assert legal(state) == ["koi", "stop"]
    assert state.table.standings[FIRST].score == 3
    assert act(state, "koi").state.table.calls == (3, 0)
    assert act(state, "koi").state.table.standings[SECOND].score == 6
    assert outcome(act(state, "stop").state).scores == (3, 0)


@pytest.mark.parametrize("turn", [FIRST, SECOND])
def test_K9_a_player_whose_hand_is_empty_can_only_stop(turn: Seat) -> None:
    hands = ("06a", "12q") if turn == FIRST else ("", "06a")
    captured = NEAR if turn == FIRST else ("", NEAR[0])
    state = act(position(hands, "06p", "11p 05a", captured, turn=turn), "06a").state
    assert legal(state) == ["stop"]
    with pytest.raises(IllegalAction) as refused:
        act(state, "koi")
    assert refused.value.refusal == Message("hand-empty")
    assert outcome(act(state, "stop").state).scores == ((5, 0) if turn == FIRST else (0, 5))


def test_K9_a_yaku_made_with_the_last_card_is_announced_before_the_forced_stop() -> None:
    step = act(position(("06a", "12q"), "06p", "11p", NEAR), "06a")
    event = only(YakuMade, step.events)
    assert event.only_stop == "hand-empty"
    assert [made.yaku for made in event.gained] == [Yaku.BOAR_DEER_BUTTERFLY]
    assert KOI_KOI.outcome(step.state) is None, "the stop is an action of its own"


def test_K9_a_player_with_cards_left_may_call_although_the_others_hand_runs_out() -> None:
    state = act(position(("06a 12p", "12q"), "06p", "11p", NEAR), "06a").state
    assert legal(state) == ["koi", "stop"]


def test_K10_both_hands_empty_and_nobody_stopped_is_a_draw_without_points() -> None:
    step = act(position(("", "12q"), "05a", "11p", turn=SECOND), "12q")
    assert outcome(step.state) == Outcome("draw", (0, 0))
    assert KOI_KOI.awaiting(step.state) == frozenset()


def test_K10_a_draw_tells_what_the_unclaimed_points_would_have_been() -> None:
    captured = ("06a 07a 10a", "01b 03b 12b")
    step = act(position(("", "12q"), "05a", "11p", captured, turn=SECOND, calls=(1, 1)), "12q")
    drawn = only(DealDrawn, step.events)
    assert [standing.total for standing in drawn.unclaimed] == [5, 6]
    assert step.state.table.standings == drawn.unclaimed
    assert step.state.table.captured == (cards(captured[0]), cards(captured[1])), "both piles stay to be seen"
    assert outcome(step.state).scores == (0, 0)


def test_K10_one_empty_hand_does_not_end_the_deal() -> None:
    step = act(position(("12p", "12q"), "05a", "11p 04a"), "12p")
    assert KOI_KOI.outcome(step.state) is None
    assert step.state.table.turn == SECOND
