"""Go-stop in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, assert_never

from clients.cli.words import N_, Lines, _, counted, listed
from clients.cli.words.flowers import JUNK_KINDS, FlowerNames, fitting, holds, moved, pile
from clients.cli.words.game import GameWords
from clients.cli.words.people import People
from engine.flowers import matching, month
from engine.game import Card
from engine.go_stop.types import (
    Bonus,
    Captured,
    Combination,
    Combo,
    Dealt,
    DecisionAwaited,
    DoublingReason,
    EndReason,
    Event,
    FourOfAMonth,
    GoCalled,
    HandCardPlayed,
    JunkTaken,
    Nagari,
    Payment,
    Phase,
    PpukMade,
    Reason,
    Redeal,
    RedealReason,
    Score,
    ScoreChanged,
    StockCardLaid,
    StockCardRevealed,
    StockChoiceAwaited,
    Stopped,
    Table,
    ThreePpuk,
    TurnBegan,
    View,
    Why,
)
from engine.registry import game_named

NAMES: Final = FlowerNames(
    (N_("paulownia"), N_("rain")),
    {
        "11b": N_("phoenix"),
        "11p": N_("coloured junk (double)"),
        "12b": N_("bright"),
        "12a": N_("swallow"),
        "12r": N_("plain ribbon"),
        "12p": N_("lightning (double junk)"),
    },
    N_("junk"),
)

COMBOS: Final[Mapping[str, str]] = {
    Combo.FIVE_BRIGHTS: N_("five brights (ogwang)"),
    Combo.FOUR_BRIGHTS: N_("four brights (sagwang)"),
    Combo.THREE_BRIGHTS: N_("three brights (samgwang)"),
    Combo.RAIN_THREE_BRIGHTS: N_("three brights with the rain (bi-samgwang)"),
    Combo.ANIMALS: N_("animals (yeol)"),
    Combo.GODORI: N_("five birds (godori)"),
    Combo.RIBBONS: N_("ribbons (tti)"),
    Combo.RED_POETRY: N_("red poetry ribbons (hongdan)"),
    Combo.BLUE: N_("blue ribbons (cheongdan)"),
    Combo.PLAIN_RED: N_("plain red ribbons (chodan)"),
    Combo.JUNK: N_("junk (pi)"),
}
BONUSES: Final[Mapping[str, str]] = {
    Bonus.TTADAK: N_("ttadak: all four of the month"),
    Bonus.CHOK: N_("chok: the stock card took the card just laid"),
    Bonus.SSEUL: N_("sseul: the layout was swept"),
    Bonus.STACK: N_("a stack of three was captured"),
    Bonus.OWN_PPUK: N_("the player's own ppuk was captured"),
}
DOUBLINGS: Final[Mapping[str, str]] = {
    DoublingReason.NO_BRIGHTS: N_("scored brights against none (gwang-bak)"),
    DoublingReason.SEVEN_ANIMALS: N_("seven animals or more (meong-bak)"),
    DoublingReason.FEW_JUNK: N_("scored junk against too little (pi-bak)"),
    DoublingReason.GO_BAK: N_("the other player had called go (go-bak)"),
    DoublingReason.NAGARI: N_("drawn deals before this one (nagari)"),
}
WHY: Final[Mapping[str, str]] = {
    Why.TAKE_NEEDED: N_("Two layout cards match {card}. Say which one it takes: {among}."),
    Why.TAKE_NOT_MATCHING: N_("{card} does not take {take}. It can take: {among}."),
    Why.TAKE_NOT_OPEN: N_("There is no choice for {card} (it matches: {matches}); play it without naming a card."),
    Why.STOCK_CHOICE_OPEN: N_("First choose what the stock card {card} takes: {among}."),
    Why.NOT_AMONG: N_("The stock card {card} does not take {take}. It can take: {among}."),
    Why.NO_STOCK_CHOICE_OPEN: N_("No stock card waits for a choice."),
    Why.DECISION_OPEN: N_("First decide about your {points} points: stop or go."),
    Why.NO_DECISION_OPEN: N_(
        "Stop and go are open only after a turn with enough points: you have {points} of {needed}."
    ),
    Why.ONLY_STOP: N_("Your hand is empty: only stop is open, for your {points} points."),
}
REASONS: Final[Mapping[str, str]] = {
    Reason.ONLY_ACTION: N_("There is nothing else to do."),
    Reason.TRIES_SOMETHING: N_("A careless move."),
    Reason.COMPLETES: N_("It makes or raises {combos}."),
    Reason.WORKS_TOWARDS: N_("It works towards {combo}: {have} of {need}."),
    Reason.DENIES: N_("It takes cards that the other player could use for {combo}."),
    Reason.TAKES_JUNK: N_("It takes junk from the other player: {bonus}."),
    Reason.CAPTURES: N_("Of what can be taken this is worth most: {cards}."),
    Reason.LAYS: N_("Nothing that can be taken is worth more than to lay down {card}."),
    Reason.STOPS: N_("To stop now is worth more than to go on (points of the other player: {points})."),
    Reason.GOES: N_("To go on promises more than to stop (points of the other player: {points})."),
}
ENDINGS: Final[Mapping[str, str]] = {
    EndReason.STOP: N_("stopped"),
    EndReason.NAGARI: N_("nagari, a draw"),
    EndReason.REDEAL: N_("to be dealt again"),
    EndReason.FOUR_OF_A_MONTH: N_("four of a month in a dealt hand"),
    EndReason.THREE_PPUK: N_("a third ppuk"),
}


def _event(event: Event, people: People) -> Lines:
    match event:
        case Dealt(first=first, carry=carry):
            told = people.say(first, N_("You begin."), N_("{who} begins."))
            nagari = counted(carry, "A nagari stands: this deal counts double.", "{n} nagari stand.")
            return (told, nagari) if carry else (told,)
        case Redeal(why=RedealReason.LAYOUT, layout=layout):
            return (_("Four of a month lie on the layout ({cards}): dealt anew.").format(cards=NAMES.all(layout)),)
        case Redeal(hands=hands):
            shown = (
                people.say(seat, N_("You hold {cards}."), N_("{who} holds {cards}."), cards=NAMES.all(cards))
                for seat, cards in enumerate(hands)
            )
            return (*shown, _("Both hands hold four of a month: dealt anew."))
        case FourOfAMonth(seat=seat, cards=cards, points=points):
            you = N_("You were dealt four of a month: {points} points at once, the deal is over.")
            other = N_("{who} was dealt four of a month: {points} points at once, the deal is over.")
            return (people.say(seat, you, other, points=points), NAMES.all(cards))
        case TurnBegan():
            return ()
        case HandCardPlayed(seat=seat, card=card, matched=matched):
            return (_played(people, seat, card, matched),)
        case StockCardRevealed(card=card):
            return (_("  From the stock: {card}").format(card=NAMES.coded(card)),)
        case StockChoiceAwaited(among=among):
            return (_("  It can take one of two: {cards}").format(cards=NAMES.all(among)),)
        case StockCardLaid(card=card):
            return (_("  {card} stays on the layout.").format(card=card),)
        case Captured(seat=seat, cards=cards):
            you, other = N_("  You capture {cards}."), N_("  {who} captures {cards}.")
            return (people.say(seat, you, other, cards=" ".join(cards)),)
        case PpukMade(seat=seat, cards=cards, count=count):
            you = N_("  PPUK! {cards} stay as a stack of yours (your ppuk no. {count}).")
            other = N_("  PPUK! {cards} stay as a stack of {who} (their ppuk no. {count}).")
            return (people.say(seat, you, other, cards=" ".join(cards), count=count),)
        case ThreePpuk(seat=seat, points=points):
            you = N_("Your third ppuk: {points} points at once, the deal is over.")
            other = N_("The third ppuk of {who}: {points} points at once, the deal is over.")
            return (people.say(seat, you, other, points=points),)
        case JunkTaken():
            return _junk_taken(event, people)
        case ScoreChanged():
            return _score_changed(event, people)
        case DecisionAwaited(seat=seat, score=score, only_stop=only_stop):
            you, other = N_("You have {n} points: stop or go?"), N_("{who} has {n} points and decides: stop or go.")
            forced = N_("Your hand is empty: you stop with {n}."), N_("{who} has no cards left and stops with {n}.")
            return (people.say(seat, *(forced if only_stop else (you, other)), n=score.points),)
        case GoCalled(seat=seat, count=count, points=points):
            you = N_("You call GO (no. {count}) with {points} points.")
            return (
                people.say(
                    seat, you, N_("{who} calls GO (no. {count}) with {points} points."), count=count, points=points
                ),
            )
        case Stopped(seat=seat, payment=payment):
            return (people.say(seat, N_("You stop."), N_("{who} stops.")), *_account(payment))
        case Nagari(scores=scores):
            would = (
                people.say(seat, N_("You had {n} unclaimed."), N_("{who} had {n} unclaimed."), n=score.points)
                for seat, score in enumerate(scores)
                if score.points
            )
            return (_("All cards are played and nobody stopped: nagari, nobody scores."), *would)
        case _:
            assert_never(event)


def _played(people: People, seat: int, card: Card, matched: tuple[Card, ...]) -> str:
    name = NAMES.coded(card)
    if not matched:
        you, other = N_("You play {card}; nothing matches."), N_("{who} plays {card}; nothing matches.")
        return people.say(seat, you, other, card=name)
    you, other = N_("You play {card} onto {cards}."), N_("{who} plays {card} onto {cards}.")
    return people.say(seat, you, other, card=name, cards=NAMES.all(matched))


def _junk_taken(event: JunkTaken, people: People) -> Lines:
    why = _(BONUSES[event.bonus])
    if not event.cards:
        return (_("  {why}; but there is no junk to take.").format(why=why),)
    you = N_("  {why}: you take {cards} from the other player.")
    other = N_("  {why}: {who} takes {cards} from the other player.")
    return (people.say(event.seat, you, other, why=why, cards=NAMES.all(event.cards)),)


def junk_in_brief(event: JunkTaken, people: People) -> str:
    """Who takes junk and why, for where there is little room."""
    if not event.cards:
        return _junk_taken(event, people)[0].strip()
    you, other = N_("{why}: you take {cards}."), N_("{why}: {who} takes {cards}.")
    return people.say(event.seat, you, other, why=_(BONUSES[event.bonus]), cards=" ".join(event.cards))


def score_in_brief(event: ScoreChanged, people: People, columns: int) -> str:
    """What somebody's combinations have become, for where there is little room."""
    return fitting(lambda parts: _score_of(event, parts, people).strip(), _changes(event), columns)


def turn_in_brief(events: Sequence[Event], people: People) -> str:
    """A turn so far, for where there is little room; ``events`` from the hand card on."""
    who = played = turned = ""
    taken: list[Card] = []
    for event in events:
        match event:
            case HandCardPlayed(seat=seat, card=card, matched=matched):
                who = people.called(seat)
                onto = _("{card} onto {cards}").format(card=card, cards=" ".join(matched))
                played = onto if matched else moved(card, ())
            case StockCardRevealed(card=card):
                turned = str(card)
            case StockCardLaid(card=card):
                turned = moved(card, ())
            case Captured(cards=cards):
                taken += cards
            case _:
                pass
    if not turned:
        return _("{who}: {played}").format(who=who, played=played)
    told = _("{who}: {played}; stock: {turned}; captured: {taken}") if taken else _("{who}: {played}; stock: {turned}")
    return told.format(who=who, played=played, turned=turned, taken=" ".join(taken))


def _score_changed(event: ScoreChanged, people: People) -> Lines:
    return (_score_of(event, listed(_changes(event)), people),)


def _changes(event: ScoreChanged) -> list[str]:
    score = event.score
    parts = [_combination(each) for each in score.combinations if each.name in event.made]
    gone = {each.name for each in score.combinations}
    parts += [
        (_("{combo} is worth less") if name in gone else _("{combo} is lost")).format(combo=_(COMBOS[name]))
        for name in event.lost
    ]
    return parts


def _score_of(event: ScoreChanged, parts: str, people: People) -> str:
    you, other = N_("  You: {parts}; points in all: {n}."), N_("  {who}: {parts}; points in all: {n}.")
    return people.say(event.seat, you, other, parts=parts, n=event.score.points)


# The table ----------------------------------------------------------------------------------------------------


def _table(view: View, people: People) -> Lines:
    table = view.table
    lines = [*_score(view, people), _("Layout ({n} left in the stock):").format(n=table.stock_left)]
    notes = {stack.month: _stack(stack.owner, people) for stack in table.stacks}
    lines += NAMES.layout(table.layout, notes)
    if table.pending is not None:
        pending = " ".join((table.pending.card, *table.pending.matched))
        lines.append(_("In this turn so far: {cards}").format(cards=pending))
    return tuple(lines)


def _hand(view: View) -> Lines:
    return () if view.hand is None else (_("Your hand:"), *NAMES.hand(view.hand, view.table.layout))


def _stack(owner: int | None, people: People) -> str:
    if owner is None:
        return _("a stack of three")
    return people.say(owner, N_("your ppuk"), N_("ppuk of {who}"))


def _score(view: View, people: People) -> Lines:
    return tuple(line for seat in (0, 1) for line in _player(view.table, seat, people))


def _player(table: Table, seat: int, people: People) -> Lines:
    head = holds(table.hand_sizes[seat], seat, people)
    marks = []
    if table.goes[seat]:
        marks.append(_("{n}× go, at {points}").format(n=table.goes[seat], points=table.go_points[seat]))
    if table.ppuks[seat]:
        marks.append(_("{n}× ppuk").format(n=table.ppuks[seat]))
    if marks:
        head = f"{head} ({listed(marks)})"
    lines = [_("{head}. Captured: {pile}").format(head=head, pile=pile(table.captured[seat], JUNK_KINDS))]
    score = table.scores[seat]
    if score.combinations:
        lines.append(_("  {parts}; points: {n}").format(parts=_combinations(score), n=score.points))
    if score.cup_is_junk:
        lines.append(_("  the sake cup counts as double junk"))
    return tuple(lines)


def _combinations(score: Score) -> str:
    return listed(map(_combination, score.combinations))


def _combination(combination: Combination) -> str:
    name = _(COMBOS[combination.name])
    if combination.name in (Combo.ANIMALS, Combo.RIBBONS, Combo.JUNK):
        return _("{count} {name} +{points}").format(count=combination.count, name=name, points=combination.points)
    return _("{name} +{points}").format(name=name, points=combination.points)


def _account(payment: Payment) -> Lines:
    """How a payment comes about (G17, G18)."""
    lines = [f"  {_combination(each)}" for each in payment.score.combinations]
    lines.append(_("  combination score {n}").format(n=payment.score.points))
    if payment.goes:
        lines.append(_("  with {goes}× go: {n}").format(goes=payment.goes, n=payment.after_goes))
    running = payment.after_goes
    for doubling in payment.doublings:
        running *= doubling.factor
        lines.append(
            _("  ×{factor}: {why}: {n}").format(factor=doubling.factor, why=_(DOUBLINGS[doubling.reason]), n=running)
        )
    return (*lines, _("  paid: {n}").format(n=payment.points))


# The decision -------------------------------------------------------------------------------------------------


def _question(view: View) -> str:
    table = view.table
    match table.phase:
        case Phase.CHOOSE:
            assert table.pending is not None
            assert table.pending.revealed is not None
            return _("Which card does {card} from the stock take?").format(card=NAMES.coded(table.pending.revealed))
        case Phase.DECIDE:
            score = table.scores[table.turn]
            return _("Stop or go? You have {n} points: {parts}").format(n=score.points, parts=_combinations(score))
        case _:
            return _("Your turn: play a card.")


def _move(action: str, view: View) -> str:
    if action == "stop":
        return _("be paid; the deal ends")
    if action == "go":
        return _("play on for more")
    card, _star, take = action.partition("*")
    if not card:
        return _("takes {take}").format(take=NAMES.coded(Card(take)))
    name = NAMES.name(Card(card))
    taken = (Card(take),) if take else matching(Card(card), view.table.layout)
    if not taken:
        return _("{card}; nothing matches").format(card=name)
    if any(stack.month == month(Card(card)) for stack in view.table.stacks):
        return _("{card}; takes the stack {take}").format(card=name, take=" ".join(taken))
    return _("{card}; onto {take}").format(card=name, take=NAMES.pictures(taken))


WORDS: Final = GameWords(
    game=game_named("go-stop"),
    title=N_("Go-stop"),
    card=NAMES.coded,
    event=_event,
    table=_table,
    hand=_hand,
    moves_show_hand=lambda view: view.table.phase is Phase.PLAY,
    score=_score,
    question=_question,
    move=_move,
    codes={"combo": COMBOS, "combos": COMBOS, "bonus": BONUSES},
    why=WHY,
    reasons=REASONS,
    endings=ENDINGS,
)
