"""Koi-koi for search: a deal as a few integers, quick to copy and to step.

Belongs here: positions and moves as bytes, and the course of a deal from the first turn to the last. It is the exact
rules once more (``rules``), without events and reasons, and only ever used to look ahead: tests hold it against them,
and ``_kernel.c`` against it. Cards are numbered as in ``worths``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Final, assert_never

from engine.game import Card
from engine.koi_koi.scoring import SEVEN
from engine.koi_koi.types import Action, BySeat, Calls, Choose, Koi, Phase, Play, Stop, Table
from engine.koi_koi.worths import BIT, MONTH, PLACE, mask_of, worths_for

# Bytes, shared with the kernel --------------------------------------------------------------------------------

_POSITION: Final = struct.Struct("=5Q2h9B24s")
"""Hands, board, piles; scores; totals, calls, turn, phase, the turned card, flags, the stock's size and its cards."""
_STOCK: Final = 24

NOTHING: Final = 0xFF
"""Where a byte names no card."""
_STOP, _KOI = 48, 49
"""Stand where a move names its card."""
STOP: Final = bytes((_STOP, NOTHING))
KOI: Final = bytes((_KOI, NOTHING))
"""A move is two bytes: the card played and the card taken, or one of these."""

PLAY, CHOOSE, DECIDE, OVER = range(4)
_PHASES: Final = {Phase.PLAY: PLAY, Phase.CHOOSE: CHOOSE, Phase.DECIDE: DECIDE, Phase.OVER: OVER}


def move_of(action: Action) -> bytes:
    """``action`` as a move."""
    match action:
        case Play(card, take):
            return bytes((PLACE[card], NOTHING if take is None else PLACE[take]))
        case Choose(take):
            return bytes((NOTHING, PLACE[take]))
        case Stop():
            return STOP
        case Koi():
            return KOI
        case _:
            assert_never(action)


def places_of(cards: Iterable[Card]) -> bytes:
    """``cards`` as bytes, in their order."""
    return bytes([PLACE[card] for card in cards])


# The course of a deal -----------------------------------------------------------------------------------------


class Deal:
    """A deal in play, changed in place. Cards are masks, pairs go by seat."""

    __slots__ = (
        "board",
        "calls",
        "hands",
        "phase",
        "piles",
        "rules",
        "scores",
        "size",
        "stock",
        "top",
        "totals",
        "turn",
        "turned",
        "worths",
    )

    def __init__(self, table: Table, hands: BySeat, stock: Sequence[Card]) -> None:
        """The position of ``table``; hands and stock that are not known are left empty (see ``filled``)."""
        self.rules = table.rules
        self.worths = worths_for(table.rules)
        self.hands = [sorted(BIT[card] for card in hand) for hand in hands]
        self.board = mask_of(table.board)
        self.piles = [mask_of(pile) for pile in table.captured]
        self.scores = [0, 0] if table.outcome is None else list(table.outcome.scores)
        self.totals = [standing.total for standing in table.standings]
        self.calls = list(table.calls)
        self.turn: int = table.turn
        self.phase = _PHASES[table.phase]
        self.turned = 0 if table.turned is None else BIT[table.turned]
        self.stock = [BIT[card] for card in stock]
        self.size = table.stock
        """How many cards are in the stock when ``top`` is 0, its cards known or not."""
        self.top = 0

    def copy(self) -> Deal:
        """The same position, to be played on by itself."""
        twin = Deal.__new__(Deal)
        twin.rules, twin.worths, twin.stock, twin.size, twin.top = (
            self.rules,
            self.worths,
            self.stock,
            self.size,
            self.top,
        )
        twin.hands = [self.hands[0][:], self.hands[1][:]]
        twin.board, twin.turn, twin.phase, twin.turned = self.board, self.turn, self.phase, self.turned
        twin.piles, twin.scores, twin.totals, twin.calls = self.piles[:], self.scores[:], self.totals[:], self.calls[:]
        return twin

    def filled(self, hidden: bytes) -> Deal:
        """The position with its hidden cards: first what the player who is not to act holds, then the stock."""
        twin = self.copy()
        held = len(hidden) - self.size
        twin.hands[1 - self.turn] = sorted([1 << place for place in hidden[:held]])
        twin.stock = [1 << place for place in hidden[held:]]
        return twin

    def packed(self) -> bytes:
        """The position for the kernel."""
        rules = self.rules
        return _POSITION.pack(
            *map(sum, self.hands),
            self.board,
            *self.piles,
            *self.scores,
            *self.totals,
            *self.calls,
            self.turn,
            self.phase,
            self.turned.bit_length() - 1 if self.turned else NOTHING,
            rules.seven_doubles | rules.opponent_call_doubles << 1 | (rules.calls is Calls.ONE) << 2,
            self.size - self.top,
            bytes([card.bit_length() - 1 for card in self.stock[self.top :]]).ljust(_STOCK, b"\xff"),
        )

    def legal(self) -> list[bytes]:
        """The moves there are."""
        if self.phase == PLAY:
            moves = []
            for card in self.hands[self.turn]:
                targets = MONTH[card] & self.board
                takes = _places(targets) if targets.bit_count() == 2 else [NOTHING]  # K4: the player chooses
                moves += [bytes((card.bit_length() - 1, take)) for take in takes]
            return moves
        if self.phase == CHOOSE:
            return [bytes((NOTHING, take)) for take in _places(MONTH[self.turned] & self.board)]  # K5
        if self.phase == DECIDE:
            one_call = self.rules.calls is Calls.ONE and self.calls[self.turn]
            return [KOI, STOP] if self.hands[self.turn] and not one_call else [STOP]  # K8, K9
        return []

    def apply(self, move: bytes) -> None:
        """Perform a legal move."""
        card, take = move
        if self.phase == PLAY:
            self.play(1 << card, MONTH[1 << card] & self.board if take == NOTHING else 1 << take)
        elif self.phase == CHOOSE:
            self.choose(1 << take)
        elif card == _STOP:
            self.stop()
        else:
            self.call_koi()

    def play(self, card: int, taken: int) -> None:
        """Play ``card`` from the hand (K4), then turn the stock card (K5), which may wait for a choice."""
        turn, board = self.turn, self.board
        pile = before = self.piles[turn]
        self.hands[turn].remove(card)
        if taken:
            board &= ~taken
            pile |= taken | card
        else:
            board |= card
        turned = self.stock[self.top]
        self.top += 1
        targets = MONTH[turned] & board
        waits = targets.bit_count() == 2
        if waits:
            self.turned, self.phase = turned, CHOOSE
        elif targets:
            board &= ~targets
            pile |= targets | turned
        else:
            board |= turned
        self.board, self.piles[turn] = board, pile
        if not waits:
            self._end_turn(grown=pile != before)

    def choose(self, taken: int) -> None:
        """Take ``taken`` with the turned card (K5)."""
        self.board &= ~taken
        self.piles[self.turn] |= taken | self.turned
        self.turned = 0
        self._end_turn(grown=True)

    def stop(self) -> None:
        """Score what one has, doubled as the options say (K8)."""
        points = self.totals[self.turn]
        doubled = self.rules.seven_doubles and points >= SEVEN
        called = self.rules.opponent_call_doubles and self.calls[1 - self.turn] > 0
        self.scores[self.turn] = points << doubled + called
        self.phase = OVER

    def call_koi(self) -> None:
        """Play on (K8)."""
        self.calls[self.turn] += 1
        self.turn = 1 - self.turn
        self.phase = PLAY

    def _end_turn(self, *, grown: bool) -> None:
        """Only now yaku are looked at (K6), if the player's pile has grown: did the total rise (K8)? Is the deal drawn
        (K10)?
        """
        turn = self.turn
        if grown and (total := self.worths.total(self.piles[turn])) > self.totals[turn]:
            self.totals[turn], self.phase = total, DECIDE
        else:
            self.turn = 1 - turn
            self.phase = PLAY if self.hands[0] or self.hands[1] else OVER


def _places(mask: int) -> list[int]:
    """The cards of ``mask`` in order."""
    places = []
    while mask:
        low = mask & -mask
        places.append(low.bit_length() - 1)
        mask ^= low
    return places
