"""The house's players: what they see in a position, and how strong they are."""

from __future__ import annotations

from itertools import chain
from random import Random

import pytest
from msgspec.structs import replace

from engine.game import Budget, Level, Message, Thought
from engine.koi_koi import KOI_KOI
from engine.koi_koi.types import Action, Phase, Reason, Rules, State, Viewing
from tests.engine.koi_koi.scenes import FIRST, SECOND, act, cards, deal, legal, position, random_play, shuffled
from tests.engine.koi_koi.strength import PLAYERS, measure

LEVELS = KOI_KOI.levels
A_LOOK = 60
"""Rollouts for the levels that search: few, but enough for what is plain to see."""


def thought(state: State, level: Level = Level.MEDIUM, seed: int = 1, rollouts: int | None = A_LOOK) -> Thought[Action]:
    view, legal = KOI_KOI.view(state, state.table.turn), KOI_KOI.legal_at(state, state.table.turn)
    return KOI_KOI.think(view, legal, Random(seed), Budget(level, rollouts))


def whole(state: State) -> State:
    """The position with a place for every card, as the levels that search expect it: the stock is filled up, and plains
    that are left over were captured.
    """
    table = state.table
    named = {table.turned, *state.hands[0], *state.hands[1], *state.stock, *table.board, *chain(*table.captured)}
    spare = sorted((card for card in KOI_KOI.cards if card not in named), key=lambda card: card[2] not in "pqs")
    missing = 8 + sum(table.hand_sizes) - len(state.stock)
    stock, taken = (*state.stock, *spare[len(spare) - missing :]), spare[: len(spare) - missing]
    piles = ((*table.captured[0], *taken[::2]), (*table.captured[1], *taken[1::2]))
    return State(replace(table, stock=len(stock), captured=piles), state.hands, stock)


def choice(state: State, level: Level = Level.MEDIUM, seed: int = 1, rollouts: int = A_LOOK) -> str:
    return KOI_KOI.text(thought(state, level, seed, rollouts).action)


def default(state: State) -> str:
    return KOI_KOI.text(KOI_KOI.default_action(KOI_KOI.view(state, state.table.turn)))


FINISHING = position(
    ("01b 06a 11p 04q", "12q 08p 03q 02q"), "06p 01p 01q 05a", "12s 10p 09p 07q 03b 08b 12b", ("07a 10a", "")
)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(30))
def test_no_level_passes_by_a_finished_yaku(level: Level, seed: int) -> None:
    found = thought(whole(FINISHING), level, seed, rollouts=None)
    assert KOI_KOI.text(found.action) == "06a"
    assert found.reason == Message(Reason.COMPLETES, {"yaku": "boar-deer-butterfly", "points": 5})


@pytest.mark.parametrize("level", LEVELS)
def test_of_two_targets_the_better_one_is_taken(level: Level) -> None:
    waiting = act(position(("12p 11p", "12q"), "08p 04a 08b", "08q 05p 02p", ("01b 03b", "")), "12p").state
    assert legal(waiting) == ["*08b", "*08p"]
    assert choice(whole(waiting), level) == "*08b"


def test_a_yaku_that_the_hand_card_made_is_no_reason_for_what_the_stock_card_takes() -> None:
    """It is made whatever the stock card takes."""
    waiting = act(position(("06a 12p", "12q"), "06p 05a 05r", "05p 02p", ("07a 10a", "")), "06a").state
    reason = thought(waiting).reason
    assert reason == Message(Reason.BUILDS, {"yaku": "animals", "cards": cards("05a"), "missing": 1})


def test_medium_takes_the_card_that_the_other_player_needs() -> None:
    state = position(("08p 04p 11p", "12q 02q 05q"), "08b 04q 10p", "12s 09p 07p 01p", ("", "01b 03b"))
    assert choice(state) == "08p"
    assert thought(state).reason == Message(Reason.DENIES, {"yaku": "three-brights", "cards": cards("08b")})


def test_medium_works_towards_a_yaku() -> None:
    state = position(("10a 04p 11p", "12q 02q 05q"), "10p 04q 09p", "12s 08p 07p 01p", ("07a 07p", ""))
    assert choice(state) == "10a"
    assert thought(state).reason == Message(
        Reason.BUILDS, {"yaku": "boar-deer-butterfly", "cards": cards("10a"), "missing": 1}
    )


def test_medium_lays_down_what_helps_the_other_player_least() -> None:
    state = position(("08b 04p 12p", "12q 02q 05q"), "10p 09p", "12s 08p 07p 01p", ("", "01b 03b"))
    assert choice(state) != "08b"
    assert thought(state).reason == Message(Reason.LAYS, {"card": choice(state)})
    values = thought(state).values
    assert values["08b"] == min(values.values())


def test_medium_stops_when_the_other_player_is_about_to_finish() -> None:
    before = position(
        ("06a 12p 02q", "12q 02p"), "06p 08b 03p", "11p 08p 03q 08q", ("07a 10a", "01b 03b 05a 04a 02a 08a")
    )
    decided = act(before, "06a").state
    assert choice(decided) == "stop"
    assert thought(decided).reason == Message(Reason.TAKES_POINTS, {"score": 5})


HOPEFUL = position(
    ("11r 03b 09p 05q 12p 04p", "12q 02p 02q 04q 10q"),
    "11p 03p 09q 05p",
    "12s 07q 06p 10p 04a",
    ("02r 04r 05r 06r 01b 08b", "01p 01q 08p 08q"),
)


def test_medium_plays_on_when_much_is_in_sight_and_little_to_lose() -> None:
    decided = act(HOPEFUL, "11r").state
    assert choice(decided) == "koi"
    assert thought(decided).reason == Message(Reason.HOPES_FOR_MORE, {"score": 1})


def test_seven_doubles_makes_playing_on_with_six_worth_more() -> None:
    def promise(rules: Rules) -> float:
        before = position(
            ("03b 09p 11r", "12q 02q 10q"),
            "03p 09q 11p",
            "12s 07q 06p 10p",
            ("01b 08b 02r 04r 05r 06r", ""),
            rules=rules,
        )
        return thought(act(before, "03b").state).values["koi"]

    assert promise(Rules(seven_doubles=True)) > promise(Rules())


def test_opponent_call_doubles_makes_playing_on_riskier() -> None:
    def promise(rules: Rules) -> float:
        before = position(
            ("06a 12p", "12q 02p"), "06p 08b 03p", "11p 08p 03q 08q", ("07a 10a", "01b 03b 12b"), rules=rules
        )
        return thought(act(before, "06a").state).values["koi"]

    assert promise(Rules(opponent_call_doubles=True)) < promise(Rules())


def test_viewing_yaku_are_aimed_at_only_where_they_count() -> None:
    def worth(viewing: Viewing) -> float:
        state = position(("09a 12p", "12q"), "09p", "11p", ("03b 03p", ""), rules=Rules(viewing=viewing))
        return thought(state).values["09a"]

    assert worth(Viewing.ON) > worth(Viewing.OFF) + 4


@pytest.mark.parametrize("level", LEVELS)
def test_a_single_legal_move_needs_no_thought(level: Level) -> None:
    forced = act(position(("06a", "12q"), "06p", "11p", ("07a 10a", "")), "06a").state
    assert thought(forced, level) == Thought(KOI_KOI.parse("stop"), {}, Message(Reason.ONLY_MOVE))


def test_easy_errs_sometimes_but_never_in_a_decision() -> None:
    rng = Random(9)
    errors = dict.fromkeys(Phase, 0)
    asked = dict.fromkeys(Phase, 0)
    for seed in range(40):
        for state, _, _ in random_play(Random(seed)):
            if len(legal(state)) > 1:
                reason = thought(state, Level.EASY, rng.randrange(2**32)).reason
                asked[state.table.phase] += 1
                errors[state.table.phase] += reason == Message(Reason.AT_RANDOM)
    assert errors[Phase.DECIDE] == 0 < asked[Phase.DECIDE]
    assert 0.3 < errors[Phase.PLAY] / asked[Phase.PLAY] < 0.45
    assert errors[Phase.CHOOSE] > 0


def test_every_reason_occurs_and_values_name_exactly_the_legal_moves() -> None:
    codes: set[str] = set()
    for seed in range(60):
        for state, _, _ in random_play(Random(seed)):
            for level in LEVELS:
                found = thought(state, level, seed)
                assert found.reason is not None
                codes.add(found.reason.code)
                assert found.action in KOI_KOI.legal_at(state, state.table.turn)
                assert list(found.values) in ([], legal(state))
    assert codes == set(Reason)


def test_medium_draws_nothing_from_its_generator() -> None:
    rng = Random(1)
    before = rng.getstate()
    for state, _, _ in random_play(Random(3)):
        seat = state.table.turn
        KOI_KOI.think(KOI_KOI.view(state, seat), KOI_KOI.legal_at(state, seat), rng, Budget())
    assert rng.getstate() == before


@pytest.mark.parametrize("level", LEVELS)
def test_what_cannot_be_seen_changes_neither_choice_nor_values(level: Level) -> None:
    rng = Random(5)
    for state, _, _ in random_play(Random(11)):
        seat = state.table.turn
        world = KOI_KOI.resample(KOI_KOI.view(state, seat), rng)
        assert thought(world, level, 7) == thought(state, level, 7)


def test_the_default_action_plays_the_plainest_card() -> None:
    state = position(("01b 06a 03r 12p", "12q"), "06p 03p 12q 12s", "11p")
    assert default(state) == "12p*12q"
    assert default(position(("01b 06a 03r", "12q"), "06p 03p", "11p")) == "03r"


def test_the_default_action_takes_the_better_target() -> None:
    waiting = act(position(("12p 11p", "12q"), "08p 04a 08b", "08q 05p"), "12p").state
    assert default(waiting) == "*08b"


def test_the_default_action_stops_when_a_decision_is_open() -> None:
    assert default(act(HOPEFUL, "11r").state) == "stop"


@pytest.mark.parametrize("level", LEVELS)
def test_a_thousand_deals_between_machines_all_end(level: Level) -> None:
    rng = Random(13)
    for number in range(1000 // len(LEVELS)):
        state = deal(shuffled(rng), (FIRST, SECOND)[number % 2]).state
        for _ in range(40):
            if KOI_KOI.outcome(state) is not None:
                break
            state = act(state, choice(state, level, number, rollouts=8)).state
        assert KOI_KOI.outcome(state) is not None


def test_medium_clearly_beats_random_and_easy_lies_between() -> None:
    assert measure(PLAYERS["medium"], PLAYERS["random"], pairs=150, seed=101).lower > 1.7
    assert measure(PLAYERS["easy"], PLAYERS["random"], pairs=100, seed=102).lower > 0.8
    assert measure(PLAYERS["medium"], PLAYERS["easy"], pairs=150, seed=103).lower > 0.3


@pytest.mark.long
def test_medium_over_random_is_at_least_1_7_points_a_deal() -> None:
    assert measure(PLAYERS["medium"], PLAYERS["random"], pairs=3000, seed=1).lower >= 1.7


@pytest.mark.long
def test_each_level_is_above_the_one_below() -> None:
    assert measure(PLAYERS["medium"], PLAYERS["easy"], pairs=3000, seed=2).lower > 0
    assert measure(PLAYERS["easy"], PLAYERS["random"], pairs=3000, seed=3).lower > 0
