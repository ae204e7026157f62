"""Whether a record's deck and beginner are what its seed and contributions determine. ``docs/fairness.md`` says what
that proves.

Belongs here: recomputing. Must not be known here: any particular game, files, sentences.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from engine.game import AnyGame, Message, Outcome, Param, Seat
from engine.record import DealRecord, Fairness, Fault, HexContribution, MalformedRecord, bad_field
from engine.shuffle import Contribution, Draw, beginner_of, commitment, deck_of


class Misfit(StrEnum):
    """What a record says that does not follow from its seed and contributions. Parameters stand behind each."""

    COMMITMENT = "wrong-commitment"
    """The seed is not the one that was committed to. ``said``, ``found``: hex digits."""
    DECK = "wrong-deck"
    """Seed and contributions shuffle another deck. ``place``: the first that differs, from 1; ``said``, ``found``."""
    BEGINNER = "wrong-beginner"
    """The seat that begins was drawn, and it was another one. ``said``, ``found``."""


class _Provenance(Struct):
    match: str
    deal: Annotated[int, Meta(ge=1, lt=1 << 32)]
    fairness: Fairness


_provenance_decoder: Final = msgspec.json.Decoder(_Provenance)


def fairness_of(draw: Draw) -> Fairness:
    """What a record says about ``draw``."""
    return Fairness(
        commitment=commitment(draw.match, draw.deal, draw.seed).hex(),
        contributions=tuple(HexContribution(each.seat, each.value.hex()) for each in draw.contributions),
        seed=draw.seed.hex(),
        attempt=draw.attempt,
    )


def draw_in(record: DealRecord) -> tuple[Draw, str]:
    """What the record says determined its deck, and the commitment that it names (hex digits).

    Raises:
        MalformedRecord: it does not say (``Fault.NO_FAIRNESS``), or not in the form that it must have.
    """
    wanted = _Provenance.__struct_fields__
    missing = tuple(key for key in wanted if key not in record.extras)
    if missing:
        raise MalformedRecord(Message(Fault.NO_FAIRNESS, {"missing": missing}))
    try:
        said = _provenance_decoder.decode(msgspec.json.encode({key: record.extras[key] for key in wanted}))
    except msgspec.ValidationError as problem:
        raise bad_field(problem) from problem
    seats = [each.seat for each in said.fairness.contributions]
    if seats != sorted(set(seats)):
        params: dict[str, Param] = {"path": "$.fairness.contributions", "problem": "Expected ascending seats"}
        raise MalformedRecord(Message(Fault.BAD_FIELD, params))
    draw = Draw(
        match=said.match,
        deal=said.deal,
        attempt=said.fairness.attempt,
        seed=bytes.fromhex(said.fairness.seed),
        contributions=tuple(
            Contribution(Seat(each.seat), bytes.fromhex(each.value)) for each in said.fairness.contributions
        ),
    )
    return draw, said.fairness.commitment


def misfits(game: AnyGame, record: DealRecord) -> tuple[Message, ...]:
    """What does not fit (codes of ``Misfit``); empty when commitment, deck and a drawn beginner all do.

    Raises:
        MalformedRecord: there is nothing to verify, or not in the form that it must have.
    """
    draw, said_commitment = draw_in(record)
    found: list[Message] = []
    right_commitment = commitment(draw.match, draw.deal, draw.seed).hex()
    if right_commitment != said_commitment:
        found.append(Message(Misfit.COMMITMENT, {"said": said_commitment, "found": right_commitment}))
    right_deck = deck_of(draw, game.cards)
    differing = [place for place, pair in enumerate(zip(record.deck, right_deck, strict=True)) if pair[0] != pair[1]]
    if differing:
        place = differing[0]
        params: dict[str, Param] = {"place": place + 1, "said": record.deck[place], "found": right_deck[place]}
        found.append(Message(Misfit.DECK, params))
    right_beginner = _drawn_beginner(game, record, draw)
    if right_beginner not in {None, record.beginner}:
        found.append(Message(Misfit.BEGINNER, {"said": record.beginner, "found": right_beginner}))
    return tuple(found)


def _drawn_beginner(game: AnyGame, record: DealRecord, draw: Draw) -> Seat | None:
    """Who must have begun this deal; None where the deals before it decide, which one record cannot show."""
    options = game.complete_options(record.options)
    drawn = beginner_of(replace(draw, attempt=1), game.seats)  # the beginner of a redeal is the first attempt's (K3)
    if draw.deal == 1:
        return game.first_beginner(options, drawn)
    seats = [Seat(seat) for seat in range(game.seats)]
    nobody_won = Outcome("", (0,) * game.sides)
    always_drawn = all(
        game.next_beginner(options, before, nobody_won, seat) == seat for before in seats for seat in seats
    )
    return drawn if always_drawn else None
