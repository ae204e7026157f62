from __future__ import annotations

import ast
import os
import random
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from string import Formatter
from typing import Any

import click
import pytest
from babel.messages import Catalog
from click.testing import CliRunner
from rich.cells import cell_len

from clients.cli import usage
from clients.cli.main import COMMANDS, main
from clients.cli.manual import rules_of
from clients.cli.manual.page import WIDTH
from clients.cli.picture import from_snapshot
from clients.cli.tui.flower_cards import SHORT, short
from clients.cli.tui.joined import measure
from clients.cli.words import SOURCE, Lines, _, common, counted, extract, listed, speak, within
from clients.cli.words.flowers import FlowerNames
from clients.cli.words.games import words_of
from clients.cli.words.people import People, people_of
from engine import match as matches
from engine.game import AnyGame, MalformedAction, Seat
from engine.match import Need
from engine.registry import GAMES
from protocol.messages import Act, SeatInfo, Start
from tests.cli.hall import Hall
from tests.cli.samples import Sampler
from wording.columns import padded, shortened, width, wrapped
from wording.languages import LANGUAGES, language_of, language_of_locale

TRANSLATED = [language for language in LANGUAGES if language != SOURCE]

OURS = [name for name, (where, _help) in COMMANDS.items() if not where.startswith("clients.cli.serving:")]
"""Commands that are the client's: the others become the server's programs."""

SCRIPTS = {
    "ja": {"LATIN", "HIRAGANA", "KATAKANA", "CJK"},
    "ko": {"LATIN", "HANGUL"},
    "hi": {"LATIN", "DEVANAGARI"},
}
"""Which scripts a language is written in, where it is not Latin alone. Codes and commands are Latin everywhere."""


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Whatever a test speaks, the next one begins in English."""
    before = os.environ.get("LANGUAGE")
    speak(SOURCE)
    yield
    speak(SOURCE)
    os.environ.pop("LANGUAGE", None)
    if before is not None:
        os.environ["LANGUAGE"] = before


@pytest.fixture(scope="module")
def catalogues() -> dict[str, Catalog]:
    return {language: extract.read(language) for language in TRANSLATED}


def texts_of(catalogue: Catalog) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Every text with its forms, and its translation with its forms."""
    return [(_forms(message.id), _forms(message.string)) for message in catalogue if message.id]


def _forms(value: Any) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def fields(text: str) -> set[str]:
    """The fields of a template, with how they are formatted."""
    return {f"{name}!{how}:{spec}" for _text, name, spec, how in Formatter().parse(text) if name is not None}


def scripts(text: str) -> set[str]:
    """The scripts of the letters in ``text``; an ordinal's º (nº 3) is of none."""
    letters = (letter for letter in text if unicodedata.category(letter) in ("Lu", "Ll", "Lo") and letter not in "ºª")
    return {unicodedata.name(letter).split()[0] for letter in letters}


# The catalogues ---------------------------------------------------------------------------------------------------


def test_every_file_of_the_catalogues_is_what_extraction_makes_of_the_sources() -> None:
    for path, data in extract.files().items():
        assert path.read_bytes() == data, f"{path.name} of {path.parent}: run `python -m clients.cli.words.extract`"


@pytest.mark.parametrize("language", TRANSLATED)
def test_nothing_is_missing_or_fuzzy(language: str, catalogues: dict[str, Catalog]) -> None:
    assert extract.missing(catalogues[language]) == []
    assert not [message.id for message in catalogues[language] if message.fuzzy]


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_have_the_fields_of_the_original(language: str, catalogues: dict[str, Catalog]) -> None:
    for original, translation in texts_of(catalogues[language]):
        allowed = set().union(*map(fields, original))
        needed = set.intersection(*map(fields, original))
        for form in translation:
            assert needed <= fields(form) <= allowed, f"{original[0]!r}: {form!r}"


@pytest.mark.parametrize("language", TRANSLATED)
def test_plurals_have_all_the_forms_of_the_language(language: str, catalogues: dict[str, Catalog]) -> None:
    forms = int(extract.PLURALS[language][len("nplurals=")])
    plurals = [translation for original, translation in texts_of(catalogues[language]) if len(original) > 1]
    assert plurals
    assert {len(translation) for translation in plurals} == {forms}


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_margins_of_a_text_are_kept(language: str, catalogues: dict[str, Catalog]) -> None:
    """Indented lines stay indented, texts that end a paragraph or a line end it."""
    for original, translation in texts_of(catalogues[language]):
        if not original[0].strip(" ,"):
            continue  # the comma of lists is the language's own
        for form in translation:
            assert _margins(form) == _margins(original[0]), f"{original[0]!r}: {form!r}"


def _margins(text: str) -> tuple[str, str]:
    return text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_translation_mixes_languages(language: str, catalogues: dict[str, Catalog]) -> None:
    allowed = SCRIPTS.get(language, {"LATIN"})
    own = allowed - {"LATIN"}
    for original, translation in texts_of(catalogues[language]):
        for form in translation:
            assert scripts(form) <= allowed, f"{original[0]!r}: {form!r}"
            if own and len(_words(original[0])) >= 3:
                assert scripts(form) & own, f"{original[0]!r} is left in English"


def _words(text: str) -> list[str]:
    """The words of a sentence that can be translated: no fields, codes, names of options or commands in it."""
    return re.findall(r"(?<![\w`{/.-])[a-z]{2,}(?![\w`}=:(/])", re.sub(r"`[^`]*`|\{[^}]*\}|--\w+", "", text))


@pytest.mark.parametrize("language", ["de", "da", "cs", "pt"])
def test_no_sentence_was_left_in_english(language: str, catalogues: dict[str, Catalog]) -> None:
    """Words that only English has, in languages that share its letters."""
    english = re.compile(r"\b(the|you|your|cards?|of|with|what|which|their|they|whoever)\b", re.IGNORECASE)
    for original, translation in texts_of(catalogues[language]):
        assert len(original[0].split()) < 4 or translation[0] != original[0], original[0]
        for form in translation:
            assert not english.search(re.sub(r"\{[^}]*\}", "", form)), f"{original[0]!r}: {form!r}"


@pytest.mark.parametrize("language", TRANSLATED)
def test_what_is_typed_stays_as_it_is(language: str, catalogues: dict[str, Catalog]) -> None:
    """Commands, options, examples of notation and rule numbers are the same in every language."""
    commands = "|".join(COMMANDS)
    typed = re.compile(
        rf"`[^`]+`|--[a-z]+(?:-[a-z]+)*|fudaza (?:{commands})|\*?\d\d[a-z]\*?(?:\d\d[a-z])?|\b[GHK]\d+\b"
    )
    for original, translation in texts_of(catalogues[language]):
        for each in typed.findall(original[-1]):
            assert all(each in form for form in translation), f"{each} is lost: {translation[0]!r}"


def test_a_text_that_the_program_puts_together_cannot_be_extracted() -> None:
    for source in ('_(f"seat {seat}")', '_("seat " + seat)', "counted(n, one, many)"):
        with pytest.raises(extract.NotLiteral):
            list(extract.found_in(source))


def test_extraction_finds_every_kind_of_mark() -> None:
    source = '''
@click.command()
@click.option("--seat", help="The seat.")
def sit(): """Sit down."""
_("one" " text"), N_("two"), filled("three {n}", {}), counted(n, "four", "{n} fours"), counted(n, N_("a"), N_("b"))
C_("on a card", "six"), within("on a card", "seven"), within("on a card", variable)
rule("H1", "five")
'''
    found = {each.text for each in extract.found_in(source, manual=True)}
    plain = {"Sit down.", "The seat.", "one text", "two", "three {n}", "five", "six", "seven"}
    assert found == plain | {("four", "{n} fours"), ("a", "b")}
    assert [each.text for each in extract.found_in(source) if each.context == "on a card"] == ["six", "seven"]
    assert "five" not in [each.text for each in extract.found_in(source)]


def test_every_sentence_of_the_clients_modules_is_marked() -> None:
    """Tables of words hold nothing unmarked: each English sentence in ``words`` and ``manual`` is extracted."""
    known = {text for message in extract.template() if message.id for text in _forms(message.id)}
    for folder in ("words", "manual"):
        for path in sorted((extract.SOURCES[0] / folder).glob("*.py")):
            if path.name == "extract.py":
                continue
            for text in _sentences(path):
                assert text in known, f"{path.name}: {text!r} is not marked"


def _sentences(path: Path) -> Iterator[str]:
    """Strings of a module that read like sentences, docstrings apart."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    inside = {part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in docstrings | inside:
            text = node.value if isinstance(node.value, str) else ""
            if re.search(r"[A-Za-z]{2,},? [a-z]{2,},? [a-z]+", text):
                yield text


def test_what_click_says_is_what_we_have_translated() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(click.__file__).parent.glob("*.py"))
    for text in (*usage.CLICK, *(form for pair in usage.CLICK_COUNTED for form in pair)):
        assert f'"{text}"' in sources, text


# Which language ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("ja", "ja"),
        ("pt_BR.UTF-8", "pt"),
        ("PT-br", "pt"),
        ("de_AT@euro", "de"),
        ("cs", "cs"),
        ("xx", None),
        ("", None),
    ],
)
def test_a_tag_names_a_language(tag: str, language: str | None) -> None:
    assert language_of(tag) == language


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "da_DK.UTF-8"}, "da"),
        ({"LANG": "da_DK.UTF-8", "LC_MESSAGES": "ko_KR"}, "ko"),
        ({"LANG": "da_DK.UTF-8", "LC_MESSAGES": "ko_KR", "LC_ALL": "hi_IN"}, "hi"),
        ({"LANG": "da_DK.UTF-8", "LC_ALL": ""}, "da"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LC_ALL": "C", "LANG": "da_DK"}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
    ],
)
def test_the_locale_is_read_as_posix_reads_it(environment: dict[str, str], language: str) -> None:
    assert language_of_locale(environment) == language


def output(*arguments: str, **environment: str) -> str:
    """What the command says, on either stream."""
    result = CliRunner().invoke(main, arguments, env={"FUDAZA_LANG": "", "LC_ALL": "C", **environment})
    return result.output


USAGE = {
    "en": "Usage:",
    "ja": "使い方：",
    "ko": "사용법:",
    "de": "Aufruf:",
    "da": "Brug:",
    "cs": "Použití:",
    "hi": "प्रयोग:",
    "pt": "Uso:",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_language_is_chosen_by_option_variable_or_locale(language: str) -> None:
    assert USAGE[language] in output("--help", "--lang", language)
    assert USAGE[language] in output(f"--lang={language}", "--help")
    assert USAGE[language] in output("rules", "--help", "--lang", language)
    assert USAGE[language] in output("--help", FUDAZA_LANG=language)
    assert USAGE[language] in output("--help", LC_ALL=f"{language}_XX.UTF-8")


def test_the_option_goes_before_the_variable_and_the_variable_before_the_locale() -> None:
    assert USAGE["ko"] in output("--help", "--lang", "ko", FUDAZA_LANG="cs", LC_ALL="da_DK")
    assert USAGE["cs"] in output("--help", FUDAZA_LANG="cs", LC_ALL="da_DK")


def test_a_language_that_we_do_not_speak_is_refused_with_all_that_we_do() -> None:
    for told in (output("rules", "koi-koi", "--lang", "tlh"), output("rules", "koi-koi", FUDAZA_LANG="tlh")):
        assert "fudaza does not speak tlh" in told
        assert all(f"{code} ({name})" in told for code, name in LANGUAGES.items())
    assert "fudaza spricht kein tlh" in output("rooms", "--lang", "tlh", LC_ALL="de_DE.UTF-8")
    assert "--lang" in output("rules", "koi-koi", "--lang")


def test_a_locale_that_we_do_not_speak_gives_english() -> None:
    assert USAGE["en"] in output("--help", LC_ALL="fr_FR.UTF-8")


def test_the_rules_can_be_read_in_every_language_by_a_process_of_its_own() -> None:
    for language in ("ja", "cs"):
        command = [sys.executable, "-m", "clients.cli.main", "rules", "koi-koi", "--lang", language]
        done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "PYTHONUTF8": "1"})
        speak(language)
        assert done.stdout.decode() == "".join(f"{line}\n" for line in rules_of("koi-koi"))


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("name", OURS)
def test_the_help_of_every_command_is_translated_and_fits(name: str, language: str) -> None:
    told = output(name, "--help", "--lang", language)
    assert USAGE[language] in told
    assert "Show this message" not in told
    assert all(width(line) <= WIDTH for line in told.splitlines())


# What is said -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", TRANSLATED)
def test_numbers_are_counted_as_the_language_counts(language: str) -> None:
    speak(language)
    said = [counted(n, "You hold {n} card", "You hold {n} cards") for n in (1, 2, 5)]
    assert all(str(n) in text for n, text in zip((1, 2, 5), said, strict=True))
    if language == "cs":
        assert said == ["Máš 1 kartu", "Máš 2 karty", "Máš 5 karet"]


def test_each_tradition_names_its_own() -> None:
    """Japanese names for koi-koi, Korean ones for go-stop, in their own languages and as glosses elsewhere."""
    expected = {
        "ja": (
            "猪鹿蝶",
            "赤短",
            "青短",
            "花見で一杯",
            "月見で一杯",
            "五光",
            "雨四光",
            "タネ",
            "タン",
            "カス",
            "手四",
            "くっつき",
        ),
        "ko": (
            "고도리",
            "홍단",
            "청단",
            "초단",
            "오광",
            "비삼광",
            "열끗",
            "광박",
            "피박",
            "멍박",
            "나가리",
            "쪽",
            "뻑",
            "따닥",
        ),
    }
    for language, names in expected.items():
        speak(language)
        said = "\n".join(line for game in GAMES for line in (*rules_of(game), *_worded(game)))
        assert [name for name in names if name not in said] == []
    for language, suits in {
        "ja": ("パオ", "ソータ", "ロバイ", "テンカ", "メリ", "モンチ"),
        "ko": ("파오", "소타", "메리"),
    }.items():
        speak(language)
        assert all(name in "\n".join(rules_of("hachinin-meri")) for name in suits)
    for language in ("en", "de", "da", "cs", "pt"):
        speak(language)
        said = "\n".join(rules_of("koi-koi")).casefold()
        assert all(name in said for name in ("inoshikachō", "akatan", "tane")), language
        assert "godori" in "\n".join(rules_of("go-stop")).casefold(), language


def _worded(game: str) -> list[str]:
    """All words of the tables of a game."""
    words = words_of(game)
    tables = (words.why, words.reasons, words.endings, *words.codes.values())
    extra = vars(sys.modules[type(words).__module__.replace("words.game", f"words.{game.replace('-', '_')}")])
    more = [value for name, value in extra.items() if name.isupper() and isinstance(value, dict)]
    return [_(text) for table in (*tables, *more) for text in table.values() if isinstance(text, str)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", GAMES)
def test_the_rules_are_complete_and_fit_a_narrow_terminal(name: str, language: str) -> None:
    original = _numbers(rules_of(name))
    speak(language)
    lines = rules_of(name)
    assert _numbers(lines) == original
    assert max(map(width, lines)) <= WIDTH
    assert not any(set("{}") & set(line) for line in lines)


def _numbers(lines: Lines) -> list[str]:
    return [line.split()[0] for line in lines if re.match(r"[GHK]\d+ ", line)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", GAMES)
def test_headings_are_underlined_in_full(name: str, language: str) -> None:
    speak(language)
    lines = rules_of(name)
    underlines = [place for place, line in enumerate(lines) if line and set(line) in ({"="}, {"-"})]
    assert len(underlines) >= 5
    assert all(width(lines[place]) == width(lines[place - 1]) for place in underlines)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", GAMES)
def test_cards_stay_apart_and_carry_their_codes(name: str, language: str) -> None:
    speak(language)
    cards = GAMES[name].cards
    names = [words_of(name).card(card) for card in cards]
    assert len(set(names)) == len(cards)
    assert all(card in named for card, named in zip(cards, names, strict=True))


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("name", GAMES)
def test_every_event_refusal_and_move_can_be_said(name: str, language: str) -> None:
    speak(language)
    game = GAMES[name]
    said = [*_events(game), *_whole_deal(game), *_refusals(game)]
    assert said
    for line in said:
        assert not set("{}") & set(line), line
        assert scripts(line) - {"LATIN"} <= SCRIPTS.get(language, set()), line


def _people(game: AnyGame, you: int | None) -> People:
    seats = (SeatInfo(kind="person", name="Aki"), *(SeatInfo(kind="ai", level="medium"),) * (game.seats - 1))
    return People(game, seats, None if you is None else Seat(you))


def _events(game: AnyGame) -> Iterator[str]:
    sampler = Sampler(game.cards)
    for kind in game.event_types:
        for you in (0, 1, None):
            yield from words_of(game.name).event(sampler.of(kind), _people(game, you))


def _whole_deal(game: AnyGame) -> Iterator[str]:
    words = words_of(game.name)
    hall = Hall(game, options={"deals": game.options["deals"][1]}, seed=3)
    hall.receive(Start(id="x" * 20 + ".1"))
    hall._fix(())
    while hall.match is not None and (turn := hall.turn()) is not None:
        view = game.view(hall.match.state, Seat(0))
        people = people_of(from_snapshot(hall.snapshot()))
        yield from (words.question(view), *(words.move(action, view) for action in turn.legal))
        yield from (
            *words.table(view, people),
            *words.hand(view),
            *words.score(view, people),
            *words.last(view, people),
        )
        hall.receive(Act(id=f"{'x' * 20}.{turn.at + 2}", action=hall.rng.choice(turn.legal), at=turn.at))
    picture = from_snapshot(hall.snapshot())
    yield from common.table_of_seats(picture, people_of(picture))


def _refusals(game: AnyGame) -> Iterator[str]:
    rng = random.Random(11)
    texts = sorted({*game.cards, *(f"-{card}" for card in game.cards), "stop", "koi", "go", "declare", "pass"})
    match = matches.begin(game, {})
    match = matches.deal(game, match, rng.sample(game.cards, len(game.cards)), Seat(0)).match
    while match.need is Need.ACTION:
        seat = min(game.awaiting(match.state))
        view = game.view(match.state, seat)
        for text in rng.sample(texts, 25):
            try:
                why = game.why(view, game.parse(text))
            except MalformedAction:
                continue
            if why is not None:
                yield words_of(game.name).refusal(why.code, why.params)
        match = matches.act(game, match, seat, rng.choice(game.legal_at(match.state, seat))).match


# Columns ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_full_screen_measures_as_we_do(language: str, catalogues: dict[str, Catalog]) -> None:
    measure()
    for _original, translation in texts_of(catalogues[language]):
        for form in translation:
            for line in form.splitlines():
                assert width(line) == cell_len(line), line


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("桜に幕", 6), ("고도리", 6), ("चाँद", 3), ("①×…", 3), ("ｱ", 1)]
)
def test_wide_characters_take_two_columns_and_marks_none(text: str, columns: int) -> None:
    assert width(text) == columns
    assert width(padded(text, 10)) == 10


def test_spacing_marks_take_a_column_as_they_do_in_the_c_library() -> None:
    assert width("\u0915\u094b\u0907") == 3
    assert width("\u0930\u093e\u0937\u094d\u091f\u094d\u0930") == 5


@pytest.mark.parametrize(
    ("text", "columns", "kept"),
    [
        ("cherry", 6, "cherry"),
        ("cherry", 5, "cher…"),
        ("札札札", 4, "札…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
        ("\u0915\u093e\u0915\u093e\u0915", 4, "\u0915\u093e…"),
    ],
)
def test_what_is_too_long_ends_in_an_ellipsis_and_no_letter_loses_its_vowel(text: str, columns: int, kept: str) -> None:
    assert shortened(text, columns) == kept


@pytest.mark.parametrize("language", LANGUAGES)
def test_columns_line_up_whatever_is_written_in_them(language: str) -> None:
    speak(language)
    for name in ("koi-koi", "go-stop"):
        rows = [line for line in rules_of(name) if re.match(r" {5}\d\d ", line)]
        starts = {width(line[: re.search(r"\d\d[a-z]", line).start()]) for line in rows}  # type: ignore[union-attr]
        assert len(rows) == 12
        assert len(starts) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_name_of_a_flower_card_has_a_word_that_fits_on_the_card(language: str) -> None:
    speak(language)
    for game in ("koi-koi", "go-stop"):
        names: FlowerNames = import_module(f"clients.cli.words.{game.replace('-', '_')}").NAMES
        for card in GAMES[game].cards:
            assert width(short(names.flower(card))) <= 6
            assert width(short(names.picture(card))) <= 6
    assert all(width(within("on a card", brief)) <= 6 for brief in SHORT.values())


def test_lines_break_between_ideographs_but_not_before_a_full_stop_or_inside_a_word() -> None:
    assert wrapped("札を出す。次へ", 8) == ("札を出", "す。次へ")
    assert wrapped("（赤短）を取る", 10) == ("（赤短）を", "取る")
    assert wrapped("고스톱 규칙", 8) == ("고스톱", "규칙")
    assert wrapped("one two", 5, "- ", "  ") == ("- one", "  two")


def test_lists_are_put_together_as_the_language_does() -> None:
    assert listed(["a", "b"]) == "a, b"
    speak("ja")
    assert listed(["a", "b"]) == "a、b"
