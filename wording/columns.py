"""Text in columns of a terminal, in every script: how wide it is, filled up, broken into lines.

East Asian wide characters take two columns (Unicode Standard Annex 11), marks that combine none, except the spacing
ones of Indic scripts, which take one: so measure the C library, xterm, VTE and tmux. Terminals that join a syllable
into fewer columns set Hindi tables a little off.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

from wording import Lines

ELLIPSIS: Final = "…"

_OPENING: Final = re.escape("（「『【〔([")
_CLOSING: Final = re.escape("）」』】〕)]、。，．：；！？・…ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ,.:;!?%")
_IDEOGRAPHIC: Final = "\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60"
"""Kana, ideographs and their punctuation: a line may break between any two. Hangul is broken at spaces."""
_UNIT: Final = re.compile(
    rf"(?P<space>\s*)(?P<text>[{_OPENING}]*(?:[{_IDEOGRAPHIC}]|[^\s{_IDEOGRAPHIC}]+)[{_CLOSING}]*)"
)
"""What stays together: nothing ends a line that opens, nothing begins one that closes."""


def width(text: str) -> int:
    """The columns that ``text`` takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def padded(text: str, columns: int) -> str:
    """``text`` with spaces behind it, up to ``columns``."""
    return text + " " * (columns - width(text))


def shortened(text: str, columns: int) -> str:
    """``text`` on at most so many ``columns``, with an ellipsis where something is lost. No letter loses its marks."""
    if width(text) <= columns:
        return text
    if columns <= 0:
        return ""
    end, used = 0, len(ELLIPSIS)
    for end, sign in enumerate(text):  # noqa: B007 - where it breaks off is what is looked for
        used += width(sign)
        if used > columns:
            break
    while end > 0 and unicodedata.category(text[end]).startswith("M"):
        end -= 1
    return text[:end] + ELLIPSIS


def wrapped(text: str, columns: int, first: str = "", rest: str = "") -> Lines:
    """``text`` in lines of at most ``columns``, the first behind ``first``, the others behind ``rest``."""
    lines, line = [], first
    empty = True
    for unit in _UNIT.finditer(text):
        space = "" if empty else unit["space"]
        if not empty and width(line) + width(space) + width(unit["text"]) > columns:
            lines.append(line)
            line, space = rest, ""
        line += space + unit["text"]
        empty = False
    return (*lines, line.rstrip())


@cache
def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
