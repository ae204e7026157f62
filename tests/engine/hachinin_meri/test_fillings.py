"""Counting and drawing the ways to fill slots, against plain enumeration."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from random import Random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.game import Card
from engine.hachinin_meri.fillings import Fillings, Slot

KINDS = "abcd"


@st.composite
def small_fillings(draw: st.DrawFn) -> tuple[dict[str, list[Card]], list[Slot]]:
    """Up to six cards of four kinds, and slots with as much room that take some of them each."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=6))
    cards: dict[str, list[Card]] = {}
    for number, kind in enumerate(kinds):
        cards.setdefault(kind, []).append(Card(f"{kind}{number}"))
    slots = []
    room = len(kinds)
    while room:
        size = draw(st.integers(0, min(3, room)))
        slots.append(Slot(size, draw(st.frozensets(st.sampled_from(KINDS), min_size=1))))
        room -= size
        assume(len(slots) < 8)
    return cards, slots


def enumerated(cards: dict[str, list[Card]], slots: list[Slot]) -> set[tuple[frozenset[Card], ...]]:
    """Every filling, by trying every order of the cards."""
    kind_of = {card: kind for kind, some in cards.items() for card in some}
    found = set()
    for order in permutations(kind_of):
        rest = list(order)
        filled = []
        for slot in slots:
            filled.append(frozenset(rest[: slot.size]))
            del rest[: slot.size]
        if all(kind_of[card] in slot.kinds for slot, some in zip(slots, filled, strict=True) for card in some):
            found.add(tuple(filled))
    return found


@given(small_fillings(), st.integers(0, 1000))
@settings(max_examples=100)
def test_the_ways_are_counted_and_what_is_drawn_is_one_of_them(
    problem: tuple[dict[str, list[Card]], list[Slot]], seed: int
) -> None:
    cards, slots = problem
    fillings = Fillings(cards, slots)
    all_ways = enumerated(cards, slots)
    assert fillings.ways == len(all_ways)
    rng = Random(seed)
    for _ in range(5 if all_ways else 0):
        assert tuple(map(frozenset, fillings.draw(rng))) in all_ways


def test_each_way_is_as_likely() -> None:
    cards = {"a": ["a1", "a2", "a3"], "b": ["b1", "b2"], "c": ["c1", "c2"]}
    slots = [Slot(2, frozenset("ab")), Slot(2, frozenset("bc")), Slot(2, frozenset("abc")), Slot(1, frozenset("a"))]
    problem = {kind: list(map(Card, some)) for kind, some in cards.items()}
    all_ways = enumerated(problem, slots)
    fillings = Fillings(problem, slots)
    rng = Random(7)
    drawn = Counter(tuple(map(frozenset, fillings.draw(rng))) for _ in range(200 * len(all_ways)))
    assert set(drawn) == all_ways
    chi_square = sum((drawn[way] - 200) ** 2 / 200 for way in all_ways)
    freedom = len(all_ways) - 1
    assert abs(chi_square - freedom) < 4 * (2 * freedom) ** 0.5
