"""Fair decks: what determines them, that nothing else does, and that no card prefers any place."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.game import Seat
from engine.shuffle import (
    CONTRIBUTION_BYTES,
    NO_CONTRIBUTION,
    SEED_BYTES,
    Contribution,
    Draw,
    _below,
    beginner_of,
    commitment,
    deck_of,
)

CARDS = tuple(range(48))
Shuffle = Callable[[Draw, Sequence[int]], Sequence[int]]

seeds = st.binary(min_size=SEED_BYTES, max_size=SEED_BYTES)
values = st.binary(min_size=CONTRIBUTION_BYTES, max_size=CONTRIBUTION_BYTES)
numbers = st.integers(1, 2**32 - 1)
draws = st.builds(
    Draw,
    match=st.text(min_size=1, max_size=40),
    deal=numbers,
    attempt=numbers,
    seed=seeds,
    contributions=st.dictionaries(st.integers(0, 7), values, max_size=8).map(
        lambda given: tuple(Contribution(Seat(seat), given[seat]) for seat in sorted(given))
    ),
)


def some_draw(number: int = 0) -> Draw:
    """Draws that differ in nothing but their seed, the same in every run."""
    seed = hashlib.sha256(number.to_bytes(8, "big")).digest()
    return Draw("match", 1, 1, seed, (Contribution(Seat(0), b"\x01" * 32), Contribution(Seat(3), NO_CONTRIBUTION)))


@settings(max_examples=100)
@given(draws)
def test_a_deck_is_a_permutation_and_the_same_draw_gives_it_again(draw: Draw) -> None:
    deck = deck_of(draw, CARDS)
    assert sorted(deck) == list(CARDS)
    assert deck_of(draw, list(CARDS)) == deck
    assert 0 <= beginner_of(draw, 8) < 8


@settings(max_examples=100)
@given(draws)
def test_everything_in_a_draw_changes_the_deck(draw: Draw) -> None:
    flipped = bytes([draw.seed[0] ^ 1]) + draw.seed[1:]
    more = (*draw.contributions, Contribution(Seat(8), NO_CONTRIBUTION))
    others = [
        replace(draw, match=draw.match + "x"),
        replace(draw, deal=draw.deal % (2**32 - 1) + 1),
        replace(draw, attempt=draw.attempt % (2**32 - 1) + 1),
        replace(draw, seed=flipped),
        replace(draw, contributions=more),
    ]
    if draw.contributions:
        first = draw.contributions[0]
        value = bytes([first.value[0] ^ 1]) + first.value[1:]
        others.append(replace(draw, contributions=(replace(first, value=value), *draw.contributions[1:])))
        others.append(replace(draw, contributions=(replace(first, seat=Seat(9)), *draw.contributions[1:])))
    assert len({deck_of(each, CARDS) for each in [draw, *others]}) == 1 + len(others)


@settings(max_examples=100)
@given(draws)
def test_a_commitment_binds_match_deal_and_seed_and_tells_nothing_of_contributions(draw: Draw) -> None:
    value = commitment(draw.match, draw.deal, draw.seed)
    assert len(value) == 32
    others = [
        commitment(draw.match + "x", draw.deal, draw.seed),
        commitment(draw.match, draw.deal % (2**32 - 1) + 1, draw.seed),
        commitment(draw.match, draw.deal, draw.seed[::-1] if draw.seed != draw.seed[::-1] else b"\x01" * 32),
    ]
    assert value not in others


def test_match_and_what_follows_it_cannot_be_shifted_into_one_another() -> None:
    """Lengths stand before parts: moving a byte from one part to the next makes other bytes."""
    zeros = bytes(32)
    assert commitment("a", 1, zeros) != commitment("a\0", 1, zeros)
    assert deck_of(Draw("ab", 1, 1, zeros, ()), CARDS) != deck_of(Draw("a", 1, 1, zeros, ()), CARDS)


def test_deck_and_beginner_come_from_streams_of_their_own() -> None:
    """Knowing who was drawn to begin narrows the deck down by nothing: for each seat all cards come first alike."""
    firsts: dict[Seat, set[int]] = {}
    for number in range(2000):
        draw = some_draw(number)
        firsts.setdefault(beginner_of(draw, 2), set()).add(deck_of(draw, CARDS)[-1])
    assert firsts == {Seat(0): set(CARDS), Seat(1): set(CARDS)}


@pytest.mark.parametrize("bound", [2, 3, 48, 75, 2**31 + 1])
def test_white_box_words_past_the_last_whole_multiple_are_skipped(bound: int) -> None:
    limit = 2**32 // bound * bound
    assert _below(bound, iter([limit - 1])) == bound - 1
    if limit < 2**32:
        assert _below(bound, iter([limit, 2**32 - 1, 1])) == 1
    assert _below(bound, iter([0])) == 0


# Statistics ---------------------------------------------------------------------------------------------------


def excess(counts: Iterator[int] | list[int], expected: float, freedom: int) -> float:
    """How many standard deviations Pearson's chi-square lies above what fair counts have on average."""
    chi_square = sum((found - expected) ** 2 for found in counts) / expected
    return (chi_square - freedom) / math.sqrt(2 * freedom)


def unfairness(shuffle: Shuffle, cards: Sequence[int], shuffles: int) -> tuple[float, float]:
    """The excess of cards at places, and of neighbours (one pair of places per shuffle, each in turn)."""
    size = len(cards)
    places = [[0] * size for _ in cards]
    neighbours = [[0] * size for _ in cards]
    for number in range(shuffles):
        deck = shuffle(some_draw(number), cards)
        for place, card in enumerate(deck):
            places[place][card] += 1
        place = number % (size - 1)
        neighbours[deck[place]][deck[place + 1]] += 1
    pairs = [neighbours[left][right] for left in cards for right in cards if left != right]
    return (
        excess([times for row in places for times in row], shuffles / size, (size - 1) ** 2),
        excess(pairs, shuffles / len(pairs), len(pairs) - 1),
    )


def test_no_card_prefers_a_place_or_a_neighbour() -> None:
    at_places, beside = unfairness(deck_of, CARDS, 20_000)
    assert abs(at_places) < 4
    assert abs(beside) < 4


def test_no_seat_is_drawn_more_often() -> None:
    for seats in (2, 8):
        drawn = [0] * seats
        for number in range(20_000):
            drawn[beginner_of(some_draw(number), seats)] += 1
        assert abs(excess(drawn, 20_000 / seats, seats - 1)) < 4


def any_place(draw: Draw, cards: Sequence[int]) -> Sequence[int]:
    """The classic mistake: each place is swapped with any other, not with one not yet settled."""
    rng = Random(draw.seed)
    deck = list(cards)
    for place in range(len(deck)):
        other = rng.randrange(len(deck))
        deck[place], deck[other] = deck[other], deck[place]
    return deck


def never_stays(draw: Draw, cards: Sequence[int]) -> Sequence[int]:
    """The other one: off by one, no card can stay where it was."""
    rng = Random(draw.seed)
    deck = list(cards)
    for place in range(len(deck) - 1, 0, -1):
        other = rng.randrange(place)
        deck[place], deck[other] = deck[other], deck[place]
    return deck


def keeps_neighbours(draw: Draw, cards: Sequence[int]) -> Sequence[int]:
    """A cut: every place is fair and every neighbour is known."""
    cut = Random(draw.seed).randrange(len(cards))
    return [*cards[cut:], *cards[:cut]]


@pytest.mark.parametrize("wrong", [any_place, never_stays, keeps_neighbours])
def test_the_statistics_notice_a_wrong_shuffle(wrong: Shuffle) -> None:
    assert max(unfairness(wrong, CARDS, 5_000)) > 20


@pytest.mark.long
@pytest.mark.parametrize("size", [48, 75])
def test_a_million_shuffles_prefer_nothing(size: int) -> None:
    at_places, beside = unfairness(deck_of, tuple(range(size)), 1_000_000)
    print(f"{size} cards, 1,000,000 shuffles: places {at_places:+.2f}, neighbours {beside:+.2f} standard deviations")  # noqa: T201
    assert abs(at_places) < 4
    assert abs(beside) < 4


def test_streams_do_not_run_dry() -> None:
    """More cards than one block of the stream has words for, and many more."""
    for size in (1, 2, 9, 10, 300):
        assert sorted(deck_of(some_draw(size), range(size))) == list(range(size))
    assert len({deck_of(some_draw(number), range(300)) for number in range(50)}) == 50
