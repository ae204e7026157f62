"""What a person has chosen for all tables: kept as JSON in the user's own configuration directory.

Belongs here: reading and writing the file. One that cannot be read (or not written) costs the choice, never the game.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec
import platformdirs
from msgspec import Struct

from clients.cli.tui.look import DARK, THEME_TITLES


class Preferences(Struct, frozen=True, kw_only=True):
    """The choices, each with its default."""

    theme: str = DARK
    symbols: bool = True
    """Draw a symbol beside the letters of a card's kind or suit; without it there are the letters alone."""


_decoder: Final = msgspec.json.Decoder(Preferences)


def path() -> Path:
    """The file."""
    return Path(platformdirs.user_config_dir("fudaza", appauthor=False)) / "table.json"


def load() -> Preferences:
    """What was saved; the defaults where nothing was, or nothing that can be read."""
    try:
        kept = _decoder.decode(path().read_bytes())
    except (OSError, msgspec.MsgspecError):
        return Preferences()
    return kept if kept.theme in THEME_TITLES else msgspec.structs.replace(kept, theme=DARK)


def save(preferences: Preferences) -> OSError | None:
    """Write them, whole or not at all; returns what went wrong."""
    file = path()
    fresh = file.with_suffix(".new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(msgspec.json.format(msgspec.json.encode(preferences)) + b"\n")
        os.replace(fresh, file)  # noqa: PTH105 - one call, whatever the file system
    except OSError as problem:
        return problem
    return None
