"""All ways to put cards into slots that take only some kinds of them, counted exactly, and one of them drawn.

Knows nothing of any game. Drawing is exactly uniform because it follows the counts: how many cards of a kind a slot
gets is drawn in proportion to the number of ways to go on from there. What makes this quick is merging: slots that
take the same kinds are filled as one; kinds between which no slot still to be filled makes a difference are one kind
from there on; and the last slot is never counted, it takes what is left.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import comb, factorial, prod
from random import Random
from typing import Final, NamedTuple

from engine.game import Card


class Slot(NamedTuple):
    """A place for ``size`` cards, which takes cards of these ``kinds`` only."""

    size: int
    kinds: frozenset[str]


class Group(NamedTuple):
    """Slots that take the same kinds, filled as one."""

    size: int
    slots: tuple[int, ...]
    takes: tuple[int, ...]
    """Which of the piles of this stage they take from."""
    piles: tuple[tuple[int, ...], ...]
    """How the piles of the stage before (at first: the kinds) are put together into those of this stage."""


class Node(NamedTuple):
    """A point in the filling: how many cards of the next pile the group in hand may get, and in how many ways."""

    ways: int
    pile: int
    branches: tuple[tuple[int, int, Node], ...]
    """(cards of the pile, ways of this branch, the node after it)."""


END: Final = Node(1, -1, ())
_NONE: Final = Node(0, -1, ())


class Fillings:
    """Every way to fill ``slots`` with ``cards``: by kind, each card once, all slots full."""

    def __init__(self, cards: Mapping[str, Sequence[Card]], slots: Sequence[Slot]) -> None:
        assert sum(map(len, cards.values())) == sum(slot.size for slot in slots), "cards and room do not match"
        self.cards = [list(some) for some in cards.values()]
        self.slots = slots
        self.groups = _stages(tuple(cards), slots)
        self._nodes: dict[tuple[int, int, int, tuple[int, ...]], Node] = {}
        self._root = self._begin(0, tuple(map(len, self.cards)))

    @property
    def root(self) -> Node:
        """Where filling begins."""
        return self._root

    @property
    def nodes(self) -> Collection[Node]:
        """All of them, whatever follows a node before it; some that lead nowhere among them."""
        return self._nodes.values()

    @property
    def ways(self) -> int:
        """How many there are."""
        return self._root.ways * prod(self._splits(group) for group in self.groups)

    def _splits(self, group: Group) -> int:
        """In how many ways the cards of a group can be told out to its slots."""
        return factorial(group.size) // prod(factorial(self.slots[slot].size) for slot in group.slots)

    def draw(self, rng: Random) -> list[list[Card]]:
        """One of them, each as likely; the cards of each slot in no particular order."""
        assert self._root.ways, "these cards do not fit these slots"
        filled: list[list[Card]] = [[] for _ in self.slots]
        piles = self.cards
        node = self._root
        for group in self.groups:
            piles = [[card for pile in together for card in piles[pile]] for together in group.piles]
            if group is self.groups[-1]:
                got = [card for pile in piles for card in pile]
            else:
                node, got = _take(group, node, piles, rng)
            if len(group.slots) > 1:
                rng.shuffle(got)
            for slot in group.slots:
                size = self.slots[slot].size
                filled[slot] = got[:size]
                del got[:size]
        return filled

    def _begin(self, stage: int, piles: tuple[int, ...]) -> Node:
        """The node at which group ``stage`` is to be filled from what the one before left of its ``piles``."""
        if stage == len(self.groups):
            return END
        group = self.groups[stage]
        counts = tuple(sum(piles[pile] for pile in together) for together in group.piles)
        if stage == len(self.groups) - 1:
            return END if sum(counts[pile] for pile in group.takes) == group.size else _NONE
        return self._node(stage, 0, group.size, counts)

    def _node(self, stage: int, step: int, room: int, counts: tuple[int, ...]) -> Node:
        if not room:
            return self._begin(stage + 1, counts)
        takes = self.groups[stage].takes
        if step == len(takes):
            return _NONE
        key = (stage, step, room, counts)
        known = self._nodes.get(key)
        if known is not None:
            return known
        pile = takes[step]
        there = counts[pile]
        least = room if step + 1 == len(takes) else 0
        branches = []
        for taken in range(least, min(room, there) + 1):
            left = (*counts[:pile], there - taken, *counts[pile + 1 :])
            after = self._node(stage, step + 1, room - taken, left)
            if after.ways:
                branches.append((taken, comb(there, taken) * after.ways, after))
        node = Node(sum(branch[1] for branch in branches), pile, tuple(branches))
        self._nodes[key] = node
        return node


def _stages(kinds: tuple[str, ...], slots: Sequence[Slot]) -> list[Group]:
    """The slots by what they take, in the order of filling, each with the piles that it has to tell apart."""
    alike: dict[tuple[bool, ...], list[int]] = {}
    for index, slot in enumerate(slots):
        if slot.size:
            alike.setdefault(tuple(kind in slot.kinds for kind in kinds), []).append(index)
    # The choosiest first, so that dead ends show early; the most liberal last, where nothing is to be counted.
    rows = sorted(alike.items(), key=lambda row: (sum(row[0]), len(row[1])))
    groups = []
    piles: list[tuple[int, ...]] = [(kind,) for kind in range(len(kinds))]  # the kinds in each pile
    for stage, (_, some) in enumerate(rows):
        # Kinds that this and all later groups treat alike lie in one pile.
        together: dict[tuple[bool, ...], list[int]] = {}
        for index, pile in enumerate(piles):
            together.setdefault(tuple(later[pile[0]] for later, _ in rows[stage:]), []).append(index)
        takes = tuple(index for index, column in enumerate(together) if column[0])
        size = sum(slots[index].size for index in some)
        groups.append(Group(size, tuple(some), takes, tuple(map(tuple, together.values()))))
        piles = [tuple(kind for index in some_piles for kind in piles[index]) for some_piles in together.values()]
    return groups


def _take(group: Group, node: Node, piles: list[list[Card]], rng: Random) -> tuple[Node, list[Card]]:
    """What ``group`` gets; it leaves ``piles``."""
    for pile in piles:
        rng.shuffle(pile)
    got: list[Card] = []
    while len(got) < group.size:
        taken, after = _choose(node, rng)
        got += piles[node.pile][:taken]
        del piles[node.pile][:taken]
        node = after
    return node, got


def _choose(node: Node, rng: Random) -> tuple[int, Node]:
    if len(node.branches) == 1:
        taken, _, after = node.branches[0]
        return taken, after
    place = rng.randrange(node.ways)
    for taken, ways, after in node.branches:
        if place < ways:
            return taken, after
        place -= ways
    raise AssertionError("the branches of a node make up its ways")
