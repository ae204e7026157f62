from __future__ import annotations

import re

import pytest

from clients.cli.manual import rules_of
from clients.cli.manual.page import WIDTH
from clients.cli.words.go_stop import COMBOS
from clients.cli.words.hachinin_meri import PAIRS, SUITS
from clients.cli.words.koi_koi import YAKU
from engine.hachinin_meri.cards import order
from engine.hachinin_meri.types import Suit
from engine.koi_koi.scoring import POINTS
from engine.koi_koi.types import PointTable, Yaku
from engine.registry import GAMES

NUMBERS = {"koi-koi": ("K", 10), "go-stop": ("G", 19), "hachinin-meri": ("H", 26)}


@pytest.mark.parametrize("name", GAMES)
def test_every_rule_stands_under_its_number_and_in_order(name: str) -> None:
    letter, last = NUMBERS[name]
    found = [line.split()[0] for line in rules_of(name) if re.match(rf"{letter}\d+ ", line)]
    assert found == [f"{letter}{number}" for number in range(1, last + 1)]


@pytest.mark.parametrize("name", GAMES)
def test_every_option_is_explained_with_all_its_values_and_its_default_first(name: str) -> None:
    lines = rules_of(name)
    for option, values in GAMES[name].options.items():
        start = next(place for place, line in enumerate(lines) if line.startswith(f"{option}: "))
        block = []
        for line in lines[start + 1 :]:
            if line and not line.startswith(" "):
                break
            block.append(line)
        listed = [value for line in block if re.match(r" {5}\S", line) for value in line[5:].split("  ")[0].split(", ")]
        assert listed == [str(value) for value in values]
        defaults = [line.split()[0] for line in block if "(default)" in line]
        assert defaults == [str(values[0])]


@pytest.mark.parametrize("name", GAMES)
def test_every_line_fits_a_narrow_terminal(name: str) -> None:
    assert max(map(len, rules_of(name))) <= WIDTH


@pytest.mark.parametrize("name", GAMES)
def test_no_field_is_left_unfilled(name: str) -> None:
    assert not any(set("{}") & set(line) for line in rules_of(name))


def test_every_yaku_is_listed_with_what_the_engine_counts() -> None:
    text = "\n".join(rules_of("koi-koi"))
    for yaku in Yaku:
        house, nintendo = POINTS[PointTable.HOUSE][yaku], POINTS[PointTable.NINTENDO][yaku]
        assert re.search(rf"{re.escape(YAKU[yaku])} +{house} / {nintendo}\b", text), yaku


def test_every_combination_of_go_stop_is_listed() -> None:
    text = "\n".join(rules_of("go-stop"))
    assert all(re.search(rf"{re.escape(name)} +\d", text) for name in COMBOS.values())


def test_every_order_of_cards_is_written_out() -> None:
    text = "\n".join(rules_of("hachinin-meri"))
    for suit in Suit:
        plain = order(suit, Suit.KOPPU if suit is not Suit.KOPPU else Suit.OURU)
        assert f"{SUITS[suit]:7}{' '.join(order(suit, suit))}" in text
        assert f"{SUITS[suit]:7}{' '.join(plain)}" in text


def test_every_pair_is_listed() -> None:
    text = "\n".join(rules_of("hachinin-meri"))
    assert all(name in text for name in PAIRS.values())
