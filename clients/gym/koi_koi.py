"""Koi-koi's views and actions as numbers."""

from __future__ import annotations

from typing import Final

from clients.gym.encoding import Encoding, Numbers, Planes, flower_actions, one_hot
from engine.game import Seat
from engine.koi_koi import KOI_KOI
from engine.koi_koi.types import Calls, Phase, PointTable, View, Viewing


def _planes(view: View) -> Planes:
    table, me, they = view.table, *_sides(view)
    return {
        "hand": view.hand or (),
        "board": table.board,
        "turned": () if table.turned is None else (table.turned,),
        "captured.mine": table.captured[me],
        "captured.theirs": table.captured[they],
        "played.mine": table.played[me],
        "played.theirs": table.played[they],
        "shown.theirs": table.shown[they] or (),
    }


def _numbers(view: View) -> Numbers:
    table, me, they = view.table, *_sides(view)
    rules = table.rules
    return {
        **one_hot("phase", table.phase, Phase),
        "turn.mine": table.turn == me,
        "first.mine": table.first == me,
        "stock": table.stock,
        "hand.mine": table.hand_sizes[me],
        "hand.theirs": table.hand_sizes[they],
        "total.mine": table.standings[me].total,
        "total.theirs": table.standings[they].total,
        "score.mine": table.standings[me].score,
        "score.theirs": table.standings[they].score,
        "calls.mine": table.calls[me],
        "calls.theirs": table.calls[they],
        "only-stop": table.only_stop is not None,
        **one_hot("viewing", rules.viewing, Viewing),
        **one_hot("calls", rules.calls, Calls),
        **one_hot("points", rules.points, PointTable),
        "seven-doubles": rules.seven_doubles,
        "opponent-call-doubles": rules.opponent_call_doubles,
    }


def _sides(view: View) -> tuple[Seat, Seat]:
    assert view.viewer is not None, "a spectator does not play"
    return view.viewer, Seat(1 - view.viewer)


KOI_KOI_ENCODING: Final = Encoding(KOI_KOI, flower_actions(KOI_KOI.cards, ("stop", "koi")), _planes, _numbers)
"""Eight planes of 48 cards; 242 actions."""
