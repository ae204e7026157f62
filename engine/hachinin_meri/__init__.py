"""Hachinin Meri: eight seats, two teams, 75 cards, nine tricks.

``HachininMeri`` binds the modules beside it to the contract of a game. The rules are in ``docs/hachinin-meri.md``.
``bot`` has the levels, ``odds`` what they can tell from a glance, ``worlds`` the deals that may be; ``flat`` is a deal
as searching players think of it, ``seen`` draws such deals, ``ahead`` plays them on (``quick`` is one of the players
there) and judges them, ``search`` compares what comes of it, ``kernel`` is the same, compiled; ``vetoes`` what no
partner does, ``yardstick`` the player that levels are measured with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from engine.game import Budget, Card, Game, Message, Options, Outcome, Seat, Step, Thought, Viewer, Yardstick
from engine.hachinin_meri import bot, rules, sight, worlds, yardstick
from engine.hachinin_meri import text as notation
from engine.hachinin_meri.cards import CARDS
from engine.hachinin_meri.kernel import KERNEL
from engine.hachinin_meri.table import left_of, team
from engine.hachinin_meri.types import EVENTS, SEATS, Action, AnyEvent, Phase, State, View

__all__ = ["HACHININ_MERI", "HachininMeri"]


class HachininMeri(Game[State, Action, AnyEvent, View]):
    """The game as the registry knows it."""

    name = "hachinin-meri"
    seats = SEATS
    sides = 2
    rules_version = 1
    cards = CARDS
    options = rules.OPTIONS
    beginner = "dealer"
    silent_deals = True
    levels = bot.LEVELS
    yardsticks: ClassVar[Mapping[str, Yardstick]] = {"greedy": yardstick.greedy}
    state_type = State
    view_type = View
    event_types = EVENTS

    def side(self, seat: Seat) -> int:
        """The team of ``seat``: even seats 0, odd seats 1 (H6)."""
        return team(seat)

    def deal(self, options: Options, deck: Sequence[Card], beginner: Seat, carry: int = 0) -> Step[State, AnyEvent]:  # noqa: ARG002 - Hachinin Meri carries nothing
        """Deal with ``beginner`` as dealer (H8)."""
        self.check_deck(deck)
        return rules.deal(rules.house_rules(options), deck, beginner)

    def awaiting(self, state: State) -> frozenset[Seat]:
        """All who have not answered the declaration yet (H10), then whoever's turn it is."""
        return rules.awaiting(state)

    def legal(self, view: View) -> tuple[Action, ...]:
        """What the viewer may do, sorted by text."""
        return rules.legal(view.table, view.seat, view.hand)

    def legal_at(self, state: State, seat: Seat) -> tuple[Action, ...]:
        """The same for an awaited seat, without building its view."""
        if state.table.phase is Phase.DECLARING and state.answers[seat] is not None:
            return ()
        return rules.legal(state.table, seat, state.hands[seat])

    def apply(self, state: State, seat: Seat, action: Action) -> Step[State, AnyEvent]:
        """Perform a legal action; raises IllegalAction otherwise."""
        return rules.apply(state, seat, action)

    def why(self, view: View, action: Action) -> Message | None:
        """What forbids ``action`` to the viewer: a code of ``types.Why`` or ``engine.game.Why``."""
        return rules.refusal(view.table, view.seat, view.hand, action)

    def outcome(self, state: State) -> Outcome | None:
        """``played`` and the scores by team, once the deal is over."""
        return rules.outcome(state)

    def view(self, state: State, viewer: Viewer) -> View:
        """Everything ``viewer`` knows."""
        return sight.view(state, viewer)

    def redact(self, event: AnyEvent, viewer: Viewer) -> AnyEvent:
        """What ``viewer`` may see of ``event``."""
        return sight.redact(event, viewer)

    def observe(self, view: View | None, event: AnyEvent, viewer: Viewer) -> View:
        """The view after ``viewer`` was shown ``event``."""
        return sight.observe(view, event, viewer)

    def resample(self, view: View, rng: Random) -> State:
        """A state drawn from those consistent with everything the viewer knows (see ``worlds``)."""
        return worlds.resample(view, rng)

    def default_action(self, view: View) -> Action:
        """Pass; the cheapest discard; the cheapest card."""
        return bot.default_action(view)

    def think(self, view: View, legal: Sequence[Action], rng: Random, budget: Budget) -> Thought[Action]:
        """An AI's choice (see ``bot``)."""
        return bot.think(view, legal, rng, budget)

    def kernel_available(self) -> bool:
        """Whether ``_kernel.c`` was compiled."""
        return KERNEL is not None

    def text(self, action: Action) -> str:
        """``declare``, ``pass``, ``-P5``, ``K7``."""
        return notation.text(action)

    def parse(self, text: str) -> Action:
        """The action that ``text`` writes; raises MalformedAction if it writes none."""
        return notation.parse(text)

    def first_beginner(self, options: Options, drawn: Seat) -> Seat:
        """The first dealer: drawn, unless the options name one (H7)."""
        first = options["first_dealer"]
        return drawn if first == "random" else Seat(int(first))

    def next_beginner(self, options: Options, beginner: Seat, outcome: Outcome, drawn: Seat) -> Seat:  # noqa: ARG002 - by the rules alone
        """The deal moves one seat to the left (H7)."""
        return left_of(beginner)


HACHININ_MERI: Final = HachininMeri()
"""The game. It holds no data."""
