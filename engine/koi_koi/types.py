"""Koi-koi's nouns: rules in force, state, actions, events, view, refusal and reason codes.

Belongs here: data, and nothing that decides anything. Must not be known here: how a move is made or scored. Cards in
hands and in ``cards`` fields stand in card-id order; cards on the board and in captured piles in the order in which
they came there.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from engine.game import Card, Outcome, Seat, Viewer

# The rules in force -------------------------------------------------------------------------------------------


class Viewing(StrEnum):
    """The option ``viewing``."""

    OFF = "off"
    ON = "on"
    WITH_ANOTHER = "with-another"


class Calls(StrEnum):
    """The option ``calls``."""

    UNLIMITED = "unlimited"
    ONE = "one"


class PointTable(StrEnum):
    """The option ``points``."""

    HOUSE = "house"
    NINTENDO = "nintendo"


class Rules(Struct, frozen=True, gc=False):
    """The options that matter within a deal; ``deals`` and ``next_first`` matter between deals."""

    viewing: Viewing = Viewing.OFF
    seven_doubles: bool = False
    opponent_call_doubles: bool = False
    calls: Calls = Calls.UNLIMITED
    points: PointTable = PointTable.HOUSE


# Yaku and what they are worth ---------------------------------------------------------------------------------


class Yaku(StrEnum):
    """The yaku, in the order in which they are listed."""

    FIVE_BRIGHTS = "five-brights"
    FOUR_BRIGHTS = "four-brights"
    RAINY_FOUR_BRIGHTS = "rainy-four-brights"
    """Four brights with the rain man."""
    THREE_BRIGHTS = "three-brights"
    BOAR_DEER_BUTTERFLY = "boar-deer-butterfly"
    POETRY_RIBBONS = "poetry-ribbons"
    BLUE_RIBBONS = "blue-ribbons"
    ANIMALS = "animals"
    """Five animals or more."""
    RIBBONS = "ribbons"
    """Five ribbons or more."""
    PLAINS = "plains"
    """Ten plains or more."""
    FLOWER_VIEWING = "flower-viewing"
    MOON_VIEWING = "moon-viewing"


class Made(Struct, frozen=True, gc=False):
    """A yaku that a player has."""

    yaku: Yaku
    points: int
    cards: tuple[Card, ...]
    """The captured cards that count for it."""


class Doubling(StrEnum):
    """Why a stop scores double."""

    SEVEN_OR_MORE = "seven-or-more"
    """Option ``seven_doubles``."""
    OPPONENT_CALLED = "opponent-called"
    """Option ``opponent_call_doubles``."""


class Standing(Struct, frozen=True, gc=False):
    """What a player's captured cards are worth, and how that comes about."""

    yaku: tuple[Made, ...] = ()
    total: int = 0
    """The sum of the yaku: what has to rise for a decision (K8)."""
    doublings: tuple[Doubling, ...] = ()
    """Each doubles the total once."""
    score: int = 0
    """What a stop would score: the total after its doublings."""


# The course of a deal -----------------------------------------------------------------------------------------


class Phase(StrEnum):
    """What the deal waits for."""

    PLAY = "play"
    """A hand card."""
    CHOOSE = "choose"
    """Which of two board cards the turned stock card takes."""
    DECIDE = "decide"
    """Stop or koi."""
    OVER = "over"
    """Nothing more."""


class OnlyStop(StrEnum):
    """Why a decision has no ``koi`` in it."""

    HAND_EMPTY = "hand-empty"
    """K9."""
    ONE_CALL = "one-call"
    """Option ``calls``: the player has had the one call."""


class Ending(StrEnum):
    """The reasons of the deal record."""

    STOP = "stop"
    DRAW = "draw"
    REDEAL = "redeal"
    FOUR_OF_A_MONTH = "four-of-a-month"
    FOUR_PAIRS = "four-pairs"


class Combination(StrEnum):
    """What ends a deal before it begins (K2). Eight cards that are both count as the first."""

    FOUR_OF_A_MONTH = "four-of-a-month"
    FOUR_PAIRS = "four-pairs"


class Opening(Struct, frozen=True, gc=False):
    """A combination on the board or in a hand."""

    combination: Combination
    cards: tuple[Card, ...]
    """The cards that make it: all four of the month (eight, if there are two such months), or the four pairs."""


Hand: TypeAlias = tuple[Card, ...]
BySeat: TypeAlias = tuple[Hand, Hand]
"""Cards by seat."""
Hands: TypeAlias = tuple[Hand | None, Hand | None]
"""By seat; None for a hand that the viewer does not see."""
Standings: TypeAlias = tuple[Standing, Standing]
"""By seat."""


class Table(Struct, frozen=True, gc=False):
    """What everybody knows: the fold of a deal's events (``engine.koi_koi.table``)."""

    rules: Rules
    first: Seat
    turn: Seat
    """Who is to act; means nothing once the deal is over."""
    phase: Phase
    board: tuple[Card, ...]
    stock: int
    """How many cards are left in it."""
    hand_sizes: tuple[int, int]
    captured: BySeat
    played: BySeat
    """From hand, in order; with the hand they make up what was dealt."""
    turned: Card | None
    """The stock card whose target is being chosen; it is in no other field."""
    standings: Standings
    """What a stop would score, by seat, as after each player's last complete turn (K6); after a draw: what was lost."""
    calls: tuple[int, int]
    """How often each player has called koi."""
    only_stop: OnlyStop | None
    """In a decision without ``koi``: why."""
    shown: Hands
    """Hands that were shown to all (K2)."""
    outcome: Outcome | None


class State(Struct, frozen=True, gc=False):
    """The whole truth of a deal. Never leaves the trust boundary."""

    table: Table
    hands: BySeat
    stock: tuple[Card, ...]
    """The top card first."""


class View(Struct, frozen=True, gc=False):
    """Everything that a viewer knows."""

    viewer: Viewer
    hand: Hand | None
    """The viewer's own; None for a spectator."""
    table: Table


# Actions ------------------------------------------------------------------------------------------------------


class Play(Struct, frozen=True, gc=False):
    """Play a hand card: ``03r``, or ``03r*03p`` where two board cards match (K4)."""

    card: Card
    take: Card | None = None


class Choose(Struct, frozen=True, gc=False):
    """Choose what the turned stock card takes: ``*05r`` (K5)."""

    take: Card


class Stop(Struct, frozen=True, gc=False):
    """Score what one has; the deal ends (K8)."""


class Koi(Struct, frozen=True, gc=False):
    """Play on with nothing claimed (K8)."""


Action: TypeAlias = Play | Choose | Stop | Koi


# Events -------------------------------------------------------------------------------------------------------


class KoiKoiEvent(Struct, frozen=True, gc=False, tag_field="e"):
    """What happens in a deal of koi-koi."""


class Dealt(KoiKoiEvent, frozen=True, tag="dealt"):
    """The cards are dealt (K1); ``first`` is to play unless an opening check ends the deal at once."""

    rules: Rules
    first: Seat
    hands: Hands
    hand_sizes: tuple[int, int]
    board: tuple[Card, ...]
    stock: int


class BoardRedeal(KoiKoiEvent, frozen=True, tag="board-redeal"):
    """The board cannot be played on; the hands were not looked at; the cards are dealt anew (K2, K3)."""

    board: Opening


class HandsRedeal(KoiKoiEvent, frozen=True, tag="hands-redeal"):
    """Both hands hold a combination and are shown; the cards are dealt anew (K2, K3)."""

    openings: tuple[Opening, Opening]
    hands: BySeat


class OpeningScored(KoiKoiEvent, frozen=True, tag="opening-scored"):
    """One hand holds a combination and is shown: its player scores at once and the deal is over (K2)."""

    seat: Seat
    opening: Opening
    hand: Hand
    score: int


class HandPlayed(KoiKoiEvent, frozen=True, tag="hand-played"):
    """A player played a hand card and captured ``taken`` with it; if that is empty the card lies on the board (K4)."""

    seat: Seat
    card: Card
    taken: tuple[Card, ...]


class StockTurned(KoiKoiEvent, frozen=True, tag="stock-turned"):
    """The top stock card is turned up, for all to see (K5)."""

    seat: Seat
    card: Card
    choices: tuple[Card, ...]
    """The two board cards between which the player must now choose; otherwise empty."""


class StockPlaced(KoiKoiEvent, frozen=True, tag="stock-placed"):
    """The turned card captured ``taken``; if that is empty it lies on the board (K5). The turn's captures are over:
    the other player is to play, unless ``yaku-made`` or ``draw`` follows (K6).
    """

    seat: Seat
    card: Card
    taken: tuple[Card, ...]


class YakuMade(KoiKoiEvent, frozen=True, tag="yaku-made"):
    """The player's total rose: stop or koi (K8)."""

    seat: Seat
    gained: tuple[Made, ...]
    """New yaku, and earlier ones that are worth more now."""
    lost: tuple[Yaku, ...]
    """Bright yaku that a higher one replaces (K7)."""
    standing: Standing
    """Everything the player has now, and what a stop would score."""
    only_stop: OnlyStop | None
    """Why ``koi`` is not open; None if it is."""


class KoiCalled(KoiKoiEvent, frozen=True, tag="koi-called"):
    """The player plays on with nothing claimed; the other player is to play (K8)."""

    seat: Seat
    calls: int
    """How often this player has called in this deal, this call included."""
    opponent: Standing
    """What the other player has; a stop of theirs may score more now (``opponent_call_doubles``)."""


class Stopped(KoiKoiEvent, frozen=True, tag="stopped"):
    """The player scores what ``standing`` says, the other player 0; the deal is over (K8)."""

    seat: Seat
    standing: Standing
    unclaimed: Standing
    """What the other player had."""


class DealDrawn(KoiKoiEvent, frozen=True, tag="draw"):
    """Both hands are empty and nobody stopped: nobody scores (K10)."""

    unclaimed: Standings
    """What would have been scored, by seat."""


Event: TypeAlias = (
    Dealt
    | BoardRedeal
    | HandsRedeal
    | OpeningScored
    | HandPlayed
    | StockTurned
    | StockPlaced
    | YakuMade
    | KoiCalled
    | Stopped
    | DealDrawn
)


# Codes --------------------------------------------------------------------------------------------------------


class Why(StrEnum):
    """Refusals of koi-koi, besides those that every game shares (``engine.game.Why``)."""

    TARGET_NEEDED = "target-needed"
    """Two board cards match: one must be named (K4). ``card``: what was played; ``targets``: the two."""
    WRONG_TARGET = "wrong-target"
    """What was named is not one of the two that match. ``card`` (played or turned), ``take``, ``targets``."""
    NO_TARGET_TO_NAME = "no-target-to-name"
    """No choice is open: none, one or three board cards match. ``card``, ``take``, ``matching``: these, maybe none."""
    CHOICE_OPEN = "choice-open"
    """The turned stock card comes first (K5). ``card``: the stock card; ``targets``: the two that match."""
    NO_CHOICE_OPEN = "no-choice-open"
    """No stock card waits for a target. No parameters."""
    DECISION_OPEN = "decision-open"
    """Stop or koi comes first (K8). ``total``: the player's points; ``choices``: ``koi`` and ``stop``, or ``stop``."""
    NO_DECISION_OPEN = "no-decision-open"
    """The total did not rise in this turn (K8). ``total``: the player's points."""
    HAND_EMPTY = "hand-empty"
    """Only stop is open: the hand is empty (K9). No parameters."""
    ONE_CALL = "one-call"
    """Only stop is open: each player has one call (option ``calls``). No parameters."""


class Reason(StrEnum):
    """Why an AI chose what it chose."""

    ONLY_MOVE = "only-move"
    """There was nothing to choose. No parameters."""
    AT_RANDOM = "at-random"
    """A level that errs on purpose did. No parameters."""
    COMPLETES = "completes"
    """It makes or raises yaku. ``yaku``: which; ``points``: by how much the total rises."""
    DENIES = "denies"
    """It takes what the other player could use for a yaku. ``yaku``; ``cards``: those that serve it."""
    BUILDS = "builds"
    """It comes nearer to a yaku. ``yaku``; ``cards``: what is taken for it; ``missing``: cards still needed."""
    CAPTURES = "captures"
    """It serves no yaku by much; what it takes is worth most. ``cards``: that, with the card that takes."""
    LAYS = "lays"
    """Nothing can be taken, or nothing that is worth more than to lay this card down. ``card``."""
    TAKES_POINTS = "takes-points"
    """Stop: playing on promises less. ``score``: what the stop scores."""
    HOPES_FOR_MORE = "hopes-for-more"
    """Koi: playing on promises more. ``score``: what a stop would have scored."""
