"""The players: sense at the table by single positions, strength by duplicate deals."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clients.cli.arena_deals import Contest, play_pairs
from clients.cli.arena_figures import Interval, result_of
from clients.cli.arena_players import team_of
from engine.game import Budget, Level, Seat, Thought
from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri.bot import SEARCHING
from engine.hachinin_meri.types import Action, Phase, Reason, State
from engine.hachinin_meri.worlds import HIDING_RATE
from tests.engine.hachinin_meri.positions import answered, dealt, late, legal, moved, opened, random_play

MEDIUM = Budget(Level.MEDIUM)


def thought(state: State, level: Level = Level.MEDIUM, seed: int = 0) -> Thought[Action]:
    """What the seat whose turn it is thinks."""
    assert state.table.turn is not None
    view = GAME.view(state, state.table.turn)
    return GAME.think(view, GAME.legal(view), Random(seed), Budget(level))


def choice(state: State) -> tuple[str, str]:
    """What ``medium`` plays, and the code of its reason."""
    chosen = thought(state)
    assert chosen.reason is not None
    return GAME.text(chosen.action), chosen.reason.code


# Sense ----------------------------------------------------------------------------------------------------------


def test_a_partner_whose_trump_cannot_be_beaten_is_not_overtrumped() -> None:
    """Meri: the partner in seat 0 led the Sun; of Un and a low trump the low one is given."""
    state = moved(late("K5", {0: "Ksu P1 P2", 1: "P3 P4 P6", 2: "Kun K9 I1"}), "Ksu P3")
    assert choice(state) == ("K9", Reason.PARTNER_WINS)


def test_nothing_is_spent_on_a_trick_that_a_partner_has_for_certain() -> None:
    """The last seat sees its partner's plain card win, with no trump on the table."""
    state = opened("K5", "O1 Osu O2 O3 O4 O6 O7 .", hands={7: "Ksu Kun G1 G2 G3 I1 I2 I3 I4"})
    card, reason = choice(state)
    assert card[0] != "K"
    assert reason == Reason.PARTNER_WINS


def test_the_last_seat_takes_an_opponents_trick_with_its_cheapest_trump() -> None:
    state = opened("K5", "Osu O1 O2 O3 O4 O6 O7 .", hands={7: "Ksu K1 K9 G1 G2 G3 I1 I2 I3"})
    assert choice(state) == ("K9", Reason.WIN)


def takers_card_lies_there(okie: str, hand: str) -> State:
    """Seat 0, who took the Okie, has put a trump face down; seat 1, an opponent, plays last and holds ``hand``."""
    return opened(okie, "P9 ? Psu ? ? ? ? ?", f"{okie} . P8 ? ? ? ? ?", hands={1: hand})


def test_un_is_not_put_under_a_sun_that_may_well_lie_there() -> None:
    card, reason = choice(takers_card_lies_there("Ksu", "Kun G1 G2 G3 I1 I2"))
    assert card != "Kun"
    assert reason == Reason.PROTECT


def test_the_sun_goes_after_an_un_that_may_well_lie_there() -> None:
    chosen = thought(takers_card_lies_there("Kun", "Ksu G1 G2 G3 I1 I2"))
    assert GAME.text(chosen.action) == "Ksu"
    assert chosen.reason is not None
    assert chosen.reason.code == Reason.COMBINATION
    assert chosen.reason.params == {"card": "Ksu", "pair": "sun-un"}


def test_the_sun_is_kept_for_the_ninth_trick_while_an_un_is_out() -> None:
    state = moved(late("K5", {0: "O1 P1", 1: "Ksu G9", 6: "Kun O9"}), "O1")
    assert choice(state) == ("G9", Reason.KEEP_LAST)


def test_a_plain_card_is_discarded_rather_than_a_trump() -> None:
    state = answered(dealt("K5", {0: "Ksu Kun Kso K9 K8 K7 K6 K4 P1"}))
    assert choice(state) == ("-P1", Reason.FORCED)
    free = answered(dealt("K5", {0: "Ksu Kun Kso K9 K8 K7 O9 O8 P1"}))
    card, reason = choice(free)
    assert card in ("-P1", "-O9", "-O8")
    assert reason == Reason.VOID


def test_the_robai_is_declared_but_for_a_fixed_rate() -> None:
    view = GAME.view(dealt("K5", {3: "Kro"}), Seat(3))
    for level in (Level.EASY, Level.MEDIUM):
        rng = Random(1)
        thoughts = [GAME.think(view, GAME.legal(view), rng, Budget(level)) for _ in range(2000)]
        hidden = sum(GAME.text(each.action) == "pass" for each in thoughts)
        assert abs(hidden / 2000 - HIDING_RATE) < 0.02
        codes = {each.reason.code for each in thoughts if each.reason}
        assert codes == {Reason.DECLARE, Reason.HIDE}


def test_a_seat_without_the_robai_only_passes() -> None:
    view = GAME.view(dealt("K5", {3: "Kro"}), Seat(2))
    chosen = GAME.think(view, GAME.legal(view), Random(0), MEDIUM)
    assert GAME.text(chosen.action) == "pass"
    assert chosen.reason is not None
    assert chosen.reason.code == Reason.NOTHING_TO_DECLARE


# Contract -------------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**64 - 1), st.sampled_from(Level))
@settings(max_examples=40, deadline=None)
def test_a_choice_is_legal_reasoned_valued_and_repeatable(seed: int, level: Level) -> None:
    for state, seat, _ in random_play(Random(seed)):
        view = GAME.view(state, seat)
        possible = GAME.legal(view)
        budget = Budget(level, rollouts=12)
        chosen = GAME.think(view, possible, Random(seed), budget)
        assert chosen.action in possible
        assert chosen.reason is not None
        assert chosen.reason.code in set(Reason)
        assert chosen == GAME.think(view, possible, Random(seed), budget)
        if chosen.values:
            assert set(chosen.values) == {GAME.text(action) for action in possible}
            # A search keeps what it began with unless something else is better beyond doubt.
            best = chosen.values[GAME.text(chosen.action)] == max(chosen.values.values())
            assert best or level in SEARCHING


@pytest.mark.parametrize("level", sorted(SEARCHING))
@pytest.mark.parametrize(
    ("state", "seat"),
    [
        pytest.param(dealt("K5", {3: "Kro"}), 3, id="answering"),
        pytest.param(answered(dealt("K5", {0: "Ksu K9 K8 K7 O9 O8 P1 P2 I3"})), 0, id="discarding"),
        pytest.param(opened("K5", ". . . . . . . ."), 0, id="leading"),
        pytest.param(opened("K5", "O1 . . . . . . .", hands={1: "O9 Osu Ksu K9 G1 G2 G3 I1 I2"}), 1, id="following"),
    ],
)
def test_every_kind_of_decision_is_searched(level: Level, state: State, seat: int) -> None:
    view = GAME.view(state, Seat(seat))
    thoughts = [GAME.think(view, GAME.legal(view), Random(seed), Budget(level, rollouts=24)) for seed in range(8)]
    searched = [thought for thought in thoughts if thought.searched]  # of hard's decisions medium makes some
    assert searched
    assert all(set(each.values) == set(map(GAME.text, GAME.legal(view))) for each in searched)


@given(st.integers(0, 2**64 - 1))
@settings(max_examples=40)
def test_the_default_action_is_legal_harmless_and_the_same_in_every_world(seed: int) -> None:
    rng = Random(seed)
    for state, seat, _ in random_play(rng):
        view = GAME.view(state, seat)
        action = GAME.default_action(view)
        assert action in GAME.legal(view)
        if state.table.phase is Phase.DECLARING:
            assert GAME.text(action) == "pass"


def test_the_default_card_is_the_cheapest() -> None:
    taker = answered(dealt("K5", {0: "Psu P1 I9 Ksu G9 G1"}))
    assert GAME.text(GAME.default_action(GAME.view(taker, Seat(0)))) in ("-P1", "-G9")
    forced = moved(late("K5", {0: "K1 P1", 1: "Ksu K9"}), "K1")
    assert legal(forced) == ["K9", "Ksu"]
    assert GAME.text(GAME.default_action(GAME.view(forced, Seat(1)))) == "K9"


@given(st.integers(0, 2**64 - 1))
@settings(max_examples=25)
def test_what_a_player_cannot_see_moves_neither_its_choice_nor_its_values_nor_its_dice(seed: int) -> None:
    rng = Random(seed)
    for state, seat, _ in random_play(rng):
        if rng.random() > 0.15:
            continue
        told = []
        for world in (state, GAME.resample(GAME.view(state, seat), rng)):
            dice = Random(seed)
            view = GAME.view(world, seat)
            told.append((GAME.think(view, GAME.legal(view), dice, MEDIUM), dice.getstate()))
        assert told[0] == told[1]


# Strength -------------------------------------------------------------------------------------------------------


def points(first: str, second: str, pairs: int, seed: int) -> Interval:
    """The first team's points of nine, from duplicate deals turned by one seat."""
    teams = (team_of(first, GAME), team_of(second, GAME))
    contest = Contest(GAME.name, GAME.complete_options({}), teams, seed)
    return result_of(contest, list(play_pairs(contest, range(pairs)))).points


def test_medium_beats_random_play_and_easy_stands_between() -> None:
    assert points("medium", "random", 40, 1).low > 5.1
    assert points("easy", "random", 40, 2).low > 4.6
    assert points("medium", "easy", 120, 3).low > 4.5


@pytest.mark.long
def test_the_bars_hold() -> None:
    """With twice the pairs of the figures in docs/hachinin-meri.md."""
    assert points("medium", "random", 2000, 11).low >= 5.1
    assert points("easy", "random", 2000, 12).low >= 4.8
    assert points("medium", "easy", 2000, 13).low > 4.6
