"""Logs as today's server writes them, kept for ever: so that every later one proves that it still reads them.

``python -m tests.server.freeze`` plays a match of each game in which everything happens that a log can hold, and
writes its log to ``tests/vectors/logs/SCHEMA/GAME.log``: the entries' bytes, one a line. A log that is there is never
written again. Beside it ``GAME.jsonl`` says what it makes: the end of its hash chain, what each viewer is shown of it
all, and what each knows at two of its entries. Those lines are written anew, and looked at, where what people are
*shown* has grown; a change of the log's *reading* is a fault.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec

from engine.game import AnyGame, Seat, Viewer
from engine.registry import GAMES
from protocol.codec import encode
from protocol.events import Signal, WhyClosed
from protocol.messages import (
    Chat,
    ChosenSettings,
    ClearSeat,
    Contribute,
    Leave,
    Lock,
    Move,
    Mute,
    Ready,
    Rematch,
    SeatAi,
    Wink,
)
from server import room as rooms
from server.entries import SCHEMA, Entry, decode_entry
from server.log import EMPTY, Stored, successor
from server.room import Phase, ai_moves, next_due, persons, question
from server.room.deciding import free_seats
from tests.server.roomkit import Hall

LOGS: Final = Path(__file__).parent.parent / "vectors" / "logs"
DEALS: Final = {"koi-koi": 3, "go-stop": 3, "hachinin-meri": 2}
"""The fewest that have a pause between them."""
_AWAY: Final = 1
"""The seat whose person goes, is played for, and comes back."""


# What a log makes ------------------------------------------------------------------------------------------------


def lines_of(data: bytes) -> list[Stored]:
    """A frozen log as a store would give it."""
    head, stored = EMPTY, []
    for line in data.splitlines():
        head = successor(head, line)
        stored.append(Stored(head.version, head.hash, line))
    return stored


def told(stored: Sequence[Stored], decode: Callable[[bytes], Entry] = decode_entry) -> Iterator[dict[str, Any]]:
    """What the log makes: first of the whole, then for each viewer."""
    room = None
    passed = []
    shown: dict[Viewer, list[bytes]] = {}
    for each in stored:
        folded = rooms.fold(room, decode(each.data))
        room = folded.room
        passed.append(room)
        for viewer in viewers(room):
            for event in rooms.shown(room, folded.events, viewer):
                shown.setdefault(viewer, []).append(encode(event))
    assert room is not None
    yield {"entries": len(stored), "hash": stored[-1].hash.hex(), "events": room.number, "phase": room.phase.value}
    for viewer in viewers(room):
        yield {"viewer": viewer, "shown": hashlib.sha256(b"\n".join(shown[viewer])).hexdigest()}
    for version in looked_at(passed):
        for viewer in viewers(room):
            snapshot = encode(rooms.snapshot(passed[version - 1], viewer))
            yield {"version": version, "viewer": viewer, "snapshot": msgspec.json.decode(snapshot)}


def looked_at(passed: Sequence[rooms.Room]) -> tuple[int, ...]:
    """Two entries in whose rooms there is something to see: half-way through the first deal, and at its end."""
    playing = [room.version for room in passed if room.phase is Phase.PLAYING]
    over = next(room.version for room in passed if room.phase is Phase.BETWEEN_DEALS)
    first = [version for version in playing if version < over]
    return first[len(first) // 2], over


def viewers(room: rooms.Room) -> tuple[Viewer, ...]:
    return (None, *(Seat(seat) for seat in range(len(room.seats))))


# How one is made -------------------------------------------------------------------------------------------------


def played(game: AnyGame) -> Hall:
    """A match in which everything happens that can in a room of ``game``."""
    settings = ChosenSettings(turn_limit=60, winks=game.sides < game.seats)
    hall = Hall(game, options={"deals": DEALS[game.name]}, settings=settings, seed=game.name)
    _before(hall)
    _match(hall, Random(game.name))
    hall.must(Rematch(id=hall.id_at(0)), 0)
    closed = rooms.close(hall.room, WhyClosed.OPERATOR, hall.now)
    assert closed is not None
    hall.append(closed)
    return hall


def _before(hall: Hall) -> None:
    """What people do before a match."""
    hall.must(SeatAi(id=hall.id_at(0), seat=1, level="easy"), 0)
    hall.must(SeatAi(id=hall.id_at(0), seat=1, level="hard"), 0)
    hall.must(ClearSeat(id=hall.id_at(0), seat=1), 0)
    hall.must(Move(id=hall.id_at(0), seat=1), 0)
    hall.must(Move(id=hall.id_at(1), seat=0), 1)
    hall.join("Eve", 1)
    hall.must(Chat(id=hall.id_at(1), text="こんばんは, everybody"), 1)
    hall.must(Mute(id=hall.id_at(0), seat=1, everyone=True), 0)
    hall.must(ClearSeat(id=hall.id_at(0), seat=1), 0)
    hall.join("Bob", 1)
    hall.must(Chat(id=hall.id_at(1), text="Good evening"), 1)
    hall.must(Mute(id=hall.id_at(0), seat=1), 0)
    hall.must(Lock(id=hall.id_at(0), on=True), 0)
    hall.must(Lock(id=hall.id_at(0), on=False), 0)


def _match(hall: Hall, rng: Random) -> None:
    """A match in which somebody thinks for too long, somebody is away for a while, and we are for a moment."""
    hall.start("medium")
    for seat in persons(hall.room):
        hall.must(Contribute(id=hall.id_at(seat), value=f"{seat:02}" * 32), seat)
    hall.later(0)
    asked = 0
    while hall.phase() is not Phase.FINISHED:
        hall.now += 700
        if hall.phase() is Phase.BETWEEN_DEALS:
            for seat in persons(hall.room):
                hall.must(Ready(id=hall.id_at(seat)), seat)
            hall.later(0)
            continue
        asked += 1
        if asked == 4:
            hall.later(hall.room.settings.turn_limit * 1_000)  # whoever is asked lets the time pass
        elif asked == 6:
            hall.drop(_AWAY)
            hall.later(hall.room.timing.grace_ms)
        elif asked == 12:
            hall.resume(_AWAY)
            refunded = rooms.refund(hall.room, 5_000, hall.now)
            assert refunded is not None
            hall.append(refunded)
        elif asked == 20 and free_seats(hall.room):
            hall.join("Gus", free_seats(hall.room)[0])  # in the place of an AI, in the middle of a deal
        elif asked == 80 and "Gus" in hall.clients:
            (gus,) = (seat for seat in persons(hall.room) if hall.name_at(seat) == "Gus")
            hall.must(Leave(id=hall.id_at(gus)), gus)
        elif not hall.ai(pick=rng.randrange(8)):
            _person_acts(hall, rng)


def _person_acts(hall: Hall, rng: Random) -> None:
    """Whoever is asked answers; what is sealed is then published."""
    decision = hall.decision
    if hall.room.settings.winks and not decision.sealed:
        hall.do(Wink(id=hall.id_at(0), signal=Signal.LEFT_EYE), 0)  # refused where it was done a moment ago
    for seat in decision.seats:
        if seat in persons(hall.room):
            hall.act(seat, rng.choice(question(hall.room, seat, games=hall.games).legal))
    if decision.sealed:
        assert not ai_moves(hall.room)
        due = next_due(hall.room)
        assert due is not None
        hall.later(due - hall.now)


def main() -> None:
    """Write what is missing, and what each log makes."""
    for name, game in GAMES.items():
        log = LOGS / str(SCHEMA) / f"{name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        if not log.exists():
            log.write_bytes(b"".join(entry + b"\n" for entry in played(game).log))
    for log in sorted(LOGS.glob("*/*.log")):
        lines = (json.dumps(line, ensure_ascii=False) for line in told(lines_of(log.read_bytes())))
        log.with_suffix(".jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        sys.stdout.write(f"{log}\n")


if __name__ == "__main__":
    main()
