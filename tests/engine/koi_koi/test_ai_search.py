"""The levels that search: what worlds they look at, and what they make of them."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from msgspec.structs import replace

from engine.game import Budget, Card, Level
from engine.koi_koi import KOI_KOI, search
from engine.koi_koi.rules import opening_in
from engine.koi_koi.types import Reason, State, View
from engine.koi_koi.worths import PLACES
from tests.engine.koi_koi.scenes import FIRST, act, deal, deck, legal, random_play, shuffled

HARD = Budget(Level.HARD, 400)


def drawn(view: View, rng: Random) -> tuple[frozenset[Card], tuple[Card, ...]]:
    """A world as the search draws it: the other player's hand, and the stock."""
    cards = [PLACES[place] for place in search.worlds_of(view)(rng)]
    held = view.table.hand_sizes[1 - view.table.turn]
    return frozenset(cards[:held]), tuple(cards[held:])


def late_position() -> State:
    """A position in which the other player holds one card, before the last turn but one."""
    rng = Random(4)
    while True:
        state = deal(shuffled(rng), FIRST).state
        while KOI_KOI.outcome(state) is None:
            if state.table.hand_sizes[1 - state.table.turn] == 1 and len(legal(state)) > 1:
                return state
            state = act(state, rng.choice([each for each in legal(state) if each != "stop"] or ["stop"])).state


def test_worlds_hold_exactly_the_cards_out_of_sight() -> None:
    for state, _, _ in random_play(Random(1)):
        view = KOI_KOI.view(state, state.table.turn)
        hand, stock = drawn(view, Random(2))
        theirs = state.hands[1 - state.table.turn]
        assert sorted((*hand, *stock)) == sorted((*theirs, *state.stock))
        assert (len(hand), len(stock)) == (len(theirs), len(state.stock))


def test_K2_a_drawn_hand_would_not_have_ended_the_deal() -> None:
    """The other player has played four cards that are the half of four pairs, or of two months."""
    start = deal(deck(lead="12p 12q 11a 10a 09a 08b 07a 06a", board="01p 02p 03p 04p 05p 06p 07p 08p")).state
    pairs = tuple(KOI_KOI.cards[month * 4] for month in range(4))
    view = KOI_KOI.view(start, FIRST)
    table = replace(view.table, hand_sizes=(8, 4), played=((), pairs))
    narrow = replace(view, table=replace(table, board=(*table.board, *pairs)))
    rng = Random(3)
    assert all(opening_in((*drawn(narrow, rng)[0], *pairs)) is None for _ in range(5000))


def test_worlds_are_drawn_as_often_as_resample_draws_them() -> None:
    """Each card out of sight is the one card held equally often, and so in the second place of the stock."""
    state = late_position()
    view = KOI_KOI.view(state, state.table.turn)
    rng, draws = Random(5), 6000
    held: Counter[str] = Counter()
    second: Counter[str] = Counter()
    reference: Counter[str] = Counter()
    for _ in range(draws):
        hand, stock = drawn(view, rng)
        held.update(hand)
        second[stock[1]] += 1
        reference.update(KOI_KOI.resample(view, rng).hands[1 - state.table.turn])
    assert held.keys() == reference.keys()
    for counter in (held, second, reference):
        expected = draws / len(counter)
        chi_square = sum((seen - expected) ** 2 / expected for seen in counter.values())
        assert chi_square < 3 * len(counter), "beyond the 0.1 % point for so many cards"


def test_a_search_says_what_every_legal_action_is_worth() -> None:
    state = deal(shuffled(Random(9)), FIRST).state
    view = KOI_KOI.view(state, FIRST)
    found = KOI_KOI.think(view, KOI_KOI.legal(view), Random(1), HARD)
    assert list(found.values) == legal(state)
    assert len(set(found.values.values())) > 1


def test_moves_that_differ_only_in_which_plain_of_a_month_are_worth_the_same() -> None:
    state = deal(deck(lead="12p 12q 12s 01p 01q 02a 03r 09a", board="11p 10p 09p 08p 07p 06p 05p 04p")).state
    view = KOI_KOI.view(state, FIRST)
    values = KOI_KOI.think(view, KOI_KOI.legal(view), Random(1), HARD).values
    assert values["12p"] == values["12q"] == values["12s"]
    assert values["01p"] == values["01q"]
    assert values["12p"] != values["01p"]


@pytest.mark.parametrize("level", [Level.HARD, Level.EXPERT])
def test_stop_is_worth_exactly_its_score_and_koi_is_played_out(level: Level) -> None:
    decisions = 0
    for seed in range(60):
        for state, _, _ in random_play(Random(seed)):
            if legal(state) == ["koi", "stop"]:
                view = KOI_KOI.view(state, state.table.turn)
                found = KOI_KOI.think(view, KOI_KOI.legal(view), Random(seed), Budget(level, 400))
                assert found.values["stop"] == pytest.approx(view.table.standings[view.table.turn].score)
                assert found.reason is not None
                assert found.reason.code in {Reason.TAKES_POINTS, Reason.HOPES_FOR_MORE}
                decisions += 1
    assert decisions > 10


def test_a_search_repeats_itself_for_a_seed_and_a_budget_and_heeds_both() -> None:
    state = deal(shuffled(Random(3)), FIRST).state
    view = KOI_KOI.view(state, FIRST)

    def values(seed: int, rollouts: int) -> dict[str, float]:
        return KOI_KOI.think(view, KOI_KOI.legal(view), Random(seed), Budget(Level.HARD, rollouts)).values

    assert values(1, 300) == values(1, 300)
    assert values(1, 300) != values(2, 300)
    assert values(1, 300) != values(1, 600)


def test_without_its_kernel_expert_plays_as_hard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "KERNEL", None)
    state = deal(shuffled(Random(3)), FIRST).state
    view = KOI_KOI.view(state, FIRST)
    hard, expert = (
        KOI_KOI.think(view, KOI_KOI.legal(view), Random(1), Budget(level)) for level in (Level.HARD, Level.EXPERT)
    )
    assert hard == expert
    assert not KOI_KOI.kernel_available()
