"""Seats that can be resumed later: a private file for each, with the token that is the seat's only key.

Belongs here: where they are kept, who may read them, which one is in use. Must not be known here: connections. A file
is locked as long as a client plays from it, so that a second client on the same machine does not take its seat.
"""

from __future__ import annotations

import os
import time
from itertools import chain, count
from pathlib import Path
from typing import Final, Self

import click
import msgspec
import platformdirs
from msgspec import Struct

from clients.cli.locks import take_lock


class SavedPlace(Struct, frozen=True, kw_only=True):
    """What it takes to be back in a seat."""

    url: str
    game: str
    room: str
    code: str
    seat: int
    token: str
    saved_at: float
    """Seconds since the epoch."""
    local: str | None = None
    """Data directory of the server, where ``fudaza play`` started it."""


_decoder: Final = msgspec.json.Decoder(SavedPlace)


def state_dir() -> Path:
    """Where this client keeps what must survive it; made for the user alone.

    Raises:
        click.ClickException: it cannot be made.
    """
    directory = Path(platformdirs.user_state_dir("fudaza", appauthor=False))
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise click.ClickException(str(problem)) from problem
    return directory


class PlaceFile:
    """One seat's file. While it is open it is locked; ``save`` replaces what it says, ``forget`` removes it."""

    def __init__(self, path: Path, lock: int) -> None:
        self._path = path
        self._lock = lock

    @classmethod
    def open(cls, path: Path) -> Self | None:
        """The file for this client alone; None if another client plays from it."""
        lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        if not take_lock(lock):
            os.close(lock)
            return None
        return cls(path, lock)

    @classmethod
    def new(cls, room: str, seat: int) -> Self:
        """A file for a seat that was just taken."""
        directory = state_dir() / "seats"
        directory.mkdir(mode=0o700, exist_ok=True)
        # A client that has stood still (Control-Z) until its seat was given away does not know yet, and has its file.
        names = chain([f"{room}-{seat}"], (f"{room}-{seat}.{number}" for number in count(2)))
        return next(file for name in names if (file := cls.open(directory / f"{name}.json")) is not None)

    def save(self, place: SavedPlace) -> None:
        """Write ``place``, whole or not at all, readable by the user alone."""
        fresh = self._path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(place))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)

    def forget(self) -> None:
        """The seat is gone."""
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let other clients have the seat's file; what it says stays."""
        if not self._path.exists():
            self._path.with_suffix(".lock").unlink(missing_ok=True)
        os.close(self._lock)


def saved(url: str | None = None, code: str | None = None) -> list[tuple[PlaceFile, SavedPlace]]:
    """Seats that may be resumed, newest first, each opened and locked (close those that are not used).

    ``url`` and ``code`` narrow the choice. Seats that another client plays from are left out, and so are files that
    cannot be read or locked.
    """
    found = []
    for path in (state_dir() / "seats").glob("*.json"):
        try:
            place = _decoder.decode(path.read_bytes())
        except (OSError, msgspec.MsgspecError):
            continue
        if (url is None or place.url == url) and (code is None or place.code == code.upper()):
            try:
                file = PlaceFile.open(path)
            except OSError:
                continue  # it cannot be locked, so another client may be at it
            if file is not None:
                found.append((file, place))
    return sorted(found, key=lambda pair: pair[1].saved_at, reverse=True)


def now() -> float:
    """For ``SavedPlace.saved_at``."""
    return time.time()
