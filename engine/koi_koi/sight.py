"""Who knows what in koi-koi: the view, the redaction of events, the view as a fold of them, and sampled worlds.

Belongs here: every decision about what a viewer may see. Hidden are the hands, but for one's own and those that K2
shows, and the stock; everything else lies on the table.
"""

from __future__ import annotations

from itertools import chain
from random import Random
from typing import Final, assert_never

from msgspec.structs import replace

from engine.game import Viewer
from engine.koi_koi.rules import in_order, opening_in
from engine.koi_koi.scoring import CARDS
from engine.koi_koi.table import follow, opened
from engine.koi_koi.types import (
    BoardRedeal,
    DealDrawn,
    Dealt,
    Ending,
    Event,
    HandPlayed,
    HandsRedeal,
    KoiCalled,
    OpeningScored,
    State,
    StockPlaced,
    StockTurned,
    Stopped,
    View,
    YakuMade,
)

MAX_DRAWS: Final = 10_000
"""A view of a real deal needs a handful of draws; one that needs so many agrees with no deal at all."""


def view(state: State, viewer: Viewer) -> View:
    """Everything ``viewer`` knows, and nothing else."""
    return View(viewer, None if viewer is None else state.hands[viewer], state.table)


def redact(event: Event, viewer: Viewer) -> Event:
    """What ``viewer`` may see of ``event``; the same object if nothing is hidden."""
    match event:
        case Dealt(hands=hands):
            shown = (hands[0] if viewer == 0 else None, hands[1] if viewer == 1 else None)
            return event if shown == hands else replace(event, hands=shown)
        case HandsRedeal() | OpeningScored():
            return event  # K2 shows these hands
        case (
            BoardRedeal()
            | HandPlayed()
            | StockTurned()
            | StockPlaced()
            | YakuMade()
            | KoiCalled()
            | Stopped()
            | DealDrawn()
        ):
            return event  # face up on the table
        case _:
            assert_never(event)


def observe(known: View | None, event: Event, viewer: Viewer) -> View:
    """The view after ``viewer`` was shown ``event``. ``known`` is None exactly for ``Dealt``, which creates it."""
    if isinstance(event, Dealt):
        return View(viewer, None if viewer is None else event.hands[viewer], opened(event))
    assert known is not None, "a deal begins with `dealt`"
    hand = known.hand
    if isinstance(event, HandPlayed) and event.seat == viewer and hand is not None:
        hand = tuple([card for card in hand if card != event.card])
    return View(viewer, hand, follow(known.table, event))


def resample(known: View, rng: Random) -> State:
    """A world drawn uniformly from those that agree with everything the viewer knows.

    Hidden are the hands that the viewer does not see and the order of the stock. One thing is known of a hidden hand:
    what was dealt, that is the hand and what has been played from it, was no combination that K2 scores or redeals,
    or the deal would have ended. (Only a redealt board ends a deal before the hands are looked at.) Without that fact
    all worlds are equally likely, so drawing until it holds is exact; it fails about once in 160 draws for each hand.
    """
    table = known.table
    hands = [known.hand or () if seat == known.viewer else table.shown[seat] for seat in (0, 1)]
    hidden = [seat for seat in (0, 1) if hands[seat] is None]
    seen = {table.turned, *table.board, *chain(*table.captured), *chain(*(hand or () for hand in hands))}
    unseen = [card for card in CARDS if card not in seen]
    looked_at = table.outcome is None or table.outcome.reason != Ending.REDEAL
    for _ in range(MAX_DRAWS):
        rng.shuffle(unseen)
        place = 0
        for seat in hidden:
            hands[seat] = tuple(unseen[place : place + table.hand_sizes[seat]])
            place += table.hand_sizes[seat]
        left, right = (hand or () for hand in hands)
        if not looked_at or all(opening_in((left, right)[seat] + table.played[seat]) is None for seat in hidden):
            return State(table, (in_order(left), in_order(right)), tuple(unseen[place:]))
    raise AssertionError("no world agrees with this view")
