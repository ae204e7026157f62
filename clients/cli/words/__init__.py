"""What the client says to people. Everything that a person reads goes through ``_`` on its way out.

Messages arrive as codes and parameters; a module per game and one for what all games share turn them into sentences.
English stands in the source; ``speak`` puts a catalogue of translations under it (``docs/languages.md``). Sentences are
written whole, once with "you" and once with a name: other languages cannot be glued from parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from gettext import NullTranslations, translation
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:  # the overview of the commands is said without the engine
    from engine.game import Param

Lines: TypeAlias = tuple[str, ...]
"""Whole lines or sentences, in reading order."""


LOCALE: Final = Path(__file__).parents[1] / "locale"
"""Where the catalogues are."""
DOMAIN: Final = "fudaza"
SOURCE: Final = "en"
"""The language of the source: it has no catalogue."""

_catalogue = NullTranslations()


def speak(language: str) -> None:
    """Say everything from now on in ``language``, one of ``languages.LANGUAGES``."""
    global _catalogue  # noqa: PLW0603 - one process has one reader
    _catalogue = NullTranslations() if language == SOURCE else translation(DOMAIN, LOCALE, [language])


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Say in ``language`` what is said within; afterwards go on as before."""
    global _catalogue  # noqa: PLW0603 - one process has one reader
    before = _catalogue
    speak(language)
    try:
        yield
    finally:
        _catalogue = before


def _(text: str) -> str:
    """``text`` in the reader's language."""
    return _catalogue.gettext(text) if text else ""  # the empty text is the catalogue's own header


def N_(text: str) -> str:  # noqa: N802 - the conventional name; extraction tools look for it
    """Marks a text of a table for translation; ``_`` translates it when it is used."""
    return text


def C_(context: str, text: str) -> str:  # noqa: N802 - as above
    """Marks a text of a table for translation in a context; ``within`` translates it when it is used."""
    del context  # it is for extraction
    return text


def within(context: str, text: str) -> str:
    """``text`` as it is said in a context: where a language needs two words for what English says with one."""
    return _catalogue.pgettext(context, text)


def counted(number: int, one: str, many: str, **params: object) -> str:
    """``one`` or ``many`` (or what else the reader's language has), with ``{n}`` and ``params`` filled in."""
    return _catalogue.ngettext(one, many, number).format(n=number, **params)


def listed(parts: Iterable[str]) -> str:
    """A list within a sentence."""
    return _(", ").join(parts)


def sentences(*parts: str) -> str:
    """Whole sentences, one after the other."""
    told = ""
    for part in filter(None, parts):
        told = _("{told} {next}").format(told=told, next=part) if told else part
    return told


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
