"""The rules of koi-koi for people. Numbers, cards and points come from the engine's tables."""

from __future__ import annotations

from clients.cli.manual.page import ExplainedOption, explained, heading, options_of, paragraph, rows, rule, title
from clients.cli.words import N_, Lines, _, listed
from clients.cli.words.koi_koi import NAMES, YAKU
from engine.koi_koi import KOI_KOI
from engine.koi_koi.rules import HAND
from engine.koi_koi.scoring import (
    CARDS,
    COUNTS,
    OPENING_SCORE,
    POINTS,
    RAIN_MAN,
    SAKE_CUP,
    SETS,
    VIEWING_SETS,
    cards_of,
    mask_of,
    total,
)
from engine.koi_koi.types import PointTable, Rules, Yaku

OPTIONS = {
    "deals": (N_("how many deals make a match; the totals are compared, level totals are a draw"), {}),
    "next_first": (
        N_("who begins the next deal of a match"),
        {
            "alternating": N_("the players take turns"),
            "winner": N_("the winner of the deal; after a draw the same player again"),
            "random": N_("drawn at random each time"),
        },
    ),
    "viewing": (
        N_("flower viewing and moon viewing"),
        {
            "off": N_("they do not count"),
            "on": N_("they are yaku like any other"),
            "with-another": N_("they count only beside another yaku"),
        },
    ),
    "seven_doubles": (
        N_("a stop with seven points or more"),
        {"off": N_("scores what it is worth"), "on": N_("scores double")},
    ),
    "opponent_call_doubles": (
        N_("a stop after the other player called koi in this deal"),
        {
            "off": N_("scores what it is worth"),
            "on": N_("scores double; together with seven_doubles four times"),
        },
    ),
    "calls": (
        N_("how often a player may call koi in a deal"),
        {
            "unlimited": N_("as often as a decision comes"),
            "one": N_("once; when the total rises again only stop is open"),
        },
    ),
    "points": (
        N_("what the yaku are worth"),
        {"house": N_("the first column of the table"), "nintendo": N_("the second column")},
    ),
}


def options() -> tuple[ExplainedOption, ...]:
    """All options, explained."""
    return explained(KOI_KOI, OPTIONS)


def rules() -> Lines:
    """The complete rules."""
    return (
        *title("Koi-koi"),
        *paragraph("Two players capture flower cards of equal month and make yaku of what they have captured."),
        *heading("In short"),
        *paragraph(
            "In your turn play a card of your hand. If a card of the same month lies on the board you capture both; "
            "then the top card of the stock is turned up and does the same. What you have captured lies before you "
            "and makes yaku: sets that are worth points."
        ),
        "",
        *paragraph(
            "Once you have made a yaku you choose: stop, and score what you have, or koi, and play on for more, at "
            "the risk that the other player stops first. A deal ends with a stop, or as a draw when all cards are "
            "played; after the last deal the higher total wins."
        ),
        *heading("The cards"),
        *paragraph(
            "48 cards, four for each month. A code is the month and a letter: b bright, a animal, r ribbon; p, q and s "
            "are plains. Equal digits always match."
        ),
        *rows(NAMES.months(CARDS)),
        *heading("The deal"),
        *rule(
            "K1",
            "{hand} cards each, eight face up on the board, 24 in the stock. The first player is drawn.",
            hand=HAND,
        ),
        *rule(
            "K2",
            "Before the first turn, in this order: a board with four cards of one month, or made of four pairs, is "
            "dealt again, whatever the hands are. If both hands hold four of a month or four pairs, the cards are "
            "dealt again. If one does, its player scores {points} at once, the hand is shown and the deal is over. "
            "Four pairs means that the eight cards split into four pairs of equal month; it is {points} once, even "
            "for both kinds.",
            points=OPENING_SCORE,
        ),
        *rule("K3", "Dealing again is a new shuffle of all 48 cards; the same player begins. Everyone is told why."),
        *heading("A turn"),
        *rule(
            "K4",
            "Play any hand card. If no board card has its month it stays on the board. One: capture both. Two: "
            "choose which one to capture, written 03r*03p. Three: capture all four.",
        ),
        *rule(
            "K5",
            "Captures are immediate. Then the top card of the stock is turned up and matched in the same way; it may "
            "capture the card just laid. With two matches you choose, written *05r; both players see the card.",
        ),
        *rule("K6", "Yaku are looked at after both steps."),
        *heading("Yaku"),
        *rows(_yaku()),
        *rule(
            "K7",
            "Of the bright yaku only the highest counts; everything else adds up. The sake cup ({cup}) is an animal "
            "and a plain. All 48 cards together are worth {all}.",
            cup=SAKE_CUP,
            all=total(mask_of(CARDS), Rules()),
        ),
        *heading("Stop or koi"),
        *rule(
            "K8",
            "When your total rose in your turn you decide. Stop: you score the whole total, the other player 0, the "
            "deal is over. Koi: you play on with nothing claimed, and your total must rise again before you may "
            "decide again. You may call koi as often as you like; it changes nobody's score.",
        ),
        *rule("K9", "With an empty hand you can only stop."),
        *rule(
            "K10",
            "When both hands are empty and nobody stopped the deal is a draw, 0 to 0; what was unclaimed is lost.",
        ),
        *options_of(options()),
    )


def _yaku() -> list[tuple[str, str]]:
    cards = {each.yaku: " ".join(cards_of(each.cards)) for each in (*SETS, *VIEWING_SETS)}
    counts = {each.yaku: each.least for each in COUNTS}
    pairs = [(_("yaku"), _("points (option points: house / nintendo)"))]
    for yaku in Yaku:
        house, nintendo = (POINTS[table][yaku] for table in (PointTable.HOUSE, PointTable.NINTENDO))
        notes = [cards.get(yaku, "")]
        if yaku in counts:
            notes.append(_("from {least} cards on; each more is a point more").format(least=counts[yaku]))
        if yaku is Yaku.THREE_BRIGHTS or yaku is Yaku.FOUR_BRIGHTS:
            notes.append(_("without the rain man, {card}").format(card=RAIN_MAN))
        if yaku in {each.yaku for each in VIEWING_SETS}:
            notes.append(_("option viewing"))
        note = listed(filter(None, notes))
        pairs.append((_(YAKU[yaku]), f"{house} / {nintendo}" + (f"  ({note})" if note else "")))
    return pairs
