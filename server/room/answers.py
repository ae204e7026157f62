"""What a room answers to a command."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from engine.game import Param, Seat
from server.entries import Entry

Params: TypeAlias = dict[str, Param]


class Append(Struct, frozen=True):
    """The command will have been done once the log has ``entry``."""

    entry: Entry
    seat: Seat | None
    """Where the connection is then; None for nowhere any more."""
    token: str | None = None
    """The seat's new secret, to be told to this connection and to nobody else."""


class Repeat(Struct, frozen=True):
    """The command was done already, or there is nothing to do: it is accepted as it was the first time."""

    at: int | None = None
    """The number of the last event that it made."""


class Refuse(Struct, frozen=True):
    """The command was not done."""

    code: str
    params: Params = {}


Decided: TypeAlias = Append | Repeat | Refuse
