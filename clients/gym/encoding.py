"""What environments of different games have in common: actions as indices, views as numbers.

Belongs here: the layout of an observation and of the action space. Must not be known here: PettingZoo, numpy, or how a
deal goes on. An observation is a sequence of *planes*, each with a place for every card of the deck (1: the card is
there), and behind them single numbers. It is egocentric: "mine" and "theirs", and seats counted from the observer's
own. It is made from the view and from nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from engine.game import AnyGame, Card, Seat

Planes: TypeAlias = Mapping[str, Collection[Card]]
"""Cards by the name of their plane; always the same names in the same order."""
Numbers: TypeAlias = Mapping[str, float]
"""Likewise."""

LARGEST: Final = 1000.0
"""No number of an observation is further from 0 than this."""


class Encoding:
    """How one game's views and actions become numbers."""

    def __init__(
        self,
        game: AnyGame,
        actions: Sequence[str],
        planes: Callable[[Any], Planes],
        numbers: Callable[[Any], Numbers],
    ) -> None:
        self.game = game
        self.actions = tuple(actions)
        """Every action that can ever be legal, by its text; its index is the action of the environment."""
        self.index: Final = {text: index for index, text in enumerate(self.actions)}
        self.planes = planes
        self.numbers = numbers
        self._places = {card: place for place, card in enumerate(game.cards)}
        sample = game.view(game.deal(game.complete_options({}), game.cards, Seat(0)).state, Seat(0))
        self.plane_names: Final = tuple(planes(sample))
        self.number_names: Final = tuple(numbers(sample))
        self.size: Final = len(self.plane_names) * len(game.cards) + len(self.number_names)
        """Length of an observation."""

    def ones(self, view: Any) -> Iterator[int]:
        """Where the planes of ``view`` are 1."""
        width = len(self._places)
        for number, cards in enumerate(self.planes(view).values()):
            for card in cards:
                yield number * width + self._places[card]

    def tail(self, view: Any) -> list[float]:
        """The numbers of ``view``, which follow the planes."""
        return [float(value) for value in self.numbers(view).values()]

    def layout(self) -> dict[str, slice]:
        """Where each plane and each number stands in an observation."""
        width = len(self._places)
        planes = {name: slice(number * width, (number + 1) * width) for number, name in enumerate(self.plane_names)}
        behind = len(planes) * width
        return planes | {name: slice(behind + n, behind + n + 1) for n, name in enumerate(self.number_names)}

    def described(self, view: Any) -> str:
        """``view`` in plain text: the planes that hold cards and the numbers that are not 0."""
        lines = [f"{name}: {' '.join(cards)}" for name, cards in self.planes(view).items() if cards]
        told = ", ".join(f"{name} {value:g}" for name, value in self.numbers(view).items() if value)
        return "\n".join([*lines, told])


def one_hot(name: str, value: object, values: Iterable[object]) -> dict[str, float]:
    """A number for each of ``values``: 1 for the one that ``value`` is."""
    return {f"{name}={each}": float(each == value) for each in values}


def relative(seat: Seat | None, observer: Seat, seats: int) -> int | None:
    """``seat`` counted clockwise from the observer's own."""
    return None if seat is None else (seat - observer) % seats


def flower_actions(cards: Sequence[Card], declarations: Sequence[str]) -> list[str]:
    """The actions of games with flower cards: play a card, play it and name what it takes, name what the stock card
    takes, and ``declarations``.
    """
    months = {card: [other for other in cards if other[:2] == card[:2] and other != card] for card in cards}
    named = [f"{card}*{take}" for card in cards for take in months[card]]
    return [*cards, *named, *(f"*{card}" for card in cards), *declarations]
