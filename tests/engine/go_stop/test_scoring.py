"""What captured cards are worth: the table of combinations, junk units and the cup (G13, G14)."""

from __future__ import annotations

from random import Random

import pytest

from engine.go_stop.scoring import (
    ANIMALS,
    BRIGHTS,
    DOUBLE_JUNK,
    JUNK,
    RIBBONS,
    cards_of,
    cup_is_junk,
    junk_units,
    pile_of,
    points,
    score,
)
from engine.go_stop.types import CARDS, Combination, Combo, Score
from tests.engine.go_stop.positions import cards

BIRDS = "02a 04a 08a"
SINGLES = cards_of(JUNK & ~DOUBLE_JUNK)
OTHER_ANIMALS = "05a 06a 07a 10a 12a"


def scored(codes: str) -> Score:
    return score(pile_of(cards(codes)))


def named(codes: str) -> dict[str, int]:
    return {combination.name: combination.points for combination in scored(codes).combinations}


def single_junk(count: int) -> str:
    return " ".join(SINGLES[:count])


@pytest.mark.parametrize(
    ("codes", "found"),
    [
        ("01b 03b", {}),
        ("01b 03b 08b", {"three-brights": 3}),
        ("01b 03b 12b", {"rain-three-brights": 2}),
        ("01b 03b 08b 11b", {"four-brights": 4}),
        ("01b 03b 08b 12b", {"four-brights": 4}),
        ("01b 03b 08b 11b 12b", {"five-brights": 15}),
        ("02a 05a 06a 07a", {}),
        ("02a 05a 06a 07a 12a", {"animals": 1}),
        ("02a 05a 06a 07a 10a 12a", {"animals": 2}),
        ("02a 04a 05a 06a 07a 10a 12a", {"animals": 3}),
        ("02a 04a", {}),
        (BIRDS, {"godori": 5}),
        (f"{BIRDS} 05a 06a", {"animals": 1, "godori": 5}),
        ("01r 02r 04r 05r", {}),
        ("01r 02r 04r 05r 06r", {"ribbons": 1}),
        ("01r 02r 04r 05r 06r 09r", {"ribbons": 2}),
        ("01r 02r 03r", {"red-poetry": 3}),
        ("06r 09r 10r", {"blue": 3}),
        ("04r 05r 07r", {"plain-red": 3}),
        ("01r 02r 03r 06r 09r 10r", {"ribbons": 2, "red-poetry": 3, "blue": 3}),
        ("01r 02r 03r 04r 05r 06r 07r 09r 10r 12r", {"ribbons": 6, "red-poetry": 3, "blue": 3, "plain-red": 3}),
    ],
)
def test_each_combination_of_the_table_and_their_sum(codes: str, found: dict[str, int]) -> None:
    assert named(codes) == found
    assert scored(codes).points == sum(found.values())


@pytest.mark.parametrize(("count", "worth"), [(9, 0), (10, 1), (11, 2), (18, 9)])
def test_junk_scores_from_ten_units_on(count: int, worth: int) -> None:
    assert named(single_junk(count)) == ({"junk": worth} if worth else {})


def test_all_48_cards_make_every_combination_but_the_lesser_brights() -> None:
    everything = score(pile_of(CARDS))
    assert everything.combinations == (
        Combination(Combo.FIVE_BRIGHTS, 15, 5),
        Combination(Combo.ANIMALS, 4, 8),
        Combination(Combo.GODORI, 5, 3),
        Combination(Combo.RIBBONS, 6, 10),
        Combination(Combo.RED_POETRY, 3, 3),
        Combination(Combo.BLUE, 3, 3),
        Combination(Combo.PLAIN_RED, 3, 3),
        Combination(Combo.JUNK, 19, 28),
    )
    assert everything.cup_is_junk


def test_G13_which_cards_are_which() -> None:
    assert cards_of(BRIGHTS) == cards("01b 03b 08b 11b 12b")
    assert cards_of(ANIMALS) == cards("02a 04a 05a 06a 07a 08a 09a 10a 12a")
    assert cards_of(RIBBONS) == cards("01r 02r 03r 04r 05r 06r 07r 09r 10r 12r")
    assert cards_of(DOUBLE_JUNK) == cards("11p 12p")
    assert len(cards_of(JUNK)) == 24
    assert BRIGHTS | ANIMALS | RIBBONS | JUNK == (1 << 48) - 1


@pytest.mark.parametrize("card", CARDS)
def test_G13_only_the_coloured_november_and_the_december_junk_are_two_units(card: str) -> None:
    units = 2 if card in {"11p", "12p"} else 1 if card[2] in "pqs" else 0
    assert junk_units(pile_of(cards(card))) == units


def test_G13_the_december_ribbon_counts_among_ribbons_and_is_in_no_set() -> None:
    assert named("01r 02r 06r 09r 12r") == {"ribbons": 1}
    for pair in ("01r 02r", "06r 09r", "04r 05r"):
        assert named(f"{pair} 12r") == {}


def test_G13_double_junk_makes_ten_units_of_eight_cards() -> None:
    codes = f"11p 12p {single_junk(6)}"
    assert scored(codes).combinations == (Combination(Combo.JUNK, 1, 10),)


@pytest.mark.parametrize(
    ("animals", "junk", "is_junk", "worth"),
    [
        (4, 8, True, 1),
        (4, 7, False, 0),
        (5, 8, False, 1),
        (5, 9, True, 2),
    ],
)
def test_G14_the_cup_is_whichever_makes_more_and_an_animal_on_a_tie(
    animals: int, junk: int, is_junk: bool, worth: int
) -> None:
    others = " ".join(OTHER_ANIMALS.split()[: animals - 1])
    found = scored(f"09a {others} {single_junk(junk)}")
    assert (found.cup_is_junk, found.points) == (is_junk, worth)


@pytest.mark.parametrize(("junk", "is_junk", "worth"), [(8, False, 8), (9, True, 9)])
def test_G14_three_birds_and_seven_animals_with_the_cup(junk: int, is_junk: bool, worth: int) -> None:
    found = scored(f"09a {BIRDS} 05a 06a 07a {single_junk(junk)}")
    assert (found.cup_is_junk, found.points) == (is_junk, worth)


def test_G14_nobody_else_has_a_cup() -> None:
    assert not any(cup_is_junk(pile_of(CARDS) & ~pile_of(cards("09a")) & ~pile_of((card,))) for card in CARDS)


def test_G14_no_other_reading_of_the_cup_scores_more() -> None:
    rng = Random(9)
    cup = pile_of(cards("09a"))
    for _ in range(500):
        rest = pile_of(rng.sample(CARDS, rng.randrange(48))) & ~cup
        animals, units = (rest & ANIMALS).bit_count(), junk_units(rest)
        without = points(rest) - max(0, animals - 4) - max(0, units - 9)
        as_animal = without + max(0, animals + 1 - 4) + max(0, units - 9)
        as_junk = without + max(0, animals - 4) + max(0, units + 2 - 9)
        assert points(rest | cup) == max(as_animal, as_junk)
        assert cup_is_junk(rest | cup) == (as_junk > as_animal)


def test_a_pile_is_its_cards() -> None:
    rng = Random(1)
    for size in range(49):
        chosen = rng.sample(CARDS, size)
        assert set(cards_of(pile_of(chosen))) == set(chosen)
