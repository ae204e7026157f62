"""What holds in every deal, under any house rules, whatever is played."""

from __future__ import annotations

from itertools import chain
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.game import IllegalAction, MalformedAction, Seat, Viewer
from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri.cards import CARDS
from engine.hachinin_meri.text import DECLARE, DISCARDS, PASS, PLAYS
from engine.hachinin_meri.types import Action, AnyEvent, CardPlayed, Discarded, State, View
from tests.engine.hachinin_meri.positions import ALL_SEATS, every_card, random_deal, random_play

SEEDS = st.integers(0, 2**64 - 1)
VIEWERS: tuple[Viewer, ...] = (None, *ALL_SEATS)
EVERY_ACTION: tuple[Action, ...] = (DECLARE, PASS, *DISCARDS.values(), *PLAYS.values())


def any_state(seed: int) -> State:
    """A state somewhere in a random deal, its end included."""
    rng = Random(seed)
    states = [state for state, _, _ in random_play(rng)]
    return rng.choice(states)


@given(SEEDS)
@settings(max_examples=60)
def test_legal_is_exactly_what_apply_accepts_and_why_is_silent_about(seed: int) -> None:
    state = any_state(seed)
    for seat in ALL_SEATS:
        legal = GAME.legal_at(state, seat)
        view = GAME.view(state, seat)
        if seat in GAME.awaiting(state):
            assert legal == GAME.legal(view)
            assert [GAME.text(action) for action in legal] == sorted(GAME.text(action) for action in legal)
        for action in EVERY_ACTION:
            if action in legal:
                assert GAME.why(view, action) is None
                GAME.apply(state, seat, action)
                continue
            with pytest.raises(IllegalAction) as refused:
                GAME.apply(state, seat, action)
            if seat in GAME.awaiting(state):
                assert refused.value.refusal == GAME.why(view, action)


@given(SEEDS)
@settings(max_examples=60)
def test_every_card_is_in_exactly_one_place(seed: int) -> None:
    for state, _, _ in random_play(Random(seed)):
        assert sorted(every_card(state)) == sorted(CARDS)


@given(SEEDS)
@settings(max_examples=25)
def test_a_view_is_a_fold_of_the_redacted_events(seed: int) -> None:
    rng = Random(seed)
    deck = rng.sample(CARDS, len(CARDS))
    options = {name: rng.choice(values) for name, values in GAME.options.items()}
    step = GAME.deal(options, deck, Seat(rng.randrange(8)))
    views: dict[Viewer, View | None] = dict.fromkeys(VIEWERS)
    while True:
        for viewer in VIEWERS:
            for event in step.events:
                views[viewer] = GAME.observe(views[viewer], GAME.redact(event, viewer), viewer)
            assert views[viewer] == GAME.view(step.state, viewer)
        awaited = sorted(GAME.awaiting(step.state))
        if not awaited:
            return
        seat = rng.choice(awaited)
        step = GAME.apply(step.state, seat, rng.choice(GAME.legal_at(step.state, seat)))


def cards_in(value: object) -> set[str]:
    """Every card code in whatever a value encodes to."""
    found = set()
    stack = [msgspec.to_builtins(value)]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            stack += part.values()
        elif isinstance(part, list | tuple):
            stack += part
        elif isinstance(part, str) and part in DISCARDS:
            found.add(part)
    return found


@given(SEEDS)
@settings(max_examples=30)
def test_no_view_holds_a_card_that_its_viewer_may_not_see(seed: int) -> None:
    """What may be seen, told here by itself: one's hand, the Okie, what lies face up, one's own face-down cards."""
    for state, _, _ in random_play(Random(seed)):
        table = state.table
        public = {table.okie, *chain.from_iterable(trick.cards for trick in table.tricks)}
        if table.trick or table.tricks:
            assert table.side is not None
            public |= {table.discard, *table.side}
        placed = [] if table.trick is None else list(enumerate(table.trick.cards))
        for viewer in VIEWERS:
            allowed = set(public) | (set() if viewer is None else set(state.hands[viewer]))
            allowed |= {table.discard} if viewer == table.taker else set()
            for place, card in placed:
                assert table.trick is not None
                player = (table.trick.leader + place) % 8
                if player not in table.trick.face_down or player == viewer:
                    allowed.add(card)
            assert cards_in(GAME.view(state, viewer)) <= allowed


@given(SEEDS)
@settings(max_examples=40)
def test_what_happens_is_told_alike_to_all_but_who_may_know_the_card(seed: int) -> None:
    """Partners and spectators are told no more of a face-down trump or a discard than opponents."""
    for state, seat, action in random_play(Random(seed)):
        for event in GAME.apply(state, seat, action).events:
            others = {GAME.redact(event, viewer) for viewer in VIEWERS if viewer != seat}
            assert len(others) == 1
            (told,) = others
            hidden = isinstance(event, Discarded) or (isinstance(event, CardPlayed) and event.face_down)
            assert (told is not event) == hidden
            assert GAME.redact(event, seat) is event


@given(SEEDS)
@settings(max_examples=60)
def test_worlds_that_differ_only_in_what_a_seat_cannot_know_look_and_play_alike_to_it(seed: int) -> None:
    rng = Random(seed)
    state = any_state(seed)
    viewer = rng.choice(VIEWERS)
    view = GAME.view(state, viewer)
    other = GAME.resample(view, rng)
    assert encoded(GAME.view(other, viewer)) == encoded(view)
    if viewer is None or viewer not in GAME.awaiting(state):
        return
    assert GAME.legal_at(other, viewer) == GAME.legal_at(state, viewer)
    if state.table.trick is not None and len(state.table.trick.cards) == 7:
        return  # the trick is settled, and shows which world it was
    action = rng.choice(GAME.legal_at(state, viewer))
    seen = [
        [GAME.redact(event, viewer) for event in GAME.apply(world, viewer, action).events] for world in (state, other)
    ]
    if state.table.trick is not None or state.table.tricks:
        assert seen[0] == seen[1]


def encoded(value: View | AnyEvent) -> bytes:
    """The bytes that travel."""
    return msgspec.json.encode(value)


@given(SEEDS)
@settings(max_examples=20)
def test_states_views_and_events_survive_their_encoding(seed: int) -> None:
    for state, seat, action in random_play(Random(seed)):
        assert msgspec.json.decode(msgspec.json.encode(state), type=State) == state
        view = GAME.view(state, seat)
        assert msgspec.json.decode(encoded(view), type=View) == view
        for event in GAME.apply(state, seat, action).events:
            assert msgspec.json.decode(encoded(event), type=AnyEvent) == event


def test_every_action_has_one_text_and_no_other_text_is_one() -> None:
    texts = [GAME.text(action) for action in EVERY_ACTION]
    assert len(set(texts)) == len(EVERY_ACTION) == 2 + 75 + 75
    assert [GAME.parse(text) for text in texts] == list(EVERY_ACTION)
    for wrong in ("", "Declare", "k7", "K7 ", "K7\n", "-", "--K7", "K0", "K10", "03r", "-declare", "P"):
        with pytest.raises(MalformedAction):
            GAME.parse(wrong)


def test_nothing_is_legal_or_awaited_when_the_deal_is_over() -> None:
    rng = Random(1)
    *_, (state, seat, action) = random_play(rng)
    over = GAME.apply(state, seat, action).state
    assert GAME.awaiting(over) == frozenset()
    for viewer in VIEWERS:
        view = GAME.view(over, viewer)
        assert GAME.legal(view) == ()
        refusal = GAME.why(view, PASS)
        assert refusal is not None
        assert refusal.code == "deal-over"
    assert random_deal(rng) != over
