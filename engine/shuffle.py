"""Fair decks: commitment, contributions, shuffle and verification. ``docs/fairness.md`` has the scheme in words.

Before a match the server draws one secret 32-byte seed per deal and publishes its commitment. Each person's client
then contributes 32 bytes once. Seed and contributions together determine every deck, so neither side chose it; when
the deal is over its seed is revealed and anyone can recompute commitment and deck. The deck is an input to the
engine: nothing else in ``engine`` knows where it comes from. Draws no randomness itself.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

from msgspec import Struct

from engine.game import Seat

SEED_BYTES: Final = 32
CONTRIBUTION_BYTES: Final = 32
NO_CONTRIBUTION: Final = bytes(CONTRIBUTION_BYTES)
"""Stands in for a person whose client did not contribute in time, so that nobody can stall a match."""

_COMMIT: Final = b"fudaza/commit/1"
_MIX: Final = b"fudaza/contributions/1"
_DECK: Final = b"fudaza/deck/1"
_SEAT: Final = b"fudaza/beginner/1"

T = TypeVar("T")


class Contribution(Struct, frozen=True):
    """What the client of the person in ``seat`` contributed: 32 bytes."""

    seat: Seat
    value: bytes


class Draw(Struct, frozen=True):
    """Everything that determines one deck."""

    match: str
    """The match's id."""
    deal: int
    """From 1."""
    attempt: int
    """From 1; rises with each redeal of the same deal."""
    seed: bytes
    """32 bytes: the deal's secret."""
    contributions: tuple[Contribution, ...]
    """In ascending order of seat, one for each person seated when the match was opened."""


def commitment(match: str, deal: int, seed: bytes) -> bytes:
    """SHA-256 that binds the server to ``seed`` for this deal of this match (32 bytes)."""
    return hashlib.sha256(_join(_COMMIT, match.encode(), _number(deal), seed)).digest()


def deck_of(draw: Draw, cards: Sequence[T]) -> tuple[T, ...]:
    """``cards`` (in card-id order) shuffled: Fisher-Yates from the last place down, each swap drawn unbiased."""
    deck = list(cards)
    words = _words(_DECK, draw)
    for last in range(len(deck) - 1, 0, -1):
        chosen = _below(last + 1, words)
        deck[last], deck[chosen] = deck[chosen], deck[last]
    return tuple(deck)


def beginner_of(draw: Draw, seats: int) -> Seat:
    """The seat drawn for this deal, for the rules and options that draw a beginner. A stream of its own.

    Of the draw's attempts only the first counts: the beginner stays in a redeal (K3).
    """
    return Seat(_below(seats, _words(_SEAT, draw)))


def _words(purpose: bytes, draw: Draw) -> Iterator[int]:
    """The stream: HMAC-SHA256 keyed with the seed over purpose, match, contributions, deal, attempt and a block
    number from 0; each block gives eight big-endian 32-bit words.
    """
    given = b"".join(_number(each.seat) + each.value for each in draw.contributions)
    mixed = hashlib.sha256(_join(_MIX, given)).digest()
    head = _join(purpose, draw.match.encode(), mixed, _number(draw.deal), _number(draw.attempt))
    block = 0
    while True:
        digest = hmac.digest(draw.seed, head + _number(block), "sha256")
        for start in range(0, len(digest), 4):
            yield int.from_bytes(digest[start : start + 4], "big")
        block += 1


def _below(bound: int, words: Iterator[int]) -> int:
    """A number 0 … bound-1, each exactly as likely: words beyond the last whole multiple of bound are skipped."""
    limit = (1 << 32) - (1 << 32) % bound
    return next(word % bound for word in words if word < limit)


def _number(value: int) -> bytes:
    return value.to_bytes(4, "big")


def _join(*parts: bytes) -> bytes:
    """Parts with their lengths before them, so that no two lists of parts make the same bytes."""
    return b"".join(_number(len(part)) + part for part in parts)
