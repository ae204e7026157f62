"""H1–H5: the cards and their order."""

from __future__ import annotations

import pytest

from engine.hachinin_meri.cards import CARDS, LONG, PLAIN, TENKA, TRUMPS, best, native_robai, order
from engine.hachinin_meri.types import Suit
from tests.engine.hachinin_meri.positions import late, legal, moved, opened, words

H5_AS_TRUMP = {
    "P": "Psu Pun Pso Pro Pre Pka P9 P8 P7 P6 P5 P4 P3 P2 P1",
    "I": "Isu Iun Iso Pro Iro Ire Ika I9 I8 I7 I6 I5 I4 I3 I2 I1",
    "K": "Ksu Kun Kso Pro Kro Kre Kka K1 K2 K3 K4 K5 K6 K7 K8 K9",
    "O": "Osu Oun Oso Pro Oro Ore Oka O1 O2 O3 O4 O5 O6 O7 O8 O9",
    "G": "Gsu Gun Gso Pro Gro Gre Gka G1 G2 G3 G4 G5 G6 G7 G8 G9",
}
H5_PLAIN = {
    "P": "Psu Pun Pre Pka Pso P9 P8 P7 P6 P5 P4 P3 P2 P1",
    "I": "Isu Iun Ire Ika Iso I9 I8 I7 I6 I5 I4 I3 I2 Iro I1",
    "K": "Ksu Kun Kre Kka Kso Kro K1 K2 K3 K4 K5 K6 K7 K8 K9",
    "O": "Osu Oun Ore Oka Oso Oro O1 O2 O3 O4 O5 O6 O7 O8 O9",
    "G": "Gsu Gun Gre Gka Gso Gro G1 G2 G3 G4 G5 G6 G7 G8 G9",
}


def test_H1_seventy_five_cards_in_five_suits_of_fifteen_two_of_them_long() -> None:
    assert len(CARDS) == len(set(CARDS)) == 75
    assert all(sum(card[0] == suit for card in CARDS) == 15 for suit in Suit)
    assert {"P", "I"} == LONG


def test_H2_a_code_is_the_letter_of_the_suit_and_the_rank() -> None:
    assert set(words("Psu Gro K7 Iun Oka Pso G1 I9")) < set(CARDS)
    assert {card[1:] for card in CARDS} == {"su", "un", "so", "ro", "re", "ka", *"123456789"}


@pytest.mark.parametrize("trump", Suit)
def test_H3_tenka_is_a_trump_in_every_deal(trump: Suit) -> None:
    assert TENKA == "Pro"
    assert TENKA in TRUMPS[trump]
    assert TENKA not in PLAIN


def test_H3_tenka_does_not_follow_pao_unless_pao_is_trump() -> None:
    """Case: Guru | Monchi, Pao led; holds Pro, O3, no other Pao | free (void in Pao)."""
    state = moved(late("G5", {0: "P4 I5", 1: "Pro O3"}, monchi=True), "P4")
    assert legal(state) == ["O3", "Pro"]


def test_H3_when_pao_is_trump_tenka_is_the_native_robai() -> None:
    assert native_robai("P") == TENKA
    assert order(Suit.PAO, Suit.PAO).count(TENKA) == 1


@pytest.mark.parametrize(("trump", "number"), [("P", 15), ("I", 16), ("K", 16), ("O", 16), ("G", 16)])
def test_H4_fifteen_trumps_with_pao_else_sixteen(trump: str, number: int) -> None:
    assert set(TRUMPS[trump]) == {card for card in CARDS if card[0] == trump} | {TENKA}
    assert len(TRUMPS[trump]) == number


@pytest.mark.parametrize("suit", Suit)
def test_H5_order_as_trump(suit: Suit) -> None:
    assert order(suit, suit) == words(H5_AS_TRUMP[suit])
    assert sorted(TRUMPS[suit], key=TRUMPS[suit].__getitem__, reverse=True) == list(words(H5_AS_TRUMP[suit]))


@pytest.mark.parametrize("suit", Suit)
def test_H5_order_while_another_suit_is_trump(suit: Suit) -> None:
    trump = Suit.KOPPU if suit != Suit.KOPPU else Suit.GURU
    assert order(suit, trump) == words(H5_PLAIN[suit])
    assert sorted((c for c in PLAIN if c[0] == suit), key=PLAIN.__getitem__, reverse=True) == list(
        words(H5_PLAIN[suit])
    )


def test_H5_case_the_isu_robai_ranks_below_the_two() -> None:
    """Ouru | Isu led, no trump; I2, Iro and I1 played | I2 > Iro > I1."""
    assert best(words("I1 Iro I2"), "O") == 2
    assert best(words("I1 Iro P9"), "O") == 1
    assert opened("O5", "I1 Iro I2 P4 K1 G1 P5 P6").table.tricks[0].winner == 2
