"""Positions set up by hand: seat 0 is to play against seat 1. Only what a test is about is put on the table.

And deals that are written in files, with what is to come of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from engine.game import Card, OptionValue, Seat, Step
from engine.go_stop import GO_STOP
from engine.go_stop.scoring import pile_of, score
from engine.go_stop.table import dealt_stacks, opened
from engine.go_stop.types import CARDS, Dealt, Event, GoStopEvent, Stack, State

ME = Seat(0)
RIVAL = Seat(1)

EventT = TypeVar("EventT", bound=GoStopEvent)


class WrittenDeal(Struct, forbid_unknown_fields=True):
    """A deal in a file."""

    about: str
    options: dict[str, OptionValue]
    first: Seat
    carry: int
    deck: tuple[Card, ...]

    def deal(self) -> Step[State, Event]:
        return GO_STOP.deal(GO_STOP.complete_options(self.options), self.deck, self.first, self.carry)


def cards(codes: str) -> tuple[Card, ...]:
    """``"01b 02a"`` as cards."""
    found = tuple(map(Card, codes.split()))
    assert set(found) <= set(CARDS)
    return found


def position(
    *,
    hand: str,
    layout: str = "",
    stock: str = "11s",
    rival: str = "11q",
    mine: str = "",
    theirs: str = "",
    ppuks_on_layout: Mapping[int, Seat] | None = None,
    options: Mapping[str, OptionValue] | None = None,
    **table: Any,
) -> State:
    """Seat 0, who holds ``hand`` and has captured ``mine``, is to play. ``stock``: top first. ``ppuks_on_layout``:
    owners of stacks by month; other stacks were dealt. ``table``: other fields of the table.
    """
    owners = ppuks_on_layout or {}
    complete = GO_STOP.complete_options(options or {})
    laid = opened(Dealt(complete, 0, ME, (None, None), cards(layout)))
    stacks = tuple(Stack(stack.month, owners.get(stack.month)) for stack in dealt_stacks(laid.layout))
    piles = (cards(mine), cards(theirs))
    scores = tuple(score(pile_of(pile)) for pile in piles)
    laid = replace(laid, stacks=stacks, captured=piles, scores=scores, stock_left=len(cards(stock)))
    return State(replace(laid, **table), (cards(hand), cards(rival)), cards(stock))


def play(state: State, *texts: str) -> Step[State, Event]:
    """Perform the actions one after the other, each by whose turn it is; all their events."""
    events: tuple[Event, ...] = ()
    for text in texts:
        step = GO_STOP.apply(state, state.table.turn, GO_STOP.parse(text))
        state, events = step.state, events + step.events
    return Step(state, events)


def told(step: Step[State, Event], kind: type[EventT]) -> list[EventT]:
    """The events of one kind."""
    return [event for event in step.events if isinstance(event, kind)]


def the(step: Step[State, Event], kind: type[EventT]) -> EventT:
    """The only event of this kind."""
    (event,) = told(step, kind)
    return event


def legal(state: State) -> list[str]:
    """What is legal for whoever is to act."""
    return [GO_STOP.text(action) for action in GO_STOP.legal_at(state, state.table.turn)]
