from __future__ import annotations

import random
from enum import StrEnum
from importlib import import_module
from typing import Any

import pytest

from clients.cli.connection import Trouble
from clients.cli.fairness import ALARMS, Finding, Found
from clients.cli.picture import after, from_snapshot
from clients.cli.questions import in_notation
from clients.cli.session import End, Ended
from clients.cli.words import GAP, Lines, common, counted, filled
from clients.cli.words import game as game_words
from clients.cli.words.games import refusal, words_of
from clients.cli.words.people import People, people_of
from engine import match as matches
from engine.game import AnyGame, Budget, Level, MalformedAction, Message, Param, Seat, Why
from engine.match import MATCH_EVENTS, Need
from engine.registry import GAMES
from protocol import events as room
from protocol.codes import Notified, Refused
from protocol.messages import Act, SeatInfo, Start
from tests.cli.hall import Hall
from tests.cli.samples import Sampler
from tests.engine.koi_koi.scenes import position

SILENT = {"turn-began"}
"""Events that say nothing by themselves: what follows does."""


def people_at(game: AnyGame, you: int | None = 0) -> People:
    seats = (SeatInfo(kind="person", name="Aki"), *(SeatInfo(kind="ai", level="medium"),) * (game.seats - 1))
    return People(game, seats, None if you is None else Seat(you))


def types_of(game: AnyGame) -> Any:
    return import_module(f"engine.{game.name.replace('-', '_')}.types")


def assert_readable(lines: Lines) -> None:
    for line in lines:
        assert not set("{}") & set(line), f"an unfilled field in {line!r}"
        assert GAP not in line


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        (Refused, common.REFUSALS),
        (Notified, common.NOTICES),
        (End, common.ENDS),
        (Trouble, common.TROUBLES),
        (Finding, common.FINDINGS),
        (Level, common.LEVELS),
        (Why, game_words.SHARED_WHY),
        (room.WhyFreed, common._FREED),
        (room.WhyClosed, common._CLOSED),
        (room.Signal, common._SIGNALS),
    ],
)
def test_every_code_has_words(codes: type[StrEnum], words: Any) -> None:
    assert set(words) == set(codes)


@pytest.mark.parametrize("name", GAMES)
def test_every_refusal_of_a_game_has_words(name: str) -> None:
    game = GAMES[name]
    assert set(words_of(name).why) == set(types_of(game).Why)


@pytest.mark.parametrize("name", GAMES)
def test_every_reason_of_an_ai_has_words(name: str) -> None:
    game = GAMES[name]
    assert set(words_of(name).reasons) == set(types_of(game).Reason)


@pytest.mark.parametrize("name", GAMES)
def test_codes_of_games_are_not_those_of_the_hall(name: str) -> None:
    assert not set(words_of(name).why) & set(common.REFUSALS)
    assert not set(game_words.SHARED_WHY) & set(common.REFUSALS)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("you", [0, 1, None])
def test_every_event_of_a_game_has_words_for_both_players_and_spectators(name: str, you: int | None) -> None:
    game = GAMES[name]
    sampler = Sampler(game.cards)
    for kind in game.event_types:
        lines = words_of(name).event(sampler.of(kind), people_at(game, you))
        tag = kind.__struct_config__.tag
        assert bool(lines) == (tag not in SILENT), f"no words for {tag}"
        assert_readable(lines)


@pytest.mark.parametrize("name", GAMES)
def test_every_ending_of_a_deal_has_words(name: str) -> None:
    game = GAMES[name]
    seen = set()
    rng = random.Random(7)
    for _ in range(60):
        match = matches.begin(game, {"deals": game.options["deals"][1]})
        while match.need is not Need.NOTHING:
            if match.need is Need.DECK:
                deck = rng.sample(game.cards, len(game.cards))
                match = matches.deal(game, match, deck, Seat(0)).match
            else:
                seat = min(game.awaiting(match.state))
                match = matches.act(game, match, seat, rng.choice(game.legal_at(match.state, seat))).match
            if match.outcome is not None:
                seen.add(match.outcome.reason)
    assert seen <= set(words_of(name).endings)
    named = {getattr(types_of(game), enum, None) for enum in ("Ending", "EndReason")} - {None}
    for enum in named:
        if isinstance(enum, type) and issubclass(enum, StrEnum):
            assert set(words_of(name).endings) == set(enum)


def test_every_event_of_the_room_has_words() -> None:
    people = people_at(GAMES["koi-koi"])
    silent = {room.SeedRevealed}
    for kind in room.ROOM_EVENTS:
        lines = common.room_event(Sampler(("x",)).of(kind), people, people)
        assert bool(lines) == (kind not in silent), kind
        assert_readable(lines)


def test_who_sits_down_without_a_name_is_somebody_until_it_is_told() -> None:
    game = GAMES["hachinin-meri"]
    hall = Hall(game)
    hall.seats[1] = SeatInfo(kind="ai", level="easy")
    before = from_snapshot(hall.snapshot())

    taken = room.SeatTaken(seat=1, name=None)
    there = after(before, taken)
    (line,) = common.room_event(taken, people_of(before), people_of(there))
    assert line == "Somebody takes over seat 1 from the AI. Who it is is told after the deal."
    assert people_of(there).name(1) == "seat 1"

    named = room.SeatNamed(seat=1, name="Bea")
    known = after(there, named)
    assert people_of(known).name(1) == "Bea"
    assert common.room_event(named, people_of(there), people_of(known)) == ("In seat 1 sits Bea.",)


def test_every_event_of_a_match_has_words() -> None:
    game = GAMES["koi-koi"]
    picture = from_snapshot(Hall(game).snapshot())
    for kind in MATCH_EVENTS:
        lines = common.match_event(Sampler(("x",)).of(kind), picture, people_at(game), "stopped")
        assert lines, kind
        assert_readable(lines)


@pytest.mark.parametrize("name", GAMES)
def test_no_two_cards_look_alike(name: str) -> None:
    names = [words_of(name).card(card) for card in GAMES[name].cards]
    assert len(set(names)) == len(names)
    assert all(card in named for card, named in zip(GAMES[name].cards, names, strict=True))


@pytest.mark.parametrize("name", GAMES)
def test_a_whole_match_can_be_told_with_every_table_question_and_move(name: str) -> None:
    game = GAMES[name]
    words = words_of(name)
    hall = Hall(game, options={"deals": game.options["deals"][1]}, seed=3)
    hall.seats[0] = SeatInfo(kind="person", name="Aki")
    hall.receive(Start(id="x" * 20 + ".1"))
    hall._fix(())
    while hall.match is not None and (turn := hall.turn()) is not None:
        view = game.view(hall.match.state, Seat(0))
        people = people_of(from_snapshot(hall.snapshot()))
        told = (words.question(view), *(words.move(action, view) for action in turn.legal))
        shown = (*words.table(view, people), *words.hand(view), *words.score(view, people), *words.last(view, people))
        assert_readable(tuple(line for line in shown if line))
        assert all(told)
        assert not any(set("{}") & set(text) for text in told)
        hall.receive(Act(id=f"{'x' * 20}.{turn.at + 2}", action=hall.rng.choice(turn.legal), at=turn.at))
    spectator = game.view(hall.match.state, None) if hall.match is not None else None
    assert words.hand(spectator) == ()
    assert words.table(spectator, people_at(game, None))


@pytest.mark.parametrize("name", GAMES)
def test_a_refused_move_says_what_is_possible(name: str) -> None:
    """Every refusal that can be provoked in random deals is worded, and names each of its cards."""
    game = GAMES[name]
    words = words_of(name)
    rng = random.Random(11)
    texts = sorted({*game.cards, *(f"-{card}" for card in game.cards), "stop", "koi", "go", "declare", "pass"})
    met = set()
    for _ in range(12):
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
                    met.add(why.code)
                    sentence = words.refusal(why.code, why.params)
                    assert_readable((sentence,))
                    possible = why.params.get("cards", ())
                    assert isinstance(possible, tuple)
                    assert all(card in sentence for card in possible)
            match = matches.act(game, match, seat, rng.choice(game.legal_at(match.state, seat))).match
    assert len(met) >= 3


@pytest.mark.parametrize(
    ("mine", "theirs", "told"),
    [
        ("01b 03b", "", True),
        ("01b 03b 11b", "12b", True),
        ("01b 11b", "", False),  # with the rain man three brights are no yaku (K7)
        ("01b 03b", "08b 12b", False),  # nor can three without it be had
    ],
)
def test_the_way_to_three_brights_leads_past_the_rain_man(mine: str, theirs: str, *, told: bool) -> None:
    game = GAMES["koi-koi"]
    score = words_of("koi-koi").score(game.view(position(captured=(mine, theirs)), Seat(0)), people_at(game))
    assert ("2 of 3 brights" in "\n".join(score)) is told


def test_monchi_names_the_suit_and_every_card_that_may_be_played() -> None:
    params: dict[str, Param] = {"card": "K3", "suit": "P", "cards": ("P4", "Iun", "G9")}
    assert words_of("hachinin-meri").refusal("monchi", params) == (
        "Monchi: play a Pao card or any trump: P4 (Pao 4), Iun (Isu Un), G9 (Guru 9)."
    )


def test_ai_reasons_are_sentences() -> None:
    rng = random.Random(2)
    for name, game in GAMES.items():
        match = matches.begin(game, {})
        match = matches.deal(game, match, rng.sample(game.cards, len(game.cards)), Seat(0)).match
        while match.need is Need.ACTION:
            seat = min(game.awaiting(match.state))
            view = game.view(match.state, seat)
            thought = game.think(view, game.legal(view), rng, Budget())
            if thought.reason is not None:
                assert_readable((words_of(name).reason(thought.reason),))
            match = matches.act(game, match, seat, thought.action).match


def test_an_unknown_code_is_shown_rather_than_swallowed() -> None:
    assert refusal(None, "moon-in-capricorn", {"seat": 3}) == "moon-in-capricorn seat=3"
    assert words_of("koi-koi").reason(Message("whim", {"card": "03r"})) == "whim card=03r"


def test_a_parameter_that_a_server_left_out_leaves_a_gap() -> None:
    assert filled("Seat {seat} is taken.", {}) == f"Seat {GAP} is taken."


def test_the_hall_and_the_rules_are_asked_in_turn_for_a_refusal() -> None:
    picture = from_snapshot(Hall(GAMES["koi-koi"]).snapshot())
    assert refusal(picture, Refused.STALE, {"at": 0}).startswith("Too late")
    assert "You do not hold 03r" in refusal(picture, Why.NOT_IN_HAND, {"card": "03r"})


def test_numbers_are_counted() -> None:
    assert [counted(n, "{n} card", "{n} cards") for n in (1, 2)] == ["1 card", "2 cards"]


def test_alarms_are_told_as_warnings() -> None:
    for finding in Finding:
        text = common.finding(Found(finding, {"deal": 1, "attempt": 1, "seat": 0}))
        assert text.startswith("WARNING") == (finding in ALARMS)


def test_a_lost_place_says_why() -> None:
    assert "not yours any more" in common.end(Ended(End.PLACE_LOST, {"code": Refused.BAD_TOKEN}))


def test_two_people_of_one_name_are_told_apart() -> None:
    game = GAMES["koi-koi"]
    people = People(game, (SeatInfo(kind="person", name="Aki"),) * 2, None)
    assert people.name(0) != people.name(1)


@pytest.mark.parametrize(
    ("typed", "game", "written"),
    [
        ("k7", "hachinin-meri", "K7"),
        ("PSU", "hachinin-meri", "Psu"),
        ("-p5", "hachinin-meri", "-P5"),
        ("Declare", "hachinin-meri", "declare"),
        ("03B * 03p", "koi-koi", "03b*03p"),
        ("*05R", "go-stop", "*05r"),
        ("STOP", "go-stop", "stop"),
    ],
)
def test_moves_may_be_typed_in_any_case(typed: str, game: str, written: str) -> None:
    assert in_notation(typed, GAMES[game].cards) == written
