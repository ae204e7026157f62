"""The only list of games. A fourth game is one folder and one line here; the conformance suite finds it by itself."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from engine.game import AnyGame, GameError
from engine.go_stop import GO_STOP
from engine.hachinin_meri import HACHININ_MERI
from engine.koi_koi import KOI_KOI

_ALL: Final[tuple[AnyGame, ...]] = (
    KOI_KOI,
    GO_STOP,
    HACHININ_MERI,
)

GAMES: Final[Mapping[str, AnyGame]] = MappingProxyType({game.name: game for game in _ALL})
"""Every game by its name."""


class UnknownGame(GameError):
    """No game has this name."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(f"no game is called {name!r}; there are {', '.join(known)}")
        self.name = name
        self.known = known


def game_named(name: str) -> AnyGame:
    """The game that players and the wire call ``name``.

    Raises:
        UnknownGame: there is none; says which there are.
    """
    game = GAMES.get(name)
    if game is None:
        raise UnknownGame(name, tuple(GAMES))
    return game
