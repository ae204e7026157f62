"""Go-stop (matgo) for two players with 48 hwatu cards. ``GO_STOP`` is the game.

``types`` has the shapes, ``rules`` the course of a deal, ``table`` what its events change, ``scoring`` what cards are
worth, ``sight`` who may know what, ``text`` the notation, ``bot`` the players. ``flat`` is the deal as searching
players think of it, ``playout`` how they play it to its end, ``search`` how they use that, ``kernel`` the same,
compiled, ``yardstick`` the player that levels are measured with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from engine.game import Budget, Card, Game, Message, Options, Outcome, Seat, Step, Thought, Viewer, Yardstick
from engine.go_stop import bot, rules, sight, yardstick
from engine.go_stop.kernel import KERNEL
from engine.go_stop.table import other
from engine.go_stop.text import parse, text
from engine.go_stop.types import (
    CARDS,
    EVENTS,
    OPTIONS,
    Action,
    EndReason,
    Event,
    NagariRule,
    NextFirst,
    Phase,
    State,
    View,
)


class GoStop(Game[State, Action, Event, View]):
    """The contract of ``engine.game``, fulfilled by this package's modules."""

    name = "go-stop"
    seats = 2
    sides = 2
    rules_version = 1
    cards = CARDS
    options = OPTIONS
    beginner = "first"
    levels = bot.LEVELS
    yardsticks: ClassVar[Mapping[str, Yardstick]] = {"greedy": yardstick.greedy}
    state_type = State
    view_type = View
    event_types = EVENTS

    def side(self, seat: Seat) -> int:
        """Every player for themselves."""
        return seat

    def deal(self, options: Options, deck: Sequence[Card], beginner: Seat, carry: int = 0) -> Step[State, Event]:
        """Deal and check (G1 to G3). ``carry``: the number of nagari still standing (option ``nagari``)."""
        self.check_deck(deck)
        return rules.deal(options, deck, beginner, carry)

    def awaiting(self, state: State) -> frozenset[Seat]:
        """The one player whose turn it is."""
        return frozenset() if state.table.phase is Phase.OVER else frozenset((state.table.turn,))

    def legal(self, view: View) -> tuple[Action, ...]:
        """What the viewer may do now (G4, G5, G15, G16)."""
        if view.hand is None or view.viewer != view.table.turn:
            return ()
        return rules.legal(view.table, view.hand)

    def legal_at(self, state: State, seat: Seat) -> tuple[Action, ...]:
        """As ``legal``, without building a view."""
        return rules.legal(state.table, state.hands[seat]) if seat == state.table.turn else ()

    def apply(self, state: State, seat: Seat, action: Action) -> Step[State, Event]:
        """Perform a legal action and everything that follows from it."""
        return rules.apply(state, seat, action)

    def why(self, view: View, action: Action) -> Message | None:
        """A code of ``types.Why`` or ``engine.game.Why``."""
        return rules.why(view.table, view.viewer, view.hand, action)

    def outcome(self, state: State) -> Outcome | None:
        """The result, with a reason of ``EndReason``."""
        return rules.outcome(state.table)

    def view(self, state: State, viewer: Viewer) -> View:
        """The table and the viewer's own hand."""
        return sight.view(state, viewer)

    def redact(self, event: Event, viewer: Viewer) -> Event:
        """Hides the dealt hands of others."""
        return sight.redact(event, viewer)

    def observe(self, view: View | None, event: Event, viewer: Viewer) -> View:
        """The view after ``event``."""
        return sight.observe(view, event, viewer)

    def resample(self, view: View, rng: Random) -> State:
        """A state drawn uniformly from those that fit ``view``."""
        return sight.resample(view, rng)

    def default_action(self, view: View) -> Action:
        """The cheapest discard or choice; stop when a decision is open."""
        return bot.default_action(view)

    def think(self, view: View, legal: Sequence[Action], rng: Random, budget: Budget) -> Thought[Action]:
        """The choice of ``budget.level`` and its reason."""
        return bot.think(view, legal, rng, budget)

    def kernel_available(self) -> bool:
        """Whether ``_kernel.c`` was compiled."""
        return KERNEL is not None

    def text(self, action: Action) -> str:
        """The action in the notation of the rules pages."""
        return text(action)

    def parse(self, text: str) -> Action:
        """The action that ``text`` writes."""
        return parse(text)

    def next_beginner(self, options: Options, beginner: Seat, outcome: Outcome, drawn: Seat) -> Seat:
        """Who begins the next deal (option ``next_first``)."""
        if options["next_first"] == NextFirst.RANDOM:
            return drawn
        if options["next_first"] == NextFirst.ALTERNATING:
            return other(beginner)
        # The winner, or after a nagari the same player again.
        return beginner if outcome.reason == EndReason.NAGARI else Seat(outcome.scores.index(max(outcome.scores)))

    def carry_after(self, options: Options, carry: int, outcome: Outcome) -> int:
        """Nagari left standing: one more after each, none after a payment; fixed scores leave them standing."""
        if options["nagari"] == NagariRule.NOTHING or outcome.reason == EndReason.STOP:
            return 0
        return carry + (outcome.reason == EndReason.NAGARI)


GO_STOP: Final = GoStop()
