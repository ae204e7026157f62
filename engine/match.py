"""A match: several deals of one game, with beginner, redeals, draws, carry-over and totals.

Belongs here: everything between two deals. Must not be known here: where decks come from, who sits where. A match
is a frozen value; ``deal`` and ``act`` return the next one and the events on the way, the game's own among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from engine.game import AnyGame, Card, Options, OptionValue, Outcome, Seat

REDEAL: Final = "redeal"
"""The reason of a deal that is dealt again: it does not count, and the beginner stays (K3, G2)."""


class MatchEvent(Struct, frozen=True, gc=False, tag_field="e"):
    """What happens between deals. Public in full: nothing in it needs redaction."""


class DealBegan(MatchEvent, frozen=True, tag="deal-began"):
    """A deck is dealt. Comes before the game's own events."""

    deal: int
    """The deal's number in the match, from 1."""
    attempt: int
    """From 1; rises when the deal is dealt again."""
    beginner: Seat
    carry: int
    """What earlier deals left (``Game.carry_after``)."""


class DealEnded(MatchEvent, frozen=True, tag="deal-ended"):
    """The deal is over. Comes after the game's own events."""

    deal: int
    reason: str
    scores: tuple[int, ...]
    """Of this deal, by side."""
    totals: tuple[int, ...]
    """Of the match so far, by side."""


class MatchEnded(MatchEvent, frozen=True, tag="match-ended"):
    """The last deal was played."""

    totals: tuple[int, ...]
    winner: int | None
    """The side with the highest total; None for a draw."""


MATCH_EVENTS: Final = (DealBegan, DealEnded, MatchEnded)


class Need(Enum):
    """What a match waits for."""

    DECK = "deck"
    ACTION = "action"
    NOTHING = "nothing"


class Match(Struct, frozen=True, gc=False):
    """A match in progress."""

    options: dict[str, OptionValue]
    totals: tuple[int, ...]
    deal: int = 0
    """Number of the deal in play or just over; 0 before the first."""
    attempt: int = 0
    beginner: Seat = Seat(0)
    carry: int = 0
    """What the deals before this one left to it."""
    state: Any = None
    """The game's state of the deal in play or just over."""
    outcome: Outcome | None = None
    """Of the deal just over; None while one is in play and before the first."""
    over: bool = False

    @property
    def need(self) -> Need:
        """What the match waits for: a deck, an action of an awaited seat, or nothing more."""
        if self.over:
            return Need.NOTHING
        return Need.DECK if self.state is None or self.outcome is not None else Need.ACTION


class Progress(Struct, frozen=True):
    """The match after a step, and what happened on the way (``MatchEvent`` or the game's events)."""

    match: Match
    events: tuple[Any, ...]


def begin(game: AnyGame, options: Options) -> Match:
    """A match before its first deal.

    Raises:
        BadOption: an unknown option or a value that it does not take.
    """
    return Match(options=game.complete_options(options), totals=(0,) * game.sides)


def upcoming(match: Match) -> tuple[int, int]:
    """Deal number and attempt of the deck that the match needs next."""
    if match.outcome is not None and match.outcome.reason == REDEAL:
        return match.deal, match.attempt + 1
    return match.deal + 1, 1


def deal(game: AnyGame, match: Match, deck: Sequence[Card], drawn: Seat) -> Progress:
    """Deal the next deal, or the same one again after a redeal.

    ``drawn`` is a seat drawn at random for this deal; it is used only where rules or options draw a beginner.

    Raises:
        BadDeck: ``deck`` is no permutation of the game's cards.
    """
    assert match.need is Need.DECK, "a deck was dealt into a deal in play or a finished match"
    number, attempt = upcoming(match)
    carry = match.carry
    if match.outcome is None:
        beginner = game.first_beginner(match.options, drawn)
    elif attempt > 1:
        beginner = match.beginner
    else:
        beginner = game.next_beginner(match.options, match.beginner, match.outcome, drawn)
        carry = game.carry_after(match.options, match.carry, match.outcome)
    step = game.deal(match.options, deck, beginner, carry)
    dealt = replace(match, deal=number, attempt=attempt, beginner=beginner, carry=carry, state=step.state, outcome=None)
    return _settle(game, dealt, (DealBegan(number, attempt, beginner, carry), *step.events))


def act(game: AnyGame, match: Match, seat: Seat, action: Any) -> Progress:
    """Perform ``action`` for ``seat``.

    Raises:
        IllegalAction: the rules forbid it; the match is unchanged.
    """
    assert match.need is Need.ACTION, "an action was performed while no deal is in play"
    step = game.apply(match.state, seat, action)
    return _settle(game, replace(match, state=step.state), step.events)


def _settle(game: AnyGame, match: Match, events: tuple[Any, ...]) -> Progress:
    outcome = game.outcome(match.state)
    if outcome is None:
        return Progress(match, events)
    totals = tuple(total + score for total, score in zip(match.totals, outcome.scores, strict=True))
    over = outcome.reason != REDEAL and match.deal == match.options["deals"]
    ended = DealEnded(match.deal, outcome.reason, outcome.scores, totals)
    events = (*events, ended)
    if over:
        best = max(totals)
        winner = totals.index(best) if totals.count(best) == 1 else None
        events = (*events, MatchEnded(totals, winner))
    return Progress(replace(match, outcome=outcome, totals=totals, over=over), events)
