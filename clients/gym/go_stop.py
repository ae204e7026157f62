"""Go-stop's views and actions as numbers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from clients.gym.encoding import Encoding, Numbers, Planes, flower_actions, one_hot
from engine.flowers import month
from engine.game import Card, Seat
from engine.go_stop import GO_STOP
from engine.go_stop.types import GoBak, JunkDoubling, NagariRule, Phase, SseulRule, View


def _planes(view: View) -> Planes:
    table, me, they = view.table, *_sides(view)
    pending = table.pending
    return {
        "hand": view.hand or (),
        "layout": table.layout,
        "stack.dealt": _stacked(view, None),
        "stack.mine": _stacked(view, me),
        "stack.theirs": _stacked(view, they),
        "pending": () if pending is None else (pending.card, *pending.matched),
        "revealed": () if pending is None or pending.revealed is None else (pending.revealed,),
        "captured.mine": table.captured[me],
        "captured.theirs": table.captured[they],
        "played.mine": table.played[me],
        "played.theirs": table.played[they],
    }


def _stacked(view: View, owner: Seat | None) -> Collection[Card]:
    """Layout cards that lie in stacks of ``owner``."""
    months = {stack.month for stack in view.table.stacks if stack.owner == owner}
    return [card for card in view.table.layout if month(card) in months]


def _numbers(view: View) -> Numbers:
    table, me, they = view.table, *_sides(view)
    options = table.options
    return {
        **one_hot("phase", table.phase, Phase),
        "turn.mine": table.turn == me,
        "first.mine": table.first == me,
        "stock": table.stock_left,
        "hand.mine": table.hand_sizes[me],
        "hand.theirs": table.hand_sizes[they],
        "points.mine": table.scores[me].points,
        "points.theirs": table.scores[they].points,
        "cup-is-junk.mine": table.scores[me].cup_is_junk,
        "cup-is-junk.theirs": table.scores[they].cup_is_junk,
        "ppuks.mine": table.ppuks[me],
        "ppuks.theirs": table.ppuks[they],
        "goes.mine": table.goes[me],
        "goes.theirs": table.goes[they],
        "go-points.mine": table.go_points[me],
        "go-points.theirs": table.go_points[they],
        "carry": table.carry,
        **one_hot("go-bak", options["go_bak"], GoBak),
        **one_hot("nagari", options["nagari"], NagariRule),
        **one_hot("sseul", options["sseul"], SseulRule),
        **one_hot("junk-doubling", options["junk_doubling"], JunkDoubling),
    }


def _sides(view: View) -> tuple[Seat, Seat]:
    assert view.viewer is not None, "a spectator does not play"
    return view.viewer, Seat(1 - view.viewer)


GO_STOP_ENCODING: Final = Encoding(GO_STOP, flower_actions(GO_STOP.cards, ("stop", "go")), _planes, _numbers)
"""Eleven planes of 48 cards; 242 actions."""
