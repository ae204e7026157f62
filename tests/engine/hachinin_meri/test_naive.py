"""The engine against the rules written down a second time (``naive``), under every option."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from engine.game import Seat
from engine.hachinin_meri import HACHININ_MERI as GAME
from tests.engine.hachinin_meri.naive import Move, Naive

HOUSES = [
    dict(zip(("monchi", "concealed_robai", "discard", "ninth_trick"), map(str, values), strict=True))
    for values in product(*(GAME.options[name] for name in ("monchi", "concealed_robai", "discard", "ninth_trick")))
]


def play(rng: Random, house: dict[str, str]) -> None:
    """A random deal in which every legal list and the scores must be the same."""
    deck, dealer = rng.sample(GAME.cards, 75), rng.randrange(8)
    state = GAME.deal(GAME.complete_options(house), deck, Seat(dealer)).state
    moves: list[Move] = []
    while awaited := sorted(GAME.awaiting(state)):
        naive = Naive(house, dealer, deck, moves)
        assert not naive.over
        if len(moves) >= 8:
            assert awaited == [naive.turn]
        for asked in awaited:
            assert [GAME.text(action) for action in GAME.legal_at(state, asked)] == naive.legal(asked)
        seat = rng.choice(awaited)
        action = rng.choice(GAME.legal_at(state, seat))
        moves.append((seat, GAME.text(action)))
        state = GAME.apply(state, seat, action).state
    outcome = GAME.outcome(state)
    assert outcome is not None
    naive = Naive(house, dealer, deck, moves)
    assert naive.over
    assert outcome.scores == naive.scores()


@pytest.mark.parametrize("house", HOUSES, ids=["+".join(house.values()) for house in HOUSES])
def test_legal_moves_and_scores_are_those_of_the_rules_written_a_second_time(house: dict[str, str]) -> None:
    rng = Random("+".join(house.values()))
    for _ in range(8):
        play(rng, house)


@pytest.mark.long
def test_the_same_over_thousands_of_deals() -> None:
    rng = Random(75)
    for _ in range(5000):
        play(rng, rng.choice(HOUSES))
