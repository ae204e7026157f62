"""Duel: a game of six cards that has a little of everything a game can have, for tests of what knows no game.

Two seats get two cards each, the fifth is turned up, the sixth stays unseen. Both are asked, sealed, whether they
double; then the beginner plays a card face down and the other replies. The higher card scores. A turned-up ``d6`` is
dealt again; a narrow win (by one pip) scores nothing and leaves a carry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from engine.game import (
    Budget,
    Card,
    Game,
    IllegalAction,
    Level,
    MalformedAction,
    Message,
    Options,
    OptionValue,
    Outcome,
    Seat,
    Step,
    Thought,
    Viewer,
    Why,
)

CARDS: Final = tuple(Card(f"d{pips}") for pips in range(1, 7))
SEATS: Final = (Seat(0), Seat(1))


class Answer(Struct, frozen=True):
    double: bool


class Play(Struct, frozen=True):
    card: Card


Action: TypeAlias = Answer | Play


class Table(Struct, frozen=True):
    beginner: Seat
    up: Card
    carry: int
    may_double: bool
    doubled: tuple[bool, bool] | None = None
    played: tuple[Card, ...] = ()
    outcome: Outcome | None = None

    @property
    def turn(self) -> Seat | None:
        if self.doubled is None or self.outcome is not None:
            return None
        return self.beginner if not self.played else Seat(1 - self.beginner)


class State(Struct, frozen=True):
    table: Table
    hands: tuple[tuple[Card, ...], tuple[Card, ...]]
    unseen: Card
    answers: tuple[bool | None, bool | None] = (None, None)


class View(Struct, frozen=True):
    seat: Viewer
    table: Table
    hand: tuple[Card, ...] = ()


BACK: Final = Card("??")
"""A face-down card in a view's table."""


class Event(Struct, frozen=True, tag_field="e"):
    pass


class Dealt(Event, frozen=True, tag="duel-dealt"):
    table: Table
    hands: tuple[tuple[Card, ...] | None, tuple[Card, ...] | None]
    unseen: Card | None


class Answered(Event, frozen=True, tag="duel-answered"):
    doubled: tuple[bool, bool]


class Laid(Event, frozen=True, tag="duel-laid"):
    seat: Seat
    card: Card | None


class Ended(Event, frozen=True, tag="duel-ended"):
    played: tuple[Card, ...]
    outcome: Outcome


AnyEvent: TypeAlias = Dealt | Answered | Laid | Ended


def pips(card: Card) -> int:
    return int(card[1:])


class Duel(Game[State, Action, AnyEvent, View]):
    name: ClassVar[str] = "duel"
    seats: ClassVar[int] = 2
    sides: ClassVar[int] = 2
    rules_version: ClassVar[int] = 1
    cards: ClassVar[tuple[Card, ...]] = CARDS
    options: ClassVar[Mapping[str, tuple[OptionValue, ...]]] = {
        "deals": (1, 3),
        "next_first": ("alternating", "winner", "random"),
        "stakes": ("double", "single"),
    }
    beginner: ClassVar[str] = "first"
    levels: ClassVar[tuple[Level, ...]] = (Level.EASY, Level.MEDIUM)
    state_type: ClassVar[type[Struct]] = State
    view_type: ClassVar[type[Struct]] = View
    event_types: ClassVar[tuple[type[Struct], ...]] = AnyEvent.__args__

    def side(self, seat: Seat) -> int:
        return seat

    def deal(self, options: Options, deck: Sequence[Card], beginner: Seat, carry: int = 0) -> Step[State, AnyEvent]:
        self.check_deck(deck)
        table = Table(beginner, deck[4], carry, may_double=options["stakes"] == "double")
        packets = tuple(sorted(deck[:2])), tuple(sorted(deck[2:4]))
        hands = packets if beginner == 0 else packets[::-1]
        state = State(table, (hands[0], hands[1]), deck[5])
        dealt = Dealt(table, state.hands, state.unseen)
        return self._end(state, (dealt,), "redeal", (0, 0)) if table.up == "d6" else Step(state, (dealt,))

    def awaiting(self, state: State) -> frozenset[Seat]:
        if state.table.outcome is not None:
            return frozenset()
        if state.table.turn is not None:
            return frozenset({state.table.turn})
        return frozenset(seat for seat in SEATS if state.answers[seat] is None)

    def legal(self, view: View) -> tuple[Action, ...]:
        table = view.table
        if view.seat is None or table.outcome is not None:
            return ()
        if table.doubled is None:
            doubles = (Answer(True),) if table.may_double and _can_double(view.hand, table.up) else ()
            return (*doubles, Answer(False))
        return tuple(map(Play, view.hand)) if table.turn == view.seat else ()

    def apply(self, state: State, seat: Seat, action: Action) -> Step[State, AnyEvent]:
        table = state.table
        if seat not in self.awaiting(state):
            answered = table.outcome is None and table.turn is None
            raise IllegalAction(Message(Why.ALREADY_ANSWERED) if answered else self._not_now(table))
        refusal = self.why(self.view(state, seat), action)
        if refusal is not None:
            raise IllegalAction(refusal)
        if isinstance(action, Answer):
            answers = tuple(action.double if each == seat else state.answers[each] for each in SEATS)
            first, second = answers
            if first is None or second is None:
                return Step(replace(state, answers=answers), ())
            doubled = (first, second)
            published = replace(state, table=replace(table, doubled=doubled), answers=(None, None))
            return Step(published, (Answered(doubled),))
        hand = tuple(card for card in state.hands[seat] if card != action.card)
        hands = (hand, state.hands[1]) if seat == 0 else (state.hands[0], hand)
        table = replace(table, played=(*table.played, action.card))
        laid = replace(state, table=table, hands=hands)
        if len(table.played) == 1:
            return Step(laid, (Laid(seat, action.card),))
        margin = pips(table.played[0]) - pips(table.played[1])
        winner = table.beginner if margin > 0 else Seat(1 - table.beginner)
        points = (1 + sum(table.doubled or ())) * (1 + table.carry)
        scores = (0, 0) if abs(margin) == 1 else ((points, 0) if winner == 0 else (0, points))
        return self._end(laid, (), "narrow" if abs(margin) == 1 else "won", scores)

    def why(self, view: View, action: Action) -> Message | None:
        if action in self.legal(view):
            return None
        table = view.table
        if view.seat is None or table.outcome is not None or (table.doubled is not None and table.turn != view.seat):
            return self._not_now(table)
        if isinstance(action, Play) and table.doubled is not None:
            return Message(Why.NOT_IN_HAND, {"card": action.card})
        return Message("not-in-this-phase")

    def outcome(self, state: State) -> Outcome | None:
        return state.table.outcome

    def view(self, state: State, viewer: Viewer) -> View:
        table = state.table
        if len(table.played) == 1 and viewer != table.beginner:
            table = replace(table, played=(BACK,))
        return View(viewer, table, () if viewer is None else state.hands[viewer])

    def redact(self, event: AnyEvent, viewer: Viewer) -> AnyEvent:
        match event:
            case Dealt():
                first, second = (
                    hand if viewer == seat else None for seat, hand in zip(SEATS, event.hands, strict=True)
                )
                redacted = Dealt(event.table, (first, second), None)
                return event if redacted == event else redacted
            case Laid():
                return event if viewer == event.seat or event.card is None else replace(event, card=None)
            case Answered() | Ended():
                return event
            case _:
                assert_never(event)

    def observe(self, view: View | None, event: AnyEvent, viewer: Viewer) -> View:
        if isinstance(event, Dealt):
            return View(viewer, event.table, () if viewer is None else event.hands[viewer] or ())
        assert view is not None
        table = view.table
        match event:
            case Answered():
                return replace(view, table=replace(table, doubled=event.doubled))
            case Laid():
                table = replace(table, played=(event.card or BACK,))
                return replace(view, table=table, hand=tuple(card for card in view.hand if card != event.card))
            case Ended():
                table = replace(table, played=event.played, outcome=event.outcome)
                return replace(view, table=table, hand=tuple(card for card in view.hand if card not in event.played))
            case _:
                assert_never(event)

    def resample(self, view: View, rng: Random) -> State:
        table = view.table
        known = {table.up, *view.hand, *table.played}
        while True:
            free = [card for card in CARDS if card not in known]
            rng.shuffle(free)
            hands: list[tuple[Card, ...]] = []
            played = table.played
            if played and played[0] == BACK:
                played = (free.pop(), *played[1:])
            for seat in SEATS:
                replied = len(played) > 1 and seat != table.beginner
                laid = 1 if played and (seat == table.beginner or replied) else 0
                hands.append(view.hand if seat == view.seat else tuple(sorted(free.pop() for _ in range(2 - laid))))
            world = State(replace(table, played=played), (hands[0], hands[1]), free[0])
            dealt = [
                (*hands[seat], *(card for place, card in enumerate(played) if (table.beginner + place) % 2 == seat))
                for seat in SEATS
            ]
            if all(_can_double(dealt[seat], table.up) for seat in SEATS if table.doubled and table.doubled[seat]):
                return world

    def default_action(self, view: View) -> Action:
        return Answer(False) if view.table.doubled is None else Play(min(view.hand))

    def think(self, view: View, legal: Sequence[Action], rng: Random, budget: Budget) -> Thought[Action]:
        if budget.level is Level.EASY:
            return Thought(rng.choice(legal))
        values = {self.text(each): float(isinstance(each, Play) and pips(each.card)) for each in legal}
        return Thought(max(legal, key=lambda each: values[self.text(each)]), values, Message("highest"))

    def text(self, action: Action) -> str:
        match action:
            case Answer():
                return "double" if action.double else "single"
            case Play():
                return action.card
            case _:
                assert_never(action)

    def parse(self, text: str) -> Action:
        if text in {"double", "single"}:
            return Answer(text == "double")
        if text not in CARDS:
            raise MalformedAction(text)
        return Play(Card(text))

    def next_beginner(self, options: Options, beginner: Seat, outcome: Outcome, drawn: Seat) -> Seat:
        match options["next_first"]:
            case "alternating":
                return Seat(1 - beginner)
            case "winner":
                return beginner if not any(outcome.scores) else Seat(outcome.scores.index(max(outcome.scores)))
            case _:
                return drawn

    def carry_after(self, options: Options, carry: int, outcome: Outcome) -> int:
        return carry + 1 if outcome.reason == "narrow" else 0

    def _not_now(self, table: Table) -> Message:
        return Message(Why.DEAL_OVER if table.outcome is not None else Why.NOT_YOUR_TURN)

    def _end(
        self, state: State, events: tuple[AnyEvent, ...], reason: str, scores: tuple[int, int]
    ) -> Step[State, AnyEvent]:
        outcome = Outcome(reason, scores)
        table = replace(state.table, outcome=outcome)
        return Step(replace(state, table=table), (*events, Ended(table.played, outcome)))


def _can_double(hand: Sequence[Card], up: Card) -> bool:
    return any(pips(card) > pips(up) for card in hand)


DUEL: Final = Duel()
