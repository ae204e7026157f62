"""What the client says to people. Everything that a person reads goes through ``_`` on its way out.

Messages arrive as codes and parameters; a module per game and one for what all games share turn them into sentences.
``_`` returns English as it stands; a catalogue of translations can be put under it without touching a caller.
Sentences are written whole, once with "you" and once with a name: other languages cannot be glued from parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from engine.game import Param

Lines: TypeAlias = tuple[str, ...]
"""Whole lines or sentences, in reading order."""


def _(text: str) -> str:
    """``text`` in the reader's language."""
    return text


def N_(text: str) -> str:  # noqa: N802 - the conventional name; extraction tools look for it
    """Marks a text of a table for translation; ``_`` translates it when it is used."""
    return text


def counted(number: int, one: str, many: str) -> str:
    """``one`` or ``many``, as the reader's language counts, with ``{n}`` filled in."""
    return _(one if number == 1 else many).format(n=number)


def listed(parts: Iterable[str]) -> str:
    """A list within a sentence."""
    return ", ".join(parts)


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
