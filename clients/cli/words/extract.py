"""Brings the catalogues up to date: ``python -m clients.cli.words.extract``, which needs Babel (in the extra ``test``).

A tool for developers; nothing loads it. It collects every text that the sources of client and server mark, writes the
template ``fudaza.pot`` and, for each language, ``fudaza.po`` (new texts empty, vanished ones gone) and ``fudaza.mo``
(what the programs read). It then says what is missing. ``docs/languages.md`` tells translators the rest.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from inspect import cleandoc
from io import BytesIO
from pathlib import Path
from typing import Any, Final, NamedTuple

from babel.messages import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from clients.cli.usage import CLICK_COUNTED
from clients.cli.words import DOMAIN, LOCALE, SOURCE
from wording.languages import LANGUAGES

ROOT: Final = Path(__file__).parents[3]
SOURCES: Final = (ROOT / "clients" / "cli", ROOT / "server", ROOT / "wording")
MANUAL: Final = SOURCES[0] / "manual"
TEMPLATE: Final = LOCALE / f"{DOMAIN}.pot"

PLURALS: Final[Mapping[str, str]] = {
    "ja": "nplurals=1; plural=0;",
    "ko": "nplurals=1; plural=0;",
    "de": "nplurals=2; plural=(n != 1);",
    "da": "nplurals=2; plural=(n != 1);",
    "cs": "nplurals=3; plural=(n == 1 ? 0 : n >= 2 && n <= 4 ? 1 : 2);",
    "hi": "nplurals=2; plural=(n > 1);",
    "pt": "nplurals=2; plural=(n > 1);",
}
"""How each language counts (Unicode CLDR), as gettext writes it."""

MARKS: Final[Mapping[str, tuple[int, ...]]] = {"_": (0,), "N_": (0,), "filled": (0,), "counted": (1, 2)}
"""Which arguments of which functions are texts; two are a singular and its plural. ``C_`` and ``within`` differ."""
MANUAL_MARKS: Final[Mapping[str, tuple[int, ...]]] = {
    **MARKS,
    "title": (0,),
    "heading": (0,),
    "paragraph": (0,),
    "rule": (1,),
}
"""In the manuals also those that set rules."""

Text = str | tuple[str, str]
"""A text, or its singular and plural."""


class Found(NamedTuple):
    """A text and where it stands."""

    text: Text
    line: int
    context: str | None = None


class NotLiteral(Exception):
    """A marked text does not stand in the source as it is said: no catalogue can have it."""


class _Catalogue(Catalog):
    """A catalogue whose header says nothing but what gettext needs: the same texts give the same file."""

    def __init__(self, language: str | None) -> None:
        super().__init__(locale=language, domain=DOMAIN, header_comment="# Fudaza", fuzzy=False)
        self._language = language

    def _get_mime_headers(self) -> list[tuple[str, str]]:
        headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Transfer-Encoding", "8bit")]
        if self._language is not None:
            headers = [("Language", self._language), ("Plural-Forms", PLURALS[self._language]), *headers]
        return headers

    mime_headers = property(_get_mime_headers, Catalog._set_mime_headers)  # noqa: SLF001 - Babel's own, kept

    @property
    def num_plurals(self) -> int:
        return 2 if self._language is None else int(PLURALS[self._language][len("nplurals=")])


def found_in(source: str, *, manual: bool = False) -> Iterator[Found]:
    """Every marked text in Python ``source``. ``manual``: it sets rules.

    Raises:
        NotLiteral: a mark stands around an f-string, or a plural is not written out.
    """
    marks = MANUAL_MARKS if manual else MARKS
    within: set[ast.expr] = set()
    for node in ast.walk(ast.parse(source)):  # what is inside a call comes after it
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in marks and node not in within:
                if len(marks[name]) > 1:
                    within.update(node.args)
                yield from _marked(node, marks[name])
            case ast.Call(func=ast.Name(id="C_" | "within"), args=[context, text]):
                if found := _literal(text):
                    yield Found(found, node.lineno, _literal(context))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="click"), attr="option" | "command" | "group")):
                yield from (Found(cleandoc(text), node.lineno) for text in _help(node))
            case ast.FunctionDef() if any(map(_makes_command, node.decorator_list)):
                docstring = ast.get_docstring(node)
                if docstring:
                    yield Found(docstring, node.lineno)
            case _:
                pass


def _marked(call: ast.Call, places: tuple[int, ...]) -> Iterator[Found]:
    texts = [_literal(call.args[place]) for place in places]
    if len(texts) == 1:
        if texts[0]:
            yield Found(texts[0], call.lineno)
        return
    one, many = texts
    if not (one and many):  # nothing else would mark a plural
        raise NotLiteral(f"line {call.lineno}: {ast.unparse(call)}")
    yield Found((one, many), call.lineno)


def _literal(node: ast.expr) -> str | None:
    """A text that stands there; None where a variable stands, whose texts are marked elsewhere."""
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.BinOp) and not isinstance(node.op, ast.BitOr)):
        raise NotLiteral(f"line {node.lineno}: {ast.unparse(node)}")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "N_":
        node = node.args[0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _help(call: ast.Call) -> Iterator[str]:
    for keyword in call.keywords:
        if keyword.arg == "help" and (text := _literal(keyword.value)):
            yield text


def _makes_command(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Attribute) and called.attr in {"command", "group"}


def template() -> Catalog:
    """Every text that a person reads, in the order of the files."""
    catalogue = _Catalogue(None)
    for path in (path for source in SOURCES for path in sorted(source.rglob("*.py"))):
        manual = path.is_relative_to(MANUAL)
        where = path.relative_to(ROOT).as_posix()
        try:
            texts = sorted(found_in(path.read_text(encoding="utf-8"), manual=manual), key=lambda found: found.line)
        except NotLiteral as problem:
            raise NotLiteral(f"{where}: {problem}") from None
        for found in texts:
            catalogue.add(found.text, locations=[(where, found.line)], context=found.context)
    for counted in CLICK_COUNTED:
        catalogue.add(counted, locations=[("clients/cli/usage.py", 1)])
    return catalogue


def po_path(language: str) -> Path:
    """The catalogue that people edit."""
    return LOCALE / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def mo_path(language: str) -> Path:
    """The catalogue that the client reads."""
    return po_path(language).with_suffix(".mo")


def read(language: str) -> Catalog:
    """The catalogue of a language as it is on disk; empty where there is none."""
    path = po_path(language)
    if not path.exists():
        return _Catalogue(language)
    with path.open("rb") as file:
        return read_po(file, locale=language)


def updated(texts: Catalog, old: Catalog, language: str) -> Catalog:
    """``old`` with exactly the ``texts`` of the template."""
    new = _Catalogue(language)
    for message in texts:
        if message.id:
            known = old.get(message.id, message.context)
            same_shape = known is not None and isinstance(known.id, tuple) == isinstance(message.id, tuple)
            string = known.string if known and same_shape else None
            new.add(message.id, string, locations=message.locations, context=message.context)
    return new


def missing(catalogue: Catalog) -> list[Any]:
    """Texts without a translation, or with one that lacks a plural form."""
    return [message.id for message in catalogue if message.id and not all(_forms(message.string))]


def _forms(string: Any) -> Iterable[str]:
    return string if isinstance(string, tuple | list) else (string,)


def as_po(catalogue: Catalog) -> bytes:
    """The file for people: without line numbers, which every change of the sources would move."""
    file = BytesIO()
    write_po(file, catalogue, width=110, include_lineno=False)
    return file.getvalue()


def as_mo(catalogue: Catalog) -> bytes:
    """The file for the client."""
    file = BytesIO()
    write_mo(file, catalogue)
    return file.getvalue()


def files() -> dict[Path, bytes]:
    """Every file of the catalogues as it should be."""
    texts = template()
    wanted = {TEMPLATE: as_po(texts)}
    for language in LANGUAGES:
        if language != SOURCE:
            catalogue = updated(texts, read(language), language)
            wanted[po_path(language)] = as_po(catalogue)
            wanted[mo_path(language)] = as_mo(catalogue)
    return wanted


def main() -> int:
    """Write all files; the exit status says whether every language is complete."""
    for path, data in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    complete = True
    for language in LANGUAGES:
        lacking = [] if language == SOURCE else missing(read(language))
        complete = complete and not lacking
        for text in lacking:
            print(f"{language}: {text!r}")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
