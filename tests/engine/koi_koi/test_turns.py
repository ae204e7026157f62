"""K4 to K6: the hand card, the stock card, and when yaku are looked at."""

from __future__ import annotations

import pytest

from engine.game import Seat
from engine.koi_koi import KOI_KOI
from engine.koi_koi.types import HandPlayed, Phase, StockPlaced, StockTurned, YakuMade
from tests.engine.koi_koi.scenes import FIRST, SECOND, act, cards, deal, deck, legal, only, position

IDLE_STOCK = "12s 11p"
"""Stock cards that match nothing in these positions."""


def test_K4_a_card_without_a_match_stays_on_the_board() -> None:
    step = act(position(("03r 12p", "12q"), "05a", IDLE_STOCK), "03r")
    assert step.events[0] == HandPlayed(FIRST, cards("03r")[0], ())
    assert step.state.table.board == cards("05a 03r 12s")
    assert step.state.table.captured == ((), ())


def test_K4_one_match_is_captured_with_the_card() -> None:
    step = act(position(("03r 12p", "12q"), "05a 03p", IDLE_STOCK), "03r")
    assert step.events[0] == HandPlayed(FIRST, cards("03r")[0], cards("03p"))
    assert step.state.table.captured == (cards("03r 03p"), ())
    assert step.state.table.board == cards("05a 12s")


def test_K4_of_two_matches_the_player_chooses_one() -> None:
    before = position(("03r", "12q"), "03q 05a 03p", IDLE_STOCK)
    assert legal(before) == ["03r*03p", "03r*03q"]
    step = act(before, "03r*03q")
    assert step.state.table.captured[FIRST] == cards("03r 03q")
    assert step.state.table.board == cards("05a 03p 12s")


def test_K4_three_matches_are_captured_together() -> None:
    before = position(("03r", "12q"), "03q 05a 03p 03b", IDLE_STOCK)
    assert legal(before) == ["03r"]
    step = act(before, "03r")
    assert step.events[0] == HandPlayed(FIRST, cards("03r")[0], cards("03q 03p 03b"))
    assert step.state.table.captured[FIRST] == cards("03r 03q 03p 03b")
    assert step.state.table.board == cards("05a 12s")


def test_K4_any_hand_card_may_be_played_whether_it_matches_or_not() -> None:
    before = position(("03r 04a 05r 12p", "12q"), "03p 05a 05p", IDLE_STOCK)
    assert legal(before) == ["03r", "04a", "05r*05a", "05r*05p", "12p"]


def test_K4_legal_moves_are_sorted_as_text_and_not_in_card_order() -> None:
    before = position(("01p 01b 01r 01q", "12q"), "05a", IDLE_STOCK)
    assert before.hands[FIRST] == cards("01b 01r 01p 01q")
    assert legal(before) == ["01b", "01p", "01q", "01r"]


def test_K5_the_stock_card_is_turned_also_after_a_play_without_a_match() -> None:
    step = act(position(("03r 12p", "12q"), "05a", IDLE_STOCK), "03r")
    assert [type(event) for event in step.events] == [HandPlayed, StockTurned, StockPlaced]
    assert step.state.stock == cards("11p")
    assert step.state.table.stock == 1
    assert step.state.table.turn == SECOND


def test_K5_the_stock_card_captures_one_match() -> None:
    step = act(position(("03r 12p", "12q"), "05a", "05p"), "03r")
    assert step.events[1:] == (
        StockTurned(FIRST, cards("05p")[0], ()),
        StockPlaced(FIRST, cards("05p")[0], cards("05a")),
    )
    assert step.state.table.captured[FIRST] == cards("05p 05a")


def test_K5_the_stock_card_may_capture_the_card_just_laid() -> None:
    step = act(position(("03r 12p", "12q"), "05a", "03q"), "03r")
    assert step.state.table.captured[FIRST] == cards("03q 03r")
    assert step.state.table.board == cards("05a")


def test_K5_of_two_matches_the_one_left_may_go_to_the_stock_card() -> None:
    step = act(position(("03r 12p", "12q"), "03p 03b 05a", "03q"), "03r*03b")
    assert step.state.table.captured[FIRST] == cards("03r 03b 03q 03p")


def test_K5_the_stock_card_captures_three_matches_together() -> None:
    step = act(position(("12p", "12q"), "03p 03b 03r 05a", "03q"), "12p")
    assert step.state.table.captured[FIRST] == cards("03q 03p 03b 03r")
    assert step.state.table.board == cards("05a 12p")


def test_K5_a_capture_by_hand_is_immediate_and_its_cards_are_no_match_for_the_stock_card() -> None:
    step = act(position(("03r 12p", "12q"), "03p 05a", "03q"), "03r")
    assert step.events[1:] == (StockTurned(FIRST, cards("03q")[0], ()), StockPlaced(FIRST, cards("03q")[0], ()))
    assert step.state.table.board == cards("05a 03q")


@pytest.mark.parametrize("turn", [FIRST, SECOND])
def test_K5_with_two_matches_the_player_chooses_and_everybody_sees_the_card(turn: Seat) -> None:
    step = act(position(("12p 11p", "12q 11a"), "05a 04a 05r", "05p", turn=turn), "12p" if turn == FIRST else "12q")
    waiting = step.state
    assert step.events[-1] == StockTurned(turn, cards("05p")[0], cards("05a 05r"))
    assert KOI_KOI.awaiting(waiting) == {turn}
    assert legal(waiting) == ["*05a", "*05r"]
    for viewer in (FIRST, SECOND, None):
        view = KOI_KOI.view(waiting, viewer)
        assert view.table.turned == "05p"
        assert "05p" not in view.table.board
        assert [KOI_KOI.text(action) for action in KOI_KOI.legal(view)] == (legal(waiting) if viewer == turn else [])
    chosen = act(waiting, "*05r")
    assert chosen.events[0] == StockPlaced(turn, cards("05p")[0], cards("05r"))
    assert chosen.state.table.captured[turn] == cards("05p 05r")
    assert chosen.state.table.board[:2] == cards("05a 04a")
    assert chosen.state.table.turn != turn


def test_K5_what_the_hand_card_captured_is_in_the_pile_while_the_stock_card_waits() -> None:
    waiting = act(position(("03r 12p", "12q"), "03p 05a 05r", "05p"), "03r").state
    assert KOI_KOI.view(waiting, SECOND).table.captured[FIRST] == cards("03r 03p")


def test_K6_a_yaku_made_with_the_hand_card_is_looked_at_after_the_stock_card() -> None:
    captured = ("07a 10a", "")
    waiting = act(position(("06a 12p", "12q"), "06p 05a 05r", "05p", captured), "06a")
    assert not [event for event in waiting.events if isinstance(event, YakuMade)]
    assert waiting.state.table.phase is Phase.CHOOSE
    assert waiting.state.table.standings[FIRST].total == 0
    decided = act(waiting.state, "*05a")
    assert only(YakuMade, decided.events).standing.total == 5
    assert legal(decided.state) == ["koi", "stop"]


def test_K6_both_captures_of_a_turn_count_together() -> None:
    step = act(position(("07a 12p", "12q"), "07p 06p", "06a", ("10a", "")), "07a")
    assert [made.yaku for made in only(YakuMade, step.events).gained] == ["boar-deer-butterfly"]


def test_no_hand_is_refilled_and_a_drawn_deal_leaves_eight_stock_cards() -> None:
    state = deal(deck()).state
    while KOI_KOI.outcome(state) is None:
        moves = legal(state)
        state = act(state, "koi" if "koi" in moves else moves[0]).state
        assert len(state.stock) - 8 == len(state.hands[0]) + len(state.hands[1])
