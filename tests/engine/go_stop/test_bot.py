"""The AI players: sense in hand-made positions, reasons, and strength."""

from __future__ import annotations

from random import Random

import pytest

from engine.game import Budget, Card, Level, Message, Thought
from engine.go_stop import GO_STOP
from engine.go_stop.types import Action, Bonus, Combo, Play, Reason, State
from tests.engine.go_stop.positions import ME, RIVAL, cards, play, position
from tests.engine.go_stop.strength import at_random, easy, margin, medium, stopping

BIRDS_AND_TWO = "02a 04a 08a 05a 06a"


def thought(state: State, level: Level = Level.MEDIUM, seed: int = 1) -> Thought[Action]:
    seat = state.table.turn
    legal = GO_STOP.legal_at(state, seat)
    return GO_STOP.think(GO_STOP.view(state, seat), legal, Random(seed), Budget(level))


def chosen(state: State, level: Level = Level.MEDIUM, seed: int = 1) -> str:
    return GO_STOP.text(thought(state, level, seed).action)


def full(hand: str, layout: str, mine: str = "", theirs: str = "", own_ppuk: int | None = None) -> State:
    """A position with all 48 cards: those not named are in the other player's hand, every other one, and the stock."""
    used = set(f"{hand} {layout} {mine} {theirs}".split())
    unseen = [card for card in GO_STOP.cards if card not in used]
    played = (cards(mine)[: 10 - len(cards(hand))], cards(theirs)[:1])
    rival = unseen[::2][: 10 - len(played[RIVAL])]
    return position(
        hand=hand,
        layout=layout,
        stock=" ".join(card for card in unseen if card not in rival),
        rival=" ".join(rival),
        mine=mine,
        theirs=theirs,
        played=played,
        ppuks_on_layout={} if own_ppuk is None else {own_ppuk: ME},
    )


# Sense ---------------------------------------------------------------------------------------------------------------


def test_a_card_that_completes_a_combination_is_taken() -> None:
    state = full("08p 01p 06q", "08a 01q 05p", mine="02a 02p 04a 04p", theirs="03p 03q")
    found = thought(state)
    assert found.action == Play(Card("08p"))
    assert found.reason == Message(Reason.COMPLETES, {"combos": (Combo.GODORI,)})


def test_of_two_targets_the_one_that_completes_is_taken() -> None:
    assert chosen(full("01p 06q 10q", "01r 01q 05p", mine="02r 02p 03r 03p")) == "01p*01r"


def test_the_choice_for_the_stock_card_takes_what_completes() -> None:
    state = position(
        hand="05p 06q", layout="01r 01q", stock="01p 11s", mine="02r 02p 03r 03p", rival="12b 12a", played=((), ())
    )
    asked = play(state, "05p").state
    found = thought(asked)
    assert GO_STOP.text(found.action) == "*01r"
    assert found.reason == Message(Reason.COMPLETES, {"combos": (Combo.RED_POETRY,)})


def test_the_other_players_combination_is_denied() -> None:
    state = full("08p 01p 11q", "08a 01q 12r", mine="03p 03q", theirs="02a 02p 04a 04p")
    found = thought(state)
    assert found.action == Play(Card("08p"))
    assert found.reason == Message(Reason.DENIES, {"combo": Combo.GODORI})


def test_a_bright_is_preferred_to_plain_junk() -> None:
    assert chosen(full("08p 01p 06q", "08b 01q 05p")) == "08p"


def test_the_own_ppuk_is_captured_for_the_junk() -> None:
    state = full("03q 01p 06r", "03p 03r 03b 01q 10p", theirs="07p 07q", own_ppuk=3)
    found = thought(state)
    assert found.action == Play(Card("03q"))
    assert found.reason == Message(Reason.TAKES_JUNK, {"bonus": Bonus.OWN_PPUK})


def test_without_a_capture_the_discard_gives_least_away() -> None:
    """Only one card could take the bush clover; the bird is a gift, and so is the bright."""
    state = full("04a 07q 11b", "01p 12r 10p", mine="07p 07r", theirs="02a 02p 08a 08p")
    found = thought(state)
    assert found.action == Play(Card("07q"))
    assert found.reason == Message(Reason.LAYS, {"card": "07q", "holders": 1})


def test_working_towards_a_combination_is_a_reason() -> None:
    found = thought(full("09p 01p 11s", "09r 12r 03q", mine="06r 06p"))
    assert found.action == Play(Card("09p"))
    assert found.reason == Message(Reason.WORKS_TOWARDS, {"combo": Combo.BLUE, "have": 2, "need": 3})


def test_the_only_action_needs_no_thought() -> None:
    assert thought(position(hand="03r", layout="05p")).reason == Message(Reason.ONLY_ACTION)


# Stop or go ----------------------------------------------------------------------------------------------------------


def deciding(theirs: str, layout: str = "07p") -> State:
    return play(full("07a 10p 03q 12r 11q", layout, mine=BIRDS_AND_TWO, theirs=theirs), "07a").state


@pytest.mark.parametrize("level", [Level.EASY, Level.MEDIUM])
@pytest.mark.parametrize("seed", range(20))
def test_go_against_a_player_far_from_stopping_stop_against_one_about_to(level: Level, seed: int) -> None:
    """On no level is a made score a matter of chance."""
    assert chosen(deciding(theirs="09p 09q"), level, seed) == "go"
    near = "01r 01b 02r 02p 03r 03b 06r 06p 09r 09p 08b 08p"
    assert chosen(deciding(theirs=near, layout="07p 10r 11b 11s"), level, seed) == "stop"


def test_a_decision_names_its_reason_and_what_either_is_worth() -> None:
    going = thought(deciding(theirs="09p 09q"))
    assert going.reason == Message(Reason.GOES, {"points": 0})
    assert going.values["stop"] == 7
    assert going.values["go"] > 7


# Levels --------------------------------------------------------------------------------------------------------------


def test_every_action_has_a_value_and_the_best_is_chosen() -> None:
    state = full("08p 01p 06q", "08a 01q 01r", mine="02a 02p 04a 04p")
    found = thought(state)
    assert set(found.values) == {GO_STOP.text(action) for action in GO_STOP.legal_at(state, ME)}
    assert found.values[GO_STOP.text(found.action)] == max(found.values.values())


def test_the_easy_level_errs_in_about_two_of_five_moves() -> None:
    state = full("08p 01p 06q", "08a 01q 05p", mine="02a 02p 04a 04p")
    reasons = [thought(state, Level.EASY, seed).reason for seed in range(500)]
    assert 150 < reasons.count(Message(Reason.TRIES_SOMETHING)) < 250


def test_the_medium_level_uses_no_chance() -> None:
    state = full("08p 01p 06q", "08a 01q 05p", mine="02a 02p 04a 04p")
    rng = Random(1)
    before = rng.getstate()
    GO_STOP.think(GO_STOP.view(state, ME), GO_STOP.legal_at(state, ME), rng, Budget(Level.MEDIUM))
    assert rng.getstate() == before


def test_the_default_action_discards_cheaply_chooses_dearly_and_stops() -> None:
    assert GO_STOP.default_action(GO_STOP.view(full("08b 02a 05q 05r", "01p"), ME)) == Play(Card("05q"))
    asked = play(position(hand="05p 06q", layout="01r 01b", stock="01p"), "05p").state
    assert GO_STOP.text(GO_STOP.default_action(GO_STOP.view(asked, ME))) == "*01b"
    assert GO_STOP.text(GO_STOP.default_action(GO_STOP.view(deciding(theirs=""), ME))) == "stop"


# Strength ------------------------------------------------------------------------------------------------------------


def test_medium_clearly_beats_random_play() -> None:
    assert margin(medium, at_random, pairs=60, seed=11).low > 7


def test_medium_clearly_beats_easy() -> None:
    assert margin(medium, easy, pairs=150, seed=12).low > 0


@pytest.mark.long
def test_the_levels_are_measurably_apart() -> None:
    assert margin(medium, at_random, pairs=3000, seed=21).low >= 7
    assert margin(medium, stopping, pairs=2000, seed=24).low > 2
    assert margin(easy, at_random, pairs=2000, seed=22).low >= 5
    assert margin(medium, easy, pairs=3000, seed=23).low >= 4


@pytest.mark.long
def test_a_thousand_deals_of_ai_alone_all_end() -> None:
    """With the options on that change a bot's mind; ``margin`` plays every deal to its end."""
    assert margin(medium, easy, pairs=500, seed=31, options={"sseul": "broad", "go_bak": "on"}).low > 0
