"""What nobody may see: two worlds that differ only in hidden cards look alike, and every viewer is shown as many events
under the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from engine.game import AnyGame, Card, Seat, Viewer
from engine.match import MatchEvent
from engine.registry import GAMES
from protocol.events import RoomEvent, SeedRevealed
from protocol.messages import Act, ChosenSettings, Contribute, Leave, Turn
from server.entries import Actor, Published
from server.metrics import Metrics
from server.outbox import encoded
from server.room import Append, Phase, ai_moves, distinct, missed, move_for, next_due, question, shown, snapshot, turn
from server.room.state import HISTORY
from tests.server.roomkit import GAMES as TOYS
from tests.server.roomkit import Hall, accepted
from tests.server.test_room_commands import PLAIN_DECK, in_phase, playing

encode = msgspec.json.encode


def viewers(hall: Hall) -> list[Viewer]:
    return [None, *(Seat(seat) for seat in range(hall.game.seats))]


def seen(hall: Hall, viewer: Viewer) -> bytes:
    """Everything that ``viewer`` is ever shown of the room's events, numbers and present."""
    events = shown(hall.room, tuple(hall.events), viewer, games=hall.games)
    parts = [encode(list(events)), encode(snapshot(hall.room, viewer, games=hall.games))]
    if viewer is not None:
        parts.append(encode(turn(hall.room, viewer, hall.now, games=hall.games)))
    return b"\n".join(parts)


# Two worlds of Duel ----------------------------------------------------------------------------------------------


def world(deck: tuple[str, ...], answers: dict[int, str]) -> Hall:
    hall = Hall()
    hall.join("Bob", 1)
    hall.start()
    hall.deal_now(deck)
    for seat, answer in answers.items():
        hall.now += 10
        accepted(hall.act(seat, answer))
    return hall


def test_a_sealed_answer_cannot_be_told_from_another_or_from_none_by_anybody_else() -> None:
    silent, single, double = (world(PLAIN_DECK, answers) for answers in ({}, {1: "single"}, {1: "double"}))
    silent.now = single.now

    for viewer in (None, Seat(0)):
        assert seen(silent, viewer) == seen(single, viewer) == seen(double, viewer)
    assert silent.room.number == single.room.number == double.room.number
    assert next_due(silent.room) == next_due(single.room) == next_due(double.room)
    assert seen(single, Seat(1)) == seen(double, Seat(1)) != seen(silent, Seat(1))


def test_a_sealed_answer_is_acknowledged_alike_whatever_it_is() -> None:
    told = []
    for answer in ("single", "double"):
        hall = world(PLAIN_DECK, {})
        before = hall.room.number
        decided = hall.do(Act(id=hall.id_at(1), action=answer, at=hall.decision.at), 1)
        assert isinstance(decided, Append)
        told.append((hall.room.number - before, decided.seat, decided.token, len(hall.events)))

    assert told[0] == told[1]


def test_worlds_that_differ_in_the_other_hand_and_the_unseen_card_look_alike() -> None:
    one = world(("d2", "d4", "d3", "d5", "d1", "d6"), {})
    other = world(("d2", "d4", "d6", "d5", "d1", "d3"), {})

    for viewer in (None, Seat(0)):
        assert seen(one, viewer) == seen(other, viewer)
        assert question(one.room, Seat(0), games=TOYS) == question(other.room, Seat(0), games=TOYS)
    assert seen(one, Seat(1)) != seen(other, Seat(1))


def test_a_face_down_card_is_an_event_of_the_same_number_for_everybody() -> None:
    hall = playing()
    accepted(hall.act(0, "d2"))

    laid = [shown(hall.room, tuple(hall.events), viewer, games=TOYS)[-1] for viewer in (Seat(0), Seat(1), None)]

    assert [event.card for event in laid] == ["d2", None, None]


# Showing ---------------------------------------------------------------------------------------------------------


def test_what_hides_nothing_is_shown_as_the_same_object() -> None:
    hall = in_phase(Phase.FINISHED)
    public = tuple(event for event in hall.events if isinstance(event, RoomEvent | MatchEvent))

    assert shown(hall.room, public, None, games=TOYS) is public
    assert distinct(hall.room, public, viewers(hall), games=TOYS)[0].events is public


def test_viewers_who_are_shown_the_same_are_served_together() -> None:
    hall = playing()
    before = len(hall.events)
    accepted(hall.act(0, "d2"))
    laid = tuple(hall.events[before:])

    groups = distinct(hall.room, laid, [Seat(0), Seat(1), None, None], games=TOYS)

    assert [group.viewers for group in groups] == [(0,), (1, None, None)]


def test_missed_events_are_those_after_the_number_as_the_viewer_was_shown_them() -> None:
    hall = playing()
    accepted(hall.act(0, "d2"))
    after = hall.room.number - 3

    found = missed(hall.room, after, Seat(1), games=TOYS)

    assert found is not None
    assert found.first == after + 1
    assert found.events == shown(hall.room, tuple(hall.events), Seat(1), games=TOYS)[after:]
    up_to_date = missed(hall.room, hall.room.number, None, games=TOYS)
    assert up_to_date is not None
    assert up_to_date.events == ()


def test_who_has_seen_nothing_gets_a_snapshot_even_of_a_young_room() -> None:
    hall = Hall()

    assert missed(hall.room, 0, Seat(0), games=TOYS) is None
    assert missed(hall.room, 1, Seat(0), games=TOYS) is not None


def test_a_contribution_is_seen_by_nobody_before_all_are_fixed() -> None:
    hall = in_phase(Phase.SHUFFLING)
    before = {viewer: seen(hall, viewer) for viewer in viewers(hall)}

    hall.must(Contribute(id=hall.id_at(0), value="5a" * 32), 0)

    assert {viewer: seen(hall, viewer) for viewer in viewers(hall)} == before
    hall.fire()
    assert all(b"5a" * 32 in seen(hall, viewer) for viewer in viewers(hall))


def test_too_long_a_gap_a_number_from_the_future_and_a_newcomer_get_a_snapshot() -> None:
    hall = Hall(options={"deals": 3})
    hall.start()
    while hall.room.number <= HISTORY:
        hall.play_on()
        hall.drop(0)
        hall.resume(0)

    assert missed(hall.room, hall.room.number - HISTORY - 1, None, games=TOYS) is None
    assert missed(hall.room, hall.room.number - HISTORY, None, games=TOYS) is not None
    assert missed(hall.room, hall.room.number + 1, None, games=TOYS) is None
    assert missed(hall.room, 0, None, games=TOYS) is None


def test_a_snapshot_says_who_looks_and_gives_them_their_view() -> None:
    hall = playing()

    mine, theirs, public = (snapshot(hall.room, viewer, games=TOYS) for viewer in (Seat(0), Seat(1), None))

    assert (mine.you, theirs.you, public.you) == (0, 1, None)
    assert mine.view is not None
    assert public.view is not None
    assert b"d4" in bytes(mine.view)
    assert b"d4" not in bytes(public.view)
    assert mine.at == hall.room.number
    assert [seat.kind for seat in mine.seats] == ["person", "ai"]


def test_nothing_of_the_secret_part_of_the_room_is_in_any_snapshot() -> None:
    hall = in_phase(Phase.BETWEEN_DEALS)
    table = hall.room.table
    assert table is not None
    secrets = [seed.hex().encode() for seed in table.seeds[1:]]

    for viewer in viewers(hall):
        text = seen(hall, viewer)
        assert not any(secret in text for secret in secrets)
        assert table.seeds[0].hex().encode() in text


# Real games ------------------------------------------------------------------------------------------------------


def played(game: AnyGame, seed: str, *, persons: Iterable[str] = ()) -> Hall:
    """A match of ``game``, moved at random but alike for one seed."""
    hall = Hall(game, options={"deals": _fewest_deals(game)}, settings=ChosenSettings(turn_limit=10), seed=seed)
    for name in persons:
        hall.join(name)
    hall.start(str(game.levels[0]))
    for step in range(5_000):
        if hall.phase() is Phase.FINISHED:
            return hall
        if not hall.ai(pick=step):
            due = next_due(hall.room)
            assert due is not None
            hall.later(due - hall.now)
    raise AssertionError("the match does not end")


def _fewest_deals(game: AnyGame) -> int:
    return min(deals for deals in game.options["deals"] if isinstance(deals, int))


@pytest.mark.parametrize("name", sorted(GAMES))
def test_a_whole_match_runs_on_commands_clocks_and_ai_alone_and_replays_to_the_same_bytes(name: str) -> None:
    hall = played(GAMES[name], "whole", persons=["Bob"])

    assert hall.finished
    assert encode(hall.replayed()) == encode(hall.room)
    assert any(isinstance(event, SeedRevealed) for event in hall.events)
    with_clock = {fields for deal in hall.finished for fields in msgspec.json.decode(deal.record)["acted"]}
    assert with_clock <= {str(actor) for actor in Actor}


@pytest.mark.parametrize("name", sorted(GAMES))
def test_what_a_viewer_was_shown_makes_their_view_at_every_entry(name: str) -> None:
    """The view of the snapshot is a fold of the redacted events: reconnecting and staying show the same."""
    game = GAMES[name]
    live = Hall(game, options={"deals": _fewest_deals(game)}, seed="views")
    live.start(str(game.levels[0]))
    views: dict[Viewer, Any] = dict.fromkeys(viewers(live))
    events_seen = 0
    for step in range(5_000):
        for event in live.events[events_seen:]:
            if isinstance(event, RoomEvent | MatchEvent):
                continue
            for viewer, view in views.items():
                (redacted,) = shown(live.room, (event,), viewer, games=live.games)
                views[viewer] = game.observe(None if _begins(event, game) else view, redacted, viewer)
        events_seen = len(live.events)
        if live.room.table is not None and live.room.table.match.state is not None and step % 7 == 0:
            for viewer, view in views.items():
                assert bytes(snapshot(live.room, viewer, games=live.games).view or b"") == encode(view)
        if live.phase() is Phase.FINISHED:
            return
        due = next_due(live.room)
        assert due is not None
        if not live.ai(pick=step):
            live.later(due - live.now)
    raise AssertionError("the match does not end")


def _begins(event: Any, game: AnyGame) -> bool:
    return isinstance(event, game.event_types[0])


def test_H10_two_worlds_that_differ_in_who_holds_the_robai_are_alike_until_the_answers_are_published() -> None:
    """The same seats ask, answer and wait; only the holder can be told apart, and only by the holder."""
    game = GAMES["hachinin-meri"]
    holder, other = Seat(2), Seat(5)
    deck = list(game.cards)

    def swap(place: int, card: str) -> None:
        at = deck.index(Card(card))
        deck[place], deck[at] = deck[at], deck[place]

    def first_card_of(seat: Seat) -> int:
        return 3 * ((seat - 1) % game.seats)  # the dealer is seat 0; three cards each from the dealer's left (H8)

    swap(72, "K5")  # the Okie makes Koppu trump (H9)
    swap(first_card_of(holder), "Kro")
    swap(first_card_of(other), "P4")
    worlds = []
    for robai in (holder, other):
        swap(first_card_of(robai), "Kro")
        hall = Hall(game, options={"deals": 1})
        for name in ("Bob", "Cid", "Dan", "Eva", "Fay", "Gus", "Hal"):
            hall.join(name)
        hall.start()
        hall.deal_now(deck)
        worlds.append(hall)
    legal = [[turn(hall.room, Seat(seat), hall.now, games=hall.games) for seat in range(8)] for hall in worlds]
    may_declare = [[seat for seat, asked in enumerate(each) if asked and "declare" in asked.legal] for each in legal]
    assert may_declare == [[holder], [other]]

    for hall, seats in zip(worlds, may_declare, strict=True):
        for seat in range(8):
            hall.now += 100
            accepted(hall.act(seat, "declare" if seat in seats else "pass"))

    one, two = worlds
    assert one.room.number == two.room.number
    assert next_due(one.room) == next_due(two.room)
    assert seen(one, None) == seen(two, None)
    assert [entry.at for entry in one.entries] == [entry.at for entry in two.entries]
    for hall in worlds:
        hall.publish()
        (published,) = [entry for entry in hall.entries if isinstance(entry.body, Published)]
        assert published.at == hall.now


def test_an_ais_question_is_the_seats_view_and_legal_actions_and_nothing_else() -> None:
    hall = playing()
    accepted(hall.act(0, "d2"))
    (move,) = ai_moves(hall.room)

    asked = question(hall.room, move.seat, games=TOYS)

    assert asked.view == bytes(snapshot(hall.room, move.seat, games=TOYS).view or b"")
    assert b"d2" not in asked.view
    assert b"d6" not in asked.view
    assert asked.legal == ("d3", "d5")


def test_an_ai_does_not_move_while_nobody_is_left_even_if_it_was_asked_before() -> None:
    hall = playing()
    accepted(hall.act(0, "d2"))
    (move,) = ai_moves(hall.room)
    hall.must(Leave(id=hall.id_at(0)), 0)

    assert move_for(hall.room, move, "d3", Actor.AI, hall.now, games=TOYS) is None


# What travels ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_the_length_of_a_turn_tells_nobody_on_the_way_what_a_hand_may_do(name: str) -> None:
    """Above all not who holds the Robai, and has more to choose from than all others (H10)."""
    hall = Hall(
        GAMES[name], settings=ChosenSettings(turn_limit=30), options={"deals": min(GAMES[name].options["deals"])}
    )
    for seat in range(1, hall.game.seats):
        hall.join(f"Guest {seat}", seat)
    hall.start()
    hall.later(hall.room.timing.contributions_ms)
    plain, sent = set(), set()
    while hall.phase() is Phase.PLAYING:
        for seat in hall.decision.seats:
            asked = turn(hall.room, seat, hall.now, games=hall.games)
            assert asked is not None
            plain.add(len(encode(asked)))
            frame = encoded(asked, Metrics())
            assert msgspec.json.decode(frame.payload, type=Turn) == asked
            sent.add(len(frame.frame))
        if hall.decision.sealed:
            hall.publish()
        else:
            hall.act(hall.decision.seats[0])

    assert len(plain) > 3
    assert len(sent) == 1
