"""What may be done and what follows (H6–H21). Pure functions on the state; scores stand in ``scoring``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from msgspec.structs import replace

from engine.game import Card, IllegalAction, Message, Options, Outcome, Param, Seat, Step, Viewer
from engine.game import Why as Shared
from engine.hachinin_meri.cards import TRUMPS, native_robai
from engine.hachinin_meri.scoring import points_after, scored, settled
from engine.hachinin_meri.table import begun, evolve, hand_after, is_opening, left_of, played_by
from engine.hachinin_meri.text import DECLARE, DISCARDS, PASS, PLAYS
from engine.hachinin_meri.types import (
    SEATS,
    TRICKS,
    Action,
    AnyEvent,
    AsideShown,
    CardPlayed,
    ConcealedRobai,
    DealScored,
    Dealt,
    Declare,
    Declared,
    Discard,
    Discarded,
    DiscardRule,
    HouseRules,
    Monchi,
    MonchiBegan,
    NinthRevealed,
    NinthTrick,
    OkieTaken,
    Pass,
    Phase,
    Play,
    State,
    Table,
    Trick,
    TrickLed,
    TrickSettled,
    Why,
)

OPTIONS: Final[dict[str, tuple[str | int, ...]]] = {
    "deals": (8, 1, 2, 4, 16),
    "first_dealer": ("random", *range(SEATS)),
    "monchi": tuple(str(value) for value in Monchi),
    "concealed_robai": tuple(str(value) for value in ConcealedRobai),
    "discard": tuple(str(value) for value in DiscardRule),
    "ninth_trick": tuple(str(value) for value in NinthTrick),
}
"""Every option with its values, the default first (H7, H12, H20, H21, H25)."""

_ALL: Final = frozenset(Seat(number) for number in range(SEATS))
_NOBODY: Final[frozenset[Seat]] = frozenset()
_ONLY: Final = tuple(frozenset({Seat(number)}) for number in range(SEATS))
_UNANSWERED: Final[tuple[bool | None, ...]] = (None,) * SEATS


# The deal -----------------------------------------------------------------------------------------------------


def house_rules(options: Options) -> HouseRules:
    """Those of the (complete) ``options`` that matter within a deal."""
    return HouseRules(
        monchi=Monchi(str(options["monchi"])),
        concealed_robai=ConcealedRobai(str(options["concealed_robai"])),
        discard=DiscardRule(str(options["discard"])),
        ninth_trick=NinthTrick(str(options["ninth_trick"])),
    )


def deal(rules: HouseRules, deck: Sequence[Card], dealer: Seat) -> Step[State, AnyEvent]:
    """Three packets of three, clockwise from the dealer's left; then Okie and side cards (H8)."""
    hands: list[tuple[Card, ...]] = [()] * SEATS
    for place in range(SEATS):
        packets = [card for round_ in range(3) for card in deck[24 * round_ + 3 * place :][:3]]
        hands[left_of(dealer, place + 1)] = tuple(sorted(packets))
    okie, *side = deck[72:]
    dealt = Dealt(rules, dealer, okie, tuple(hands), (side[0], side[1]))
    return Step(State(begun(dealt), tuple(hands)), (dealt,))


def awaiting(state: State) -> frozenset[Seat]:
    """All who have not answered yet during the declaration (H10), then whoever's turn it is."""
    table = state.table
    if table.phase is Phase.DECLARING:
        return frozenset(seat for seat in _ALL if state.answers[seat] is None)
    return _NOBODY if table.turn is None else _ONLY[table.turn]


def outcome(state: State) -> Outcome | None:
    """``played``, with the scores by team (H26)."""
    return Outcome("played", state.table.points) if state.table.phase is Phase.OVER else None


# What is allowed ----------------------------------------------------------------------------------------------
#
# All of it follows from the table and the seat's own hand, which is why a view is enough to tell.


def legal(table: Table, seat: Viewer, hand: tuple[Card, ...]) -> tuple[Action, ...]:
    """What ``seat`` may do, sorted by text; nothing when it is not its turn."""
    if seat is None:
        return ()
    if table.phase is Phase.DECLARING:
        return (DECLARE, PASS) if native_robai(table.okie[0]) in hand else (PASS,)
    if table.turn != seat:
        return ()
    if table.phase is Phase.DISCARDING:
        return tuple(DISCARDS[card] for card in discardable(table, hand))
    return tuple(PLAYS[card] for card in playable(table, seat, hand))


def discardable(table: Table, hand: tuple[Card, ...]) -> tuple[Card, ...]:
    """What the taker may discard: no trump, if possible (H12), unless the option allows any card."""
    if table.rules.discard is DiscardRule.ANY:
        return hand
    return _plain(table, hand) or hand


def playable(table: Table, seat: Seat, hand: tuple[Card, ...]) -> tuple[Card, ...]:
    """Which of its cards ``seat`` may lead or follow with, when it is its turn (H13, H16–H20)."""
    trick = table.trick
    if trick is None:
        # Any card may be led, but for the opening lead: no trump, if possible (H13).
        return (_plain(table, hand) or hand) if is_opening(table) else hand
    trumps = TRUMPS[table.okie[0]]
    if trick.meri:
        held = tuple(card for card in hand if card in trumps)
        return hand if not held or _is_lone_sun(table, seat, hand, held) else held  # H18, H19
    if not table.monchi:
        return hand  # H16
    led = _led_suit(trick)
    if not any(card[0] == led and card not in trumps for card in hand):
        return hand  # H20; Tenka is no Pao card (H3)
    if table.rules.monchi is Monchi.SUIT_FIRST:
        return tuple(card for card in hand if card[0] == led and card not in trumps)
    return tuple(card for card in hand if card[0] == led or card in trumps)


def _plain(table: Table, hand: tuple[Card, ...]) -> tuple[Card, ...]:
    trumps = TRUMPS[table.okie[0]]
    return tuple(card for card in hand if card not in trumps)


def _led_suit(trick: Trick) -> str:
    lead = trick.cards[0]
    assert lead is not None, "a lead lies face up"
    return lead[0]


def _is_lone_sun(table: Table, seat: Seat, hand: tuple[Card, ...], held: tuple[Card, ...]) -> bool:
    """H19: the Sun is the seat's only trump, and was the only one among its *dealt nine cards*.

    Told from what the seat itself knows, so it is nowhere stored and no sampled world can inherit it.
    """
    trump = table.okie[0]
    if held != (trump + "su",):
        return False
    trumps = TRUMPS[trump]
    return [card for card in dealt_nine(table, seat, hand) if card in trumps] == list(held)


def dealt_nine(table: Table, seat: Seat, hand: tuple[Card, ...]) -> tuple[Card, ...]:
    """The nine cards that ``seat`` was dealt: its hand, what it played and discarded, without the Okie it took.

    ``table`` must be seen by the seat itself (or by the state).
    """
    known = {*hand, *(card for card in played_by(table, seat) if card is not None)}
    if seat == table.taker:
        known.discard(table.okie)
        # A discarded Okie was not dealt either.
        if table.discard is not None and table.discard != table.okie:
            known.add(table.discard)
    return tuple(sorted(known))


def refusal(table: Table, seat: Viewer, hand: tuple[Card, ...], action: Action) -> Message | None:
    """What forbids ``action`` to ``seat``; None when it is legal."""
    if table.phase is Phase.OVER:
        return Message(Shared.DEAL_OVER)
    if seat is None or (table.phase is not Phase.DECLARING and table.turn != seat):
        return Message(Shared.NOT_YOUR_TURN)
    match table.phase, action:
        case (Phase.DECLARING, Pass()):
            return None
        case (Phase.DECLARING, Declare()):
            robai = native_robai(table.okie[0])
            return None if robai in hand else Message(Why.ONLY_ROBAI_DECLARES, {"robai": robai})
        case (Phase.DISCARDING, Discard(card=card)):
            return _refuse_card(card, hand, discardable(table, hand), Why.DISCARD_NO_TRUMP)
        case (Phase.PLAYING, Play(card=card)):
            possible = playable(table, seat, hand)
            return _refuse_card(card, hand, possible, *_duty(table))
        case _:
            return Message(Why.NOT_IN_THIS_PHASE, {"phase": table.phase})


def _duty(table: Table) -> tuple[Why, str | None]:
    """What binds a card of the hand that may not be played now, and the suit that was led if that matters."""
    trick = table.trick
    if trick is None:
        return Why.LEAD_NO_TRUMP, None
    if trick.meri:
        return Why.MERI, None
    suit_first = table.rules.monchi is Monchi.SUIT_FIRST
    return (Why.MONCHI_SUIT_FIRST if suit_first else Why.MONCHI), _led_suit(trick)


def _refuse_card(
    card: Card, hand: tuple[Card, ...], possible: tuple[Card, ...], duty: Why, suit: str | None = None
) -> Message | None:
    if card in possible:
        return None
    if card not in hand:
        return Message(Shared.NOT_IN_HAND, {"card": card})
    params: dict[str, Param] = {"card": card, "cards": possible}
    return Message(duty, params if suit is None else {**params, "suit": suit})


# What follows -------------------------------------------------------------------------------------------------


def apply(state: State, seat: Seat, action: Action) -> Step[State, AnyEvent]:
    """Perform a legal action.

    Raises:
        IllegalAction: it is not legal for ``seat`` now.
    """
    table = state.table
    if table.phase is Phase.DECLARING and state.answers[seat] is not None:
        raise IllegalAction(Message(Shared.ALREADY_ANSWERED))
    refused = refusal(table, seat, state.hands[seat], action)
    if refused is not None:
        raise IllegalAction(refused)
    match action:
        case Declare() | Pass():
            return _answer(state, seat, declared=isinstance(action, Declare))
        case Discard(card=card):
            return _happened(state, Discarded(seat, card))
        case Play(card=card) if table.trick is None:
            return _lead(state, seat, card)
        case Play(card=card):
            return _follow(state, seat, card, table.trick)


def _answer(state: State, seat: Seat, *, declared: bool) -> Step[State, AnyEvent]:
    """Sealed until the last: then the answers are published, and the Okie is taken at once (H10–H12)."""
    answers = (*state.answers[:seat], declared, *state.answers[seat + 1 :])
    if None in answers:
        return Step(replace(state, answers=answers), ())
    table = state.table
    declarer = Seat(answers.index(True)) if True in answers else None
    taker = table.dealer if declarer is None else declarer  # H11
    published = replace(state, answers=_UNANSWERED)
    return _happened(published, Declared(declarer), OkieTaken(taker, table.okie))


def _lead(state: State, seat: Seat, card: Card) -> Step[State, AnyEvent]:
    table = state.table
    led = TrickLed(len(table.tricks) + 1, seat, card, meri=card in TRUMPS[table.okie[0]])  # H18
    if not is_opening(table):
        return _happened(state, led)
    assert table.discard is not None, "the state knows the discard"
    assert table.side is not None, "the state knows the side cards"
    return _happened(state, led, AsideShown(seat, table.discard, table.side))  # H14


def _follow(state: State, seat: Seat, card: Card, trick: Trick) -> Step[State, AnyEvent]:
    face_down = not trick.meri and card in TRUMPS[state.table.okie[0]]  # H17, H18
    played = _happened(state, CardPlayed(seat, card, face_down))
    return played if len(trick.cards) + 1 < SEATS else _settle(played)


def _settle(played: Step[State, AnyEvent]) -> Step[State, AnyEvent]:
    """Settle the full trick on the table, and whatever comes of itself after it."""
    step = _then(played, _settlement(played.state.table))
    table = step.state.table
    number = len(table.tricks)
    simultaneous = table.rules.ninth_trick is NinthTrick.SIMULTANEOUS
    if number == TRICKS - 1 and simultaneous:
        last = tuple(step.state.hands[left_of(table.dealer, place)][0] for place in range(SEATS))
        return _settle(_then(step, NinthRevealed(table.dealer, last)))  # H21
    if number == TRICKS:
        return _then(step, scored(table))
    if table.tricks[-1].meri and not table.monchi:
        return _then(step, MonchiBegan())  # H20
    return step


def _settlement(table: Table) -> TrickSettled:
    trick = table.trick
    assert trick is not None, "there is no trick to settle"
    # The state sees every card, also those that lie face down.
    complete = settled(table, trick, cast("tuple[Card, ...]", trick.cards))
    return TrickSettled(len(table.tricks) + 1, complete, points_after(table.points, complete))


def _then(step: Step[State, AnyEvent], event: AnyEvent) -> Step[State, AnyEvent]:
    after = _happened(step.state, event)
    return Step(after.state, (*step.events, *after.events))


def _happened(state: State, *events: AnyEvent) -> Step[State, AnyEvent]:
    """The state after ``events``; the only way in which a state changes, but for collecting sealed answers."""
    table, hands = state.table, state.hands
    for event in events:
        table = evolve(table, event)
        match event:
            case TrickLed(seat=seat) | CardPlayed(seat=seat) | Discarded(seat=seat) | OkieTaken(seat=seat):
                hands = (*hands[:seat], hand_after(hands[seat], seat, event), *hands[seat + 1 :])
            case NinthRevealed() | Dealt():
                hands = tuple(hand_after(hand, Seat(seat), event) for seat, hand in enumerate(hands))
            case Declared() | AsideShown() | TrickSettled() | MonchiBegan() | DealScored():
                pass
    return Step(State(table, hands, state.answers), events)
