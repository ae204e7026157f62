"""The levels: ``easy`` and ``medium``, which look at the table and one card ahead, and what they tell of their choice.

``hard`` and ``expert`` keep what ``medium`` chooses unless a search (``search``) proves something better, and do
nothing that is vetoed (``vetoes``); ``hard`` leaves some of its decisions to ``medium`` unsearched.

A card is worth the chance that the team takes the trick with it, plus or minus the combination that may come of it,
less what the card would still be good for. ``odds`` estimates all three from the view. Partners need no signals for
this: a trick that a partner takes is as good as one's own, so nothing is spent on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from engine.game import Budget, Card, Level, Message, Param, Thought
from engine.hachinin_meri.cards import height
from engine.hachinin_meri.odds import Odds
from engine.hachinin_meri.reasons import why_answered, why_discarded, why_played
from engine.hachinin_meri.rules import discardable, playable
from engine.hachinin_meri.search import played_as, search
from engine.hachinin_meri.text import DECLARE, DISCARDS, PASS, PLAYS, text
from engine.hachinin_meri.types import Action, Declare, Discard, Pass, Phase, Play, Reason, View
from engine.hachinin_meri.vetoes import vetoed
from engine.hachinin_meri.worlds import HIDING_RATE

LEVELS: Final = (Level.EASY, Level.MEDIUM, Level.HARD, Level.EXPERT)
"""Weakest first."""
SEARCHING: Final = frozenset((Level.HARD, Level.EXPERT))
CARELESS: Final = 0.4
"""How often ``easy`` plays any card it may."""
UNSEARCHED: Final = 0.3
"""How often ``hard`` does what ``medium`` would: a few hundred worlds say nearly as much as many thousand, so this is
what sets ``expert`` apart.
"""


def default_action(view: View) -> Action:
    """What is done for a seat that does not answer: pass; the cheapest discard; the cheapest card."""
    table = view.table
    assert view.seat is not None, "a spectator does nothing"
    match table.phase:
        case Phase.DECLARING:
            return PASS  # H10: silence is a pass
        case Phase.DISCARDING:
            return DISCARDS[_cheapest(discardable(table, view.hand), table.okie)]
        case Phase.PLAYING:
            return PLAYS[_cheapest(playable(table, view.seat, view.hand), table.okie)]
        case Phase.OVER:
            raise AssertionError("nothing is done when the deal is over")


def _cheapest(cards: Sequence[Card], okie: Card) -> Card:
    """The lowest plain card, for want of one the lowest trump."""
    return min(cards, key=lambda card: height(card, okie[0]))


def think(view: View, legal: Sequence[Action], rng: Random, budget: Budget) -> Thought[Action]:
    """The choice of ``budget.level`` among ``legal`` (not empty) and its reason."""
    first = legal[0]
    if len(legal) == 1:
        nothing = isinstance(first, Pass)
        return Thought(first, {}, Message(Reason.NOTHING_TO_DECLARE if nothing else Reason.FORCED, _card(first)))
    guess = _guess(view, legal, rng, careless=budget.level is Level.EASY)
    if budget.level not in SEARCHING:
        return guess
    unsearched = played_as(budget.level) is Level.HARD and rng.random() < UNSEARCHED
    if unsearched and not (isinstance(guess.action, Play) and guess.action.card in vetoed(view, _cards(legal))):
        return guess
    return _searched(view, legal, guess, rng, budget)


def _guess(view: View, legal: Sequence[Action], rng: Random, *, careless: bool) -> Thought[Action]:
    """What can be told without a search; now and then anything, if ``careless``."""
    cards = _cards(legal)
    if not cards:
        return _declaration(view, rng)
    if careless and rng.random() < CARELESS:
        action = rng.choice(legal)
        return Thought(action, {}, Message(Reason.RANDOM, _card(action)))
    return _discard(view, cards) if isinstance(legal[0], Discard) else _play(view, cards)


def _searched(
    view: View, legal: Sequence[Action], guess: Thought[Action], rng: Random, budget: Budget
) -> Thought[Action]:
    """What a search found; ``guess`` is its favourite."""
    found = search(view, legal, guess.action, rng=rng, level=budget.level, rollouts=budget.rollouts)
    values = {text(action): value for action, value in zip(legal, found.values, strict=True)}
    best = legal[found.best]
    if isinstance(best, Play):
        forbidden = vetoed(view, _cards(legal))
        if best.card in forbidden:
            allowed = [action for action in legal if isinstance(action, Play) and action.card not in forbidden]
            best = max(allowed, key=lambda action: values[text(action)])
    reason = guess.reason if best == guess.action else _reason_of(view, best, _cards(legal))
    return Thought(best, values, reason, searched=True)


def _reason_of(view: View, action: Action, cards: Sequence[Card]) -> Message:
    """What speaks for ``action``, which a search chose among all that have these ``cards``."""
    match action:
        case Declare() | Pass():
            return why_answered(view, declared=isinstance(action, Declare))
        case Discard(card=card):
            return why_discarded(view, card)
        case Play(card=card):
            odds = Odds(view)
            return why_played(view, odds, card, {other: odds.worth(other) for other in cards})


def _cards(legal: Sequence[Action]) -> list[Card]:
    return [action.card for action in legal if isinstance(action, Discard | Play)]


def _card(action: Action) -> dict[str, Param]:
    return {"card": action.card} if isinstance(action, Discard | Play) else {}


def _declaration(view: View, rng: Random) -> Thought[Action]:
    """Declare, nearly always: the Okie is another trump, and the opening lead comes with it.

    Hidden it is worth five to whoever wins its combination, which as often as not is the other team; it is hidden at
    a fixed rate so that silence says little (H25).
    """
    hides = rng.random() < HIDING_RATE
    return Thought(PASS if hides else DECLARE, {}, why_answered(view, declared=not hides))


def _discard(view: View, cards: Sequence[Card]) -> Thought[Action]:
    """Put away what is worth least, from the shortest suit where it makes no difference."""
    odds = Odds(view)
    suits = [card[0] for card in view.hand if card not in odds.trumps]
    values = {card: -odds.kept(card) - 0.01 * suits.count(card[0]) for card in cards}
    chosen = max(cards, key=values.__getitem__)
    told = {text(DISCARDS[card]): value for card, value in values.items()}
    return Thought(DISCARDS[chosen], told, why_discarded(view, chosen))


def _play(view: View, cards: Sequence[Card]) -> Thought[Action]:
    odds = Odds(view)
    worths = {card: odds.worth(card) for card in cards}
    chosen = max(cards, key=lambda card: worths[card].total)
    values = {text(PLAYS[card]): worth.total for card, worth in worths.items()}
    return Thought(PLAYS[chosen], values, why_played(view, odds, chosen, worths))
