"""What the rules cost, without any server: ``python -m benchmarks.engine [--seconds 2] [--json FILE]``.

For every game: deals of uniformly random play a second; what the rules' part of a server's move is, found by letting a
room (``server.room``, which does no I/O) play with a game that counts its own time; and AI decisions a second by level,
in positions of random play. Everything in processor time of one core.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from engine.game import AnyGame, Budget, Level, Seat
from engine.registry import GAMES
from protocol.messages import Act, Create, Join, Rematch, Start, Turn
from server import room as rooms
from server.entries import Entry, Timing, encode_entry
from server.room import Append, Phase

cpu: Final = time.thread_time
_MICRO: Final = 1e6
_SEED: Final = 1
_POSITIONS: Final = 200
_MOVES_BETWEEN: Final = 100
_LONG: Final[dict[str, dict[str, str | int]]] = {
    "koi-koi": {"deals": 12},
    "go-stop": {"deals": 12},
    "hachinin-meri": {"deals": 16},
}


class Rules(Struct, frozen=True, kw_only=True):
    """What one game costs."""

    game: str
    deals_per_second: float
    actions_per_deal: float
    engine_us: float
    """Of a move in a room: what the game's own functions took."""
    room_us: float
    """The same move altogether: decided, encoded for the log, folded, redacted, everybody's turn found."""


class Decisions(Struct, frozen=True, kw_only=True):
    """How fast a level decides."""

    game: str
    level: str
    per_second: float
    measured: int


class Timed:
    """A game that counts the time that others spend in it."""

    def __init__(self, game: AnyGame) -> None:
        self._game = game
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._game, name)
        if not callable(found) or isinstance(found, type):
            return found

        def timed(*given: Any, **named: Any) -> Any:
            began = time.perf_counter()  # a thread's own clock costs more than many a call
            try:
                return found(*given, **named)
            finally:
                self.seconds += time.perf_counter() - began

        setattr(self, name, timed)
        return timed


def dealt(game: AnyGame, rng: Random) -> Any:
    """The state of a fair deal that is not over already."""
    options = game.complete_options({})
    while True:
        state = game.deal(options, rng.sample(game.cards, len(game.cards)), Seat(rng.randrange(game.seats))).state
        if game.outcome(state) is None:
            return state


def positions(game: AnyGame, rng: Random) -> Iterator[tuple[Any, Seat, tuple[Any, ...]]]:
    """A whole deal of random play: every state, who is to act in it, and what they may do."""
    state = dealt(game, rng)
    while waiting := sorted(game.awaiting(state)):
        seat = rng.choice(waiting)
        legal = game.legal_at(state, seat)
        yield state, seat, legal
        state = game.apply(state, seat, rng.choice(legal)).state


def random_play(game: AnyGame, seconds: float) -> tuple[float, float]:
    """Deals a second, and actions a deal."""
    rng = Random(_SEED)
    deals = actions = 0
    began = cpu()
    while cpu() - began < seconds:
        deals += 1
        actions += sum(1 for _ in positions(game, rng))
    return deals / (cpu() - began), actions / deals


class Play:
    """A room in which everybody is a person and plays at random, without a server around it."""

    def __init__(self, game: AnyGame, rng: Random) -> None:
        self.games = {game.name: game}
        self.moves = 0
        self._turn: Turn | None = None
        """Of the first seat that is asked …"""
        self._asked = Seat(0)
        """… which is this one."""
        self._seats = [Seat(number) for number in range(game.seats)]
        self._rng = rng
        self._now = 1_000_000
        self._ids = 0
        create = Create(id=self._id(), game=game.name, name="seat 0", options=_LONG[game.name])
        opened = rooms.open_room(create, self._now, rng.randbytes, timing=Timing(), node="n", games=self.games)
        assert isinstance(opened, Append), opened
        self.room = rooms.fold(None, opened.entry, games=self.games).room
        for seat in self._seats[1:]:
            self._do(Join(id=self._id(), code=self.room.code, name=f"seat {seat}"), None)
        self._do(Start(id=self._id()), Seat(0))

    def go_on(self) -> None:
        """One move, or whatever else is to come."""
        if self._turn is not None:
            act = Act(id=self._id(), action=self._rng.choice(self._turn.legal), at=self._turn.at)
            self.moves += bool(self._do(act, self._asked))  # a sealed answer shows nothing, and is no move
            return
        if self.room.phase is Phase.FINISHED:
            self._do(Rematch(id=self._id()), Seat(0))
            self._do(Start(id=self._id()), Seat(0))
            return
        due = rooms.next_due(self.room)
        assert due is not None, "a room in which nobody is asked waits for a time"
        self._now = max(self._now, due)
        entry = rooms.fire(self.room, self._now, games=self.games)
        assert entry is not None, "something was due"
        self._append(entry)

    def _do(self, command: rooms.RoomCommand, seat: Seat | None) -> tuple[Any, ...]:
        done = rooms.decide(self.room, command, seat, self._now, self._rng.randbytes, games=self.games)
        assert isinstance(done, Append), done
        return self._append(done.entry)

    def _append(self, entry: Entry) -> tuple[Any, ...]:
        """Fold, and show everybody what there is to see."""
        encode_entry(entry)
        folded = rooms.fold(self.room, entry, games=self.games)
        self.room = folded.room
        rooms.distinct(self.room, folded.events, self._seats, games=self.games)
        self._turn = None
        for seat in reversed(self._seats):
            turn = rooms.turn(self.room, seat, self._now, games=self.games)
            if turn is not None:
                self._turn, self._asked = turn, seat
        return folded.events

    def _id(self) -> str:
        self._ids += 1
        return f"q83Jxk0v_yP2sE1d.{self._ids}"


def in_a_room(game: AnyGame, seconds: float) -> tuple[float, float]:
    """Microseconds of a move: the game's part, and all of it. Deals and matches between the moves are shared out."""
    room_us, _ = _played(game, seconds)
    timed = Timed(game)
    _, wall = _played(cast("AnyGame", timed), seconds)
    return timed.seconds / wall * room_us, room_us


def _played(game: AnyGame, seconds: float) -> tuple[float, float]:
    """Microseconds of processor time a move, and the wall-clock seconds of all of them."""
    play = Play(game, Random(_SEED))
    wall, began = time.perf_counter(), cpu()
    while cpu() - began < seconds:
        for _ in range(_MOVES_BETWEEN):
            play.go_on()
    return (cpu() - began) / play.moves * _MICRO, time.perf_counter() - wall


def rules(game: AnyGame, seconds: float) -> Rules:
    """What ``game`` costs."""
    deals, actions = random_play(game, seconds)
    engine_us, room_us = in_a_room(game, seconds)
    return Rules(game=game.name, deals_per_second=deals, actions_per_deal=actions, engine_us=engine_us, room_us=room_us)


def decisions(game: AnyGame, level: Level, seconds: float) -> Decisions:
    """How fast ``level`` decides in positions where there is something to decide."""
    rng = Random(_SEED)
    asked: list[tuple[Any, tuple[Any, ...]]] = []
    while len(asked) < _POSITIONS:
        asked += [(game.view(state, seat), legal) for state, seat, legal in positions(game, rng) if len(legal) > 1]
    rng.shuffle(asked)
    done, began = 0, cpu()
    while cpu() - began < seconds:
        view, legal = asked[done % len(asked)]
        game.choose(view, legal, Random(done), Budget(level))
        done += 1
    return Decisions(game=game.name, level=level.value, per_second=done / (cpu() - began), measured=done)


def main() -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="of processor time for each figure (%(default)s)")
    parser.add_argument("--json", type=Path, help="write everything to this file")
    asked = parser.parse_args()
    print(f"{'game':15}{'deals/s':>10}{'actions a deal':>16}{'rules µs a move':>18}{'room µs a move':>17}")
    found = []
    for game in GAMES.values():
        each = rules(game, asked.seconds)
        found.append(each)
        play = f"{each.deals_per_second:10.0f}{each.actions_per_deal:16.1f}"
        print(f"{game.name:15}{play}{each.engine_us:18.0f}{each.room_us:17.0f}", flush=True)
    print(f"\n{'game':15}{'level':10}{'decisions/s':>12}")
    decided = []
    for game in GAMES.values():
        for level in game.levels:
            decided.append(decisions(game, level, asked.seconds))
            print(f"{game.name:15}{level.value:10}{decided[-1].per_second:12.0f}", flush=True)
    if asked.json is not None:
        asked.json.write_bytes(msgspec.json.format(msgspec.json.encode({"rules": found, "decisions": decided})) + b"\n")


if __name__ == "__main__":
    main()
