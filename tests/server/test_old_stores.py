"""The oldest store that the manual promises knows every command that is sent, and every word of it.

``tests/vectors/redis-7.0.txt`` is what a Redis 7.0.15 says of itself (``COMMAND DOCS``, of a server and of a sentinel),
without what came after 7.0.0: a command on each line, with ``|`` before a subcommand, and the words that it takes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from server.store.client import LIBRARY_SOURCE

ROOT: Final = Path(__file__).parents[2]
KNOWN: Final = {
    command: frozenset(words)
    for command, *words in map(str.split, (ROOT / "tests" / "vectors" / "redis-7.0.txt").read_text().splitlines())
}
WITH_SUBCOMMANDS: Final = {command.partition("|")[0] for command in KNOWN if "|" in command}
BY_THE_LIBRARY: Final = {"hello", "auth"}
"""What redis-py sends when it connects. It asks for more, and does without what it is refused."""
OUTSIDE_THE_LOGIN: Final = {"asking", "cluster|slots", "sentinel|get-master-addr-by-name"}
"""Of clusters, which the manual adds to the login, and of sentinels, which have logins of their own."""

WORD: Final = re.compile(r"[A-Z][A-Z_-]+")


def of_python(source: str) -> Iterator[list[str]]:
    """The words in capitals of each call, and of each tuple that a function makes."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            parts = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.Tuple) else []
            first, *rest = parts or [ast.Constant(None)]
            # ``"FCALL_RO" if read else "FCALL"`` is two commands
            for choice in (first.body, first.orelse) if isinstance(first, ast.IfExp) else (first,):
                texts = [part.value for part in (choice, *rest) if isinstance(part, ast.Constant)]
                yield [text for text in texts if isinstance(text, str) and WORD.fullmatch(text)]


def of_lua(source: str) -> Iterator[list[str]]:
    """The words in capitals of each call of a command."""
    for call in re.split(r"redis\.p?call\(", source)[1:]:
        yield re.findall(rf"'({WORD.pattern})'", call.partition("\n")[0])


def sent() -> Iterator[tuple[str, frozenset[str]]]:
    """Every command in the sources, as the vector writes it, and the words that go with it."""
    found = [words for path in (ROOT / "server" / "store").glob("*.py") for words in of_python(path.read_text())]
    for command, *words in filter(None, (*found, *of_lua(LIBRARY_SOURCE))):
        if command.lower() in WITH_SUBCOMMANDS:
            yield f"{command}|{words[0]}".lower(), frozenset(words[1:])
        else:
            yield command.lower(), frozenset(words)


@pytest.mark.parametrize(("command", "words"), sorted(set(sent()), key=str))
def test_redis_7_0_knows_what_is_sent(command: str, words: frozenset[str]) -> None:
    assert command in KNOWN
    assert words <= KNOWN[command]


def test_what_is_sent_is_what_the_manual_lets_the_login_do() -> None:
    manual = (ROOT / "docs" / "security.md").read_text().partition("<!-- acl")[2].partition("```\n")[0]
    allowed = set(re.findall(r"\+([a-z_|]+)", manual))

    assert {command for command, _ in sent()} - OUTSIDE_THE_LOGIN == allowed - BY_THE_LIBRARY
    assert allowed <= KNOWN.keys()
