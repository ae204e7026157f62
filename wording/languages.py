"""Which languages there are, and which one the reader wants."""

from __future__ import annotations

import gettext
import locale
import os
from collections.abc import Mapping
from typing import Final

from wording import DOMAIN, LOCALE, SOURCE, speak, spoken

LANGUAGES: Final[Mapping[str, str]] = {
    SOURCE: "English",
    "ja": "日本語",
    "ko": "한국어",
    "de": "Deutsch",
    "da": "dansk",
    "cs": "čeština",
    "hi": "हिन्दी",
    "pt": "português",
}
"""By their codes (ISO 639-1), as their speakers call them."""

VARIABLE: Final = "FUDAZA_LANG"


def language_of(tag: str) -> str | None:
    """The language of ours that a tag means: ``pt``, ``pt-BR``, ``ja_JP.UTF-8``. None: it means no language of ours."""
    code = tag.strip().replace("_", "-").partition("-")[0].partition(".")[0].lower()
    return code if code in LANGUAGES else None


def language_of_locale(environment: Mapping[str, str]) -> str:
    """The language of the reader's locale; English where it is none of ours.

    As POSIX reads it: ``LC_ALL`` before ``LC_MESSAGES`` before ``LANG``. Where none is set the system is asked.
    """
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(variable):
            return language_of(environment[variable]) or SOURCE
    return language_of(locale.getlocale()[0] or "") or SOURCE


def environment_for_children() -> dict[str, str]:
    """The environment of this process, for a program of ours that shall speak as it does."""
    return {**os.environ, VARIABLE: spoken()}


def wanted(environment: Mapping[str, str]) -> str:
    """The language that an environment asks for: by our own variable, if it names one of ours, else by the locale."""
    return language_of(environment.get(VARIABLE, "")) or language_of_locale(environment)


def become(language: str) -> None:
    """Make this process speak ``language``, the words of command-line libraries included."""
    speak(language)
    # Click and argparse ask the standard library's global functions, which read this variable at every call.
    gettext.bindtextdomain(DOMAIN, str(LOCALE))
    gettext.textdomain(DOMAIN)
    os.environ["LANGUAGE"] = language
