"""Playing a flat deal to its end by rules of thumb: what a search compares its worlds with.

Belongs here: what cards promise and what a quick player does. It is the one-turn sense of ``bot`` in whole numbers and
with less care, the same for both players, and it calls go where that is safe. It uses what the player whose turn it is
could know and nothing else: a rollout that peeks values plans that nobody can carry out. Values are in hundredths of a
point. The compiled kernel plays by the same tables and weights, move for move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from engine.go_stop.flat import (
    ALL,
    ANIMAL_MASK,
    ANIMAL_POINTS,
    ANIMAL_SHIFT,
    BRIGHT_MASK,
    BRIGHT_POINTS,
    CUP,
    DOUBLE_SHIFT,
    GO,
    GODORI_SETS,
    JUNK_POINTS,
    JUNK_SHIFT,
    MONTH_OF,
    MONTHS,
    MOST_JUNK,
    RIBBON_MASK,
    RIBBON_POINTS,
    RIBBON_SETS,
    RIBBON_SHIFT,
    STOP,
    Flat,
    FlatSet,
    Move,
    points,
)
from engine.go_stop.scoring import after_goes
from engine.go_stop.types import DECISION_POINTS, Phase
from engine.go_stop.weights import (
    ANY_BRIGHT,
    BRIGHT_PROGRESS,
    CUP_CHOICE,
    EACH_ANIMAL,
    EACH_JUNK_UNIT,
    EACH_RIBBON,
    LOST,
    RISE,
    RISK,
    RISK_OFFSET,
    SET_PROGRESS,
)


class Weights(Struct, frozen=True):
    """How a quick player weighs a turn."""

    capture: int = 10
    """Tenths of what a capture is worth to oneself."""
    denial: int = 4
    """Tenths of what it would have been worth to the other player."""
    junk: int = 500
    """For each junk unit that a captured stack takes."""
    exposure: int = 4
    """Tenths of what a discard offers the other player."""
    kept: int = 2
    """Tenths of what the own other card of the month will make of a discard."""


WEIGHTS: Final = Weights()


# Tables ----------------------------------------------------------------------------------------------------------


def _progress(pile: int, rival: int, sets: Sequence[FlatSet]) -> int:
    """What ``sets`` promise to who has ``pile``."""
    return sum([each.points * SET_PROGRESS[(pile & each.cards).bit_count()] for each in sets if not rival & each.cards])


def _worth_of_brights(*, open_yet: bool) -> tuple[int, ...]:
    return tuple(
        100 * points + ANY_BRIGHT * bool(brights) + BRIGHT_PROGRESS[brights.bit_count()] * open_yet
        for brights, points in enumerate(BRIGHT_POINTS)
    )


def _worth_of_animals(rival: int) -> tuple[int, ...]:
    return tuple(
        100 * points
        + EACH_ANIMAL * animals.bit_count()
        + CUP_CHOICE * bool(animals << ANIMAL_SHIFT & CUP)
        + _progress(animals << ANIMAL_SHIFT, rival, GODORI_SETS)
        for animals, points in enumerate(ANIMAL_POINTS)
    )


def _worth_of_ribbons(rival: int) -> tuple[int, ...]:
    return tuple(
        100 * points + EACH_RIBBON * ribbons.bit_count() + _progress(ribbons << RIBBON_SHIFT, rival, RIBBON_SETS)
        for ribbons, points in enumerate(RIBBON_POINTS)
    )


def _broken(sets: Sequence[FlatSet], shift: int, mask: int) -> tuple[int, ...]:
    """For every choice of cards of a kind: which of ``sets`` they break, as bits."""
    shifted = [each.cards >> shift for each in sets]
    return tuple(sum([1 << place for place, cards in enumerate(shifted) if pile & cards]) for pile in range(mask + 1))


def _breaking(sets: Sequence[FlatSet], broken: int) -> int:
    """Cards that break just those of ``sets``."""
    return sum([each.cards for place, each in enumerate(sets) if broken >> place & 1])


BROKEN_ANIMALS: Final = _broken(GODORI_SETS, ANIMAL_SHIFT, ANIMAL_MASK)
BROKEN_RIBBONS: Final = _broken(RIBBON_SETS, RIBBON_SHIFT, RIBBON_MASK)
BRIGHT_WORTHS: Final = (_worth_of_brights(open_yet=True), _worth_of_brights(open_yet=False))
ANIMAL_WORTHS: Final = tuple(_worth_of_animals(_breaking(GODORI_SETS, broken)) for broken in range(2))
RIBBON_WORTHS: Final = tuple(_worth_of_ribbons(_breaking(RIBBON_SETS, broken)) for broken in range(8))
JUNK_WORTHS: Final = tuple(100 * JUNK_POINTS[units] + EACH_JUNK_UNIT * units for units in range(MOST_JUNK + 1))


def _worth_against(rival: int) -> Callable[[int], int]:
    """A function that says what a pile makes and promises against the other player's pile ``rival``."""
    brights = BRIGHT_WORTHS[(rival & BRIGHT_MASK).bit_count() > 2]
    animals = ANIMAL_WORTHS[BROKEN_ANIMALS[rival >> ANIMAL_SHIFT & ANIMAL_MASK]]
    ribbons = RIBBON_WORTHS[BROKEN_RIBBONS[rival >> RIBBON_SHIFT & RIBBON_MASK]]

    def worth(pile: int) -> int:
        return (
            brights[pile & BRIGHT_MASK]
            + animals[pile >> ANIMAL_SHIFT & ANIMAL_MASK]
            + ribbons[pile >> RIBBON_SHIFT & RIBBON_MASK]
            + JUNK_WORTHS[(pile >> JUNK_SHIFT).bit_count() + (pile >> DOUBLE_SHIFT).bit_count()]
        )

    return worth


# Playing ---------------------------------------------------------------------------------------------------------


def outcomes(world: Flat, moves: Sequence[Move]) -> list[int]:
    """What each move comes to for the player whose turn it is: the points by which they are ahead at the end."""
    found: list[int] = []
    for move in moves:
        deal = world.copy()
        deal.apply(move)
        found.append(play_out(deal, world.turn))
    return found


def play_out(flat: Flat, me: int) -> int:
    """Play ``flat`` to its end: the points by which ``me`` is ahead then."""
    while True:
        phase = flat.phase
        if phase is Phase.PLAY:
            card, taken = quick_play(flat)
            flat.play(card, taken)
        elif phase is Phase.CHOOSE:
            flat.settle(quick_choice(flat))
        elif phase is Phase.DECIDE:
            if quick_go(flat):
                flat.go()
            else:
                flat.stop()
        else:
            return flat.winnings if flat.turn == me else -flat.winnings


def quick_move(flat: Flat) -> Move:
    """What a quick player does."""
    if flat.phase is Phase.PLAY:
        return quick_play(flat)
    if flat.phase is Phase.CHOOSE:
        return 0, quick_choice(flat)
    return GO if quick_go(flat) else STOP


def quick_play(flat: Flat) -> Move:
    """The hand card to play and what it takes: the capture that brings and denies most, or where nothing can be
    captured the discard that gives least away. Of equals the first, in the order of the bits.
    """
    seat, layout = flat.turn, flat.layout
    captures: list[Move] = []
    for card in flat.hands[seat]:
        found = layout & MONTH_OF[card]
        if found:
            rest = found & found - 1
            if rest and not rest & rest - 1:
                captures += [(card, found ^ rest), (card, rest)]
            else:
                captures.append((card, found))
    if not captures:
        return _quick_discard(flat), 0
    if len(captures) == 1:
        return captures[0]
    weights, mine, theirs = WEIGHTS, flat.piles[seat], flat.piles[1 - seat]
    brings, denies = _worth_against(theirs), _worth_against(mine)
    best, best_value = captures[0], -1
    for move in captures:
        card, taken = move
        value = weights.capture * brings(mine | card | taken) + weights.denial * denies(theirs | taken)
        if taken & taken - 1:
            value += weights.junk * (2 if flat.ppuk_stacks[seat] & taken else 1)  # G10
        if value > best_value:
            best, best_value = move, value
    return best


def _quick_discard(flat: Flat) -> int:
    """The hand card that offers the other player least and keeps most for oneself."""
    seat, weights = flat.turn, WEIGHTS
    hand, mine, theirs = flat.hands[seat], flat.piles[seat], flat.piles[1 - seat]
    if len(hand) == 1:
        return hand[0]
    brings, offers = _worth_against(theirs), _worth_against(mine)
    mine_now, theirs_now, gone, held = brings(mine), offers(theirs), mine | theirs, sum(hand)
    best, best_value = 0, -1_000_000
    for card in hand:
        whole_month = MONTH_OF[card]
        kept = held & whole_month ^ card
        open_yet = whole_month & ~(gone | kept | card)
        value = 0
        if open_yet:
            value -= weights.exposure * (offers(theirs | card | open_yet) - theirs_now)
        if kept:
            value += weights.kept * (brings(mine | card | kept) - mine_now)
        if value > best_value:
            best, best_value = card, value
    return best


def quick_choice(flat: Flat) -> int:
    """Which of two layout cards the stock card takes."""
    seat, weights = flat.turn, WEIGHTS
    mine, theirs = flat.piles[seat] | flat.revealed, flat.piles[1 - seat]
    if flat.matched:
        mine |= flat.card | flat.matched
    my_worth, their_worth = _worth_against(theirs), _worth_against(mine)
    found = flat.layout & MONTH_OF[flat.revealed]
    first, second = found & -found, found & found - 1
    first_value, second_value = (
        weights.capture * my_worth(mine | take) + weights.denial * their_worth(theirs | take)
        for take in (first, second)
    )
    return first if first_value >= second_value else second


def quick_go(flat: Flat) -> bool:
    """Whether what one more go may add outweighs what may be lost (G15 to G17)."""
    seat = flat.turn
    hand = flat.hands[seat]
    if not hand:
        return False  # G16
    mine, theirs, layout = flat.piles[seat], flat.piles[1 - seat], flat.layout
    open_yet = ALL & ~(mine | theirs | sum(hand))
    now = points(theirs)
    first = second = 0
    for whole_month in MONTHS:
        if layout & whole_month:
            rise = points(theirs | open_yet & whole_month) - now
            if rise > first:
                first, second = rise, first
            elif rise > second:
                second = rise
    missing = max(DECISION_POINTS, flat.go_points[1 - seat] + 1) - now - first - second
    risk = RISK[max(0, min(missing + RISK_OFFSET, len(RISK) - 1))]
    paid, goes, score = flat.paid(), flat.goes[seat], points(mine)
    more = after_goes(score + RISE, goes + 1) - after_goes(score, goes)
    lost = LOST * flat.terms.nagari_factor * (2 if flat.terms.go_bak else 1)
    return (1000 - risk) * (paid + more) - risk * lost > 1000 * paid
