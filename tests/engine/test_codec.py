"""Decoders and the registry: what a reader who knows a game only by its name is given."""

from __future__ import annotations

from random import Random

import msgspec
import pytest

from engine.codec import codec_of
from engine.game import AnyGame
from engine.match import MATCH_EVENTS, DealEnded
from engine.registry import GAMES, UnknownGame, game_named
from protocol.events import ROOM_EVENTS, HostIs
from tests.conformance.laws import encoded, random_match, shortest
from tests.toy import DUEL

EVERY_GAME = pytest.mark.parametrize("game", [*GAMES.values(), DUEL], ids=lambda game: game.name)


@EVERY_GAME
def test_events_of_the_game_the_match_and_whoever_else_is_named_are_told_apart(game: AnyGame) -> None:
    codec = codec_of(game, ROOM_EVENTS)
    happened = [HostIs(seat=1), DealEnded(1, "played", (1, 2), (3, 4))]
    for progress in random_match(game, shortest(game, game.complete_options({})), Random(4)):
        happened += progress.events
    assert [codec.event(encoded(event)) for event in happened] == happened
    assert {type(event) for event in happened} & {*game.event_types}
    assert {type(event) for event in happened} & {*MATCH_EVENTS}


@EVERY_GAME
def test_an_event_of_a_later_server_is_survived_and_a_broken_one_is_not(game: AnyGame) -> None:
    codec = codec_of(game)
    assert codec.event(b'{"e":"from-the-future","cards":["zz"]}') is None
    assert codec.event(encoded(HostIs(seat=1))) is None, "room events are others' unless they are asked for"
    for broken in (b"{}", b"[]", b'{"e":7}', b'{"e":null}', b'{"e":"deal-ended"}', b'{"e":"deal-', b"\xff", b""):
        with pytest.raises(msgspec.MsgspecError):
            codec.event(broken)


@EVERY_GAME
def test_known_events_may_grow(game: AnyGame) -> None:
    ended = DealEnded(1, "played", (1, 2), (3, 4))
    grown = msgspec.json.encode(msgspec.to_builtins(ended) | {"weather": "fair"})
    assert codec_of(game).event(grown) == ended


def test_decoders_are_built_once() -> None:
    assert codec_of(DUEL) is codec_of(DUEL)
    assert codec_of(DUEL, ROOM_EVENTS) is codec_of(DUEL, ROOM_EVENTS)
    assert codec_of(DUEL, ROOM_EVENTS) is not codec_of(DUEL)


def test_a_view_or_state_of_something_else_is_refused() -> None:
    for decode in (codec_of(DUEL).view, codec_of(DUEL).state):
        for wrong in (b"{}", b"null", b'{"seat":0', b"7"):
            with pytest.raises(msgspec.MsgspecError):
                decode(wrong)


def test_games_are_found_by_name_and_a_wrong_name_is_told_which_there_are() -> None:
    assert all(game_named(name) is game for name, game in GAMES.items())
    assert {"koi-koi", "go-stop", "hachinin-meri"} <= set(GAMES)
    with pytest.raises(UnknownGame) as unknown:
        game_named("gin")
    assert (unknown.value.name, unknown.value.known) == ("gin", tuple(GAMES))
