"""What a viewer may know, and the worlds that fit it."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from random import Random

import msgspec
import pytest
from msgspec.structs import replace

from engine.game import Card, Seat, Viewer
from engine.go_stop import GO_STOP
from engine.go_stop.table import opened
from engine.go_stop.types import CARDS, Dealt, FourOfAMonth, Redeal, State, Table, View
from tests.engine.go_stop.positions import ME, RIVAL, cards, play, position, the
from tests.engine.go_stop.test_deal import EVEN, MINE_FOUR, ODD, PLAIN, THEIRS_FOUR, deal

VIEWERS: tuple[Viewer, ...] = (None, ME, RIVAL)


def has_four_of_a_month(hand: tuple[Card, ...]) -> bool:
    """Counted here anew, not with the engine's function."""
    return 4 in Counter(card[:2] for card in hand).values()


def test_dealt_hands_are_hidden_from_everybody_else() -> None:
    dealt = the(deal(EVEN, ODD, PLAIN), Dealt)
    assert GO_STOP.redact(dealt, None) == replace(dealt, hands=(None, None))
    assert GO_STOP.redact(dealt, ME) == replace(dealt, hands=(cards(EVEN), None))
    assert GO_STOP.redact(dealt, RIVAL) == replace(dealt, hands=(None, cards(ODD)))


def test_everything_but_hands_and_stock_is_public() -> None:
    state = deal(EVEN, ODD, PLAIN).state
    for viewer in VIEWERS:
        assert GO_STOP.view(state, viewer) == View(viewer, None if viewer is None else state.hands[viewer], state.table)


def test_no_event_of_a_turn_hides_anything() -> None:
    step = play(position(hand="03r 05p", layout="01p 01q 03p", stock="01b", theirs="06p"), "03r", "*01p")
    for event in step.events:
        assert all(GO_STOP.redact(event, viewer) is event for viewer in VIEWERS)


def test_a_decision_can_be_taken_from_its_view_alone() -> None:
    view = GO_STOP.view(play(position(hand="07a 10p", layout="07p", mine="02a 04a 08a 05a 06a"), "07a").state, ME)
    assert {combination.name: combination.points for combination in view.table.scores[ME].combinations} == {
        "animals": 2,
        "godori": 5,
    }
    assert view.table.captured == (cards("02a 04a 08a 05a 06a 07a 07p"), ())
    assert [GO_STOP.text(action) for action in GO_STOP.legal(view)] == ["go", "stop"]


def test_a_spectators_view_carries_no_hand_even_of_a_seat_that_plays() -> None:
    encoded = msgspec.json.encode(GO_STOP.view(deal(EVEN, ODD, PLAIN).state, None)).decode()
    assert not [card for card in cards(f"{EVEN} {ODD}") if card in encoded]


# Worlds --------------------------------------------------------------------------------------------------------------


def late_table(played: tuple[str, str], hidden: str, mine: str = "") -> Table:
    """One card left in either hand; what is not hidden is captured."""
    table = opened(Dealt(GO_STOP.complete_options({}), 0, ME, (None, None), ()))
    captured = tuple(card for card in CARDS if card not in cards(f"{hidden} {mine}"))
    assert all(len(cards(each)) == 9 for each in played)
    return replace(
        table,
        played=tuple(map(cards, played)),
        captured=(captured, ()),
        stock_left=len(cards(hidden)) - (1 if mine else 2),
    )


MINE_PLAYED = "05a 05p 05q 06a 06r 08b 08a 09a 09r"
"""The fourth iris (05r) cannot have been among the other ten."""
THEIRS_PLAYED = "01b 01r 01p 02a 02r 03b 03r 04a 04r"
"""Nor can the fourth pine (01q)."""


def worlds_for_a_seat(hidden: tuple[Card, ...]) -> list[State]:
    table = late_table((MINE_PLAYED, THEIRS_PLAYED), " ".join(hidden), mine="10a")
    return [
        State(table, (cards("10a"), (order[0],)), order[1:])
        for order in permutations(hidden)
        if not has_four_of_a_month((*cards(THEIRS_PLAYED), order[0]))
    ]


def worlds_for_a_spectator(hidden: tuple[Card, ...]) -> list[State]:
    table = late_table((MINE_PLAYED, THEIRS_PLAYED), " ".join(hidden))
    return [
        State(table, ((order[0],), (order[1],)), order[2:])
        for order in permutations(hidden)
        if not has_four_of_a_month((*cards(MINE_PLAYED), order[0]))
        and not has_four_of_a_month((*cards(THEIRS_PLAYED), order[1]))
    ]


def chi_square(view: View, worlds: list[State], draws: int) -> float:
    """Pearson's, of ``draws`` sampled worlds against all worlds alike likely."""
    rng = Random(20)
    found = Counter(key(GO_STOP.resample(view, rng)) for _ in range(draws))
    assert found.keys() <= {key(world) for world in worlds}
    expected = draws / len(worlds)
    return sum((found[key(world)] - expected) ** 2 for world in worlds) / expected


def key(state: State) -> bytes:
    return msgspec.json.encode((state.hands, state.stock))


def test_G2_sampled_worlds_are_uniform_over_those_a_seat_holds_possible() -> None:
    hidden = cards("01q 07p 07q 12a")
    worlds = worlds_for_a_seat(hidden)
    assert len(worlds) == 18  # 24 orders, less 6 with the pine in the other hand
    view = GO_STOP.view(worlds[0], ME)
    assert chi_square(view, worlds, draws=6000) < 40.8  # 17 degrees of freedom, 1 in 1,000


def test_G2_sampled_worlds_are_uniform_over_those_a_spectator_holds_possible() -> None:
    hidden = cards("05r 01q 07p 07q")
    worlds = worlds_for_a_spectator(hidden)
    assert len(worlds) == 14  # 24, less 6 and 6 for either card, 2 of them counted twice
    view = GO_STOP.view(worlds[0], None)
    assert chi_square(view, worlds, draws=6000) < 34.5  # 13 degrees of freedom, 1 in 1,000


@pytest.mark.parametrize("viewer", VIEWERS)
def test_G2_a_shown_four_of_a_month_is_in_every_sampled_hand(viewer: Viewer) -> None:
    state = deal(MINE_FOUR, ODD, "02a 02r 06p 07p 11b 11p 12b 12a").state
    assert isinstance(state.table.ended, FourOfAMonth)
    rng = Random(3)
    for _ in range(50):
        world = GO_STOP.resample(GO_STOP.view(state, viewer), rng)
        assert set(cards("01b 01r 01p 01q")) <= set(world.hands[0])
        assert not has_four_of_a_month(world.hands[1])


@pytest.mark.parametrize("viewer", VIEWERS)
def test_G2_hands_shown_at_a_redeal_are_in_every_sampled_world(viewer: Viewer) -> None:
    state = deal(MINE_FOUR, THEIRS_FOUR, "02a 02r 07a 07r 11b 11p 12b 12a").state
    assert isinstance(state.table.ended, Redeal)
    rng = Random(3)
    for _ in range(50):
        world = GO_STOP.resample(GO_STOP.view(state, viewer), rng)
        for seat in (0, 1):
            assert set(state.table.ended.hands[seat]) <= set(world.hands[seat])


def test_G2_a_redeal_for_the_layout_says_nothing_about_the_hands() -> None:
    state = deal(EVEN, ODD, "11b 11p 11q 11s 01p 02p 03p 04p").state
    rng = Random(5)
    worlds = [GO_STOP.resample(GO_STOP.view(state, None), rng) for _ in range(400)]
    assert any(has_four_of_a_month(hand) for world in worlds for hand in world.hands)


def test_a_card_being_matched_is_in_no_sampled_hand_or_stock() -> None:
    rng = Random(8)
    state = deal(EVEN, ODD, "01p 01q 06p 07p 11p 11q 12p 12a").state
    for _ in range(200):  # some order of the stock asks for a choice
        state = GO_STOP.resample(GO_STOP.view(state, ME), rng)
        step = play(state, "03b")
        if step.state.table.pending is not None:
            break
    pending = step.state.table.pending
    assert pending is not None
    for _ in range(50):
        world = GO_STOP.resample(GO_STOP.view(step.state, Seat(1)), rng)
        assert not {pending.card, pending.revealed} & {*world.hands[0], *world.hands[1], *world.stock}
