"""The players of koi-koi that do not search: levels easy and medium, and what is done for a seat that does not answer.

Belongs here: choosing among legal actions. What a position promises is judged in ``outlook``; nothing but the view is
looked at. Medium is greedy: it takes what brings most at once, works towards yaku and denies them, and gives little
away. Easy is medium that plays at random every so often, but never passes by a finished yaku.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final, assert_never

from engine.flowers import Kind, kind, matching
from engine.game import Budget, Card, Level, Message, Thought
from engine.koi_koi.outlook import Outlook, outlook, worth_of_playing_on
from engine.koi_koi.scoring import BIT, cards_of, mask_of, total, yaku_in
from engine.koi_koi.text import text
from engine.koi_koi.types import Action, Choose, Koi, Phase, Play, Reason, Stop, View

ERRS: Final = 0.4
"""How often easy plays at random."""

DENY: Final = 0.5
"""What taking a card that the other player could use is worth, as a share of its worth to them."""
GIFT: Final = 0.6
"""What laying down such a card costs, likewise."""
LOSS: Final = 0.4
"""What laying down a card that one could use oneself costs, if the other player takes it."""
KEEPS: Final = 0.3
"""What laying down a card for a later capture of one's own is worth, as a share of what that would bring."""

NOTICEABLE: Final = 0.2
"""A step towards a yaku that is worth less than this is no reason to name."""


def think(view: View, legal: Sequence[Action], rng: Random, budget: Budget) -> Thought[Action]:
    """The choice among ``legal`` (not empty) of the seat whose view it is. Only easy draws from ``rng``."""
    if len(legal) == 1:
        return Thought(legal[0], reason=Message(Reason.ONLY_MOVE))
    sight = outlook(view)
    values = {text(action): value(action, view, sight) for action in legal}
    best = max(legal, key=lambda action: values[text(action)])
    why = reason(best, view, sight)
    may_err = view.table.phase is not Phase.DECIDE and not _finishes(best, view, sight)
    if budget.level is Level.EASY and may_err and rng.random() < ERRS:
        return Thought(rng.choice(legal), values, Message(Reason.AT_RANDOM))
    return Thought(best, values, why)


def value(action: Action, view: View, sight: Outlook) -> float:
    """What ``action`` is worth to whoever is to act, in points."""
    match action:
        case Stop():
            return float(view.table.standings[view.table.turn].score)
        case Koi():
            return worth_of_playing_on(view, sight)
        case Play() | Choose():
            card, taken = _capture(action, view)
            return _value_of_capture(card, taken, sight) if taken else _value_of_laying(card, sight)
        case _:
            assert_never(action)


def _capture(action: Play | Choose, view: View) -> tuple[Card, tuple[Card, ...]]:
    """The card that the action places, and what it takes."""
    if isinstance(action, Choose):
        assert view.table.turned is not None, "a choice is open for a turned card"
        return view.table.turned, (action.take,)
    return action.card, matching(action.card, view.table.board) if action.take is None else (action.take,)


def _finishes(action: Action, view: View, sight: Outlook) -> bool:
    """Whether the total is higher with what ``action`` takes than it was before this turn."""
    if not isinstance(action, Play | Choose):
        return False
    card, taken = _capture(action, view)
    return bool(taken) and sight.me.gain(BIT[card] | mask_of(taken)) > 0


def _value_of_capture(card: Card, taken: tuple[Card, ...], sight: Outlook) -> float:
    brings = sight.me.worth(BIT[card] | mask_of(taken))
    return brings + DENY * sum(sight.reach(each) * sight.them.worth(BIT[each]) for each in taken)


def _value_of_laying(card: Card, sight: Outlook) -> float:
    bit = BIT[card]
    mine, reach = sight.me.worth(bit), sight.reach(card)
    partners = sight.hand & sight.month_of(card) & ~bit
    later = KEEPS * (1 - reach) * sight.me.worth(bit | partners) if partners else 0.0
    return later + sight.turns_up(card) * mine - reach * (GIFT * sight.them.worth(bit) + LOSS * mine)


def reason(action: Action, view: View, sight: Outlook) -> Message:
    """Why ``action`` was found best: the largest part of its value."""
    standing = view.table.standings[view.table.turn]
    match action:
        case Stop():
            return Message(Reason.TAKES_POINTS, {"score": standing.score})
        case Koi():
            return Message(Reason.HOPES_FOR_MORE, {"score": standing.score})
        case Play() | Choose():
            card, taken = _capture(action, view)
            if taken:
                return _reason_to_capture(card, taken, sight)
            return Message(Reason.LAYS, {"card": card})
        case _:
            assert_never(action)


def _reason_to_capture(card: Card, taken: tuple[Card, ...], sight: Outlook) -> Message:
    me, them = sight.me, sight.them
    cards = BIT[card] | mask_of(taken)
    # Not what the turn gains: its first capture may have made a yaku before the stock card was turned up.
    if gain := total(me.pile | cards, me.rules) - total(me.pile, me.rules):
        had = {yaku: points for yaku, points, _ in yaku_in(me.pile, me.rules)}
        rises = {yaku: points - had.get(yaku, 0) for yaku, points, _ in yaku_in(me.pile | cards, me.rules)}
        return Message(Reason.COMPLETES, {"yaku": max(rises, key=lambda yaku: rises[yaku]), "points": gain})
    denied, aim = them.aim_of(mask_of(taken)), me.aim_of(cards)
    served = NOTICEABLE if aim is None else max(NOTICEABLE, aim.value)
    if denied is not None and denied.value > served:
        return Message(Reason.DENIES, {"yaku": denied.yaku, "cards": cards_of(denied.cards)})
    if aim is not None and aim.value >= NOTICEABLE:
        return Message(Reason.BUILDS, {"yaku": aim.yaku, "cards": cards_of(aim.cards), "missing": aim.missing})
    return Message(Reason.CAPTURES, {"cards": cards_of(cards)})


_RANK: Final = {Kind.PLAIN: 0, Kind.RIBBON: 1, Kind.ANIMAL: 2, Kind.BRIGHT: 3}


def default_action(legal: Sequence[Action]) -> Action:
    """What is done for a seat that did not answer: the plainest card, the better of two targets, and stop."""

    def cost(action: Action) -> tuple[int, int, str]:
        match action:
            case Play(card, take):
                return _RANK[kind(card)], 0 if take is None else -_RANK[kind(take)], text(action)
            case Choose(take):
                return 0, -_RANK[kind(take)], text(action)
            case Stop():
                return 0, 0, text(action)
            case Koi():
                return 1, 0, text(action)
            case _:
                assert_never(action)

    return min(legal, key=cost)
