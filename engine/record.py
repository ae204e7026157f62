"""The deal record: one deal as one JSON object, to read, write, replay and check. ``docs/records.md`` has the format
in words; ``engine.verify`` asks where its deck came from.

Belongs here: what a record says and whether the engine agrees. Must not be known here: any particular game (the
caller passes one, or the games by name), files, sentences. What a record can do wrong comes out as one of two
exceptions, ``MalformedRecord`` (it cannot be read) and ``Unplayable`` (the rules forbid what it says), with a code of
``Fault`` or of the game. Anything else that is raised is a bug.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta, Raw, Struct

from engine.game import (
    AnyGame,
    BadOption,
    Card,
    GameError,
    IllegalAction,
    MalformedAction,
    Message,
    OptionValue,
    Outcome,
    Param,
    Seat,
    Why,
)
from engine.match import Match

Hex32: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}(?!\n)$", description="32 bytes.")]


LegalAt: TypeAlias = Mapping[Seat, tuple[str, ...]]
"""What each awaited seat may do; empty when the deal is over."""


class Fault(StrEnum):
    """What can be wrong with a record, besides what the rules of its game forbid. Parameters stand behind each."""

    NOT_JSON = "not-json"
    """``problem``: what the codec says."""
    BAD_FIELD = "bad-field"
    """``path``: where (``$.steps[3].seat``); ``problem``: what the codec says."""
    UNKNOWN_GAME = "unknown-game"
    """``game``; ``known``."""
    NO_BEGINNER = "no-beginner"
    """``field``: what this game calls the seat that begins, and the record lacks."""
    NO_SUCH_SEAT = "no-such-seat"
    """``path``: where; ``seat``; ``seats``: how many there are."""
    BAD_DECK = "bad-deck"
    """``missing``, ``surplus``: cards the deck lacks, and cards it has too often or that the game does not have."""
    NO_ACTION = "no-action"
    """The text is no action of this game. No parameters."""
    UNFINISHED = "unfinished"
    """The record ends and the deal does not. No parameters."""
    NO_FAIRNESS = "no-fairness"
    """Nothing to verify: the record does not say where its deck came from. ``missing``: the fields it lacks."""


class MalformedRecord(GameError):
    """The line is no deal record."""

    def __init__(self, fault: Message) -> None:
        super().__init__(f"{fault.code} {fault.params}")
        self.fault = fault


class Unplayable(GameError):
    """The record says something that the rules forbid."""

    def __init__(self, step: int, seat: Seat | None, action: str | None, fault: Message, legal: LegalAt) -> None:
        super().__init__(f"step {step}: {action} by {seat}: {fault.code} {fault.params}")
        self.step = step
        """From 1; one more than there are when the record ends too early."""
        self.seat = seat
        self.action = action
        """None when the record ends too early."""
        self.fault = fault
        """A code of ``Fault`` or of the game, with parameters."""
        self.legal = legal


class RecordStep(Struct, frozen=True):
    """One action of a deal."""

    seat: Seat
    action: str
    """In the notation of the rules pages."""
    legal: tuple[str, ...] | None = None
    """Everything that was legal for the seat, sorted; None where the record does not say."""
    extras: dict[str, Raw] = {}
    """What else the record says about the step, as it stands there."""


class DealRecord(Struct, frozen=True):
    """A record that could be read: its game exists, its options, deck and seats are sound. Whether it can be played
    is for ``replay`` to say.
    """

    game: str
    beginner: Seat
    """``first`` or ``dealer``, as the game calls it (``Game.beginner``)."""
    deck: tuple[Card, ...]
    steps: tuple[RecordStep, ...]
    options: dict[str, OptionValue] = {}
    """What the record names, in the order of ``Game.options``; the others have their defaults."""
    result: Outcome | None = None
    """None where the record does not say."""
    carry: int = 0
    """What earlier deals left (``Game.carry_after``)."""
    extras: dict[str, Raw] = {}
    """What else the record says (``match``, ``deal``, ``fairness``, …), as it stands there."""


class HexContribution(Struct, frozen=True):
    """A contribution in a record."""

    seat: Annotated[int, Meta(ge=0, le=63)]
    value: Hex32


class Fairness(Struct, frozen=True):
    """Where a record's deck comes from, in hex digits: ``engine.shuffle`` and ``docs/fairness.md`` say how."""

    commitment: Hex32
    contributions: tuple[HexContribution, ...]
    """In ascending order of seat."""
    seed: Hex32
    attempt: Annotated[int, Meta(ge=1, lt=1 << 32)] = 1
    """From 1; rises when the deal is dealt again."""


class Player(Struct, frozen=True, gc=False, omit_defaults=True):
    """Who held a seat when the deal ended: a person by name, or an AI by level."""

    seat: Seat
    name: str | None = None
    level: str | None = None


class Move(Struct, frozen=True, gc=False):
    """One action of a played deal, for ``record_of``."""

    seat: Seat
    action: str
    actor: str
    """Who acted for the seat: ``person``, ``ai``, or ``clock`` for the default action at a deadline."""


class Difference(Struct, frozen=True):
    """Where the engine does not agree with a record."""

    step: int | None
    """From 1; None for the result."""
    field: str
    """``legal``, ``reason`` or ``scores``."""
    said: Param | tuple[int, ...]
    found: Param | tuple[int, ...]


# Reading and writing ------------------------------------------------------------------------------------------


class _Step(Struct):
    seat: int
    action: str
    legal: tuple[str, ...] | None = None


class _Fields(Struct):
    """What every game's records have, of the types that they must have. The seat that begins has a name per game."""

    game: str
    deck: tuple[str, ...]
    steps: tuple[_Step, ...]
    options: dict[str, str | int] = {}
    result: Outcome | None = None
    carry: Annotated[int, Meta(ge=0, lt=1 << 31)] = 0


_fields_decoder: Final = msgspec.json.Decoder(_Fields)
_object_decoder: Final = msgspec.json.Decoder(dict[str, Raw])
_steps_decoder: Final = msgspec.json.Decoder(list[dict[str, Raw]])
_seat_decoder: Final = msgspec.json.Decoder(int)
_encoder: Final = msgspec.json.Encoder()

_STEP_FIELDS: Final = frozenset(_Step.__struct_fields__)
_FIELDS: Final = frozenset(_Fields.__struct_fields__)


def read_record(line: bytes, games: Mapping[str, AnyGame]) -> DealRecord:
    """The record in a line of JSON. Keys without a meaning here are kept as they are.

    Raises:
        MalformedRecord: there is none, and what is wrong.
    """
    fields, everything = _decode(line)
    game = games.get(fields.game)
    if game is None:
        raise _malformed(Fault.UNKNOWN_GAME, game=fields.game, known=tuple(games))
    try:
        complete = game.complete_options(fields.options)
    except BadOption as problem:
        raise MalformedRecord(problem.refusal) from problem
    _check_deck(game, fields.deck)
    steps = tuple(
        RecordStep(_checked_seat(game, f"$.steps[{index}].seat", step.seat), step.action, step.legal)
        for index, step in enumerate(fields.steps)
    )
    return DealRecord(
        game=game.name,
        beginner=_read_beginner(game, everything),
        deck=tuple(map(Card, fields.deck)),
        steps=_with_extras(steps, everything["steps"]),
        options={key: complete[key] for key in game.options if key in fields.options},
        result=fields.result,
        carry=fields.carry,
        extras={key: value for key, value in everything.items() if key not in _FIELDS and key != game.beginner},
    )


def write_record(game: AnyGame, record: DealRecord) -> bytes:
    """The record as one line of JSON, without the line feed. The same record makes the same bytes."""
    fields: dict[str, Any] = {"game": record.game}
    if record.options:
        fields["options"] = record.options
    fields[game.beginner] = record.beginner
    fields["deck"] = record.deck
    fields["steps"] = [_step_fields(step) for step in record.steps]
    if record.result is not None:
        fields["result"] = record.result
    if record.carry:
        fields["carry"] = record.carry
    return _encoder.encode(fields | dict(sorted(record.extras.items())))


def _decode(line: bytes) -> tuple[_Fields, dict[str, Raw]]:
    try:
        line.decode()  # the codec does not look into what it skips; JSON is UTF-8 throughout (RFC 8259 section 8.1)
        return _fields_decoder.decode(line), _object_decoder.decode(line)
    except msgspec.ValidationError as problem:
        raise bad_field(problem) from problem
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise _malformed(Fault.NOT_JSON, problem=str(problem)) from problem


def _check_deck(game: AnyGame, deck: tuple[str, ...]) -> None:
    said, known = Counter(deck), Counter[str](game.cards)
    if said != known:
        missing = tuple(sorted((known - said).elements()))
        surplus = tuple(sorted((said - known).elements()))
        raise _malformed(Fault.BAD_DECK, missing=missing, surplus=surplus)


def _read_beginner(game: AnyGame, everything: dict[str, Raw]) -> Seat:
    if game.beginner not in everything:
        raise _malformed(Fault.NO_BEGINNER, field=game.beginner)
    path = f"$.{game.beginner}"
    try:
        seat = _seat_decoder.decode(everything[game.beginner])
    except msgspec.ValidationError as problem:
        raise bad_field(problem, path) from problem
    return _checked_seat(game, path, seat)


def _checked_seat(game: AnyGame, path: str, seat: int) -> Seat:
    if not 0 <= seat < game.seats:
        raise _malformed(Fault.NO_SUCH_SEAT, path=path, seat=seat, seats=game.seats)
    return Seat(seat)


def _with_extras(steps: tuple[RecordStep, ...], raw: Raw) -> tuple[RecordStep, ...]:
    everything = _steps_decoder.decode(raw)
    if all(_STEP_FIELDS.issuperset(fields) for fields in everything):
        return steps
    return tuple(
        msgspec.structs.replace(step, extras={key: value for key, value in fields.items() if key not in _STEP_FIELDS})
        for step, fields in zip(steps, everything, strict=True)
    )


def _step_fields(step: RecordStep) -> dict[str, Any]:
    fields: dict[str, Any] = {"seat": step.seat}
    if step.legal is not None:
        fields["legal"] = step.legal
    return fields | {"action": step.action} | dict(sorted(step.extras.items()))


def bad_field(problem: msgspec.ValidationError, root: str = "$") -> MalformedRecord:
    """What the codec found wrong with a field below ``root``, as a refusal of the record."""
    reason, _, path = str(problem).partition(" - at `$")
    return _malformed(Fault.BAD_FIELD, path=root + path.rstrip("`"), problem=reason)


def _malformed(fault: Fault, **params: Param) -> MalformedRecord:
    return MalformedRecord(Message(fault, params))


# Replaying ----------------------------------------------------------------------------------------------------


def replay(game: AnyGame, record: DealRecord) -> DealRecord:
    """The same record with ``legal`` at every step and ``result`` filled in by the engine, whatever it said before.

    Raises:
        Unplayable: the record cannot be played to the deal's end as it stands.
    """
    steps: list[RecordStep] = []

    def fill_in(step: RecordStep, legal: tuple[str, ...]) -> None:
        steps.append(msgspec.structs.replace(step, legal=legal))

    outcome = _play(game, record, fill_in)
    return msgspec.structs.replace(record, steps=tuple(steps), result=outcome)


def check(game: AnyGame, record: DealRecord) -> Difference | None:
    """The first thing that the record says otherwise than the engine. What it does not say is no difference.

    Raises:
        Unplayable: what the record says is right up to a step that cannot be played.
    """
    found: list[Difference] = []
    number = 0

    def compare(step: RecordStep, legal: tuple[str, ...]) -> None:
        nonlocal number
        number += 1
        if step.legal is not None and step.legal != legal:
            found.append(Difference(number, "legal", step.legal, legal))

    try:
        outcome = _play(game, record, compare)
    except Unplayable:
        if not found:
            raise
        return found[0]
    if record.result is not None:
        if record.result.reason != outcome.reason:
            found.append(Difference(None, "reason", record.result.reason, outcome.reason))
        if record.result.scores != outcome.scores:
            found.append(Difference(None, "scores", record.result.scores, outcome.scores))
    return found[0] if found else None


def _play(game: AnyGame, record: DealRecord, at_step: Callable[[RecordStep, tuple[str, ...]], None]) -> Outcome:
    """Play the record; ``at_step`` is told each step and what is legal there, before it is played."""
    state = game.deal(game.complete_options(record.options), record.deck, record.beginner, record.carry).state
    for number, step in enumerate(record.steps, 1):
        actions = game.legal_at(state, step.seat)
        texts = tuple(map(game.text, actions))
        at_step(step, texts)
        if step.action not in texts:
            fault = _why_not(game, state, step)
            raise Unplayable(number, step.seat, step.action, fault, _legal_texts(game, state))
        state = game.apply(state, step.seat, actions[texts.index(step.action)]).state
    outcome = game.outcome(state)
    if outcome is None:
        fault = Message(Fault.UNFINISHED)
        raise Unplayable(len(record.steps) + 1, None, None, fault, _legal_texts(game, state))
    return outcome


def _why_not(game: AnyGame, state: Any, step: RecordStep) -> Message:
    if game.outcome(state) is not None:
        return Message(Why.DEAL_OVER)
    try:
        game.apply(state, step.seat, game.parse(step.action))
    except MalformedAction:
        return Message(Fault.NO_ACTION)
    except IllegalAction as problem:
        return problem.refusal
    raise AssertionError(f"{game.name} performs {step.action}, which it does not call legal")


def _legal_texts(game: AnyGame, state: Any) -> dict[Seat, tuple[str, ...]]:
    return {seat: tuple(map(game.text, game.legal_at(state, seat))) for seat in sorted(game.awaiting(state))}


# Records of played deals --------------------------------------------------------------------------------------


def record_of(
    game: AnyGame,
    match: Match,
    deck: Sequence[Card],
    moves: Sequence[Move],
    *,
    match_id: str,
    fairness: Fairness,
    players: Sequence[Player],
) -> DealRecord:
    """The record of the deal that has just ended in ``match``; ``moves`` in the order in which they were played.

    Sealed answers are listed from the beginner's left, whatever order they came in: it tells nobody who was quicker.
    """
    assert match.outcome is not None, "a deal is recorded when it is over"
    listed = _listed(game, match, deck, moves)
    extras: dict[str, Any] = {
        "match": match_id,
        "deal": match.deal,
        "rules": game.rules_version,
        "fairness": fairness,
        "players": players,
        "acted": [move.actor for move in listed],
    }
    return DealRecord(
        game=game.name,
        beginner=match.beginner,
        deck=tuple(deck),
        steps=tuple(RecordStep(move.seat, move.action) for move in listed),
        options=match.options,
        result=match.outcome,
        carry=match.carry,
        extras={key: Raw(_encoder.encode(value)) for key, value in extras.items()},
    )


def _listed(game: AnyGame, match: Match, deck: Sequence[Card], moves: Sequence[Move]) -> list[Move]:
    """``moves`` with each run of sealed answers sorted. Plays the deal: what ends otherwise must not be archived."""

    def places_from_the_left(move: Move) -> int:
        return (move.seat - match.beginner - 1) % game.seats

    state = game.deal(match.options, deck, match.beginner, match.carry).state
    listed: list[Move] = []
    sealed: list[Move] = []
    for move in moves:
        awaited = game.awaiting(state)
        state = game.apply(state, move.seat, game.parse(move.action)).state
        sealed.append(move)
        if len(awaited) == 1:
            listed += sorted(sealed, key=places_from_the_left)
            sealed = []
    assert not sealed, "a deal cannot be over while answers are awaited"
    assert game.outcome(state) == match.outcome, "the moves do not lead to the outcome"
    return listed
