"""Deal records: what is read, what is refused and why, what a replay fills in, what a played deal is written as."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.game import AnyGame, Card, Outcome, Seat, Why
from engine.match import Match, act, begin, deal
from engine.record import (
    DealRecord,
    Difference,
    Fairness,
    Fault,
    MalformedRecord,
    Move,
    RecordStep,
    Unplayable,
    check,
    read_record,
    record_of,
    replay,
    write_record,
)
from engine.registry import GAMES
from tests.conformance.laws import random_options, shortest
from tests.played import played_match
from tests.toy import DUEL

GAMES_AND_DUEL: Mapping[str, AnyGame] = {**GAMES, DUEL.name: DUEL}
EVERY_GAME = pytest.mark.parametrize("game", GAMES_AND_DUEL.values(), ids=lambda game: game.name)

DECK = ["d4", "d6", "d1", "d2", "d5", "d3"]
STEPS: list[dict[str, Any]] = [
    {"seat": 1, "action": "single"},
    {"seat": 0, "action": "double"},
    {"seat": 0, "action": "d6"},
    {"seat": 1, "action": "d2"},
]
FAIRNESS = Fairness("00" * 32, (), "00" * 32)


def line(**changes: Any) -> bytes:
    """A record of Duel in which the beginner doubles and wins; ``...`` for a change leaves the field out."""
    fields: dict[str, Any] = {"game": "duel", "first": 0, "deck": DECK, "steps": STEPS}
    return json.dumps({key: value for key, value in (fields | changes).items() if value is not ...}).encode()


def record(**changes: Any) -> DealRecord:
    return read_record(line(**changes), GAMES_AND_DUEL)


# Reading ------------------------------------------------------------------------------------------------------


def test_a_record_is_read_as_it_is_written() -> None:
    assert record(options={"stakes": "double", "deals": "3"}, result={"reason": "won", "scores": [2, 0]}) == DealRecord(
        game="duel",
        beginner=Seat(0),
        deck=tuple(map(Card, DECK)),
        steps=tuple(RecordStep(Seat(step["seat"]), step["action"]) for step in STEPS),
        options={"deals": 3, "stakes": "double"},
        result=Outcome("won", (2, 0)),
    )


@pytest.mark.parametrize(
    ("changes", "code", "params"),
    [
        ({"game": "gin"}, Fault.UNKNOWN_GAME, {"game": "gin", "known": tuple(GAMES_AND_DUEL)}),
        ({"game": ...}, Fault.BAD_FIELD, {"path": "$", "problem": "Object missing required field `game`"}),
        ({"game": 7}, Fault.BAD_FIELD, {"path": "$.game", "problem": "Expected `str`, got `int`"}),
        ({"deck": ...}, Fault.BAD_FIELD, {"path": "$", "problem": "Object missing required field `deck`"}),
        ({"deck": "d1"}, Fault.BAD_FIELD, {"path": "$.deck", "problem": "Expected `array`, got `str`"}),
        ({"deck": DECK[:5]}, Fault.BAD_DECK, {"missing": ("d3",), "surplus": ()}),
        ({"deck": [*DECK, "d3"]}, Fault.BAD_DECK, {"missing": (), "surplus": ("d3",)}),
        ({"deck": ["d4", *DECK[1:5], "d9"]}, Fault.BAD_DECK, {"missing": ("d3",), "surplus": ("d9",)}),
        ({"deck": []}, Fault.BAD_DECK, {"missing": ("d1", "d2", "d3", "d4", "d5", "d6"), "surplus": ()}),
        ({"first": ...}, Fault.NO_BEGINNER, {"field": "first"}),
        ({"first": ..., "dealer": 0}, Fault.NO_BEGINNER, {"field": "first"}),
        ({"first": 2}, Fault.NO_SUCH_SEAT, {"path": "$.first", "seat": 2, "seats": 2}),
        ({"first": -1}, Fault.NO_SUCH_SEAT, {"path": "$.first", "seat": -1, "seats": 2}),
        ({"first": True}, Fault.BAD_FIELD, {"path": "$.first", "problem": "Expected `int`, got `bool`"}),
        ({"first": None}, Fault.BAD_FIELD, {"path": "$.first", "problem": "Expected `int`, got `null`"}),
        ({"steps": {}}, Fault.BAD_FIELD, {"path": "$.steps", "problem": "Expected `array`, got `object`"}),
        ({"steps": [*STEPS, {"seat": 1}]}, Fault.BAD_FIELD, {"path": "$.steps[4]"}),
        (
            {"steps": [{"seat": 9, "action": "d1"}]},
            Fault.NO_SUCH_SEAT,
            {"path": "$.steps[0].seat", "seat": 9, "seats": 2},
        ),
        ({"carry": -1}, Fault.BAD_FIELD, {"path": "$.carry", "problem": "Expected `int` >= 0"}),
        ({"carry": 1.5}, Fault.BAD_FIELD, {"path": "$.carry", "problem": "Expected `int`, got `float`"}),
        ({"result": "won"}, Fault.BAD_FIELD, {"path": "$.result", "problem": "Expected `object | null`, got `str`"}),
        ({"options": {"stake": 1}}, Why.UNKNOWN_OPTION, {"option": "stake"}),
        ({"options": {"deals": 2}}, Why.BAD_OPTION_VALUE, {"option": "deals", "value": "2", "allowed": ("1", "3")}),
        ({"options": {"deals": None}}, Fault.BAD_FIELD, {"path": "$.options[...]"}),
    ],
)
def test_what_is_no_record_is_refused_with_what_is_wrong(changes: Any, code: str, params: dict[str, Any]) -> None:
    with pytest.raises(MalformedRecord) as refused:
        record(**changes)
    assert refused.value.fault.code == code
    assert params.items() <= refused.value.fault.params.items()


@pytest.mark.parametrize(
    "text", [b"", b"{", b"nonsense", b'{"game": "duel"} trailing', b"\xff\xfe{\x00}\x00", b"[" * 100_000, b'"\xff"']
)
def test_what_is_not_json_is_refused(text: bytes) -> None:
    with pytest.raises(MalformedRecord) as refused:
        read_record(text, GAMES_AND_DUEL)
    assert refused.value.fault.code in {Fault.NOT_JSON, Fault.BAD_FIELD}


@pytest.mark.parametrize("changes", [{"match": "?"}, {"?": 1}, {"steps": [{"seat": 0, "action": "d1", "?": 1}]}])
def test_what_is_not_utf_8_is_refused_also_where_it_has_no_meaning(changes: dict[str, Any]) -> None:
    with pytest.raises(MalformedRecord) as refused:
        read_record(line(**changes).replace(b"?", b"\xff"), GAMES_AND_DUEL)
    assert refused.value.fault.code == Fault.NOT_JSON


@pytest.mark.parametrize("text", [b"7", b"[]", b"null", b'"record"'])
def test_json_that_is_no_object_is_refused(text: bytes) -> None:
    with pytest.raises(MalformedRecord) as refused:
        read_record(text, GAMES_AND_DUEL)
    assert refused.value.fault.code == Fault.BAD_FIELD
    assert refused.value.fault.params["path"] == "$"


@settings(max_examples=300)
@given(st.data())
def test_a_damaged_record_is_refused_or_played_and_never_anything_else(data: st.DataObject) -> None:
    text = bytearray(line(options={"deals": 3}, carry=1, result={"reason": "won", "scores": [2, 0]}))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
        text = text or bytearray(b" ")
    with suppress(MalformedRecord, Unplayable):
        check(DUEL, read_record(bytes(text), {DUEL.name: DUEL}))


# Replaying ----------------------------------------------------------------------------------------------------


def test_a_replay_fills_in_what_was_legal_and_the_result_whatever_the_record_said() -> None:
    lies = [step | {"legal": ["d9"]} for step in STEPS]
    replayed = replay(DUEL, record(steps=lies, result={"reason": "lost", "scores": [9, 9]}))
    assert [step.legal for step in replayed.steps] == [
        ("single",),
        ("double", "single"),
        ("d4", "d6"),
        ("d1", "d2"),
    ]
    assert replayed.result == Outcome("won", (2, 0))
    assert replay(DUEL, record()) == replayed
    assert replay(DUEL, replayed) == replayed


def test_a_replay_writes_fields_in_one_order_and_keeps_what_it_does_not_know() -> None:
    odd = b"123456789012345678901234567890"
    text = (
        b'{"zebra": [1.50, {"x":1e400}], "steps": [{"action":"single","seat":1,"ms":7}, {"seat":0,"action":"double"},'
        b'{"seat":0,"action":"d6"},{"seat":1,"action":"d2"}], "first":0, "aside": ' + odd + b', "carry":2, '
        b'"deck":["d4","d6","d1","d2","d5","d3"], "options":{"stakes":"double","deals":"1"}, "game":"duel"}'
    )
    assert write_record(DUEL, replay(DUEL, read_record(text, GAMES_AND_DUEL))) == (
        b'{"game":"duel","options":{"deals":1,"stakes":"double"},"first":0,"deck":["d4","d6","d1","d2","d5","d3"],'
        b'"steps":[{"seat":1,"legal":["single"],"action":"single","ms":7},'
        b'{"seat":0,"legal":["double","single"],"action":"double"},'
        b'{"seat":0,"legal":["d4","d6"],"action":"d6"},{"seat":1,"legal":["d1","d2"],"action":"d2"}],'
        b'"result":{"reason":"won","scores":[6,0]},"carry":2,'
        b'"aside":' + odd + b',"zebra":[1.50, {"x":1e400}]}'
    )


def test_sealed_answers_may_be_listed_in_any_order() -> None:
    swapped = record(steps=[STEPS[1], STEPS[0], *STEPS[2:]])
    assert replay(DUEL, swapped).result == replay(DUEL, record()).result


def test_a_redeal_is_a_record_without_steps() -> None:
    redealt = record(deck=["d1", "d2", "d3", "d4", "d6", "d5"], steps=[])
    assert replay(DUEL, redealt).result == Outcome("redeal", (0, 0))


@pytest.mark.parametrize(
    ("steps", "step", "code", "legal"),
    [
        ([{"seat": 1, "action": "double"}], 1, "not-in-this-phase", {0: ("double", "single"), 1: ("single",)}),
        ([STEPS[0], STEPS[0]], 2, Why.ALREADY_ANSWERED, {0: ("double", "single")}),
        ([*STEPS[:2], {"seat": 0, "action": "d1"}], 3, Why.NOT_IN_HAND, {0: ("d4", "d6")}),
        ([*STEPS[:2], {"seat": 1, "action": "d1"}], 3, Why.NOT_YOUR_TURN, {0: ("d4", "d6")}),
        ([*STEPS[:2], {"seat": 0, "action": "D6"}], 3, Fault.NO_ACTION, {0: ("d4", "d6")}),
        ([*STEPS[:2], {"seat": 0, "action": ""}], 3, Fault.NO_ACTION, {0: ("d4", "d6")}),
        (STEPS[:1], 2, Fault.UNFINISHED, {0: ("double", "single")}),
        (STEPS[:3], 4, Fault.UNFINISHED, {1: ("d1", "d2")}),
        ([*STEPS, {"seat": 0, "action": "d4"}], 5, Why.DEAL_OVER, {}),
        ([*STEPS, {"seat": 0, "action": "nonsense"}], 5, Why.DEAL_OVER, {}),
    ],
)
def test_what_cannot_be_played_is_refused_with_the_step_and_what_was_legal_there(
    steps: Any, step: int, code: str, legal: dict[int, tuple[str, ...]]
) -> None:
    for judge in (replay, check):
        with pytest.raises(Unplayable) as refused:
            judge(DUEL, record(steps=steps))
        problem = refused.value
        assert (problem.step, problem.fault.code, problem.legal) == (step, code, legal)
        said = steps[step - 1] if step <= len(steps) else {"seat": None, "action": None}
        assert (problem.seat, problem.action) == (said["seat"], said["action"])


# Checking -----------------------------------------------------------------------------------------------------


def with_legal(number: int, *legal: str) -> list[dict[str, Any]]:
    return [step | {"legal": list(legal)} if place == number else step for place, step in enumerate(STEPS, 1)]


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({}, None),
        ({"result": {"reason": "won", "scores": [2, 0]}}, None),
        ({"steps": with_legal(3, "d4", "d6")}, None),
        ({"steps": with_legal(3, "d6", "d4")}, Difference(3, "legal", ("d6", "d4"), ("d4", "d6"))),
        ({"steps": with_legal(4)}, Difference(4, "legal", (), ("d1", "d2"))),
        ({"result": {"reason": "won", "scores": [0, 2]}}, Difference(None, "scores", (0, 2), (2, 0))),
        ({"result": {"reason": "narrow", "scores": [0, 0]}}, Difference(None, "reason", "narrow", "won")),
        (
            {"steps": with_legal(1, "double"), "result": {"reason": "narrow", "scores": [0, 0]}},
            Difference(1, "legal", ("double",), ("single",)),
        ),
        (
            {"steps": [*with_legal(2, "single")[:2], STEPS[3]]},
            Difference(2, "legal", ("single",), ("double", "single")),
        ),
        ({"steps": with_legal(2, "single")[:2]}, Difference(2, "legal", ("single",), ("double", "single"))),
    ],
)
def test_the_first_difference_is_found_and_silence_is_none(changes: Any, difference: Difference | None) -> None:
    assert check(DUEL, record(**changes)) == difference


# Records of played deals --------------------------------------------------------------------------------------


@EVERY_GAME
@pytest.mark.parametrize("seed", range(5))
def test_the_record_of_a_played_deal_replays_to_itself(game: AnyGame, seed: int) -> None:
    rng = Random(seed)
    for played in played_match(game, shortest(game, random_options(game, rng)), rng):
        text = write_record(game, played)
        again = read_record(text, GAMES_AND_DUEL)
        assert again == played
        assert write_record(game, again) == text
        assert check(game, again) is None
        replayed = replay(game, again)
        assert replayed.result == played.result
        assert [step.action for step in replayed.steps] == [step.action for step in played.steps]


@EVERY_GAME
def test_the_same_deal_makes_the_same_bytes(game: AnyGame) -> None:
    def written() -> list[bytes]:
        return [write_record(game, played) for played in played_match(game, {}, Random(11))]

    assert written() == written()


def a_played_deal(order: tuple[int, int], beginner: int) -> tuple[Match, list[Move]]:
    match = deal(DUEL, begin(DUEL, {}), tuple(map(Card, DECK)), Seat(beginner)).match
    moves = []
    for seat in order:
        moves.append(Move(Seat(seat), "single", f"actor {seat}"))
        match = act(DUEL, match, Seat(seat), DUEL.parse("single")).match
    for _ in range(2):
        seat = min(DUEL.awaiting(match.state))
        action = DUEL.legal_at(match.state, seat)[0]
        moves.append(Move(seat, DUEL.text(action), f"actor {seat}"))
        match = act(DUEL, match, seat, action).match
    return match, moves


@pytest.mark.parametrize("beginner", [0, 1])
def test_sealed_answers_are_listed_from_the_beginners_left_whoever_was_quicker(beginner: int) -> None:
    records = []
    for order in ((0, 1), (1, 0)):
        match, moves = a_played_deal(order, beginner)
        deck = tuple(map(Card, DECK))
        records.append(record_of(DUEL, match, deck, moves, match_id="m", fairness=FAIRNESS, players=()))
    assert records[0] == records[1]
    assert [step.seat for step in records[0].steps] == [1 - beginner, beginner, beginner, 1 - beginner]
    acted = [f"actor {step.seat}" for step in records[0].steps]
    assert msgspec.json.decode(records[0].extras["acted"]) == acted


def test_at_a_table_of_eight_too_sealed_answers_are_listed_from_the_beginners_left() -> None:
    game = GAMES["hachinin-meri"]
    deck, rng = Random(1).sample(game.cards, len(game.cards)), Random(2)
    match = deal(game, begin(game, game.complete_options({})), deck, Seat(3)).match
    assert match.beginner == 3
    assert len(game.awaiting(match.state)) == 8
    moves: list[Move] = []
    while match.outcome is None:
        seat = min(game.awaiting(match.state))
        action = rng.choice(game.legal_at(match.state, seat))
        moves.append(Move(seat, game.text(action), "person"))
        match = act(game, match, seat, action).match
    made = record_of(game, match, deck, moves, match_id="m", fairness=FAIRNESS, players=())
    assert [step.seat for step in made.steps[:8]] == [4, 5, 6, 7, 0, 1, 2, 3]


def test_moves_that_lead_elsewhere_are_not_archived() -> None:
    match, moves = a_played_deal((0, 1), 0)
    other = replace(match, outcome=Outcome("won", (9, 0)))
    with pytest.raises(AssertionError, match="do not lead to the outcome"):
        record_of(DUEL, other, tuple(map(Card, DECK)), moves, match_id="m", fairness=FAIRNESS, players=())


def test_a_record_says_what_an_archive_needs() -> None:
    game = DUEL
    played = played_match(game, {"deals": 3}, Random(3))[0]
    fields = json.loads(write_record(game, played))
    assert fields["options"] == {"deals": 3, "next_first": "alternating", "stakes": "double"}
    assert fields["deal"] == 1
    assert fields["rules"] == game.rules_version
    assert fields["players"] == [{"seat": 0, "name": "Ada"}, {"seat": 1, "name": "Björk"}]
    assert len(fields["acted"]) == len(fields["steps"])
    assert set(fields["fairness"]) == {"commitment", "contributions", "seed", "attempt"}
