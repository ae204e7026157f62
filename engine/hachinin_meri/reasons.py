"""Why a level chose as it did, told from the same view: one code, and nothing in it that the view does not prove.

Belongs here: what is true of the chosen action. It decides nothing; what a level weighed, ``odds`` and ``search`` say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engine.game import Card, Message, Param
from engine.hachinin_meri.cards import PLAIN, TRUMPS, best, height, native_robai
from engine.hachinin_meri.odds import Odds, Worth
from engine.hachinin_meri.types import ConcealedRobai, Reason, Trick, View

TELLING: Final = 0.3
"""Points that a combination must be expected to bring, or to cost, before it is given as the reason."""


def why_answered(view: View, *, declared: bool) -> Message:
    """Why the holder of the Robai declared it, or did not (H10, H25)."""
    if declared:
        code = Reason.DECLARE
    else:
        code = Reason.KEEP_QUIET if view.table.rules.concealed_robai is ConcealedRobai.OFF else Reason.HIDE
    return Message(code, {"robai": native_robai(view.table.trump)})


def why_discarded(view: View, card: Card) -> Message:
    """Why the taker put ``card`` away (H12)."""
    suit = _company(view, card)
    if suit == [card]:
        return Message(Reason.VOID, {"card": card, "suit": card[0]})
    if suit and card == suit[0]:
        return Message(Reason.WEAKEST, {"card": card, "suit": card[0]})
    return Message(Reason.SPARE, {"card": card})


def why_played(view: View, odds: Odds, chosen: Card, worths: Mapping[Card, Worth]) -> Message:
    """What speaks for ``chosen`` among the playable cards, whose ``worths`` these are: first what a person wants most
    to hear.
    """
    worth = worths[chosen]
    params: dict[str, Param] = {"card": chosen}
    if worth.gains is not None and worth.gain > TELLING:
        return Message(Reason.COMBINATION, {**params, "pair": worth.gains})
    feared = max(worths, key=lambda card: worths[card].loss)
    fear = worths[feared]
    if fear.loses is not None and fear.loss > worth.loss + TELLING:
        return Message(Reason.PROTECT, {**params, "keep": feared, "pair": fear.loses})
    trick = view.table.trick
    if trick is None:
        return _why_led(view, odds, chosen)
    if len(worths) == len(view.hand) == 2:
        (kept,) = (card for card in view.hand if card != chosen)
        if kept in odds.trumps:
            return Message(Reason.KEEP_LAST, {**params, "keep": kept})
    if _beats_all_in_sight(trick, odds, chosen, view.table.trump):
        return Message(Reason.WIN, params)
    partner = odds.winning_partner()
    if partner is not None:
        return Message(Reason.PARTNER_WINS, {**params, "seat": partner})
    trump = view.table.trump
    if not any(height(card, trump) < height(chosen, trump) for card in worths):
        return Message(Reason.DUCK, params)
    if _company(view, chosen) == [chosen]:
        return Message(Reason.VOID, {**params, "suit": chosen[0]})
    return Message(Reason.SPARE, params)


def _why_led(view: View, odds: Odds, chosen: Card) -> Message:
    params: dict[str, Param] = {"card": chosen}
    if chosen in odds.trumps:
        return Message(Reason.LEAD_MERI if odds.hidden else Reason.LEAD_HIGH, params)
    if not any(card[0] == chosen[0] and PLAIN[card] > PLAIN[chosen] for card in odds.unseen):
        return Message(Reason.LEAD_HIGH, params)
    if chosen == _company(view, chosen)[0]:
        return Message(Reason.LEAD_LOW, {**params, "suit": chosen[0]})
    return Message(Reason.LEAD_BEST, params)


def _beats_all_in_sight(trick: Trick, odds: Odds, card: Card, trump: str) -> bool:
    """Whether ``card`` is above all that lies face up, and no trump that lies face down is above it for certain."""
    shown = [there for there in trick.cards if there is not None]
    return best([*shown, card], trump) == len(shown) and (card in odds.trumps or not odds.down)


def _company(view: View, card: Card) -> list[Card]:
    """The plain cards of its suit that the hand holds with the plain ``card``, low to high; none if it is a trump."""
    trumps = TRUMPS[view.table.trump]
    if card in trumps:
        return []
    return sorted((held for held in view.hand if held[0] == card[0] and held not in trumps), key=PLAIN.__getitem__)
