"""What the shared search promises, on made-up worlds whose values are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from statistics import fmean, stdev

import pytest

from engine.search import Findings, Plan, search

FULL = Plan(halving=False)


class CountingRandom(Random):
    """Counts what is drawn from it."""

    draws = 0

    def random(self) -> float:
        self.draws += 1
        return super().random()

    def getrandbits(self, k: int, /) -> int:
        self.draws += 1
        return super().getrandbits(k)


class Table:
    """Worlds are numbers in 0 … 1; an action's value is its worth, plus luck that all actions share, plus luck of its
    own. Remembers what it was asked.
    """

    def __init__(self, worths: Sequence[float], *, shared: float = 10.0, own: float = 0.0) -> None:
        self.worths = worths
        self.shared = shared
        self.own = own
        self.asked: list[tuple[float, tuple[int, ...], int]] = []

    def sample(self, rng: Random) -> float:
        return rng.random()

    def evaluate(self, world: float, actions: Sequence[int], seed: int) -> list[float]:
        self.asked.append((world, tuple(actions), seed))
        luck = self.shared * world
        return [self.worths[action] + luck + self.own * Random(seed + action).gauss(0, 1) for action in actions]

    def search(self, favourite: int, rollouts: int, plan: Plan = FULL, *, seed: int = 1) -> Findings:
        actions = range(len(self.worths))
        return search(actions, favourite, self.sample, self.evaluate, rng=Random(seed), rollouts=rollouts, plan=plan)


def test_luck_that_all_actions_share_cancels_out() -> None:
    table = Table([0.0, 0.01], shared=1000.0)
    found = table.search(0, 40)
    assert found.best == 1
    assert found.values[1] - found.values[0] == pytest.approx(0.01)
    assert found.errors == pytest.approx((0, 0), abs=1e-6)


def test_all_actions_are_tried_in_the_same_worlds_with_the_same_seeds() -> None:
    table = Table([0, 1, 2])
    table.search(1, 30)
    assert len(table.asked) == 10
    assert all(sorted(actions) == [0, 1, 2] for _, actions, _ in table.asked)
    assert len({world for world, _, _ in table.asked}) == 10
    assert len({seed for _, _, seed in table.asked}) == 10


def test_a_lead_within_its_standard_error_does_not_replace_the_favourite() -> None:
    worths = [0.0, 0.05]
    assert Table(worths, own=5.0).search(0, 60, Plan(halving=False, margin=2.0)).best == 0
    assert Table(worths, own=0.01).search(0, 60, Plan(halving=False, margin=2.0)).best == 1


def test_the_margin_is_counted_in_standard_errors_of_the_paired_difference() -> None:
    table = Table([0.0, 0.4], own=1.0)
    found = table.search(0, 400)
    differences = []
    for world, actions, seed in tuple(table.asked):
        base, other = table.evaluate(world, actions, seed)
        differences.append(other - base)
    assert found.values[1] - found.values[0] == pytest.approx(fmean(differences))
    assert found.errors[1] == pytest.approx(stdev(differences) / len(differences) ** 0.5)
    steps = fmean(differences) / found.errors[1]
    assert table.search(0, 400, Plan(halving=False, margin=steps * 0.99)).best == 1
    assert table.search(0, 400, Plan(halving=False, margin=steps * 1.01)).best == 0


def test_without_enough_worlds_the_favourite_stays_however_bad_it_looks() -> None:
    plan = Plan(halving=False, least_worlds=8)
    assert Table([0.0, 5.0]).search(0, 14, plan).best == 0
    assert Table([0.0, 5.0]).search(0, 16, plan).best == 1


@pytest.mark.parametrize("halving", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 13])
def test_no_more_rollouts_are_spent_than_allowed(count: int, *, halving: bool) -> None:
    for allowed in (count * 3, 100, 101, 777):
        table = Table([float(action) for action in range(count)])
        found = table.search(0, allowed, Plan(halving=halving))
        spent = sum(len(actions) for _, actions, _ in table.asked)
        assert found.rollouts == spent <= allowed
        assert found.worlds == len(table.asked)
        if count > 1:
            assert spent > allowed - count, "rollouts were left that would have made another world"


def test_every_action_is_tried_at_least_once_even_if_that_is_more_than_allowed() -> None:
    table = Table([0.0] * 9)
    found = table.search(3, 4, Plan())
    assert (found.worlds, found.rollouts, found.best) == (1, 9, 3)


def test_halving_spends_its_worlds_on_the_better_actions_and_always_on_the_favourite() -> None:
    table = Table([float(action) for action in range(8)], own=0.1)
    found = table.search(0, 960, Plan())
    tried = Counter(action for _, actions, _ in table.asked for action in actions)
    assert tried[0] == found.worlds
    assert tried[7] == found.worlds
    assert sorted(tried.values()) == [40] * 4 + [120] * 2 + [280] * 2
    assert found.best == 7
    assert [round(value - found.values[0]) for value in found.values] == list(range(8))


def test_equivalent_actions_are_searched_once_and_share_their_value() -> None:
    table = Table([0.0, 0.0, 1.0, 1.0, 0.5])
    found = search(
        range(5),
        1,
        table.sample,
        table.evaluate,
        rng=Random(1),
        rollouts=300,
        plan=FULL,
        same=["low", "low", "high", "high", "middle"],
    )
    assert {actions for _, actions, _ in table.asked} == {(1, 2, 4)}
    assert found.values[0] == found.values[1]
    assert found.values[2] == found.values[3]
    assert (found.best, found.worlds) == (2, 100)


def test_the_favourite_stands_for_its_class_and_nothing_is_spent_where_all_are_equivalent() -> None:
    table = Table([0.0, 0.0, 0.0])
    keys = ["same"] * 3
    found = search(range(3), 2, table.sample, table.evaluate, rng=Random(1), rollouts=300, same=keys)
    assert (found.best, found.worlds, found.rollouts) == (2, 1, 1)


def test_equal_findings_for_equal_seeds_and_as_many_draws_whatever_the_worlds_hold() -> None:
    first, second = Table([0.0, 0.3, 0.1], own=1.0), Table([5.0, -3.0, 0.1], own=0.2)
    assert first.search(1, 500, Plan()) == Table([0.0, 0.3, 0.1], own=1.0).search(1, 500, Plan())
    draws = []
    for table in (first, second):
        rng = CountingRandom(7)
        search(range(3), 1, table.sample, table.evaluate, rng=rng, rollouts=500)
        draws.append((rng.draws, rng.getstate()))
    assert draws[0] == draws[1]


def test_keys_must_be_given_for_every_action_or_for_none() -> None:
    table = Table([0.0, 1.0])
    with pytest.raises(AssertionError, match="a key for each"):
        search(range(2), 0, table.sample, table.evaluate, rng=Random(1), rollouts=9, same=["one"])
