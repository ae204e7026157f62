"""The searching players of koi-koi, hard and expert: sampled worlds, played out (``engine.search``).

Belongs here: what a search is given (the position as its seat sees it, worlds that agree with that, who plays them out)
and how much of it each level gets. Medium's choice is the favourite, which another move has to beat. Both levels are
the same search; what sets expert apart is how much of it the compiled kernel can do in the same time. Where there is no
kernel expert plays as hard; hard itself finds the same with the kernel and without, only later.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from random import Random
from typing import Final, TypeAlias, assert_never

from engine.flowers import Kind, kind
from engine.game import Budget, Card, Level, Message, Thought
from engine.kernels import load_kernel
from engine.koi_koi import bot
from engine.koi_koi.flat import Deal, move_of, places_of
from engine.koi_koi.outlook import outlook
from engine.koi_koi.playouts import Playouts
from engine.koi_koi.scoring import CARDS, SAKE_CUP
from engine.koi_koi.sight import MAX_DRAWS
from engine.koi_koi.table import other
from engine.koi_koi.text import text
from engine.koi_koi.types import Action, Choose, Koi, Play, Reason, Stop, View
from engine.koi_koi.worths import PLACE, PLACES
from engine.search import Plan, search

PLAN: Final = Plan()
"""A standard error before the favourite: ``docs/ai/koi-koi.md`` has what else was tried."""
ROLLOUTS: Final = {Level.HARD: 800, Level.EXPERT: 6_000}
"""What fits into 50 ms of a processor, without the kernel and with it."""

PlayOut: TypeAlias = Callable[[bytes, Sequence[bytes]], Sequence[int]]
"""Hidden cards and moves to what each of these comes to (see ``Playouts``)."""


KERNEL: Final = load_kernel(__package__)
"""The compiled playouts, or None."""


def kernel_available() -> bool:
    """Whether the compiled kernel is installed."""
    return KERNEL is not None


def think(view: View, legal: Sequence[Action], rng: Random, budget: Budget) -> Thought[Action]:
    """The choice of hard or expert among ``legal`` (not empty) of the seat whose view it is."""
    if len(legal) == 1:
        return Thought(legal[0], reason=Message(Reason.ONLY_MOVE))
    level = budget.level if kernel_available() else Level.HARD
    sight = outlook(view)
    judged = [bot.value(action, view, sight) for action in legal]
    root = root_of(view)
    play_out = compiled(root) if kernel_available() else Playouts(root)
    found = search(
        [move_of(action) for action in legal],
        judged.index(max(judged)),
        worlds_of(view),
        lambda hidden, moves, _: play_out(hidden, moves),
        rng=rng,
        rollouts=ROLLOUTS[level] if budget.rollouts is None else budget.rollouts,
        plan=PLAN,
        same=[_likeness(action) for action in legal],
    )
    best = legal[found.best]
    values = {text(action): value for action, value in zip(legal, found.values, strict=True)}
    return Thought(best, values, bot.reason(best, view, sight), searched=True)


def root_of(view: View) -> Deal:
    """The position as the seat to act sees it, who is the viewer."""
    mine = view.hand or ()
    return Deal(view.table, (mine, ()) if view.viewer == 0 else ((), mine), ())


def compiled(root: Deal) -> PlayOut:
    """``Playouts`` of the kernel."""
    assert KERNEL is not None, "there is no compiled search here"
    tables, position, playouts = root.worths.packed, root.packed(), KERNEL.playouts
    return lambda hidden, moves: playouts(tables, position, hidden, b"".join(moves))


# Worlds -------------------------------------------------------------------------------------------------------

# Counting cards by month in one number, three bits a month.
_COUNT: Final = {PLACE[card]: 1 << 3 * int(card[:2]) for card in CARDS}
_ONES: Final = sum(1 << 3 * month for month in range(1, 13))
_FOURS: Final = _ONES << 2


def worlds_of(view: View) -> Callable[[Random], bytes]:
    """Draws what ``sight.resample`` draws, as bytes and several times as fast: uniformly from the worlds that agree
    with the view, first the cards that the other player holds, then the stock.

    A world in which the hand dealt to the other player would have ended the deal is none (K2).
    """
    table, opponent = view.table, other(view.table.turn)
    seen = {table.turned, *table.board, *table.captured[0], *table.captured[1], *(view.hand or ())}
    unseen = [PLACE[card] for card in PLACES if card not in seen]
    held = table.hand_sizes[opponent]
    played = sum(_COUNT[place] for place in places_of(table.played[opponent]))

    def draw(rng: Random) -> bytes:
        for _ in range(MAX_DRAWS):
            hidden = bytes(sorted(unseen, key=lambda _: rng.random()))
            dealt = played + sum([_COUNT[place] for place in hidden[:held]])
            if not dealt & _FOURS and dealt & _ONES:  # neither four of a month nor pairs alone (K2)
                return hidden
        raise AssertionError("no world agrees with this view")

    return draw


# Moves that come to the same ----------------------------------------------------------------------------------


def _likeness(action: Action) -> Hashable:
    """Equal for actions that differ only in which of a month's plains they name."""
    match action:
        case Play(card, take):
            return _kind_of_card(card), None if take is None else _kind_of_card(take)
        case Choose(take):
            return _kind_of_card(take)
        case Stop() | Koi():
            return text(action)
        case _:
            assert_never(action)


def _kind_of_card(card: Card) -> str:
    """The card, or the plains of its month."""
    return card[:2] if kind(card) is Kind.PLAIN and card != SAKE_CUP else card
