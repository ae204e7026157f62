"""Who knows what, and the worlds that are drawn from it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from random import Random
from typing import Any, get_args

import msgspec
import pytest
from msgspec.structs import replace

from engine.game import Card, Seat, Viewer
from engine.koi_koi import KOI_KOI
from engine.koi_koi.rules import opening_in
from engine.koi_koi.types import Dealt, Event, HandsRedeal, OpeningScored, Phase, Rules, State, Table, View
from tests.engine.koi_koi.scenes import FIRST, SECOND, act, cards, deal, deck, legal, position, random_play, shuffled

PAIRS = "02a 02r 03b 03r 04a 04r 05a 05r"
QUAD = "01b 01r 01p 01q 06a 07a 08b 09a"
MIXED = "06a 07a 08b 09a 10a 11b 12b 08a"

DECKS = {
    "in play": deck(),
    "board redeal": deck(board=PAIRS),
    "hands redeal": deck(lead=PAIRS, reply=QUAD),
    "first player scored": deck(lead=PAIRS, reply=MIXED),
    "second player scored": deck(lead=MIXED, reply=PAIRS),
}


def encoded(value: object) -> bytes:
    return msgspec.json.encode(value)


# What is hidden


@pytest.mark.parametrize("viewer", [FIRST, SECOND, None])
def test_dealing_shows_a_viewer_their_own_hand_and_the_board(viewer: Viewer) -> None:
    (event,) = deal(deck()).events
    shown = KOI_KOI.redact(event, viewer)
    assert isinstance(event, Dealt)
    assert isinstance(shown, Dealt)
    assert shown.hands == tuple(hand if seat == viewer else None for seat, hand in enumerate(event.hands))
    assert shown == replace(event, hands=shown.hands)


def test_no_event_says_what_is_in_the_stock() -> None:
    rng = Random(3)
    for state, _, step in random_play(rng):
        told = encoded([event for event in step.events if not isinstance(event, Dealt)])
        hidden = step.state.stock
        assert not [card for card in hidden if card.encode() in told], state


@pytest.mark.parametrize("viewer", [FIRST, SECOND, None])
def test_a_stop_shows_nobody_the_other_hand(viewer: Viewer) -> None:
    decided = act(position(("06a 12p", "12q 01b"), "06p", "12s", ("07a 10a", "")), "06a").state
    stopped = act(decided, "stop")
    told = encoded([KOI_KOI.view(stopped.state, viewer), *(KOI_KOI.redact(event, viewer) for event in stopped.events)])
    assert (b'"01b"' in told) == (viewer == SECOND)
    assert (b'"12p"' in told) == (viewer == FIRST)


def test_only_dealing_needs_redaction_and_every_event_is_thought_of() -> None:
    seen: set[type] = set()
    for seed in range(60):
        rng = Random(seed)
        for _, _, step in random_play(rng):
            seen |= {type(event) for event in step.events}
            for event in step.events:
                assert all(KOI_KOI.redact(event, viewer) is event for viewer in (FIRST, SECOND, None))
    for dealt in (deal(whole) for whole in DECKS.values()):
        seen |= {type(event) for event in dealt.events}
    assert seen == set(get_args(Event))


def test_a_view_follows_from_what_its_viewer_was_shown_also_when_the_deal_ends_at_once() -> None:
    for whole in DECKS.values():
        dealt = deal(whole)
        for viewer in (FIRST, SECOND, None):
            view = None
            for event in dealt.events:
                view = KOI_KOI.observe(view, KOI_KOI.redact(event, viewer), viewer)
            assert encoded(view) == encoded(KOI_KOI.view(dealt.state, viewer))


# Sampled worlds


@pytest.mark.parametrize("viewer", [FIRST, SECOND, None])
@pytest.mark.parametrize("whole", DECKS.values(), ids=DECKS)
def test_a_sampled_world_shows_the_same_view_byte_for_byte(whole: tuple[Card, ...], viewer: Viewer) -> None:
    rng = Random(4)
    known = KOI_KOI.view(deal(whole).state, viewer)
    for _ in range(20):
        world = KOI_KOI.resample(known, rng)
        assert encoded(KOI_KOI.view(world, viewer)) == encoded(known)


@pytest.mark.parametrize("viewer", [FIRST, SECOND, None])
def test_a_sampled_world_holds_every_card_once_and_can_be_played_to_its_end(viewer: Viewer) -> None:
    rng = Random(8)
    for state, _, _ in random_play(rng):
        world = KOI_KOI.resample(KOI_KOI.view(state, viewer), rng)
        assert every_card_once(world)
        while KOI_KOI.outcome(world) is None:
            world = act(world, rng.choice(legal(world))).state
        assert every_card_once(world)


def every_card_once(state: State) -> bool:
    table = state.table
    turned = () if table.turned is None else (table.turned,)
    places = (*state.hands, state.stock, table.board, *table.captured, turned)
    return Counter(card for place in places for card in place) == Counter(KOI_KOI.cards)


def test_K2_a_sampled_hand_is_never_one_that_would_have_ended_the_deal() -> None:
    rng = Random(6)
    checked = 0
    for seed in range(40):
        for state, _, _ in random_play(Random(seed)):
            for viewer in (FIRST, None):
                world = KOI_KOI.resample(KOI_KOI.view(state, viewer), rng)
                for seat in (FIRST, SECOND):
                    assert opening_in(world.hands[seat] + world.table.played[seat]) is None
                    checked += 1
    assert checked > 1000


def test_K2_a_redealt_board_tells_nothing_about_the_hands() -> None:
    known = KOI_KOI.view(deal(DECKS["board redeal"]).state, None)
    rng = Random(2)
    worlds = [KOI_KOI.resample(known, rng) for _ in range(1500)]
    assert any(opening_in(world.hands[0]) is not None for world in worlds)


def test_K2_beside_a_scored_opening_the_other_hand_had_none() -> None:
    known = KOI_KOI.view(deal(DECKS["first player scored"]).state, None)
    rng = Random(2)
    assert all(opening_in(KOI_KOI.resample(known, rng).hands[1]) is None for _ in range(1500))


UNSEEN = cards("01p 01q 02p 02q 03p 03q 06a 06r 07p 08q 11p 12q")
PLAYED = cards("01b 01r 02a 02r 03b 03r")
MINE = cards("09a 10a")
OWN_PLAYED = cards("04a 05a 08b 11b 12b 09r")


def late_view(viewer: Viewer, played: tuple[Card, ...] = PLAYED, unseen: tuple[Card, ...] = UNSEEN) -> View:
    """Late in a deal: the second player has played ``played`` and holds as many of ``unseen`` as make up the eight
    dealt to them; the others of these lie in the stock, and all other cards are captured.
    """
    theirs = 8 - len(played)
    rest = tuple(card for card in KOI_KOI.cards if card not in (*unseen, *MINE))
    table = Table(
        rules=Rules(),
        first=FIRST,
        turn=FIRST,
        phase=Phase.PLAY,
        board=(),
        stock=len(unseen) - theirs,
        hand_sizes=(2, theirs),
        captured=(rest, ()),
        played=(OWN_PLAYED, played),
        turned=None,
        standings=KOI_KOI.view(deal(deck()).state, None).table.standings,
        calls=(0, 0),
        only_stop=None,
        shown=(None, None),
        outcome=None,
    )
    return View(viewer, MINE if viewer == FIRST else None, table)


def chi_square(observed: Mapping[Any, int], cells: int, draws: int) -> float:
    expected = draws / cells
    found = sum((count - expected) ** 2 / expected for count in observed.values())
    return found + (cells - len(observed)) * expected


def too_uneven(value: float, cells: int) -> bool:
    """Four standard deviations above what equal chances give."""
    return value > cells - 1 + 4 * math.sqrt(2 * (cells - 1))


def test_sampled_hands_are_equally_likely_and_just_those_that_may_have_been_dealt() -> None:
    allowed = {frozenset(pair) for pair in combinations(UNSEEN, 2) if opening_in(PLAYED + pair) is None}
    forbidden = {frozenset(pair) for pair in combinations(UNSEEN, 2)} - allowed
    assert forbidden == {frozenset(cards(pair)) for pair in ("01p 01q", "02p 02q", "03p 03q", "06a 06r")}

    rng, draws = Random(20), 8_000
    hands = Counter(frozenset(KOI_KOI.resample(late_view(FIRST), rng).hands[SECOND]) for _ in range(draws))

    assert set(hands) == allowed
    assert not too_uneven(chi_square(hands, len(allowed), draws), len(allowed))


def test_the_top_of_a_sampled_stock_is_as_likely_as_enumeration_says() -> None:
    allowed = [set(pair) for pair in combinations(UNSEEN, 2) if opening_in(PLAYED + pair) is None]
    # Given a hand, each unseen card that is not in it is on top equally often.
    weights = {card: sum(card not in hand for hand in allowed) for card in UNSEEN}
    rng, draws = Random(21), 8_000
    tops = Counter(KOI_KOI.resample(late_view(FIRST), rng).stock[0] for _ in range(draws))
    total = sum(weights.values())
    value = sum((tops[card] - draws * w / total) ** 2 / (draws * w / total) for card, w in weights.items())
    assert not too_uneven(value, len(weights))
    assert len(set(weights.values())) > 1, "the test would not notice a sampler that ignores the opening hands"


def test_a_single_hidden_card_that_would_complete_four_of_a_month_is_not_held() -> None:
    played = cards("01b 01r 01p 04a 05a 06a 07a")
    unseen = cards("01q 02p 03p 08q")
    rng, draws = Random(22), 6_000
    held = Counter(KOI_KOI.resample(late_view(FIRST, played, unseen), rng).hands[SECOND][0] for _ in range(draws))
    assert set(held) == set(cards("02p 03p 08q"))
    assert not too_uneven(chi_square(held, 3, draws), 3)


def test_a_spectator_draws_both_hands() -> None:
    known = late_view(None)
    hidden = (*UNSEEN, *MINE)
    pairs = [
        (frozenset(mine), frozenset(theirs))
        for mine in combinations(hidden, 2)
        for theirs in combinations([card for card in hidden if card not in mine], 2)
        if opening_in(OWN_PLAYED + mine) is None and opening_in(PLAYED + theirs) is None
    ]
    rng, draws = Random(23), 20_000
    drawn: Counter[frozenset[str]] = Counter()
    worlds: set[tuple[frozenset[Card], frozenset[Card]]] = set()
    for _ in range(draws):
        hands = KOI_KOI.resample(known, rng).hands
        worlds.add((frozenset(hands[0]), frozenset(hands[1])))
        drawn[frozenset({*(f"0{card}" for card in hands[0]), *(f"1{card}" for card in hands[1])})] += 1
    assert worlds <= set(pairs)
    assert not too_uneven(chi_square(drawn, len(pairs), draws), len(pairs))


def test_a_view_that_no_deal_can_lead_to_is_a_bug_and_no_endless_search() -> None:
    with pytest.raises(AssertionError, match="no world agrees"):
        KOI_KOI.resample(late_view(FIRST, cards("01b 01r 01p 01q 04a 05a 06a"), UNSEEN[2:]), Random(1))


def test_the_played_cards_are_in_the_view_of_everybody() -> None:
    state = deal(shuffled(Random(1))).state
    first, second = legal(state)[0], ""
    after = act(state, first).state
    while after.table.turn == FIRST:
        after = act(after, legal(after)[0]).state
    second = legal(after)[0]
    after = act(after, second).state
    for viewer in (FIRST, SECOND, None):
        assert KOI_KOI.view(after, viewer).table.played == (cards(first[:3]), cards(second[:3]))


@pytest.mark.parametrize("kind", [HandsRedeal, OpeningScored])
def test_events_that_show_a_hand_show_it_to_everybody(kind: type) -> None:
    shown = [event for whole in DECKS.values() for event in deal(whole).events if isinstance(event, kind)]
    assert shown
    assert all(KOI_KOI.redact(event, viewer) is event for event in shown for viewer in (FIRST, Seat(1), None))
