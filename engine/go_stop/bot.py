"""The AI's levels, the sense of those that look one turn ahead, and what is done for a seat that does not answer.

Belongs here: what a position promises and how an action is weighed: that is all that ``easy`` and ``medium`` think, and
what the searching levels (``search``) keep unless another action proves better. A bot knows its seat's view and
nothing else. Every value is in points of the combination score. What is reckoned with is judgement, not rules, here
and in ``weights``: tried against each other with ``tests/engine/go_stop/strength.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Final, assert_never

from engine.flowers import matching, month
from engine.game import Budget, Card, Level, Message, Thought
from engine.go_stop.rules import decision_threshold
from engine.go_stop.rules import legal as legal_actions
from engine.go_stop.scoring import (
    ANIMALS,
    BIT,
    BRIGHTS,
    CUP_PILE,
    DOUBLE_JUNK,
    JUNK,
    RIBBONS,
    SET_ROWS,
    after_goes,
    cards_of,
    gains,
    junk_to_take,
    junk_units,
    payment,
    pile_of,
    points,
    score,
)
from engine.go_stop.search import search
from engine.go_stop.sight import unseen
from engine.go_stop.table import other
from engine.go_stop.text import text
from engine.go_stop.types import (
    CARDS,
    Action,
    Bonus,
    Choose,
    DoublingReason,
    Go,
    GoBak,
    Phase,
    Play,
    Reason,
    Stop,
    View,
)
from engine.go_stop.weights import (
    ANY_BRIGHT,
    BRIGHT_PROGRESS,
    CUP_CHOICE,
    EACH_ANIMAL,
    EACH_JUNK_UNIT,
    EACH_RIBBON,
    LOST,
    RISE,
    RISK,
    RISK_OFFSET,
    SET_PROGRESS,
)

LEVELS: Final = (Level.EASY, Level.MEDIUM, Level.HARD, Level.EXPERT)
"""Weakest first."""
SEARCHING: Final = frozenset((Level.HARD, Level.EXPERT))

EASY_RANDOM_SHARE: Final = 0.4
"""How often the easy level plays any legal card instead of its best one."""

# How a turn is weighed.
_DENIAL: Final = 0.8
"""A point kept from the other player, who could have made it next."""
_EXPOSURE: Final = 1.0
"""A point laid open to the other player."""
_OWN_STACK: Final = 0.7
"""Share of a month's value while it lies as a ppuk whose fourth card is in the own hand (G10)."""
_KEPT_PAIR: Final = 0.4
"""Share of a pair's value when one half is laid down and nobody else can capture it."""

_MONTHS: Final = tuple(pile_of(card for card in CARDS if month(card) == number) for number in range(13))
"""The four cards of each month as a pile; the first entry is empty."""


def default_action(view: View) -> Action:
    """Stop if a decision is open, take the dearest card with the stock card, else play the cheapest hand card."""
    assert view.hand is not None, "a spectator has nothing to do"
    legal = legal_actions(view.table, view.hand)
    match view.table.phase:
        case Phase.DECIDE:
            return Stop()
        case Phase.CHOOSE:
            return max(legal, key=lambda action: _rank(action.take) if isinstance(action, Choose) else 0)
        case _:
            return min(legal, key=lambda action: _rank(action.card) if isinstance(action, Play) else 0)


def _rank(card: Card) -> int:
    """Cheap cards first."""
    kinds = (JUNK & ~DOUBLE_JUNK, RIBBONS, DOUBLE_JUNK, ANIMALS & ~CUP_PILE, CUP_PILE, BRIGHTS)
    return next(rank for rank, cards in enumerate(kinds) if BIT[card] & cards)


def think(view: View, legal: Sequence[Action], rng: Random, budget: Budget) -> Thought[Action]:
    """The choice of ``budget.level`` among ``legal`` (not empty): as far as one turn shows, or what a search found.

    No level plays at random with a score that is made: stop or go is always thought over.
    """
    assert legal, "there is nothing to choose from"
    assert budget.level in LEVELS, "go-stop does not play this level"
    if len(legal) == 1:
        return Thought(legal[0], reason=Message(Reason.ONLY_ACTION))
    outlook = _Outlook(view)
    guess = outlook.decide() if view.table.phase is Phase.DECIDE else outlook.choose(legal)
    if budget.level in SEARCHING:
        found = search(view, legal, guess.action, rng=rng, level=budget.level, rollouts=budget.rollouts)
        best = legal[found.best]
        return Thought(best, _table(legal, found.values), outlook.reason(best), searched=True)
    if budget.level is Level.EASY and view.table.phase is not Phase.DECIDE and rng.random() < EASY_RANDOM_SHARE:
        return Thought(rng.choice(legal), guess.values, Message(Reason.TRIES_SOMETHING))
    return guess


def _table(legal: Sequence[Action], values: Sequence[float]) -> dict[str, float]:
    """What each action is worth, for people to read."""
    return {text(action): round(value, 3) for action, value in zip(legal, values, strict=True)}


def worth(pile: int, rival: int) -> float:
    """What ``pile`` makes and promises against the other player's pile ``rival``."""
    promised = 0
    for row in SET_ROWS:
        if not rival & row.cards:
            promised += SET_PROGRESS[(pile & row.cards).bit_count()] * row.points
    brights = (pile & BRIGHTS).bit_count()
    if brights:
        promised += ANY_BRIGHT
        if (rival & BRIGHTS).bit_count() <= 2:
            promised += BRIGHT_PROGRESS[brights]
    promised += EACH_ANIMAL * (pile & ANIMALS).bit_count() + EACH_RIBBON * (pile & RIBBONS).bit_count()
    promised += EACH_JUNK_UNIT * junk_units(pile)
    if pile & CUP_PILE:
        promised += CUP_CHOICE
    return points(pile) + promised / 100


def _bits(pile: int) -> Iterator[int]:
    """The cards of ``pile``, each as a pile of its own."""
    while pile:
        lowest = pile & -pile
        yield lowest
        pile ^= lowest


class _Outlook:
    """A view as its player reads it, to weigh what can be done."""

    def __init__(self, view: View) -> None:
        assert view.viewer is not None, "a spectator has nothing to weigh"
        assert view.hand is not None, "a seat sees its own hand"
        self.table = table = view.table
        self.me = view.viewer
        self.rival = other(self.me)
        self.hand = pile_of(view.hand)
        self.last_turn = len(view.hand) == 1
        self.layout = pile_of(table.layout)
        self.mine = pile_of(table.captured[self.me])
        self.theirs = pile_of(table.captured[self.rival])
        self.revealed = 0
        if table.pending is not None and table.pending.revealed is not None:
            self.revealed = BIT[table.pending.revealed]
            if table.pending.matched:  # captured once the turn is settled (G5)
                self.mine |= pile_of((table.pending.card, *table.pending.matched))
        self.unseen = pile_of(unseen(table, (view.hand,)))
        unseen_count = self.unseen.bit_count()
        self.next_chance = 1 / unseen_count if unseen_count else 0.0
        """The chance of each unseen card to be the next stock card."""
        self.held_chance = table.hand_sizes[self.rival] * self.next_chance
        """The chance of each unseen card to be in the other player's hand."""
        self.my_worth = worth(self.mine, self.theirs)
        self.their_worth = worth(self.theirs, self.mine)

    # Gains ------------------------------------------------------------------------------------------------

    def gain(self, cards: int) -> float:
        """What capturing the pile ``cards`` is worth to this player."""
        return worth(self.mine | cards, self.theirs) - self.my_worth

    def rival_gain(self, cards: int) -> float:
        """What capturing the pile ``cards`` is worth to the other player."""
        return worth(self.theirs | cards, self.mine) - self.their_worth

    def junk_gain(self, owed: int) -> float:
        """What taking ``owed`` junk units from the other player is worth (G11)."""
        taken = pile_of(junk_to_take(self.table.captured[self.rival], owed))
        left = worth(self.theirs & ~taken, self.mine)
        return self.gain(taken) + _DENIAL * (self.their_worth - left)

    def rival_holds(self, number: int) -> float:
        """The chance that the other player holds a card of month ``number``."""
        return 1 - (1 - self.held_chance) ** (self.unseen & _MONTHS[number]).bit_count()

    # Weighing ---------------------------------------------------------------------------------------------

    def choose(self, legal: Sequence[Action]) -> Thought[Action]:
        """The best card, or the best one to take."""
        worths = [self.weigh(action) for action in legal]
        best = legal[worths.index(max(worths))]
        return Thought(best, _table(legal, worths), self.reason(best))

    def weigh(self, action: Action) -> float:
        """How good ``action`` is; comparable among the actions of one decision."""
        match action:
            case Play(card):
                return self._weigh_play(month(card), *self._capture(action))
            case Choose(take):
                denied = _DENIAL * self.rival_holds(month(take)) * self.rival_gain(BIT[take])
                return self.gain(self.revealed | BIT[take]) + denied
            case Stop() | Go():
                raise AssertionError("stop and go are not weighed against cards: see decide()")
            case _:
                assert_never(action)

    def _weigh_play(self, number: int, card: int, matched: int) -> float:
        if not matched:
            return self._weigh_discard(number, card)
        whole_month = _MONTHS[number]
        capture = self.gain(card | matched)
        denied = _DENIAL * self.rival_holds(number) * self.rival_gain(matched)
        if matched.bit_count() == 3:
            return capture + denied + self.junk_gain(2 if self._own_stack(number) else 1)
        surprise = (self.unseen & whole_month).bit_count() * self.next_chance
        if self.layout & whole_month == matched:
            together = self._ppuk(number, card)
        else:
            together = self.gain(whole_month) + (0.0 if self.last_turn else self.junk_gain(1))  # ttadak (G9)
        return (1 - surprise) * capture + surprise * together + denied

    def _weigh_discard(self, number: int, card: int) -> float:
        """A card that stays on the layout: a gift, a trap, or the first half of a pair."""
        partners = list(_bits(self.unseen & _MONTHS[number]))
        value = 0.0
        if partners:
            own = sum(self.gain(card | partner) for partner in partners) / len(partners)
            rivals = sum(self.rival_gain(card | partner) for partner in partners) / len(partners)
            chok = own + (0.0 if self.last_turn else self.junk_gain(1))  # G9
            value += len(partners) * self.next_chance * chok - _EXPOSURE * self.rival_holds(number) * rivals
        kept = self.hand & _MONTHS[number] & ~card
        if kept:
            best = max(self.gain(card | half) for half in _bits(kept))
            value += (1 - self.rival_holds(number)) * _KEPT_PAIR * best
        return value

    def _ppuk(self, number: int, card: int) -> float:
        """What a ppuk promises: its fourth card captures all and takes junk (G6, G10)."""
        if self.hand & _MONTHS[number] & ~card:
            return _OWN_STACK * (self.gain(_MONTHS[number]) + self.junk_gain(2))
        return (self.next_chance - _EXPOSURE * self.held_chance) * self.rival_gain(_MONTHS[number])

    def _own_stack(self, number: int) -> bool:
        return any(stack.month == number and stack.owner == self.me for stack in self.table.stacks)

    # Stop or go -------------------------------------------------------------------------------------------

    def decide(self) -> Thought[Action]:
        """Stop, or go when what may be added outweighs what may be lost (G15, G17)."""
        table = self.table
        paid = payment(
            table.options,
            winner=self.mine,
            loser=self.theirs,
            goes=table.goes[self.me],
            loser_goes=table.goes[self.rival],
            carry=table.carry,
        )
        doubled = {doubling.reason: doubling.factor for doubling in paid.doublings}
        lost = LOST * doubled.get(DoublingReason.NAGARI, 1) * (2 if table.options["go_bak"] == GoBak.ON else 1)
        more = after_goes(paid.score.points + RISE, paid.goes + 1) - paid.after_goes
        risk = self._risk()
        going = (1 - risk) * (paid.points + more) - risk * lost
        best = Go() if going > paid.points else Stop()
        return Thought(best, _table((Go(), Stop()), (going, paid.points)), self.reason(best))

    def _risk(self) -> float:
        """The chance that the other player stops first, by how far two captures from the layout leave them."""
        open_months = (number for number in range(1, 13) if self.layout & _MONTHS[number])
        reach = (points(self.theirs | (self.layout | self.unseen) & _MONTHS[number]) for number in open_months)
        now = points(self.theirs)
        rises = sorted((reached - now for reached in reach), reverse=True)
        missing = decision_threshold(self.table, self.rival) - now - sum(rises[:2])
        return RISK[max(0, min(missing + RISK_OFFSET, len(RISK) - 1))] / 1000

    # Reasons ----------------------------------------------------------------------------------------------

    def reason(self, action: Action) -> Message:
        """The chief reason for ``action``: what it makes, hinders, works towards or takes; else what it risks."""
        if isinstance(action, Stop | Go):
            code = Reason.GOES if action == Go() else Reason.STOPS
            return Message(code, {"points": self.table.scores[self.rival].points})
        card, matched = self._capture(action)
        if not matched:
            (discarded,) = cards_of(card)
            holders = (self.unseen & _MONTHS[month(discarded)]).bit_count()
            return Message(Reason.LAYS, {"card": discarded, "holders": holders})
        taken = card | matched
        completed = gains(score(self.mine), score(self.mine | taken))
        if completed:
            return Message(Reason.COMPLETES, {"combos": tuple(completed)})
        hindered = gains(score(self.theirs), score(self.theirs | taken))
        if hindered:
            return Message(Reason.DENIES, {"combo": hindered[0]})
        if matched.bit_count() == 3 and junk_to_take(self.table.captured[self.rival], 1):  # G11: there may be none
            own = isinstance(action, Play) and self._own_stack(month(action.card))
            return Message(Reason.TAKES_JUNK, {"bonus": Bonus.OWN_PPUK if own else Bonus.STACK})
        for row in SET_ROWS:
            have = ((self.mine | taken) & row.cards).bit_count()
            if taken & row.cards and not self.theirs & row.cards and have >= 2:
                return Message(Reason.WORKS_TOWARDS, {"combo": row.name, "have": have, "need": 3})
        return Message(Reason.CAPTURES, {"cards": cards_of(taken)})

    def _capture(self, action: Action) -> tuple[int, int]:
        """The capturing card of ``action`` and what it matches, as piles."""
        match action:
            case Play(card, None):
                return BIT[card], pile_of(matching(card, self.table.layout))
            case Play(card, take) if take is not None:
                return BIT[card], BIT[take]
            case Choose(take):
                return self.revealed, BIT[take]
            case _:
                raise AssertionError("stop and go capture nothing")
