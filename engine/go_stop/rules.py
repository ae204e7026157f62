"""The course of a deal: opening checks, what a player may do and why not, and what follows from it.

Belongs here: rules G1 to G19. What a combination is worth is ``scoring``'s, how events change the table is
``table``'s, who may see what is ``sight``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from engine.flowers import has_four_of_a_month, matching, month
from engine.game import Card, IllegalAction, Message, Options, Outcome, Seat, Step, Viewer
from engine.game import Why as AnyWhy
from engine.go_stop.scoring import BIT, gains, junk_to_take, payment, pile_of, score
from engine.go_stop.table import SEATS, follow, opened, other, with_item, without
from engine.go_stop.text import text
from engine.go_stop.types import (
    DECISION_POINTS,
    FIXED_POINTS,
    HAND_SIZE,
    LAYOUT_SIZE,
    PPUKS_TO_WIN,
    Action,
    Bonus,
    Captured,
    Choose,
    Dealt,
    DecisionAwaited,
    EndReason,
    Event,
    FourOfAMonth,
    Go,
    GoCalled,
    HandCardPlayed,
    JunkTaken,
    Nagari,
    Phase,
    Play,
    PpukMade,
    Redeal,
    RedealReason,
    ScoreChanged,
    SseulRule,
    State,
    StockCardLaid,
    StockCardRevealed,
    StockChoiceAwaited,
    Stop,
    Stopped,
    Table,
    ThreePpuk,
    TurnBegan,
    Why,
)

# The deal --------------------------------------------------------------------------------------------------------


def deal(options: Options, deck: Sequence[Card], first: Seat, carry: int) -> Step[State, Event]:
    """Ten cards to the first player, ten to the other, eight to the layout, the rest is the stock (G1)."""
    firsts, seconds, rest = deck[:HAND_SIZE], deck[HAND_SIZE : 2 * HAND_SIZE], deck[2 * HAND_SIZE :]
    in_order = tuple(in_card_order(cards) for cards in (firsts, seconds))
    hands = in_order if first == 0 else in_order[::-1]
    dealt = Dealt(dict(options), carry, first, hands, tuple(rest[:LAYOUT_SIZE]))
    course = _Course(State(opened(dealt), hands, tuple(rest[LAYOUT_SIZE:])))
    course.events.append(dealt)
    course.tell(opening(hands, dealt.layout) or TurnBegan(first))
    return course.step()


def in_card_order(cards: Sequence[Card]) -> tuple[Card, ...]:
    """``cards`` by card id."""
    return tuple(sorted(cards, key=BIT.__getitem__))


def opening(hands: Sequence[Sequence[Card]], layout: Sequence[Card]) -> Redeal | FourOfAMonth | None:
    """The opening checks on the dealt hands (by seat) and layout, in the order of G2."""
    on_layout = fours(layout)
    if on_layout:
        return Redeal(RedealReason.LAYOUT, layout=on_layout, hands=())
    in_hands = tuple(fours(hand) for hand in hands)
    if all(in_hands):
        return Redeal(RedealReason.BOTH_HANDS, layout=(), hands=in_hands)
    for seat in SEATS:
        if in_hands[seat]:
            return FourOfAMonth(seat, in_hands[seat], FIXED_POINTS)
    return None


def fours(cards: Sequence[Card]) -> tuple[Card, ...]:
    """The cards of every month of which all four are among ``cards``, in card-id order."""
    if not has_four_of_a_month(cards):
        return ()
    return in_card_order([card for card in cards if len(matching(card, cards)) == 4])


def outcome(table: Table) -> Outcome | None:
    """How the deal ended; the other player scores 0, whatever they had or called (G19)."""
    match table.ended:
        case None:
            return None
        case Redeal():
            return Outcome(EndReason.REDEAL, (0, 0))
        case Nagari():
            return Outcome(EndReason.NAGARI, (0, 0))
        case FourOfAMonth(seat, _, points):
            return Outcome(EndReason.FOUR_OF_A_MONTH, with_item((0, 0), seat, points))
        case ThreePpuk(seat, points):
            return Outcome(EndReason.THREE_PPUK, with_item((0, 0), seat, points))
        case Stopped(seat, paid):
            return Outcome(EndReason.STOP, with_item((0, 0), seat, paid.points))
        case _:
            assert_never(table.ended)


# What is allowed -------------------------------------------------------------------------------------------------


def legal(table: Table, hand: Sequence[Card]) -> tuple[Action, ...]:
    """What the player whose turn it is may do with ``hand``, sorted by text; nothing in a deal that is over."""
    match table.phase:
        case Phase.PLAY:
            plays: list[Action] = []
            for card in hand:
                takes = matching(card, table.layout)
                plays += [Play(card, take) for take in takes] if len(takes) == 2 else [Play(card)]
            return tuple(sorted(plays, key=text))
        case Phase.CHOOSE:
            return tuple(Choose(take) for take in sorted(_choices(table)))
        case Phase.DECIDE:
            return (Go(), Stop()) if hand else (Stop(),)  # G16
        case Phase.OVER:
            return ()
        case _:
            assert_never(table.phase)


def why(table: Table, viewer: Viewer, hand: Sequence[Card] | None, action: Action) -> Message | None:
    """What forbids ``action`` to ``viewer``, who holds ``hand`` (None: a spectator's); None when it is legal."""
    if table.phase is Phase.OVER:
        return Message(AnyWhy.DEAL_OVER)
    if viewer != table.turn or hand is None:
        return Message(AnyWhy.NOT_YOUR_TURN)
    match table.phase:
        case Phase.DECIDE:
            return _why_not_decide(table, hand, action)
        case Phase.CHOOSE:
            return _why_not_choose(table, action)
        case Phase.PLAY:
            return _why_not_play(table, hand, action)
        case _:
            assert_never(table.phase)


def _why_not_play(table: Table, hand: Sequence[Card], action: Action) -> Message | None:
    match action:
        case Choose():
            return Message(Why.NO_STOCK_CHOICE_OPEN)
        case Stop() | Go():
            return _no_decision(table)
        case Play(card, take):
            if card not in hand:
                return Message(AnyWhy.NOT_IN_HAND, {"card": card})
            matches = matching(card, table.layout)
            if len(matches) != 2:
                if take is None:
                    return None
                return Message(Why.TAKE_NOT_OPEN, {"card": card, "take": take, "matches": matches})
            if take is None:
                return Message(Why.TAKE_NEEDED, {"card": card, "among": matches})
            if take not in matches:
                return Message(Why.TAKE_NOT_MATCHING, {"card": card, "take": take, "among": matches})
            return None
        case _:
            assert_never(action)


def _why_not_choose(table: Table, action: Action) -> Message | None:
    among = _choices(table)
    match action:
        case Choose(take):
            if take in among:
                return None
            return Message(Why.NOT_AMONG, {"card": _revealed(table), "take": take, "among": among})
        case Play():
            return Message(Why.STOCK_CHOICE_OPEN, {"card": _revealed(table), "among": among})
        case Stop() | Go():
            return _no_decision(table)
        case _:
            assert_never(action)


def _why_not_decide(table: Table, hand: Sequence[Card], action: Action) -> Message | None:
    points = table.scores[table.turn].points
    match action:
        case Stop():
            return None
        case Go():
            return None if hand else Message(Why.ONLY_STOP, {"points": points})
        case Play():
            return Message(Why.DECISION_OPEN, {"points": points})
        case Choose():
            return Message(Why.NO_STOCK_CHOICE_OPEN)
        case _:
            assert_never(action)


def _no_decision(table: Table) -> Message:
    seat = table.turn
    return Message(
        Why.NO_DECISION_OPEN, {"points": table.scores[seat].points, "needed": decision_threshold(table, seat)}
    )


def decision_threshold(table: Table, seat: Seat) -> int:
    """The lowest combination score with which ``seat`` decides at the end of a turn (G15)."""
    return max(DECISION_POINTS, table.go_points[seat] + 1)


def _revealed(table: Table) -> Card:
    assert table.pending is not None, "no turn is under way"
    assert table.pending.revealed is not None, "no stock card was revealed"
    return table.pending.revealed


def _choices(table: Table) -> tuple[Card, ...]:
    return matching(_revealed(table), table.layout)


# What follows ----------------------------------------------------------------------------------------------------


def apply(state: State, seat: Seat, action: Action) -> Step[State, Event]:
    """Perform ``action`` for ``seat``.

    Raises:
        IllegalAction: the rules forbid it; carries what ``why`` says.
    """
    table = state.table
    refusal = why(table, seat, state.hands[seat], action)
    if refusal is not None:
        raise IllegalAction(refusal)
    course = _Course(state)
    match action:
        case Play(card, take):
            _play(course, card, take)
        case Choose(take):
            _settle(course, (take,))
        case Stop():
            _stop(course)
        case Go():
            course.tell(GoCalled(seat, table.goes[seat] + 1, table.scores[seat].points))
            course.tell(TurnBegan(other(seat)))
        case _:
            assert_never(action)
    return course.step()


class _Course:
    """A step under way: the state so far, and what has happened. It never outlives the call that made it."""

    def __init__(self, state: State) -> None:
        self.table = state.table
        self.hands = state.hands
        self.stock = state.stock
        self.events: list[Event] = []

    def tell(self, event: Event) -> None:
        """Let ``event`` happen on the table."""
        self.table = follow(self.table, event)
        self.events.append(event)

    def step(self) -> Step[State, Event]:
        return Step(State(self.table, self.hands, self.stock), tuple(self.events))


def _play(course: _Course, card: Card, take: Card | None) -> None:
    """The hand card (G4), then the stock card (G5), up to a choice or to the end of the turn."""
    seat = course.table.turn
    matched = matching(card, course.table.layout) if take is None else (take,)
    course.hands = with_item(course.hands, seat, without(course.hands[seat], (card,)))
    course.tell(HandCardPlayed(seat, card, matched))
    revealed, course.stock = course.stock[0], course.stock[1:]
    course.tell(StockCardRevealed(seat, revealed))
    # The pending pair no longer lies on the layout, so what is found here are the other cards of the month.
    stock_matched = matching(revealed, course.table.layout)
    if len(stock_matched) == 2:
        course.tell(StockChoiceAwaited(seat, revealed, stock_matched))
    else:
        _settle(course, stock_matched)


def _settle(course: _Course, stock_matched: tuple[Card, ...]) -> None:
    """Settle the turn's captures after both steps (G5): who gets what, what junk it takes, and who is next."""
    seat, pending = course.table.turn, course.table.pending
    assert pending is not None, "a turn was settled before a card was played"
    revealed = _revealed(course.table)
    same_month = month(revealed) == month(pending.card)
    if same_month and pending.matched and not stock_matched:
        _ppuk(course, (pending.card, *pending.matched, revealed))
        return
    owners = {stack.month: stack.owner for stack in course.table.stacks}
    ttadak = same_month and bool(pending.matched)
    if ttadak:
        course.tell(Captured(seat, (revealed, *stock_matched, pending.card, *pending.matched)))
    else:
        if pending.matched:
            course.tell(Captured(seat, (pending.card, *pending.matched)))
        if stock_matched:
            course.tell(Captured(seat, (revealed, *stock_matched)))
        else:
            course.tell(StockCardLaid(seat, revealed))

    # Two stacks in one turn are settled one after the other, the hand card's first (G10).
    for card, matched in ((pending.card, pending.matched), (revealed, stock_matched)):
        if len(matched) == 3:
            own = owners[month(card)] == seat
            _take_junk(course, Bonus.OWN_PPUK if own else Bonus.STACK, 2 if own else 1)
    if course.hands[seat]:  # G9: not in a player's last turn
        chok = same_month and not pending.matched  # G7
        swept = not course.table.layout
        # The narrow sseul (G8): each of the two steps captured one card, of different months, and nothing is left;
        # so the turn began with exactly these two.
        two_pairs = len(pending.matched) == len(stock_matched) == 1 and not same_month
        broad = course.table.options["sseul"] == SseulRule.BROAD
        if ttadak:
            _take_junk(course, Bonus.TTADAK, 1)
        if chok:
            _take_junk(course, Bonus.CHOK, 1)
        if swept and (broad or two_pairs):
            _take_junk(course, Bonus.SSEUL, 1)
    _tell_scores(course)
    _end_turn(course)


def _ppuk(course: _Course, cards: tuple[Card, ...]) -> None:
    """All three stay as a stack of this player (G6); the third time it ends the deal (G12)."""
    seat = course.table.turn
    count = course.table.ppuks[seat] + 1
    course.tell(PpukMade(seat, cards, count))
    if count == PPUKS_TO_WIN:
        course.tell(ThreePpuk(seat, FIXED_POINTS))
    else:
        _end_turn(course)


def _take_junk(course: _Course, bonus: Bonus, owed: int) -> None:
    """Take ``owed`` junk units from the other player (G9 to G11)."""
    seat = course.table.turn
    course.tell(JunkTaken(seat, bonus, owed, junk_to_take(course.table.captured[other(seat)], owed)))


def _tell_scores(course: _Course) -> None:
    """Score both players anew after captures and transfers (G14)."""
    for seat in (course.table.turn, other(course.table.turn)):
        before, now = course.table.scores[seat], score(pile_of(course.table.captured[seat]))
        if now != before:
            course.tell(ScoreChanged(seat, now, made=gains(before, now), lost=gains(now, before)))


def _end_turn(course: _Course) -> None:
    """A decision (G15), the other player's turn, or nagari (G19)."""
    seat, table = course.table.turn, course.table
    if table.scores[seat].points >= decision_threshold(table, seat):
        course.tell(DecisionAwaited(seat, table.scores[seat], only_stop=not course.hands[seat]))
    elif course.hands[other(seat)]:
        course.tell(TurnBegan(other(seat)))
    else:
        course.tell(Nagari(table.scores, table.goes))


def _stop(course: _Course) -> None:
    """Pay the player who stops (G17, G18)."""
    seat, table = course.table.turn, course.table
    loser = other(seat)
    paid = payment(
        table.options,
        winner=pile_of(table.captured[seat]),
        loser=pile_of(table.captured[loser]),
        goes=table.goes[seat],
        loser_goes=table.goes[loser],
        carry=table.carry,
    )
    course.tell(Stopped(seat, paid))
