"""The deal and the opening checks: G1 to G3."""

from __future__ import annotations

from random import Random

import pytest

from engine.game import BadDeck, Card, OptionValue, Outcome, Seat, Step
from engine.go_stop import GO_STOP
from engine.go_stop.types import (
    CARDS,
    OPTIONS,
    Dealt,
    Event,
    FourOfAMonth,
    NagariRule,
    Phase,
    Redeal,
    RedealReason,
    Stack,
    State,
    TurnBegan,
)
from tests.engine.go_stop.positions import cards, play, the, told

EVEN = "01b 01r 02a 02r 03b 03r 04a 04r 05a 05r"
"""Ten cards with no more than two of a month."""
ODD = "06a 06r 07a 07r 08b 08a 09a 09r 10a 10r"
"""Ten more."""
PLAIN = "01p 02p 03p 04p 05p 06p 07p 08p"
"""Eight of different months."""
MINE_FOUR = "01b 01r 01p 01q 03b 03r 04a 04r 05a 05r"
THEIRS_FOUR = "06a 06r 06p 06q 08b 08a 09a 09r 10a 10r"


def deal(
    first_hand: str, second_hand: str, layout: str, first: int = 0, carry: int = 0, **options: OptionValue
) -> Step[State, Event]:
    known = cards(f"{first_hand} {second_hand} {layout}")
    deck = (*known, *(card for card in CARDS if card not in known))
    return GO_STOP.deal(GO_STOP.complete_options(options), deck, Seat(first), carry)


def result(step: Step[State, Event]) -> Outcome:
    found = GO_STOP.outcome(step.state)
    assert found is not None
    assert step.state.table.phase is Phase.OVER
    assert step.state.table.ended == step.events[-1]
    return found


@pytest.mark.parametrize("first", [0, 1])
def test_G1_ten_cards_each_eight_on_the_layout_twenty_in_the_stock(first: int) -> None:
    deck = Random(4).sample(CARDS, len(CARDS))
    state = GO_STOP.deal(GO_STOP.complete_options({}), deck, Seat(first)).state
    assert set(state.hands[first]) == set(deck[:10])
    assert set(state.hands[1 - first]) == set(deck[10:20])
    assert state.table.layout == tuple(deck[20:28])
    assert state.stock == tuple(deck[28:])
    assert state.table.stock_left == len(state.stock) == 20
    assert state.table.hand_sizes == (10, 10)
    assert GO_STOP.awaiting(state) == {first}


def test_G1_hands_lie_in_card_id_order_so_that_they_tell_nothing_about_the_deck() -> None:
    state = deal(" ".join(reversed(EVEN.split())), ODD, PLAIN).state
    assert state.hands[0] == cards(EVEN)


def test_G1_the_first_player_of_a_match_is_the_one_drawn() -> None:
    assert [GO_STOP.first_beginner(GO_STOP.complete_options({}), Seat(drawn)) for drawn in (0, 1)] == [0, 1]


@pytest.mark.parametrize("deck", [CARDS[:-1], (*CARDS[:-1], CARDS[0]), (*CARDS, CARDS[0]), (*CARDS[:-1], Card("11a"))])
def test_G1_a_deck_that_is_not_all_48_cards_is_refused(deck: tuple[Card, ...]) -> None:
    with pytest.raises(BadDeck):
        GO_STOP.deal(GO_STOP.complete_options({}), deck, Seat(0))


def test_G2_an_ordinary_deal_goes_on_with_the_first_players_turn() -> None:
    step = deal(EVEN, ODD, PLAIN, first=1)
    assert [type(event) for event in step.events] == [Dealt, TurnBegan]
    assert the(step, TurnBegan).seat == 1


def test_G2_four_of_a_month_on_the_layout_is_dealt_again() -> None:
    step = deal(EVEN, ODD, "11b 11p 11q 11s 01p 02p 03p 04p")
    assert the(step, Redeal) == Redeal(RedealReason.LAYOUT, cards("11b 11p 11q 11s"), ())
    assert result(step) == Outcome("redeal", (0, 0))


def test_G2_four_of_a_month_in_both_hands_is_dealt_again() -> None:
    step = deal(MINE_FOUR, THEIRS_FOUR, "02a 02r 07a 07r 11b 11p 12b 12a")
    shown = (cards("01b 01r 01p 01q"), cards("06a 06r 06p 06q"))
    assert the(step, Redeal) == Redeal(RedealReason.BOTH_HANDS, (), shown)
    assert result(step) == Outcome("redeal", (0, 0))


@pytest.mark.parametrize(("first", "winner"), [(0, 0), (1, 1)])
def test_G2_four_of_a_month_in_one_hand_scores_five_at_once_and_is_shown(first: int, winner: int) -> None:
    step = deal(MINE_FOUR, ODD, "02a 02r 06p 07p 11b 11p 12b 12a", first=first)
    assert the(step, FourOfAMonth) == FourOfAMonth(Seat(winner), cards("01b 01r 01p 01q"), 5)
    assert result(step) == Outcome("four-of-a-month", (5, 0) if winner == 0 else (0, 5))
    assert GO_STOP.awaiting(step.state) == frozenset()


def test_G2_the_second_player_scores_for_four_of_a_month_likewise() -> None:
    step = deal(EVEN, THEIRS_FOUR, "01p 02p 03p 04p 11b 11p 12b 12a")
    assert result(step) == Outcome("four-of-a-month", (0, 5))


def test_G2_the_layout_is_checked_before_the_hands() -> None:
    step = deal(MINE_FOUR, ODD, "11b 11p 11q 11s 02a 02r 12b 12a")
    assert the(step, Redeal).why is RedealReason.LAYOUT


def test_G2_two_such_months_in_one_hand_score_five_all_the_same() -> None:
    step = deal("01b 01r 01p 01q 02a 02r 02p 02q 05a 05r", ODD, "03p 04p 06p 07p 11b 11p 12b 12a")
    assert the(step, FourOfAMonth) == FourOfAMonth(Seat(0), cards("01b 01r 01p 01q 02a 02r 02p 02q"), 5)


def test_G2_fixed_points_are_never_doubled() -> None:
    layout = "02a 02r 06p 07p 11b 11p 12b 12a"
    step = deal(MINE_FOUR, ODD, layout, carry=3, nagari=NagariRule.DOUBLES)
    assert result(step).scores == (5, 0)


def test_G3_three_of_a_month_on_the_layout_are_one_stack_without_an_owner() -> None:
    state = deal(EVEN, ODD, "01p 02p 11b 11p 11q 12b 12a 12r").state
    assert state.table.stacks == (Stack(11, None), Stack(12, None))


def test_G3_two_of_a_month_are_no_stack() -> None:
    state = deal(EVEN, ODD, "01p 01q 02p 11b 11p 12b 12a 12r").state
    assert state.table.stacks == (Stack(12, None),)


def test_the_november_is_paulownia_and_december_is_rain() -> None:
    assert cards("11b 11p 11q 11s 12b 12a 12r 12p") == CARDS[40:]


def test_every_option_of_the_rules_page_has_its_values_with_the_default_first() -> None:
    assert {key: list(map(str, values)) for key, values in OPTIONS.items()} == {
        "deals": ["1", "3", "6", "12"],
        "next_first": ["alternating", "winner", "random"],
        "go_bak": ["off", "on"],
        "nagari": ["nothing", "doubles"],
        "sseul": ["narrow", "broad"],
        "junk_doubling": ["under-five", "one-to-seven"],
    }


def test_dealing_tells_what_a_view_is_made_of() -> None:
    step = deal(EVEN, ODD, PLAIN, first=0, carry=2, go_bak="on")
    dealt = the(step, Dealt)
    assert (dealt.carry, dealt.first, dealt.options["go_bak"]) == (2, 0, "on")
    assert told(play(step.state, "01b"), Dealt) == []
