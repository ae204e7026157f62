"""What is secret is of types that cannot be sent: not by mistake, whatever is passed to where."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from engine.game import Seat
from engine.registry import GAMES
from protocol.messages import Events
from server import audience
from server import room as rooms
from server.metrics import Metrics
from server.outbox import encoded
from server.room import Phase
from tests.server.roomkit import Hall


def playing(name: str) -> Hall:
    """A deal that is being played."""
    hall = Hall(GAMES[name], options={"deals": min(map(int, GAMES[name].options["deals"]))}, seed="types")
    hall.start("easy")
    while hall.phase() is not Phase.PLAYING:
        hall.later((rooms.next_due(hall.room) or hall.now) - hall.now)
    return hall


def secrets_of(hall: Hall) -> list[Any]:
    """Everything that holds cards, seeds or tokens of others."""
    assert hall.room.table is not None
    match = hall.room.table.match
    person = rooms.person_at(hall.room, Seat(0))
    return [hall.room, hall.room.table, match, match.state, person, hall.entries[-1], hall.entries[-1].body]


@pytest.mark.parametrize("name", sorted(GAMES))
def test_what_is_secret_cannot_be_sent_as_a_message_or_an_event(name: str) -> None:
    for secret in secrets_of(playing(name)):
        with pytest.raises(AssertionError, match="nothing to send"):
            encoded(secret, Metrics())
        with pytest.raises(AssertionError, match="is no event"):
            audience._raw([secret])


@pytest.mark.parametrize("name", sorted(GAMES))
def test_a_game_that_hands_out_its_state_as_a_view_is_stopped(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hall = playing(name)
    monkeypatch.setattr(type(GAMES[name]), "view", lambda _game, state, _viewer: state)

    for viewer in (None, Seat(0)):
        with pytest.raises(AssertionError, match="State is no view"):
            rooms.snapshot(hall.room, viewer)
    with pytest.raises(AssertionError, match="State is no view"):
        rooms.question(hall.room, Seat(0))


@pytest.mark.parametrize("name", sorted(GAMES))
def test_what_is_shown_can_be_sent(name: str) -> None:
    hall = playing(name)

    events = audience._raw(rooms.shown(hall.room, tuple(hall.events), None))

    assert encoded(Events(first=1, events=events), Metrics()).payload
    assert encoded(rooms.snapshot(hall.room, None), Metrics()).payload
    assert msgspec.json.decode(rooms.question(hall.room, Seat(0)).view)
