"""What a person may be called and may say: readable on any screen, and unable to disturb it."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal

from protocol.limits import MAX_LINE, MAX_NAME

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
_MARKUP: Final = str.maketrans("<>", "\u2039\u203a")
"""Look-alikes: nothing that is written here can become a tag, however carelessly a page shows it."""


def normalise(name: str) -> str | None:
    """``name`` in compatibility form (NFKC), without unseen characters and markup, its spaces collapsed; None if
    nothing is left or it has more than ``MAX_NAME`` characters. Normalising twice changes nothing.
    """
    return _shown(name, "NFKC", MAX_NAME)


def line_of(text: str) -> str | None:
    """The same for a chat line, of at most ``MAX_LINE`` characters; NFC, for what is said need not be told apart."""
    return _shown(text, "NFC", MAX_LINE)


def _shown(text: str, form: Literal["NFC", "NFKC"], limit: int) -> str | None:
    known = ""
    while known != text:  # what is taken out can bring together what composes
        known = text
        text = _once(text, form)
    return text if 0 < len(text) <= limit else None


def _once(text: str, form: Literal["NFC", "NFKC"]) -> str:
    spaced = _SPACES.sub(" ", unicodedata.normalize(form, text)).translate(_MARKUP)
    kept: list[str] = []
    marks = _MARKS_IN_A_ROW  # none may come first: it would stand on whatever is printed before the text
    for character in spaced:
        category = unicodedata.category(character)
        if category in _UNSEEN or character in _BLANK:
            continue
        marks = marks + 1 if category.startswith("M") else 0
        if marks <= _MARKS_IN_A_ROW:
            kept.append(character)
    return "".join(kept).strip()
