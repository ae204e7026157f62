"""Koi-koi in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, assert_never

from clients.cli.words import N_, Lines, _, counted, listed
from clients.cli.words.flowers import KINDS, FlowerNames, fitting, holds, moved, pile
from clients.cli.words.game import GameWords
from clients.cli.words.people import People
from engine.flowers import matching
from engine.game import Card
from engine.koi_koi.scoring import BIT, BRIGHTS, COUNTS, RAIN_MAN, SETS, VIEWING_SETS, cards_of, mask_of
from engine.koi_koi.text import KOI, STOP
from engine.koi_koi.types import (
    BoardRedeal,
    Combination,
    DealDrawn,
    Dealt,
    Doubling,
    Ending,
    Event,
    HandPlayed,
    HandsRedeal,
    KoiCalled,
    Made,
    OnlyStop,
    Opening,
    OpeningScored,
    Phase,
    Reason,
    Standing,
    StockPlaced,
    StockTurned,
    Stopped,
    Table,
    View,
    Viewing,
    Why,
    Yaku,
    YakuMade,
)
from engine.registry import game_named

NAMES: Final = FlowerNames(
    (N_("willow"), N_("paulownia")),
    {
        "11b": N_("rain man"),
        "11a": N_("swallow"),
        "11r": N_("plain ribbon"),
        "11p": N_("lightning"),
        "12b": N_("phoenix"),
    },
    N_("plain"),
)

YAKU: Final[Mapping[str, str]] = {
    Yaku.FIVE_BRIGHTS: N_("five brights (gokō)"),
    Yaku.FOUR_BRIGHTS: N_("four brights (shikō)"),
    Yaku.RAINY_FOUR_BRIGHTS: N_("four brights with the rain man (ame-shikō)"),
    Yaku.THREE_BRIGHTS: N_("three brights (sankō)"),
    Yaku.FLOWER_VIEWING: N_("flower viewing (hanami-zake)"),
    Yaku.MOON_VIEWING: N_("moon viewing (tsukimi-zake)"),
    Yaku.BOAR_DEER_BUTTERFLY: N_("boar, deer, butterfly (inoshikachō)"),
    Yaku.POETRY_RIBBONS: N_("three poetry ribbons (akatan)"),
    Yaku.BLUE_RIBBONS: N_("three blue ribbons (aotan)"),
    Yaku.ANIMALS: N_("animals (tane)"),
    Yaku.RIBBONS: N_("ribbons (tan)"),
    Yaku.PLAINS: N_("plains (kasu)"),
}
DOUBLINGS: Final[Mapping[str, str]] = {
    Doubling.SEVEN_OR_MORE: N_("seven points or more"),
    Doubling.OPPONENT_CALLED: N_("the other player had called koi"),
}
ONLY_STOP: Final[Mapping[OnlyStop, str]] = {
    OnlyStop.HAND_EMPTY: N_("the hand is empty, so only stop is open"),
    OnlyStop.ONE_CALL: N_("there is one call only, so only stop is open"),
}
OPENINGS: Final[Mapping[Combination, str]] = {
    Combination.FOUR_OF_A_MONTH: N_("four of a month (teshi)"),
    Combination.FOUR_PAIRS: N_("four pairs (kuttsuki)"),
}


WHY: Final[Mapping[str, str]] = {
    Why.TARGET_NEEDED: N_("Two board cards match {card}. Say which one it takes: {targets}."),
    Why.WRONG_TARGET: N_("{card} does not take {take}. It can take: {targets}."),
    Why.NO_TARGET_TO_NAME: N_("There is no choice for {card} (it matches: {matching}); play it without naming a card."),
    Why.CHOICE_OPEN: N_("First choose what the turned card {card} takes: {targets}."),
    Why.NO_CHOICE_OPEN: N_("No turned card waits for a choice."),
    Why.DECISION_OPEN: N_("First decide about your {total} points: {choices}."),
    Why.NO_DECISION_OPEN: N_("Stop and koi are open only when your points rose in this turn. You have {total}."),
    Why.HAND_EMPTY: N_("Your hand is empty: only stop is open."),
    Why.ONE_CALL: N_("You have had your one call: only stop is open."),
}
REASONS: Final[Mapping[str, str]] = {
    Reason.ONLY_MOVE: N_("There is nothing else to do."),
    Reason.AT_RANDOM: N_("A careless move."),
    Reason.COMPLETES: N_("It makes {yaku}; points gained: {points}."),
    Reason.DENIES: N_("It takes cards that the other player could use for {yaku}: {cards}."),
    Reason.BUILDS: N_("It works towards {yaku} with {cards}; still needed: {missing}."),
    Reason.CAPTURES: N_("Of what can be taken this is worth most: {cards}."),
    Reason.LAYS: N_("Nothing that can be taken is worth more than to lay down {card}."),
    Reason.TAKES_POINTS: N_("The {score} points now are worth more than what playing on promises."),
    Reason.HOPES_FOR_MORE: N_("Playing on promises more than the {score} points now."),
}
ENDINGS: Final[Mapping[str, str]] = {
    Ending.STOP: N_("stopped"),
    Ending.DRAW: N_("a draw"),
    Ending.REDEAL: N_("to be dealt again"),
    Ending.FOUR_OF_A_MONTH: N_("four of a month in a dealt hand"),
    Ending.FOUR_PAIRS: N_("four pairs in a dealt hand"),
}


# What happened ----------------------------------------------------------------------------------------


def _event(event: Event, people: People) -> Lines:
    match event:
        case Dealt(first=first):
            return (people.say(first, N_("You begin."), N_("{who} begins.")),)
        case BoardRedeal(board=board):
            told = _("The board cannot be played on: {what}. The cards are dealt anew.")
            return (told.format(what=_opening(board)),)
        case HandsRedeal(openings=openings):
            shown = (
                people.say(seat, N_("You hold {what}."), N_("{who} holds {what}."), what=_opening(opening))
                for seat, opening in enumerate(openings)
            )
            return (*shown, _("Both hands would win at once: the cards are dealt anew."))
        case OpeningScored(seat=seat, opening=opening, hand=hand, score=score):
            you = N_("You were dealt {what}: {score} points at once, the deal is over.")
            other = N_("{who} was dealt {what}: {score} points at once, the deal is over.")
            told = people.say(seat, you, other, what=_opening(opening), score=score)
            return (told, _("The hand: {cards}").format(cards=NAMES.all(hand)))
        case HandPlayed(seat=seat, card=card, taken=taken):
            return (_played(people, seat, card, taken),)
        case StockTurned(card=card, choices=choices):
            turned = _("From the stock: {card}").format(card=NAMES.coded(card))
            return (f"  {turned} ({_('which of two?')} {' '.join(choices)})" if choices else f"  {turned}",)
        case StockPlaced(card=card, taken=taken):
            return (f"  {_placed(card, taken)}",)
        case YakuMade():
            return _yaku_made(event, people)
        case KoiCalled(seat=seat, calls=calls):
            times = f" ({_('call')} {calls})" if calls > 1 else ""
            return (people.say(seat, N_("You call KOI and play on."), N_("{who} calls KOI and plays on.")) + times,)
        case Stopped(seat=seat, standing=standing, unclaimed=unclaimed):
            told = people.say(seat, N_("You stop."), N_("{who} stops."))
            lost = _("The other player had {points} points unclaimed.").format(points=unclaimed.total)
            return (told, *_account(standing), *((lost,) if unclaimed.total else ()))
        case DealDrawn(unclaimed=unclaimed):
            would = (
                people.say(seat, N_("You would have had {n}."), N_("{who} would have had {n}."), n=standing.score)
                for seat, standing in enumerate(unclaimed)
                if standing.total
            )
            return (_("All cards are played and nobody stopped: a draw, nobody scores."), *would)
        case _:
            assert_never(event)


# The table --------------------------------------------------------------------------------------------


def _table(view: View, people: People) -> Lines:
    table = view.table
    lines = [*_score(view, people), _("Board ({n} left in the stock):").format(n=table.stock)]
    lines += NAMES.layout(table.board, {})
    if table.turned is not None:
        lines.append(_("Turned from the stock: {card}").format(card=NAMES.coded(table.turned)))
    for seat, hand in enumerate(table.shown):
        if hand is not None and seat != people.you:
            lines.append(_("{who} holds {cards}.").format(who=people.name(seat), cards=NAMES.all(hand)))
    return tuple(lines)


def _hand(view: View) -> Lines:
    return () if view.hand is None else (_("Your hand:"), *NAMES.hand(view.hand, view.table.board))


def _score(view: View, people: People) -> Lines:
    return tuple(line for seat in (0, 1) for line in _player(view.table, seat, people))


def _player(table: Table, seat: int, people: People) -> Lines:
    head = holds(table.hand_sizes[seat], seat, people)
    calls = counted(table.calls[seat], ", called koi", ", called koi {n} times") if table.calls[seat] else ""
    lines = [_("{head}. Captured: {pile}").format(head=head + calls, pile=pile(table.captured[seat], KINDS))]
    lines += _account(table.standings[seat])
    towards = _towards(table, seat)
    if towards:
        lines.append(_("  on the way: {yaku}").format(yaku=" · ".join(towards)))
    return tuple(lines)


# The decision -------------------------------------------------------------------------------------------------


def _question(view: View) -> str:
    table = view.table
    match table.phase:
        case Phase.CHOOSE:
            assert table.turned is not None
            return _("Which card does {card} from the stock take?").format(card=NAMES.coded(table.turned))
        case Phase.DECIDE:
            standing = table.standings[table.turn]
            text = counted(
                standing.total,
                "You have {n} point; a stop scores {score}. Stop, or koi?",
                "You have {n} points; a stop scores {score}. Stop, or koi?",
                score=standing.score,
            )
            return text if table.only_stop is None else f"{text} ({_(ONLY_STOP[table.only_stop])})"
        case _:
            return _("Your turn: play a card.")


def _move(action: str, view: View) -> str:
    table = view.table
    if action == STOP:
        return _("take {score} points; the deal ends").format(score=table.standings[table.turn].score)
    if action == KOI:
        return _("play on for more; nothing is claimed yet")
    card, _star, take = action.partition("*")
    if not card:
        return _("takes {take}").format(take=NAMES.coded(Card(take)))
    taken = (Card(take),) if take else matching(Card(card), table.board)
    if not taken:
        return _("{card}; stays on the board").format(card=NAMES.name(Card(card)))
    return _("{card}; takes {take}").format(card=NAMES.name(Card(card)), take=NAMES.pictures(taken))


# Pieces -------------------------------------------------------------------------------------------------------


def _opening(opening: Opening) -> str:
    return f"{_(OPENINGS[opening.combination])}: {NAMES.all(opening.cards)}"


def _played(people: People, seat: int, card: Card, taken: tuple[Card, ...]) -> str:
    if taken:
        you, other = N_("You play {card} and take {taken}."), N_("{who} plays {card} and takes {taken}.")
        return people.say(seat, you, other, card=NAMES.coded(card), taken=NAMES.all(taken))
    you, other = N_("You play {card}; it stays on the board."), N_("{who} plays {card}; it stays on the board.")
    return people.say(seat, you, other, card=NAMES.coded(card))


def _placed(card: Card, taken: tuple[Card, ...]) -> str:
    if taken:
        return _("{card} takes {taken}.").format(card=card, taken=NAMES.all(taken))
    return _("{card} stays on the board.").format(card=card)


def _made(made: Made) -> str:
    return _("{yaku} +{points}").format(yaku=_(YAKU[made.yaku]), points=made.points)


def _yaku_made(event: YakuMade, people: People) -> Lines:
    you, other = N_("You have a yaku: {gained}."), N_("{who} has a yaku: {gained}.")
    lines = [people.say(event.seat, you, other, gained=listed(map(_made, event.gained)))]
    if event.lost:
        replaced = listed(_(YAKU[yaku]) for yaku in event.lost)
        lines.append(_("  in place of {lost}").format(lost=replaced))
    lines.append(
        _("  Points in all: {total}; a stop scores {score}.").format(
            total=event.standing.total, score=event.standing.score
        )
    )
    return tuple(lines)


def yaku_in_brief(event: YakuMade, people: People, columns: int) -> str:
    """Who has which yaku and how many points, for where there is little room."""
    you, other = N_("You have {gained}; {total} points in all."), N_("{who} has {gained}; {total} points in all.")

    def say(gained: str) -> str:
        return people.say(event.seat, you, other, gained=gained, total=event.standing.total)

    return fitting(say, tuple(map(_made, event.gained)), columns)


def turn_in_brief(events: Sequence[Event], people: People) -> str:
    """A turn so far, for where there is little room; ``events`` from the hand card on."""
    who = played = turned = ""
    for event in events:
        match event:
            case HandPlayed(seat=seat, card=card, taken=taken):
                who, played = people.called(seat), moved(card, taken)
            case StockTurned(card=card):
                turned = str(card)
            case StockPlaced(card=card, taken=taken):
                turned = moved(card, taken)
            case _:
                pass
    told = _("{who}: {played}; stock: {turned}") if turned else _("{who}: {played}")
    return told.format(who=who, played=played, turned=turned)


def _account(standing: Standing) -> Lines:
    """How a score comes about."""
    lines = [f"  {_made(made)}  ({' '.join(made.cards)})" for made in standing.yaku]
    if standing.doublings:
        reasons = listed(_(DOUBLINGS[doubling]) for doubling in standing.doublings)
        calculation = " × ".join([str(standing.total), *("2" for _each in standing.doublings)])
        lines.append(
            _("  doubled: {reasons}: {sum} = {score}").format(reasons=reasons, sum=calculation, score=standing.score)
        )
    elif len(standing.yaku) > 1:
        lines.append(_("  together {total}").format(total=standing.total))
    return tuple(lines)


def _towards(table: Table, seat: int) -> list[str]:
    """Yaku that are close and still possible: ``2 of 3 poetry ribbons``."""
    mine, theirs = (mask_of(table.captured[each]) for each in (seat, 1 - seat))
    close = []
    sets = SETS if table.rules.viewing is Viewing.OFF else (*SETS, *VIEWING_SETS)
    for each in sets:
        have, size = (mine & each.cards).bit_count(), each.cards.bit_count()
        if size - have == 1 and not theirs & each.cards:
            missing = " ".join(cards_of(each.cards & ~mine))
            close.append(
                _("{have} of {size} {yaku}, {missing} missing").format(
                    have=have, size=size, yaku=_(YAKU[each.yaku]), missing=missing
                )
            )
    for count in COUNTS:
        have = (mine & count.cards).bit_count()
        left = (count.cards & ~theirs).bit_count()
        if count.least - 2 <= have < count.least <= left:
            close.append(_("{have} of {size} {yaku}").format(have=have, size=count.least, yaku=_(YAKU[count.yaku])))
    dry = BRIGHTS & ~BIT[RAIN_MAN]  # the first bright yaku wants three without the rain man
    if (mine & dry).bit_count() == 2 and (dry & ~theirs).bit_count() >= 3:
        close.append(_("{have} of {size} {yaku}").format(have=2, size=3, yaku=_("brights")))
    return close


WORDS: Final = GameWords(
    game=game_named("koi-koi"),
    title=N_("Koi-koi"),
    card=NAMES.coded,
    event=_event,
    table=_table,
    hand=_hand,
    moves_show_hand=lambda view: view.table.phase is Phase.PLAY,
    score=_score,
    question=_question,
    move=_move,
    codes={"yaku": YAKU},
    why=WHY,
    reasons=REASONS,
    endings=ENDINGS,
)
