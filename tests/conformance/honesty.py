"""That a player cannot cheat, as functions that fail where it does.

What is compared is everything that could betray knowledge of hidden cards: the choice, the value of every alternative,
the reason, and how much was drawn from the generator. Worlds come from ``resample``, so they differ from the truth in
whatever the seat cannot see: other hands, the order of the stock, face-down trumps, side cards, undeclared cards.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import msgspec

from engine.codec import codec_of
from engine.game import AnyGame, Budget, Level, OptionValue, Seat, Thought
from engine.match import Need, act, begin, deal
from tests.conformance.laws import encoded, random_deck


class CountingRandom(Random):
    """Counts what is drawn from it."""

    def __init__(self, seed: int) -> None:
        self.draws = 0
        super().__init__(seed)

    def random(self) -> float:
        self.draws += 1
        return super().random()

    def getrandbits(self, k: int, /) -> int:
        self.draws += 1
        return super().getrandbits(k)


class Position(NamedTuple):
    """A decision between at least two actions."""

    state: Any
    seat: Seat


class Conduct(NamedTuple):
    """All that can be seen of a decision."""

    thought: Thought[Any]
    draws: int
    generator: object


def positions(game: AnyGame, options: dict[str, OptionValue], rng: Random) -> Iterator[Position]:
    """The decisions of a match, half of whose moves are what ``medium`` chooses and half are anything legal."""
    match = begin(game, options)
    while match.need is not Need.NOTHING:
        if match.need is Need.DECK:
            match = deal(game, match, random_deck(game, rng), Seat(rng.randrange(game.seats))).match
            continue
        seat = rng.choice(sorted(game.awaiting(match.state)))
        legal = game.legal_at(match.state, seat)
        if len(legal) > 1:
            yield Position(match.state, seat)
        if rng.random() < 0.5:
            action = rng.choice(legal)
        else:
            action = game.choose(game.view(match.state, seat), legal, rng, Budget(Level.MEDIUM))
        match = act(game, match, seat, action).match


def conduct(game: AnyGame, state: Any, seat: Seat, budget: Budget, seed: int) -> Conduct:
    """What a level does in a state."""
    rng = CountingRandom(seed)
    thought = game.think(game.view(state, seat), game.legal_at(state, seat), rng, budget)
    return Conduct(thought, rng.draws, rng.getstate())


def blind(game: AnyGame, at: Position, budget: Budget, *, worlds: int, seed: int) -> int:
    """A level behaves in every world that its seat cannot tell from the truth as it does in the truth.

    Returns how many of the worlds differed from it: a check of worlds that are all the truth says nothing.
    """
    view = game.view(at.state, at.seat)
    truly = conduct(game, at.state, at.seat, budget, seed)
    differing = 0
    for number in range(worlds):
        world = game.resample(view, Random(seed * worlds + number))
        assert encoded(game.view(world, at.seat)) == encoded(view)
        assert conduct(game, world, at.seat, budget, seed) == truly, f"{budget.level} knows more than its view"
        differing += encoded(world) != encoded(at.state)
    return differing


def told_in_full(game: AnyGame, at: Position, budget: Budget, seed: int) -> None:
    """The view's bytes are all that a level needs: it does the same with a view that was read back from them."""
    view = game.view(at.state, at.seat)
    again = codec_of(game).view(encoded(view))
    legal = game.legal(view)
    assert game.think(again, game.legal(again), Random(seed), budget) == game.think(view, legal, Random(seed), budget)


def walled(game: AnyGame, at: Position) -> None:
    """No state can be read from the bytes that a level is given."""
    given = encoded(game.view(at.state, at.seat))
    try:
        codec_of(game).state(given)
    except msgspec.MsgspecError:
        return
    raise AssertionError("a state can be read from the bytes of a view")
