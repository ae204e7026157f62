"""The contract between a face of the client and the words of one game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from clients.cli.words import N_, Lines, _, filled, listed, plainly
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


class GameWords(Struct, frozen=True, kw_only=True):
    """How one game is told to people. One of these stands at the end of the module of each game.

    Events, views and actions are those of the game. Views are the reader's own.
    """

    game: AnyGame
    title: str
    """As a heading."""
    card: Callable[[Card], str]
    """A card's code and name: ``03b cherry curtain``."""
    event: Callable[[Any, People], Lines]
    """What happened: an event as the reader was shown it."""
    table: Callable[[Any, People], Lines]
    """A view: everything in the open."""
    hand: Callable[[Any], Lines]
    """A view: the reader's hand, sorted; nothing for a spectator."""
    moves_show_hand: Callable[[Any], bool] = lambda _view: False
    """A view whose owner is to act: whether the list of legal moves shows the whole hand anyway."""
    score: Callable[[Any, People], Lines]
    """A view: the score of the deal so far, and how it comes about."""
    question: Callable[[Any], str]
    """A view whose owner is to act: what is asked of them."""
    move: Callable[[str, Any], str]
    """A legal action's text and the view: what it would do."""
    last: Callable[[Any, People], Lines] = lambda _view, _people: ()
    """A view: what is worth another look besides the sentences since the reader's last move."""
    codes: Mapping[str, Mapping[str, str]] = {}
    """Words for parameters that are codes, by the parameter's name: ``yaku`` → ``animals`` → …"""
    why: Mapping[str, str]
    """A sentence for each refusal of this game, by code; ``{card}`` and the like are filled with card names."""
    reasons: Mapping[str, str]
    """Why an AI chose: a sentence for each code of the game's ``Reason``."""
    endings: Mapping[str, str]
    """How a deal can end, by the reason of its outcome."""

    def refusal(self, code: str, params: Mapping[str, Param]) -> str:
        """Why an action was refused and what is possible."""
        return self._sentence(self.why.get(code) or SHARED_WHY.get(code), code, params)

    def reason(self, message: Message) -> str:
        """Why an AI chose."""
        return self._sentence(self.reasons.get(message.code), message.code, message.params)

    def ending(self, reason: str) -> str:
        """How a deal ended."""
        return _(self.endings[reason]) if reason in self.endings else reason

    def _sentence(self, template: str | None, code: str, params: Mapping[str, Param]) -> str:
        if template is None:
            return plainly(code, params)
        return filled(template, {name: self._worded(name, value) for name, value in params.items()})

    def _worded(self, name: str, value: Param) -> str:
        if isinstance(value, tuple):
            return listed(self._worded(name, part) for part in value) or _("none")
        if name in self.codes and value in self.codes[name]:
            return _(self.codes[name][str(value)])
        return self.card(Card(value)) if isinstance(value, str) and value in self.game.cards else str(value)
