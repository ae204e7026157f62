"""The compiled kernel, if it is installed, and what it is told.

Belongs here: the bytes in which deals, moves and tables cross to ``_kernel.c``. It is asked what moves come to, never
what is legal or what a deal scores.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from types import ModuleType
from typing import Final

from engine.go_stop import flat, playout
from engine.go_stop.flat import Flat, Move, Seen
from engine.go_stop.playout import Weights
from engine.go_stop.types import STOCK_SIZE, Phase
from engine.go_stop.weights import LOST, RISE, RISK
from engine.kernels import load_kernel

PHASES: Final = (Phase.PLAY, Phase.CHOOSE, Phase.DECIDE, Phase.OVER)
_DEAL: Final = struct.Struct(f"=10Q15q{STOCK_SIZE}Q")
_WORD: Final = 1 << 64


def _load() -> ModuleType | None:
    """The extension, told the tables; None where it was not compiled."""
    module = load_kernel(__package__)
    if module is None:
        return None
    module.configure(tables(playout.WEIGHTS))
    return module


def tables(weights: Weights) -> bytes:
    """Tables and weights in the order of ``_kernel.c``'s ``T``."""
    words = [
        *(flat.MONTHS.index(flat.MONTH_OF[1 << place]) for place in range(len(flat.ORDER))),
        *flat.BRIGHT_POINTS,
        *flat.ANIMAL_POINTS,
        *flat.RIBBON_POINTS,
        *flat.JUNK_POINTS,
        *playout.BROKEN_ANIMALS,
        *playout.BROKEN_RIBBONS,
        *(worth for table in playout.BRIGHT_WORTHS for worth in table),
        *(worth for table in playout.ANIMAL_WORTHS for worth in table),
        *(worth for table in playout.RIBBON_WORTHS for worth in table),
        *playout.JUNK_WORTHS,
        weights.capture,
        weights.denial,
        weights.junk,
        weights.exposure,
        weights.kept,
        RISE,
        LOST,
        *RISK,
    ]
    return struct.pack(f"={len(words)}i", *words)


def packed(deal: Flat) -> bytes:
    """``deal`` as the kernel's ``Deal``."""
    terms = deal.terms
    return _DEAL.pack(
        deal.layout,
        deal.card,
        deal.matched,
        deal.revealed,
        *map(sum, deal.hands),
        *deal.piles,
        *deal.ppuk_stacks,
        *deal.ppuks,
        *deal.goes,
        *deal.go_points,
        deal.turn,
        PHASES.index(deal.phase),
        deal.winnings,
        terms.go_bak,
        terms.nagari_factor,
        terms.broad_sseul,
        terms.few_junk.start,
        terms.few_junk.stop - 1,
        len(deal.stock),
        *deal.stock,
        *[0] * (STOCK_SIZE - len(deal.stock)),
    )


def words(numbers: Sequence[int]) -> bytes:
    """Piles, eight bytes each."""
    return struct.pack(f"={len(numbers)}Q", *numbers)


def words_of_moves(moves: Sequence[Move]) -> bytes:
    """Moves, sixteen bytes each."""
    return words([number % _WORD for move in moves for number in move])


def outcomes(world: Flat, moves: Sequence[Move]) -> tuple[int, ...]:
    """What each move comes to for the player whose turn it is: as ``playout.outcomes``, and the same numbers."""
    assert KERNEL is not None, "there is no compiled search here"
    found: tuple[int, ...] = KERNEL.outcomes(packed(world), words_of_moves(moves))
    return found


class Oracle:
    """What a player sees, as the kernel is asked about it."""

    def __init__(self, seen: Seen) -> None:
        self._deal = packed(seen.table)
        self._unseen = words(seen.unseen)
        self._held = seen.rival_cards
        self._impossible = words(seen.impossible)

    def evaluate(self, moves: Sequence[Move], seed: int, worlds: int) -> tuple[int, ...]:
        """Each move's points for the player whose turn it is, summed over ``worlds`` worlds drawn from ``seed``."""
        assert KERNEL is not None, "there is no compiled search here"
        found: tuple[int, ...] = KERNEL.evaluate(
            self._deal, self._unseen, self._held, self._impossible, words_of_moves(moves), seed, worlds
        )
        return found


KERNEL: Final = _load()
"""The compiled search, or None."""
