"""The searching levels: what actions come to in sampled worlds, played out by the quick player.

Belongs here: how much is searched, which actions are the same, and worlds of ``worlds`` as flat deals. How worlds are
compared is ``engine.search``'s, how they are played out is ``playout``'s. ``HARD`` needs nothing but Python; where the
kernel is installed it plays the worlds out, to the same numbers: the same is chosen, sooner. ``EXPERT`` is the same
search of many more worlds, which only the kernel can play out in time.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from random import Random
from typing import Final

from engine import search as frame
from engine.game import Level, Seat
from engine.hachinin_meri import kernel, playout
from engine.hachinin_meri.flat import BITS, DECLARE, PASS, SUITS, TRUMP_SHIFT, Flat, Move, flat_move, flat_state
from engine.hachinin_meri.kernel import KERNEL
from engine.hachinin_meri.scoring import PAIRS
from engine.hachinin_meri.table import cards_held, is_opening, played_by
from engine.hachinin_meri.types import SEATS, Action, View
from engine.hachinin_meri.worlds import DOWN, SIDE, Worlds
from engine.search import Findings, Plan

HARD_PLAYS: Final = 4_000
"""Cards to be played out for one decision: a rollout at the beginning of a deal has seventy-two, so that early and
late decisions cost about the same.
"""
LEAST_PLAYS: Final = 20
"""What a rollout costs at least, counted in cards: its world has to be drawn."""
EXPERT_ROLLOUTS: Final = 1_300
"""With the kernel it is the worlds that cost, however much of them is left to play."""
PLAN: Final = Plan(margin=1.0)


def own_rollouts(level: Level, view: View) -> int:
    """How often ``level`` plays out an action at ``view``, if nothing else is said."""
    if level is Level.EXPERT and KERNEL is not None:
        return EXPERT_ROLLOUTS
    return HARD_PLAYS // max(LEAST_PLAYS, sum(cards_held(view.table, Seat(seat)) for seat in range(SEATS)))


def search(
    view: View, legal: Sequence[Action], favourite: Action, *, rng: Random, level: Level, rollouts: int | None
) -> Findings:
    """Search ``legal`` and keep ``favourite`` unless another action proves better. Values are points of the team.

    Args:
        view: a seat's, whose turn it is.
        legal: its actions, at least one.
        favourite: one of them.
        rng: all chance comes from it.
        level: ``HARD`` or ``EXPERT``.
        rollouts: how often actions are played out in all; None for the level's own number.
    """
    moves = [flat_move(action, view.table.okie[0]) for action in legal]
    played_out = playout.outcomes if KERNEL is None else kernel.outcomes  # the same numbers either way

    def results(world: Flat, tried: Sequence[Move], _seed: int) -> Sequence[int]:
        return played_out(world, tried)

    return frame.search(
        moves,
        list(legal).index(favourite),
        Seen(view).sample,
        results,
        rng=rng,
        rollouts=rollouts or own_rollouts(level, view),
        plan=PLAN,
        same=likenesses(view, moves),
    )


class Seen:
    """What a player sees, as a flat deal without the cards that it does not see; draws them."""

    def __init__(self, view: View) -> None:
        assert view.seat is not None, "a spectator has nothing to decide"
        table = view.table
        self._worlds = Worlds(view)
        # Whatever differs between worlds is replaced in each, so that any of them will do.
        self._table = flat_state(self._worlds.draw(Random(0)))
        self._bits = bits = BITS[table.okie[0]]
        self._hands = [0] * SEATS
        self._hands[view.seat] = self._table.hands[view.seat]
        self._discard = 0 if table.discard is None else bits[table.discard]
        self._may_be_concealed = table.declarer is None and table.taker is not None
        terms = self._table.terms
        self._may_be_concealed = self._may_be_concealed and terms.okie != terms.robai
        self._sides_open = not is_opening(table)
        known = [sum(bits[card] for card in played_by(table, Seat(seat)) if card) for seat in range(SEATS)]
        if table.taker is not None:
            known[table.taker] |= self._discard
        self._known = [cards >> TRUMP_SHIFT for cards in known]
        """By seat: the trumps that it has shown, or discarded before the viewer's eyes."""
        self._not_dealt = 0 if table.taker is None else terms.okie >> TRUMP_SHIFT
        trick = table.trick
        self._covered: list[tuple[int, int]] = []
        """The viewer's own face-down trump and its seat."""
        if trick is not None:
            mine = (view.seat - trick.leader) % SEATS
            if view.seat in trick.face_down:
                card = trick.cards[mine]
                assert card is not None, "one's own cards are seen"
                self._covered = [(bits[card], view.seat)]

    def sample(self, rng: Random) -> Flat:
        """What ``Worlds.draw`` draws, as a flat deal."""
        deal = self._table.copy()
        bits, hands, covered = self._bits, self._hands[:], self._covered[:]
        side = 0
        for place, cards in self._worlds.fill(rng):
            pile = sum([bits[card] for card in cards])
            if place.where == DOWN:
                covered.append((pile, place.seat or 0))
            elif place.where == SIDE:
                side = pile
            else:
                hands[place.seat or 0] = pile
        deal.hands = hands
        if not self._sides_open:
            deal.aside = side | self._discard
            deal.concealed = self._may_be_concealed and not side & deal.terms.robai
        if covered:
            _cover(deal, covered)
        deal.lone = self._lone_suns(deal, covered)
        return deal

    def _lone_suns(self, deal: Flat, covered: Sequence[tuple[int, int]]) -> int:
        """The seats that were dealt the trump Sun as their only trump (H19) in this world, as bits."""
        trumps = [hand >> TRUMP_SHIFT | known for hand, known in zip(deal.hands, self._known, strict=True)]
        for card, seat in covered:
            trumps[seat] |= card >> TRUMP_SHIFT
        if deal.taker >= 0:
            trumps[deal.taker] &= ~self._not_dealt
        sun = deal.terms.sun
        return sum([1 << seat for seat, held in enumerate(trumps) if held == sun])


def _cover(deal: Flat, covered: Sequence[tuple[int, int]]) -> None:
    """Put these trumps face down to the trick in play, in place of those that lie there."""
    deal.covered = sum([card for card, _ in covered])
    deal.tops = [0, 0]
    for card, seat in covered:
        trump = card >> TRUMP_SHIFT
        if trump > max(deal.tops):
            deal.top_trump_seat = seat
        deal.tops[seat & 1] = max(trump, deal.tops[seat & 1])


def likenesses(view: View, moves: Sequence[Move]) -> list[Hashable]:
    """For each move a key that it shares with those that come to the same.

    Cards of a suit do if nobody else has one between them, and neither makes a combination.
    """
    table = view.table
    bits = BITS[table.okie[0]]
    known = {*view.hand, table.discard, *(table.side or ()), *(card for trick in table.tricks for card in trick.cards)}
    others = sum(bit for card, bit in bits.items() if card not in known)
    paired = {bits[card] for pair in PAIRS[table.okie[0]] for card in pair}
    keys: list[Hashable] = []
    for move in moves:
        if move in (PASS, DECLARE) or move in paired:
            keys.append(move)
        elif move >> TRUMP_SHIFT:
            keys.append((0, (others & -move).bit_count()))
        else:
            suit = next(suit for suit in SUITS if suit & move)
            keys.append((suit, (others & suit & -move).bit_count()))
    return keys
