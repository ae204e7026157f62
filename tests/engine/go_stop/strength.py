"""How strong the players are: every deck played twice with seats swapped, each pair of deals one observation.

python -m tests.engine.go_stop.strength medium random --pairs 2000 --seed 1
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from random import Random
from statistics import fmean, stdev
from typing import Final, TypeAlias

from msgspec import Struct

from engine.game import Budget, Card, Level, OptionValue, Outcome, Seat
from engine.go_stop import GO_STOP, yardstick
from engine.go_stop.types import Action, EndReason, Stop, View

Player: TypeAlias = Callable[[View, Sequence[Action], Random], Action]
"""Chooses among legal actions."""


def at_random(view: View, legal: Sequence[Action], rng: Random) -> Action:
    return rng.choice(legal)


def of_level(level: Level, rollouts: int | None = None) -> Player:
    """A level of the house as a player."""
    budget = Budget(level, rollouts)
    return lambda view, legal, rng: GO_STOP.choose(view, legal, rng, budget)


easy, medium, hard, expert = map(of_level, Level)


def greedy(view: View, legal: Sequence[Action], rng: Random) -> Action:
    return yardstick.greedy(view, legal)


def stopping(view: View, legal: Sequence[Action], rng: Random) -> Action:
    """Medium that never calls go."""
    return Stop() if Stop() in legal else medium(view, legal, rng)


PLAYERS: Final[Mapping[str, Player]] = {
    "random": at_random,
    "greedy": greedy,
    "easy": easy,
    "medium": medium,
    "stopping": stopping,
    "hard": hard,
    "expert": expert,
}


class Margin(Struct, frozen=True):
    """Points a deal by which one player is ahead of another."""

    mean: float
    half_width: float
    """Of the 95 % interval."""

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.mean - self.half_width


def play(
    deck: Sequence[Card], players: tuple[Player, Player], rng: Random, options: Mapping[str, OptionValue]
) -> Outcome:
    """A deal that seat 0 begins."""
    state = GO_STOP.deal(options, deck, Seat(0)).state
    while GO_STOP.awaiting(state):
        seat = state.table.turn
        legal = GO_STOP.legal_at(state, seat)
        action = players[seat](GO_STOP.view(state, seat), legal, rng)
        state = GO_STOP.apply(state, seat, action).state
    outcome = GO_STOP.outcome(state)
    assert outcome is not None
    return outcome


def margin(
    one: Player, other: Player, pairs: int, seed: int, options: Mapping[str, OptionValue] | None = None
) -> Margin:
    """By how much ``one`` is ahead of ``other``; redeals are not counted."""
    rng = Random(seed)
    complete = GO_STOP.complete_options(options or {})
    observed: list[float] = []
    while len(observed) < pairs:
        deck = rng.sample(GO_STOP.cards, len(GO_STOP.cards))
        there, back = play(deck, (one, other), rng, complete), play(deck, (other, one), rng, complete)
        if there.reason != EndReason.REDEAL:
            ahead = there.scores[0] - there.scores[1] + back.scores[1] - back.scores[0]
            observed.append(ahead / 2)
    return Margin(fmean(observed), 1.96 * stdev(observed) / sqrt(pairs))


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure one player of go-stop against another.")
    parser.add_argument("one", choices=PLAYERS)
    parser.add_argument("other", choices=PLAYERS)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = margin(PLAYERS[given.one], PLAYERS[given.other], given.pairs, given.seed)
    sys.stdout.write(f"{given.one} over {given.other}: {found.mean:+.2f} ± {found.half_width:.2f} points a deal\n")


if __name__ == "__main__":
    main()
