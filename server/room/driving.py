"""What the drivers of AI seats ask a room, and the entries that their answers become.

An AI is given ``question``'s view and legal actions, and nothing else.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from engine.game import Seat
from engine.registry import GAMES
from server.entries import Acted, Actor, Answered, Entry
from server.room.clock import default_text
from server.room.deciding import check_action, entry
from server.room.showing import seen_by
from server.room.state import Ai, Decision, Games, Room, mover_is_ai, table_of

_encoder: Final = msgspec.json.Encoder()


class AiMove(Struct, frozen=True):
    """An AI should move."""

    seat: Seat
    level: str
    at: int
    """The decision it answers (the number of the event that opened it)."""
    since: int
    """When that was opened, in milliseconds since the epoch: a human-looking pause counts from there."""
    sealed: bool


class Question(Struct, frozen=True):
    """Everything an AI is given besides its level."""

    view: bytes
    """The seat's view as JSON."""
    legal: tuple[str, ...]
    """What the seat may do, sorted."""


def ai_moves(room: Room) -> tuple[AiMove, ...]:
    """The moves that AI should make now, in order of seat. Empty while no person is left: the room stands still."""
    decision = _open_decision(room)
    if decision is None:
        return ()
    table = table_of(room)
    moves = []
    for seat in decision.seats:
        if mover_is_ai(room, seat) and all(each.seat != seat for each in table.answers):
            holder = room.seats[seat]
            level = holder.level if isinstance(holder, Ai) else table.level
            moves.append(AiMove(seat, level, decision.at, decision.since, decision.sealed))
    return tuple(moves)


def question(room: Room, seat: Seat, *, games: Games = GAMES) -> Question:
    """What to ask an AI in ``seat``, which ``ai_moves`` has named."""
    game = games[room.game]
    view = seen_by(game, table_of(room), seat)
    return Question(_encoder.encode(view), tuple(map(game.text, game.legal(view))))


def default_action(room: Room, seat: Seat, *, games: Games = GAMES) -> str:
    """The text of what is done for ``seat``, which ``ai_moves`` has named, when its AI fails."""
    return default_text(table_of(room), seat, games[room.game])


def move_for(room: Room, move: AiMove, action: str, actor: Actor, now: int, *, games: Games = GAMES) -> Entry | None:
    """The entry of an AI's move; None if the decision is no longer open, or no longer the AI's (a person is back).

    ``actor`` is ``CLOCK`` for a default action. ``now`` in milliseconds since the epoch.

    Raises:
        MalformedAction: ``action`` is no action of the game.
        IllegalAction: the rules forbid it.
    """
    if move not in ai_moves(room):
        return None
    check_action(games[room.game], room, move.seat, action)
    kind = Answered if move.sealed else Acted
    return entry(room, kind(seat=move.seat, action=action, actor=actor), now)


def _open_decision(room: Room) -> Decision | None:
    return room.table.decision if room.table is not None and room.abandoned_at is None else None
