"""``fudaza arena``: duplicate deals, the same figures on every run, and programs that play."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result as Ran

from clients.cli import arena_deals
from clients.cli.arena import arena, kernels
from clients.cli.arena_deals import Contest, Effort, Pair, play_pairs
from clients.cli.arena_external import BotFailed, ProgramHand
from clients.cli.arena_figures import interval, result_of, trimmed_mean
from clients.cli.arena_players import Player, UnknownPlayer, team_of
from clients.cli.arena_plot import plot
from engine.codec import codec_of
from engine.game import Card, Level
from engine.match import MatchEvent
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


def program(tmp_path: Path, body: str) -> str:
    """The command of a program that reads the arena's lines: ``body`` sees each as ``m``, answers with ``say``."""
    file = tmp_path / "bot.py"
    head = "import json, random, sys\n\ndef say(text):\n    print(text, flush=True)\n\nfor line in sys.stdin:\n"
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
    ended = {reason for pair in play_pairs(contest("koi-koi", "random", "random"), range(60)) for reason in pair.reasons}
    assert "redeal" not in ended


# Figures ------------------------------------------------------------------------------------------------------

NOTHING: Final = Effort((), 0)


def observations(*scores: tuple[tuple[int, int], tuple[int, int]]) -> list[Pair]:
    return [Pair(each, ("stop", "stop"), (NOTHING, NOTHING)) for each in scores]


def test_a_pair_is_one_observation_and_the_interval_comes_from_pairs() -> None:
    found = result_of(contest("koi-koi", "easy", "random"), observations(((5, 0), (0, 1)), ((0, 0), (0, 7)), ((3, 0), (3, 0))))
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
    assert (found.lead.low, found.lead.high) == (found.points.low - 4.5, found.points.high - 4.5)


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
    "text", ["", "hrad", "easy+easy*2", "easy*x", "easy@", "easy@0", "easy@x", "random+", "no-such-program --fast"]
)
def test_a_text_that_names_no_team_is_refused_with_what_there_is(text: str) -> None:
    with pytest.raises(UnknownPlayer) as refused:
        team_of(text, MERI)
    assert {"random", "easy", "medium"} <= set(refused.value.known)


# Programs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_a_program_is_told_what_its_seat_is_shown_and_nothing_else(game: str, tmp_path: Path) -> None:
    """Its events, folded, are the views that its turns carry; and a program may forget them all."""
    heard = tmp_path / "heard"
    command = program(
        tmp_path,
        f"""open({str(heard)!r}, "a").write(line)
if m["t"] == "table":
    dice = random.Random(m["seed"])
if m["t"] == "turn":
    say(dice.choice(m["legal"]))""",
    )
    rules = GAMES[game]
    one = f"{command}" if rules.seats == rules.sides else "easy"
    pairs = list(play_pairs(contest(game, command if rules.seats == rules.sides else one, "random"), range(2)))
    if rules.seats != rules.sides:
        hands = ProgramHand(rules, tuple(command.split()))
        hands.close()
    assert len(pairs) == 2
    if not heard.exists() or rules.seats != rules.sides:
        pytest.skip("teams are heard in their own test")
    codec, view, turns, number = codec_of(rules), None, 0, 0
    for line in heard.read_text().splitlines():
        told = json.loads(line)
        match told["t"]:
            case "table":
                seat, view, number = told["you"], None, 0
                assert told["game"] == game
            case "event":
                event = codec.event(json.dumps(told["event"]).encode())
                number += 1
                assert told["number"] == number
                if not isinstance(event, MatchEvent):
                    view = rules.observe(view, event, seat)
            case "turn":
                assert codec.view(json.dumps(told["view"]).encode()) == view
                assert told["legal"] == [rules.text(action) for action in rules.legal(view)]
                assert told["at"] == number
                turns += 1
    assert turns > 10
