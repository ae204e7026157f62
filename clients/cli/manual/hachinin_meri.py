"""The rules of Hachinin Meri for people. Numbers, cards and orders come from the engine's tables."""

from __future__ import annotations

from clients.cli.manual.page import ExplainedOption, explained, heading, options_of, paragraph, rows, rule, title
from clients.cli.words import N_, Lines, _
from clients.cli.words.hachinin_meri import PAIRS, RANK_NAMES, SUITS
from engine.hachinin_meri import HACHININ_MERI
from engine.hachinin_meri.cards import CARDS, LONG, TENKA, TRUMPS, order
from engine.hachinin_meri.scoring import POINTS
from engine.hachinin_meri.types import HAND, SEATS, TRICKS, Pair, Stake, Suit

OPTIONS = {
    "deals": (N_("how many deals make a match; level totals are a draw"), {}),
    "first_dealer": (N_("who deals first"), {"random": N_("drawn at random"), "": N_("this seat")}),
    "monchi": (
        N_("what Monchi asks (H20)"),
        {
            "suit-or-trump": N_("a card of the suit led, or any trump"),
            "suit-first": N_("a card of the suit led; a trump only without one"),
        },
    ),
    "concealed_robai": (
        N_("which combinations move five points because the Robai was concealed (H25)"),
        {
            "own-pairs": N_("those that contain it"),
            "every-combination": N_("all of the deal"),
            "off": N_("none: concealing changes nothing"),
        },
    ),
    "discard": (
        N_("what the taker may discard (H12)"),
        {"non-trump": N_("no trump while holding another card"), "any": N_("any card")},
    ),
    "ninth_trick": (
        N_("how the last cards are played (H21)"),
        {
            "simultaneous": N_("all at once"),
            "led": N_(
                "an ordinary trick led by the winner of the eighth (H16 to H20 apply; Meri if a trump is led); the "
                "five points of H25 stay"
            ),
        },
    ),
}


def options() -> tuple[ExplainedOption, ...]:
    """All options, explained."""
    return explained(HACHININ_MERI, OPTIONS)


def rules() -> Lines:
    """The complete rules."""
    return (
        *title("Hachinin Meri (eight-player Meri)"),
        *paragraph("Eight players in two teams of four play nine tricks with the 75 cards of unsun karuta."),
        *heading("In short"),
        *paragraph(
            "Every second seat is your partner. One suit is trump for the deal, and the card called Tenka is always "
            "a trump. To each trick everybody plays one card, clockwise; the highest trump wins, without a trump the "
            "highest card of the suit led. A trick is a point for the team, and its winner leads the next one."
        ),
        "",
        *paragraph(
            "At first you may answer a lead with any card; a trump then lies face down until all have played. When a "
            "trump is led (Meri) whoever holds one must play one. From then on (Monchi) a plain lead is answered "
            "with a card of its suit or with a trump, if you hold one of its suit."
        ),
        "",
        *paragraph(
            "The cards do not rank as their numbers say: the rows above the table show the order. A trump that wins "
            "just above the best one of the other team (Sun over Un, Un over Sota and so on) also takes points from "
            "them. For a start, win the tricks that no partner of yours is winning already."
        ),
        *heading("The cards"),
        *rule(
            "H1",
            "Five suits of fifteen cards ({cards} in all): six courts and the numerals 1 to 9.",
            cards=len(CARDS),
        ),
        *rows((f"{suit} {_(SUITS[suit])}", _shape(suit)) for suit in Suit),
        *rule("H2", "A card is written as its suit's letter and its rank: Psu, Gro, K7."),
        *rows((rank, _(name)) for rank, name in RANK_NAMES.items()),
        *rule(
            "H3",
            "The Pao Robai ({tenka}) is Tenka: a trump in every deal. It is no Pao card for following suit unless "
            "Pao is trump; then it is Tenka and the trump suit's own Robai at once.",
            tenka=TENKA,
        ),
        *rule(
            "H4",
            "Trumps are the cards of the trump suit, and Tenka: {pao} when Pao is trump, otherwise {other}.",
            pao=len(TRUMPS[Suit.PAO]),
            other=len(TRUMPS[Suit.KOPPU]),
        ),
        *rule("H5", "The order of the cards, high to low. As trumps:"),
        *rows((_(SUITS[suit]), _codes(suit, suit)) for suit in Suit),
        *rule("", "As plain cards:"),
        *rows((_(SUITS[suit]), _codes(suit, _another(suit))) for suit in Suit),
        *heading("Seats, match, deal"),
        *rule(
            "H6",
            "Seats are numbered 0 to {last} clockwise. The even seats are one team, the odd ones the other.",
            last=SEATS - 1,
        ),
        *rule(
            "H7",
            "A match is {deals} deals unless its creator chose otherwise. The first dealer is drawn; the deal moves "
            "one seat to the left each time. The totals are compared after the last deal; level totals are a draw.",
            deals=HACHININ_MERI.options["deals"][0],
        ),
        *rule(
            "H8",
            "From the dealer's left everyone gets three packets of three, {hand} cards. Of the three cards left the "
            "first, the Okie, is turned up; the other two are the side cards.",
            hand=HAND,
        ),
        *rule("H9", "The suit printed on the Okie is trump; an Okie that is Tenka makes Pao trump."),
        *heading("The declaration"),
        *rule(
            "H10",
            "Everyone is asked, unseen by the others: declare is open to the holder of the trump suit's own Robai "
            "alone, all others pass; silence is a pass. The answers are shown together after a fixed time. Until "
            "then nobody can tell who holds the Robai, or whether anyone does.",
        ),
        *rule(
            "H11",
            "Who declares takes the Okie; everyone knows the seat, the Robai stays in the hand. If nobody declares "
            "the dealer takes it. When the Robai is the Okie itself or a side card nobody can declare.",
        ),
        *rule(
            "H12",
            "Taking is compulsory. The taker holds ten cards, discards one (written -P5; no trump while holding "
            "another card), and leads the first trick.",
        ),
        *rule(
            "H13",
            "The opening lead is no trump while the taker holds another card; otherwise a trump is led, and it is "
            "Meri.",
        ),
        *rule(
            "H14",
            "The discard and the side cards are shown with the opening lead, not before. They win nothing and count "
            "nothing.",
        ),
        *heading("Tricks"),
        *rule(
            "H15",
            "One card each, clockwise. The highest trump wins; without a trump the highest card of the suit led. "
            "Cards of other plain suits cannot win. The winner leads the next trick.",
        ),
        *rule("H16", "Until a trump has been led there is no duty to follow: any card may be played."),
        *rule(
            "H17",
            "A trump played to a plain lead lies face down until the eighth card is played: everyone sees that it "
            "is a trump, nobody but its player sees which. Then all are turned up together.",
        ),
        *rule(
            "H18",
            "Meri: a trick led with a trump. Everything is face up, and whoever holds a trump must play one. Tenka "
            "counts both ways: leading it is Meri, holding it obliges.",
        ),
        *rule(
            "H19",
            "Lone Sun: whose dealt {hand} cards held the trump Sun as their only trump need not play it to Meri "
            "while it is their only trump.",
            hand=HAND,
        ),
        *rule(
            "H20",
            "Monchi: from the trick after the first Meri to the end of the deal whoever holds a card of the suit "
            "led must answer a plain lead with a card of that suit or with any trump. Who holds none may play "
            "anything. H17 still holds.",
        ),
        *rule(
            "H21",
            "The ninth trick is not played: when the eighth is settled all last cards are shown at once. Trumps "
            "compete as always; without a trump the dealer's card gives the suit. It is never Meri.",
        ),
        *heading("The score"),
        *rule("H22", "Each of the {tricks} tricks is a point for the winning team.", tricks=TRICKS),
        *rule(
            "H23",
            "In a trick that was not led with a trump (the ninth included) the winning trump and the strongest "
            "trump of the other team may be a combination. Trumps of the winner's own team do not matter, and Tenka "
            "is never part of one unless Pao is trump. The combinations are:",
        ),
        *rows((_(PAIRS[pair]), _pair_note(pair)) for pair in Pair),
        *rule(
            "H24",
            "A combination moves {points} points from the other team to the winner's.",
            points=POINTS[Stake.USUAL],
        ),
        *rule(
            "H25",
            "It moves {points} instead in the ninth trick, or when it contains the trump suit's own Robai and that "
            "Robai was concealed: held by a player, the dealer included, who passed. {points} once, never more. A "
            "Robai that was the Okie was never concealed.",
            points=POINTS[Stake.CONCEALED],
        ),
        *rule(
            "H26",
            "The two scores of a deal sum to {tricks} and may be negative; those of a match of eight to {sum}.",
            tricks=TRICKS,
            sum=8 * TRICKS,
        ),
        *options_of(options()),
    )


def _shape(suit: Suit) -> str:
    return _("long: 9 is the highest numeral") if suit in LONG else _("round: 1 is the highest numeral")


def _another(suit: Suit) -> Suit:
    return Suit.KOPPU if suit is not Suit.KOPPU else Suit.OURU


def _codes(suit: Suit, trump: Suit) -> str:
    return " ".join(order(suit, trump))


def _pair_note(pair: Pair) -> str:
    if pair is Pair.LOWEST:
        return _("2 over 1 in a long trump suit, 8 over 9 in a round one")
    return _("of the trump suit")
