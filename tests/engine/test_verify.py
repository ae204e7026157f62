"""Verification: a record of an honest hall fits, and whatever is changed in it does not."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from engine.game import AnyGame, Seat
from engine.record import DealRecord, Fault, MalformedRecord
from engine.registry import GAMES
from engine.shuffle import Draw, beginner_of, deck_of
from engine.verify import Misfit, draw_in, fairness_of, misfits
from tests.conformance.laws import random_options, shortest
from tests.played import played_match
from tests.toy import DUEL

EVERY_GAME = pytest.mark.parametrize("game", [*GAMES.values(), DUEL], ids=lambda game: game.name)


def codes(game: AnyGame, record: DealRecord) -> list[str]:
    return [misfit.code for misfit in misfits(game, record)]


def with_fairness(record: DealRecord, **changes: Any) -> DealRecord:
    fairness = json.loads(bytes(record.extras["fairness"])) | changes
    return with_extra(record, "fairness", fairness)


def with_extra(record: DealRecord, key: str, value: Any) -> DealRecord:
    return replace(record, extras=record.extras | {key: Raw(json.dumps(value).encode())})


@pytest.fixture(params=[*GAMES.values(), DUEL], ids=lambda game: game.name)
def game(request: pytest.FixtureRequest) -> AnyGame:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def honest(game: AnyGame) -> DealRecord:
    return played_match(game, {}, Random(1))[0]


@pytest.mark.parametrize("seed", range(6))
def test_an_honest_match_fits(game: AnyGame, seed: int) -> None:
    rng = Random(seed)
    records = played_match(game, shortest(game, random_options(game, rng)), rng)
    assert [codes(game, record) for record in records] == [[] for _ in records]


def test_another_seed_fits_neither_commitment_nor_deck(game: AnyGame, honest: DealRecord) -> None:
    found = codes(game, with_fairness(honest, seed="5e" * 32))
    assert found[:2] == [Misfit.COMMITMENT, Misfit.DECK]


def test_a_seed_chosen_later_with_a_commitment_to_match_shows_in_the_deck(game: AnyGame, honest: DealRecord) -> None:
    draw, _ = draw_in(honest)
    other = fairness_of(replace(draw, seed=bytes(32)))
    assert Misfit.DECK in codes(game, with_fairness(honest, seed=other.seed, commitment=other.commitment))


def test_two_cards_changing_places_is_noticed_with_the_place(game: AnyGame, honest: DealRecord) -> None:
    first, second, *rest = honest.deck
    found = misfits(game, replace(honest, deck=(second, first, *rest)))
    assert [(each.code, each.params) for each in found] == [(Misfit.DECK, {"place": 1, "said": second, "found": first})]


@pytest.mark.parametrize(
    "change",
    [
        {"attempt": 2},
        {"contributions": []},
        {"contributions": [{"seat": 0, "value": "00" * 32}, {"seat": 1, "value": "00" * 32}]},
    ],
)
def test_other_contributions_or_another_attempt_make_another_deck(
    game: AnyGame, honest: DealRecord, change: dict[str, Any]
) -> None:
    assert Misfit.DECK in codes(game, with_fairness(honest, **change))


@pytest.mark.parametrize(("key", "value"), [("match", "another"), ("deal", 2)])
def test_a_deck_of_another_match_or_deal_is_noticed(game: AnyGame, honest: DealRecord, key: str, value: Any) -> None:
    found = codes(game, with_extra(honest, key, value))
    assert found[:2] == [Misfit.COMMITMENT, Misfit.DECK]


def test_another_commitment_is_noticed(game: AnyGame, honest: DealRecord) -> None:
    assert codes(game, with_fairness(honest, commitment="00" * 32)) == [Misfit.COMMITMENT]


def test_another_seat_that_begins_the_first_deal_is_noticed(game: AnyGame, honest: DealRecord) -> None:
    other = Seat((honest.beginner + 1) % game.seats)
    found = misfits(game, replace(honest, beginner=other))
    assert [(each.code, each.params) for each in found] == [
        (Misfit.BEGINNER, {"said": other, "found": honest.beginner})
    ]


def a_record(options: dict[str, Any], deal: int, attempt: int, beginner: int) -> DealRecord:
    """A record of Duel that is right in all but, perhaps, who begins."""
    draw = Draw("match", deal, attempt, bytes(32), ())
    record = DealRecord("duel", Seat(beginner), deck_of(draw, DUEL.cards), (), options)
    record = with_extra(with_extra(record, "match", "match"), "deal", deal)
    fairness = fairness_of(draw)
    return with_extra(
        record,
        "fairness",
        {"commitment": fairness.commitment, "contributions": [], "seed": fairness.seed, "attempt": attempt},
    )


@pytest.mark.parametrize("deal", range(2, 8))
def test_the_beginner_of_a_later_deal_is_verified_where_the_options_draw_it(deal: int) -> None:
    drawn = beginner_of(Draw("match", deal, 1, bytes(32), ()), 2)
    assert codes(DUEL, a_record({"next_first": "random"}, deal, 1, drawn)) == []
    assert codes(DUEL, a_record({"next_first": "random"}, deal, 1, 1 - drawn)) == [Misfit.BEGINNER]
    for ruled in ("alternating", "winner"):
        for beginner in (0, 1):
            assert codes(DUEL, a_record({"next_first": ruled}, deal, 1, beginner)) == []


@pytest.mark.parametrize("attempt", range(1, 6))
def test_the_beginner_of_a_redeal_is_the_one_drawn_for_the_first_attempt(attempt: int) -> None:
    drawn = beginner_of(Draw("match", 1, 1, bytes(32), ()), 2)
    assert codes(DUEL, a_record({}, 1, attempt, drawn)) == []
    assert codes(DUEL, a_record({}, 1, attempt, 1 - drawn)) == [Misfit.BEGINNER]


@pytest.mark.parametrize("missing", ["match", "deal", "fairness"])
def test_a_record_without_fairness_has_nothing_to_verify(game: AnyGame, honest: DealRecord, missing: str) -> None:
    extras = {key: value for key, value in honest.extras.items() if key != missing}
    with pytest.raises(MalformedRecord) as refused:
        misfits(game, replace(honest, extras=extras))
    assert refused.value.fault.code == Fault.NO_FAIRNESS
    assert refused.value.fault.params == {"missing": (missing,)}


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"seed": "00"}, "$.fairness.seed"),
        ({"seed": "0G" * 32}, "$.fairness.seed"),
        ({"seed": "AB" * 32}, "$.fairness.seed"),
        ({"seed": "00" * 32 + "\n"}, "$.fairness.seed"),
        ({"commitment": None}, "$.fairness.commitment"),
        ({"attempt": 0}, "$.fairness.attempt"),
        ({"attempt": 2**32}, "$.fairness.attempt"),
        ({"contributions": [{"seat": 0}]}, "$.fairness.contributions[0]"),
        ({"contributions": [{"seat": 0, "value": ""}]}, "$.fairness.contributions[0].value"),
        ({"contributions": [{"seat": seat, "value": "00" * 32} for seat in (1, 0)]}, "$.fairness.contributions"),
        ({"contributions": [{"seat": seat, "value": "00" * 32} for seat in (1, 1)]}, "$.fairness.contributions"),
    ],
)
def test_fairness_in_another_form_is_refused_with_the_path(changes: dict[str, Any], path: str) -> None:
    honest = played_match(DUEL, {}, Random(1))[0]
    with pytest.raises(MalformedRecord) as refused:
        misfits(DUEL, with_fairness(honest, **changes))
    assert refused.value.fault.code == Fault.BAD_FIELD
    assert refused.value.fault.params["path"] == path


def test_a_match_id_that_is_no_text_is_refused(honest: DealRecord, game: AnyGame) -> None:
    with pytest.raises(MalformedRecord) as refused:
        misfits(game, with_extra(honest, "match", 7))
    assert refused.value.fault.params["path"] == "$.match"
