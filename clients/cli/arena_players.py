"""Who plays in the arena: uniformly random moves, a level of the house, a yardstick, or a program of anybody's.

Belongs here: reading what the command line calls a player, and making the moves of one seat. A player is given its
seat's view, the legal actions and a generator of its own, and nothing else.
"""

from __future__ import annotations

import shlex
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from random import Random
from typing import Any, ClassVar, Final

from msgspec import Struct

from engine.game import AnyGame, Budget, GameError, Level, Options, Seat, Yardstick

RANDOM: Final = "random"
"""Names the player of uniformly random legal moves."""


class UnknownPlayer(GameError):
    """The text names no player of this game."""

    def __init__(self, text: str, known: Sequence[str]) -> None:
        super().__init__(f"{text!r} is neither a player ({', '.join(known)}) nor a command that can be run")
        self.text = text
        self.known = tuple(known)


class Player(Struct, frozen=True):
    """One way to play: random moves, a level, a yardstick, or a command."""

    level: Level | None = None
    rollouts: int | None = None
    """For a searching level; None for its own number."""
    yardstick: str = ""
    """The name of one of the game's yardsticks."""
    command: tuple[str, ...] = ()
    """A program that speaks JSON lines."""


class Team(Struct, frozen=True):
    """Who sits in the seats of one side."""

    name: str
    """As it was given: ``hard``, ``hard@300``, ``hard+medium*3``."""
    players: tuple[Player, ...]
    """One for each seat of the side."""


def team_of(text: str, game: AnyGame, rollouts: int | None = None) -> Team:
    """The team that ``text`` names: ``LEVEL``, ``LEVEL@ROLLOUTS``, ``random``, a yardstick or a command; several with
    ``+`` between them and ``*N`` behind for N of a kind. One player fills all seats of a side.

    Raises:
        UnknownPlayer: a part names nobody, or the parts do not fill the seats of a side.
    """
    size = game.seats // game.sides
    players = _listed(text, game, size, rollouts) or _program(text)
    if len(players) == 1:
        players *= size
    if len(players) != size:
        raise UnknownPlayer(text, [RANDOM, *game.yardsticks, *(level.value for level in game.levels)])
    return Team(text, tuple(players))


def _listed(text: str, game: AnyGame, size: int, rollouts: int | None) -> list[Player]:
    """The players that ``text`` lists; none, if any part of it names nobody, or more of a kind than the ``size`` of a
    side.
    """
    counts = {str(number): number for number in range(1, size + 1)}
    players: list[Player] = []
    for part in text.split("+"):
        name, star, count = part.partition("*")
        player = _player(name, game, rollouts)
        if player is None or (star and count not in counts):
            return []
        players += [player] * (counts[count] if star else 1)
    return players


def _player(name: str, game: AnyGame, rollouts: int | None) -> Player | None:
    if name == RANDOM:
        return Player()
    if name in game.yardsticks:
        return Player(yardstick=name)
    level, at, given = name.partition("@")
    if level not in game.levels or (at and not (given.isdecimal() and int(given))):
        return None
    return Player(Level(level), int(given) if at else rollouts)


def _program(text: str) -> list[Player]:
    """The program that ``text`` is the command of; none, if it cannot be run."""
    try:
        words = shlex.split(text)
    except ValueError:  # a quotation that does not end
        return []
    return [Player(command=tuple(words))] if words and shutil.which(words[0]) else []


class Hand(ABC):
    """Makes the moves of one seat, for one deal after another."""

    listens: ClassVar[bool] = False
    """Whether it wants to be told what happens."""
    refused = 0
    """Answers so far that were no legal action."""

    def clock(self) -> int:
        """Nanoseconds; what passes between two readings is what a decision cost."""
        return time.process_time_ns()

    def begin(self, deal: int, seat: Seat, options: Options, beginner: Seat, seed: int) -> None:  # noqa: B027 - most need not know
        """A deal begins."""

    def hear(self, events: Sequence[Any]) -> None:  # noqa: B027 - likewise
        """What this seat is shown of what happened."""

    @abstractmethod
    def choose(self, view: Any, legal: Sequence[Any], rng: Random, *, sealed: bool) -> Any:
        """An action of ``legal`` (not empty)."""

    def close(self) -> None:  # noqa: B027 - likewise
        """There are no more deals."""


class RandomHand(Hand):
    """Any legal move, each as likely."""

    def choose(self, view: Any, legal: Sequence[Any], rng: Random, *, sealed: bool) -> Any:  # noqa: ARG002 - what a player has no use for
        """Any of them."""
        return rng.choice(legal)


class YardstickHand(Hand):
    """A yardstick of the game."""

    def __init__(self, yardstick: Yardstick) -> None:
        self._yardstick = yardstick

    def choose(self, view: Any, legal: Sequence[Any], rng: Random, *, sealed: bool) -> Any:  # noqa: ARG002 - likewise
        """What the yardstick chooses."""
        return self._yardstick(view, legal)


class HouseHand(Hand):
    """A level of the house."""

    def __init__(self, game: AnyGame, budget: Budget) -> None:
        self._game = game
        self._budget = budget

    def choose(self, view: Any, legal: Sequence[Any], rng: Random, *, sealed: bool) -> Any:  # noqa: ARG002 - likewise
        """What the level chooses."""
        return legal[0] if len(legal) == 1 else self._game.choose(view, legal, rng, self._budget)
