"""The searching levels and the yardstick: what they consider, what they say, and what they may depend on."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from engine.game import Budget, Level, Message, Thought
from engine.go_stop import GO_STOP, kernel, search
from engine.go_stop.search import own_rollouts
from engine.go_stop.types import Action, Choose, Go, Phase, Play, Reason, State, Stop
from tests.engine.go_stop.differential import random_deal, random_state
from tests.engine.go_stop.positions import ME, cards, play, position

SEARCHING = pytest.mark.parametrize("level", [Level.HARD, Level.EXPERT])


def thought(state: State, level: Level, rollouts: int | None = 400, seed: int = 1) -> Thought[Action]:
    seat = state.table.turn
    return GO_STOP.think(
        GO_STOP.view(state, seat), GO_STOP.legal_at(state, seat), Random(seed), Budget(level, rollouts)
    )


def whole(hand: str, rival: str, layout: str, mine: str, theirs: str, **table: Any) -> State:
    """A position with all 48 cards: whatever is not named is the stock, a card for each hand card; the rest of it the
    other player has captured.
    """
    named = cards(f"{hand} {rival} {layout} {mine} {theirs}")
    left = [card for card in GO_STOP.cards if card not in named]
    turns = len(cards(hand)) + len(cards(rival))
    return position(
        hand=hand,
        rival=rival,
        layout=layout,
        stock=" ".join(left[:turns]),
        mine=mine,
        theirs=" ".join([*theirs.split(), *left[turns:]]),
        played=tuple(tuple(left[: 10 - len(cards(held))]) for held in (hand, rival)),
        **table,
    )


# What is searched ----------------------------------------------------------------------------------------------------


@SEARCHING
@pytest.mark.parametrize("seed", range(20))
def test_every_legal_action_has_a_value_and_a_choice_its_reason(level: Level, seed: int) -> None:
    state = random_state(Random(seed))
    found = thought(state, level, 100)
    assert found.values.keys() == {GO_STOP.text(action) for action in GO_STOP.legal_at(state, state.table.turn)}
    assert found.reason is not None
    assert found.reason.code in set(Reason)


@SEARCHING
@pytest.mark.parametrize(
    ("phase", "kinds"), [(Phase.PLAY, {Play}), (Phase.CHOOSE, {Choose}), (Phase.DECIDE, {Go, Stop})]
)
def test_every_kind_of_decision_is_searched(level: Level, phase: Phase, kinds: set[type[Action]]) -> None:
    state = random_state_in(phase, Random(3))
    rng = Random(1)
    seat = state.table.turn
    found = GO_STOP.think(GO_STOP.view(state, seat), GO_STOP.legal_at(state, seat), rng, Budget(level, 40))
    assert {type(GO_STOP.parse(text)) for text in found.values} == kinds
    assert rng.getstate() != Random(1).getstate()


def random_state_in(phase: Phase, rng: Random) -> State:
    while True:
        state = random_state(rng)
        if state.table.phase is phase:
            return state


@SEARCHING
def test_stopping_is_worth_what_it_pays(level: Level) -> None:
    """G17: nothing about it is uncertain."""
    rng = Random(5)
    for _ in range(5):
        state = random_state_in(Phase.DECIDE, rng)
        paid = GO_STOP.outcome(GO_STOP.apply(state, state.table.turn, Stop()).state)
        assert paid is not None
        assert thought(state, level).values["stop"] == max(paid.scores)


@SEARCHING
def test_equal_cards_have_equal_values(level: Level) -> None:
    state = whole("07p 07q 01b 09r", "03r 04r 05a 06a", "10r 12p", "02p 02q", "08p 08q")
    found = thought(state, level)
    assert found.values["07p"] == found.values["07q"]


@SEARCHING
def test_a_bright_that_doubles_what_is_lost_is_taken_before_junk(level: Level) -> None:
    """The other player has three brights and a score; one bright on this side halves what has to be paid (G18)."""
    state = whole("08p 10p", "04p 07p", "08b 10q", "02p 02q", "01b 03b 11b 02a 04a 05a 06a 07a 10a 12a")
    assert thought(state, level).action == Play(cards("08p")[0])


@SEARCHING
def test_the_only_action_needs_no_thought_and_no_dice(level: Level) -> None:
    rng = Random(1)
    state = position(hand="03r", layout="05p")
    found = GO_STOP.think(GO_STOP.view(state, ME), GO_STOP.legal_at(state, ME), rng, Budget(level))
    assert found.reason == Message(Reason.ONLY_ACTION)
    assert rng.getstate() == Random(1).getstate()


@SEARCHING
@pytest.mark.parametrize("seed", range(5))
def test_a_hopeless_go_is_not_called(level: Level, seed: int) -> None:
    """The other player stops with the next card whatever happens, and a stop now pays."""
    state = whole(
        "07a 11q",
        "01p 12p",
        "07p 01r",
        "02a 04a 08a 05a 06a 02p 04p",
        "01b 03b 08b 02r 03r 06r 09r 12b",
    )
    asked = play(state, "07a").state
    assert asked.table.phase is Phase.DECIDE
    assert thought(asked, level, seed=seed).action == Stop()


# Budgets -------------------------------------------------------------------------------------------------------------


@SEARCHING
def test_the_same_seed_and_budget_think_the_same(level: Level) -> None:
    state = random_state(Random(9))
    assert thought(state, level) == thought(state, level)


@SEARCHING
def test_a_single_rollout_keeps_what_one_turn_shows(level: Level) -> None:
    """Too little search is worse than none, so it changes nothing."""
    for seed in range(20):
        state = random_state(Random(seed))
        assert thought(state, level, 1).action == thought(state, Level.MEDIUM).action


def test_the_levels_own_number_grows_as_deals_get_shorter() -> None:
    state = random_deal(Random(1))
    early = GO_STOP.view(state, state.table.turn)
    late = GO_STOP.view(whole("01p 02p", "03p 04p", "05p 06p", "", ""), ME)
    assert own_rollouts(Level.HARD, early) == search.HARD_TURNS // 20
    assert own_rollouts(Level.HARD, late) == search.HARD_TURNS // 4


def test_the_game_says_whether_its_search_is_compiled() -> None:
    assert GO_STOP.kernel_available() == (kernel.KERNEL is not None)


def test_expert_plays_hard_where_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "KERNEL", None)
    for seed in range(5):
        state = random_state(Random(seed))
        assert thought(state, Level.EXPERT, None) == thought(state, Level.HARD, None)


# The yardstick -------------------------------------------------------------------------------------------------------


def greedy(state: State) -> str:
    seat = state.table.turn
    action: Action = GO_STOP.yardsticks["greedy"](GO_STOP.view(state, seat), GO_STOP.legal_at(state, seat))
    return GO_STOP.text(action)


def test_greedy_takes_the_dearest_cards() -> None:
    assert greedy(position(hand="08p 01p 06q", layout="08b 01q 05p")) == "08p"


def test_greedy_raises_its_score_before_that() -> None:
    assert greedy(position(hand="08p 01p", layout="08a 01b", mine="02a 04a")) == "08p"


def test_greedy_keeps_the_other_player_from_raising_theirs() -> None:
    assert greedy(position(hand="08p 01p", layout="08a 01b", theirs="02a 04a")) == "08p"


def test_greedy_discards_what_counts_least() -> None:
    assert greedy(position(hand="08b 02a 05r 11p 06q", layout="01q")) == "06q"


def test_greedy_chooses_the_dearer_of_two_for_the_stock_card() -> None:
    asked = play(position(hand="05p 06q", layout="01r 01b", stock="01p"), "05p").state
    assert greedy(asked) == "*01b"


def test_greedy_always_stops() -> None:
    assert greedy(play(position(hand="07a 10p", layout="07p", mine="02a 04a 08a 05a 06a"), "07a").state) == "stop"
