"""``docs/records.md`` and ``docs/fairness.md`` show what the engine does; the stand-alone verifier agrees with it."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from engine.game import AnyGame
from engine.record import DealRecord, check, read_record, replay, write_record
from engine.registry import GAMES
from engine.verify import misfits
from tests.conformance.laws import random_options, shortest
from tests.fairness_vectors import PAGE, ROOT, page_with_vectors, stand_alone_verifier
from tests.played import played_match

VERIFIER: Final = ROOT / "examples" / "verify_deck.py"
EVERY_GAME = pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)


def shown_records() -> list[DealRecord]:
    page = (ROOT / "docs" / "records.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    return [read_record(json.dumps(json.loads(block)).encode(), GAMES) for block in blocks]


def test_the_records_shown_are_real() -> None:
    bare, filled_in, written = shown_records()
    game = GAMES[bare.game]
    assert all(step.legal is None for step in bare.steps)
    assert bare.result is None
    assert replay(game, bare) == filled_in
    assert check(game, written) is None
    assert written.result is not None
    assert misfits(game, written) == ()


def test_the_page_of_records_names_every_key_that_is_written() -> None:
    page = (ROOT / "docs" / "records.md").read_text(encoding="utf-8")
    for game in GAMES.values():
        fields = json.loads(write_record(game, played_match(game, {}, Random(1))[0]))
        for key in (*fields, *fields["fairness"], *fields["steps"][0]):
            assert f"`{key}`" in page, key


def test_the_worked_vectors_are_current() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page_with_vectors(page) == page, "run python -m tests.fairness_vectors"


# The stand-alone verifier -------------------------------------------------------------------------------------


def imported_modules(source: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


def test_the_stand_alone_verifier_imports_the_standard_library_alone() -> None:
    assert imported_modules(VERIFIER.read_text(encoding="utf-8")) <= sys.stdlib_module_names


def test_the_stand_alone_verifier_knows_every_game() -> None:
    games: dict[str, tuple[list[str], int, str]] = stand_alone_verifier().GAMES
    assert games == {game.name: (list(game.cards), game.seats, game.beginner) for game in GAMES.values()}


def run_verifier(path: str, *, text: bytes = b"", cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """In an isolated interpreter (-I): it could not import the engine if it tried."""
    command = [sys.executable, "-I", "-X", "utf8", str(VERIFIER), path]
    return subprocess.run(command, input=text, capture_output=True, cwd=cwd, check=False)


@EVERY_GAME
def test_the_stand_alone_verifier_says_yes_to_honest_records(game: AnyGame, tmp_path: Path) -> None:
    lines = []
    for seed in range(20):
        rng = Random(seed)
        lines += [write_record(game, record) for record in played_match(game, random_options(game, rng), rng)]
    file = tmp_path / "records.jsonl"
    file.write_bytes(b"\n".join(lines))
    for result in (run_verifier(str(file), cwd=tmp_path), run_verifier("-", text=file.read_bytes(), cwd=tmp_path)):
        assert (result.returncode, result.stderr) == (0, b"")
        assert result.stdout.splitlines() == [b"line %d: yes" % number for number in range(1, len(lines) + 1)]


def tampered(record: dict[str, Any], beginner: str, seats: int) -> dict[str, dict[str, Any]]:
    """The record with one thing changed, by what was changed."""
    fairness = record["fairness"]
    first, second, *rest = record["deck"]
    other_value = [{"seat": each["seat"], "value": "5e" * 32} for each in fairness["contributions"]]
    return {
        "deck": record | {"deck": [second, first, *rest]},
        "a card twice": record | {"deck": [first, first, *rest]},
        "a card less": record | {"deck": [first, *rest]},
        "match": record | {"match": "another"},
        "deal": record | {"deal": record["deal"] + 1},
        "beginner": record | {beginner: (record[beginner] + 1) % seats},
        "seed": record | {"fairness": fairness | {"seed": "5e" * 32}},
        "commitment": record | {"fairness": fairness | {"commitment": "5e" * 32}},
        "attempt": record | {"fairness": fairness | {"attempt": fairness["attempt"] + 1}},
        "contribution": record | {"fairness": fairness | {"contributions": other_value}},
        "contribution left out": record | {"fairness": fairness | {"contributions": fairness["contributions"][:1]}},
        "order": record | {"fairness": fairness | {"contributions": fairness["contributions"][::-1]}},
        "no match": {key: value for key, value in record.items() if key != "match"},
        "no fairness": {key: value for key, value in record.items() if key != "fairness"},
        "another game": record | {"game": "gin"},
        "capitals": record | {"fairness": fairness | {"seed": fairness["seed"].upper()}},
    }


@EVERY_GAME
def test_the_stand_alone_verifier_says_no_to_whatever_is_tampered_with(game: AnyGame, tmp_path: Path) -> None:
    record = json.loads(write_record(game, played_match(game, {}, Random(2))[0]))
    changed = tampered(record, game.beginner, game.seats)
    lines = [*(json.dumps(each) for each in changed.values()), "[]", "nonsense", "[" * 100_000]
    result = run_verifier("-", text="\n".join(lines).encode(), cwd=tmp_path)
    assert (result.returncode, result.stderr) == (1, b"")
    answers = result.stdout.decode().splitlines()
    assert len(answers) == len(lines)
    assert [what for what, answer in zip([*changed, *lines[-3:]], answers, strict=True) if ": no: " not in answer] == []


@EVERY_GAME
@pytest.mark.parametrize("seed", range(10))
def test_both_verifiers_agree_on_who_must_begin(game: AnyGame, seed: int) -> None:
    """Every record of a match with every seat named as the one that began."""
    verifier = stand_alone_verifier()
    rng = Random(seed)
    for record in played_match(game, shortest(game, random_options(game, rng)), rng):
        fields = json.loads(write_record(game, record))
        for seat in range(game.seats):
            fields[game.beginner] = seat
            ours = misfits(game, read_record(json.dumps(fields).encode(), GAMES))
            assert len(verifier.misfits(fields)) == len(ours)


def test_the_stand_alone_verifier_explains_itself_and_names_a_missing_file(tmp_path: Path) -> None:
    missing = run_verifier(str(tmp_path / "missing"), cwd=tmp_path)
    assert missing.returncode == 2
    assert b"missing" in missing.stderr
    nothing = subprocess.run([sys.executable, "-I", str(VERIFIER)], capture_output=True, check=False)
    assert nothing.returncode == 2
    assert b"FILE" in nothing.stderr
