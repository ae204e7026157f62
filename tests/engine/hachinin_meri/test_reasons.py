"""What a reason says of the cards is so: at every decision of the golden deals, and for whoever may see no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest

from engine.game import Budget, Card, Level, Message, Seat
from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri.cards import CARDS, TENKA, order
from engine.hachinin_meri.table import team
from engine.hachinin_meri.types import ConcealedRobai, Discard, HouseRules, Phase, Play, Reason, Suit, View
from engine.record import read_record
from tests.engine.hachinin_meri.positions import dealt

VECTORS = Path(__file__).parents[2] / "vectors" / "hachinin-meri.jsonl"
BUDGETS = {
    Level.MEDIUM: Budget(Level.MEDIUM),
    Level.HARD: Budget(Level.HARD, rollouts=40),  # enough to choose what medium would not
}


def views() -> Iterator[View]:
    """What every seat saw before every decision of every golden deal."""
    with VECTORS.open("rb") as file:
        for line in file:
            record = read_record(line, {GAME.name: GAME})
            state = GAME.deal(GAME.complete_options(record.options), record.deck, record.beginner, record.carry).state
            for step in record.steps:
                yield GAME.view(state, step.seat)
                state = GAME.apply(state, step.seat, GAME.parse(step.action)).state


@cache
def reasoned(level: Level) -> tuple[tuple[View, Card | None, Message], ...]:
    """Each of them, with the card that a level chose and its reason."""
    found = []
    for number, view in enumerate(views()):
        chosen = GAME.think(view, GAME.legal(view), Random(number), BUDGETS[level])
        card = chosen.action.card if isinstance(chosen.action, Discard | Play) else None
        assert chosen.reason is not None
        found.append((view, card, chosen.reason))
    return tuple(found)


def given(level: Level, *codes: Reason) -> list[tuple[View, Card, Message]]:
    """The cards chosen for one of these reasons."""
    cards = [(view, card, why) for view, card, why in reasoned(level) if why.code in codes and card is not None]
    assert cards, f"no golden decision is made for {codes}: nothing is tested"
    assert all(why.params["card"] == card for _, card, why in cards)
    return cards


class Sight:
    """A decision as a person at the table would read it, from the rules and nothing of the players' own."""

    def __init__(self, view: View) -> None:
        assert view.seat is not None
        table = view.table
        self.view = view
        self.trump = Suit(table.okie[0])
        self.trumps = order(self.trump, self.trump)
        trick = table.trick
        self.leader = None if trick is None else trick.leader
        self.shown = [] if trick is None else [card for card in trick.cards if card is not None]
        self.face_down = () if trick is None else trick.face_down
        gone = {*view.hand, table.discard, *(table.side or ())}
        gone.update(card for each in (*table.tricks, *([trick] if trick else [])) for card in each.cards)
        self.elsewhere = [card for card in CARDS if card not in gone]
        """Cards that others may hold or have face down."""

    def above(self, card: Card) -> tuple[Card, ...]:
        """All cards that beat ``card`` where it was led."""
        if card in self.trumps:
            return self.trumps[: self.trumps.index(card)]
        suit = self.suit(card)
        return (*self.trumps, *suit[: suit.index(card)])

    def suit(self, card: Card) -> tuple[Card, ...]:
        """The plain suit of a plain ``card``, high to low."""
        assert card not in self.trumps
        return order(Suit(card[0]), self.trump)

    def mine(self, card: Card) -> list[Card]:
        """The hand's cards of the plain suit of ``card``, high to low."""
        return [held for held in self.suit(card) if held in self.view.hand]

    def beats_the_shown(self, card: Card) -> bool:
        """Whether ``card`` is above all that lies face up (H15)."""
        top = self.top()
        if card in self.trumps or top in self.trumps:
            return card in self.above(top)
        return card[0] == top[0] and card in self.above(top)

    def top(self) -> Card:
        """The card that wins among those face up."""
        trumps = [card for card in self.trumps if card in self.shown]
        return trumps[0] if trumps else next(card for card in self.suit(self.shown[0]) if card in self.shown)

    def height(self, card: Card) -> tuple[bool, int]:
        """Plain cards below trumps, each in its suit from below."""
        cards = self.trumps if card in self.trumps else self.suit(card)
        return card in self.trumps, len(cards) - cards.index(card)


LEVELS = pytest.mark.parametrize("level", BUDGETS)


@LEVELS
def test_what_is_said_to_win_beats_every_card_face_up_and_no_trump_lies_above_a_plain_card(level: Level) -> None:
    for view, card, _ in given(level, Reason.WIN):
        sight = Sight(view)
        assert sight.beats_the_shown(card)
        assert card in sight.trumps or not sight.face_down


@LEVELS
def test_a_partner_who_is_said_to_have_the_trick_has_it_and_keeps_it(level: Level) -> None:
    for view, card, why in given(level, Reason.PARTNER_WINS):
        sight, partner = Sight(view), Seat(int(str(why.params["seat"])))
        assert view.seat is not None
        assert team(partner) == team(view.seat)
        assert partner != view.seat
        assert sight.leader is not None
        if sight.face_down:
            assert sight.face_down == (partner,), "nobody can tell which of two trumps is the higher"
            assert card not in sight.trumps
        else:
            assert view.table.trick is not None
            assert view.table.trick.cards[(partner - sight.leader) % 8] == sight.top()
            assert not sight.beats_the_shown(card)


@LEVELS
def test_the_lowest_that_may_be_played_is_the_lowest_and_does_not_win(level: Level) -> None:
    for view, card, _ in given(level, Reason.DUCK):
        sight = Sight(view)
        playable = [action.card for action in GAME.legal(view) if isinstance(action, Play)]
        assert sight.height(card) == min(map(sight.height, playable))
        assert sight.face_down or not sight.beats_the_shown(card)


@LEVELS
def test_the_last_of_a_suit_is_the_last_and_the_lowest_the_lowest(level: Level) -> None:
    for view, card, why in given(level, Reason.VOID, Reason.WEAKEST, Reason.LEAD_LOW):
        suit = Sight(view).mine(card)
        assert why.params["suit"] == card[0]
        assert suit[-1] == card
        assert why.code != Reason.VOID or len(suit) == 1
        assert (why.code == Reason.LEAD_LOW) == (view.table.phase is Phase.PLAYING and view.table.trick is None)


@LEVELS
def test_what_is_led_as_high_has_nothing_of_its_suit_above_it_in_other_hands(level: Level) -> None:
    for view, card, _ in given(level, Reason.LEAD_HIGH):
        sight = Sight(view)
        above = set(sight.above(card)) if card in sight.trumps else set(sight.above(card)) - set(sight.trumps)
        assert not above & set(sight.elsewhere)


@LEVELS
def test_a_trump_is_led_to_draw_others_only_while_others_may_hold_some(level: Level) -> None:
    for view, card, _ in given(level, Reason.LEAD_MERI):
        sight = Sight(view)
        assert view.table.trick is None
        assert card in sight.trumps
        assert set(sight.trumps) & set(sight.elsewhere)


def pairs(trump: Suit) -> dict[str, tuple[Card, Card]]:
    """H23: each combination's higher and lower card; Tenka is in none unless Pao is trump."""
    high = ["su", "un", "so", "ro", "re"]
    names = ["sun-un", "un-sota", "sota-robai", "robai-rei"]
    found = {name: (Card(trump + a), Card(trump + b)) for name, a, b in zip(names, high, high[1:], strict=False)}
    lowest = ("2", "1") if trump in (Suit.PAO, Suit.ISU) else ("8", "9")
    return {**found, "lowest": (Card(trump + lowest[0]), Card(trump + lowest[1]))}


@LEVELS
def test_a_combination_that_a_card_may_win_is_its_own_and_the_other_card_is_out(level: Level) -> None:
    for view, card, why in given(level, Reason.COMBINATION):
        sight = Sight(view)
        high, low = pairs(sight.trump)[str(why.params["pair"])]
        assert card == high
        assert low in sight.elsewhere
        assert sight.shown[0] not in sight.trumps, "Meri makes none"


@LEVELS
def test_a_card_that_is_kept_out_of_a_combination_is_its_lower_one_and_the_higher_is_out(level: Level) -> None:
    for view, card, why in given(level, Reason.PROTECT):
        sight = Sight(view)
        high, low = pairs(sight.trump)[str(why.params["pair"])]
        assert why.params["keep"] == low != card
        assert low in view.hand
        assert high in sight.elsewhere
        assert sight.shown[0] not in sight.trumps


@LEVELS
def test_what_is_kept_for_the_ninth_trick_is_the_trump_that_is_left(level: Level) -> None:
    for view, card, why in given(level, Reason.KEEP_LAST):
        assert set(view.hand) == {card, why.params["keep"]}
        assert why.params["keep"] in Sight(view).trumps


def test_a_trump_is_never_said_to_be_of_a_plain_suit() -> None:
    for level in BUDGETS:
        for view, card, why in reasoned(level):
            if "suit" in why.params:
                assert card is not None
                assert card != TENKA
                assert card[0] != view.table.okie[0]


def test_few_decisions_have_no_better_reason_than_that_a_card_is_missed_least() -> None:
    codes = Counter(why.code for _, _, why in reasoned(Level.MEDIUM) if why.code != Reason.FORCED)
    assert codes[Reason.SPARE] + codes[Reason.LEAD_BEST] < codes.total() / 10


@pytest.mark.parametrize("concealed", ConcealedRobai)
def test_concealment_is_given_as_the_reason_only_where_it_moves_five(concealed: ConcealedRobai) -> None:
    view = GAME.view(dealt("K5", {3: "Kro"}, house=HouseRules(concealed_robai=concealed)), Seat(3))
    rng = Random(1)
    thoughts = [GAME.think(view, GAME.legal(view), rng, BUDGETS[Level.MEDIUM]) for _ in range(400)]
    codes = {each.reason.code for each in thoughts if each.reason is not None}
    hides = Reason.KEEP_QUIET if concealed is ConcealedRobai.OFF else Reason.HIDE
    assert codes == {Reason.DECLARE, hides}
