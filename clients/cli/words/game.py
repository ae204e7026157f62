"""The contract between a face of the client and the words of one game."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from clients.cli.words import N_, Lines, _, filled, plainly
from clients.cli.words.people import People
from engine.game import AnyGame, Card, Message, Param, Why

SHARED_WHY: Final[Mapping[str, str]] = {
    Why.NOT_YOUR_TURN: N_("It is not your turn."),
    Why.ALREADY_ANSWERED: N_("You have given your answer; it is published together with all the others."),
    Why.DEAL_OVER: N_("This deal is over."),
    Why.NOT_IN_HAND: N_("You do not hold {card}."),
    Why.UNKNOWN_OPTION: N_("There is no option {option}. There are: {known}."),
    Why.BAD_OPTION_VALUE: N_("{option} cannot be {value}. It can be: {allowed}."),
}
"""Refusals that all games share (``engine.game.Why``)."""


class GameWords(ABC):
    """How one game is told to people. Holds no data of its own; everything that changes is an argument."""

    game: ClassVar[AnyGame]
    title: ClassVar[str]
    """As a heading."""
    why: ClassVar[Mapping[str, str]]
    """A sentence for each refusal of this game, by code; ``{card}`` and the like are filled with card names."""
    reasons: ClassVar[Mapping[str, str]]
    """Why an AI chose: a sentence for each code of the game's ``Reason``."""
    endings: ClassVar[Mapping[str, str]]
    """How a deal can end, by the reason of its outcome."""

    @abstractmethod
    def card(self, card: Card) -> str:
        """A card's code and name: ``03b cherry curtain``."""

    @abstractmethod
    def event(self, event: Any, people: People, view: Any) -> Lines:
        """What happened. ``view`` is the reader's view after the event."""

    @abstractmethod
    def table(self, view: Any, people: People) -> Lines:
        """Everything in the open, and the reader's hand."""

    @abstractmethod
    def move(self, action: str, view: Any) -> str:
        """What a legal action means here: ``takes 03p``."""

    @abstractmethod
    def question(self, view: Any, people: People) -> str:
        """What is asked of the reader, who is to act."""

    @abstractmethod
    def score(self, view: Any, people: People) -> Lines:
        """The score of the deal so far, and how it comes about."""

    def last(self, view: Any, people: People) -> Lines:  # noqa: ARG002 - games override
        """What is worth another look besides the sentences since the reader's last move."""
        return ()

    def refusal(self, code: str, params: Mapping[str, Param]) -> str:
        """Why an action was refused and what is possible."""
        template = self.why.get(code) or SHARED_WHY.get(code)
        return plainly(code, params) if template is None else filled(template, self.worded(params))

    def reason(self, message: Message) -> str:
        """Why an AI chose."""
        template = self.reasons.get(message.code)
        if template is None:
            return plainly(message.code, message.params)
        return filled(template, self.worded(message.params))

    def worded(self, params: Mapping[str, Param]) -> dict[str, Param]:
        """``params`` with cards named in full; games word further kinds of parameters."""
        return {key: self._named(value) for key, value in params.items()}

    def _named(self, value: Param) -> Param:
        if isinstance(value, tuple):
            return tuple(str(self._named(part)) for part in value)
        return self.card(Card(value)) if isinstance(value, str) and value in self.game.cards else value

    def ending(self, reason: str) -> str:
        """How the deal ended."""
        template = self.endings.get(reason)
        return reason if template is None else _(template)
