"""What go-stop (matgo) is made of: options, actions, events, the table, state and view, and its codes.

Belongs here: shapes and names only; in one file, long as it is, because it is the glossary that clients and protocol
are written from. Numbers such as ``G4`` are those of the rules; ``docs/go-stop.md`` says what was
decided where they are silent. Seats are 0 and 1. A card is a code of the go-stop deck: November (11) is paulownia,
December (12) is rain.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias

from msgspec import Struct

from engine.flowers import flower_deck
from engine.game import Card, OptionValue, Seat, Viewer

CARDS: Final = flower_deck(november="bpqs", december="barp")
"""The 48 cards in card-id order. Coloured November junk is ``11p``, December's is ``12p`` (G13)."""

HAND_SIZE: Final = 10
"""Cards dealt to each player (G1)."""
LAYOUT_SIZE: Final = 8
"""Cards dealt to the layout (G1)."""
STOCK_SIZE: Final = 20
"""Cards that are left for the stock (G1)."""

DECISION_POINTS: Final = 7
"""From this combination score on a player decides to stop or go (G15)."""
FIXED_POINTS: Final = 5
"""What four of a month in hand (G2) and a third ppuk (G12) score."""
PPUKS_TO_WIN: Final = 3
"""The ppuk that ends the deal (G12)."""


# Options ---------------------------------------------------------------------------------------------------------


class NextFirst(StrEnum):
    """Values of the option ``next_first``: who begins the next deal of a match."""

    ALTERNATING = "alternating"
    WINNER = "winner"
    """After a nagari the same player again."""
    RANDOM = "random"


class GoBak(StrEnum):
    """Values of the option ``go_bak``: whether a loser who had called go pays double."""

    OFF = "off"
    ON = "on"


class NagariRule(StrEnum):
    """Values of the option ``nagari``: what a drawn deal leaves to the next one."""

    NOTHING = "nothing"
    DOUBLES = "doubles"


class SseulRule(StrEnum):
    """Values of the option ``sseul``: which turns that sweep the layout take a junk card."""

    NARROW = "narrow"
    """G8: two layout cards of different months, both captured."""
    BROAD = "broad"
    """Any turn that empties the layout, on top of whatever else it takes."""


class JunkDoubling(StrEnum):
    """Values of the option ``junk_doubling``: against how many junk units scored junk pays double (G18)."""

    UNDER_FIVE = "under-five"
    ONE_TO_SEVEN = "one-to-seven"


OPTIONS: Final[Mapping[str, tuple[OptionValue, ...]]] = MappingProxyType(
    {
        "deals": (1, 3, 6, 12),
        "next_first": tuple(NextFirst),
        "go_bak": tuple(GoBak),
        "nagari": tuple(NagariRule),
        "sseul": tuple(SseulRule),
        "junk_doubling": tuple(JunkDoubling),
    }
)
"""Every option with its values, the default first."""


# Actions ---------------------------------------------------------------------------------------------------------


class Play(Struct, frozen=True, gc=False, tag_field="a", tag="play"):
    """Play a hand card (G4): ``03r``, or ``03r*03p`` where two layout cards match and one must be named."""

    card: Card
    take: Card | None = None


class Choose(Struct, frozen=True, gc=False, tag_field="a", tag="choose"):
    """Choose the layout card that the revealed stock card captures (G5): ``*05r``."""

    take: Card


class Stop(Struct, frozen=True, gc=False, tag_field="a", tag="stop"):
    """End the deal and be paid (G15, G17): ``stop``."""


class Go(Struct, frozen=True, gc=False, tag_field="a", tag="go"):
    """Play on for more (G15): ``go``."""


Action: TypeAlias = Play | Choose | Stop | Go


# Points ----------------------------------------------------------------------------------------------------------


class Combo(StrEnum):
    """The combinations of the rules page's table."""

    FIVE_BRIGHTS = "five-brights"
    FOUR_BRIGHTS = "four-brights"
    THREE_BRIGHTS = "three-brights"
    """Without the rain bright (12b)."""
    RAIN_THREE_BRIGHTS = "rain-three-brights"
    """Three, the rain bright (12b) among them."""
    ANIMALS = "animals"
    GODORI = "godori"
    RIBBONS = "ribbons"
    RED_POETRY = "red-poetry"
    BLUE = "blue"
    PLAIN_RED = "plain-red"
    JUNK = "junk"


class Combination(Struct, frozen=True, gc=False):
    """A combination that a player has."""

    name: Combo
    points: int
    count: int
    """How many cards make it; of junk, how many units (G13)."""


class Score(Struct, frozen=True, gc=False):
    """What a player's captured cards are worth."""

    combinations: tuple[Combination, ...] = ()
    """In the order of ``Combo``."""
    points: int = 0
    """Their sum: the combination score (s in G17)."""
    cup_is_junk: bool = False
    """The player's sake cup (09a) counts as a double junk instead of an animal (G14)."""


class DoublingReason(StrEnum):
    """Why a payment is doubled."""

    NO_BRIGHTS = "no-brights"
    """The winner scored brights, the loser has none (G18)."""
    SEVEN_ANIMALS = "seven-animals"
    """The winner has seven or more animals (G18)."""
    FEW_JUNK = "few-junk"
    """The winner scored junk, the loser has too little (G18, option ``junk_doubling``)."""
    GO_BAK = "go-bak"
    """The loser had called go (option ``go_bak``)."""
    NAGARI = "nagari"
    """Drawn deals before this one (option ``nagari``)."""


class Doubling(Struct, frozen=True, gc=False):
    """A factor of a payment and its reason."""

    reason: DoublingReason
    factor: int = 2
    """2, or for ``nagari`` 2, 4 or 8."""


class Payment(Struct, frozen=True, gc=False):
    """How what a winner is paid came about, in the order of the calculation."""

    score: Score
    """The winner's combinations; their points are s."""
    goes: int
    """How often the winner had called go."""
    after_goes: int
    """s with the goes counted (G17)."""
    doublings: tuple[Doubling, ...]
    """Applied to ``after_goes`` one after the other."""
    points: int
    """What is paid."""


# Events ----------------------------------------------------------------------------------------------------------


class GoStopEvent(Struct, frozen=True, gc=False, tag_field="e"):
    """What happens in a deal of go-stop. Public in full, but for the hands in ``Dealt``."""


class Dealt(GoStopEvent, frozen=True, tag="dealt"):
    """The cards are dealt (G1). The first event of every deal."""

    options: dict[str, OptionValue]
    carry: int
    """Nagari still standing from the deals before (option ``nagari``)."""
    first: Seat
    hands: tuple[tuple[Card, ...] | None, ...]
    """By seat, ten cards in card-id order; None: hidden from this viewer."""
    layout: tuple[Card, ...]
    """Eight cards as they were dealt; three of a month among them are one stack (G3)."""


class RedealReason(StrEnum):
    """Why a deal is dealt again (G2)."""

    LAYOUT = "layout"
    """Four of a month lie on the layout."""
    BOTH_HANDS = "both-hands"
    """Both hands hold four of a month."""


class Redeal(GoStopEvent, frozen=True, tag="redeal"):
    """The deal does not count and is dealt again by the same first player (G2). It ends this one."""

    why: RedealReason
    layout: tuple[Card, ...]
    """The four (or eight) cards on the layout; empty for ``both-hands``."""
    hands: tuple[tuple[Card, ...], ...]
    """By seat, the four (or eight) cards shown from the hands; empty for ``layout``."""


class FourOfAMonth(GoStopEvent, frozen=True, tag="four-of-a-month"):
    """A dealt hand holds four of a month: its player scores at once and the deal is over (G2)."""

    seat: Seat
    cards: tuple[Card, ...]
    """The four cards, shown; eight if the hand holds two such months."""
    points: int


class TurnBegan(GoStopEvent, frozen=True, tag="turn-began"):
    """``seat`` is to play a hand card."""

    seat: Seat


class HandCardPlayed(GoStopEvent, frozen=True, tag="hand-card-played"):
    """A hand card was played (G4). What it captures is settled after the stock card (G5)."""

    seat: Seat
    card: Card
    matched: tuple[Card, ...]
    """None: it stays on the layout. One: the pending pair's other card. Three: a stack that it will capture."""


class StockCardRevealed(GoStopEvent, frozen=True, tag="stock-card-revealed"):
    """The top stock card was turned up (G5)."""

    seat: Seat
    card: Card


class StockChoiceAwaited(GoStopEvent, frozen=True, tag="stock-choice-awaited"):
    """The revealed stock card matches two layout cards; ``seat`` chooses one (G5)."""

    seat: Seat
    card: Card
    among: tuple[Card, ...]


class StockCardLaid(GoStopEvent, frozen=True, tag="stock-card-laid"):
    """The revealed stock card matched nothing and stays on the layout (G5)."""

    seat: Seat
    card: Card


class Captured(GoStopEvent, frozen=True, tag="captured"):
    """Cards were captured, the capturing card first: two, four of a stack (G4), or four of a ttadak (G6)."""

    seat: Seat
    cards: tuple[Card, ...]


class PpukMade(GoStopEvent, frozen=True, tag="ppuk-made"):
    """The stock card had the month of the pending pair: all three stay as a stack of ``seat`` (G6)."""

    seat: Seat
    cards: tuple[Card, ...]
    count: int
    """How many ppuk this player has made in the deal."""


class ThreePpuk(GoStopEvent, frozen=True, tag="three-ppuk"):
    """A player's third ppuk scores at once and ends the deal (G12)."""

    seat: Seat
    points: int


class Bonus(StrEnum):
    """For what junk is taken from the other player (G9, G10)."""

    TTADAK = "ttadak"
    """Two of the month lay there, the stock card brought the fourth: all four were captured (G6)."""
    CHOK = "chok"
    """The stock card captured the hand card that had found no match (G7)."""
    SSEUL = "sseul"
    """The layout was swept (G8, option ``sseul``)."""
    STACK = "stack"
    """A stack of three that nobody or the other player owned was captured (G10)."""
    OWN_PPUK = "own-ppuk"
    """The player's own earlier ppuk was captured (G10)."""


class JunkTaken(GoStopEvent, frozen=True, tag="junk-taken"):
    """``seat`` takes junk from the other player (G9 to G11)."""

    seat: Seat
    bonus: Bonus
    owed: int
    """Junk units."""
    cards: tuple[Card, ...]
    """What was taken; empty if the other player had no junk."""


class ScoreChanged(GoStopEvent, frozen=True, tag="score-changed"):
    """A player's combinations are others than before, by a capture or a transfer of junk."""

    seat: Seat
    score: Score
    made: tuple[Combo, ...]
    """New ones and those that are worth more now."""
    lost: tuple[Combo, ...]
    """Those gone and those that are worth less now."""


class DecisionAwaited(GoStopEvent, frozen=True, tag="decision-awaited"):
    """``seat`` decides whether to stop or go (G15)."""

    seat: Seat
    score: Score
    only_stop: bool
    """The hand is empty (G16)."""


class GoCalled(GoStopEvent, frozen=True, tag="go-called"):
    """``seat`` plays on (G15)."""

    seat: Seat
    count: int
    """How often this player has called go in the deal."""
    points: int
    """The combination score at this go, which has to be exceeded before the next decision."""


class Stopped(GoStopEvent, frozen=True, tag="stopped"):
    """``seat`` stopped, is paid, and the deal is over (G17, G18)."""

    seat: Seat
    payment: Payment


class Nagari(GoStopEvent, frozen=True, tag="nagari"):
    """All cards are played and nobody stopped: a draw (G19)."""

    scores: tuple[Score, ...]
    """By seat: what was not claimed."""
    goes: tuple[int, ...]
    """By seat: how often each had called go."""


Ending: TypeAlias = Redeal | FourOfAMonth | ThreePpuk | Stopped | Nagari
"""The events that end a deal."""

Event: TypeAlias = (
    Dealt
    | Redeal
    | FourOfAMonth
    | TurnBegan
    | HandCardPlayed
    | StockCardRevealed
    | StockChoiceAwaited
    | StockCardLaid
    | Captured
    | PpukMade
    | ThreePpuk
    | JunkTaken
    | ScoreChanged
    | DecisionAwaited
    | GoCalled
    | Stopped
    | Nagari
)

EVENTS: Final[tuple[type[GoStopEvent], ...]] = Event.__args__


class EndReason(StrEnum):
    """Reasons of the deal record."""

    STOP = "stop"
    NAGARI = "nagari"
    REDEAL = "redeal"
    FOUR_OF_A_MONTH = "four-of-a-month"
    THREE_PPUK = "three-ppuk"


# Table, state and view -------------------------------------------------------------------------------------------


class Phase(StrEnum):
    """What the player whose turn it is has to do."""

    PLAY = "play"
    """Play a hand card (G4)."""
    CHOOSE = "choose"
    """Choose what the revealed stock card captures (G5)."""
    DECIDE = "decide"
    """Stop or go (G15)."""
    OVER = "over"
    """Nothing: the deal has ended."""


class Stack(Struct, frozen=True, gc=False):
    """Three cards of a month on the layout, captured only together (G3, G6); until settled also under a hand card."""

    month: int
    owner: Seat | None
    """Whose ppuk it is; None if it was dealt."""


class Pending(Struct, frozen=True, gc=False):
    """The turn so far: its captures are settled after both steps (G5)."""

    card: Card
    """The hand card."""
    matched: tuple[Card, ...]
    """The layout cards that it took hold of: none, one or three. They no longer lie on the layout; a hand card
    without a match does.
    """
    revealed: Card | None = None
    """The stock card, once it is turned up."""


class Table(Struct, frozen=True, gc=False):
    """Everything that is public about a deal. Pairs are by seat."""

    options: dict[str, OptionValue]
    carry: int
    """Nagari still standing from the deals before."""
    first: Seat
    turn: Seat
    """Whose turn it is; in a deal that is over, whose it was."""
    phase: Phase
    layout: tuple[Card, ...]
    """In the order in which they came to lie there, stacks included, the pending pair not."""
    stacks: tuple[Stack, ...]
    pending: Pending | None
    """Only while a stock choice is awaited."""
    stock_left: int
    played: tuple[tuple[Card, ...], ...]
    """What each player has played from the hand, in order."""
    captured: tuple[tuple[Card, ...], ...]
    """In the order in which they came."""
    scores: tuple[Score, ...]
    ppuks: tuple[int, ...]
    goes: tuple[int, ...]
    go_points: tuple[int, ...]
    """The combination score at a player's latest go; 0 before the first (G15)."""
    ended: Ending | None
    """How the deal ended."""

    @property
    def hand_sizes(self) -> tuple[int, ...]:
        """How many cards each player holds."""
        return tuple(HAND_SIZE - len(cards) for cards in self.played)


class State(Struct, frozen=True, gc=False):
    """The whole truth of a deal."""

    table: Table
    hands: tuple[tuple[Card, ...], ...]
    """By seat, in card-id order."""
    stock: tuple[Card, ...]
    """Top first."""


class View(Struct, frozen=True, gc=False):
    """What one viewer knows."""

    viewer: Viewer
    hand: tuple[Card, ...] | None
    """The viewer's own, in card-id order; None for spectators."""
    table: Table


# Codes -----------------------------------------------------------------------------------------------------------


class Why(StrEnum):
    """Refusals of go-stop's own; the shared ones are ``engine.game.Why``."""

    TAKE_NEEDED = "take-needed"
    """Two layout cards match: one must be named (G4). ``card``; ``among``: the two."""
    TAKE_NOT_MATCHING = "take-not-matching"
    """Two layout cards match, but another one was named (G4). ``card``; ``take``; ``among``: the two."""
    TAKE_NOT_OPEN = "take-not-open"
    """Nothing may be named: there is no choice (G4). ``card``; ``take``; ``matches``: none, one or three cards."""
    STOCK_CHOICE_OPEN = "stock-choice-open"
    """First choose for the revealed stock card (G5). ``card``: that card; ``among``: the two to choose from."""
    NOT_AMONG = "not-among"
    """The revealed stock card cannot capture this (G5). ``card``; ``take``; ``among``: the two to choose from."""
    NO_STOCK_CHOICE_OPEN = "no-stock-choice-open"
    """There is nothing to choose for a stock card now (G5). No parameters."""
    DECISION_OPEN = "decision-open"
    """First decide: stop or go (G15). ``points``: the combination score."""
    NO_DECISION_OPEN = "no-decision-open"
    """Stop and go are open only after a turn that scored enough (G15). ``points``: the combination score;
    ``needed``: the lowest score that opens the next decision.
    """
    ONLY_STOP = "only-stop"
    """The hand is empty: only stop is open (G16). ``points``: the combination score."""


class Reason(StrEnum):
    """Why the AI chose an action. Hints word it."""

    ONLY_ACTION = "only-action"
    """There was no other. No parameters."""
    TRIES_SOMETHING = "tries-something"
    """The easy level's random move. No parameters."""
    COMPLETES = "completes"
    """``combos``: combinations that this makes or raises."""
    WORKS_TOWARDS = "works-towards"
    """``combo``: the combination aimed at; ``have``, ``need``: its cards."""
    DENIES = "denies"
    """It takes what the other player could use. ``combo``: what that would make or raise."""
    TAKES_JUNK = "takes-junk"
    """``bonus``: for what junk is taken (``Bonus``)."""
    CAPTURES = "captures"
    """``cards``: what is taken, with the card that takes."""
    LAYS = "lays"
    """Nothing can be taken, or nothing that is worth more than to lay this card down. ``card``; ``holders``: unseen
    cards of its month."""
    STOPS = "stops"
    """To stop is worth more than to go on. ``points``: the other player's combination score."""
    GOES = "goes"
    """To go on promises more than to stop. ``points``: the other player's combination score."""
