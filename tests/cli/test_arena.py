"""``fudaza arena``: duplicate deals, the same figures on every run, and programs that play."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import Any, Final
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from click.testing import Result as Ran

from clients.cli import arena_deals
from clients.cli.arena import arena, kernels
from clients.cli.arena_deals import Contest, Effort, Pair, play_pairs
from clients.cli.arena_external import BotFailed, ProgramHand
from clients.cli.arena_figures import interval, result_of, trimmed_mean
from clients.cli.arena_players import Player, UnknownPlayer, team_of
from clients.cli.arena_plot import plot
from engine.codec import codec_of
from engine.game import Card, Level, Seat
from engine.match import MatchEvent
from engine.record import check, read_record
from engine.registry import GAMES
from engine.shuffle import Draw, deck_of

KOI_KOI: Final = GAMES["koi-koi"]
MERI: Final = GAMES["hachinin-meri"]


def contest(game: str, one: str, other: str, *, seed: int = 1) -> Contest:
    rules = GAMES[game]
    return Contest(game, rules.complete_options({}), (team_of(one, rules), team_of(other, rules)), seed)


def untimed(pairs: list[Pair]) -> list[tuple[object, ...]]:
    """All of an observation that is not time."""
    return [
        (pair.scores, pair.reasons, [(len(each.nanoseconds), each.bad_answers) for each in pair.efforts])
        for pair in pairs
    ]


def run(*arguments: str) -> Ran:
    result = CliRunner().invoke(arena, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def svg(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 - we drew it


def program(tmp_path: Path, body: str) -> str:
    """The command of a program that reads the arena's lines: ``body`` sees each as ``m``, answers with ``say``."""
    file = tmp_path / "bot.py"
    head = "import json, os, random, sys\n\ndef say(text):\n    print(text, flush=True)\n\nfor line in sys.stdin:\n"
    lines = ["m = json.loads(line)", *body.splitlines()]
    file.write_text(head + "".join(f"    {line}\n" for line in lines))
    return f"{sys.executable} {file}"


# Deals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("player", ["random", "easy"])
def test_equal_teams_come_out_exactly_equal_in_every_pair(game: str, player: str) -> None:
    for pair in play_pairs(contest(game, player, player), range(6)):
        (own, other), (own_turned, other_turned) = pair.scores
        assert (own, other) == (other_turned, own_turned)


@pytest.mark.parametrize("game", GAMES)
def test_the_same_seed_gives_the_same_figures_for_any_number_of_jobs(game: str) -> None:
    pairs = 2 * arena_deals.CHUNK + 1
    alone = untimed(list(play_pairs(contest(game, "easy", "random"), range(pairs))))
    assert alone == untimed(list(play_pairs(contest(game, "easy", "random"), range(pairs), jobs=2)))
    assert alone[3:5] == untimed(list(play_pairs(contest(game, "easy", "random"), range(3, 5))))
    assert alone != untimed(list(play_pairs(contest(game, "easy", "random", seed=2), range(pairs))))


def test_decks_depend_on_the_seed_and_the_pair_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    dealt: list[tuple[Card, ...]] = []

    def recorded(draw: Draw, cards: tuple[Card, ...]) -> tuple[Card, ...]:
        dealt.append(deck_of(draw, cards))
        return dealt[-1]

    monkeypatch.setattr(arena_deals, "deck_of", recorded)
    decks = []
    for one, other, seed in (("random", "easy", 1), ("medium", "medium", 1), ("random", "easy", 2)):
        dealt.clear()
        list(play_pairs(contest("koi-koi", one, other, seed=seed), range(4)))
        decks.append(tuple(dealt))
    assert decks[0] == decks[1]
    assert not set(decks[0]) & set(decks[2])
    assert len(set(decks[0])) == len(decks[0]) / 2, "each deck is dealt twice, and no two pairs share one"


def test_decks_and_players_have_streams_that_share_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """White box: with either purpose renamed the other's stream stays as it was."""
    dealt: list[bytes] = []
    diced: list[bytes] = []

    def recorded(draw: Draw, cards: tuple[Card, ...]) -> tuple[Card, ...]:
        dealt.append(draw.seed)
        return deck_of(draw, cards)

    class Recorded(Random):
        def __init__(self, seed: bytes) -> None:
            diced.append(seed)
            super().__init__(seed)

    monkeypatch.setattr(arena_deals, "deck_of", recorded)
    monkeypatch.setattr(arena_deals, "Random", Recorded)

    def streams() -> tuple[set[bytes], set[bytes]]:
        dealt.clear()
        diced.clear()
        list(play_pairs(contest("koi-koi", "random", "random"), range(3)))
        return set(dealt), set(diced)

    decks, dice = streams()
    assert not decks & dice
    assert len(dice) == 3 * KOI_KOI.seats
    monkeypatch.setattr(arena_deals, "_PLAYERS", b"other players")
    same_decks, other_dice = streams()
    assert same_decks == decks
    assert not other_dice & dice
    monkeypatch.setattr(arena_deals, "_DECKS", b"other decks")
    other_decks, same_dice = streams()
    assert not other_decks & decks
    assert same_dice == other_dice


def test_a_mixed_team_takes_every_place_at_the_table_in_turn() -> None:
    """White box: who is seated where."""
    mixed = contest("hachinin-meri", "random+easy*3", "medium")
    teams = [[arena_deals._hand(MERI, player) for player in team.players] for team in mixed.teams]
    ledgers = [arena_deals._Ledger(), arena_deals._Ledger()]
    for turned in (0, 1):
        where = []
        for number in range(8):
            places = arena_deals._seated(mixed, number, teams, ledgers, turned=turned)
            (seat,) = [place.seat for place in places if place.hand is teams[0][0]]
            assert MERI.side(seat) == turned
            assert [place.seat for place in places if place.ledger is ledgers[0]] == list(range(turned, 8, 2))
            where.append((seat - number) % MERI.seats)
        assert len(set(where)) == MERI.seats, "nobody keeps a place relative to the dealer"


def test_a_deal_that_is_dealt_again_is_not_an_observation() -> None:
    ended = {
        reason for pair in play_pairs(contest("koi-koi", "random", "random"), range(60)) for reason in pair.reasons
    }
    assert "redeal" not in ended


# Figures ------------------------------------------------------------------------------------------------------

NOTHING: Final = Effort((), 0)


def observations(*scores: tuple[tuple[int, int], tuple[int, int]]) -> list[Pair]:
    return [Pair(each, ("stop", "stop"), (NOTHING, NOTHING)) for each in scores]


def test_a_pair_is_one_observation_and_the_interval_comes_from_pairs() -> None:
    found = result_of(
        contest("koi-koi", "easy", "random"), observations(((5, 0), (0, 1)), ((0, 0), (0, 7)), ((3, 0), (3, 0)))
    )
    assert found.observed == (2, -3.5, 3)
    assert found.points.mean == pytest.approx(0.5)
    assert found.points.half_width == pytest.approx(1.96 * stdev((2, -3.5, 3)) / 3**0.5)
    assert (found.won, found.drawn, found.lost) == (3, 1, 2)
    assert found.equal == 0


def test_teams_are_measured_by_their_own_points() -> None:
    found = result_of(contest("hachinin-meri", "easy", "random"), observations(((6, 3), (4, 5)), ((9, 0), (-2, 11))))
    assert found.observed == (5, 3.5)
    assert found.equal == 4.5
    assert found.lead.mean == pytest.approx(-0.25)
    assert found.lead.low == pytest.approx(found.points.low - 4.5)
    assert found.lead.high == pytest.approx(found.points.high - 4.5)


def test_the_trimmed_mean_leaves_out_a_twentieth_at_each_end() -> None:
    assert trimmed_mean([1000.0, *[1.0] * 18, -3000.0]) == 1
    assert trimmed_mean([4.0, 8.0]) == 6


def test_one_observation_has_no_interval() -> None:
    assert interval([3.0]).half_width == float("inf")
    assert interval([1.0, 3.0]).mean == fmean([1, 3])


def test_costs_are_counted_for_each_team_without_forced_moves() -> None:
    pairs = [
        Pair(((1, 0), (1, 0)), ("stop", "stop"), (Effort(tuple(range(0, 100_000_000, 1_000_000)), 2), Effort((), 0)))
    ]
    mine, theirs = result_of(contest("koi-koi", "easy", "random"), pairs).costs
    assert (mine.decisions, mine.mean_ms, mine.p99_ms, mine.bad_answers) == (100, 49.5, 98, 2)
    assert (theirs.decisions, theirs.mean_ms) == (0, 0)


# Players ------------------------------------------------------------------------------------------------------


def test_a_team_is_one_player_or_a_list_that_fills_the_side() -> None:
    easy = Player(Level.EASY)
    assert team_of("easy", MERI).players == (easy,) * 4
    assert team_of("medium+easy*3", MERI).players == (Player(Level.MEDIUM), easy, easy, easy)
    assert team_of("random*2+easy*2", MERI).players == (Player(), Player(), easy, easy)
    assert team_of("medium@300", KOI_KOI, 50).players == (Player(Level.MEDIUM, 300),)
    assert team_of("medium", KOI_KOI, 50).players == (Player(Level.MEDIUM, 50),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hrad",
        "easy+easy*2",
        "easy*x",
        "easy@",
        "easy@0",
        "easy@x",
        "random+",
        "no-such-program --fast",
        "sh '-c",
        "easy*0+easy*4",
        "easy*5",
        "easy*9999999999999999999",
    ],
)
def test_a_text_that_names_no_team_is_refused_with_what_there_is(text: str) -> None:
    with pytest.raises(UnknownPlayer) as refused:
        team_of(text, MERI)
    assert {"random", "easy", "medium"} <= set(refused.value.known)


def test_a_players_name_is_not_taken_for_a_program_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "easy").write_text("#!/bin/sh\n")
    (tmp_path / "easy").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert team_of("easy", KOI_KOI).players == (Player(Level.EASY),)
    assert team_of("easy --now", KOI_KOI).players == (Player(command=("easy", "--now")),)


# Programs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_a_program_is_told_what_its_seat_is_shown_and_nothing_else(game: str, tmp_path: Path) -> None:
    """The events that it was told, folded, are the views that its turns carry."""
    command = program(
        tmp_path,
        f"""with open({str(tmp_path / "heard-")!r} + str(os.getpid()), "a") as file: file.write(line)
if m["t"] == "table": dice = random.Random(m["seed"])
if m["t"] == "turn": say(dice.choice(m["legal"]))""",
    )
    list(play_pairs(contest(game, command, "random"), range(2)))
    rules, files = GAMES[game], list(tmp_path.glob("heard-*"))
    assert len(files) == rules.seats // rules.sides, "one process for each seat of the side"
    for file in files:
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        assert [line["t"] for line in lines].count("table") >= 4
        assert lines[-1]["t"] == "end"
        follow(game, lines)


def follow(game: str, lines: list[dict[str, Any]]) -> None:
    """Read along like a program that remembers everything."""
    rules, codec = GAMES[game], codec_of(GAMES[game])
    seat, view, number = Seat(0), None, 0
    for told in lines:
        match told["t"]:
            case "table":
                seat, view, number = Seat(told["you"]), None, 0
            case "event":
                event = codec.event(json.dumps(told["event"]).encode())
                number += 1
                assert told["number"] == number
                if not isinstance(event, MatchEvent):
                    assert rules.redact(event, seat) == event, "it was told what its seat is not shown"
                    view = rules.observe(view, event, seat)
            case "turn":
                assert codec.view(json.dumps(told["view"]).encode()) == view
                assert told["legal"] == [rules.text(action) for action in rules.legal(view)]
                assert told["at"] == number
            case _:
                assert told["t"] in {"done", "end"}


def test_a_program_that_plays_at_random_with_the_given_seed_repeats_itself(tmp_path: Path) -> None:
    command = program(
        tmp_path,
        """if m["t"] == "table": dice = random.Random(m["seed"])
if m["t"] == "turn": say(json.dumps({"do": "act", "action": dice.choice(m["legal"])}))""",
    )
    first, again = (untimed(list(play_pairs(contest("koi-koi", command, "medium"), range(3)))) for _ in range(2))
    assert first == again
    for pair in play_pairs(contest("koi-koi", command, command), range(3)):
        assert pair.scores[0] == pair.scores[1][::-1]


def test_the_program_in_the_documentation_plays(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "ai.md").read_text()
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "sys.stdin" in block]
    file = tmp_path / "bot.py"
    file.write_text(code)
    for game in GAMES:
        (pair,) = play_pairs(contest(game, f"{sys.executable} {file}", "random"), range(1))
        assert pair.efforts[0].bad_answers == 0


def test_a_refused_answer_is_told_why_and_counted_and_the_turn_stays_open(tmp_path: Path) -> None:
    command = program(
        tmp_path,
        f"""if m["t"] == "turn":
    legal = m["legal"]
    say("99x"), say('{{"do": "fly"}}'), say("stop"), say(""), say(json.dumps(legal[0]))
if m["t"] in ("done", "error"): open({str(tmp_path / "heard")!r}, "a").write(line)""",
    )
    (pair,) = play_pairs(contest("koi-koi", command, "random"), range(1))
    heard = [json.loads(line) for line in (tmp_path / "heard").read_text().splitlines()]
    decided = [told for told in heard if told["t"] == "done"]
    errors = [told for told in heard if told["t"] == "error"]
    assert pair.efforts[0].bad_answers == len(errors)
    assert all(told["text"] for told in errors)
    assert [told["code"] for told in errors[:3]] == ["malformed-action", "bad-line", "no-decision-open"]
    stops = [told for told in decided if told["action"] == "stop"]
    assert len(errors) == 3 * len(decided) - len(stops)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("sys.exit(3)", "ended with status 3"),
        ("if m['t'] == 'turn': break", "ended with status 0"),
        ("import time; time.sleep(600)", "no answer within 0.5 s"),
        ("while True: say('y')", "no answer within 0.5 s"),
    ],
)
def test_a_program_that_fails_is_named_and_ended(
    body: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arena_deals, "ANSWER_SECONDS", 0.5)
    command = program(tmp_path, body)
    with pytest.raises(BotFailed) as failed:
        list(play_pairs(contest("koi-koi", command, "random"), range(2)))
    assert failed.value.command == tuple(command.split())
    assert why in failed.value.why


def test_a_program_that_cannot_be_started_is_named() -> None:
    with pytest.raises(BotFailed):
        ProgramHand(KOI_KOI, ("/no/such/program",), 1.0)


def test_a_failure_in_another_process_arrives_whole(tmp_path: Path) -> None:
    with pytest.raises(BotFailed) as failed:
        list(play_pairs(contest("koi-koi", program(tmp_path, "break"), "random"), range(30), jobs=2))
    assert "status 0" in failed.value.why


# The command --------------------------------------------------------------------------------------------------


def test_two_players_are_told_apart_in_words() -> None:
    ran = run("koi-koi", "medium", "random", "--deals", "30", "--jobs", "1")
    assert ran.exit_code == 0
    head, won, *costs = ran.stdout.splitlines()
    assert head.startswith("medium over random: +")
    assert "0 is equal" in head
    assert "30 pairs" in head
    assert "won" in won
    assert [line.split()[0] for line in costs] == ["medium:", "random:"]


def test_a_ladder_is_everyone_against_everyone_in_json_and_in_a_plot(tmp_path: Path) -> None:
    picture = tmp_path / "ladder.svg"
    command = ["koi-koi", "--ladder", "random", "easy", "medium", "--deals", "4", "--jobs", "1", "--seed", "7"]
    ran = run(*command, "--json", "--plot", str(picture), "-o", "deals=3")
    report = json.loads(ran.stdout)
    assert [result["teams"] for result in report["results"]] == [
        ["easy", "random"],
        ["medium", "random"],
        ["medium", "easy"],
    ]
    assert report["game"] == "koi-koi"
    assert report["seed"] == 7
    assert report["options"]["deals"] == 3
    assert report["kernel"] == KOI_KOI.kernel_available()
    assert all(len(result["observed"]) == result["pairs"] == 4 for result in report["results"])
    texts = [each.text for each in svg(picture.read_text()).iter() if each.text]
    assert {"easy over random", "medium over random", "medium over easy"} <= set(texts)


def test_one_result_is_plotted_as_its_running_mean() -> None:
    found = result_of(
        contest("koi-koi", "easy", "random"), list(play_pairs(contest("koi-koi", "easy", "random"), range(30)))
    )
    root = svg(plot("A <title> & more", [found]))
    names = [each.tag.rpartition("}")[2] for each in root]
    assert {"polyline", "polygon"} <= set(names)
    (mean,) = [each for each in root if each.tag.endswith("polyline")]
    assert len(mean.attrib["points"].split()) == 21, "from the tenth pair to the thirtieth"
    assert "A <title> & more" in [each.text for each in root]


def test_equal_teams_are_plotted_on_one_line() -> None:
    equal = contest("koi-koi", "random", "random")
    found = result_of(equal, list(play_pairs(equal, range(2))))
    assert found.points.low == found.points.high == found.equal == 0
    for results in ([found], [found, found]):
        svg(plot("equal", results))


@pytest.mark.parametrize("game", GAMES)
def test_the_records_of_all_deals_can_be_replayed_and_say_who_played(game: str, tmp_path: Path) -> None:
    archive = tmp_path / "deals.jsonl"
    ran = run(game, "easy", "random", "--deals", "5", "--jobs", "1", "--json", "--records", str(archive))
    (found,) = json.loads(ran.stdout)["results"]
    rules = GAMES[game]
    records = [read_record(line, GAMES) for line in archive.read_bytes().splitlines()]
    assert [check(rules, record) for record in records] == [None] * 10
    for number, pair in enumerate(zip(records[::2], records[1::2], strict=True)):
        there, back = pair
        assert there.deck == back.deck
        levels = [[player.get("level") for player in json.loads(bytes(each.extras["players"]))] for each in pair]
        assert levels[0] == ["easy" if rules.side(Seat(seat)) == 0 else None for seat in range(rules.seats)]
        assert levels[1] == ["easy" if rules.side(Seat(seat)) == 1 else None for seat in range(rules.seats)]
        assert there.result is not None
        assert back.result is not None
        own, other = there.result.scores[0] + back.result.scores[1], there.result.scores[1] + back.result.scores[0]
        points = own / 2 if rules.sides < rules.seats else (own - other) / 2
        assert points == found["observed"][number]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("koi-koi", "easy"), "Two players, please"),
        (("koi-koi", "easy", "random", "medium"), "Two players, please"),
        (("koi-koi", "easy", "hrad"), "hrad is no player"),
        (("koi-koi", "--ladder", "easy"), "Two players, please"),
        (("koi-koi", "easy", "random", "--plot", "/no/such/place.svg"), "--plot"),
        (("mahjong", "easy", "random"), "no game mahjong"),
        (("koi-koi", "easy", "random", "-o", "sake=maybe"), "sake"),
        (("koi-koi", "easy", "random", "--deals", "1"), "--deals"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_played(arguments: tuple[str, ...], words: str) -> None:
    ran = run(*arguments)
    assert ran.exit_code == 2
    assert words in ran.output


def test_a_program_that_fails_ends_the_command_with_its_name(tmp_path: Path) -> None:
    ran = run("koi-koi", program(tmp_path, "break"), "random", "--deals", "2", "--jobs", "1")
    assert ran.exit_code == 1
    assert "bot.py failed: it ended with status 0" in ran.output


def test_an_interrupt_ends_the_command_its_processes_and_its_programs(tmp_path: Path) -> None:
    met = tmp_path / "met"
    os.mkfifo(met)
    bot = program(
        tmp_path,
        f"""import signal, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
if m["t"] == "turn":
    open({str(met)!r}, "w").close()
    time.sleep(600)""",
    )
    command = [sys.executable, "-m", "clients.cli.main", "arena", "koi-koi", bot, "random", "--jobs", "2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as running:
        met.read_text()  # until a program has been asked for a move
        os.killpg(running.pid, signal.SIGINT)
        said, _ = running.communicate(timeout=60)  # returns when nobody holds the other end any more
    assert running.returncode == 1
    assert "Aborted!" in said


def test_expert_without_its_kernel_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(KOI_KOI), "kernel_available", lambda _self: False)
    monkeypatch.setattr(type(KOI_KOI), "levels", (*KOI_KOI.levels[:2], Level.EXPERT))
    said = "The compiled search of this game is not installed: expert plays as hard."
    assert said not in run("koi-koi", "easy", "random", "--deals", "2", "--jobs", "1").stderr
    assert said in run("koi-koi", "expert@1", "random", "--deals", "2", "--jobs", "1").stderr
    assert "koi-koi" not in kernels()
    monkeypatch.setattr(type(KOI_KOI), "kernel_available", lambda _self: True)
    assert said not in run("koi-koi", "expert@1", "random", "--deals", "2", "--jobs", "1").stderr
    assert "koi-koi" in kernels()
