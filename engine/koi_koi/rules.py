"""The course of a deal of koi-koi: opening checks, turns, stop or koi (rules K1 to K6 and K8 to K10).

Belongs here: what may be done and what follows from it. Must not be known here: who sees what (``sight``), what the
cards are worth (``scoring``), how an event changes the table (``table``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, assert_never

from msgspec.structs import replace

from engine.flowers import has_four_of_a_month, is_four_pairs, matching
from engine.game import Card, IllegalAction, Message, Options, OptionValue, Outcome, Param, Seat, Step, Viewer
from engine.game import Why as SharedWhy
from engine.koi_koi import scoring
from engine.koi_koi.scoring import OPENING_SCORE
from engine.koi_koi.table import follow, opened, other, with_seat
from engine.koi_koi.text import KOI, STOP, text
from engine.koi_koi.types import (
    Action,
    BoardRedeal,
    BySeat,
    Calls,
    Choose,
    Combination,
    DealDrawn,
    Dealt,
    Event,
    Hand,
    HandPlayed,
    HandsRedeal,
    Koi,
    KoiCalled,
    OnlyStop,
    Opening,
    OpeningScored,
    Phase,
    Play,
    PointTable,
    Rules,
    State,
    StockPlaced,
    StockTurned,
    Stop,
    Stopped,
    Table,
    Viewing,
    Why,
    YakuMade,
)

HAND: Final = 8
"""Cards dealt to each player, and to the board (K1)."""

OPTIONS: Final[Mapping[str, tuple[OptionValue, ...]]] = {
    "deals": (1, 3, 6, 12),
    "next_first": ("alternating", "winner", "random"),
    "viewing": tuple(each.value for each in Viewing),
    "seven_doubles": ("off", "on"),
    "opponent_call_doubles": ("off", "on"),
    "calls": tuple(each.value for each in Calls),
    "points": tuple(each.value for each in PointTable),
}


def rules_of(options: Options) -> Rules:
    """The rules in force within a deal under complete ``options``."""
    return Rules(
        viewing=Viewing(str(options["viewing"])),
        seven_doubles=options["seven_doubles"] == "on",
        opponent_call_doubles=options["opponent_call_doubles"] == "on",
        calls=Calls(str(options["calls"])),
        points=PointTable(str(options["points"])),
    )


def in_order(cards: Iterable[Card]) -> Hand:
    """``cards`` in card-id order, so that nothing tells in which order they were dealt."""
    return tuple(sorted(cards, key=scoring.BIT.__getitem__))


# Dealing ------------------------------------------------------------------------------------------------------


def deal(rules: Rules, deck: Sequence[Card], first: Seat) -> Step[State, Event]:
    """Deal ``deck`` (a permutation of the cards): 8 to ``first``, 8 to the other, 8 to the board, 24 of stock (K1)."""
    lead, reply = in_order(deck[:HAND]), in_order(deck[HAND : 2 * HAND])
    hands = (lead, reply) if first == 0 else (reply, lead)
    board, stock = tuple(deck[2 * HAND : 3 * HAND]), tuple(deck[3 * HAND :])
    dealt = Dealt(rules, first, hands, (HAND, HAND), board, len(stock))
    table = opened(dealt)
    check = _opening_check(board, hands)
    if check is None:
        return Step(State(table, hands, stock), (dealt,))
    return Step(State(follow(table, check), hands, stock), (dealt, check))


def _opening_check(board: tuple[Card, ...], hands: BySeat) -> BoardRedeal | HandsRedeal | OpeningScored | None:
    """K2, in its order: the board, then both hands, then one hand."""
    on_board = opening_in(board)
    if on_board is not None:
        return BoardRedeal(on_board)
    left, right = opening_in(hands[0]), opening_in(hands[1])
    if left is not None and right is not None:
        return HandsRedeal((left, right), hands)
    if left is not None:
        return OpeningScored(Seat(0), left, hands[0], OPENING_SCORE)
    if right is not None:
        return OpeningScored(Seat(1), right, hands[1], OPENING_SCORE)
    return None


def opening_in(cards: Sequence[Card]) -> Opening | None:
    """The combination that eight dealt cards are, on the board or in a hand (K2)."""
    if has_four_of_a_month(cards):
        quads = (card for card in cards if len(matching(card, cards)) == 4)
        return Opening(Combination.FOUR_OF_A_MONTH, in_order(quads))
    if is_four_pairs(cards):
        return Opening(Combination.FOUR_PAIRS, in_order(cards))
    return None


# What may be done ---------------------------------------------------------------------------------------------


def moves(table: Table, hand: Hand) -> tuple[Action, ...]:
    """What whoever is to act may do, holding ``hand``; sorted by text."""
    actions: list[Action] = []
    match table.phase:
        case Phase.PLAY:
            for card in hand:
                matches = matching(card, table.board)
                if len(matches) == 2:  # K4: the player chooses
                    actions += [Play(card, take) for take in matches]
                else:
                    actions.append(Play(card))
        case Phase.CHOOSE:
            assert table.turned is not None, "a choice is open for a turned card"
            actions += [Choose(take) for take in matching(table.turned, table.board)]  # K5
        case Phase.DECIDE:
            actions += [Stop()] if table.only_stop is not None else [Koi(), Stop()]  # K8, K9
        case Phase.OVER:
            pass
        case _:
            assert_never(table.phase)
    return tuple(sorted(actions, key=text))


def refusal(table: Table, seat: Viewer, hand: Hand, action: Action) -> Message | None:
    """What forbids ``action`` to ``seat``, which holds ``hand``; None when it may be done."""
    if table.phase is Phase.OVER:
        return Message(SharedWhy.DEAL_OVER)
    if seat != table.turn:
        return Message(SharedWhy.NOT_YOUR_TURN)
    match action:
        case Play(card, take):
            return _ahead(table, Phase.PLAY) or _play_refusal(card, take, hand, table.board)
        case Choose(take):
            return _ahead(table, Phase.CHOOSE) or _choose_refusal(take, table)
        case Stop():
            return _ahead(table, Phase.DECIDE)
        case Koi():
            return _ahead(table, Phase.DECIDE) or _koi_refusal(table)
        case _:
            assert_never(action)


def _ahead(table: Table, wanted: Phase) -> Message | None:
    """What comes before an action that belongs to the phase ``wanted``; None if that phase it is."""
    if table.phase is wanted:
        return None
    match table.phase:
        case Phase.CHOOSE:
            assert table.turned is not None, "a choice is open for a turned card"
            targets = matching(table.turned, table.board)
            return Message(Why.CHOICE_OPEN, {"card": table.turned, "targets": targets})
        case Phase.DECIDE:
            choices = (STOP,) if table.only_stop is not None else (KOI, STOP)
            total = table.standings[table.turn].total
            return Message(Why.DECISION_OPEN, {"total": total, "choices": choices})
        case _:
            if wanted is Phase.CHOOSE:
                return Message(Why.NO_CHOICE_OPEN)
            return Message(Why.NO_DECISION_OPEN, {"total": table.standings[table.turn].total})


def _play_refusal(card: Card, take: Card | None, hand: Hand, board: tuple[Card, ...]) -> Message | None:
    if card not in hand:
        return Message(SharedWhy.NOT_IN_HAND, {"card": card})
    matches = matching(card, board)
    if len(matches) == 2:  # K4: the player chooses, and has to
        if take is None:
            return Message(Why.TARGET_NEEDED, {"card": card, "targets": matches})
        return _target_refusal(card, take, matches)
    if take is not None:
        params: dict[str, Param] = {"card": card, "take": take, "matching": matches}
        return Message(Why.NO_TARGET_TO_NAME, params)
    return None


def _choose_refusal(take: Card, table: Table) -> Message | None:
    assert table.turned is not None, "a choice is open for a turned card"
    return _target_refusal(table.turned, take, matching(table.turned, table.board))


def _target_refusal(card: Card, take: Card, targets: tuple[Card, ...]) -> Message | None:
    if take in targets:
        return None
    return Message(Why.WRONG_TARGET, {"card": card, "take": take, "targets": targets})


def _koi_refusal(table: Table) -> Message | None:
    match table.only_stop:
        case None:
            return None
        case OnlyStop.HAND_EMPTY:
            return Message(Why.HAND_EMPTY)
        case OnlyStop.ONE_CALL:
            return Message(Why.ONE_CALL)
        case _:
            assert_never(table.only_stop)


# What follows -------------------------------------------------------------------------------------------------


def apply(state: State, seat: Seat, action: Action) -> Step[State, Event]:
    """Perform ``action`` for ``seat``.

    Raises:
        IllegalAction: ``refusal`` says why.
    """
    table = state.table
    refused = refusal(table, seat, state.hands[seat], action)
    if refused is not None:
        raise IllegalAction(refused)
    match action:
        case Play(card, take):
            return _play(state, card, take)
        case Choose(take):
            assert table.turned is not None, "a choice is open for a turned card"
            table, events = _place_stock_card(table, table.turned, (take,))
            return Step(replace(state, table=table), events)
        case Stop():
            # The whole total, doubled as the options say, and nothing for the other player (K8).
            event: Event = Stopped(seat, table.standings[seat], table.standings[other(seat)])
        case Koi():
            # Nothing is claimed (K8), but the other player's stop may be worth more now.
            calls = table.calls[seat] + 1
            theirs = scoring.settled(table.standings[other(seat)].yaku, table.rules, calls)
            event = KoiCalled(seat, calls, theirs)
        case _:
            assert_never(action)
    return Step(replace(state, table=follow(table, event)), (event,))


def _play(state: State, card: Card, take: Card | None) -> Step[State, Event]:
    """The hand card (K4), then the stock card (K5), which may wait for a choice."""
    table, seat = state.table, state.table.turn
    played = HandPlayed(seat, card, matching(card, table.board) if take is None else (take,))
    table = follow(table, played)
    turned = state.stock[0]
    matches = matching(turned, table.board)
    waits = len(matches) == 2
    shown = StockTurned(seat, turned, matches if waits else ())
    table = follow(table, shown)
    events: tuple[Event, ...] = ()
    if not waits:
        table, events = _place_stock_card(table, turned, matches)
    hands = with_seat(state.hands, seat, tuple([held for held in state.hands[seat] if held != card]))
    return Step(State(table, hands, state.stock[1:]), (played, shown, *events))


def _place_stock_card(table: Table, card: Card, taken: tuple[Card, ...]) -> tuple[Table, tuple[Event, ...]]:
    """The stock card captures or lies down (K5). Only now yaku are looked at (K6): did the total rise (K8)?"""
    seat = table.turn
    placed = StockPlaced(seat, card, taken)
    table = follow(table, placed)
    end: Event
    if scoring.total(scoring.mask_of(table.captured[seat]), table.rules) > table.standings[seat].total:
        end = _yaku_made(table, seat)
    elif not any(table.hand_sizes):
        end = DealDrawn(table.standings)  # K10
    else:
        return table, (placed,)
    return follow(table, end), (placed, end)


def _yaku_made(table: Table, seat: Seat) -> YakuMade:
    """The decision that is now open: stop or koi (K8), or only stop (K9, option ``calls``)."""
    had = table.standings[seat].yaku
    standing = scoring.standing(table.captured[seat], table.rules, table.calls[other(seat)])
    only_stop = None
    if not table.hand_sizes[seat]:
        only_stop = OnlyStop.HAND_EMPTY
    elif table.rules.calls is Calls.ONE and table.calls[seat]:
        only_stop = OnlyStop.ONE_CALL
    names = {made.yaku for made in standing.yaku}
    return YakuMade(
        seat=seat,
        gained=tuple([made for made in standing.yaku if made not in had]),
        lost=tuple([made.yaku for made in had if made.yaku not in names]),
        standing=standing,
        only_stop=only_stop,
    )


# Between deals ------------------------------------------------------------------------------------------------


def next_first(options: Options, first: Seat, outcome: Outcome, drawn: Seat) -> Seat:
    """Who begins the deal after one that ``first`` began (option ``next_first``)."""
    match options["next_first"]:
        case "winner":
            return first if outcome.scores == (0, 0) else Seat(outcome.scores.index(max(outcome.scores)))
        case "random":
            return drawn
        case _:
            return other(first)
