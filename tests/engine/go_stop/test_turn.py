"""A turn: what is captured, what junk changes hands (G4 to G12, G14, option ``sseul``)."""

from __future__ import annotations

import pytest

from engine.game import IllegalAction, Outcome, Seat, Step
from engine.go_stop import GO_STOP
from engine.go_stop.scoring import junk_to_take
from engine.go_stop.types import (
    Bonus,
    Captured,
    Combo,
    Event,
    HandCardPlayed,
    JunkTaken,
    Pending,
    Phase,
    PpukMade,
    ScoreChanged,
    SseulRule,
    Stack,
    State,
    StockCardLaid,
    StockCardRevealed,
    StockChoiceAwaited,
    ThreePpuk,
    TurnBegan,
)
from tests.engine.go_stop.positions import ME, RIVAL, cards, legal, play, position, the, told

BROAD = {"sseul": SseulRule.BROAD}


def bonuses(step: Step[State, Event]) -> list[tuple[Bonus, int, str]]:
    return [(taken.bonus, taken.owed, " ".join(taken.cards)) for taken in told(step, JunkTaken)]


def captures(step: Step[State, Event]) -> list[str]:
    return [" ".join(captured.cards) for captured in told(step, Captured)]


# The hand card -------------------------------------------------------------------------------------------------------


def test_G4_a_card_without_a_match_stays_on_the_layout() -> None:
    step = play(position(hand="03r 05p", layout="01p 02p", stock="07p"), "03r")
    assert the(step, HandCardPlayed).matched == ()
    assert step.state.table.layout == cards("01p 02p 03r 07p")
    assert captures(step) == []


def test_G4_one_match_makes_a_pending_pair() -> None:
    step = play(position(hand="03r 05p", layout="01p 03p", stock="07p"), "03r")
    assert the(step, HandCardPlayed).matched == cards("03p")
    assert captures(step) == ["03r 03p"]
    assert step.state.table.layout == cards("01p 07p")


def test_G4_of_two_matches_one_is_chosen() -> None:
    state = position(hand="03r 05p", layout="03q 01p 03p", stock="07p")
    assert legal(state) == ["03r*03p", "03r*03q", "05p"]
    step = play(state, "03r*03q")
    assert captures(step) == ["03r 03q"]
    assert step.state.table.layout == cards("01p 03p 07p")


def test_G4_all_three_matches_are_taken_and_none_is_named() -> None:
    state = position(hand="03r 05p", layout="03q 01p 03p 03b", stock="07p")
    assert legal(state) == ["03r", "05p"]
    step = play(state, "03r")
    assert captures(step) == ["03r 03q 03p 03b"]
    assert step.state.table.layout == cards("01p 07p")
    assert step.state.table.stacks == ()


def test_G4_any_hand_card_may_be_played_even_if_another_one_matches() -> None:
    assert legal(position(hand="03r 05p 11b", layout="03p", stock="07p")) == ["03r", "05p", "11b"]


# The stock card ------------------------------------------------------------------------------------------------------


def test_G5_the_stock_card_is_turned_up_after_every_hand_card() -> None:
    for layout in ("01p", "03p"):
        step = play(position(hand="03r 05p", layout=layout, stock="07p 08p"), "03r")
        assert the(step, StockCardRevealed).card == "07p"
        assert (step.state.stock, step.state.table.stock_left) == (cards("08p"), 1)


def test_G5_the_stock_card_matches_as_the_hand_card_does() -> None:
    none = play(position(hand="03r 05p", layout="01p", stock="07p"), "03r")
    assert the(none, StockCardLaid).card == "07p"
    one = play(position(hand="03r 05p", layout="01p", stock="01b"), "03r")
    assert captures(one) == ["01b 01p"]
    three = play(position(hand="03r 05p", layout="01p 01q 01r", stock="01b"), "03r")
    assert captures(three) == ["01b 01p 01q 01r"]


def test_G5_with_two_matches_the_player_chooses_for_the_stock_card() -> None:
    asked = play(position(hand="03r 05p", layout="01p 01q 03p", stock="01b"), "03r")
    assert the(asked, StockChoiceAwaited) == StockChoiceAwaited(ME, cards("01b")[0], cards("01p 01q"))
    assert asked.state.table.phase is Phase.CHOOSE
    assert GO_STOP.awaiting(asked.state) == {ME}
    assert legal(asked.state) == ["*01p", "*01q"]
    chosen = play(asked.state, "*01q")
    assert captures(chosen) == ["03r 03p", "01b 01q"]
    assert chosen.state.table.layout == cards("01p")
    assert chosen.state.table.turn == RIVAL


def test_G5_captures_are_settled_after_both_steps() -> None:
    asked = play(position(hand="03r 05p", layout="01p 01q 03p", stock="01b"), "03r")
    assert captures(asked) == []
    assert asked.state.table.captured == ((), ())
    assert asked.state.table.pending == Pending(cards("03r")[0], cards("03p"), cards("01b")[0])
    assert asked.state.table.layout == cards("01p 01q")
    settled = play(position(hand="03r 05p", layout="01p 03p 07p", stock="01b"), "03r")
    kinds = [type(event) for event in settled.events]
    assert kinds == [HandCardPlayed, StockCardRevealed, Captured, Captured, TurnBegan]
    assert settled.state.table.pending is None


def test_G5_a_choice_is_never_asked_for_the_month_of_the_pending_pair() -> None:
    step = play(position(hand="03r 05p", layout="03p 03q", stock="03b"), "03r*03p")
    assert told(step, StockChoiceAwaited) == []


# Ppuk, ttadak, chok, sseul -------------------------------------------------------------------------------------------


def test_G6_a_stock_card_of_the_pending_pairs_month_makes_a_ppuk() -> None:
    step = play(position(hand="03r 05p", layout="01p 03p", stock="03b", theirs="05q"), "03r")
    assert the(step, PpukMade) == PpukMade(ME, cards("03r 03p 03b"), 1)
    assert captures(step) == []
    assert bonuses(step) == []
    assert step.state.table.layout == cards("01p 03r 03p 03b")
    assert step.state.table.stacks == (Stack(3, ME),)
    assert step.state.table.ppuks == (1, 0)
    assert step.state.table.turn == RIVAL


def test_G6_with_two_of_the_month_at_first_all_four_are_taken_ttadak() -> None:
    step = play(position(hand="03r 05p", layout="01p 03p 03q", stock="03b", theirs="05q 06p"), "03r*03p")
    assert captures(step) == ["03b 03q 03r 03p"]
    assert bonuses(step) == [(Bonus.TTADAK, 1, "05q")]
    assert step.state.table.layout == cards("01p")


def test_G7_the_stock_card_captures_the_hand_card_that_found_no_match_chok() -> None:
    step = play(position(hand="03r 05p", layout="01p", stock="03b", theirs="05q 06p"), "03r")
    assert captures(step) == ["03b 03r"]
    assert bonuses(step) == [(Bonus.CHOK, 1, "05q")]
    assert step.state.table.layout == cards("01p")


def test_G8_capturing_the_only_two_layout_cards_of_different_months_is_sseul() -> None:
    step = play(position(hand="03r 05p", layout="03p 04p", stock="04r", theirs="05q 06p"), "03r")
    assert captures(step) == ["03r 03p", "04r 04p"]
    assert bonuses(step) == [(Bonus.SSEUL, 1, "05q")]


@pytest.mark.parametrize(
    ("layout", "stock", "action"),
    [
        ("03p 04p 05p", "04r", "03r"),  # a third card stays
        ("03p 04p", "05r", "03r"),  # only one was captured
        ("04p", "04r", "03r"),  # there was one card, and the hand card stays
    ],
)
def test_G8_anything_less_is_no_sseul(layout: str, stock: str, action: str) -> None:
    assert bonuses(play(position(hand="03r 11p", layout=layout, stock=stock, theirs="05q"), action)) == []


def test_G8_two_cards_of_the_same_month_make_a_ttadak_and_no_sseul() -> None:
    step = play(position(hand="03r 11p", layout="03p 03q", stock="03b", theirs="05q 06p"), "03r*03p")
    assert bonuses(step) == [(Bonus.TTADAK, 1, "05q")]


def test_G8_a_chok_on_an_empty_layout_is_no_sseul() -> None:
    step = play(position(hand="03r 11p", layout="", stock="03b", theirs="05q 06p"), "03r")
    assert bonuses(step) == [(Bonus.CHOK, 1, "05q")]


@pytest.mark.parametrize(
    ("layout", "stock", "action", "taken"),
    [
        ("03p 04p", "04r", "03r", [Bonus.SSEUL]),
        ("03p 03q", "03b", "03r*03p", [Bonus.TTADAK, Bonus.SSEUL]),
        ("", "03b", "03r", [Bonus.CHOK, Bonus.SSEUL]),
        ("03p 03q 03b 04p", "04r", "03r", [Bonus.STACK, Bonus.SSEUL]),
        ("03p 04p 05p", "04r", "03r", []),
    ],
)
def test_option_sseul_broad_takes_one_on_top_for_any_turn_that_empties_the_layout(
    layout: str, stock: str, action: str, taken: list[Bonus]
) -> None:
    state = position(hand="03r 11p", layout=layout, stock=stock, theirs="05q 06p 07p", options=BROAD)
    step = play(state, action)
    assert [bonus for bonus, _, _ in bonuses(step)] == taken
    assert len(step.state.table.captured[RIVAL]) == 3 - len(taken)


def test_option_sseul_broad_is_settled_after_everything_else_the_turn_takes() -> None:
    state = position(
        hand="03r 05p",
        layout="03p 03q 03b 04p",
        stock="04r",
        theirs="06p 11p 12p",
        ppuks_on_layout={3: ME},
        options=BROAD,
    )
    assert bonuses(play(state, "03r")) == [(Bonus.OWN_PPUK, 2, "06p 11p"), (Bonus.SSEUL, 1, "12p")]


def test_option_sseul_broad_does_not_hold_in_a_players_last_turn() -> None:
    state = position(hand="03r", layout="03p 04p", stock="04r", theirs="05q", options=BROAD)
    assert bonuses(play(state, "03r")) == []


@pytest.mark.parametrize(
    ("layout", "stock", "action"),
    [("01p 03p 03q", "03b", "03r*03p"), ("01p", "03b", "03r"), ("03p 04p", "04r", "03r")],
    ids=["ttadak", "chok", "sseul"],
)
def test_G9_nothing_is_taken_for_these_in_a_players_last_turn(layout: str, stock: str, action: str) -> None:
    last = play(position(hand="03r", layout=layout, stock=stock, theirs="05q"), action)
    assert bonuses(last) == []
    assert last.state.table.captured[RIVAL] == cards("05q")
    earlier = play(position(hand="03r 11p", layout=layout, stock=stock, theirs="05q"), action)
    assert len(bonuses(earlier)) == 1


def test_G9_a_player_without_junk_gives_none() -> None:
    step = play(position(hand="03r 05p", layout="01p", stock="03b", theirs="01b 09a 04r"), "03r")
    assert bonuses(step) == [(Bonus.CHOK, 1, "")]
    assert step.state.table.captured[RIVAL] == cards("01b 09a 04r")


# Stacks --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("owner", "bonus", "owed", "taken"),
    [(None, Bonus.STACK, 1, "05q"), (RIVAL, Bonus.STACK, 1, "05q"), (ME, Bonus.OWN_PPUK, 2, "05q 06p")],
    ids=["dealt", "the rival's", "own"],
)
@pytest.mark.parametrize("by", ["hand", "stock"])
@pytest.mark.parametrize("last_turn", [False, True])
def test_G10_a_captured_stack_takes_junk(
    *, owner: Seat | None, bonus: Bonus, owed: int, taken: str, by: str, last_turn: bool
) -> None:
    hand, stock = ("03r", "08q") if by == "hand" else ("08q", "03r")
    owners = {} if owner is None else {3: owner}
    state = position(
        hand=hand if last_turn else f"{hand} 11p",
        layout="03p 03q 03b 04p",
        stock=stock,
        theirs="05q 06p 07p",
        ppuks_on_layout=owners,
    )
    step = play(state, hand)
    assert captures(step) == ["03r 03p 03q 03b"]
    assert bonuses(step) == [(bonus, owed, taken)]
    assert step.state.table.stacks == ()


def test_G10_two_stacks_in_one_turn_are_settled_one_after_the_other_the_hand_cards_first() -> None:
    state = position(
        hand="04r 05p",
        layout="03p 03q 03b 04p 04q 04a",
        stock="03r",
        theirs="06p 11p 12p",
        ppuks_on_layout={4: ME},
    )
    step = play(state, "04r")
    assert bonuses(step) == [(Bonus.OWN_PPUK, 2, "06p 11p"), (Bonus.STACK, 1, "12p")]
    assert captures(step) == ["04r 04p 04q 04a", "03r 03p 03q 03b"]


def test_G10_two_stacks_in_the_other_order_take_otherwise() -> None:
    state = position(
        hand="03r 05p",
        layout="03p 03q 03b 04p 04q 04a",
        stock="04r",
        theirs="06p 11p 12p",
        ppuks_on_layout={4: ME},
    )
    assert bonuses(play(state, "03r")) == [(Bonus.STACK, 1, "06p"), (Bonus.OWN_PPUK, 2, "11p")]


def test_G10_a_stack_waits_for_its_owner_while_a_stock_choice_is_open() -> None:
    state = position(
        hand="03r 05p",
        layout="03p 03q 03b 01p 01q",
        stock="01b",
        theirs="06p 07p",
        ppuks_on_layout={3: ME},
    )
    asked = play(state, "03r")
    assert asked.state.table.stacks == (Stack(3, ME),)
    chosen = play(asked.state, "*01p")
    assert bonuses(chosen) == [(Bonus.OWN_PPUK, 2, "06p 07p")]
    assert chosen.state.table.stacks == ()


def test_a_ppuk_made_in_play_belongs_to_its_maker_until_somebody_captures_it() -> None:
    state = position(hand="03r 05p", rival="03q 06q", layout="03p", stock="03b 08p 11s", mine="01p 01q")
    after = play(state, "03r", "03q")
    assert captures(after) == ["03q 03r 03p 03b"]
    assert bonuses(after) == [(Bonus.STACK, 1, "01p")]
    assert the(after, JunkTaken).seat == RIVAL


# What is taken -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pile", "owed", "taken"),
    [
        ("11s 05q 03p", 1, "03p"),  # the lowest card id
        ("11p 11s", 1, "11s"),  # single before double junk
        ("12p 11p", 1, "11p"),  # a double one if there is no other: it pays more than is owed
        ("03p 05q 11p", 2, "03p 05q"),
        ("12p 03p", 2, "03p 12p"),  # {1, 2} against two units: both cards go
        ("12p 11p", 2, "11p"),  # a double one pays two units
        ("03p", 2, "03p"),  # until no junk is left
        ("01b 02a 04r 09a", 2, ""),  # neither other kinds nor the cup
    ],
)
def test_G11_what_is_taken(pile: str, owed: int, taken: str) -> None:
    assert junk_to_take(cards(pile), owed) == cards(taken)


def test_G11_the_cup_is_not_taken_even_where_it_counts_as_junk() -> None:
    eight = "01p 01q 02p 02q 03p 03q 04p 04q"
    state = position(hand="05r 05p", layout="06q", stock="05q", theirs=f"09a {eight}")
    assert state.table.scores[RIVAL].cup_is_junk
    step = play(state, "05r")
    assert bonuses(step) == [(Bonus.CHOK, 1, "01p")]
    assert "09a" in step.state.table.captured[RIVAL]


def test_G11_what_is_taken_joins_the_takers_captured_cards() -> None:
    step = play(position(hand="03r 05p", layout="01p", stock="03b", mine="06q", theirs="05q 06p"), "03r")
    assert step.state.table.captured == (cards("06q 03b 03r 05q"), cards("06p"))


# The third ppuk ------------------------------------------------------------------------------------------------------


def test_G12_the_third_ppuk_scores_five_and_ends_the_deal() -> None:
    state = position(hand="03r 05p", layout="01p 03p", stock="03b", ppuks=(2, 2))
    step = play(state, "03r")
    assert the(step, PpukMade).count == 3
    assert step.events[-1] == ThreePpuk(ME, 5)
    assert GO_STOP.outcome(step.state) == Outcome("three-ppuk", (5, 0))
    assert GO_STOP.awaiting(step.state) == frozenset()


def test_G12_the_second_ppuk_does_not() -> None:
    step = play(position(hand="03r 05p", layout="01p 03p", stock="03b", ppuks=(1, 2)), "03r")
    assert the(step, PpukMade).count == 2
    assert GO_STOP.outcome(step.state) is None


def test_G12_no_go_bonus_and_no_doubling() -> None:
    options = {"go_bak": "on", "nagari": "doubles"}
    state = position(
        hand="03r 05p",
        layout="01p 03p",
        stock="03b",
        mine="01b 08b 11b",
        ppuks=(2, 0),
        goes=(3, 1),
        go_points=(7, 7),
        carry=2,
        options=options,
    )
    assert GO_STOP.outcome(play(state, "03r").state) == Outcome("three-ppuk", (5, 0))


def test_G12_ppuks_are_counted_for_each_player() -> None:
    state = position(hand="03r 05p", rival="04r 06q", layout="03p 04p", stock="03b 04a 11s", ppuks=(1, 1))
    step = play(state, "03r", "04r")
    assert step.state.table.ppuks == (2, 2)
    assert GO_STOP.outcome(step.state) is None


# Scores are judged anew ----------------------------------------------------------------------------------------------


def test_G14_the_cup_is_judged_anew_after_a_capture() -> None:
    state = position(hand="05p 06p", layout="05q", stock="11s", mine="09a 01p 01q 02p 02q 03p 03q 04p")
    assert not state.table.scores[ME].cup_is_junk
    changed = the(play(state, "05p"), ScoreChanged)  # seven single junk and the cup become nine and the cup
    assert changed.score.cup_is_junk
    assert changed.made == (Combo.JUNK,)
    assert changed.score.points == 2


def test_G14_the_cup_is_judged_anew_after_a_transfer() -> None:
    state = position(hand="05r 06p", layout="06q", stock="05q", theirs="09a 01p 01q 02p 02q 03p 03q 04p 04q")
    assert state.table.scores[RIVAL].cup_is_junk
    changed = the(play(state, "05r"), ScoreChanged)  # a chok takes one of eight
    assert changed.seat == RIVAL
    assert (changed.score.cup_is_junk, changed.score.points) == (False, 0)
    assert (changed.made, changed.lost) == ((), (Combo.JUNK,))


def test_a_combination_worth_more_is_told_as_made_and_one_worth_less_as_lost() -> None:
    more = play(position(hand="05r 06p", layout="05q", stock="11s", mine="01r 02r 04r 06r 09r"), "05r")
    assert the(more, ScoreChanged).made == (Combo.RIBBONS,)
    junk = "01p 01q 02p 02q 03p 03q 04p 04q 06p 06q 07p"
    fewer = play(position(hand="05r 08q", layout="11s", stock="05q", theirs=junk), "05r")
    assert the(fewer, ScoreChanged).lost == (Combo.JUNK,)


def test_a_better_bright_combination_replaces_the_one_before() -> None:
    step = play(position(hand="08b 06p", layout="08p", stock="11s", mine="01b 03b 12b"), "08b")
    changed = the(step, ScoreChanged)
    assert (changed.made, changed.lost) == ((Combo.FOUR_BRIGHTS,), (Combo.RAIN_THREE_BRIGHTS,))


def test_an_illegal_action_changes_nothing_and_says_why() -> None:
    state = position(hand="03r 05p", layout="03p 03q", stock="07p")
    with pytest.raises(IllegalAction) as refused:
        play(state, "03r")
    assert refused.value.refusal.code == "take-needed"
    assert legal(state) == ["03r*03p", "03r*03q", "05p"]
