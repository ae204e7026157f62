"""Positions and play for the tests of this game, written short: cards as words, moves in the order of the turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Final

from engine.game import Card, Seat
from engine.hachinin_meri import HACHININ_MERI as GAME
from engine.hachinin_meri import rules
from engine.hachinin_meri.cards import CARDS, TRUMPS
from engine.hachinin_meri.table import left_of
from engine.hachinin_meri.types import (
    SEATS,
    Action,
    AnyEvent,
    HouseRules,
    Phase,
    State,
    Table,
    Trick,
)

DEFAULTS: Final = HouseRules()
ALL_SEATS: Final = tuple(Seat(number) for number in range(SEATS))


def words(text: str) -> tuple[Card, ...]:
    """``"P4 Ksu"`` as cards; each must be one."""
    cards = tuple(Card(word) for word in text.split())
    assert set(cards) <= set(CARDS), f"no such card in {text!r}"
    return cards


def dealt(
    okie: str,
    hands: Mapping[int, str] | None = None,
    *,
    side: str = "",
    dealer: int = 0,
    house: HouseRules = DEFAULTS,
) -> State:
    """A fresh deal in which the named seats have the named cards, completed to nine each from the rest of the deck.

    The rest is dealt plain cards first: seats 0 to 3 get no trump that is not named, seats 4 to 7 share them.
    """
    named = {seat: list(words((hands or {}).get(seat, ""))) for seat in range(SEATS)}
    given = [Card(okie), *words(side), *(card for hand in named.values() for card in hand)]
    assert len(given) == len(set(given)), "a card was given twice"
    trumps = TRUMPS[okie[0]]
    rest = sorted((card for card in CARDS if card not in given), key=lambda card: (card in trumps, CARDS.index(card)))
    aside = [*words(side)]
    while len(aside) < 2:
        aside.append(rest.pop(0))
    for number in range(9):
        for seat in range(4):
            if len(named[seat]) <= number:
                named[seat].append(rest.pop(0))
    while rest:
        for seat in range(4, SEATS):
            if len(named[seat]) < 9:
                named[seat].append(rest.pop(0))
    packets = [named[left_of(Seat(dealer), place + 1)][3 * turn :][:3] for turn in range(3) for place in range(SEATS)]
    deck = [card for packet in packets for card in packet] + [Card(okie), *aside]
    assert sorted(deck) == sorted(CARDS), "a deck is all the cards"
    return rules.deal(house, deck, Seat(dealer)).state


def answered(state: State, declarer: int | None = None) -> State:
    """After all eight answers: ``declarer`` declared, the others passed."""
    for seat in ALL_SEATS:
        state = GAME.apply(state, seat, GAME.parse("declare" if seat == declarer else "pass")).state
    return state


def moved(state: State, moves: str) -> State:
    """After the moves, each made by the seat whose turn it is."""
    for move in moves.split():
        assert state.table.turn is not None, "nobody is to move"
        state = GAME.apply(state, state.table.turn, GAME.parse(move)).state
    return state


def events_of(state: State, move: str) -> tuple[AnyEvent, ...]:
    """What happens when the seat whose turn it is makes the move."""
    assert state.table.turn is not None, "nobody is to move"
    return GAME.apply(state, state.table.turn, GAME.parse(move)).events


def legal(state: State, seat: int | None = None) -> list[str]:
    """What ``seat`` (or whose turn it is) may do, as text."""
    asked = state.table.turn if seat is None else Seat(seat)
    assert asked is not None, "nobody is to move"
    return [GAME.text(action) for action in GAME.legal_at(state, asked)]


def some_move(state: State) -> str:
    """The first legal card, a plain one if there is one."""
    possible = legal(state)
    trumps = TRUMPS[state.table.okie[0]]
    return next((card for card in possible if card not in trumps), possible[0])


def rows(state: State, *tricks: str) -> State:
    """After tricks written in the order of the *seats* 0 … 7: a card, ``?`` for any (plain if possible), ``.`` to stop.

    The first may be a trick in play: then only what is still missing is played.
    """
    for trick in tricks:
        cards = trick.split()
        number = len(state.table.tricks)
        while len(state.table.tricks) == number:
            turn = state.table.turn
            assert turn is not None, "nobody is to move"
            if cards[turn] == ".":
                break
            state = moved(state, some_move(state) if cards[turn] == "?" else cards[turn])
    return state


def opened(
    okie: str,
    *tricks: str,
    hands: Mapping[int, str] | None = None,
    declarer: int | None = None,
    side: str = "",
    house: HouseRules = DEFAULTS,
) -> State:
    """A deal with these first tricks (see ``rows``): seat 0 dealt, takes the Okie and leads the first.

    ``hands`` adds cards to hands; seat 0 discards a plain card that it does not need. A declarer must be seat 0, too.
    """
    columns = zip(*(trick.split() for trick in tricks), strict=True)
    needed = [{*column, *(hands or {}).get(seat, "").split()} - {"?", ".", okie} for seat, column in enumerate(columns)]
    held = {seat: " ".join(sorted(cards)) for seat, cards in enumerate(needed)}
    state = answered(dealt(okie, held, side=side, house=house), declarer)
    unwanted = next(move for move in legal(state) if move[1:] not in held[0].split())
    return rows(moved(state, unwanted), *tricks)


def late(
    okie: str,
    hands: Mapping[int, str],
    *,
    leader: int = 0,
    dealer: int = 0,
    declarer: int | None = None,
    monchi: bool = False,
    side: str = "",
    house: HouseRules = DEFAULTS,
) -> State:
    """A position before a lead, for rules that look at hands, table and score: its history is no real play.

    The named seats hold the named cards, as many each, the others as many plain ones. All other cards have been
    played, the Okie by its taker in the first trick; with ``monchi`` that was Meri.
    """
    held = {seat: list(words(hands[seat])) for seat in hands}
    sizes = {len(hand) for hand in held.values()}
    assert len(sizes) == 1, "hands must be of one size"
    (size,) = sizes
    given = {card for hand in held.values() for card in hand} | {*words(side), Card(okie)}
    spare = [card for card in CARDS if card not in given and card not in TRUMPS[okie[0]]]
    for seat in range(SEATS):
        held.setdefault(seat, [spare.pop(0) for _ in range(size)])
    used = [card for hand in held.values() for card in hand]
    aside = [*words(side)]
    rest = [card for card in CARDS if card not in used and card not in aside and card != okie]
    assert len(used) == len(set(used)), "a card was given twice"
    plain = [card for card in rest if card not in TRUMPS[okie[0]]]
    while len(aside) < 2:
        aside.append(plain.pop())
    discard = plain.pop()
    played = [card for card in (Card(okie), *rest) if card not in (*aside, discard)]
    taker = Seat(dealer if declarer is None else declarer)
    tricks: list[Trick] = []
    while played:
        cards, played = played[:SEATS], played[SEATS:]
        # The first trick has the Okie as its first card: its taker's, so that nobody else is seen to have played it.
        tricks.append(Trick(taker, meri=monchi and not tricks, cards=tuple(cards), winner=Seat(leader)))
    assert 9 - len(tricks) == size, "hands must be as large as tricks are left"
    table = Table(
        rules=house,
        dealer=Seat(dealer),
        okie=Card(okie),
        phase=Phase.PLAYING,
        turn=Seat(leader),
        declarer=None if declarer is None else Seat(declarer),
        taker=taker,
        discard=discard,
        side=(aside[0], aside[1]),
        tricks=tuple(tricks),
        monchi=monchi,
    )
    return State(table, tuple(tuple(sorted(held[seat])) for seat in range(SEATS)))


def some_rules(rng: Random) -> HouseRules:
    """House rules drawn at random from all there are."""
    drawn = {name: rng.choice(values) for name, values in GAME.options.items()}
    return rules.house_rules(drawn)


def random_deal(rng: Random, house: HouseRules | None = None) -> State:
    """A deal of a shuffled deck by a random dealer, by default under random house rules."""
    deck = list(CARDS)
    rng.shuffle(deck)
    return rules.deal(some_rules(rng) if house is None else house, deck, Seat(rng.randrange(SEATS))).state


def random_play(rng: Random, house: HouseRules | None = None) -> Iterator[tuple[State, Seat, Action]]:
    """Every decision of a random deal played at random: the state, who is chosen to act, and what they will do."""
    state = random_deal(rng, house)
    while awaited := GAME.awaiting(state):
        seat = rng.choice(sorted(awaited))
        action = rng.choice(GAME.legal_at(state, seat))
        yield state, seat, action
        state = GAME.apply(state, seat, action).state


def every_card(state: State) -> list[Card]:
    """All cards of a state, wherever they are; a card that is nowhere or twice shows."""
    table = state.table
    tricks: Iterable[Trick] = table.tricks if table.trick is None else (*table.tricks, table.trick)
    there = [card for hand in state.hands for card in hand]
    there += [card for trick in tricks for card in trick.cards if card is not None]
    there += [*(table.side or ())]
    there += [] if table.discard is None else [table.discard]
    there += [table.okie] if table.taker is None else []
    return there
