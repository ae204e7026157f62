"""Deals and positions made by hand, for the tests of koi-koi. Cards are written as in the rules, apart by blanks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import TypeVar

from msgspec import Struct

from engine.game import Card, Options, Outcome, Seat, Step
from engine.koi_koi import KOI_KOI, scoring
from engine.koi_koi.types import Event, Phase, Rules, State, Table

FIRST, SECOND = Seat(0), Seat(1)

EventT = TypeVar("EventT", bound=Struct)


def cards(written: str) -> tuple[Card, ...]:
    return tuple(map(Card, written.split()))


def deck(lead: str = "", reply: str = "", board: str = "", stock: str = "") -> tuple[Card, ...]:
    """A deck that deals these cards. Places left open are filled month by month, so that no combination comes about
    by the filling alone (``deal`` would show it).
    """
    named = [cards(lead), cards(reply), cards(board), cards(stock)]
    used = {card for group in named for card in group}
    spare = iter(sorted((card for card in KOI_KOI.cards if card not in used), key=lambda card: (card[2], card[:2])))
    sizes = (8, 8, 8, 24)
    return tuple(
        card for group, size in zip(named, sizes, strict=True) for card in (*group, *_take(spare, size - len(group)))
    )


def _take(spare: Iterator[Card], count: int) -> list[Card]:
    return [next(spare) for _ in range(count)]


def deal(dealt: tuple[Card, ...], first: Seat = FIRST, options: Options | None = None) -> Step[State, Event]:
    return KOI_KOI.deal(KOI_KOI.complete_options(options or {}), dealt, first)


def shuffled(rng: Random) -> tuple[Card, ...]:
    return tuple(rng.sample(KOI_KOI.cards, len(KOI_KOI.cards)))


def position(
    hands: tuple[str, str] = ("12p", "12q"),
    board: str = "",
    stock: str = "12s",
    captured: tuple[str, str] = ("", ""),
    *,
    turn: Seat = FIRST,
    calls: tuple[int, int] = (0, 0),
    rules: Rules | None = None,
) -> State:
    """A position before ``turn`` plays a hand card. Cards that are named nowhere are nowhere."""
    rules = rules or Rules()
    held = (_in_order(hands[0]), _in_order(hands[1]))
    piles = (cards(captured[0]), cards(captured[1]))
    return State(
        table=Table(
            rules=rules,
            first=FIRST,
            turn=turn,
            phase=Phase.PLAY,
            board=cards(board),
            stock=len(cards(stock)),
            hand_sizes=(len(held[0]), len(held[1])),
            captured=piles,
            played=((), ()),
            turned=None,
            standings=(
                scoring.standing(piles[0], rules, calls[1]),
                scoring.standing(piles[1], rules, calls[0]),
            ),
            calls=calls,
            only_stop=None,
            shown=(None, None),
            outcome=None,
        ),
        hands=held,
        stock=cards(stock),
    )


def _in_order(written: str) -> tuple[Card, ...]:
    return tuple(sorted(cards(written), key=KOI_KOI.cards.index))


def act(state: State, *actions: str) -> Step[State, Event]:
    """Perform ``actions``, each for whoever is to act; all their events together."""
    events: tuple[Event, ...] = ()
    for action in actions:
        step = KOI_KOI.apply(state, state.table.turn, KOI_KOI.parse(action))
        state, events = step.state, (*events, *step.events)
    return Step(state, events)


def legal(state: State) -> list[str]:
    """What whoever is to act may do."""
    return [KOI_KOI.text(action) for action in KOI_KOI.legal_at(state, state.table.turn)]


def outcome(state: State) -> Outcome:
    found = KOI_KOI.outcome(state)
    assert found is not None, "the deal is not over"
    return found


def only(kind: type[EventT], events: Iterable[Struct]) -> EventT:
    """The one event of this kind."""
    (found,) = (event for event in events if isinstance(event, kind))
    return found


def random_play(rng: Random, options: Options | None = None) -> Iterator[tuple[State, str, Step[State, Event]]]:
    """A deal of uniformly random legal moves: each state, the action taken in it, and what follows."""
    state = deal(shuffled(rng), Seat(rng.randrange(2)), options).state
    while KOI_KOI.outcome(state) is None:
        action = rng.choice(legal(state))
        step = act(state, action)
        yield state, action, step
        state = step.state
