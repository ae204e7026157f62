"""K1 to K3: dealing, the opening checks, redeals."""

from __future__ import annotations

from random import Random

import pytest

from engine import match
from engine.game import BadDeck, Outcome, Seat
from engine.koi_koi import KOI_KOI
from engine.koi_koi.types import BoardRedeal, Combination, Dealt, HandsRedeal, Opening, OpeningScored
from tests.engine.koi_koi.scenes import FIRST, SECOND, act, cards, deal, deck, legal, only, outcome, shuffled

QUAD = "01b 01r 01p 01q"
PAIRS = "02a 02r 03b 03r 04a 04r 05a 05r"
MIXED = "06a 07a 08b 09a 10a 11b 12b 08a"
OTHER_MIXED = "06r 07r 08p 09r 10r 11a 12p 12q"


def test_K1_eight_cards_each_eight_on_the_board_and_24_in_the_stock() -> None:
    dealt = deal(deck()).state
    assert [len(hand) for hand in dealt.hands] == [8, 8]
    assert len(dealt.table.board) == 8
    assert len(dealt.stock) == dealt.table.stock == 24


@pytest.mark.parametrize("first", [FIRST, SECOND])
def test_K1_the_deck_gives_to_the_first_player_then_the_second_then_the_board_then_the_stock(first: Seat) -> None:
    order = shuffled(Random(5))
    dealt = deal(order, first).state
    assert set(dealt.hands[first]) == set(order[:8])
    assert set(dealt.hands[1 - first]) == set(order[8:16])
    assert dealt.table.board == order[16:24]
    assert dealt.stock == order[24:]
    assert dealt.table.turn == dealt.table.first == first


def test_K1_the_first_player_of_a_match_is_the_drawn_seat() -> None:
    assert [KOI_KOI.first_beginner({}, seat) for seat in (FIRST, SECOND)] == [FIRST, SECOND]


def test_K1_a_deck_with_a_card_missing_twice_or_foreign_is_refused() -> None:
    whole = deck()
    for bad in (whole[:-1], (*whole[:-1], whole[0]), (*whole[:-1], "11q")):
        with pytest.raises(BadDeck):
            KOI_KOI.deal(KOI_KOI.complete_options({}), bad, FIRST)  # type: ignore[arg-type]


def test_K1_hands_stand_in_card_order_so_nothing_tells_how_they_were_dealt() -> None:
    order = shuffled(Random(5))
    swapped = (*order[7::-1], *order[15:7:-1], *order[16:])
    assert deal(order).state == deal(swapped).state


@pytest.mark.parametrize(
    ("board", "opening"),
    [
        (f"{QUAD} 02a 03r 04p 05q", Opening(Combination.FOUR_OF_A_MONTH, cards(QUAD))),
        (PAIRS, Opening(Combination.FOUR_PAIRS, cards(PAIRS))),
        (f"{QUAD} 02a 02r 03b 03r", Opening(Combination.FOUR_OF_A_MONTH, cards(QUAD))),
        (f"{QUAD} 03b 03r 03p 03q", Opening(Combination.FOUR_OF_A_MONTH, cards(f"{QUAD} 03b 03r 03p 03q"))),
    ],
    ids=["four of a month", "2-2-2-2", "4-2-2", "4-4"],
)
def test_K2_a_board_with_a_combination_is_redealt(board: str, opening: Opening) -> None:
    dealt = deal(deck(board=board))
    assert dealt.events[1:] == (BoardRedeal(opening),)
    assert outcome(dealt.state) == Outcome("redeal", (0, 0))


@pytest.mark.parametrize(
    "board",
    ["01b 01r 01p 02a 02r 03b 03r 04a", "01b 01r 01p 02a 02r 02p 03b 03r", "01b 01r 02a 02r 03b 03r 04a 05a"],
    ids=["3-2-2-1", "3-3-2", "2-2-2-1-1"],
)
def test_K2_three_of_a_month_and_three_pairs_are_no_combination(board: str) -> None:
    assert deal(deck(lead=MIXED, reply=OTHER_MIXED, board=board)).events[1:] == ()


def test_K2_a_redealt_board_leaves_the_hands_unlooked_at_and_hidden() -> None:
    dealt = deal(deck(lead=f"{QUAD} 06a 07a 08b 09a", board=PAIRS))
    assert isinstance(dealt.events[1], BoardRedeal)
    assert dealt.state.table.shown == (None, None)
    assert KOI_KOI.view(dealt.state, SECOND).hand == dealt.state.hands[SECOND]


def test_K2_two_hands_with_a_combination_are_redealt_and_shown() -> None:
    dealt = deal(deck(lead=f"{QUAD} 06a 07a 08b 09a", reply=PAIRS))
    redeal = only(HandsRedeal, dealt.events)
    assert redeal.openings == (
        Opening(Combination.FOUR_OF_A_MONTH, cards(QUAD)),
        Opening(Combination.FOUR_PAIRS, cards(PAIRS)),
    )
    assert redeal.hands == dealt.state.hands == dealt.state.table.shown
    assert outcome(dealt.state) == Outcome("redeal", (0, 0))


@pytest.mark.parametrize("first", [FIRST, SECOND])
@pytest.mark.parametrize("holder", [FIRST, SECOND])
@pytest.mark.parametrize(
    ("hand", "made_by", "reason"),
    [
        (f"{QUAD} 02a 03r 04p 05q", QUAD, "four-of-a-month"),
        (PAIRS, PAIRS, "four-pairs"),
        (f"{QUAD} 02a 02r 03b 03r", QUAD, "four-of-a-month"),
        (f"{QUAD} 02a 02r 02p 02q", f"{QUAD} 02a 02r 02p 02q", "four-of-a-month"),
    ],
    ids=["four of a month", "four pairs", "both kinds", "four of a month twice"],
)
def test_K2_one_hand_with_a_combination_scores_six_once_and_is_shown(
    first: Seat, holder: Seat, hand: str, made_by: str, reason: str
) -> None:
    whole = deck(lead=hand, reply=MIXED) if holder == first else deck(lead=MIXED, reply=hand)
    dealt = deal(whole, first)
    scores = (6, 0) if holder == FIRST else (0, 6)
    assert outcome(dealt.state) == Outcome(reason, scores)
    scored = only(OpeningScored, dealt.events)
    assert scored == OpeningScored(holder, Opening(Combination(reason), cards(made_by)), dealt.state.hands[holder], 6)


@pytest.mark.parametrize("viewer", [FIRST, SECOND, None])
def test_K2_winner_loser_and_spectator_see_the_winning_hand_and_only_that(viewer: Seat | None) -> None:
    dealt = deal(deck(lead=PAIRS, reply=MIXED), first=SECOND).state
    view = KOI_KOI.view(dealt, viewer)
    assert view.table.shown == (None, tuple(sorted(cards(PAIRS), key=KOI_KOI.cards.index)))
    assert view.hand == (None if viewer is None else dealt.hands[viewer])


@pytest.mark.parametrize(
    "whole", [deck(board=PAIRS), deck(lead=PAIRS), deck(lead=PAIRS, reply=f"{QUAD} 06a 07a 08b 09a")]
)
def test_K2_nobody_can_act_once_an_opening_check_ended_the_deal(whole: tuple[str, ...]) -> None:
    dealt = deal(whole).state  # type: ignore[arg-type]
    assert KOI_KOI.awaiting(dealt) == frozenset()
    assert legal(dealt) == []


def test_K2_the_opening_check_follows_the_announcement_of_the_deal() -> None:
    dealt = deal(deck(lead=PAIRS))
    assert [type(event) for event in dealt.events] == [Dealt, OpeningScored]


@pytest.mark.parametrize("redealt", [deck(board=PAIRS), deck(lead=PAIRS, reply=f"{QUAD} 06a 07a 08b 09a")])
def test_K3_a_redeal_does_not_count_and_the_first_player_stays(redealt: tuple[str, ...]) -> None:
    began = match.begin(KOI_KOI, {"deals": 3})
    once = match.deal(KOI_KOI, began, redealt, SECOND).match  # type: ignore[arg-type]
    again = match.deal(KOI_KOI, once, deck(), FIRST).match
    assert (again.deal, again.attempt, again.beginner) == (1, 2, SECOND)
    assert again.totals == (0, 0)


def test_K3_a_score_of_an_opening_check_counts_as_a_deal() -> None:
    began = match.begin(KOI_KOI, {"deals": 3})
    scored = match.deal(KOI_KOI, began, deck(lead=PAIRS), FIRST).match
    assert scored.totals == (6, 0)
    assert match.upcoming(scored) == (2, 1)


def test_an_ordinary_deal_is_announced_and_nothing_else() -> None:
    dealt = deal(deck())
    (event,) = dealt.events
    assert isinstance(event, Dealt)
    assert event.hands == dealt.state.hands
    assert act(dealt.state, legal(dealt.state)[0]).state.table.outcome is None
