"""What holds in every deal, whatever is played: random play with random options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.game import Card, OptionValue, Seat, Step
from engine.go_stop import GO_STOP
from engine.go_stop.scoring import pile_of, points, score
from engine.go_stop.types import (
    CARDS,
    OPTIONS,
    Bonus,
    Captured,
    DecisionAwaited,
    Event,
    FourOfAMonth,
    GoCalled,
    JunkTaken,
    Nagari,
    PpukMade,
    Redeal,
    SseulRule,
    State,
    Stopped,
    ThreePpuk,
)

seeds = st.integers(0, 2**32)
options = st.fixed_dictionaries({key: st.sampled_from(values) for key, values in OPTIONS.items()})


def random_deal(seed: int, chosen: Mapping[str, OptionValue]) -> Iterator[Step[State, Event]]:
    """A deal of uniformly random legal moves, step by step. Go is called half of the time, so that deals get long."""
    rng = Random(seed)
    deck = tuple(rng.sample(CARDS, len(CARDS)))
    step = GO_STOP.deal(chosen, deck, Seat(rng.randrange(2)), rng.randrange(3))
    yield step
    while GO_STOP.awaiting(step.state):
        seat = step.state.table.turn
        step = GO_STOP.apply(step.state, seat, rng.choice(GO_STOP.legal_at(step.state, seat)))
        yield step


def all_cards(state: State) -> list[Card]:
    table = state.table
    found = [*chain(*state.hands, state.stock, table.layout, *table.captured)]
    if table.pending is not None:
        found += table.pending.matched
        found += [] if table.pending.revealed is None else [table.pending.revealed]
        found += [table.pending.card] if table.pending.matched else []
    return found


@given(seeds, options)
def test_no_card_is_lost_or_doubled(seed: int, chosen: Mapping[str, OptionValue]) -> None:
    for step in random_deal(seed, chosen):
        assert sorted(all_cards(step.state)) == sorted(CARDS)


@given(seeds, options)
def test_counts_on_the_table_agree_with_what_is_hidden(seed: int, chosen: Mapping[str, OptionValue]) -> None:
    for step in random_deal(seed, chosen):
        table = step.state.table
        assert table.hand_sizes == tuple(map(len, step.state.hands))
        assert table.stock_left == len(step.state.stock)
        played = sum(map(len, table.played))
        assert played + table.stock_left == 20


@given(seeds, options)
def test_G3_G6_three_of_a_month_on_the_layout_are_always_a_stack(seed: int, chosen: Mapping[str, OptionValue]) -> None:
    for step in random_deal(seed, chosen):
        table = step.state.table
        if table.ended is not None and not any(table.played):
            continue  # an opening check ended it
        months = [int(card[:2]) for card in table.layout]
        waiting = {int(table.pending.card[:2])} if table.pending is not None and table.pending.matched else set()
        stacks = {stack.month for stack in table.stacks} - waiting
        assert {month for month in months if months.count(month) == 3} == stacks
        assert not [month for month in months if months.count(month) > 3]


@given(seeds, options)
def test_captures_are_pairs_or_whole_months(seed: int, chosen: Mapping[str, OptionValue]) -> None:
    for step in random_deal(seed, chosen):
        for event in step.events:
            if isinstance(event, Captured):
                assert len({card[:2] for card in event.cards}) == 1
                assert len(event.cards) in {2, 4}


@given(seeds, options)
def test_G9_at_most_one_of_ttadak_chok_and_sseul_a_turn_and_none_with_a_stack(
    seed: int, chosen: Mapping[str, OptionValue]
) -> None:
    for step in random_deal(seed, {**chosen, "sseul": SseulRule.NARROW}):
        found = [event.bonus for event in step.events if isinstance(event, JunkTaken)]
        feats = [bonus for bonus in found if bonus in {Bonus.TTADAK, Bonus.CHOK, Bonus.SSEUL}]
        assert len(feats) <= 1
        assert len(found) <= 2
        assert not feats or found == feats


@given(seeds, options)
def test_G11_units_taken_are_those_owed_or_one_more_for_a_double_or_all_there_are(
    seed: int, chosen: Mapping[str, OptionValue]
) -> None:
    for step in random_deal(seed, chosen):
        for event in step.events:
            if isinstance(event, JunkTaken):
                units = sum(2 if card in {"11p", "12p"} else 1 for card in event.cards)
                assert units <= event.owed + 1
                left = [card for card in step.state.table.captured[1 - event.seat] if card[2] in "pqs"]
                assert units >= event.owed or not left
                assert "09a" not in event.cards


@given(seeds, options)
def test_G14_the_scores_on_the_table_are_those_of_the_piles(seed: int, chosen: Mapping[str, OptionValue]) -> None:
    for step in random_deal(seed, chosen):
        for found, pile in zip(step.state.table.scores, step.state.table.captured, strict=True):
            assert found == score(pile_of(pile))
            assert found.points == points(pile_of(pile)) == sum(each.points for each in found.combinations)


@given(seeds, options)
def test_G15_every_decision_is_above_six_and_above_the_last_go(seed: int, chosen: Mapping[str, OptionValue]) -> None:
    called = [6, 6]
    for step in random_deal(seed, chosen):
        for event in step.events:
            if isinstance(event, DecisionAwaited):
                assert event.score.points > called[event.seat]
                assert event.only_stop == (not step.state.hands[event.seat])
            if isinstance(event, GoCalled):
                called[event.seat] = event.points


@given(seeds, options)
def test_G19_at_most_one_player_scores_and_at_nagari_nothing_is_left(
    seed: int, chosen: Mapping[str, OptionValue]
) -> None:
    *_, last = random_deal(seed, chosen)
    outcome = GO_STOP.outcome(last.state)
    assert outcome is not None
    assert min(outcome.scores) == 0
    match last.state.table.ended:
        case Nagari():
            assert (last.state.table.layout, last.state.stock, last.state.hands) == ((), (), ((), ()))
            assert outcome.scores == (0, 0)
        case Stopped(seat, payment):
            assert outcome.scores[seat] == payment.points >= 7
            product = payment.after_goes
            for doubling in payment.doublings:
                product *= doubling.factor
            assert payment.points == product
        case ThreePpuk(seat):
            assert outcome.scores[seat] == 5
            assert last.state.table.ppuks[seat] == 3
        case FourOfAMonth(seat):
            assert outcome.scores[seat] == 5
        case Redeal():
            assert outcome.scores == (0, 0)
        case None:
            pytest.fail("a deal that is over has an ending")


@given(seeds, options)
def test_G12_ppuks_are_counted_as_they_are_made(seed: int, chosen: Mapping[str, OptionValue]) -> None:
    made = [0, 0]
    for step in random_deal(seed, chosen):
        for event in step.events:
            if isinstance(event, PpukMade):
                made[event.seat] += 1
                assert event.count == made[event.seat]
        assert step.state.table.ppuks == tuple(made)


@given(seeds, options)
def test_the_same_deal_played_again_gives_the_same_bytes(seed: int, chosen: Mapping[str, OptionValue]) -> None:
    once = [msgspec.json.encode(step) for step in random_deal(seed, chosen)]
    assert once == [msgspec.json.encode(step) for step in random_deal(seed, chosen)]
