"""The contract between the table screen and the picture of one game.

Belongs here: what a panel is given and what it answers. A panel is pure: it draws on a canvas what one viewer knows,
and says what can be pointed at. Must not be known here: widgets, connections.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from msgspec import Struct

from clients.cli.tui.canvas import Canvas, Piece
from clients.cli.tui.choosing import Choice, Pick
from clients.cli.words import C_, Lines, _, common
from clients.cli.words.people import People
from engine.game import AnyGame, Card, Seat
from protocol.messages import SeatInfo
from wording.columns import width

HEADLINE: Final = 78
"""Columns of the narrowest screen that a headline may take: what must not be overlooked must not be cut."""


class Looking(Struct, frozen=True):
    """Everything that is to be drawn."""

    view: Any
    """The game's view."""
    people: People
    choice: Choice | None = None
    """The decision that is open for the viewer."""
    symbols: bool = True
    """Draw symbols beside letters."""
    hands: tuple[tuple[Card, ...], ...] | None = None
    """All hands, when a record is watched with open cards."""
    still: bool = False
    """A record is watched: where there is nothing to choose, nothing is dim."""

    def paper(self, card: Card, *, in_hand: bool) -> str:
        """The paper of a card that could be chosen: how it stands in the open decision."""
        choice = self.choice
        if choice is None:
            return "card-dim" if in_hand and not self.still else "card"
        if choice.picks and choice.picks[0].word:
            return "card"  # the hand is what one thinks about
        index = choice.by_key(card)
        if card == choice.held_key:
            return "card-held"
        if index is None:
            return "card-dim" if in_hand else "card"
        if index == choice.pointed:
            return "card-pointed"
        if not choice.picks[index].actions:
            return "card-dim"
        return "card" if in_hand else "card-target"

    def number(self, card: Card) -> str:
        """The key of a card in the open decision: ``[3]`` if it is possible, ``3`` if not, else nothing."""
        index = None if self.choice is None else self.choice.by_key(card)
        if index is None or self.choice is None:
            return ""
        digit = str((index + 1) % 10) if index < 10 else ""
        return f"[{digit}]" if self.choice.picks[index].actions else f" {digit} "


BUTTONS: Final[Mapping[str, str]] = {
    "stop": C_("button", "stop"),
    "koi": C_("button", "koi"),
    "go": C_("button", "go"),
    "declare": C_("button", "declare"),
    "pass": C_("button", "pass"),
}
"""Actions that name no card, as their buttons say them."""


class Panel(ABC):
    """The picture of one game. Instances hold no data."""

    game: ClassVar[AnyGame]
    notable: ClassVar[tuple[type[Struct], ...]]
    """Events that are announced in the prompt, besides being told in the log. Not ``endings``: the score follows."""
    opening: ClassVar[type[Struct]]
    """The event with which a deal begins."""
    legend: ClassVar[str]
    """What stands where, and what the signs mean (marked for translation)."""
    endings: ClassVar[tuple[type[Struct], ...]]
    """Events that say how a deal came out; the result screen tells them again."""

    @abstractmethod
    def picks(self, view: Any, legal: tuple[str, ...]) -> tuple[Pick, ...]:
        """What the viewer, who is to decide, can point at, and what each leads to."""

    @abstractmethod
    def draw(self, canvas: Canvas, looking: Looking) -> None:
        """Draw the table on the whole canvas, whatever its size; at 80 columns and 17 rows everything is there."""

    @abstractmethod
    def turn(self, view: Any) -> Seat | None:
        """Whose turn it is; None when all are asked and when the deal is over."""

    def headline(self, event: Any, said: Lines, people: People) -> str:  # noqa: ARG002 - games override with the event
        """A notable event in one line, at most ``HEADLINE`` columns; ``said`` are its sentences.

        Here: the first of them, and as many of the others as there is room for. Games have shorter words for events
        whose first sentence can be too long.
        """
        told = ""
        for line in map(str.strip, said):
            longer = f"{told} {line}".strip()
            if told and width(longer) > HEADLINE:
                break
            told = longer
        return told

    def turn_in_brief(self, events: Sequence[Any], people: People) -> str:  # noqa: ARG002 - for games that override
        """What somebody has done in their turn so far, in one line; nothing where a move is a single card in sight.

        ``events``: from the first of the turn, as ``began_turn`` says.
        """
        return ""

    def began_turn(self, event: Any) -> Seat | None:  # noqa: ARG002 - for games that override
        """Whose turn begins with this event; None if none does, or if turns are not told in brief."""
        return None

    def eyes(self, state: Any, seat: Seat) -> Any:
        """What somebody would see who sat in ``seat`` and saw every card on the table."""
        return self.game.view(state, seat)

    def hands(self, state: Any) -> tuple[tuple[Card, ...], ...]:
        """All hands of a state."""
        hands: tuple[tuple[Card, ...], ...] = state.hands
        return hands


def standing(info: SeatInfo) -> tuple[Piece, ...]:
    """What stands beside the name of who holds a seat: an AI's level, or that one sits in for a person."""
    if info.kind == "ai":
        return ((f" [{common.level(info.level)}]", "dim"),)
    if info.stand_in:
        return ((f" [{_('AI')}]", "note"),)
    return ((f" [{_('away')}]", "alarm"),) if info.away else ()


def word_picks(legal: tuple[str, ...]) -> tuple[Pick, ...]:
    """Picks for actions that name no card."""
    return tuple(Pick(action, (action,), action, word=True) for action in legal)
