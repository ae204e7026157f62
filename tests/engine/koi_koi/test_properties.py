"""What holds at every step of any deal under any options."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.game import OptionValue, Seat
from engine.koi_koi import KOI_KOI
from engine.koi_koi.scoring import mask_of, total
from engine.koi_koi.types import Phase, StockPlaced, YakuMade
from tests.engine.koi_koi.scenes import act, cards, deal, legal, outcome, random_play, shuffled

OPTIONS = st.fixed_dictionaries({key: st.sampled_from(values) for key, values in KOI_KOI.options.items()})
SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=100)
@given(SEEDS, OPTIONS)
def test_cards_are_conserved_and_hands_shrink_by_the_card_played(seed: int, options: dict[str, OptionValue]) -> None:
    for before, action, step in random_play(Random(seed), options):
        state, table = step.state, step.state.table
        turned = () if table.turned is None else (table.turned,)
        places = (*state.hands, state.stock, table.board, *table.captured, turned)
        assert Counter(card for place in places for card in place) == Counter(KOI_KOI.cards)
        assert table.hand_sizes == tuple(map(len, state.hands))
        assert table.stock == len(state.stock)
        assert all(len(state.hands[seat]) + len(table.played[seat]) == 8 for seat in (0, 1))
        if before.table.phase is Phase.PLAY:
            seat = before.table.turn
            assert set(before.hands[seat]) - set(state.hands[seat]) == set(cards(action[:3]))


@settings(max_examples=100)
@given(SEEDS, OPTIONS)
def test_K4_K5_every_capture_is_of_one_month_and_even(seed: int, options: dict[str, OptionValue]) -> None:
    for _, _, step in random_play(Random(seed), options):
        for pile in step.state.table.captured:
            months = Counter(card[:2] for card in pile)
            assert all(count % 2 == 0 for count in months.values())


@settings(max_examples=100)
@given(SEEDS, OPTIONS)
def test_K8_a_decision_opens_exactly_when_the_total_rose_in_the_turn(
    seed: int, options: dict[str, OptionValue]
) -> None:
    totals = [0, 0]
    for before, _, step in random_play(Random(seed), options):
        seat = before.table.turn
        if any(isinstance(event, StockPlaced) for event in step.events):
            now = total(mask_of(step.state.table.captured[seat]), step.state.table.rules)
            rose = now > totals[seat]
            assert rose == (step.state.table.phase is Phase.DECIDE)
            assert rose == any(isinstance(event, YakuMade) for event in step.events)
            totals[seat] = now
        else:
            assert not any(isinstance(event, YakuMade) for event in step.events)


@settings(max_examples=100)
@given(SEEDS, OPTIONS)
def test_turns_alternate_and_at_most_one_player_scores(seed: int, options: dict[str, OptionValue]) -> None:
    plays: list[Seat] = []
    state = None
    for before, _, step in random_play(Random(seed), options):
        state = step.state
        if before.table.phase is Phase.PLAY:
            plays.append(before.table.turn)
    assert all(one != other for one, other in pairwise(plays))
    if state is not None:
        ended = outcome(state)
        assert 0 in ended.scores
        assert (max(ended.scores) == 0) == (ended.reason == "draw")
        assert ended.reason in {"stop", "draw"}
        assert ended.reason != "draw" or (len(plays), len(state.stock)) == (16, 8)


@settings(max_examples=50)
@given(SEEDS, OPTIONS)
def test_the_same_record_gives_the_same_bytes(seed: int, options: dict[str, OptionValue]) -> None:
    rng = Random(seed)
    whole, first = shuffled(rng), Seat(rng.randrange(2))
    state, actions = deal(whole, first, options).state, []
    while KOI_KOI.outcome(state) is None:
        actions.append(rng.choice(legal(state)))
        state = act(state, actions[-1]).state

    def replayed() -> bytes:
        step = deal(whole, first, options)
        events, final = list(step.events), step.state
        for action in actions:
            step = act(final, action)
            final = step.state
            events += step.events
        return msgspec.json.encode((events, final))

    assert replayed() == replayed()


@settings(max_examples=50)
@given(SEEDS, OPTIONS)
def test_states_and_views_survive_their_encoding(seed: int, options: dict[str, OptionValue]) -> None:
    for _, _, step in random_play(Random(seed), options):
        state = msgspec.json.decode(msgspec.json.encode(step.state), type=KOI_KOI.state_type)
        assert state == step.state
        assert legal(state) == legal(step.state)
