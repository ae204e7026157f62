"""The room: a pure fold over its log.

``decide`` turns a command into an entry or a refusal, ``fire`` and ``move_for`` what time and AI do; ``fold`` turns an
entry that the log has accepted into the next room and its events, and ``showing`` decides who is shown what of them.
Nothing here does I/O, reads a clock or draws a number. ``docs/architecture.md`` has the reasons.
"""

from __future__ import annotations

from server.room.answers import Append, Decided, Refuse, Repeat
from server.room.clock import close, drop, fire, next_due, refund, remove
from server.room.deciding import RoomCommand, decide, may_watch, open_room
from server.room.driving import AiMove, Question, ai_moves, default_action, move_for, question
from server.room.folding import Folded, fold, replay
from server.room.playing import OtherRules
from server.room.records import FinishedDeal
from server.room.showing import Missed, Shown, asked, distinct, missed, shown, snapshot, summary, turn
from server.room.state import (
    HOLDERS,
    Ai,
    Games,
    Holder,
    Open,
    Person,
    Phase,
    Room,
    holder_of,
    person_at,
    persons,
    seat_of,
    token_of,
)
from server.room.tokens import Entropy, room_id_of

__all__ = [
    "HOLDERS",
    "Ai",
    "AiMove",
    "Append",
    "Decided",
    "Entropy",
    "FinishedDeal",
    "Folded",
    "Games",
    "Holder",
    "Missed",
    "Open",
    "OtherRules",
    "Person",
    "Phase",
    "Question",
    "Refuse",
    "Repeat",
    "Room",
    "RoomCommand",
    "Shown",
    "ai_moves",
    "asked",
    "close",
    "decide",
    "default_action",
    "distinct",
    "drop",
    "fire",
    "fold",
    "holder_of",
    "may_watch",
    "missed",
    "move_for",
    "next_due",
    "open_room",
    "person_at",
    "persons",
    "question",
    "refund",
    "remove",
    "replay",
    "room_id_of",
    "seat_of",
    "shown",
    "snapshot",
    "summary",
    "token_of",
    "turn",
]
