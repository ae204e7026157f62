"""``fudaza replay`` and ``fudaza verify``: what they print, what they refuse in which words, and their exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from clients.cli.records import FAULTS, MAX_LINE, replay_command, verify_command
from engine.game import Why
from engine.record import Fault, read_record, write_record
from engine.registry import GAMES
from engine.verify import Misfit
from tests.played import played_match

ROOT: Final = Path(__file__).parents[2]
VECTORS: Final = Path(__file__).parents[1] / "vectors"
GAME: Final = next(iter(GAMES.values()))


def run(command: Any, text: bytes | str, *arguments: str) -> Result:
    """The command on standard input."""
    result = CliRunner().invoke(command, [*arguments, "-"], input=text)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def vectors(name: str, count: int) -> list[dict[str, Any]]:
    lines = (VECTORS / f"{name}.jsonl").read_bytes().splitlines()
    return [json.loads(line) for line in lines if json.loads(line)["steps"]][:count]


def text_of(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize("name", GAMES)
def test_replay_check_holds_on_all_vectors(name: str) -> None:
    result = CliRunner().invoke(replay_command, ["--check", str(VECTORS / f"{name}.jsonl")])
    count = len((VECTORS / f"{name}.jsonl").read_bytes().splitlines())
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"{count} of {count} records agree.\n"


@pytest.mark.parametrize("name", GAMES)
def test_replay_prints_what_was_legal_and_the_result_whatever_the_input_said(name: str) -> None:
    file = VECTORS / f"{name}.jsonl"
    bare = []
    for record in map(json.loads, file.read_bytes().splitlines()):
        steps = [{"seat": step["seat"], "action": step["action"], "legal": ["lies"]} for step in record["steps"]]
        bare.append(record | {"steps": steps, "result": {"reason": "lies", "scores": []}})
    result = run(replay_command, text_of(*bare))
    assert result.exit_code == 0
    assert result.stdout.encode() == file.read_bytes()


def test_replay_stops_at_a_record_that_cannot_be_played() -> None:
    good, bad, never = vectors("koi-koi", 3)
    bad["steps"][2]["action"] = "12s*12q"
    result = run(replay_command, text_of(good, bad, never))
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 1
    complaint, summary = result.stderr.splitlines()
    legal = ", ".join(bad["steps"][2]["legal"])
    assert complaint.startswith(f"Line 2: step 3: seat {bad['steps'][2]['seat']} cannot do 12s*12q. ")
    assert complaint.endswith(f"Legal there: seat {bad['steps'][2]['seat']}: {legal}.")
    assert summary == "1 of 2 records replayed."


def test_replay_says_whose_turn_it_is() -> None:
    (record,) = vectors("koi-koi", 1)
    record["steps"][0]["seat"] = 1 - record["steps"][0]["seat"]
    result = run(replay_command, text_of(record))
    assert "It is another seat's turn." in result.stderr
    assert f"Legal there: seat {1 - record['steps'][0]['seat']}: " in result.stderr


def test_replay_words_what_a_game_refuses() -> None:
    (record,) = vectors("hachinin-meri", 1)
    record["steps"][8]["action"] = record["steps"][9]["action"]
    result = run(replay_command, text_of(record))
    why = result.stderr.partition(f" cannot do {record['steps'][9]['action']}. ")[2].partition(" Legal there: ")[0]
    assert " " in why, "a sentence, not a code"
    assert why[0].isupper()


def test_replay_says_that_a_record_ends_too_early_or_goes_on_too_long() -> None:
    (short,) = vectors("koi-koi", 1)
    (long,) = vectors("koi-koi", 1)
    last = short["steps"].pop()
    long["steps"].append(last)
    result = run(replay_command, text_of(short))
    number = len(short["steps"]) + 1
    assert result.stderr.startswith(
        f"Line 1: step {number} is missing. The record ends before the deal does. Legal there:"
    )
    assert ", ".join(last["legal"]) in result.stderr
    result = run(replay_command, text_of(long))
    assert f"step {number + 1}: " in result.stderr
    assert "The deal is over. Legal there: nothing." in result.stderr


def test_check_reports_the_first_difference_of_each_record_and_goes_on() -> None:
    result_differs, legal_differs, unplayable, good = vectors("go-stop", 4)
    result_differs["result"]["scores"] = [99, 0]
    legal_differs["steps"][1]["legal"].append("zz")
    legal_differs["result"]["scores"] = [99, 0]
    unplayable["steps"][0]["action"] = "nonsense"
    result = run(replay_command, text_of(result_differs, legal_differs, unplayable, good) + "{\n", "--check")
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert [line.split(":")[0] for line in lines] == ["Line 1", "Line 2", "Line 3", "Line 5"]
    assert "scores: the record says 99, 0, the rules " in lines[0]
    assert f"step 2, seat {legal_differs['steps'][1]['seat']}, {legal_differs['steps'][1]['action']}: " in lines[1]
    assert "step 1: seat" in lines[2]
    assert "That is no move of this game." in lines[2]
    assert "no JSON" in lines[3]
    assert result.stderr == "1 of 5 records agree.\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "There is no record in this file.\n"),
        ("\n  \n", "There is no record in this file.\n"),
        ("nonsense\n", "Line 1: This is no JSON: "),
        (b"\x1f\x8b\x08\x00\x00\x00\xff\xfe\n", "Line 1: This is no JSON: "),
        ("[" * 100_000, "Line 1: "),
        ("[]\n", "Line 1: This is no deal record: $: Expected `object`"),
        ("\n\n{}\n", "Line 3: This is no deal record: $: Object missing required field `game`"),
        ('{"game":"gin","deck":[],"steps":[]}', "Line 1: There is no game gin. There are: "),
        ('{"game":"koi-koi","deck":[],"steps":[],"first":0}', "Line 1: The deck is not the game's: missing [01b"),
        ("x" * (3 * MAX_LINE), f"Line 1: No record has more than {MAX_LINE} bytes."),
    ],
)
@pytest.mark.parametrize("arguments", [(replay_command,), (replay_command, "--check"), (verify_command,)])
def test_what_is_no_record_is_said_so_without_a_traceback(
    text: bytes | str, said: str, arguments: tuple[Any, ...]
) -> None:
    result = run(arguments[0], text, *arguments[1:])
    assert result.exit_code == 1
    assert (result.stdout + result.stderr).startswith(said.replace("[01b", "[01b"))


def test_a_line_that_is_too_long_does_not_hide_the_next() -> None:
    (good,) = vectors("koi-koi", 1)
    result = run(replay_command, "x" * (2 * MAX_LINE + 3) + "\n" + text_of(good), "--check")
    assert result.stdout == f"Line 1: No record has more than {MAX_LINE} bytes.\n"
    assert result.stderr == "1 of 2 records agree.\n"


def test_a_byte_order_mark_and_foreign_line_ends_are_no_matter() -> None:
    text = b"\xef\xbb\xbf" + text_of(*vectors("koi-koi", 2)).replace("\n", "\r\n").encode()
    assert run(replay_command, text, "--check").exit_code == 0


@pytest.mark.parametrize("command", [replay_command, verify_command])
def test_a_file_that_cannot_be_opened_is_named(command: Any, tmp_path: Path) -> None:
    for path in (tmp_path / "missing.jsonl", tmp_path):
        result = CliRunner().invoke(command, [str(path)])
        assert result.exit_code == 2
        assert str(path) in result.stderr


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_verify_says_yes_to_honest_records_and_what_does_not_fit_to_others(game: Any) -> None:
    records = played_match(game, {}, Random(5))
    lines = [write_record(game, record) for record in records]
    result = run(verify_command, b"\n".join(lines))
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [f"Line {number}: yes." for number in range(1, len(lines) + 1)]
    first = json.loads(lines[0])
    first["deck"][3], first["deck"][4] = first["deck"][4], first["deck"][3]
    first["fairness"]["commitment"] = "00" * 32
    result = run(verify_command, json.dumps(first).encode() + b"\n" + lines[0])
    assert result.exit_code == 1
    wrong, right = result.stdout.splitlines()
    assert "The seed is not the one committed to" in wrong
    assert f"card 4 should be {first['deck'][4]}, the record has {first['deck'][3]}" in wrong
    assert right == "Line 2: yes."
    assert result.stderr == "1 of 2 records verified.\n"


def test_verify_says_that_there_is_nothing_to_verify() -> None:
    result = run(verify_command, text_of(*vectors("koi-koi", 1)))
    assert result.exit_code == 1
    assert "does not say where its deck came from; missing: match, deal, fairness." in result.stdout


def test_every_fault_of_a_record_has_words() -> None:
    assert {*Fault, *Misfit, *Why} <= FAULTS.keys()


def test_records_stream_one_line_in_one_line_out() -> None:
    """A reader that waits for each record before it sends the next gets it: nothing is held back."""
    program = "from clients.cli.records import replay_command; replay_command()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdin
        assert process.stdout
        for record in vectors("koi-koi", 3):
            line = json.dumps(record).encode()
            process.stdin.write(line + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            assert read_record(answer, GAMES) == read_record(line, GAMES)
        process.stdin.close()
        assert process.wait() == 0


def test_a_reader_that_goes_away_is_no_error_to_shout_about() -> None:
    file = VECTORS / "hachinin-meri.jsonl"
    program = "from clients.cli.records import replay_command; replay_command()"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
