"""Which worlds a viewer cannot rule out, found the slow way: try every deal of the unseen cards, replay each seat.

Independent of ``engine.hachinin_meri.worlds``: a seat's cards are possible exactly if each of its moves was legal with
them, as the rules themselves say. Only for late positions, where few cards are unseen.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import NamedTuple

from engine.game import Card, Seat
from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri import rules
from engine.hachinin_meri.cards import CARDS, TRUMPS
from engine.hachinin_meri.table import all_tricks, cards_held, left_of
from engine.hachinin_meri.types import SEATS, Action, Discard, HouseRules, Play, State, Table, View
from tests.engine.hachinin_meri.positions import random_play


class Moment(NamedTuple):
    """A decision of the past, as a spectator saw the table before it."""

    table: Table
    seat: Seat
    action: Action


class World(NamedTuple):
    """The unseen part of a state: hands, and face-down cards by seat."""

    hands: tuple[tuple[Card, ...], ...]
    down: tuple[tuple[Seat, Card], ...]


def world_of(state: State) -> World:
    """The part of ``state`` that differs between worlds of one view."""
    trick = state.table.trick
    down = []
    if trick is not None:
        for place, card in enumerate(trick.cards):
            seat = left_of(trick.leader, place)
            if seat in trick.face_down and card is not None:
                down.append((seat, card))
    return World(state.hands, tuple(sorted(down)))


def games(seed: int, house: HouseRules | None = None) -> Iterator[tuple[State, list[Moment]]]:
    """Every state of a random deal from its opening lead on, with the decisions that led to it."""
    past: list[Moment] = []
    for state, seat, action in random_play(Random(seed), house):
        if state.table.tricks or state.table.trick is not None:
            yield state, list(past)
        past.append(Moment(GAME.view(state, None).table, seat, action))


def possible_worlds(view: View, past: list[Moment]) -> set[World]:
    """All of them. ``past`` names face-down cards; those on the table now are not looked at."""
    table = view.table
    seen = {*view.hand, table.discard, *(table.side or ())}
    seen |= {card for trick in all_tricks(table) for card in trick.cards}
    down = () if table.trick is None else table.trick.face_down
    hidden = [card for card in CARDS if card not in seen]
    worlds: set[World] = set()

    def fill(seat: int, left: list[Card], hands: list[tuple[Card, ...]], lying: list[tuple[Seat, Card]]) -> None:
        if seat == SEATS:
            assert not left
            worlds.add(World(tuple(hands), tuple(sorted(lying))))
            return
        place = Seat(seat)
        if place == view.seat:
            own = [(place, card) for card in own_down(view)]
            fill(seat + 1, left, [*hands, view.hand], [*lying, *own])
            return
        for hand in combinations(left, cards_held(table, place)):
            rest = [card for card in left if card not in hand]
            for card in rest if place in down else [None]:
                if is_possible(table, past, place, hand, card):
                    after = rest if card is None else [other for other in rest if other != card]
                    lies = [] if card is None else [(place, card)]
                    fill(seat + 1, after, [*hands, tuple(sorted(hand))], [*lying, *lies])

    fill(0, hidden, [], [])
    return worlds


def own_down(view: View) -> list[Card]:
    """The viewer's own face-down card on the table, if there is one."""
    trick = view.table.trick
    if trick is None or view.seat not in trick.face_down:
        return []
    return [card for place, card in enumerate(trick.cards) if left_of(trick.leader, place) == view.seat and card]


def is_possible(table: Table, past: list[Moment], seat: Seat, hand: tuple[Card, ...], lying: Card | None) -> bool:
    """Whether ``seat`` may hold ``hand`` (and have put down ``lying``): was each of its moves legal?"""
    if lying is not None and lying not in TRUMPS[table.okie[0]]:
        return False
    if table.taker == seat and not may_be_takers(table, past, seat, hand, lying):
        return False
    held = [*hand]
    for moment in reversed(past):
        if moment.seat != seat or not isinstance(moment.action, Play | Discard):
            continue
        card = moment.action.card
        if lying is not None and is_last_of(past, moment):
            card = lying
        held.append(card)
        action = Play(card) if isinstance(moment.action, Play) else moment.action
        if action not in rules.legal(moment.table, seat, tuple(sorted(held))):
            return False
    return True


def is_last_of(past: list[Moment], moment: Moment) -> bool:
    """Whether the seat made no later move."""
    return moment is [other for other in past if other.seat == moment.seat][-1]


def may_be_takers(table: Table, past: list[Moment], seat: Seat, hand: tuple[Card, ...], lying: Card | None) -> bool:
    """Whether the ten cards that the taker held include the Okie and, if it was declared, the Robai."""
    moves = [moment.action for moment in past if moment.seat == seat]
    moved = [action.card for action in moves if isinstance(action, Play | Discard)]
    if lying is not None:
        moved[-1] = lying
    ten = {*hand, *moved}
    robai = Card(f"{table.okie[0]}ro")
    return table.okie in ten and (table.declarer is None or robai in ten)
