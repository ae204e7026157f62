"""The compiled kernel keeps the rules, plays as the Python rollouts, draws worlds fairly, and trusts no bytes."""

from __future__ import annotations

import struct
from collections import Counter
from itertools import combinations
from random import Random
from typing import Any

import pytest

from engine.game import Budget, Level, Thought
from engine.go_stop import GO_STOP, kernel, playout, search
from engine.go_stop.flat import MONTHS, Seen, flat_state
from engine.go_stop.types import Action
from tests.engine.go_stop.differential import play_together, random_deal, random_state

NATIVE: Any = kernel.KERNEL
pytestmark = pytest.mark.skipif(
    NATIVE is None, reason="the kernel of go-stop is not compiled here (python hatch_build.py)"
)


@pytest.mark.parametrize("first", range(0, 2000, 100))
def test_legal_moves_positions_and_results_are_those_of_the_rules(first: int) -> None:
    assert sum(play_together(seed, NATIVE) for seed in range(first, first + 100)) > 100


@pytest.mark.long
def test_legal_moves_positions_and_results_are_those_of_the_rules_in_very_many_deals() -> None:
    assert sum(play_together(seed, NATIVE) for seed in range(100_000)) > 1_000_000


@pytest.mark.parametrize("seed", range(150))
def test_rollouts_come_to_what_the_python_ones_come_to(seed: int) -> None:
    flat = flat_state(random_state(Random(seed)))
    assert list(kernel.outcomes(flat, flat.legal())) == playout.outcomes(flat, flat.legal())


@pytest.mark.parametrize("seed", range(25))
def test_hard_finds_the_same_with_the_kernel_and_without(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    state = random_state(Random(seed))
    with_kernel = thought(state, Level.HARD, 200)
    monkeypatch.setattr(search, "KERNEL", None)
    assert thought(state, Level.HARD, 200) == with_kernel


def thought(state: Any, level: Level, rollouts: int) -> Thought[Action]:
    seat = state.table.turn
    return GO_STOP.think(GO_STOP.view(state, seat), GO_STOP.legal_at(state, seat), Random(1), Budget(level, rollouts))


# Worlds --------------------------------------------------------------------------------------------------------------


def sampled(seen: Seen, seed: int) -> tuple[int, tuple[int, ...]]:
    """The other player's hand and the stock of a world."""
    world = NATIVE.sample(
        kernel.packed(seen.table), kernel.words(seen.unseen), seen.rival_cards, kernel.words(seen.impossible), seed
    )
    words = struct.unpack("=10Q15q20Q", world)
    return words[4 + seen.rival], words[25 : 25 + words[24]]


@pytest.mark.parametrize("seed", range(40))
def test_a_world_has_every_unseen_card_once(seed: int) -> None:
    state = random_state(Random(seed))
    seen = Seen(GO_STOP.view(state, state.table.turn))
    hand, stock = sampled(seen, seed)
    assert hand.bit_count() == seen.rival_cards
    assert hand | sum(stock) == sum(seen.unseen)
    assert len(stock) == len(seen.unseen) - seen.rival_cards
    assert not hand & sum(stock)


def late_view(seed: int) -> Seen:
    """A view late in a deal with few cards unseen, and a hand that is ruled out by what was played (G2)."""
    rng = Random(seed)
    while True:
        state = random_deal(rng)
        while GO_STOP.awaiting(state):
            seat = state.table.turn
            seen = Seen(GO_STOP.view(state, seat))
            if 2 <= seen.rival_cards <= 3 and any(rest.bit_count() <= seen.rival_cards for rest in seen.impossible):
                return seen
            state = GO_STOP.apply(state, seat, rng.choice(GO_STOP.legal_at(state, seat))).state


@pytest.mark.parametrize("seed", range(3))
def test_the_other_players_hand_is_drawn_evenly_from_all_that_are_possible(seed: int) -> None:
    seen = late_view(seed)
    possible = {
        sum(hand)
        for hand in combinations(seen.unseen, seen.rival_cards)
        if not any(rest & ~sum(hand) == 0 for rest in seen.impossible)
    }
    drawn = 60 * len(possible)
    counts = Counter(sampled(seen, number)[0] for number in range(drawn))
    assert set(counts) <= possible
    assert chi_square(counts, possible, drawn) < len(possible) + 5 * (2 * len(possible)) ** 0.5


def test_every_stock_card_is_next_equally_often() -> None:
    seen = late_view(5)
    seen.impossible = ()  # without ruled out hands every unseen card is alike
    drawn = 300 * len(seen.unseen)
    for place in (0, -1):
        counts = Counter(sampled(seen, number)[1][place] for number in range(drawn))
        assert chi_square(counts, set(seen.unseen), drawn) < len(seen.unseen) + 5 * (2 * len(seen.unseen)) ** 0.5


def chi_square(counts: Counter[int], possible: set[int], drawn: int) -> float:
    """Five standard deviations above its mean are allowed: one in two million."""
    expected = drawn / len(possible)
    return sum((counts[each] - expected) ** 2 / expected for each in possible)


def test_a_seed_draws_one_world_and_another_seed_another() -> None:
    state = random_deal(Random(1))
    seen = Seen(GO_STOP.view(state, state.table.turn))
    assert sampled(seen, 1) == sampled(seen, 1)
    assert sampled(seen, 1) != sampled(seen, 2)


# Bytes that are no deal ----------------------------------------------------------------------------------------------


def test_what_is_no_deal_is_refused() -> None:
    deal = kernel.packed(flat_state(random_deal(Random(1))))
    for wrong in (b"", deal[:-1], deal + b"\0", b"\xff" * len(deal)):
        with pytest.raises(ValueError, match="not a deal"):
            NATIVE.legal(wrong)


def test_what_is_not_legal_is_refused() -> None:
    flat = flat_state(random_deal(Random(1)))
    with pytest.raises(ValueError, match="not legal"):
        NATIVE.apply(kernel.packed(flat), MONTHS[0], 0)
    with pytest.raises(ValueError, match="not legal"):
        NATIVE.outcomes(kernel.packed(flat), kernel.words([0, 0]))


def test_a_month_that_rules_out_every_hand_is_refused_instead_of_tried_for_ever() -> None:
    state = random_state(Random(1))
    seen = Seen(GO_STOP.view(state, state.table.turn))
    with pytest.raises(ValueError, match="not possible"):
        NATIVE.sample(kernel.packed(seen.table), kernel.words(seen.unseen), seen.rival_cards, kernel.words([0]), 1)


def test_wrong_tables_are_refused_and_the_right_ones_work_again() -> None:
    right = kernel.tables(playout.WEIGHTS)
    for wrong in (b"", right[:-4], b"\xff" * len(right)):
        with pytest.raises(ValueError, match="not the tables"):
            NATIVE.configure(wrong)
    NATIVE.configure(right)
    assert NATIVE.legal(kernel.packed(flat_state(random_deal(Random(1)))))
