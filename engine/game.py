"""The contract of a game.

What belongs here: the words every game shares (seat, card, step, refusal, outcome) and the abstract class that
each game implements. What must not be known here: any particular game, any room, any clock.

A game is a set of pure functions over frozen values:

* the **state** is the whole truth of one deal and never leaves the trust boundary;
* an **event** tells what happened; ``redact`` makes of it what one viewer may see of it;
* a **view** is everything one viewer knows, and only that; it is what people, spectators and AI are given.

Three laws tie them together, and the conformance suite holds every registered game to them:

1. ``legal`` is the oracle: from an awaited seat ``apply`` accepts exactly what ``legal`` offers, and ``why`` is
   None exactly there; from any other seat it accepts nothing.
2. A view is a fold of what its viewer was shown: ``view`` after a step equals ``observe`` of the view before
   it, applied to the step's redacted events. So a view can hold nothing that its viewer was not told.
3. ``resample`` of a view yields states whose view is that view again, byte for byte.

What a room keeps of these is declared ``gc=False``: frozen values cannot form cycles, a full node holds a million of
them, and so Python neither searches them for cycles nor spends sixteen bytes on each to do so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from random import Random
from typing import Any, ClassVar, Generic, NewType, TypeAlias, TypeVar

from msgspec import Struct

Seat = NewType("Seat", int)
"""A place at the table, 0 … seats-1, clockwise. Absolute everywhere; turning to "me first" is the reader's job."""

Card = NewType("Card", str)
"""A card's code in the notation of its game: ``03r`` (flower cards), ``Psu`` (unsun karuta, rule H2)."""

Viewer: TypeAlias = Seat | None
"""Who looks: a seat, or None for a spectator, who sees what is public and no more."""

OptionValue: TypeAlias = str | int
Options: TypeAlias = Mapping[str, OptionValue]
"""Complete options of a game: every key of ``Game.options`` with one of its values."""

Param: TypeAlias = str | int | tuple[str, ...]
"""A parameter of a message: a card, an option, a number, or several cards. Clients word it."""

Yardstick: TypeAlias = Callable[[Any, Sequence[Any]], Any]
"""A frozen player: from a seat's view and its legal actions (not empty) one of these. Draws nothing at random."""

FrozenState = TypeVar("FrozenState", bound=Struct)
ActionT = TypeVar("ActionT", bound=Struct)
EventT = TypeVar("EventT", bound=Struct)
ViewT = TypeVar("ViewT", bound=Struct)


class Message(Struct, frozen=True):
    """Something to be said to a reader of any language: a code and its parameters. Clients word it."""

    code: str
    """A value of the StrEnum of the module that speaks, such as ``monchi`` or ``not-in-hand``."""
    params: dict[str, Param] = {}


class GameError(Exception):
    """The parent of what a caller may have done wrong. Anything else that a game raises is a bug."""


class MalformedAction(GameError):
    """The text is no action of this game at all (it could never be legal)."""

    def __init__(self, text: str) -> None:
        super().__init__(f"not an action of this game: {text!r}")
        self.text = text


class IllegalAction(GameError):
    """The rules forbid this action here; nothing has changed."""

    def __init__(self, refusal: Message) -> None:
        super().__init__(f"{refusal.code} {refusal.params}")
        self.refusal = refusal


class BadOption(GameError):
    """An option that the game does not have, or a value that the option does not take."""

    def __init__(self, refusal: Message) -> None:
        super().__init__(f"{refusal.code} {refusal.params}")
        self.refusal = refusal


class BadDeck(GameError):
    """The deck is not a permutation of the game's cards."""


class Why(StrEnum):
    """Refusals that every game shares. A game's own codes stand in its ``types`` module."""

    NOT_YOUR_TURN = "not-your-turn"
    """Somebody else is to act. No parameters."""
    ALREADY_ANSWERED = "already-answered"
    """The seat's sealed answer has been given. No parameters."""
    DEAL_OVER = "deal-over"
    """The deal has ended. No parameters."""
    NOT_IN_HAND = "not-in-hand"
    """The card is not in the seat's hand. ``card``: what was named."""
    UNKNOWN_OPTION = "unknown-option"
    """``option``: what was named; ``known``: the options there are."""
    BAD_OPTION_VALUE = "bad-option-value"
    """``option``, ``value``: what was named; ``allowed``: the values there are."""


class Level(StrEnum):
    """How well an AI seat plays. Each level is measurably above the one before it."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"
    EXPERT = "expert"


class Budget(Struct, frozen=True):
    """What an AI may spend on one decision. Counted in work, never in time, so that a choice can be repeated."""

    level: Level = Level.MEDIUM
    rollouts: int | None = None
    """Playouts for a searching level; None takes the level's own number."""


class Thought(Struct, Generic[ActionT], frozen=True):
    """An AI's choice and why, as data that hints and the replay viewer word."""

    action: ActionT
    values: dict[str, float] = {}
    """What each action (by its text) was found worth, in the deal's points for the chooser's side; may be empty."""
    reason: Message | None = None
    """A code of the game's ``Reason`` enum with parameters: the yaku aimed at, the combination avoided."""
    searched: bool = False
    """Whether the values are means over sampled worlds; otherwise they only order the actions. The choice need not have
    the highest: it is left only for what is better beyond doubt.
    """


class Outcome(Struct, frozen=True, gc=False):
    """How a deal ended."""

    reason: str
    """A reason of the deal record: ``stop``, ``draw``, ``redeal``, ``played``, …"""
    scores: tuple[int, ...]
    """By side: one per seat in two-player games, one per team (even, odd) in Hachinin Meri."""


class Step(Struct, Generic[FrozenState, EventT], frozen=True):
    """What follows from dealing or from an action: the new state, and what happened on the way."""

    state: FrozenState
    events: tuple[EventT, ...]


class Game(ABC, Generic[FrozenState, ActionT, EventT, ViewT]):
    """One game. Instances hold no data; everything that changes is an argument or a result."""

    name: ClassVar[str]
    """As players and the wire name it: ``koi-koi``."""
    seats: ClassVar[int]
    sides: ClassVar[int]
    """How many scores a deal has: one per seat, or one per team."""
    rules_version: ClassVar[int]
    """Rises when the same actions on the same deck could come out otherwise. Logged with every match."""
    cards: ClassVar[tuple[Card, ...]]
    """The whole deck in card-id order."""
    options: ClassVar[Mapping[str, tuple[OptionValue, ...]]]
    """Every option with its values, the default first."""
    beginner: ClassVar[str]
    """What the seat given to ``deal`` is called in a deal record: ``first`` or ``dealer``."""
    silent_deals: ClassVar[bool] = False
    """Whether players must not talk while a deal is played."""
    levels: ClassVar[tuple[Level, ...]]
    """The levels that ``think`` plays, weakest first."""
    yardsticks: ClassVar[Mapping[str, Yardstick]] = {}
    """What the levels are measured with, by name. Never sits at a table, and never changes: figures of different
    years must mean the same.
    """
    state_type: ClassVar[type[Struct]]
    view_type: ClassVar[type[Struct]]
    event_types: ClassVar[tuple[type[Struct], ...]]
    """The tagged Structs (tag field ``e``) of which this game's events are the union."""

    @abstractmethod
    def side(self, seat: Seat) -> int:
        """The index into ``Outcome.scores`` that ``seat`` plays for."""

    # The deal ---------------------------------------------------------------------------------------------

    @abstractmethod
    def deal(self, options: Options, deck: Sequence[Card], beginner: Seat, carry: int = 0) -> Step[FrozenState, EventT]:
        """Deal ``deck`` (all cards, in the deck order of the rules) with ``beginner`` as first player or dealer.

        ``carry`` is what an earlier deal of the match left (see ``carry_after``); games that carry nothing ignore
        it, as readers of a record do. The returned state may be over already (a redeal, a fixed score). ``options``
        are complete (see ``complete_options``).

        Raises:
            BadDeck: ``deck`` is no permutation of ``cards``.
        """

    @abstractmethod
    def awaiting(self, state: FrozenState) -> frozenset[Seat]:
        """The seats that may act now; empty exactly when the deal is over.

        More than one seat means *sealed* answers: each may answer once, in any order, unseen by the others;
        the answers take effect, and make events, together with the last of them.
        """

    @abstractmethod
    def legal(self, view: ViewT) -> tuple[ActionT, ...]:
        """What the viewer may do now, sorted by text; empty when there is nothing to decide.

        A sealed answer leaves no trace in any view before it is published, not even in its giver's: whoever
        holds the seat remembers that it has answered.
        """

    def legal_at(self, state: FrozenState, seat: Seat) -> tuple[ActionT, ...]:
        """What an awaited seat may do, and nothing for any other. Games may answer without building a view."""
        return self.legal(self.view(state, seat)) if seat in self.awaiting(state) else ()

    @abstractmethod
    def apply(self, state: FrozenState, seat: Seat, action: ActionT) -> Step[FrozenState, EventT]:
        """Perform a legal action.

        Raises:
            IllegalAction: ``action`` is not among ``legal_at(state, seat)``; carries what ``why`` says.
        """

    @abstractmethod
    def why(self, view: ViewT, action: ActionT) -> Message | None:
        """What forbids ``action`` to the viewer, told from what the viewer knows; None when it is legal."""

    @abstractmethod
    def outcome(self, state: FrozenState) -> Outcome | None:
        """The result, once the deal is over."""

    # What a seat may know ---------------------------------------------------------------------------------

    @abstractmethod
    def view(self, state: FrozenState, viewer: Viewer) -> ViewT:
        """Everything ``viewer`` knows, and nothing else."""

    @abstractmethod
    def redact(self, event: EventT, viewer: Viewer) -> EventT:
        """What ``viewer`` may see of ``event``: the *same object* if nothing is hidden, else a copy with None
        in place of what is hidden. Hides fields, never whole events. Fails closed: a ``match`` that ends in
        ``assert_never``.
        """

    @abstractmethod
    def observe(self, view: ViewT | None, event: EventT, viewer: Viewer) -> ViewT:
        """The view after its viewer was shown ``event`` (already redacted for them).

        ``view`` is None before the first event of a deal, which creates it.
        """

    @abstractmethod
    def resample(self, view: ViewT, rng: Random) -> FrozenState:
        """A whole state, drawn at random from those consistent with everything the viewer knows."""

    # Players ----------------------------------------------------------------------------------------------

    @abstractmethod
    def default_action(self, view: ViewT) -> ActionT:
        """What is done for a seat that did not answer in time: harmless, quick, and without looking ahead."""

    @abstractmethod
    def think(self, view: ViewT, legal: Sequence[ActionT], rng: Random, budget: Budget) -> Thought[ActionT]:
        """An AI's choice among ``legal`` and its reason, from the view and nothing else.

        Deterministic for a seed and a budget.
        """

    def kernel_available(self) -> bool:
        """Whether the compiled search that ``expert`` wants is installed; without it ``expert`` plays as ``hard``."""
        return False

    def choose(self, view: ViewT, legal: Sequence[ActionT], rng: Random, budget: Budget) -> ActionT:
        """The action of ``think``."""
        return self.think(view, legal, rng, budget).action

    # Notation ---------------------------------------------------------------------------------------------

    @abstractmethod
    def text(self, action: ActionT) -> str:
        """The action in the notation of the rules pages; this is how it travels."""

    @abstractmethod
    def parse(self, text: str) -> ActionT:
        """The action that ``text`` writes (exactly as ``text()`` writes it).

        Raises:
            MalformedAction: it writes none.
        """

    # The match --------------------------------------------------------------------------------------------

    @abstractmethod
    def next_beginner(self, options: Options, beginner: Seat, outcome: Outcome, drawn: Seat) -> Seat:
        """Who begins the deal after one that ``beginner`` began and that ended with ``outcome`` (never a
        redeal: there the beginner stays). ``drawn`` is a seat drawn at random, for options that want it.
        """

    def first_beginner(self, options: Options, drawn: Seat) -> Seat:  # noqa: ARG002 - games override with options
        """Who begins the first deal; ``drawn`` is a seat drawn at random."""
        return drawn

    def carry_after(self, options: Options, carry: int, outcome: Outcome) -> int:  # noqa: ARG002 - likewise
        """What this deal leaves to the next one: 0, or go-stop's number of nagari still standing."""
        return 0

    def complete_options(self, given: Options) -> dict[str, OptionValue]:
        """``given`` with the defaults filled in, in the order of ``options``. ``"3"`` is accepted for 3.

        Raises:
            BadOption: an unknown key, or a value the option does not take.
        """
        for key in given:
            if key not in self.options:
                raise BadOption(Message(Why.UNKNOWN_OPTION, {"option": key, "known": tuple(self.options)}))
        complete: dict[str, OptionValue] = {}
        for key, allowed in self.options.items():
            value = given.get(key, allowed[0])
            matching = [known for known in allowed if str(known) == str(value)]
            if not matching or isinstance(value, bool):
                params: dict[str, Param] = {"option": key, "value": str(value), "allowed": tuple(map(str, allowed))}
                raise BadOption(Message(Why.BAD_OPTION_VALUE, params))
            complete[key] = matching[0]
        return complete

    def check_deck(self, deck: Sequence[Card]) -> None:
        """Raise BadDeck unless ``deck`` is a permutation of ``cards``."""
        if len(deck) != len(self.cards) or set(deck) != set(self.cards):
            raise BadDeck(f"{self.name} is dealt from all {len(self.cards)} cards, each once")


AnyGame: TypeAlias = Game[Any, Any, Any, Any]
"""A game of which the caller (a room, a match, a record) does not know the types."""
