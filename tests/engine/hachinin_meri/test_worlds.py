"""Sampled worlds: each fact of ``engine.hachinin_meri.worlds`` by a case, and the distribution against enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import comb, sqrt
from random import Random
from typing import NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.game import Seat, Viewer
from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri.cards import CARDS, TRUMPS, native_robai
from engine.hachinin_meri.types import DiscardRule, HouseRules, Monchi, State, View
from engine.hachinin_meri.worlds import HIDING_RATE, Worlds
from tests.engine.hachinin_meri.oracle import Moment, games, possible_worlds, world_of
from tests.engine.hachinin_meri.positions import (
    ALL_SEATS,
    DEFAULTS,
    answered,
    dealt,
    every_card,
    moved,
    opened,
    random_play,
)

ANY = HouseRules(discard=DiscardRule.ANY)


def drawn(state: State, viewer: int | None, number: int = 300) -> list[State]:
    """Worlds drawn from what ``viewer`` sees of ``state``; each looks to it like the state itself."""
    view = GAME.view(state, None if viewer is None else Seat(viewer))
    worlds, rng = Worlds(view), Random(5)
    sample = [worlds.draw(rng) for _ in range(number)]
    for world in sample:
        assert GAME.view(world, view.seat) == view
    return sample


def near(count: int, number: int, chance: float) -> bool:
    """Whether ``count`` of ``number`` fits ``chance`` (five standard deviations; the seed is fixed)."""
    return abs(count - number * chance) <= 5 * sqrt(number * chance * (1 - chance))


# All the facts at once ------------------------------------------------------------------------------------------


@given(st.integers(0, 2**64 - 1))
@settings(max_examples=60)
def test_a_world_looks_like_the_view_byte_for_byte_and_has_every_card_once(seed: int) -> None:
    rng = Random(seed)
    viewer: Viewer = rng.choice((None, *ALL_SEATS))
    for state, _, _ in random_play(rng):
        if rng.random() < 0.1:
            view = GAME.view(state, viewer)
            world = GAME.resample(view, rng)
            assert msgspec.json.encode(GAME.view(world, viewer)) == msgspec.json.encode(view)
            assert sorted(every_card(world)) == sorted(CARDS)


class Position(NamedTuple):
    """A late position of a random deal as one viewer sees it, and how it came about."""

    seed: int
    state: State
    view: View
    past: list[Moment]


def late_positions(least: int, most: int, number: int, *, played_by_the_viewer: bool = False) -> Iterator[Position]:
    """So many positions of different random deals, under random house rules, with this many worlds."""
    seed = 0
    while number:
        rng = Random(seed)
        for state, past in games(seed):
            viewer: Viewer = state.table.turn if played_by_the_viewer else rng.choice((None, *ALL_SEATS))
            view = GAME.view(state, viewer)
            if len(state.table.tricks) >= 3 and rng.random() < 0.2 and least <= Worlds(view).ways <= most:
                yield Position(seed, state, view, past)
                number -= 1
                break
        seed += 1


def test_exactly_those_worlds_are_drawn_in_which_every_move_was_legal() -> None:
    """Against the oracle, which replays every deal of the unseen cards through the rules."""
    for position in late_positions(2, 300, 60):
        possible = possible_worlds(position.view, position.past)
        worlds, rng = Worlds(position.view), Random(position.seed)
        assert world_of(position.state) in possible, position.seed
        assert worlds.ways == len(possible), position.seed
        assert {world_of(worlds.draw(rng)) for _ in range(50)} <= possible, position.seed


def test_every_possible_world_is_as_likely() -> None:
    """Chi-square against the enumerated worlds."""
    for position in late_positions(20, 400, 12):
        possible = possible_worlds(position.view, position.past)
        worlds, rng = Worlds(position.view), Random(position.seed)
        counts = Counter(world_of(worlds.draw(rng)) for _ in range(25 * len(possible)))
        assert set(counts) <= possible, position.seed
        chi_square = sum((counts[world] - 25) ** 2 / 25 for world in possible)
        freedom = len(possible) - 1
        assert abs(chi_square - freedom) < 5 * sqrt(2 * freedom), position.seed


# Fact by fact ---------------------------------------------------------------------------------------------------


def test_during_the_declaration_nothing_but_ones_own_cards_and_the_okie_is_known() -> None:
    for viewer in (None, 3):
        for world in drawn(dealt("K5"), viewer, 50):
            assert [len(hand) for hand in world.hands] == [9] * 8
            assert world.answers == (None,) * 8


def test_H17_a_face_down_card_is_a_trump_and_may_be_any_unseen_one() -> None:
    state = opened("K5", "P9 Ksu P1 . ? ? ? ?", hands={3: "Kun"})
    lying = Counter(world.table.trick.cards[1] for world in drawn(state, 3, 2000) if world.table.trick)
    unseen = {card for card in TRUMPS["K"] if card not in ("Kun", "K5")}
    assert set(lying) == unseen
    assert all(near(count, 2000, 1 / len(unseen)) for count in lying.values())
    for world in drawn(state, 1, 50):
        assert world.table.trick is not None
        assert world.table.trick.cards[1] == "Ksu"


def test_H14_the_taker_knows_the_discard_and_nobody_the_side_cards() -> None:
    state = moved(answered(dealt("K5", {0: "P1 P2"})), "-P1")
    assert {world.table.discard for world in drawn(state, 0)} == {"P1"}
    assert len({world.table.discard for world in drawn(state, 3)}) > 30
    assert len({world.table.side for world in drawn(state, 0)}) > 200


MERI = ("P9 P1 O1 P2 P3 P4 P5 P6", "K4 ? ? ? ? ? ? .")
"""Seat 0 wins with a plain card, then leads Meri, which seats 1 to 3 (at least) answer without a trump."""


def test_H18_who_answers_meri_with_a_plain_card_has_no_trump_unless_it_is_a_lone_sun() -> None:
    state = opened("K5", *MERI, hands={1: "G1 G2", 2: "G3 G4", 3: "Psu"})
    held = [card for world in drawn(state, 0) for card in world.hands[1] if card in TRUMPS["K"]]
    assert set(held) == {"Ksu"}


def test_H19_the_lone_sun_is_as_likely_as_the_ways_to_hold_it() -> None:
    """Of a view alone: whether the true hand holds the Sun makes no difference."""
    with_sun = opened("K5", *MERI, hands={1: "G1 G2 Ksu", 2: "G3 G4"})
    without = opened("K5", *MERI, hands={1: "G1 G2 P7", 2: "G3 G4", 7: "Ksu"})
    for state in (with_sun, without):
        assert len(state.hands[1]) == 7
        sample = drawn(state, 0, 1000)
        suns = Counter(seat for world in sample for seat in ALL_SEATS if "Ksu" in world.hands[seat])
        # Equally many free slots take the Sun in each of these hands, so each holds it equally often.
        sevens = [seat for seat in (1, 2, 3) if len(state.hands[seat]) == 7]
        assert all(near(suns[Seat(seat)], 1000, suns[Seat(1)] / 1000) for seat in sevens)
        assert suns[Seat(1)] > 50


def test_H19_the_taker_who_has_played_the_okie_may_still_keep_the_sun_from_meri() -> None:
    hands = {0: "I1 I2 I3 I4 I6 I7", 4: "K1 K2 K3"}
    state = opened("K5", "P9 P1 O1 P2 K1 P4 P5 P6", "K5 ? ? ? K2 ? ? ?", "I1 ? ? . K3 ? ? ?", hands=hands)
    assert state.table.tricks[1].meri
    assert any("Ksu" in world.hands[0] for world in drawn(state, 3))


def test_H19_who_was_dealt_another_trump_cannot_keep_the_sun_from_meri() -> None:
    hands = {1: "G1 G2 G3 I1 I2 I3 I4 I6"}
    state = opened("K5", "P9 K9 O1 P2 Kso P4 P5 P6", "? ? ? ? K1 ? ? ?", hands=hands)
    assert state.table.tricks[0].face_down == (1, 4)
    assert state.table.tricks[1].meri
    for world in drawn(state, 0):
        assert not set(world.hands[1]) & set(TRUMPS["K"])


def under_monchi(third: str, house: HouseRules) -> State:
    """Seat 0 has won a plain trick and a Meri; now it leads Pao again and seat 1, who has none, plays ``third``."""
    hands = {1: "G1 G2 G3 G4 I1 I2"}
    tricks = ("P9 G8 ? ? ? ? ? ?", "Ksu K9 ? ? ? ? ? ?", f"P8 {third} . ? ? ? ? ?")
    return opened("K5", *tricks, hands=hands, house=house)


SUIT_FIRST = HouseRules(monchi=Monchi.SUIT_FIRST)


@pytest.mark.parametrize(("third", "house"), [("G6", DEFAULTS), ("G6", SUIT_FIRST), ("Kre", SUIT_FIRST)])
def test_H20_who_does_not_follow_under_monchi_is_void(third: str, house: HouseRules) -> None:
    for world in drawn(under_monchi(third, house), 0):
        assert not any(card[0] == "P" and card != "Pro" for card in world.hands[1])


def test_H20_a_trump_under_monchi_shows_no_void_where_it_may_always_be_played() -> None:
    sample = drawn(under_monchi("Kre", DEFAULTS), 0)
    assert any(card[0] == "P" and card != "Pro" for world in sample for card in world.hands[1])


def test_H11_the_okie_is_with_its_taker_until_it_is_played() -> None:
    state = opened("K5", "P9 ? ? ? ? ? ? ?")
    assert "K5" in state.hands[0]
    for viewer in (None, 3):
        assert all("K5" in world.hands[0] for world in drawn(state, viewer, 100))


def test_H11_a_takers_face_down_card_may_be_the_okie() -> None:
    state = opened("K5", "P9 ? Psu ? ? ? ? ?", "K5 . P8 ? ? ? ? ?", hands={0: "K1 K2"})
    assert state.table.trick is not None
    assert state.table.trick.face_down == (0,)
    sample = drawn(state, 1, 3000)
    # By counting: if it is the Okie, the rest falls anyhow; if it is another trump, the Okie has one of seven places.
    seen = {*state.hands[1], "K5", state.table.discard, *(state.table.side or ())}
    seen |= {card for trick in state.table.tricks for card in trick.cards} | {*state.table.trick.cards}
    unseen = [card for card in CARDS if card not in seen or card in ("K1", "K2")]
    trumps = [card for card in unseen if card in TRUMPS["K"]]
    chance = len(unseen) / (len(unseen) + 7 * len(trumps))
    assert near(sum("K5" not in world.hands[0] for world in sample), 3000, chance)


def test_H11_a_declared_robai_is_with_its_declarer_until_it_is_played() -> None:
    state = opened("K5", "P9 ? ? ? ? ? ? ?", hands={0: "Kro"}, declarer=0)
    for world in drawn(state, 3, 100):
        assert {"Kro", "K5"} < set(world.hands[0])


def test_H13_who_opened_with_a_trump_has_no_plain_card() -> None:
    hands = {0: "Ksu Kun Kso Kre Kka K1 K2 K3 P1"}
    state = moved(answered(dealt("K5", hands)), "-P1 K5")
    for world in drawn(state, 3, 100):
        assert set(world.hands[0]) <= set(TRUMPS["K"])


def robais(sample: list[State]) -> Counter[str]:
    """How often Koppu's Robai is a side card, the discard, or with the taker, seat 0."""
    counts: Counter[str] = Counter()
    for world in sample:
        assert world.table.side is not None
        counts["side"] += "Kro" in world.table.side
        counts["discard"] += world.table.discard == "Kro"
        counts["taker"] += "Kro" in world.hands[0]
    return counts


def test_H10_silence_makes_the_side_cards_the_likeliest_place_of_the_robai() -> None:
    """Two side cards against the dealt ones, whose holder would rarely have passed."""
    taken = answered(dealt("K5", {0: "P1", 5: "Kro"}))
    # Of 63 dealt cards one is known to be plain as soon as it is discarded.
    for state, of_taker, all_dealt in ((taken, 9, 63), (moved(taken, "-P1"), 8, 62)):
        chance = 2 / (2 + all_dealt * HIDING_RATE)
        counts = robais(drawn(state, 3, 4000))
        assert near(counts["side"], 4000, chance)
        assert near(counts["taker"], 4000, (1 - chance) * of_taker / all_dealt)
        assert counts["discard"] == 0


def test_H10_before_the_answers_the_robai_may_be_anywhere() -> None:
    counts = robais(drawn(dealt("K5", {5: "Kro"}), 3, 4000))
    assert near(counts["side"], 4000, 2 / 65)


def test_H12_the_unseen_discard_is_plain_or_all_ten_were_trumps() -> None:
    state = moved(answered(dealt("K5", {0: "P1"})), "-P1")
    for world in drawn(state, 3, 300):
        assert world.table.discard not in TRUMPS["K"]
        assert "K5" in world.hands[0]


def test_H12_ten_trumps_are_as_likely_as_their_ways() -> None:
    """Far too rare to be drawn, so the weights of the two cases are compared with counting by hand."""
    state = moved(answered(dealt("K5", {0: "Kro P1"}), 0), "-P1")
    view = GAME.view(state, Seat(3))
    # Okie and Robai are the taker's. Unseen are 64 cards more: six hands, the side cards, and eight of the taker's.
    trumps = 14 - sum(card in TRUMPS["K"] for card in view.hand)
    a_plain_discard = (64 - trumps) * comb(63, 7)
    ten_trumps = 10 * comb(trumps, 8)
    by_weight = [scenario.weight for scenario in Worlds(view).scenarios]
    assert by_weight[1] / by_weight[0] == pytest.approx(ten_trumps / a_plain_discard)


def test_H12_option_any_the_okie_is_the_discard_in_one_of_ten() -> None:
    state = moved(answered(dealt("K5", {0: "P1 Kro"}, house=ANY), 0), "-P1")
    sample = drawn(state, 3, 3000)
    assert near(sum(world.table.discard == "K5" for world in sample), 3000, 1 / 10)
    assert near(sum(world.table.discard == "Kro" for world in sample), 3000, 1 / 10)
    assert all({"K5", "Kro"} <= {*world.hands[0], world.table.discard} for world in sample)


def test_a_turned_up_robai_is_nowhere_else() -> None:
    assert native_robai("K") == "Kro"
    for world in drawn(answered(dealt("Kro")), 3, 50):
        assert "Kro" in world.hands[0]


def test_the_same_view_and_generator_give_the_same_world() -> None:
    view = GAME.view(opened("K5", "P9 ? ? ? ? ? ? ?"), Seat(3))
    assert GAME.resample(view, Random(1)) == GAME.resample(view, Random(1))
    assert GAME.resample(view, Random(1)) != GAME.resample(view, Random(2))
