"""What the client says to people. Everything that a person reads goes through ``_`` on its way out.

Messages arrive as codes and parameters; a module per game and one for what all games share turn them into sentences.
The marks are those of ``wording``, which all texts of this project share.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from wording import C_, DOMAIN, LOCALE, N_, SOURCE, Lines, _, counted, listed, sentences, speak, speaking, within

if TYPE_CHECKING:  # the overview of the commands is said without the engine
    from engine.game import Param

__all__ = [
    "C_",
    "DOMAIN",
    "GAP",
    "LOCALE",
    "N_",
    "SOURCE",
    "Lines",
    "_",
    "counted",
    "filled",
    "listed",
    "plainly",
    "sentences",
    "speak",
    "speaking",
    "within",
]

GAP: Final = "(?)"
"""Stands in a sentence for a parameter that was not told."""


class _Lenient(dict[str, Any]):
    """A later server may leave out what an earlier one told: a gap in a sentence is better than none."""

    def __missing__(self, key: str) -> str:
        return GAP


def filled(template: str, params: Mapping[str, Any]) -> str:
    """``template`` translated, its fields filled from ``params``; several values become a list."""
    words = {
        key: listed(map(str, value)) if isinstance(value, tuple | list) else str(value) for key, value in params.items()
    }
    return _(template).format_map(_Lenient(words))


def plainly(code: str, params: Mapping[str, Param]) -> str:
    """A message that this client has no words for, so that nothing is ever swallowed."""
    return " ".join([code, *(f"{key}={value}" for key, value in params.items())])
