"""How a person is spoken to: every text that a person reads goes through ``_`` on its way out.

English stands in the source; ``speak`` puts a catalogue of translations under it (``docs/languages.md``). Sentences are
written whole, once with "you" and once with a name: other languages cannot be glued from parts.

Belongs here: languages, catalogues, text in columns. Must not be known here: what is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from gettext import NullTranslations, translation
from pathlib import Path
from typing import Final, TypeAlias

Lines: TypeAlias = tuple[str, ...]
"""Whole lines or sentences, in reading order."""


LOCALE: Final = Path(__file__).parent / "locale"
"""Where the catalogues are."""
DOMAIN: Final = "fudaza"
SOURCE: Final = "en"
"""The language of the source: it has no catalogue."""

_language = SOURCE
_catalogue = NullTranslations()


def speak(language: str) -> None:
    """Say everything from now on in ``language``, one of ``languages.LANGUAGES``."""
    global _language, _catalogue  # noqa: PLW0603 - one process has one reader
    _catalogue = NullTranslations() if language == SOURCE else translation(DOMAIN, LOCALE, [language])
    _language = language


def spoken() -> str:
    """The language that everything is said in."""
    return _language


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Say in ``language`` what is said within; afterwards go on as before."""
    before = _language
    speak(language)
    try:
        yield
    finally:
        speak(before)


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
