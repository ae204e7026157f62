"""Making a move in two steps, point and confirm, so that no key or click that comes twice plays a second card.

Belongs here: what can be pointed at and what follows from it, as frozen values. A choice belongs to one decision, named
by its ``at``; confirming it acts in that decision or not at all. Must not be known here: any particular game, keys.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

DIGITS: Final = "1234567890"
"""The keys of the first ten picks. No hand has more cards: ten in go-stop, and with the taker of the Okie."""


class Pick(Struct, frozen=True):
    """Something that can be pointed at: a hand card, a card on the table, a word."""

    key: str
    """The card's code, or the word."""
    actions: tuple[str, ...]
    """What it can lead to; none: it is not possible, ``attempt`` says why; several: a target has to be chosen."""
    attempt: str
    """The action (perhaps an illegal one) that pointing at it means first of all."""
    word: bool = False
    """It is no card: the prompt shows it."""


class Choice(Struct, frozen=True):
    """A decision that is open, and how far its maker has come."""

    at: int
    """Of the turn. Echoed when it is confirmed."""
    picks: tuple[Pick, ...]
    pointed: int | None = None
    """An index into ``picks``; None: nothing yet, and confirming does nothing."""
    held: Choice | None = None
    """The step before, when targets are being chosen for what was pointed at there."""

    @property
    def pick(self) -> Pick | None:
        """What is pointed at."""
        return None if self.pointed is None else self.picks[self.pointed]

    @property
    def held_key(self) -> str | None:
        """What the targets are chosen for."""
        return None if self.held is None or self.held.pick is None else self.held.pick.key

    def by_key(self, key: str) -> int | None:
        """The index of the pick with this key."""
        return next((index for index, pick in enumerate(self.picks) if pick.key == key), None)

    def point(self, index: int) -> Choice:
        """Point at a pick, possible or not; at none outside the list."""
        return replace(self, pointed=index) if 0 <= index < len(self.picks) else self

    def step(self, by: int) -> Choice:
        """Point at the next possible pick (``by`` 1) or the one before (-1), round and round."""
        possible = [index for index, pick in enumerate(self.picks) if pick.actions]
        if not possible:
            return self
        if self.pointed is None:
            return self.point(possible[0 if by > 0 else -1])
        beyond = [index for index in possible if (index > self.pointed if by > 0 else index < self.pointed)]
        return self.point((beyond or possible)[0 if by > 0 else -1])

    def back(self) -> Choice:
        """One step back: from targets to cards, from pointing to nothing."""
        return self.held if self.held is not None else replace(self, pointed=None)

    def confirmed(self) -> Choice | str | None:
        """What follows from confirming: the action; or the choice of a target; or None if nothing possible is
        pointed at.
        """
        pick = self.pick
        if pick is None or not pick.actions:
            return None
        if len(pick.actions) == 1:
            return pick.actions[0]
        targets = tuple(Pick(action.rpartition("*")[2], (action,), action) for action in pick.actions)
        return Choice(self.at, targets, held=self)
