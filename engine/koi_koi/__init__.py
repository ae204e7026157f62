"""Koi-koi: hanafuda for two. ``KOI_KOI`` is the game.

``types`` has the shapes, ``rules`` the course of a deal, ``table`` what its events change, ``scoring`` what cards are
worth, ``sight`` who may know what, ``text`` the notation. ``bot`` has the players that do not search and ``outlook``
what they see in a position; ``search`` those that do, ``playouts`` how they play deals out, ``flat`` and ``worths`` the
course of a deal and the worth of cards once more as numbers. ``yardstick`` is what they all are measured with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from engine.game import Budget, Card, Game, Level, Message, Options, Outcome, Seat, Step, Thought, Viewer, Yardstick
from engine.koi_koi import bot, rules, scoring, search, sight, text, yardstick
from engine.koi_koi.types import Action, Event, Phase, State, View


class KoiKoi(Game[State, Action, Event, View]):
    """Hanafuda koi-koi for two."""

    name = "koi-koi"
    seats = 2
    sides = 2
    rules_version = 1
    cards = scoring.CARDS
    options = rules.OPTIONS
    beginner = "first"
    levels = (Level.EASY, Level.MEDIUM, Level.HARD, Level.EXPERT)
    yardsticks: ClassVar[Mapping[str, Yardstick]] = {"greedy": yardstick.greedy}
    state_type = State
    view_type = View
    event_types = Event.__args__

    def side(self, seat: Seat) -> int:
        """Each seat plays for itself."""
        return seat

    def deal(self, options: Options, deck: Sequence[Card], beginner: Seat, carry: int = 0) -> Step[State, Event]:  # noqa: ARG002 - koi-koi carries nothing
        """Deal ``deck`` with ``beginner`` as first player (K1, K2)."""
        self.check_deck(deck)
        return rules.deal(rules.rules_of(options), deck, beginner)

    def awaiting(self, state: State) -> frozenset[Seat]:
        """The one player who is to act, or nobody."""
        return frozenset() if state.table.phase is Phase.OVER else frozenset((state.table.turn,))

    def legal(self, view: View) -> tuple[Action, ...]:
        """What the viewer may do now, sorted by text."""
        if view.hand is None or view.viewer != view.table.turn:
            return ()
        return rules.moves(view.table, view.hand)

    def legal_at(self, state: State, seat: Seat) -> tuple[Action, ...]:
        """What ``seat`` may do, without building a view."""
        return rules.moves(state.table, state.hands[seat]) if seat == state.table.turn else ()

    def apply(self, state: State, seat: Seat, action: Action) -> Step[State, Event]:
        """Perform a legal action."""
        return rules.apply(state, seat, action)

    def why(self, view: View, action: Action) -> Message | None:
        """What forbids ``action`` to the viewer."""
        return rules.refusal(view.table, view.viewer, view.hand or (), action)

    def outcome(self, state: State) -> Outcome | None:
        """The result, once the deal is over."""
        return state.table.outcome

    def view(self, state: State, viewer: Viewer) -> View:
        """Everything ``viewer`` knows, and nothing else."""
        return sight.view(state, viewer)

    def redact(self, event: Event, viewer: Viewer) -> Event:
        """What ``viewer`` may see of ``event``."""
        return sight.redact(event, viewer)

    def observe(self, view: View | None, event: Event, viewer: Viewer) -> View:
        """The view after its viewer was shown ``event``."""
        return sight.observe(view, event, viewer)

    def resample(self, view: View, rng: Random) -> State:
        """A world drawn uniformly from those that agree with the view."""
        return sight.resample(view, rng)

    def default_action(self, view: View) -> Action:
        """The plainest card, the better of two targets, and stop."""
        return bot.default_action(self.legal(view))

    def think(self, view: View, legal: Sequence[Action], rng: Random, budget: Budget) -> Thought[Action]:
        """The choice of a level among ``legal``."""
        if budget.level in search.ROLLOUTS:
            return search.think(view, legal, rng, budget)
        return bot.think(view, legal, rng, budget)

    def kernel_available(self) -> bool:
        """Whether ``expert`` has its compiled kernel."""
        return search.kernel_available()

    def text(self, action: Action) -> str:
        """The action in the notation of the rules pages."""
        return text.text(action)

    def parse(self, text_of_action: str) -> Action:
        """The action that the text writes."""
        return text.parse(text_of_action)

    def next_beginner(self, options: Options, beginner: Seat, outcome: Outcome, drawn: Seat) -> Seat:
        """Option ``next_first``: taking turns, the winner (after a draw the same player again), or drawn."""
        return rules.next_first(options, beginner, outcome, drawn)


KOI_KOI: Final = KoiKoi()
"""The game, for the registry."""
