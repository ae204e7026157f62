"""K7: what captured cards are worth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.koi_koi import KOI_KOI
from engine.koi_koi.scoring import CARDS, POINTS, cards_of, mask_of, standing, total
from engine.koi_koi.types import Calls, PointTable, Rules, Viewing, Yaku
from tests.engine.koi_koi.scenes import cards

HOUSE = Rules()
ANIMALS = "02a 04a 05a 08a 11a"
RIBBONS = "01r 02r 04r 06r 07r"
PLAINS = "01p 02p 03p 04p 05p 06p 07p 08p 10p 11p"

RULES = st.builds(
    Rules,
    viewing=st.sampled_from(Viewing),
    seven_doubles=st.booleans(),
    opponent_call_doubles=st.booleans(),
    calls=st.sampled_from(Calls),
    points=st.sampled_from(PointTable),
)


def yaku(pile: str, rules: Rules = HOUSE) -> dict[str, int]:
    return {made.yaku.value: made.points for made in standing(cards(pile), rules, 0).yaku}


@pytest.mark.parametrize(
    ("pile", "expected"),
    [
        ("01b 03b 08b 11b 12b", {"five-brights": 15}),
        ("01b 03b 08b 12b", {"four-brights": 10}),
        ("01b 03b 08b 11b", {"rainy-four-brights": 8}),
        ("11b 12b 08b 03b", {"rainy-four-brights": 8}),
        ("01b 03b 12b", {"three-brights": 6}),
        ("03b 08b 12b", {"three-brights": 6}),
        ("01b 03b 11b", {}),
        ("01b 03b", {}),
        ("07a 10a 06a", {"boar-deer-butterfly": 5}),
        ("07a 10a", {}),
        ("01r 02r 03r", {"poetry-ribbons": 6}),
        ("01r 02r", {}),
        ("06r 09r 10r", {"blue-ribbons": 6}),
        ("09r 10r", {}),
        (ANIMALS, {"animals": 1}),
        (f"{ANIMALS} 06a", {"animals": 2}),
        (f"{ANIMALS} 06a 07a", {"animals": 3}),
        ("02a 04a 05a 08a", {}),
        (RIBBONS, {"ribbons": 1}),
        (f"{RIBBONS} 11r", {"ribbons": 2}),
        ("01r 02r 04r 06r", {}),
        (PLAINS, {"plains": 1}),
        (f"{PLAINS} 12p 12q 12s", {"plains": 4}),
        ("01p 02p 03p 04p 05p 06p 07p 08p 10p", {}),
    ],
)
def test_K7_each_yaku_and_its_points(pile: str, expected: dict[str, int]) -> None:
    assert yaku(pile) == expected


def test_K7_the_cards_of_a_yaku_are_told_with_it() -> None:
    made = standing(cards("10a 03b 12b 07a 02p 01b 06a 11b"), HOUSE, 0).yaku
    assert {each.yaku: each.cards for each in made} == {
        Yaku.RAINY_FOUR_BRIGHTS: cards("01b 03b 11b 12b"),
        Yaku.BOAR_DEER_BUTTERFLY: cards("06a 07a 10a"),
    }


def test_K7_everything_but_the_bright_yaku_adds_up() -> None:
    assert yaku("01r 02r 03r 06r 09r 10r") == {"poetry-ribbons": 6, "blue-ribbons": 6, "ribbons": 2}
    assert standing(cards("01r 02r 03r 06r 09r 10r"), HOUSE, 0).total == 14
    assert yaku("06a 07a 10a 02a 04a") == {"boar-deer-butterfly": 5, "animals": 1}


def test_K7_the_sake_cup_is_an_animal_and_a_plain() -> None:
    assert yaku("02a 04a 05a 08a 09a") == {"animals": 1}
    assert yaku("01p 02p 03p 04p 05p 06p 07p 08p 10p 09a") == {"plains": 1}
    assert yaku("02a 04a 05a 08a 01p 02p 03p 04p 05p 06p 07p 08p 10p 09a") == {"animals": 1, "plains": 1}


def test_K7_the_willow_has_the_rain_man_and_one_plain_and_the_paulownia_three_plains() -> None:
    assert [card for card in CARDS if card[:2] == "11"] == ["11b", "11a", "11r", "11p"]
    assert [card for card in CARDS if card[:2] == "12"] == ["12b", "12p", "12q", "12s"]
    assert yaku("01b 03b 11b") == {}, "the rain man is 11b"
    assert yaku(f"{PLAINS} 12p 12q 12s") == {"plains": 4}


def test_K7_all_cards_together_are_worth_59() -> None:
    assert standing(CARDS, HOUSE, 0).total == 59
    assert total(mask_of(CARDS), HOUSE) == 59
    assert standing((), HOUSE, 0).total == 0


def test_K7_every_yaku_has_points_in_every_table() -> None:
    assert all(set(table) == set(Yaku) for table in POINTS.values())
    assert set(POINTS) == set(PointTable)


@given(st.sets(st.sampled_from(CARDS)), st.sampled_from(CARDS), RULES)
def test_K7_a_card_more_never_lowers_the_total(pile: set[str], card: str, rules: Rules) -> None:
    assert total(mask_of({*pile, card}), rules) >= total(mask_of(pile), rules)  # type: ignore[arg-type]


@given(st.sets(st.sampled_from(CARDS)), RULES)
def test_K7_the_list_of_yaku_adds_up_to_the_total_and_names_captured_cards(pile: set[str], rules: Rules) -> None:
    found = standing(pile, rules, 0)  # type: ignore[arg-type]
    assert found.total == total(mask_of(pile), rules) == sum(made.points for made in found.yaku)  # type: ignore[arg-type]
    assert all(set(made.cards) <= pile for made in found.yaku)
    assert [made.yaku for made in found.yaku] == sorted((made.yaku for made in found.yaku), key=list(Yaku).index)
    assert len({made.yaku for made in found.yaku}) == len(found.yaku)


@given(st.sets(st.sampled_from(CARDS)))
def test_a_mask_holds_exactly_its_cards(pile: set[str]) -> None:
    assert cards_of(mask_of(pile)) == tuple(sorted(pile, key=KOI_KOI.cards.index))  # type: ignore[arg-type]
