"""Playing deals out, quickly and with some sense: how a search finds out what a move comes to.

Belongs here: the policy of playouts. Both players take what brings them most and the other player least, by the
judgement of ``worths``, and stop with the first yaku. ``_kernel.c`` has the same policy, to the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from engine.koi_koi.flat import CHOOSE, OVER, PLAY, Deal
from engine.koi_koi.worths import ANIMAL, BIT, LOW, MONTH, PLAIN, RIBBON

Stakes: TypeAlias = list[dict[int, int]]
"""By seat: what each card, as a mask, would bring the player at the root, in hundredths of a point. Taken as the same
throughout a playout: what it is worth to deny a card, and what laying it down gives away."""


class Playouts:
    """Plays deals out from one position."""

    def __init__(self, root: Deal) -> None:
        """At ``root`` the cards that the player to act does not see are left out."""
        self.root = root
        self.stakes = stakes_of(root)

    def __call__(self, hidden: bytes, moves: Sequence[bytes]) -> list[int]:
        """For each of ``moves``, what the player to act at the root scores more than the other, if the hidden cards lie
        like that (see ``Deal.filled``) and both play on by the policy.
        """
        world, me = self.root.filled(hidden), self.root.turn
        margins = []
        for move in moves:
            deal = world.copy()
            deal.apply(move)
            play_out(deal, self.stakes)
            margins.append(deal.scores[me] - deal.scores[1 - me])
        return margins


def stakes_of(deal: Deal) -> Stakes:
    """What each card would bring each player now."""
    found = []
    for mine, theirs in (deal.piles, reversed(deal.piles)):
        now = deal.worths.worth(mine, theirs)
        found.append({bit: deal.worths.worth(mine | bit, theirs) - now for bit in BIT.values()})
    return found


def play_out(deal: Deal, stakes: Stakes) -> None:
    """Play ``deal`` to its end by the policy."""
    while deal.phase != OVER:
        if deal.phase == PLAY:
            _play(deal, stakes)
        elif deal.phase == CHOOSE:
            _choose(deal, stakes)
        else:
            deal.stop()


def _play(deal: Deal, stakes: Stakes) -> None:
    """The hand card and the target that are worth most."""
    me, board, worths = deal.turn, deal.board, deal.worths
    mine, theirs = deal.piles[me], deal.piles[1 - me]
    hand = deal.hands[me]
    low, animal, ribbon, plain = worths.against(theirs)
    now = (
        low[mine & LOW]
        + animal[mine >> ANIMAL & 511]
        + ribbon[mine >> RIBBON & 1023]
        + plain[(mine & PLAIN).bit_count()]
    )
    unseen = ~(sum(hand) | board | mine | theirs)
    reaches, deny = worths.reach, worths.deny
    own_stakes, their_stakes = stakes[me], stakes[1 - me]
    best, best_card, best_taken = -(1 << 31), 0, 0
    for card in hand:
        month = MONTH[card]
        targets = month & board
        reach = reaches[(month & unseen).bit_count()]
        if not targets:
            given = their_stakes[card] * worths.gift + own_stakes[card] * worths.loss
            value = now - (given * reach >> 16)
            if value > best:
                best, best_card, best_taken = value, card, 0
            continue
        first = targets & -targets
        for taken in (first, targets ^ first) if targets.bit_count() == 2 else (targets,):
            pile = mine | card | taken
            value = (
                low[pile & LOW]
                + animal[pile >> ANIMAL & 511]
                + ribbon[pile >> RIBBON & 1023]
                + plain[(pile & PLAIN).bit_count()]
            )
            if reach:
                stake = their_stakes[taken] if taken in their_stakes else _stake_of(taken, their_stakes)
                value += stake * deny * reach >> 16
            if value > best:
                best, best_card, best_taken = value, card, taken
    deal.play(best_card, best_taken)


def _choose(deal: Deal, stakes: Stakes) -> None:
    """The better of the two that the turned card can take."""
    me, worths = deal.turn, deal.worths
    mine, theirs = deal.piles[me], deal.piles[1 - me]
    month = MONTH[deal.turned]
    targets = month & deal.board
    reach = worths.reach[(month & ~(sum(deal.hands[me]) | deal.board | mine | theirs | deal.turned)).bit_count()]

    def value(taken: int) -> int:
        denied = stakes[1 - me][taken] * worths.deny * reach >> 16
        return worths.worth(mine | deal.turned | taken, theirs) + denied

    one = targets & -targets
    two = targets ^ one
    deal.choose(two if value(two) > value(one) else one)


def _stake_of(taken: int, stakes: dict[int, int]) -> int:
    """What several cards would bring, each by itself."""
    return sum(stake for card, stake in stakes.items() if card & taken)
