"""The flat deal keeps the rules, draws the same worlds, and the quick player knows no more than a player does."""

from __future__ import annotations

from random import Random

import pytest

from engine.go_stop import GO_STOP, scoring
from engine.go_stop.flat import (
    ALL,
    MONTH_OF,
    ORDER,
    SAME_AS,
    Seen,
    flat_move,
    flat_pile,
    flat_state,
    flat_table,
    points,
)
from engine.go_stop.playout import quick_move
from engine.go_stop.sight import resample
from engine.go_stop.types import CARDS, Phase
from tests.engine.go_stop.differential import play_together, random_deal, random_state


@pytest.mark.parametrize("seed", range(300))
def test_legal_moves_positions_and_results_are_those_of_the_rules(seed: int) -> None:
    assert play_together(seed) > 0


@pytest.mark.long
def test_legal_moves_positions_and_results_are_those_of_the_rules_in_very_many_deals() -> None:
    assert sum(play_together(seed) for seed in range(100_000)) > 1_000_000


def test_every_card_has_one_bit_and_its_month() -> None:
    assert sorted(ORDER) == sorted(CARDS)
    for card in CARDS:
        assert MONTH_OF[flat_pile([card])] == flat_pile([other for other in CARDS if other[:2] == card[:2]])


@pytest.mark.parametrize("seed", range(200))
def test_piles_score_as_the_rules_score_them(seed: int) -> None:
    rng = Random(seed)
    for size in range(len(CARDS) + 1):
        pile = rng.sample(CARDS, size)
        assert points(flat_pile(pile)) == scoring.points(scoring.pile_of(pile)), pile


def test_the_cup_is_worth_what_the_rules_say_with_any_animals_and_junk() -> None:
    """G14: what makes the difference are the numbers, so all of them are tried."""
    animals = [card for card in CARDS if card[2] == "a"]
    junk = [card for card in CARDS if card[2] in "pqs"]
    animals.sort(key=lambda card: card != scoring.CUP)
    for held in range(1, len(animals) + 1):
        for units in range(len(junk) + 1):
            pile = [*animals[:held], *junk[:units]]
            assert points(flat_pile(pile)) == scoring.points(scoring.pile_of(pile)), pile


@pytest.mark.parametrize("seed", range(60))
def test_worlds_are_those_of_resample(seed: int) -> None:
    """Uniform over what fits the view, because ``sight.resample`` is; its tests compare that with an enumeration."""
    state = random_state(Random(seed))
    view = GO_STOP.view(state, state.table.turn)
    mine, theirs = Seen(view).sample(Random(seed)), flat_state(resample(view, Random(seed)))
    assert (mine.hands, mine.stock) == (theirs.hands, theirs.stock)


@pytest.mark.parametrize("seed", range(100))
def test_cards_that_stand_for_each_other_come_to_the_same(seed: int) -> None:
    """Plain junk of a month is worth the same on any way to the end that treats it alike."""
    rng = Random(seed)
    state = random_state(rng)
    flat = flat_state(state)
    groups: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for card, taken in flat.legal():
        groups.setdefault((SAME_AS.get(card, card), SAME_AS.get(taken, taken)), []).append((card, taken))
    for members in groups.values():
        results = []
        for move in members:
            deal = flat.copy()
            deal.apply(move)
            results.append((deal.phase, list(map(points, deal.piles)), deal.ppuks, deal.winnings))
        assert all(result == results[0] for result in results)


@pytest.mark.parametrize("seed", range(60))
def test_the_quick_player_does_the_same_whatever_it_cannot_see(seed: int) -> None:
    rng = Random(seed)
    state = random_state(rng)
    view = GO_STOP.view(state, state.table.turn)
    assert len({quick_move(Seen(view).sample(rng)) for _ in range(5)}) == 1


@pytest.mark.parametrize("seed", range(40))
def test_the_quick_player_makes_legal_moves_to_the_end(seed: int) -> None:
    state = random_deal(Random(seed))
    while GO_STOP.awaiting(state):
        legal = {
            flat_move(action, flat_table(state.table).layout): action
            for action in GO_STOP.legal_at(state, state.table.turn)
        }
        state = GO_STOP.apply(state, state.table.turn, legal[quick_move(flat_state(state))]).state
    assert state.table.phase is Phase.OVER


def test_all_cards_are_in_a_world() -> None:
    state = random_state(Random(1))
    world = Seen(GO_STOP.view(state, state.table.turn)).sample(Random(2))
    pending = world.card | world.matched | world.revealed if world.phase is Phase.CHOOSE else 0
    cards = [*world.hands[0], *world.hands[1], *world.stock, *world.piles, world.layout | pending]
    assert sum(cards) == ALL
