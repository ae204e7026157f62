"""The rules of go-stop for people. Numbers, cards and points come from the engine's tables."""

from __future__ import annotations

from clients.cli.manual.page import ExplainedOption, explained, heading, options_of, paragraph, rows, rule, title
from clients.cli.words import N_, Lines, _, listed
from clients.cli.words.go_stop import COMBOS, NAMES
from engine.go_stop import GO_STOP
from engine.go_stop.scoring import (
    ANIMAL_ROW,
    BRIGHT_ROWS,
    CUP,
    DOUBLE_JUNK,
    JUNK_ROW,
    NAGARI_DOUBLINGS,
    RAIN_BRIGHT,
    RIBBON_ROW,
    SET_ROWS,
    SEVEN_ANIMALS,
    cards_of,
)
from engine.go_stop.types import CARDS, DECISION_POINTS, FIXED_POINTS, HAND_SIZE, LAYOUT_SIZE, STOCK_SIZE

OPTIONS = {
    "deals": (N_("how many deals make a match; the totals are compared"), {}),
    "next_first": (
        N_("who begins the next deal of a match"),
        {
            "alternating": N_("the players take turns"),
            "winner": N_("the winner of the deal; after a nagari the same player again"),
            "random": N_("drawn at random each time"),
        },
    ),
    "go_bak": (
        N_("when the loser had called go"),
        {"off": N_("nothing follows"), "on": N_("the payment doubles once more")},
    ),
    "nagari": (
        N_("what a drawn deal leaves"),
        {
            "nothing": N_("nothing"),
            "doubles": N_(
                "the payment of the next deal of the match is doubled, once for each nagari before it, at most "
                "×{nagari_most}; fixed scores (G2, G12) are not doubled and leave it standing"
            ),
        },
    ),
    "sseul": (
        N_("which sweep of the layout takes a junk card"),
        {
            "narrow": N_("that of G8"),
            "broad": N_(
                "any turn that empties the layout, on top of whatever else it takes; not in a player's last turn"
            ),
        },
    ),
    "junk_doubling": (
        N_("against how much junk scored junk pays double (G18)"),
        {
            "under-five": N_("fewer than five units, none included"),
            "one-to-seven": N_("one to seven units; a player with none is exempt"),
        },
    ),
}


def options() -> tuple[ExplainedOption, ...]:
    """All options, explained."""
    return explained(GO_STOP, OPTIONS, nagari_most=2**NAGARI_DOUBLINGS)


def rules() -> Lines:
    """The complete rules."""
    return (
        *title("Go-stop (matgo, for two)"),
        *paragraph("Two players capture flower cards of equal month for combinations, and decide: stop or go."),
        *heading("In short"),
        *paragraph(
            "In your turn play a card of your hand, onto a card of the same month if one lies on the layout. Then "
            "the top card of the stock is turned up and does the same, and you capture what has matched. Captured "
            "cards make combinations that are worth points."
        ),
        "",
        *paragraph(
            "With {points} points, and whenever you have more, you choose: stop, and be paid, or go, and play on for "
            "more, at the risk that the other player gets there first. Lucky turns (chok, ttadak, sseul) take junk "
            "from the other player; an unlucky one (ppuk) leaves your cards on the layout. What the loser lacks can "
            "double the payment.",
            points=DECISION_POINTS,
        ),
        *heading("The cards"),
        *paragraph(
            "48 cards, four for each month. A code is the month and a letter: b bright, a animal, r ribbon; p, q and s "
            "are junk. Equal digits always match. November is paulownia, December is rain."
        ),
        *rows(NAMES.months(CARDS)),
        *heading("The deal"),
        *rule(
            "G1",
            "{hand} cards each, {layout} on the layout, {stock} in the stock. The first player is drawn.",
            hand=HAND_SIZE,
            layout=LAYOUT_SIZE,
            stock=STOCK_SIZE,
        ),
        *rule(
            "G2",
            "Before the first turn, in this order: four of a month on the layout: dealt again. Both hands hold four "
            "of a month: dealt again. One hand does: its player scores {points} at once, without doublings; the "
            "four cards are shown and the deal is over.",
            points=FIXED_POINTS,
        ),
        *rule("G3", "Three of a month on the layout lie as one stack that nobody owns."),
        *heading("A turn"),
        *rule(
            "G4",
            "Play any hand card. If no layout card has its month it stays there. One: the two are a pending pair. "
            "Two: choose one, written 03r*03p; they are a pending pair. Three: all four are taken.",
        ),
        *rule(
            "G5",
            "Then the top card of the stock is turned up and matched in the same way; with two matches you choose, "
            "written *05r. Captures are settled after both steps.",
        ),
        *rule(
            "G6",
            "If the stock card has the month of the pending pair: where one layout card of that month lay, all "
            "three stay as a ppuk, a stack that is yours; where two lay, all four are taken: ttadak.",
        ),
        *rule("G7", "The stock card captures the hand card that had found no match: chok."),
        *rule(
            "G8",
            "Sseul: the turn began with exactly two layout cards, of different months, and both were captured in it.",
        ),
        *rule(
            "G9",
            "Ttadak, chok and sseul take one junk card each from the other player, except in a player's last turn, "
            "when the hand is empty after playing. At most one of the three happens in a turn, and none together "
            "with G10.",
        ),
        *rule(
            "G10",
            "Capturing a stack of three, by hand card or stock card and also in the last turn, takes one junk card; "
            "two junk units if it is your own earlier ppuk. Two stacks in one turn are settled in turn, the hand "
            "card's first.",
        ),
        *rule(
            "G11",
            "Junk is taken card by card, the least valuable first, then the lowest code, until the units owed are "
            "reached or no junk is left. A double junk pays two units; a single and a double against two units: "
            "both go. The cup ({cup}) is never taken.",
            cup=CUP,
        ),
        *rule(
            "G12",
            "A player's third ppuk scores {points} at once and ends the deal, without go bonus or doublings.",
            points=FIXED_POINTS,
        ),
        *heading("Combinations"),
        *rows(_combinations()),
        *paragraph("Combinations add up; of the bright ones only the highest counts."),
        *rule(
            "G13",
            "Double junk, two units each: {double}. The December ribbon counts among the ribbons but is in no set.",
            double=listed(map(NAMES.coded, cards_of(DOUBLE_JUNK))),
        ),
        *rule(
            "G14",
            "The sake cup ({cup}) is one animal or a double junk, whichever makes the higher score; an animal if it "
            "makes no difference. It is judged anew after every capture and transfer.",
            cup=CUP,
        ),
        *heading("Stop or go"),
        *rule(
            "G15",
            "At the end of your turn with {points} points or more you decide; after a go only once the score is "
            "above what it was at that go (it can have fallen meanwhile).",
            points=DECISION_POINTS,
        ),
        *rule("G16", "With an empty hand you can only stop."),
        *rule(
            "G17",
            "Stop pays the combination score s. With one go s+1, with two s+2, with three or more (n) s × 2^(n−2) "
            "and nothing added.",
        ),
        *rule(
            "G18",
            "Each of these doubles the payment: scored brights against a player without any bright (gwang-bak); "
            "{animals} animals or more, as G14 counts them (meong-bak); scored junk against too little junk (pi-"
            "bak), see the option junk_doubling. The other player's cup counts two junk units there, whatever it "
            "counts as for them.",
            animals=SEVEN_ANIMALS,
        ),
        *rule(
            "G19",
            "The other player scores 0, whatever they had or called. All cards played and nobody stopped: nagari, a "
            "draw. Layout and stock are then empty.",
        ),
        *options_of(options()),
    )


def _combinations() -> list[tuple[str, str]]:
    pairs = [(_("combination"), _("points"))]
    for bright in BRIGHT_ROWS:
        rain = {
            True: _("  (the rain bright, {card}, among them)"),
            False: _("  (without the rain bright, {card})"),
            None: "",
        }[bright.with_rain]
        pairs.append((_(COMBOS[bright.name]), str(bright.points) + rain.format(card=RAIN_BRIGHT)))
    pairs += [(_(COMBOS[row.name]), f"{row.points}  ({' '.join(cards_of(row.cards))})") for row in SET_ROWS]
    for count in (ANIMAL_ROW, RIBBON_ROW, JUNK_ROW):
        text = _("{points}  (from {least} on; each more is a point more)")
        pairs.append((_(COMBOS[count.name]), text.format(points=count.points(count.least), least=count.least)))
    return pairs
