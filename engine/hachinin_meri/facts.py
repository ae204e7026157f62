"""What the cards on the table prove about the hands: which kinds of cards a seat has been seen not to hold.

Public knowledge, told from a table as any viewer sees it. Kinds are the letters of the plain suits, and four sorts of
trumps, which differ in who may hold them.
"""

from __future__ import annotations

from typing import Final

from engine.game import Card, Seat
from engine.hachinin_meri.cards import TRUMPS
from engine.hachinin_meri.table import all_tricks, left_of, played_by
from engine.hachinin_meri.types import SEATS, Monchi, Table, Trick

SUN: Final = "sun"
"""The trump Sun: a lone one need not be played to Meri (H19)."""
ROBAI: Final = "robai"
"""The trump suit's own Robai (H10)."""
OKIE: Final = "okie"
"""Whatever trump was turned up (H9); never one of the other kinds."""
TRUMP: Final = "trump"
"""Any other trump."""
ANY_TRUMP: Final = frozenset({SUN, ROBAI, OKIE, TRUMP})
PLAIN_SUITS: Final = {trump: frozenset(str(suit) for suit in TRUMPS if suit != trump) for trump in TRUMPS}
"""By trump suit: the letters of the other suits."""


def kind_of(card: Card, okie: Card) -> str:
    """The kind of a card while ``okie`` lies or lay in the middle."""
    if card == okie:
        # Also where it is the Robai, which then nobody can declare (H11), or the Sun, which then was not dealt (H19).
        return OKIE
    trump = okie[0]
    if card not in TRUMPS[trump]:
        return card[0]
    return {trump + "su": SUN, trump + "ro": ROBAI}.get(card, TRUMP)


def voids(table: Table) -> tuple[frozenset[str], ...]:
    """By seat: the kinds of cards of which its hand is seen to hold none (face-down cards count to the hand)."""
    void: list[frozenset[str]] = [frozenset()] * SEATS
    monchi = False
    for number, trick in enumerate(all_tricks(table)):
        if trick.meri and number == 0:
            void[trick.leader] |= PLAIN_SUITS[table.okie[0]]  # H13
        for place in range(1, len(trick.cards)):
            seat = left_of(trick.leader, place)
            void[seat] |= _shown_by(table, trick, place, seat, monchi=monchi)
        monchi = monchi or trick.meri
    return tuple(void)


_NOTHING: Final[frozenset[str]] = frozenset()


def _shown_by(table: Table, trick: Trick, place: int, seat: Seat, *, monchi: bool) -> frozenset[str]:
    """What the card that ``seat`` played to ``trick`` as number ``place`` (0 is the lead) shows it not to have."""
    card = trick.cards[place]
    is_trump = card is None or card in TRUMPS[table.okie[0]]  # H17: an unseen card is a trump
    if trick.meri:
        if is_trump:
            return _NOTHING
        return ANY_TRUMP - {SUN} if may_be_lone_sun(table, seat) else ANY_TRUMP  # H18, H19
    led = trick.cards[0]
    assert led is not None, "a lead lies face up"
    if not monchi or (card is not None and not is_trump and card[0] == led[0]):
        return _NOTHING
    # H20: a trump may always be played, unless the option wants the suit first.
    return _NOTHING if is_trump and table.rules.monchi is Monchi.SUIT_OR_TRUMP else frozenset({led[0]})


def may_be_lone_sun(table: Table, seat: Seat) -> bool:
    """Whether the trump Sun may have been the only trump among the nine cards dealt to ``seat`` (H19).

    That is: no other trump of those is known. Face-down cards on the table count as unknown.
    """
    trump = table.okie[0]
    known = set(played_by(table, seat))
    if seat == table.taker:
        known.add(table.discard)
        known.discard(table.okie)
    return not any(card in TRUMPS[trump] and card != trump + "su" for card in known if card is not None)
