"""The server's programs speak the language of whoever starts them; what travels and what is logged has none."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest

from server import admin, settings
from server.settings import BadSetting, load
from server.usage import ARGPARSE
from wording import _, speaking
from wording.columns import width
from wording.languages import LANGUAGES, become, wanted

PARSERS = {"serve": settings._parser, "admin": admin._parser}


def every_help(parser: argparse.ArgumentParser) -> list[str]:
    """Its help, and that of its commands."""
    texts = [parser.format_help()]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            texts += [each.format_help() for each in action.choices.values()]
    return texts


@pytest.mark.parametrize("program", PARSERS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_help_is_in_the_readers_language_and_fits(language: str, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE", language)
    monkeypatch.setenv("COLUMNS", "80")
    with speaking(language):
        become(language)
        texts = every_help(PARSERS[program]())
        english = [text for text in (*ARGPARSE[:4], "Look after", "Port to listen", "one room:") if _(text) != text]
    for text in texts:
        assert max(map(width, text.splitlines())) <= 80
        assert not any(each in text for each in english)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_wrong_setting_is_said_in_the_readers_language(language: str) -> None:
    with speaking(language), pytest.raises(BadSetting) as refused:
        load(["--port", "many"], {})
    with speaking(language):
        assert str(refused.value).startswith(_("the command line"))
    assert "many" in str(refused.value)


def test_our_own_variable_wins_over_the_locale() -> None:
    assert wanted({"FUDAZA_LANG": "ja", "LANG": "de_DE.UTF-8"}) == "ja"
    assert wanted({"LANG": "de_DE.UTF-8"}) == "de"
    assert wanted({"FUDAZA_LANG": "tlh", "LANG": "C"}) == "en"


@pytest.mark.parametrize("program", [("serve",), ("admin", "nodes")])
def test_the_language_of_the_client_goes_on_to_the_server(program: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "clients.cli.main", "--lang", "cs", *program, "--unknown"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--unknown" in done.stderr
    assert "neznámé argumenty" in done.stderr
