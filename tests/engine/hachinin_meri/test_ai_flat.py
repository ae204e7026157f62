"""The flat deal keeps the rules, draws the same worlds, and the quick player knows no more than a player does."""

from __future__ import annotations

from random import Random

import pytest

from engine.game import Seat
from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri.ahead import JUDGED, PROSPECTS, horizon, judged, plain_move, play_on
from engine.hachinin_meri.cards import CARDS, TRUMPS
from engine.hachinin_meri.flat import BITS, OVER, PASS, SUITS, TRUMP_SHIFT, Flat, flat_move, flat_state
from engine.hachinin_meri.quick import UNIT, quick_move
from engine.hachinin_meri.search import likenesses
from engine.hachinin_meri.seen import Seen
from engine.hachinin_meri.types import SEATS, TRICKS, State, View
from engine.hachinin_meri.worlds import Worlds
from engine.hachinin_meri.yardstick import greedy
from tests.engine.hachinin_meri.differential import awaited, play_together, random_deal, random_state
from tests.engine.hachinin_meri.positions import late, moved


def view_of(state: State) -> View:
    return GAME.view(state, awaited(state))


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_legal_moves_positions_and_results_are_those_of_the_rules(first: int) -> None:
    assert sum(play_together(seed) for seed in range(first, first + 50)) > 3000


@pytest.mark.long
def test_legal_moves_positions_and_results_are_those_of_the_rules_in_very_many_deals() -> None:
    assert sum(play_together(seed) for seed in range(100_000)) > 6_000_000


@pytest.mark.parametrize("trump", TRUMPS)
def test_H4_every_card_has_one_bit_and_trumps_lie_above(trump: str) -> None:
    bits = BITS[trump]
    assert set(bits) == set(CARDS)
    assert len(set(bits.values())) == len(CARDS)
    highest = max(bit for card, bit in bits.items() if card not in TRUMPS[trump])
    assert all(bits[card] > highest for card in TRUMPS[trump])


@pytest.mark.parametrize("seed", range(150))
def test_worlds_are_those_of_the_sampler(seed: int) -> None:
    """Which draws them evenly: its tests compare that with an enumeration."""
    view = view_of(random_state(Random(seed)))
    for number in range(3):
        mine, theirs = Seen(view).sample(Random(number)), flat_state(Worlds(view).draw(Random(number)))
        for field in Flat.__slots__:
            assert getattr(mine, field) == getattr(theirs, field), field


@pytest.mark.parametrize("seed", range(100))
def test_the_quick_player_does_the_same_whatever_it_cannot_see(seed: int) -> None:
    rng = Random(seed)
    seen = Seen(view_of(random_state(rng)))
    assert len({quick_move(seen.sample(rng)) for _ in range(5)}) == 1


@pytest.mark.parametrize("seed", range(40))
def test_the_quick_player_makes_legal_moves_to_the_end(seed: int) -> None:
    deal = flat_state(random_deal(Random(seed)))
    while deal.phase != OVER:
        move = quick_move(deal)
        assert move in deal.legal()
        deal.apply(move)


# Looking ahead ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(200))
def test_the_plain_player_is_the_yardstick(seed: int) -> None:
    """But for the suit, where plain cards of several suits are as low."""
    state = random_state(Random(seed))
    view = view_of(state)
    theirs = flat_move(greedy(view, GAME.legal(view)), state.table.okie[0])
    assert _height(plain_move(flat_state(state))) == _height(theirs)


def _height(move: int) -> int:
    return (move.bit_length() - 1) // len(SUITS) if 0 < move < 1 << TRUMP_SHIFT else move


@pytest.mark.parametrize("seed", range(60))
def test_a_card_is_followed_to_the_end_of_its_trick_and_the_last_tricks_to_the_end_of_the_deal(seed: int) -> None:
    deal = flat_state(random_state(Random(seed)))
    until = horizon(deal)
    assert until == (deal.settled + 1 if deal.settled < JUDGED else TRICKS)
    deal.apply(deal.legal()[0])
    value = play_on(deal, until, 0b1100_0101)
    assert deal.settled == until
    assert value == (UNIT * deal.points if deal.phase == OVER else judged(deal))


def test_a_deal_is_judged_by_the_trumps_that_are_left_in_hands() -> None:
    """Between two tricks: what is made already, half of what is to come, and more for who has the higher trumps."""
    state = late("K5", {0: "Ksu P1 P2", 1: "Kun P3 P4", 2: "P5 P6 P7", 3: "K9 I1 I2"})
    deal = flat_state(state)
    rows = PROSPECTS[deal.settled]
    others = [hand >> TRUMP_SHIFT for hand in deal.hands[4:]]
    assert not any(others)
    assert judged(deal) == UNIT * deal.points + 3 * UNIT // 2 + rows[0] - rows[1] - rows[2]


def test_the_teams_expectations_of_a_deal_make_nine() -> None:
    for seed in range(50):
        deal = flat_state(random_deal(Random(seed)))
        while deal.phase != OVER and deal.settled < JUDGED:
            deal.apply(quick_move(deal))
        turned = deal.copy()
        turned.hands = [deal.hands[seat ^ 1] for seat in range(SEATS)]
        turned.points = deal.settled - deal.points
        assert judged(deal) + judged(turned) == TRICKS * UNIT


@pytest.mark.parametrize("seed", range(150))
def test_moves_that_are_searched_as_one_come_to_the_same(seed: int) -> None:
    """The trick goes to the same seat for the same points, if all others play alike."""
    rng = Random(seed)
    state = random_state(rng)
    view = view_of(state)
    flat = flat_state(state)
    groups: dict[object, list[int]] = {}
    for move, key in zip(flat.legal(), likenesses(view, flat.legal()), strict=True):
        groups.setdefault(key, []).append(move)
    for members in groups.values():
        assert len({_trick_after(flat, move) for move in members}) == 1


def _trick_after(flat: Flat, move: int) -> tuple[int, int]:
    """Who is to go on, and the points, when the trick is full; the others play what is lowest."""
    deal = flat.copy()
    settled = deal.settled
    deal.apply(move)
    while deal.phase != OVER and deal.settled == settled and (deal.count or move == PASS):
        deal.apply(deal.legal()[0])
    return deal.turn, deal.points


def test_neighbours_are_one_unless_somebody_else_has_a_card_between_or_they_make_a_combination() -> None:
    state = moved(late("K5", {0: "P1 P2", 1: "I9 I8"}), "P1")
    view = GAME.view(state, Seat(1))
    moves = [flat_move(action, "K") for action in GAME.legal(view)]
    assert len(set(likenesses(view, moves))) == 1
    state = moved(late("K5", {0: "P1 P2", 1: "Ksu Kun"}), "P1")
    view = GAME.view(state, Seat(1))
    moves = [flat_move(action, "K") for action in GAME.legal(view)]
    assert len(set(likenesses(view, moves))) == 2
