"""What a person may be called: readable on any screen, and unable to disturb it."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from protocol.limits import MAX_NAME

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Categories without a picture of their own: controls, bidirectional marks, zero-width characters, the unassigned."""
_BLANK: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
"""Letters and marks that are drawn as nothing: fillers, joiners, variation selectors."""
_SPACES: Final = re.compile(r"\s+")
_MARKS_IN_A_ROW: Final = 3
"""Enough for every script's syllables; a tower of marks would cover the lines above."""


def normalise(name: str) -> str | None:
    """``name`` in compatibility form (NFKC), without unseen characters, its spaces collapsed; None if nothing is left
    or it has more than ``MAX_NAME`` characters. Normalising twice changes nothing.
    """
    known = ""
    while known != name:  # what is taken out can bring together what composes
        known = name
        name = _once(name)
    return name if 0 < len(name) <= MAX_NAME else None


def _once(name: str) -> str:
    spaced = _SPACES.sub(" ", unicodedata.normalize("NFKC", name))
    kept: list[str] = []
    marks = _MARKS_IN_A_ROW  # none may come first: it would stand on whatever is printed before the name
    for character in spaced:
        category = unicodedata.category(character)
        if category in _UNSEEN or character in _BLANK:
            continue
        marks = marks + 1 if category.startswith("M") else 0
        if marks <= _MARKS_IN_A_ROW:
            kept.append(character)
    return "".join(kept).strip()
