"""Whole states drawn from a view: every fact the viewer can conclude holds in them, and nothing else is assumed.

Each consistent deal is as likely as any other, but for one thing that players are known to do: who holds the trump
suit's own Robai hardly ever hides it (``HIDING_RATE``), so while nobody declared and the side cards are unseen they
are the likelier place. What the cards played say beyond what the rules force is not weighed.

The facts, besides hand sizes and the cards that lie open:

* a face-down card is a trump (H17);
* who did not follow a plain lead under Monchi is void in its suit (H20);
* who answered Meri with a plain card has no trump, or only a Sun that may have been dealt as the lone one (H18, H19);
* the Okie is with its taker, a declared Robai with its declarer, until they are played or discarded (H11);
* who opened with a trump has no plain card (H13), and a discard is one unless all ten were trumps (H12);
* the discard and the side cards are unseen until the opening lead (H14).
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple

from msgspec.structs import replace

from engine.game import Card, Seat
from engine.hachinin_meri.cards import CARDS
from engine.hachinin_meri.facts import ANY_TRUMP, OKIE, PLAIN_SUITS, ROBAI, kind_of, voids
from engine.hachinin_meri.fillings import Fillings, Slot
from engine.hachinin_meri.table import all_tricks, cards_held, is_opening, left_of
from engine.hachinin_meri.types import SEATS, DiscardRule, Phase, State, Table, View

HIDING_RATE: Final = 0.05
"""How often a holder of the native Robai passes: the policy of our own players, and what silence is weighed with."""


class Place(NamedTuple):
    """Where unseen cards may be: a hand, a face-down card on the table, the discard, the side cards."""

    where: str
    seat: Seat | None
    slot: Slot


HAND: Final = "hand"
DOWN: Final = "down"
DISCARD: Final = "discard"
SIDE: Final = "side"


class Scenario(NamedTuple):
    """One of several cases that exclude each other."""

    weight: float
    """How likely it is beside the others: its number of ways, times what each way of it counts."""
    places: tuple[Place, ...]
    fillings: Fillings


class Worlds:
    """The states consistent with ``view``. Make one and draw often: the counting is done once."""

    def __init__(self, view: View) -> None:
        self._view = view
        unseen = _unseen(view)
        self.scenarios = []
        for weight, places in _cases(view, unseen):
            fillings = Fillings(unseen, [place.slot for place in places])
            if fillings.ways:
                self.scenarios.append(Scenario(weight * fillings.ways, places, fillings))

    @property
    def ways(self) -> int:
        """How many there are (the two side cards have no order)."""
        return sum(scenario.fillings.ways for scenario in self.scenarios)

    def draw(self, rng: Random) -> State:
        """One of them, drawn at random."""
        return self._state(self.fill(rng))

    def fill(self, rng: Random) -> Iterator[tuple[Place, list[Card]]]:
        """The same, before it is made a state: what is in every place that the viewer cannot see."""
        scenario = self.scenarios[0]
        if len(self.scenarios) > 1:
            (scenario,) = rng.choices(self.scenarios, [each.weight for each in self.scenarios])
        return zip(scenario.places, scenario.fillings.draw(rng), strict=True)

    def _state(self, filled: Iterator[tuple[Place, list[Card]]]) -> State:
        view = self._view
        table = view.table
        hands: list[tuple[Card, ...]] = [()] * SEATS
        if view.seat is not None:
            hands[view.seat] = view.hand
        down: dict[Seat, Card] = {}
        for place, cards in filled:
            if place.seat is not None and place.where == HAND:
                hands[place.seat] = tuple(sorted(cards))
            elif place.seat is not None and place.where == DOWN:
                (down[place.seat],) = cards
            elif place.where == DISCARD:
                table = replace(table, discard=cards[0])
            elif place.where == SIDE:
                table = replace(table, side=(cards[0], cards[1]))
        return State(_turned_up(table, down), tuple(hands))


def resample(view: View, rng: Random) -> State:
    """A state drawn at random from those consistent with everything the viewer knows."""
    return Worlds(view).draw(rng)


def _turned_up(table: Table, down: dict[Seat, Card]) -> Table:
    trick = table.trick
    if trick is None or not down:
        return table
    cards = (down.get(left_of(trick.leader, place), card) for place, card in enumerate(trick.cards))
    return replace(table, trick=replace(trick, cards=tuple(cards)))


# What is unseen, and where it may be --------------------------------------------------------------------------


def _unseen(view: View) -> dict[str, list[Card]]:
    """The cards that the viewer cannot see, by kind."""
    table = view.table
    seen = {*view.hand, table.discard, *(table.side or ())}
    for trick in all_tricks(table):
        seen.update(trick.cards)
    if table.taker is None:
        seen.add(table.okie)
    unseen: dict[str, list[Card]] = {}
    for card in CARDS:
        if card not in seen:
            unseen.setdefault(kind_of(card, table.okie), []).append(card)
    return unseen


def _cases(view: View, unseen: dict[str, list[Card]]) -> Iterator[tuple[float, tuple[Place, ...]]]:
    """The cases to tell apart, and how likely a single deal of each is beside one of the others."""
    table = view.table
    silent = is_opening(table) and table.taker is not None and table.declarer is None
    for places in _discard_cases(view):
        if silent and ROBAI in unseen:
            # Nobody declared: the Robai is a side card, or its holder (the discard was dealt, too) hid it (H11).
            yield 1.0, tuple(place if place.where == SIDE else _without_robai(place) for place in places)
            yield HIDING_RATE, tuple(_without_robai(place) if place.where == SIDE else place for place in places)
        else:
            yield 1.0, places


def _places(view: View, kinds: tuple[frozenset[str], ...]) -> tuple[Place, ...]:
    """All places of unseen cards but for the discard; ``kinds``: what each seat may hold."""
    table = view.table
    places = []
    face_down = () if table.trick is None else table.trick.face_down
    for seat in map(Seat, range(SEATS)):
        if seat != view.seat:
            places.append(Place(HAND, seat, Slot(cards_held(table, seat), kinds[seat])))
            if seat in face_down:
                places.append(Place(DOWN, seat, Slot(1, kinds[seat] & ANY_TRUMP)))  # H17
    if table.side is None:
        bound = {OKIE} if table.declarer is None else {OKIE, ROBAI}
        places.append(Place(SIDE, None, Slot(2, (PLAIN_SUITS[table.okie[0]] | ANY_TRUMP) - bound)))
    return tuple(places)


def _discard_cases(view: View) -> Iterator[tuple[Place, ...]]:
    """The places of unseen cards, in cases that exclude each other: what the unseen discard may be (H12, H14)."""
    table = view.table
    kinds = _kinds(table)
    places = _places(view, kinds)
    taker = table.taker
    if taker is None or table.phase is not Phase.PLAYING or not is_opening(table) or view.seat == taker:
        yield places
    elif table.rules.discard is DiscardRule.ANY:
        yield (*places, Place(DISCARD, None, Slot(1, kinds[taker])))
    else:
        yield (*places, Place(DISCARD, None, Slot(1, kinds[taker] - ANY_TRUMP)))
        ten_trumps = (
            _taking(place, place.slot.kinds & ANY_TRUMP) if place.seat == taker else place for place in places
        )
        yield (*ten_trumps, Place(DISCARD, None, Slot(1, kinds[taker] & ANY_TRUMP)))


def _without_robai(place: Place) -> Place:
    return _taking(place, place.slot.kinds - {ROBAI})


def _taking(place: Place, kinds: frozenset[str]) -> Place:
    return place._replace(slot=place.slot._replace(kinds=kinds))


def _kinds(table: Table) -> tuple[frozenset[str], ...]:
    """By seat: the kinds of unseen cards that it may hold, from what it was seen to do."""
    kinds = []
    for seat, void in enumerate(voids(table)):
        able = (PLAIN_SUITS[table.okie[0]] | ANY_TRUMP) - void
        if seat != table.taker:
            able -= {OKIE}  # H11
        if table.declarer is not None and seat != table.declarer:
            able -= {ROBAI}  # H11
        kinds.append(able)
    return tuple(kinds)
