"""How a position looks to one seat: what cards would bring either player, and how likely they are to come by them.

Belongs here: judgement, counted in the deal's points, from a view and nothing else. Must not be known here: levels,
actions, randomness. How much the numbers in capitals matter was measured: ``docs/koi-koi.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from engine.game import Card
from engine.koi_koi import scoring
from engine.koi_koi.scoring import BIT, BRIGHTS, RAIN_MAN, mask_of
from engine.koi_koi.table import other
from engine.koi_koi.types import Rules, View, Viewing, Yaku

_RAIN: Final = BIT[RAIN_MAN]
_MONTHS: Final = tuple(0b1111 << 4 * month for month in range(12))

SET_STEP: Final = (0.0, 0.0, 0.25, 0.1, 0.04, 0.02)
"""What a card on the way to a yaku is worth, as a share of its points, by the number of cards missing before it. (The
card that completes it counts in full, elsewhere.)"""
COUNT_STEP: Final = 0.65
"""The same for yaku that count cards: this power of the number missing after it."""

HELD: Final = 0.9
"""The chance that a capture for which a card is held is still there in the next turn, and is made."""


class Prospect(Struct, frozen=True):
    """A yaku that a player may still come to."""

    yaku: Yaku
    wanted: int
    """The cards that would bring it nearer: a mask."""
    missing: int
    """How many of them it takes."""
    points: int
    """What it adds to the total."""
    step: float
    """What each of the cards is worth before the last one, in points."""


class Aim(Struct, frozen=True):
    """A yaku that cards serve."""

    yaku: Yaku
    cards: int
    """Those of the cards that serve it: a mask."""
    value: float
    """In points."""
    missing: int
    """How many it takes after them."""


class Side(Struct, frozen=True):
    """One player's half of the position."""

    pile: int
    """What the player has captured: a mask."""
    rules: Rules
    total: int
    prospects: tuple[Prospect, ...]

    def gain(self, cards: int) -> int:
        """By how much capturing ``cards`` (a mask) raises the total."""
        return scoring.total(self.pile | cards, self.rules) - self.total

    def progress(self, cards: int) -> float:
        """What capturing ``cards`` (a mask) is worth as steps towards yaku not yet made."""
        return sum(each.step * (each.wanted & cards).bit_count() for each in self.prospects)

    def worth(self, cards: int) -> float:
        """Both together, in points."""
        return self.gain(cards) + self.progress(cards)

    def aim_of(self, cards: int) -> Aim | None:
        """The yaku that capturing ``cards`` (a mask) serves most; None if it serves none."""
        aims = []
        for each in self.prospects:
            if serving := each.wanted & cards:
                missing = max(0, each.missing - serving.bit_count())
                value = each.step * serving.bit_count() if missing else float(each.points)
                aims.append(Aim(each.yaku, serving, value, missing))
        return max(aims, key=lambda aim: aim.value, default=None)


class Outlook(Struct, frozen=True):
    """The position as the seat to act sees it."""

    me: Side
    them: Side
    hand: int
    """Masks: my hand, the board, and all cards whose place I do not know."""
    board: int
    unseen: int
    their_hand: int
    """How many cards the other player holds."""

    def month_of(self, card: Card) -> int:
        """All four cards of the month of ``card``: a mask."""
        return _MONTHS[int(card[:2]) - 1]

    def turns_up(self, card: Card) -> float:
        """The chance that the next stock card has the month of ``card``."""
        return (self.unseen & self.month_of(card)).bit_count() / max(1, self.unseen.bit_count())

    def reach(self, card: Card) -> float:
        """The chance that the other player can take ``card`` from the board in their next turn: by one of their hand
        cards, or by the stock card after it.
        """
        return 1 - (1 - self.turns_up(card)) ** (self.their_hand + 1) if self.their_hand else 0.0

    def i_get(self, card: Card) -> float:
        """The chance to capture ``card`` in my next turn, after the other player's."""
        bit, month = BIT[card], self.month_of(card)
        if bit & self.board:
            return (HELD if self.hand & month else self.turns_up(card)) * (1 - self.reach(card))
        if bit & self.hand:
            return HELD if self.board & month else self.turns_up(card)
        return self._turns_up_itself(month)

    def they_get(self, card: Card) -> float:
        """The chance that the other player captures ``card``, which I do not hold, in their next turn."""
        month = self.month_of(card)
        if BIT[card] & self.board:
            return self.reach(card)
        held = self.their_hand / max(1, self.unseen.bit_count()) if self.board & month else 0.0
        return held * HELD + self._turns_up_itself(month)

    def _turns_up_itself(self, month: int) -> float:
        """The chance that an unseen card is the next stock card and has something to capture."""
        return 1 / max(1, self.unseen.bit_count()) if self.board & month else 0.0


def outlook(view: View) -> Outlook:
    """How the position looks to the seat to act, whose view it is."""
    table = view.table
    seat, opponent = table.turn, other(table.turn)
    mine, theirs = mask_of(table.captured[seat]), mask_of(table.captured[opponent])
    hand, board = mask_of(view.hand or ()), mask_of(table.board)
    turned = 0 if table.turned is None else BIT[table.turned]
    return Outlook(
        me=_side(mine, theirs, table.rules, table.standings[seat].total, table.hand_sizes[seat]),
        them=_side(theirs, mine, table.rules, table.standings[opponent].total, table.hand_sizes[opponent]),
        hand=hand,
        board=board,
        unseen=(1 << len(BIT)) - 1 & ~(hand | board | mine | theirs | turned),
        their_hand=table.hand_sizes[opponent],
    )


def worth_of_playing_on(view: View, sight: Outlook) -> float:
    """What calling koi is worth to the seat to act, in points: both players' chances to be the next whose total
    rises and who stops, turn by turn from the other player's next, as they look now. If neither is, nobody scores.
    """
    table, seat = view.table, view.table.turn
    my_chance, my_gain = _chance_to_rise(sight.me, sight.board | sight.hand | sight.unseen, sight.i_get)
    their_chance, their_gain = _chance_to_rise(sight.them, sight.board | sight.unseen, sight.they_get)
    my_score = _score(sight.me, my_gain, table.calls[other(seat)])
    their_score = _score(sight.them, their_gain, table.calls[seat] + 1)
    worth, still_open = 0.0, 1.0
    for turn in range(max(table.hand_sizes)):
        if turn < table.hand_sizes[other(seat)]:
            worth -= still_open * their_chance * their_score
            still_open *= 1 - their_chance
        if turn < table.hand_sizes[seat]:
            worth += still_open * my_chance * my_score
            still_open *= 1 - my_chance
    return worth


def _chance_to_rise(side: Side, open_cards: int, gets: Callable[[Card], float]) -> tuple[float, float]:
    """The chance that a player's total rises in their next turn, and by how much on average if it does."""
    misses, weight, weighted = 1.0, 0.0, 0.0
    for card, bit in BIT.items():
        if bit & open_cards and (gain := side.gain(bit)):
            chance = gets(card)
            misses *= 1 - chance
            weight += chance
            weighted += chance * gain
    return 1 - misses, weighted / weight if weight else 0.0


def _score(side: Side, gain: float, opponent_calls: int) -> float:
    """What a stop scores once the total has risen by ``gain``."""
    points = side.total + gain
    return points * 2.0 ** len(scoring.doublings(round(points), side.rules, opponent_calls))


def _side(pile: int, gone: int, rules: Rules, total: int, turns: int) -> Side:
    """``gone`` are the cards that the player cannot get any more; ``turns`` is how often they play yet."""
    reachable = 2 * turns + 2  # two captures a turn, and one may be under way
    found = (*_bright_prospects(pile, gone, rules), *_set_prospects(pile, gone, rules), *_count_prospects(pile, gone))
    return Side(pile, rules, total, tuple(each for each in found if each.missing <= reachable))


def _bright_prospects(pile: int, gone: int, rules: Rules) -> list[Prospect]:
    points = scoring.POINTS[rules.points]
    dry, rainy = BRIGHTS & ~_RAIN, BRIGHTS
    had = scoring.bright_yaku(pile)
    found = []
    for yaku, cards, least in (
        (Yaku.THREE_BRIGHTS, dry, 3),
        (Yaku.RAINY_FOUR_BRIGHTS, rainy, 4),
        (Yaku.FOUR_BRIGHTS, dry, 4),
        (Yaku.FIVE_BRIGHTS, rainy, 5),
    ):
        surplus = points[yaku] - (0 if had is None else points[had])
        missing = least - (pile & cards).bit_count()
        if surplus > 0 and missing > 0 and (cards & ~gone).bit_count() >= least:
            found.append(Prospect(yaku, cards & ~pile & ~gone, missing, surplus, surplus * SET_STEP[missing]))
    return found


def _set_prospects(pile: int, gone: int, rules: Rules) -> list[Prospect]:
    points = scoring.POINTS[rules.points]
    sets = scoring.SETS if rules.viewing is Viewing.OFF else scoring.SETS + scoring.VIEWING_SETS
    found = []
    for each in sets:
        wanted = each.cards & ~pile
        if wanted and not each.cards & gone:
            missing, worth = wanted.bit_count(), points[each.yaku]
            found.append(Prospect(each.yaku, wanted, missing, worth, worth * SET_STEP[missing]))
    return found


def _count_prospects(pile: int, gone: int) -> list[Prospect]:
    found = []
    for each in scoring.COUNTS:
        missing = each.least - (pile & each.cards).bit_count()
        if missing > 0 and (each.cards & ~gone).bit_count() >= each.least:
            step = COUNT_STEP**missing if missing > 1 else 0.0
            found.append(Prospect(each.yaku, each.cards & ~pile & ~gone, missing, 1, step))
    return found
