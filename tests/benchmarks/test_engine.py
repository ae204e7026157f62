from __future__ import annotations

from random import Random
from typing import cast

import pytest

from benchmarks.engine import Play, Timed, positions, random_play
from engine.game import AnyGame, Seat
from engine.registry import GAMES

EVERY_GAME = pytest.mark.parametrize("game", list(GAMES.values()), ids=list(GAMES))


@EVERY_GAME
def test_a_room_plays_on_from_match_to_match_and_counts_its_moves(game: AnyGame) -> None:
    timed = Timed(game)
    play = Play(cast("AnyGame", timed), Random(1))
    before = play.room.number

    for _ in range(500):
        play.go_on()

    assert 0 < play.moves <= 500
    assert play.room.number - before >= play.moves
    assert timed.seconds > 0


@EVERY_GAME
def test_positions_are_those_of_one_deal_from_its_first_decision_to_its_last(game: AnyGame) -> None:
    found = list(positions(game, Random(1)))

    for state, seat, legal in found:
        assert seat in game.awaiting(state)
        assert legal == game.legal_at(state, seat)


@EVERY_GAME
def test_random_play_counts_whole_deals(game: AnyGame) -> None:
    deals_per_second, actions_per_deal = random_play(game, 0.01)

    assert deals_per_second > 0
    assert actions_per_deal >= 1


def test_a_timed_game_answers_as_the_game_does() -> None:
    game = GAMES["koi-koi"]
    timed = cast("AnyGame", Timed(game))
    state, seat, legal = next(positions(game, Random(1)))

    assert timed.name == "koi-koi"
    assert timed.legal_at(state, seat) == legal
    assert timed.side(Seat(1)) == 1
