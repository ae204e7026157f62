"""What a trick and a deal are worth (H22–H26)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from engine.game import Card
from engine.hachinin_meri.cards import LONG, TRUMPS, best, native_robai
from engine.hachinin_meri.table import left_of, team
from engine.hachinin_meri.types import (
    TRICKS,
    Combination,
    ConcealedRobai,
    DealScored,
    Pair,
    Stake,
    Table,
    Trick,
)

POINTS: Final = {Stake.USUAL: 2, Stake.NINTH: 5, Stake.CONCEALED: 5}
"""What a combination moves (H24, H25)."""


def _pairs(trump: str) -> dict[tuple[Card, Card], Pair]:
    """H23. Tenka is in none of them unless Pao is trump, when it is the native Robai (H3)."""
    lowest = ("2", "1") if trump in LONG else ("8", "9")
    named = {
        ("su", "un"): Pair.SUN_UN,
        ("un", "so"): Pair.UN_SOTA,
        ("so", "ro"): Pair.SOTA_ROBAI,
        ("ro", "re"): Pair.ROBAI_REI,
        lowest: Pair.LOWEST,
    }
    return {(Card(trump + high), Card(trump + low)): pair for (high, low), pair in named.items()}


PAIRS: Final = {trump: _pairs(trump) for trump in TRUMPS}
"""By trump suit: (winning trump, strongest trump of the other team) → the combination (H23)."""


def was_concealed(table: Table) -> bool:
    """Whether the native Robai was in the hand of a player who passed (H25).

    Known to all from the opening lead on, when the side cards are shown: a Robai that was not declared and is
    neither Okie nor side card was dealt to somebody.
    """
    assert table.side is not None, "asked before the side cards were shown"
    return table.declarer is None and native_robai(table.okie[0]) not in (table.okie, *table.side)


def settled(table: Table, trick: Trick, cards: Sequence[Card]) -> Trick:
    """``trick`` with all its eight ``cards`` known: who won it, and which combination it holds (H15, H23)."""
    trump = table.okie[0]
    place = best(cards, trump)
    combination = None if trick.meri else _combination(table, trick, cards, place)
    return replace(trick, cards=tuple(cards), winner=left_of(trick.leader, place), combination=combination)


def _combination(table: Table, trick: Trick, cards: Sequence[Card], place: int) -> Combination | None:
    trump = table.okie[0]
    trumps = TRUMPS[trump]
    # Neighbours in order of play are opponents; every second card is of the winner's team (H6).
    low = max(cards[(place + 1) % 2 :: 2], key=lambda card: trumps.get(card, 0))
    pair = PAIRS[trump].get((cards[place], low))
    if pair is None:
        return None
    played_for = stake(table, pair, ninth=len(table.tricks) == TRICKS - 1)
    winner = team(left_of(trick.leader, place))
    return Combination(pair, winner, cards[place], low, POINTS[played_for], played_for)


def stake(table: Table, pair: Pair, *, ninth: bool) -> Stake:
    """What ``pair`` is played for, in the ninth trick or before (H25): five once, never seven or ten.

    Asked only once the side cards have been shown.
    """
    if ninth:
        return Stake.NINTH
    counts = {
        ConcealedRobai.OWN_PAIRS: pair in (Pair.SOTA_ROBAI, Pair.ROBAI_REI),
        ConcealedRobai.EVERY_COMBINATION: True,
        ConcealedRobai.OFF: False,
    }
    return Stake.CONCEALED if counts[table.rules.concealed_robai] and was_concealed(table) else Stake.USUAL


def points_after(points: tuple[int, int], trick: Trick) -> tuple[int, int]:
    """The points by team after a settled trick: one for it (H22), and what its combination moves (H24)."""
    assert trick.winner is not None, "a trick in play has no points"
    after = list(points)
    winner = team(trick.winner)
    after[winner] += 1
    if trick.combination is not None:
        after[winner] += trick.combination.points
        after[1 - winner] -= trick.combination.points
    return after[0], after[1]


def scored(table: Table) -> DealScored:
    """The deal's scores, which sum to nine and may be negative (H26), and how they came about."""
    winners = [team(trick.winner) for trick in table.tricks if trick.winner is not None]
    return DealScored(
        tricks=(winners.count(0), winners.count(1)),
        combinations=tuple(trick.combination for trick in table.tricks if trick.combination is not None),
        scores=table.points,
    )
