"""The words of Hachinin Meri: options, actions, table, state, view, events, and the codes it refuses and reasons with.

Data only. What may happen stands in ``rules``, what a seat may know in ``sight``. Rule numbers (H1, H2, …) are those
of ``docs/hachinin-meri.md``.

State and view share one value, the ``Table``: everything that lies or was said in the open, with None in place of
what a viewer may not see. ``table.evolve`` folds events into it, whole ones for the state and redacted ones for a view.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct

from engine.game import Card, Seat, Viewer

SEATS: Final = 8
HAND: Final = 9
"""Cards dealt to a seat (H8)."""
TRICKS: Final = 9
"""Tricks of a deal, the ninth (H21) included."""


class Suit(StrEnum):
    """The five suits by the letter of their cards' codes (H1, H2)."""

    PAO = "P"
    """Clubs; long."""
    ISU = "I"
    """Swords; long."""
    KOPPU = "K"
    """Cups; round."""
    OURU = "O"
    """Coins; round."""
    GURU = "G"
    """Comma crest; round."""


# Options ------------------------------------------------------------------------------------------------------


class Monchi(StrEnum):
    """What Monchi demands of a holder of the led suit (H20)."""

    SUIT_OR_TRUMP = "suit-or-trump"
    SUIT_FIRST = "suit-first"
    """A card of the led suit; a trump only when void."""


class ConcealedRobai(StrEnum):
    """Which combinations move five points because the native Robai was concealed (H25)."""

    OWN_PAIRS = "own-pairs"
    """Those that contain it."""
    EVERY_COMBINATION = "every-combination"
    """All of the deal."""
    OFF = "off"
    """None."""


class DiscardRule(StrEnum):
    """What the taker may discard (H12)."""

    NON_TRUMP = "non-trump"
    """A card that is no trump, if there is one."""
    ANY = "any"


class NinthTrick(StrEnum):
    """How the last cards are played (H21)."""

    SIMULTANEOUS = "simultaneous"
    """Revealed at once."""
    LED = "led"
    """An ordinary trick, led by the winner of the eighth."""


class HouseRules(Struct, frozen=True, gc=False):
    """The options that matter within a deal."""

    monchi: Monchi = Monchi.SUIT_OR_TRUMP
    concealed_robai: ConcealedRobai = ConcealedRobai.OWN_PAIRS
    discard: DiscardRule = DiscardRule.NON_TRUMP
    ninth_trick: NinthTrick = NinthTrick.SIMULTANEOUS


# Actions ------------------------------------------------------------------------------------------------------


class Declare(Struct, frozen=True, gc=False):
    """Declare the trump suit's own Robai (H10). Written ``declare``."""


class Pass(Struct, frozen=True, gc=False):
    """Declare nothing (H10). Written ``pass``."""


class Discard(Struct, frozen=True, gc=False):
    """Put a card away after taking the Okie (H12). Written ``-P5``."""

    card: Card


class Play(Struct, frozen=True, gc=False):
    """Play a card to a trick, or lead it (H15). Written ``K7``."""

    card: Card


Action: TypeAlias = Declare | Pass | Discard | Play


# The table ----------------------------------------------------------------------------------------------------


class Phase(StrEnum):
    """What is being done."""

    DECLARING = "declaring"
    """All eight are asked (H10)."""
    DISCARDING = "discarding"
    """The taker holds ten cards (H12)."""
    PLAYING = "playing"
    OVER = "over"


class Pair(StrEnum):
    """The combinations (H23): the winning trump, then the strongest of the other team."""

    SUN_UN = "sun-un"
    UN_SOTA = "un-sota"
    SOTA_ROBAI = "sota-robai"
    ROBAI_REI = "robai-rei"
    LOWEST = "lowest"
    """2 over 1 in a long trump suit, 8 over 9 in a round one."""


class Stake(StrEnum):
    """Why a combination moves as many points as it does (H24, H25)."""

    USUAL = "usual"
    """Two points."""
    NINTH = "ninth"
    """Five: it fell in the ninth trick (whatever else would have made it five)."""
    CONCEALED = "concealed"
    """Five: the native Robai was concealed, and is part of it or counts for all (option ``every-combination``)."""


class Combination(Struct, frozen=True, gc=False):
    """A combination and what it moves to the winner's team (H23–H25)."""

    pair: Pair
    team: int
    """The winner's: 0 for the even seats, 1 for the odd ones."""
    high: Card
    low: Card
    points: int
    """2 or 5, taken from the other team."""
    stake: Stake


class Trick(Struct, frozen=True, gc=False):
    """One trick, in play or settled."""

    leader: Seat
    """Who led. In a ninth trick that is revealed at once: the dealer, whose card gives the led suit (H21)."""
    meri: bool
    """Led with a trump (H18)."""
    cards: tuple[Card | None, ...] = ()
    """In order of play, clockwise from ``leader``; None for a face-down trump that the viewer may not see."""
    face_down: tuple[Seat, ...] = ()
    """Who played a trump face down (H17), in order of play."""
    winner: Seat | None = None
    """None while it is in play."""
    combination: Combination | None = None


class Table(Struct, frozen=True, gc=False):
    """Everything that was said or lies in the open, as somebody sees it (the state sees all)."""

    rules: HouseRules
    dealer: Seat
    okie: Card
    """Card 73, turned up (H8). Its suit is trump (H9)."""
    phase: Phase = Phase.DECLARING
    turn: Seat | None = None
    """Who is to discard or play; None while all are asked and when the deal is over."""
    declarer: Seat | None = None
    """Who declared the Robai (H11)."""
    taker: Seat | None = None
    """Who took the Okie; None before."""
    discard: Card | None = None
    """The taker knows it, everyone from the opening lead on (H14)."""
    side: tuple[Card, Card] | None = None
    """The two side cards, unknown until the opening lead (H14)."""
    trick: Trick | None = None
    """The trick in play; None before a lead."""
    tricks: tuple[Trick, ...] = ()
    """Those settled."""
    monchi: bool = False
    """Monchi is in force: a Meri trick has been settled (H20)."""
    points: tuple[int, int] = (0, 0)
    """So far, by team: even seats, odd seats. May be negative (H26)."""

    @property
    def trump(self) -> Suit:
        """The trump suit: the one printed on the Okie (H9)."""
        return Suit(self.okie[0])


class State(Struct, frozen=True, gc=False):
    """The whole truth of a deal."""

    table: Table
    hands: tuple[tuple[Card, ...], ...]
    """By seat, each sorted as text."""
    answers: tuple[bool | None, ...] = (None,) * SEATS
    """By seat: declared, passed, or not answered yet (H10). Sealed; all None again once they are published."""


class View(Struct, frozen=True, gc=False):
    """Everything one viewer knows."""

    seat: Viewer
    table: Table
    hand: tuple[Card, ...] = ()
    """The viewer's own cards, sorted as text; none for a spectator."""


# Events -------------------------------------------------------------------------------------------------------


class Event(Struct, frozen=True, gc=False, tag_field="e"):
    """Something that happened in a deal."""


class Dealt(Event, frozen=True, tag="dealt"):
    """Nine cards each; the Okie is turned up (H8)."""

    rules: HouseRules
    dealer: Seat
    okie: Card
    hands: tuple[tuple[Card, ...] | None, ...]
    """By seat, each sorted as text; None but for the viewer's own."""
    side: tuple[Card, Card] | None
    """Hidden from everybody."""


class Declared(Event, frozen=True, tag="declared"):
    """The eight sealed answers, published together (H10): who declared, all others passed.

    It is all there is to publish: only one seat could have declared. Clients list the seats from the dealer's left.
    """

    declarer: Seat | None


class OkieTaken(Event, frozen=True, tag="okie-taken"):
    """The declarer, or for want of one the dealer, takes the Okie and now holds ten cards (H11)."""

    seat: Seat
    okie: Card


class Discarded(Event, frozen=True, tag="discarded"):
    """The taker put a card away and is to lead (H12)."""

    seat: Seat
    card: Card | None
    """Hidden from all but the taker."""


class TrickLed(Event, frozen=True, tag="led"):
    """The first card of a trick."""

    number: int
    """Of the trick, 1 … 9."""
    seat: Seat
    card: Card
    meri: bool
    """It is a trump: whoever holds one must play one, face up (H18)."""


class AsideShown(Event, frozen=True, tag="aside-shown"):
    """With the opening lead, discard and side cards are shown (H14). They count for nothing."""

    taker: Seat
    discard: Card
    side: tuple[Card, Card]


class CardPlayed(Event, frozen=True, tag="played"):
    """A card that follows a lead."""

    seat: Seat
    card: Card | None
    """Hidden from all but its player while it lies face down."""
    face_down: bool
    """It is a trump played to a plain lead (H17)."""


class NinthRevealed(Event, frozen=True, tag="ninth-revealed"):
    """All last cards at once (H21); a ``settled`` follows."""

    dealer: Seat
    cards: tuple[Card, ...]
    """Clockwise from the dealer."""


class TrickSettled(Event, frozen=True, tag="settled"):
    """All face-down cards are turned up (H17), the trick is won (H15, H22), points may move (H24)."""

    number: int
    """Of the trick, 1 … 9."""
    trick: Trick
    """In full: cards, winner, combination."""
    points: tuple[int, int]
    """So far, by team."""


class MonchiBegan(Event, frozen=True, tag="monchi"):
    """The first Meri trick is settled: from the next trick on Monchi is in force (H20)."""


class DealScored(Event, frozen=True, tag="scored"):
    """How the deal came out, by team: even seats, odd seats (H26)."""

    tricks: tuple[int, int]
    """Tricks won, a point each (H22)."""
    combinations: tuple[Combination, ...]
    """In order of their tricks."""
    scores: tuple[int, int]


AnyEvent: TypeAlias = (
    Dealt
    | Declared
    | OkieTaken
    | Discarded
    | TrickLed
    | AsideShown
    | CardPlayed
    | NinthRevealed
    | TrickSettled
    | MonchiBegan
    | DealScored
)
EVENTS: Final[tuple[type[Event], ...]] = AnyEvent.__args__


# Codes --------------------------------------------------------------------------------------------------------


class Why(StrEnum):
    """Refusals of this game, besides those that all games share (``engine.game.Why``)."""

    NOT_IN_THIS_PHASE = "not-in-this-phase"
    """Another kind of action is due. ``phase``: a value of ``Phase``."""
    ONLY_ROBAI_DECLARES = "only-robai-declares"
    """Only the holder of the trump suit's own Robai can declare (H10). ``robai``: that card."""
    DISCARD_NO_TRUMP = "discard-no-trump"
    """Who holds a card that is no trump discards one (H12). ``card``: what was named; ``cards``: the possible ones."""
    LEAD_NO_TRUMP = "lead-no-trump"
    """Who can, opens with a card that is no trump (H13). ``card``; ``cards``: the possible ones."""
    MERI = "meri"
    """A trump was led and you hold one (H18). ``card``; ``cards``: your trumps."""
    MONCHI = "monchi"
    """You hold a card of the led suit: play one, or a trump (H20). ``card``; ``suit``: its letter; ``cards``."""
    MONCHI_SUIT_FIRST = "monchi-suit-first"
    """You hold a card of the led suit: play one (H20, option ``suit-first``). ``card``; ``suit``; ``cards``."""


class Reason(StrEnum):
    """Why an AI chose as it did. Every reason has ``card`` where a card is played or discarded.

    What a reason says of the cards is so (``tests/engine/hachinin_meri/test_reasons.py``); that it was worth choosing
    for is what the AI thinks.
    """

    FORCED = "forced"
    """There was only one thing to do."""
    RANDOM = "random"
    """A careless move, as weak levels make them."""
    DECLARE = "declare"
    """The Okie comes with it, and the Robai counts no more than other cards (H25). ``robai``."""
    HIDE = "hide"
    """To make the Robai worth five (H25). ``robai``."""
    KEEP_QUIET = "keep-quiet"
    """To let nobody know who holds the Robai, where that makes it worth no more. ``robai``."""
    NOTHING_TO_DECLARE = "nothing-to-declare"
    """Somebody else, or nobody, holds the Robai."""
    VOID = "void"
    """The last card of a plain suit in the hand. ``suit``."""
    WEAKEST = "weakest"
    """Discarded: the lowest card of a plain suit in the hand. ``suit``."""
    SPARE = "spare"
    """Nothing more can be said of it than that the AI would miss it least."""
    LEAD_HIGH = "lead-high"
    """Led: nobody else holds anything of its suit that beats it."""
    LEAD_LOW = "lead-low"
    """Led: the lowest card of a plain suit in the hand. ``suit``."""
    LEAD_MERI = "lead-meri"
    """Led a trump to draw the others'."""
    LEAD_BEST = "lead-best"
    """Led: nothing more can be said of it than that it promises most."""
    COMBINATION = "combination"
    """To win a combination: its higher card. ``pair``: a value of ``Pair``."""
    WIN = "win"
    """It beats everything that lies face up. (A trump may yet lie face down above it.)"""
    PARTNER_WINS = "partner-wins"
    """A partner has the trick so far, as far as can be seen, and keeps it. ``seat``: that partner's."""
    DUCK = "duck"
    """It does not win so far, and is the lowest that may be played."""
    PROTECT = "protect"
    """To keep another card out of a combination, as its lower card. ``keep``: that card; ``pair``."""
    KEEP_LAST = "keep-last"
    """To keep a trump for the ninth trick. ``keep``: that card."""
