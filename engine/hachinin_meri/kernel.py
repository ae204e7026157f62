"""The compiled kernel, if it is installed, and what it is told.

Belongs here: the bytes in which deals, moves and tables cross to ``_kernel.c``. It is asked what moves come to, never
what is legal or what a deal scores.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from types import ModuleType
from typing import Final

from engine.hachinin_meri import playout
from engine.hachinin_meri.flat import DECLARE, PASS, PLAINS, TRUMP_SHIFT, Flat, Move, Terms
from engine.kernels import load_kernel

_RANKS: Final = 18
_TERMS: Final = struct.Struct(f"={4 + 4 + 4 * _RANKS}q")
_DEAL: Final = struct.Struct("=25Q15q")
_ANSWERS: Final = {DECLARE: 100, PASS: 101}


def _load() -> ModuleType | None:
    """The extension, told the tables; None where it was not compiled."""
    module = load_kernel(__package__)
    if module is None:
        return None
    module.configure(tables())
    return module


def tables() -> bytes:
    """Tables and weights in the order of ``_kernel.c``'s ``T``."""
    words = [
        *playout.HOLDING,
        *playout.UNBEATEN,
        *playout.NO_TRUMP,
        *playout.KEPT,
        *playout.UNFOLLOWED,
        playout.TRUMPS_IN_PER_MILLE,
        playout.HIGHEST_PLAIN,
        playout.LAST_PLAIN,
    ]
    return struct.pack(f"={len(words)}i", *words)


def packed_terms(terms: Terms) -> bytes:
    """``terms`` as the kernel's ``Terms``."""
    rows = (terms.lows, terms.highs, terms.stakes, terms.concealed_stakes)
    return _TERMS.pack(
        terms.trumps,
        terms.okie & PLAINS,
        terms.okie >> TRUMP_SHIFT,
        terms.robai >> TRUMP_SHIFT,
        terms.dealer,
        terms.suit_first,
        terms.discard_any,
        terms.ninth_led,
        *(number for row in rows for number in (*row, *[0] * (_RANKS - len(row)))),
    )


def packed(deal: Flat) -> bytes:
    """``deal`` as the kernel's ``Deal``."""
    return _DEAL.pack(
        *[hand & PLAINS for hand in deal.hands],
        *[hand >> TRUMP_SHIFT for hand in deal.hands],
        deal.aside & PLAINS,
        deal.aside >> TRUMP_SHIFT,
        deal.gone & PLAINS,
        deal.gone >> TRUMP_SHIFT,
        deal.covered >> TRUMP_SHIFT,
        deal.led,
        deal.top_plain,
        *deal.tops,
        deal.phase,
        deal.turn,
        deal.taker,
        deal.concealed,
        deal.lone,
        deal.void,
        deal.monchi,
        deal.settled,
        deal.points,
        deal.leader,
        deal.count,
        deal.meri,
        deal.down,
        deal.top_trump_seat,
        deal.top_plain_seat,
    )


def packed_moves(moves: Sequence[Move]) -> bytes:
    """``moves``, a byte each: the place of a card, or the code of an answer."""
    return bytes([move.bit_length() - 1 if move > 0 else _ANSWERS[move] for move in moves])


def outcomes(world: Flat, moves: Sequence[Move]) -> list[int]:
    """What each move comes to for the team whose turn it is: as ``playout.outcomes``, and the same numbers."""
    assert KERNEL is not None, "there is no compiled search here"
    found: list[int] = KERNEL.outcomes(packed_terms(world.terms), packed(world), packed_moves(moves))
    return found


KERNEL: Final = _load()
"""The compiled rollouts, or None."""
