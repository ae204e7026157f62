"""Every registered game keeps the laws of ``engine.game``, and the laws notice a game that does not."""

from __future__ import annotations

from random import Random

import pytest
from msgspec import Struct

from engine.game import AnyGame, Seat
from engine.match import MATCH_EVENTS
from engine.registry import GAMES
from protocol.events import ROOM_EVENTS
from protocol.limits import MAX_ACTION
from tests.conformance.broken import BROKEN
from tests.conformance.laws import hold_all, random_deck, random_match, random_options, shortest
from tests.toy import DUEL, Duel

EVERY_GAME = pytest.mark.parametrize("game", [*GAMES.values(), DUEL], ids=lambda game: game.name)


@EVERY_GAME
@pytest.mark.parametrize("seed", range(12))
def test_laws_hold_at_every_step_of_random_deals_with_random_options(game: AnyGame, seed: int) -> None:
    rng = Random(seed)
    hold_all(game, shortest(game, random_options(game, rng)), rng, set())


@pytest.mark.long
@EVERY_GAME
def test_laws_hold_at_every_step_of_many_random_matches(game: AnyGame) -> None:
    texts: set[str] = set()
    for seed in range(150):
        rng = Random(seed)
        hold_all(game, random_options(game, rng), rng, texts)


@EVERY_GAME
def test_a_game_describes_itself_soundly(game: AnyGame) -> None:
    assert game.name == game.name.strip().lower()
    assert len(set(game.cards)) == len(game.cards)
    assert {game.side(Seat(seat)) for seat in range(game.seats)} == set(range(game.sides))
    assert all(isinstance(deals, int) and deals >= 1 for deals in game.options["deals"])
    assert all(len(values) == len(set(map(str, values))) >= 2 for values in game.options.values())
    assert game.complete_options({}) == {key: values[0] for key, values in game.options.items()}
    assert game.beginner not in {"game", "deck", "steps", "options", "result", "carry", "match", "deal"}
    assert game.levels, "somebody must be able to sit in"


@EVERY_GAME
def test_event_tags_belong_to_one_speaker(game: AnyGame) -> None:
    speakers: list[type[Struct]] = [*game.event_types, *MATCH_EVENTS, *ROOM_EVENTS]
    tags = [event.__struct_config__.tag for event in speakers]
    assert all(event.__struct_config__.tag_field == "e" for event in game.event_types)
    assert len(set(tags)) == len(tags)


@EVERY_GAME
def test_actions_fit_the_wire(game: AnyGame) -> None:
    rng = Random(1)
    for progress in random_match(game, shortest(game, random_options(game, rng)), rng):
        for seat in game.awaiting(progress.match.state):
            for action in game.legal_at(progress.match.state, seat):
                assert 1 <= len(game.text(action)) <= MAX_ACTION


@EVERY_GAME
@pytest.mark.parametrize("carry", [0, 1, 2, 3, 4, 1000, 2**31 - 1])
def test_any_carry_can_be_dealt_with(game: AnyGame, carry: int) -> None:
    """A record may carry what it likes; games that carry nothing ignore it."""
    rng = Random(carry)
    for _ in range(20):
        options = random_options(game, rng)
        state = game.deal(options, random_deck(game, rng), Seat(0), carry).state
        while awaited := sorted(game.awaiting(state)):
            state = game.apply(state, awaited[0], rng.choice(game.legal_at(state, awaited[0]))).state
        assert game.outcome(state) is not None


@pytest.mark.parametrize(("broken", "complaint"), BROKEN.items(), ids=lambda each: getattr(each, "__name__", ""))
def test_laws_notice_a_broken_game(broken: type[Duel], complaint: str) -> None:
    game = broken()
    texts: set[str] = set()

    def play() -> None:
        for seed in range(40):
            rng = Random(seed)
            hold_all(game, random_options(game, rng), rng, texts)

    with pytest.raises(AssertionError, match=complaint):
        play()
