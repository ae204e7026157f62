"""Hachinin Meri in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, assert_never

from clients.cli.words import N_, Lines, _, counted, listed, sentences
from clients.cli.words.game import GameWords
from clients.cli.words.people import People, team_name
from engine.game import Card, Seat
from engine.hachinin_meri.cards import LONG, TENKA, TRUMPS, best, native_robai, order
from engine.hachinin_meri.types import (
    SEATS,
    TRICKS,
    AnyEvent,
    AsideShown,
    CardPlayed,
    Combination,
    DealScored,
    Dealt,
    Declared,
    Discarded,
    MonchiBegan,
    NinthRevealed,
    OkieTaken,
    Pair,
    Phase,
    Reason,
    Stake,
    Suit,
    Table,
    Trick,
    TrickLed,
    TrickSettled,
    View,
    Why,
)
from engine.registry import game_named
from wording.columns import padded

SUITS: Final[Mapping[str, str]] = {
    Suit.PAO: N_("Pao"),
    Suit.ISU: N_("Isu"),
    Suit.KOPPU: N_("Koppu"),
    Suit.OURU: N_("Ouru"),
    Suit.GURU: N_("Guru"),
}
RANK_NAMES: Final[Mapping[str, str]] = {
    "su": N_("Sun"),
    "un": N_("Un"),
    "so": N_("Sota"),
    "ro": N_("Robai"),
    "re": N_("Rei"),
    "ka": N_("Kaba"),
}
PAIRS: Final[Mapping[str, str]] = {
    Pair.SUN_UN: N_("Sun over Un"),
    Pair.UN_SOTA: N_("Un over Sota"),
    Pair.SOTA_ROBAI: N_("Sota over Robai"),
    Pair.ROBAI_REI: N_("Robai over Rei"),
    Pair.LOWEST: N_("the two lowest trumps"),
}
STAKES: Final[Mapping[str, str]] = {
    Stake.USUAL: N_("two points move"),
    Stake.NINTH: N_("five points move: it is the ninth trick"),
    Stake.CONCEALED: N_("five points move: the Robai was concealed"),
}
PHASES: Final[Mapping[str, str]] = {
    Phase.DECLARING: N_("declare or pass"),
    Phase.DISCARDING: N_("discard a card, written with a minus: -P5"),
    Phase.PLAYING: N_("play a card"),
    Phase.OVER: N_("the deal is over"),
}
WHY: Final[Mapping[str, str]] = {
    Why.NOT_IN_THIS_PHASE: N_("Not now. What is asked: {phase}."),
    Why.ONLY_ROBAI_DECLARES: N_("Only who holds {robai} can declare. You can: pass."),
    Why.DISCARD_NO_TRUMP: N_("Discard a card that is no trump while you hold one: {cards}."),
    Why.LEAD_NO_TRUMP: N_("The opening lead is no trump while you hold another card: {cards}."),
    Why.MERI: N_("Meri: a trump was led, so play a trump: {cards}."),
    Why.MONCHI: N_("Monchi: play a {suit} card or any trump: {cards}."),
    Why.MONCHI_SUIT_FIRST: N_("Monchi: play a {suit} card: {cards}."),
}
REASONS: Final[Mapping[str, str]] = {
    Reason.FORCED: N_("There is nothing else to do."),
    Reason.RANDOM: N_("A careless move."),
    Reason.DECLARE: N_("The Okie comes with it, and {robai} moves no more points than other cards."),
    Reason.HIDE: N_("To make the concealed {robai} worth five."),
    Reason.KEEP_QUIET: N_("To let nobody know who holds {robai}."),
    Reason.NOTHING_TO_DECLARE: N_("You do not hold the Robai of the trump suit."),
    Reason.VOID: N_("{card} goes, to be rid of {suit}."),
    Reason.WEAKEST: N_("{card} goes, the lowest of your {suit}."),
    Reason.SPARE: N_("{card} is the card that you would miss least."),
    Reason.LEAD_HIGH: N_("{card}: no other hand has a higher card of its suit."),
    Reason.LEAD_LOW: N_("{card} is the lowest of your {suit}: it costs little to lead."),
    Reason.LEAD_MERI: N_("{card}, a trump, draws the trumps of the others."),
    Reason.LEAD_BEST: N_("{card} is the lead that promises most."),
    Reason.COMBINATION: N_("{card} may win a combination: {pair}."),
    Reason.WIN: N_("{card} beats every card that lies face up."),
    Reason.PARTNER_WINS: N_("Your partner in seat {seat} has the trick so far, and {card} leaves it there."),
    Reason.DUCK: N_("The trick is not worth more than {card}, the lowest that you may play."),
    Reason.PROTECT: N_("{card}, to keep {keep} out of a combination: {pair}."),
    Reason.KEEP_LAST: N_("{card}, to keep {keep} for the ninth trick."),
}
ENDINGS: Final[Mapping[str, str]] = {"played": N_("played to the end")}


def _name(card: Card) -> str:
    """A card's name without its code: ``Koppu Robai``."""
    rank = card[1:]
    name = f"{_(SUITS[card[0]])} {_(RANK_NAMES[rank]) if rank in RANK_NAMES else rank}"
    return listed((name, _("Tenka"))) if card == TENKA else name


def _card(card: Card) -> str:
    """Code and name: ``Isu (Isu Sun)``. The code of one card is the name of a suit, so they must not run together."""
    return f"{card} ({_name(card)})"


def _team(seat: int) -> str:
    return team_name(seat % 2)  # H6


def _who(people: People, seat: int) -> str:
    """Somebody with the mark of their team."""
    return f"{people.called(seat)} [{_team(seat)}]"


# What happened ------------------------------------------------------------------------------------------------


def _event(event: AnyEvent, people: People) -> Lines:
    match event:
        case Dealt(dealer=dealer, okie=okie):
            told = people.say(dealer, N_("You deal."), N_("{who} deals."))
            turned = _("The Okie is {card}: {suit} is trump.").format(card=_card(okie), suit=_(SUITS[okie[0]]))
            return (sentences(told, turned),)
        case Declared(declarer=declarer):
            if declarer is None:
                return (_("Nobody declares the Robai."),)
            you, other = N_("You declare the Robai."), N_("{who} [{team}] declares the Robai; all others pass.")
            return (people.say(declarer, you, other, team=_team(declarer)),)
        case OkieTaken(seat=seat, okie=okie):
            you, other = N_("You take the Okie, {card}."), N_("{who} [{team}] takes the Okie, {card}.")
            return (people.say(seat, you, other, card=okie, team=_team(seat)),)
        case Discarded(seat=seat, card=card):
            shown = _("a card") if card is None else _card(card)
            return (people.say(seat, N_("You discard {card}."), N_("{who} discards {card}."), card=shown),)
        case TrickLed():
            return _led(event, people)
        case AsideShown(discard=discard, side=side):
            told = _("  Out of play: {discard} (the discard), {side} (the side cards).")
            return (told.format(discard=_card(discard), side=listed(map(_card, side))),)
        case CardPlayed(seat=seat, card=card, face_down=face_down):
            return (f"  {_who(people, seat)}: {_shown(card, face_down=face_down)}",)
        case NinthRevealed(dealer=dealer, cards=cards):
            rows = (f"  {_who(people, seat)}: {_card(card)}" for seat, card in _in_order(dealer, cards))
            return (_("Trick 9: all last cards at once; the dealer's gives the suit."), *rows)
        case TrickSettled(trick=trick, points=points):
            return _settled(trick, points, people)
        case MonchiBegan():
            return (_("Monchi from now on: who holds a card of the suit led plays it or a trump."),)
        case DealScored():
            return _scored(event)
        case _:
            assert_never(event)


def _led(event: TrickLed, people: People) -> Lines:
    head = _("Trick {n}:").format(n=event.number)
    led = people.say(
        event.seat,
        N_("you lead {card}."),
        N_("{who} [{team}] leads {card}."),
        card=_card(event.card),
        team=_team(event.seat),
    )
    meri = (_("  MERI! A trump is led: who holds a trump must play one, face up."),) if event.meri else ()
    return (sentences(head, led), *meri)


def _shown(card: Card | None, *, face_down: bool) -> str:
    if card is None:
        return _("a trump, face down")
    return _("{card}, a trump, face down").format(card=_card(card)) if face_down else _card(card)


def _in_order(leader: int, cards: Sequence[Card | None]) -> list[tuple[Seat, Card]]:
    return [(Seat((leader + place) % SEATS), card) for place, card in enumerate(cards) if card is not None]


def _settled(trick: Trick, points: tuple[int, int], people: People) -> Lines:
    assert trick.winner is not None
    played = dict(_in_order(trick.leader, trick.cards))
    turned = [f"{people.called(seat)} {_card(played[seat])}" for seat in trick.face_down]
    lines = [_("  Turned up: {cards}").format(cards=listed(turned))] if turned else []
    you, other = N_("  You win it for {team} with {card}."), N_("  {who} wins it for {team} with {card}.")
    winner = trick.winner
    lines.append(people.say(winner, you, other, team=_team(winner), card=_card(played[winner])))
    if trick.combination is not None:
        lines.append(f"  {_combination(trick.combination)}")
    lines.append(_("  Points: {points}").format(points=_points(points)))
    return tuple(lines)


def _combination(combination: Combination) -> str:
    told = _("COMBINATION for {team}: {pair} ({high}, {low}); {stake}.")
    return told.format(
        team=team_name(combination.team),
        pair=_(PAIRS[combination.pair]),
        high=combination.high,
        low=combination.low,
        stake=_(STAKES[combination.stake]),
    )


def in_brief(combination: Combination) -> str:
    """A combination and what it moves, for where there is little room."""
    moved = counted(combination.points, "one point moves", "{n} points move")
    told = _("COMBINATION for {team}: {pair}; {moved}.")
    return told.format(team=team_name(combination.team), pair=_(PAIRS[combination.pair]), moved=moved)


def _points(points: Sequence[int]) -> str:
    return listed(f"{team_name(team)} {value}" for team, value in enumerate(points))


def _scored(event: DealScored) -> Lines:
    moved = [0, 0]
    for combination in event.combinations:
        moved[combination.team] += combination.points
        moved[1 - combination.team] -= combination.points
    rows = (
        _("  {team}: {tricks} tricks, combinations {moved:+}, together {score}").format(
            team=team_name(team), tricks=event.tricks[team], moved=moved[team], score=event.scores[team]
        )
        for team in (0, 1)
    )
    return (_("How the deal came out:"), *rows, *(f"    {_combination(each)}" for each in event.combinations))


# The table ----------------------------------------------------------------------------------------------------


def _table(view: View, people: People) -> Lines:
    table = view.table
    lines = [_head(table, people)]
    lines += _orders(table)
    if table.monchi and table.phase is Phase.PLAYING:
        lines.append(_("Monchi is in force."))
    if table.trick is not None:
        lines += _trick(table.trick, len(table.tricks) + 1, table.trump, people)
    return tuple(lines)


def _head(table: Table, people: People) -> str:
    okie = _("Trump {suit} ({shape}: {low}). Okie {okie}.").format(
        suit=_(SUITS[table.trump]),
        shape=_("long") if table.trump in LONG else _("round"),
        low=_("9 is the highest numeral") if table.trump in LONG else _("1 is the highest numeral"),
        okie=table.okie,
    )
    dealer = people.say(table.dealer, N_("You deal."), N_("{who} deals."))
    points = _("Points: {points}.").format(points=_points(table.points))
    yours = "" if people.you is None else _("Your team: {team}.").format(team=_team(people.you))
    return sentences(okie, dealer, points, yours)


def _orders(table: Table) -> Lines:
    """The order of trumps, and of the suit led when it is a plain one (H5)."""
    rows = [_("Trumps, high to low: {cards}").format(cards=" ".join(order(table.trump, table.trump)))]
    led = None if table.trick is None or not table.trick.cards else table.trick.cards[0]
    if led is not None and led not in TRUMPS[table.trump]:
        suit = Suit(led[0])
        told = _("{suit} was led, high to low: {cards}")
        rows.append(told.format(suit=_(SUITS[suit]), cards=" ".join(order(suit, table.trump))))
    return tuple(rows)


def _trick(trick: Trick, number: int, trump: Suit, people: People) -> Lines:
    head = _("Trick {n} on the table:").format(n=number) + (f" {_('MERI')}" if trick.meri else "")
    known = [card for card in trick.cards if card is not None]
    highest = best(known, trump) if known and not trick.face_down else None
    rows = []
    for place, card in enumerate(trick.cards):
        seat = (trick.leader + place) % SEATS
        mark = f"  ← {_('highest so far')}" if place == highest else ""
        rows.append(f"  {_who(people, seat)}: {_shown(card, face_down=seat in trick.face_down)}{mark}")
    return (head, *rows)


def _hand(view: View) -> Lines:
    """The hand by suit, high to low, trumps first (Tenka among them)."""
    trump = view.table.trump
    rows = []
    for suit in (trump, *(other for other in Suit if other != trump)):
        here = [card for card in order(suit, trump) if card in view.hand]
        if here:
            name = _(SUITS[suit])
            title = _("{suit} (trump)").format(suit=name) if suit == trump else name
            rows.append(f"  {padded(title, 14)} {' '.join(here)}")
    return (_("Your hand:"), *rows) if rows else ()


def _score(view: View, people: People) -> Lines:
    table = view.table
    lines = [_("Points of this deal: {points}.").format(points=_points(table.points))]
    for number, trick in enumerate(table.tricks, 1):
        assert trick.winner is not None
        card = dict(_in_order(trick.leader, trick.cards))[trick.winner]
        row = _("  Trick {n}: {who} with {card}").format(n=number, who=_who(people, trick.winner), card=_card(card))
        lines.append(row + (f", {_('Meri')}" if trick.meri else ""))
        if trick.combination is not None:
            lines.append(f"    {_combination(trick.combination)}")
    left = TRICKS - len(table.tricks)
    to_come = (counted(left, "  One trick is to come.", "  {n} tricks are to come."),) if left else ()
    return (*lines, *to_come)


def _last(view: View, people: People) -> Lines:
    """The last settled trick in full."""
    tricks = view.table.tricks
    if not tricks:
        return ()
    trick = tricks[-1]
    rows = [
        f"  {_who(people, seat)}: {_shown(card, face_down=seat in trick.face_down)}"
        + (f"  ← {_('wins')}" if seat == trick.winner else "")
        for seat, card in _in_order(trick.leader, trick.cards)
    ]
    head = _("Trick {n}, the last one settled:").format(n=len(tricks))
    return (head, *rows, *(() if trick.combination is None else (f"  {_combination(trick.combination)}",)))


# The decision -------------------------------------------------------------------------------------------------


def _question(view: View) -> str:
    table = view.table
    match table.phase:
        case Phase.DECLARING:
            robai = native_robai(table.trump)
            mine = _("Declare {card}? Everyone is asked, unseen by the others.")
            others = _("Everyone is asked for {card}. You do not hold it: pass.")
            return (mine if robai in view.hand else others).format(card=_card(robai))
        case Phase.DISCARDING:
            return _("You hold the Okie and ten cards: discard one.")
        case _ if table.trick is None:
            return _("You lead.")
        case _:
            return _("Your turn: play a card.")


def _move(action: str, view: View) -> str:
    if action == "declare":
        return _("show that you hold the Robai, and take the Okie")
    if action == "pass":
        return _("declare nothing")
    card = Card(action.removeprefix("-"))
    table = view.table
    trump = card in TRUMPS[table.trump]
    if action.startswith("-"):
        return _("discard {card}").format(card=_name(card))
    if not trump:
        return _name(card)
    if table.trick is None:
        return _("{card}, a trump: Meri").format(card=_name(card))
    face_down = table.trick.cards[0] not in TRUMPS[table.trump]
    return (_("{card}, a trump, face down") if face_down else _("{card}, a trump")).format(card=_name(card))


WORDS: Final = GameWords(
    game=game_named("hachinin-meri"),
    title=N_("Hachinin Meri"),
    card=_card,
    event=_event,
    table=_table,
    hand=_hand,
    score=_score,
    question=_question,
    move=_move,
    last=_last,
    codes={"suit": SUITS, "pair": PAIRS, "phase": PHASES},
    why=WHY,
    reasons=REASONS,
    endings=ENDINGS,
)
