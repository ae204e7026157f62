"""H22–H26: what tricks and combinations are worth, with the rules page's cases."""

from __future__ import annotations

from random import Random

import pytest

from engine.game import Card
from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri.types import Combination, ConcealedRobai, DealScored, HouseRules, Pair, Stake, Trick
from tests.engine.hachinin_meri.positions import DEFAULTS, events_of, late, moved, opened, random_play

EVERY = HouseRules(concealed_robai=ConcealedRobai.EVERY_COMBINATION)
OFF = HouseRules(concealed_robai=ConcealedRobai.OFF)


def played(
    okie: str, cards: str, *, declarer: int | None = None, side: str = "", house: HouseRules = DEFAULTS
) -> tuple[tuple[int, int], Trick]:
    """What a plain trick of these cards (in seat order, led by seat 2) brings the even and the odd team.

    It is a deal's second: in the first, of plain cards, seat 2 won. Seat 0 dealt and took the Okie.
    """
    first = "I7 I6 Isu I5 I4 I3 I2 I1" if okie[0] == "P" else "P7 P6 Psu P5 P4 P3 P2 P1"
    before = opened(okie, first, hands=dict(enumerate(cards.split())), declarer=declarer, side=side, house=house)
    assert before.table.points == (1, 0)
    assert before.table.turn == 2
    order = [*cards.split()[2:], *cards.split()[:2]]
    even, odd = moved(before, " ".join(order)).table.points
    return (even - 1, odd), moved(before, " ".join(order)).table.tricks[1]


def test_H22_each_trick_is_one_for_the_winners_team() -> None:
    assert opened("K5", "Psu P1 P2 P3 P4 P5 P6 P7").table.points == (1, 0)
    assert opened("K5", "P1 Psu P2 P3 P4 P5 P6 P7").table.points == (0, 1)


# A is the odd team, B the even one. The rules page's cases first, in its order.
@pytest.mark.parametrize(
    ("okie", "cards", "declarer", "points"),
    [
        pytest.param("K5", "Kun Ksu O1 G1 G2 G3 G4 G6", None, (-2, 3), id="Koppu: A Ksu, B Kun"),
        pytest.param("K5", "Kso Ksu O1 Kun G2 G3 G4 G6", None, (0, 1), id="Koppu: A Ksu, partner Kun, B Kso"),
        pytest.param("K5", "Kun Ksu O1 Kso G2 G3 G4 G6", None, (-2, 3), id="Koppu: A Ksu, partner Kso, B Kun"),
        pytest.param("K5", "Pro Kso O1 G1 Kro G3 G4 G6", None, (0, 1), id="Koppu: A Kso, B Pro and Kro"),
        pytest.param("K5", "Kro Kso O1 G1 G2 G3 G4 G6", None, (-5, 6), id="Koppu: A Kso, B Kro concealed"),
        pytest.param("K5", "Kro Kso O1 G1 G2 G3 G4 G6", 0, (-2, 3), id="Koppu: A Kso, B Kro declared"),
        pytest.param("I5", "I1 I2 O1 G1 G2 G3 G4 G6", None, (-2, 3), id="Isu: A I2 over B I1"),
        pytest.param("G5", "G9 G8 O1 K1 K2 K3 K4 K6", None, (-2, 3), id="Guru: A G8 over B G9"),
        pytest.param("G5", "G2 G1 O1 K1 K2 K3 K4 K6", None, (0, 1), id="Guru: A G1 over B G2"),
        pytest.param("P5", "Pro Pso O1 G1 G2 G3 G4 G6", 0, (-2, 3), id="Pao: A Pso over B Pro declared"),
        pytest.param("G5", "Gre Pro O1 K1 K2 K3 K4 K6", None, (0, 1), id="Guru: A Pro over B Gre"),
        # and what they leave open
        pytest.param("K5", "Kso Kun O1 G1 G2 G3 G4 G6", None, (-2, 3), id="Un over Sota"),
        pytest.param("K5", "Kun Kso O1 G1 G2 G3 G4 G6", None, (3, -2), id="for the other team"),
        pytest.param("K5", "Kre Kro O1 G1 G2 G3 G4 G6", None, (-5, 6), id="a concealed Robai wins over Rei"),
        pytest.param("K5", "Kso Ksu O1 G1 G2 G3 G4 G6", None, (0, 1), id="Sun over Sota is none"),
        pytest.param("K5", "Pro Kso O1 G1 G2 G3 G4 G6", None, (0, 1), id="Sota over Tenka is none"),
        pytest.param("K5", "Kro Pro O1 G1 G2 G3 G4 G6", None, (0, 1), id="Tenka over Robai is none"),
        pytest.param(
            "P5", "Pre Pro O1 G1 G2 G3 G4 G6", None, (-5, 6), id="Pao: Tenka, concealed, is the Robai over Rei"
        ),
        pytest.param("I5", "I8 I9 O1 G1 G2 G3 G4 G6", None, (0, 1), id="9 over 8 is none in a long suit"),
        pytest.param("O5", "O9 O8 G7 G1 G2 G3 G4 G6", None, (-2, 3), id="Ouru is round"),
        pytest.param("P9", "P1 P2 O1 G1 G2 G3 G4 G6", None, (-2, 3), id="Pao is long"),
        pytest.param("K5", "Osu Oun O1 G1 G2 G3 G4 G6", None, (1, 0), id="plain cards make none"),
    ],
)
def test_H23_H24_H25_combinations(okie: str, cards: str, declarer: int | None, points: tuple[int, int]) -> None:
    assert played(okie, cards, declarer=declarer)[0] == points


def test_H23_a_trick_led_with_a_trump_has_no_combination() -> None:
    """Koppu | trump led; A Ksu over B Kun | A 1."""
    state = moved(late("K5", {0: "K9 P1", 1: "Ksu P2", 2: "Kun P3"}), "K9 Ksu Kun")
    while state.table.turn not in (1, None) or len(state.table.tricks) == 7:
        turn = state.table.turn
        assert turn is not None
        state = moved(state, GAME.text(GAME.legal_at(state, turn)[0]))
    assert state.table.tricks[7].combination is None
    assert state.table.tricks[7].winner == 1


def test_H24_the_event_says_which_cards_and_how_many_points() -> None:
    _, trick = played("K5", "Kun Ksu O1 G1 G2 G3 G4 G6")
    assert trick.winner == 1
    assert trick.combination == Combination(Pair.SUN_UN, 1, Card("Ksu"), Card("Kun"), 2, Stake.USUAL)


def ninth(okie: str, hands: str, *, declarer: int | None = None, house: HouseRules = DEFAULTS) -> Trick:
    """The ninth trick of these last cards in seat order; seat 0 dealt, and won the eighth with a plain card."""
    low = ["Osu", "O8", "O7", "O6", "O4", "O3", "O2", "O1"]
    kept = {seat: f"{low[seat]} {last}" for seat, last in enumerate(hands.split())}
    over = moved(late(okie, kept, declarer=declarer, house=house), " ".join(low))
    return over.table.tricks[8]


def test_H25_case_five_in_the_ninth() -> None:
    """Guru | ninth; dealer G3; A Gun over B Gso | 1+5."""
    trick = ninth("G5", "G3 Gun Gso K1 K2 K3 K4 K6")
    assert trick.combination == Combination(Pair.UN_SOTA, 1, Card("Gun"), Card("Gso"), 5, Stake.NINTH)


def test_H25_case_a_concealed_robai_in_the_ninth_is_five_once() -> None:
    """Koppu | ninth trick, A Kro concealed over B Kre | A 1+5."""
    trick = ninth("K5", "Kre Kro P1 P2 P3 P4 P6 P7")
    assert trick.combination is not None
    assert trick.combination.points == 5


def test_H25_a_robai_that_was_the_okie_was_never_concealed() -> None:
    # Seat 0, the dealer, took the Robai as Okie and plays it under seat 1's Sota.
    points, trick = played("Kro", "Kro Kso O1 G1 G2 G3 G4 G6")
    assert points == (-2, 3)
    assert trick.combination is not None
    assert trick.combination.stake == Stake.USUAL


def test_H25_the_dealer_who_passes_conceals_too() -> None:
    points, _ = played("K5", "Kro Kso O1 G1 G2 G3 G4 G6")
    assert points == (-5, 6)


@pytest.mark.parametrize(
    ("house", "where", "points", "robai_points"),
    [
        (DEFAULTS, "hidden", 2, 5),
        (DEFAULTS, "declared", 2, 2),
        (EVERY, "hidden", 5, 5),
        (EVERY, "declared", 2, 2),
        (EVERY, "aside", 2, None),
        (OFF, "hidden", 2, 2),
        (OFF, "declared", 2, 2),
    ],
)
def test_H25_option_concealed_robai(house: HouseRules, where: str, points: int, robai_points: int | None) -> None:
    declarer = 0 if where == "declared" else None
    side = "Kro" if where == "aside" else ""
    first = "P7 P6 Psu P5 P4 P3 P2 P1"
    sun_over_un = "Kun Ksu O1 G1 G2 G3 G4 G6"
    hands = {} if side else {0: "Kro"}
    state = opened("K5", first, sun_over_un, hands=hands, declarer=declarer, side=side, house=house)
    combination = state.table.tricks[1].combination
    assert combination is not None
    assert combination.points == points
    if robai_points is not None:
        _, trick = played("K5", "Kro Kso O1 G1 G2 G3 G4 G6", declarer=declarer, house=house)
        assert trick.combination is not None
        assert trick.combination.points == robai_points


@pytest.mark.parametrize("house", [DEFAULTS, EVERY, OFF])
def test_H25_the_ninth_stays_five_under_every_option(house: HouseRules) -> None:
    trick = ninth("K5", "Kun Ksu P1 P2 P3 P4 P6 P7", declarer=0, house=house)
    assert trick.combination is not None
    assert trick.combination.points == 5


def test_H26_scores_sum_to_nine_and_can_be_negative() -> None:
    rng = Random(26)
    lowest = 0
    for _ in range(300):
        *_, (state, seat, action) = random_play(rng)
        step = GAME.apply(state, seat, action)
        outcome = GAME.outcome(step.state)
        assert outcome is not None
        assert outcome.reason == "played"
        assert sum(outcome.scores) == 9
        scored = step.events[-1]
        assert isinstance(scored, DealScored)
        moved_to = [sum(c.points * (1 if c.team == team else -1) for c in scored.combinations) for team in (0, 1)]
        assert scored.scores == outcome.scores == (scored.tricks[0] + moved_to[0], scored.tricks[1] + moved_to[1])
        lowest = min(lowest, *outcome.scores)
    assert lowest < 0


def test_H26_points_are_told_with_every_trick() -> None:
    before = moved(late("K5", {0: "Osu Kun", 1: "O8 Ksu"}), "Osu O8")
    assert before.table.points == (0, 0)
    while len(before.table.tricks) == 7:
        turn = before.table.turn
        assert turn is not None
        last = events_of(before, GAME.text(GAME.legal_at(before, turn)[0]))
        before = moved(before, GAME.text(GAME.legal_at(before, turn)[0]))
    settled = [event for event in last if hasattr(event, "points")]
    assert [event.points for event in settled] == [(1, 0), (-4, 6)]
