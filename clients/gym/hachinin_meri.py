"""Hachinin Meri's views and actions as numbers.

Seats are counted clockwise from the observer's own: 0 is oneself, the even ones are partners. The planes ``by`` and
``trick`` together tell the whole course of play: who played a card, and in which trick.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from clients.gym.encoding import Encoding, Numbers, Planes, one_hot, relative
from engine.game import Card, Seat
from engine.hachinin_meri import HACHININ_MERI
from engine.hachinin_meri.cards import TRUMPS
from engine.hachinin_meri.table import all_tricks, team
from engine.hachinin_meri.types import (
    SEATS,
    TRICKS,
    ConcealedRobai,
    DiscardRule,
    Monchi,
    NinthTrick,
    Phase,
    Trick,
    View,
)


def _planes(view: View) -> Planes:
    table = view.table
    by: list[list[Card]] = [[] for _ in range(SEATS)]
    trick: list[list[Card]] = [[] for _ in range(TRICKS)]
    for number, each in enumerate(all_tricks(table)):
        for seat, card in _played(each):
            if card is not None:
                by[_from(view, seat)].append(card)
                trick[number].append(card)
    return {
        "hand": view.hand,
        "okie": (table.okie,),
        "trumps": list(TRUMPS[table.trump]),
        "discard": () if table.discard is None else (table.discard,),
        "side": table.side or (),
        **{f"by.{seat}": cards for seat, cards in enumerate(by)},
        **{f"trick.{number}": cards for number, cards in enumerate(trick, 1)},
    }


def _numbers(view: View) -> Numbers:
    table = view.table
    me, tricks = _seat(view), all_tricks(table)
    mine = team(me)
    hidden = () if table.trick is None else table.trick.face_down
    leaders = [relative(each.leader, me, SEATS) for each in tricks] + [None] * (TRICKS - len(tricks))
    winners = [relative(each.winner, me, SEATS) for each in tricks] + [None] * (TRICKS - len(tricks))
    numbers: dict[str, float] = {
        **one_hot("phase", table.phase, Phase),
        **one_hot("turn", relative(table.turn, me, SEATS), range(SEATS)),
        **one_hot("dealer", relative(table.dealer, me, SEATS), range(SEATS)),
        **one_hot("declarer", relative(table.declarer, me, SEATS), range(SEATS)),
        **one_hot("taker", relative(table.taker, me, SEATS), range(SEATS)),
        **{f"face-down.{seat}": float((me + seat) % SEATS in hidden) for seat in range(SEATS)},
    }
    for number, (leader, winner) in enumerate(zip(leaders, winners, strict=True), 1):
        numbers |= one_hot(f"leader.{number}", leader, range(SEATS))
        numbers |= one_hot(f"winner.{number}", winner, range(SEATS))
    rules = table.rules
    return {
        **numbers,
        "meri": table.trick is not None and table.trick.meri,
        "monchi": table.monchi,
        "tricks": len(table.tricks),
        "points.mine": table.points[mine],
        "points.theirs": table.points[1 - mine],
        **one_hot("monchi", rules.monchi, Monchi),
        **one_hot("concealed-robai", rules.concealed_robai, ConcealedRobai),
        **one_hot("discard", rules.discard, DiscardRule),
        **one_hot("ninth-trick", rules.ninth_trick, NinthTrick),
    }


def _played(trick: Trick) -> Iterator[tuple[Seat, Card | None]]:
    for place, card in enumerate(trick.cards):
        yield Seat((trick.leader + place) % SEATS), card


def _seat(view: View) -> Seat:
    assert view.seat is not None, "a spectator does not play"
    return view.seat


def _from(view: View, seat: Seat) -> int:
    return (seat - _seat(view)) % SEATS


MERI_ENCODING: Final = Encoding(
    HACHININ_MERI,
    [*HACHININ_MERI.cards, *(f"-{card}" for card in HACHININ_MERI.cards), "declare", "pass"],
    _planes,
    _numbers,
)
"""22 planes of 75 cards; 152 actions."""
