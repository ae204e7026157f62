"""Stop, go and what is paid (G15 to G19, options ``go_bak``, ``nagari`` and ``junk_doubling``)."""

from __future__ import annotations

import pytest

from engine.game import OptionValue, Outcome
from engine.go_stop import GO_STOP
from engine.go_stop.scoring import after_goes, payment, pile_of
from engine.go_stop.types import (
    Combo,
    DecisionAwaited,
    Doubling,
    DoublingReason,
    GoCalled,
    Nagari,
    Payment,
    Phase,
    ScoreChanged,
    Stopped,
    TurnBegan,
)
from tests.engine.go_stop.positions import ME, RIVAL, cards, legal, play, position, the, told

BIRDS = "02a 04a 08a"
SIX_POINTS = f"{BIRDS} 05a 06a"
"""Godori and five animals."""
TEN_JUNK = "01p 01q 02p 02q 03p 03q 04p 04q 05p 05q"
FIVE_JUNK = "06p 06q 07p 07q 08p"
ANY_BRIGHT = "11b"


def paid(
    winner: str, loser: str, goes: int = 0, loser_goes: int = 0, carry: int = 0, **options: OptionValue
) -> Payment:
    return payment(
        GO_STOP.complete_options(options),
        winner=pile_of(cards(winner)),
        loser=pile_of(cards(loser)),
        goes=goes,
        loser_goes=loser_goes,
        carry=carry,
    )


def reasons(found: Payment) -> list[DoublingReason]:
    return [doubling.reason for doubling in found.doublings]


# Cases that must hold ------------------------------------------------------------------------------------------------

SEVEN = f"{SIX_POINTS} {TEN_JUNK}"
NINE_IN_JUNK = f"01r 02r 03r 06r 09r 10r {TEN_JUNK}"
TWELVE = f"{SIX_POINTS} 01r 02r 03r {TEN_JUNK} 09p 09q"


@pytest.mark.parametrize(
    ("winner", "s", "goes", "loser", "pays"),
    [
        (SEVEN, 7, 0, f"{ANY_BRIGHT} {FIVE_JUNK} 08q", 7),
        (f"{SEVEN} 09p", 8, 1, f"{ANY_BRIGHT} {FIVE_JUNK} 08q", 9),
        (f"01b 03b 08b 11b {BIRDS}", 9, 2, FIVE_JUNK, 22),
        (f"{SIX_POINTS} 01r 02r 03r {TEN_JUNK}", 10, 3, f"{ANY_BRIGHT} {FIVE_JUNK}", 20),
        (TWELVE, 12, 4, "06p 06q 07p 07q", 96),
        (NINE_IN_JUNK, 9, 0, "06p 06q 09a", 18),
        (NINE_IN_JUNK, 9, 0, "06p 06q 07p 09a", 9),
    ],
)
def test_cases_that_must_hold(winner: str, s: int, goes: int, loser: str, pays: int) -> None:
    found = paid(winner, loser, goes=goes)
    assert found.score.points == s
    assert found.points == pays


# The decision --------------------------------------------------------------------------------------------------------


def test_G15_with_seven_points_at_the_end_of_a_turn_the_player_decides() -> None:
    step = play(position(hand="07a 10p", layout="07p", mine=SIX_POINTS), "07a")
    awaited = the(step, DecisionAwaited)
    assert (awaited.seat, awaited.score.points, awaited.only_stop) == (ME, 7, False)
    assert step.state.table.phase is Phase.DECIDE
    assert GO_STOP.awaiting(step.state) == {ME}
    assert legal(step.state) == ["go", "stop"]


@pytest.mark.parametrize(
    ("mine", "points"), [("01r 02r", 3), ("01r 02r 11b 01b 08b", 6), (f"{BIRDS} 05a", 5), (f"{SIX_POINTS}", 6)]
)
def test_G15_three_to_six_points_give_no_decision(mine: str, points: int) -> None:
    step = play(position(hand="03r 10p", layout="03p", mine=mine), "03r")
    assert step.state.table.scores[ME].points == points
    assert told(step, DecisionAwaited) == []
    assert the(step, TurnBegan).seat == RIVAL


def test_G15_the_other_players_points_open_no_decision() -> None:
    step = play(position(hand="10r 10p", layout="07p", theirs=f"{SIX_POINTS} 07a"), "10r")
    assert told(step, DecisionAwaited) == []


def test_G15_after_a_go_the_other_player_plays_and_the_score_is_noted() -> None:
    step = play(position(hand="07a 10p", layout="07p", mine=SIX_POINTS), "07a", "go")
    assert the(step, GoCalled) == GoCalled(ME, 1, 7)
    assert step.events[-1] == TurnBegan(RIVAL)
    assert (step.state.table.goes, step.state.table.go_points) == ((1, 0), (7, 0))


@pytest.mark.parametrize(("card", "decides"), [("11q", False), ("10a", True)])
def test_G15_after_a_go_only_a_score_above_it_opens_a_decision(card: str, decides: bool) -> None:
    state = position(
        hand=f"{card} 03q",
        layout="10p 11p",
        stock="12p",
        mine=f"{SIX_POINTS} 07a",
        goes=(1, 0),
        go_points=(7, 0),
    )
    step = play(state, card)
    assert bool(told(step, DecisionAwaited)) == decides
    assert step.state.table.phase is (Phase.DECIDE if decides else Phase.PLAY)


def test_G15_a_score_that_fell_has_to_rise_above_the_one_at_the_go() -> None:
    fell = f"{SIX_POINTS} {TEN_JUNK}"  # 7 points now, 8 at the go
    again = position(hand="07q 10p", layout="07a", stock="12p", mine=fell, goes=(1, 0), go_points=(8, 0))
    only_level = position(hand="09p 10p", layout="11s", stock="11q", mine=fell, goes=(1, 0), go_points=(9, 0))
    step = play(again, "07q")
    assert step.state.table.scores[ME].points == 9
    assert len(told(step, DecisionAwaited)) == 1
    step = play(only_level, "09p")
    assert step.state.table.scores[ME].points == 9
    assert told(step, DecisionAwaited) == []


def test_G15_points_that_fell_below_seven_are_asked_about_again_only_above_the_go() -> None:
    state = position(hand="07a 10p", layout="07p", mine=SIX_POINTS, goes=(1, 0), go_points=(7, 0))
    step = play(state, "07a")  # 6 -> 7 again
    assert step.state.table.scores[ME].points == 7
    assert told(step, DecisionAwaited) == []


def test_G16_with_an_empty_hand_only_stop_is_open() -> None:
    step = play(position(hand="07a", layout="07p", mine=SIX_POINTS), "07a")
    assert the(step, DecisionAwaited).only_stop
    assert legal(step.state) == ["stop"]


def test_G16_a_forced_stop_still_announces_what_was_made() -> None:
    step = play(position(hand="08a", layout="07p", stock="08p", mine="02a 04a 05a 06a", theirs="11b"), "08a")
    changed = the(step, ScoreChanged)
    assert changed.made == (Combo.ANIMALS, Combo.GODORI)
    assert told(step, DecisionAwaited) == []  # six points are too few
    step = play(position(hand="08a", layout="07p", stock="08p", mine="02a 04a 05a 06a 07a"), "08a")
    assert the(step, ScoreChanged).made == (Combo.ANIMALS, Combo.GODORI)
    assert the(step, DecisionAwaited).score == the(step, ScoreChanged).score
    assert the(play(step.state, "stop"), Stopped).payment.points == 7


# Payment -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("goes", "basis"), [(0, 10), (1, 11), (2, 12), (3, 20), (4, 40), (5, 80)])
def test_G17_goes_add_one_each_up_to_two_and_then_double_with_nothing_added(goes: int, basis: int) -> None:
    assert after_goes(10, goes) == basis


def test_G17_a_stop_pays_the_combination_score_and_ends_the_deal() -> None:
    mine = f"{SIX_POINTS}"
    step = play(position(hand="07a 10p", layout="07p", mine=mine, theirs=ANY_BRIGHT), "07a", "stop")
    stopped = the(step, Stopped)
    assert (stopped.seat, stopped.payment.after_goes, stopped.payment.points) == (ME, 7, 7)
    assert GO_STOP.outcome(step.state) == Outcome("stop", (7, 0))
    assert step.state.table.ended == stopped
    assert GO_STOP.awaiting(step.state) == frozenset()
    assert legal(step.state) == []


def test_G17_a_go_earlier_in_the_deal_counts_in_the_payment() -> None:
    state = position(hand="10a 10p", layout="10r", mine=f"{SIX_POINTS} 07a", goes=(1, 0), go_points=(7, 0))
    step = play(state, "10a", "stop")
    found = the(step, Stopped).payment
    assert (found.score.points, found.goes, found.after_goes) == (8, 1, 9)
    assert found.doublings == (Doubling(DoublingReason.SEVEN_ANIMALS),)
    assert GO_STOP.outcome(step.state) == Outcome("stop", (18, 0))


def test_G18_scored_brights_against_none_double() -> None:
    winner = f"01b 03b 08b {BIRDS}"
    assert reasons(paid(winner, FIVE_JUNK)) == [DoublingReason.NO_BRIGHTS]
    assert reasons(paid(winner, f"{FIVE_JUNK} 12b")) == []
    assert reasons(paid(f"01b 03b {SIX_POINTS} 07a", FIVE_JUNK)) == [], "two brights are not scored"


def test_G18_seven_animals_double() -> None:
    assert reasons(paid(f"{SIX_POINTS} 07a", FIVE_JUNK)) == []
    assert reasons(paid(f"{SIX_POINTS} 07a 10a", FIVE_JUNK)) == [DoublingReason.SEVEN_ANIMALS]


@pytest.mark.parametrize(("junk", "doubles"), [(8, True), (9, False)])
def test_G18_animals_are_counted_as_the_cup_was_judged(junk: int, doubles: bool) -> None:
    winner = f"09a {SIX_POINTS} 07a {' '.join(TEN_JUNK.split()[:junk])}"
    found = paid(winner, f"{ANY_BRIGHT} {FIVE_JUNK}")
    assert found.score.points == junk
    assert (DoublingReason.SEVEN_ANIMALS in reasons(found)) == doubles


@pytest.mark.parametrize(
    ("loser", "doubles"),
    [
        ("", True),
        ("06p", True),
        ("06p 06q 07p 07q", True),
        ("11p 12p", True),
        (FIVE_JUNK, False),
        ("11p 12p 06p", False),
    ],
)
def test_G18_scored_junk_against_fewer_than_five_units_doubles(loser: str, doubles: bool) -> None:
    assert reasons(paid(SEVEN, loser)) == ([DoublingReason.FEW_JUNK] if doubles else [])


def test_G18_junk_that_is_not_scored_doubles_nothing() -> None:
    assert reasons(paid(f"{SIX_POINTS} 07a 01p 01q", "")) == []


@pytest.mark.parametrize(("singles", "doubles"), [("06p 06q", True), ("06p 06q 07p", False)])
def test_G18_the_losers_cup_counts_two_units_whatever_it_counts_as(singles: str, doubles: bool) -> None:
    assert reasons(paid(SEVEN, f"{singles} 09a")) == ([DoublingReason.FEW_JUNK] if doubles else [])
    five_animals = "05a 06a 07a 10a 12a"
    assert (DoublingReason.FEW_JUNK in reasons(paid(NINE_IN_JUNK, f"{singles} 09a {five_animals}"))) == doubles


def test_G18_doublings_multiply() -> None:
    found = paid(f"01b 03b 08b {SIX_POINTS} 07a 10a {TEN_JUNK}", "06p")
    assert reasons(found) == [DoublingReason.NO_BRIGHTS, DoublingReason.SEVEN_ANIMALS, DoublingReason.FEW_JUNK]
    assert (found.score.points, found.points) == (12, 96)


@pytest.mark.parametrize(
    ("loser", "doubles"),
    [
        ("", False),
        ("11b 01r", False),
        ("06p", True),
        ("06p 06q 07p 07q 08p 08q 11q", True),
        ("06p 06q 07p 07q 08p 08q 11p", False),
        ("09a", True),
        ("09a 06p 06q 07p 07q 08p", True),
        ("09a 06p 06q 07p 07q 08p 08q", False),
    ],
)
def test_option_junk_doubling_one_to_seven_exempts_a_player_without_any(loser: str, doubles: bool) -> None:
    found = paid(SEVEN, loser, junk_doubling="one-to-seven")
    assert reasons(found) == ([DoublingReason.FEW_JUNK] if doubles else [])


@pytest.mark.parametrize(("loser_goes", "go_bak", "pays"), [(1, "on", 14), (3, "on", 14), (0, "on", 7), (1, "off", 7)])
def test_option_go_bak_doubles_once_when_the_loser_had_called_go(loser_goes: int, go_bak: str, pays: int) -> None:
    found = paid(SEVEN, f"{ANY_BRIGHT} {FIVE_JUNK}", loser_goes=loser_goes, go_bak=go_bak)
    assert found.points == pays


@pytest.mark.parametrize(("carry", "factor"), [(0, 1), (1, 2), (2, 4), (3, 8), (4, 8), (9, 8)])
def test_option_nagari_doubles_once_for_each_nagari_at_most_eightfold(carry: int, factor: int) -> None:
    found = paid(SEVEN, f"{ANY_BRIGHT} {FIVE_JUNK}", carry=carry, nagari="doubles")
    assert found.points == 7 * factor
    assert found.doublings == ((Doubling(DoublingReason.NAGARI, factor),) if carry else ())


def test_option_nagari_nothing_leaves_the_payment_alone() -> None:
    assert paid(SEVEN, f"{ANY_BRIGHT} {FIVE_JUNK}", carry=2, nagari="nothing").points == 7


# Who scores ----------------------------------------------------------------------------------------------------------


def test_G19_the_other_player_scores_nothing_whatever_they_had_or_called() -> None:
    theirs = "01b 03b 08b 11b 12b"
    state = position(hand="07a 10p", layout="07p", mine=SIX_POINTS, theirs=theirs, goes=(0, 2), go_points=(0, 15))
    assert GO_STOP.outcome(play(state, "07a", "stop").state) == Outcome("stop", (7, 0))


def test_G19_all_cards_played_and_nobody_stopped_is_nagari() -> None:
    state = position(hand="03r", rival="", layout="03p 04p", stock="04r", mine=SIX_POINTS, theirs=BIRDS)
    step = play(state, "03r")
    drawn = the(step, Nagari)
    assert [score.points for score in drawn.scores] == [6, 5]
    assert GO_STOP.outcome(step.state) == Outcome("nagari", (0, 0))
    assert step.state.table.layout == ()
    assert step.state.stock == ()


def test_G19_a_go_that_was_never_exceeded_is_lost_at_nagari() -> None:
    state = position(
        hand="03q",
        rival="",
        layout="03p 04p",
        stock="04r",
        mine=f"{SIX_POINTS} 07a",
        goes=(2, 1),
        go_points=(7, 7),
    )
    step = play(state, "03q")
    assert the(step, Nagari).goes == (2, 1)
    assert GO_STOP.outcome(step.state) == Outcome("nagari", (0, 0))
