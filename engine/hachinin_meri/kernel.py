"""The compiled kernel, if it is installed, and what it is told.

Belongs here: the bytes in which deals, moves and tables cross to ``_kernel.c``. It is asked what moves come to, never
what is legal or what a deal scores.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from itertools import accumulate
from types import ModuleType
from typing import Final

from engine.game import Card
from engine.hachinin_meri import ahead, quick
from engine.hachinin_meri.fillings import END, Fillings
from engine.hachinin_meri.flat import DECLARE, PASS, PLAINS, TRUMP_SHIFT, Flat, Move, Terms
from engine.hachinin_meri.seen import Seen
from engine.hachinin_meri.types import SEATS
from engine.hachinin_meri.worlds import DOWN, HAND, SIDE, Scenario
from engine.kernels import load_kernel

_RANKS: Final = 18
_TERMS: Final = struct.Struct(f"={4 + 4 + 4 * _RANKS}q")
_DEAL: Final = struct.Struct("=25Q15q")
_KINDS: Final = 8
_PLACES: Final = 76
_MOST_PLACES: Final = 20
_SEEN: Final = struct.Struct(f"={SEATS + 1}Q")
_CASE: Final = struct.Struct(f"=Q{1 + _KINDS + _PLACES + 1 + _MOST_PLACES * (_KINDS + 1) + _MOST_PLACES * 2}q")
_BRANCH: Final = struct.Struct("=Q3q")
_WHERES: Final = {HAND: 0, DOWN: SEATS, SIDE: 2 * SEATS}
_FULL: Final = (1 << 64) - 1
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
        *quick.HOLDING,
        *quick.UNBEATEN,
        *quick.NO_TRUMP,
        *quick.KEPT,
        *quick.UNFOLLOWED,
        quick.TRUMPS_IN_PER_MILLE,
        quick.HIGHEST_PLAIN,
        quick.LAST_PLAIN,
        *(good_for for row in ahead.PROSPECTS for good_for in row),
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


class Oracle:
    """What a player sees, as the kernel is asked about it."""

    def __init__(self, seen: Seen) -> None:
        dealt = [hand >> TRUMP_SHIFT | known for hand, known in zip(seen.table.hands, seen.known, strict=True)]
        self.sight = (
            packed_terms(seen.table.terms),
            packed(seen.table) + _SEEN.pack(*dealt, seen.not_dealt),
            *_packed_worlds(seen),
        )
        """In the kernel's words: ``Terms``, ``Seen``, ``Case``s, ``Branch``es."""

    def evaluate(self, moves: Sequence[Move], seed: int, worlds: int) -> list[int]:
        """What each move comes to for the team whose turn it is, in thousandths of a point.

        Summed over ``worlds`` worlds, drawn from ``seed``.
        """
        assert KERNEL is not None, "there is no compiled search here"
        found: list[int] = KERNEL.evaluate(*self.sight, packed_moves(moves), seed, worlds)
        return found

    def world(self, seed: int) -> bytes:
        """One of those worlds, as the kernel's ``Deal``."""
        assert KERNEL is not None, "there is no compiled search here"
        drawn: bytes = KERNEL.world(*self.sight, seed)
        return drawn


def _packed_worlds(seen: Seen) -> tuple[bytes, bytes]:
    """``seen.worlds`` as the kernel's ``Case``s, and their nodes as its ``Branch``es."""
    scenarios = seen.worlds.scenarios
    branches: list[bytes] = []
    cases = []
    for scenario, up_to in zip(scenarios, _rising([scenario.weight for scenario in scenarios]), strict=True):
        root = _packed_nodes(scenario.fillings, branches)
        cases.append(_packed_case(scenario, up_to, root, seen.bits))
    return b"".join(cases), b"".join(branches)


def _packed_nodes(fillings: Fillings, branches: list[bytes]) -> int:
    """Add the nodes of ``fillings`` to ``branches``; says where the root lies."""
    places = {id(END): -1}
    for node in fillings.nodes:
        if node.ways:
            places[id(node)] = len(branches)
            shares = _rising([ways for _, ways, _ in node.branches])
            branches += [
                _BRANCH.pack(up_to, node.pile, taken, places[id(after)])
                for up_to, (taken, _, after) in zip(shares, node.branches, strict=True)
            ]
    return places[id(fillings.root)]


def _packed_case(scenario: Scenario, up_to: int, root: int, bits: Mapping[Card, int]) -> bytes:
    fillings = scenario.fillings
    cards = [bits[card].bit_length() - 1 for some in fillings.cards for card in some]
    groups: list[int] = []
    places: list[int] = []
    for group in fillings.groups:
        into = {pile: number for number, together in enumerate(group.piles) for pile in together}
        groups += [*(into.get(pile, 0) for pile in range(_KINDS)), len(group.slots)]
        for slot in group.slots:
            place = scenario.places[slot]
            places += [_WHERES[place.where] + (place.seat or 0), place.slot.size]
    return _CASE.pack(
        up_to,
        root,
        *_filled([len(some) for some in fillings.cards], _KINDS),
        *_filled(cards, _PLACES),
        len(fillings.groups),
        *_filled(groups, _MOST_PLACES * (_KINDS + 1)),
        *_filled(places, _MOST_PLACES * 2),
    )


def _filled(numbers: Sequence[int], length: int) -> list[int]:
    return [*numbers, *[0] * (length - len(numbers))]


def _rising(weights: Sequence[float]) -> list[int]:
    """The chance of each and those before it, as numbers of 64 bits; that of the last is full."""
    total = sum(weights)
    found = [int(before * _FULL // total) for before in accumulate(weights)]
    return [*found[:-1], _FULL]


def outcomes(world: Flat, moves: Sequence[Move], plain: int) -> list[int]:
    """What each move comes to for the team whose turn it is: as ``ahead.outcomes``, and the same numbers."""
    assert KERNEL is not None, "there is no compiled search here"
    found: list[int] = KERNEL.outcomes(packed_terms(world.terms), packed(world), packed_moves(moves), plain)
    return found


KERNEL: Final = _load()
"""The compiled search, or None."""
