"""Views and actions as numbers: complete, within bounds, and of nothing but the view."""

from __future__ import annotations

from random import Random
from typing import Any, Final

import pytest

from clients.gym.encoding import LARGEST, Encoding
from clients.gym.go_stop import GO_STOP_ENCODING
from clients.gym.hachinin_meri import MERI_ENCODING
from clients.gym.koi_koi import KOI_KOI_ENCODING
from engine.game import Seat
from tests.conformance.laws import random_match, random_options, shortest

ENCODINGS: Final = {each.game.name: each for each in (KOI_KOI_ENCODING, GO_STOP_ENCODING, MERI_ENCODING)}


def states(encoding: Encoding, matches: int, seed: int) -> list[Any]:
    """States of random matches under random options."""
    rng = Random(seed)
    game = encoding.game
    return [
        progress.match.state
        for _ in range(matches)
        for progress in random_match(game, shortest(game, random_options(game, rng)), rng)
    ]


@pytest.fixture(params=ENCODINGS)
def encoding(request: pytest.FixtureRequest) -> Encoding:
    return ENCODINGS[request.param]


def test_every_legal_action_has_an_index_of_its_own(encoding: Encoding) -> None:
    game = encoding.game
    assert len(set(encoding.actions)) == len(encoding.actions)
    assert all(game.text(game.parse(text)) == text for text in encoding.actions)
    for state in states(encoding, 30, seed=1):
        for seat in game.awaiting(state):
            assert {game.text(action) for action in game.legal_at(state, seat)} <= encoding.index.keys()


def test_every_view_of_a_seat_becomes_an_observation_of_the_same_shape(encoding: Encoding) -> None:
    game = encoding.game
    planes = len(encoding.plane_names) * len(game.cards)
    for state in states(encoding, 4, seed=2):
        for seat in map(Seat, range(game.seats)):
            view = game.view(state, seat)
            assert tuple(encoding.planes(view)) == encoding.plane_names
            assert tuple(encoding.numbers(view)) == encoding.number_names
            ones, tail = list(encoding.ones(view)), encoding.tail(view)
            assert len(set(ones)) == len(ones), "a card stands twice in one plane"
            assert all(0 <= place < planes for place in ones)
            assert all(abs(number) <= LARGEST for number in tail)
            assert len(tail) == encoding.size - planes


def test_different_views_are_told_apart(encoding: Encoding) -> None:
    """But for the order of cards, which no rule looks at, an observation holds what the view holds."""
    game, rng = encoding.game, Random(3)
    for state in states(encoding, 4, seed=3):
        if not game.awaiting(state):
            continue
        seat = min(game.awaiting(state))
        for action in game.legal_at(state, seat)[:3]:
            after = game.apply(state, seat, action).state
            for viewer in (seat, Seat(rng.randrange(game.seats))):
                before, then = game.view(state, viewer), game.view(after, viewer)
                same = (list(encoding.ones(before)), encoding.tail(before)) == (
                    list(encoding.ones(then)),
                    encoding.tail(then),
                )
                assert same == (before == then)


def test_the_layout_names_every_place_once(encoding: Encoding) -> None:
    places = [place for part in encoding.layout().values() for place in range(part.start, part.stop)]
    assert places == list(range(encoding.size))


def test_hand_and_hidden_cards_stand_where_the_layout_says(encoding: Encoding) -> None:
    game = encoding.game
    state = next(state for state in states(encoding, 3, seed=4) if game.awaiting(state))
    hand = encoding.layout()["hand"]
    for seat in map(Seat, range(game.seats)):
        view = game.view(state, seat)
        cards = {game.cards[place - hand.start] for place in encoding.ones(view) if hand.start <= place < hand.stop}
        assert cards == set(view.hand)
        assert all(card in encoding.described(view) for card in cards)


def test_seats_of_a_team_game_are_counted_from_the_observers_own() -> None:
    game = MERI_ENCODING.game
    layout = MERI_ENCODING.layout()
    for state in states(MERI_ENCODING, 2, seed=5):
        for seat in map(Seat, range(game.seats)):
            tail = [0.0] * layout["phase=declaring"].start + MERI_ENCODING.tail(game.view(state, seat))
            dealer = [tail[layout[f"dealer={each}"].start] for each in range(game.seats)]
            assert dealer.index(1) == (state.table.dealer - seat) % game.seats
