"""Positions of the three games, one for every kind of decision, found by playing at random; and pictures kept as text.

``FUDAZA_WRITE_SNAPSHOTS=1 python -m pytest tests/cli`` writes the pictures anew; look at the difference before you
keep it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from clients.cli.tui.choosing import Choice
from clients.cli.tui.flowers import FlowerPanel
from clients.cli.tui.panel import Looking
from clients.cli.tui.panels import panel_of
from clients.cli.words.people import People
from engine.game import AnyGame, Seat
from engine.registry import GAMES
from protocol.messages import SeatInfo

SNAPSHOTS = Path(__file__).parent / "snapshots"
ME = Seat(0)


def check_snapshot(name: str, text: str) -> None:
    """Compare with what was kept."""
    file = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("FUDAZA_WRITE_SNAPSHOTS"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text + "\n", encoding="utf-8")
    assert file.exists(), f"there is no snapshot {name}; see {__name__}"
    assert text + "\n" == file.read_text(encoding="utf-8")


def states(game: AnyGame, seed: int) -> Iterator[Any]:
    """The states of a deal played at random."""
    rng = random.Random(seed)
    deck = list(game.cards)
    rng.shuffle(deck)
    state = game.deal(game.complete_options({}), deck, Seat(seed % game.seats)).state
    yield state
    while game.awaiting(state):
        seat = rng.choice(sorted(game.awaiting(state)))
        state = game.apply(state, seat, rng.choice(game.legal_at(state, seat))).state
        yield state


def looking(game: AnyGame, state: Any, seat: Seat | None = ME) -> Looking:
    """What somebody sees."""
    seats: tuple[SeatInfo, ...] = (SeatInfo(kind="person", name="Aki"), SeatInfo(kind="person", name="Bo", away=True))
    seats += (SeatInfo(kind="ai", level="medium"),) * (game.seats - 2)
    view = game.view(state, seat)
    legal = tuple(map(game.text, game.legal(view)))
    choice = None
    if seat is not None and seat in game.awaiting(state):
        choice = Choice(1, panel_of(game.name).picks(view, legal))
    return Looking(view, People(game, seats, seat), choice)


def _two_targets(look: Looking) -> bool:
    return look.choice is not None and any(len(pick.actions) > 1 for pick in look.choice.picks)


def _some_impossible(look: Looking) -> bool:
    return look.choice is not None and any(not pick.actions for pick in look.choice.picks)


def _ways(look: Looking) -> int:
    """Combinations that the viewer has made or is on the way to."""
    panel = panel_of(look.people.game.name)
    assert isinstance(panel, FlowerPanel)
    return sum(bool(way.points or way.have) and not way.lost for way in panel.progress(look.view, 0))


KINDS: dict[str, dict[str, Callable[[Looking], bool]]] = {
    "koi-koi": {
        "play": lambda look: look.choice is not None and look.view.table.phase == "play",
        "play-two-targets": _two_targets,
        "choose": lambda look: look.choice is not None and look.view.table.phase == "choose",
        "decide": lambda look: look.choice is not None and look.view.table.phase == "decide",
        "wait": lambda look: look.choice is None and look.view.table.phase == "play",
        "over": lambda look: look.view.table.phase == "over" and len(look.view.table.captured[0]) > 12,
    },
    "go-stop": {
        "play": lambda look: look.choice is not None and look.view.table.phase == "play",
        "play-stack": lambda look: look.choice is not None and any(s.owner == 0 for s in look.view.table.stacks),
        "choose": lambda look: look.choice is not None and look.view.table.phase == "choose",
        "decide": lambda look: look.choice is not None and look.view.table.phase == "decide",
        "many-ways": lambda look: _ways(look) >= 7,
        "over": lambda look: look.view.table.phase == "over" and len(look.view.table.captured[0]) > 12,
    },
    "hachinin-meri": {
        "declare": lambda look: look.choice is not None and look.choice.by_key("declare") is not None,
        "pass": lambda look: (
            look.view.table.phase == "declaring" and len(look.choice.picks if look.choice else ()) == 1
        ),
        "discard": lambda look: look.choice is not None and look.view.table.phase == "discarding",
        "lead": lambda look: (
            look.choice is not None
            and look.view.table.phase == "playing"
            and look.view.table.trick is None
            and bool(look.view.table.tricks)
        ),
        "face-down": lambda look: (
            look.choice is not None and look.view.table.trick is not None and bool(look.view.table.trick.face_down)
        ),
        "meri": lambda look: (
            _some_impossible(look) and look.view.table.trick is not None and bool(look.view.table.trick.meri)
        ),
        "monchi": lambda look: (
            _some_impossible(look)
            and look.view.table.trick is not None
            and not look.view.table.trick.meri
            and bool(look.view.table.monchi)
        ),
        "over": lambda look: bool(look.view.table.phase == "over"),
    },
}
"""What is looked for, by game and name."""


@cache
def position(name: str, kind: str) -> Looking:
    """The first position of that kind."""
    game = GAMES[name]
    for seed in range(500):
        for state in states(game, seed):
            look = looking(game, state)
            if KINDS[name][kind](look):
                return look
    raise AssertionError(f"{name} never came to {kind}")


ALL = [(name, kind) for name, kinds in KINDS.items() for kind in kinds]
