from __future__ import annotations

from typing import Any

import msgspec
import pytest

from clients.cli import fairness
from clients.cli import session as s
from clients.cli.fairness import Finding
from clients.cli.session import AnyUpdate, Session
from engine.game import AnyGame
from engine.registry import GAMES
from engine.shuffle import NO_CONTRIBUTION
from protocol.codes import Close, Notified, Refused
from protocol.events import RoomClosed, Said, SeatAway, WhyClosed
from protocol.messages import (
    Accepted,
    Act,
    AnyServerMessage,
    Contribute,
    Create,
    Events,
    Join,
    Leave,
    Look,
    Mute,
    Ready,
    RefusedMessage,
    Resume,
    SeatInfo,
    Start,
    Watch,
)
from tests.cli.hall import CODE, Hall, notice

KOI_KOI = GAMES["koi-koi"]
MERI = GAMES["hachinin-meri"]


class Pair:
    """A session and a hall with a perfect line between them, unless a test takes messages out of it."""

    def __init__(self, game: AnyGame = KOI_KOI, **options: Any) -> None:
        self.hall = Hall(game, options=options, seed=5)
        self.session = Session("x" * 20, lambda size: bytes(range(size)))
        self.updates: list[AnyUpdate] = []

    def say(self, messages: list[AnyServerMessage]) -> list[AnyUpdate]:
        """The hall says ``messages``; what the session sends because of them is answered, and so on."""
        new: list[AnyUpdate] = []
        for message in messages:
            new += self.session.feed(msgspec.json.decode(msgspec.json.encode(message), type=type(message)))
        self.updates += new
        return new + self.flush()

    def flush(self) -> list[AnyUpdate]:
        new: list[AnyUpdate] = []
        while commands := self.session.to_send():
            for command in commands:
                new += self.say(self.hall.receive(command))
        return new

    def sit_down(self) -> None:
        self.session.ask(Create, game=self.hall.game.name, name="Aki")
        self.say(self.hall.hello())

    def start(self) -> None:
        self.sit_down()
        self.session.ask(Start)
        self.flush()

    def reconnect(self) -> list[AnyUpdate]:
        return self.say(self.hall.hello())

    def of(self, kind: type[AnyUpdate]) -> list[Any]:
        return [update for update in self.updates if isinstance(update, kind)]


def play_on(pair: Pair) -> None:
    """Always the first legal move, until the match is over."""
    for _ in range(2_000):
        picture = pair.session.picture
        assert picture is not None
        if pair.session.turn is not None:
            pair.session.act(pair.session.turn.legal[0])
        elif picture.phase == "between-deals":
            pair.session.ask(Ready)
        else:
            return
        pair.flush()


@pytest.mark.parametrize("name", GAMES)
def test_a_whole_match_keeps_the_very_view_that_the_server_has(name: str) -> None:
    pair = Pair(GAMES[name])
    pair.start()
    while pair.session.turn is not None or pair.session.picture.phase == "between-deals":  # type: ignore[union-attr]
        match = pair.hall.match
        assert match is not None
        assert pair.session.picture is not None
        assert pair.session.picture.view == pair.hall.game.view(match.state, pair.hall.you)
        assert pair.session.picture.match is not None
        assert pair.session.picture.match.totals == match.totals
        if pair.session.turn is None:
            break
        pair.session.act(pair.session.turn.legal[-1])
        pair.flush()
    play_on(pair)
    assert pair.session.picture is not None
    assert pair.session.picture.phase == "finished"
    numbers = [update.number for update in pair.of(s.Happened)]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert not pair.of(s.NotDone)


@pytest.mark.parametrize("name", GAMES)
def test_every_deal_of_an_honest_server_is_found_fair(name: str) -> None:
    pair = Pair(GAMES[name])
    pair.start()
    play_on(pair)
    found = [update.found.finding for update in pair.of(s.Checked)]
    assert found == [Finding.FAIR] * GAMES[name].options["deals"][0]  # type: ignore[operator]


def test_the_contribution_is_sent_when_a_match_is_opened() -> None:
    pair = Pair()
    pair.start()
    given = [command for command in pair.hall.commands if isinstance(command, Contribute)]
    assert [each.value for each in given] == [bytes(range(32)).hex()]


def test_ids_carry_the_random_part_and_count_up() -> None:
    session = Session("r" * 20, bytes)
    assert [session.ask(Look).id, session.ask(Look).id] == ["r" * 20 + ".1", "r" * 20 + ".2"]


def test_nothing_goes_out_before_the_server_has_introduced_itself() -> None:
    session = Session("r" * 20, bytes)
    session.ask(Join, code=CODE, name="Aki")
    assert session.to_send() == ()


def test_who_is_in_no_room_may_ask_for_one_at_once() -> None:
    pair = Pair()
    pair.say(pair.hall.hello())
    pair.session.ask(Create, game="koi-koi", name="Aki")
    assert [type(command) for command in pair.session.to_send()] == [Create]


def test_a_command_is_handed_out_once() -> None:
    pair = Pair()
    pair.sit_down()
    pair.session.ask(Look)
    assert len(pair.session.to_send()) == 1
    assert pair.session.to_send() == ()


# Lost connections -----------------------------------------------------------------------------------------


def test_a_move_whose_answer_was_lost_is_sent_again_under_its_old_id_and_done_once() -> None:
    pair = Pair()
    pair.start()
    assert pair.session.turn is not None
    move = pair.session.act(pair.session.turn.legal[0])
    (sent,) = pair.session.to_send()
    pair.hall.receive(sent)  # done, but nothing of it arrives
    pair.session.disconnected(None)
    pair.reconnect()
    repeats = [command for command in pair.hall.commands if isinstance(command, Act)]
    assert [command.id for command in repeats] == [move.id, move.id]
    assert pair.of(s.Done)[-1].command == move
    assert pair.hall.match is not None
    assert pair.session.picture is not None
    assert pair.session.picture.view == pair.hall.game.view(pair.hall.match.state, pair.hall.you)


def test_a_move_that_never_arrived_is_done_after_the_reconnection() -> None:
    pair = Pair()
    pair.start()
    assert pair.session.turn is not None
    move = pair.session.act(pair.session.turn.legal[0])
    pair.session.to_send()
    pair.session.disconnected(1006)
    pair.reconnect()
    assert [command.id for command in pair.hall.commands if isinstance(command, Act)] == [move.id]
    assert pair.of(s.Done)[-1].command == move


def test_the_seat_is_resumed_first_with_the_newest_token_and_the_last_number() -> None:
    pair = Pair()
    pair.start()
    assert pair.session.turn is not None
    assert pair.session.place is not None
    assert pair.session.picture is not None
    token, at = pair.session.place.token, pair.session.picture.at
    pair.session.act(pair.session.turn.legal[0])
    pair.session.to_send()
    pair.session.disconnected(1006)
    pair.session.feed(pair.hall.hello()[0])
    (first,) = pair.session.to_send()
    assert isinstance(first, Resume)
    assert (first.token, first.after) == (token, at)
    pair.say(pair.hall.receive(first))
    assert pair.session.place.token != token


def test_once_back_in_the_seat_commands_go_out_at_once_again() -> None:
    pair = Pair()
    pair.sit_down()
    pair.session.disconnected(1006)
    pair.reconnect()
    pair.session.ask(Look)
    assert [type(command) for command in pair.session.to_send()] == [Look]


def test_a_create_whose_answer_was_lost_is_repeated_as_it_was() -> None:
    pair = Pair()
    asked = pair.session.ask(Create, game="koi-koi", name="Aki")
    pair.session.feed(pair.hall.hello()[0])
    pair.session.to_send()
    pair.session.disconnected(None)
    pair.session.feed(pair.hall.hello()[0])
    assert pair.session.to_send() == (asked,)


def test_a_mute_of_ones_own_is_in_the_picture_though_no_event_tells_of_it() -> None:
    pair = Pair()
    pair.hall.seats[1] = SeatInfo(kind="person", name="Bea")
    pair.sit_down()
    for on in (True, False):
        pair.session.ask(Mute, seat=1, on=on)
        pair.flush()

        assert pair.session.picture is not None
        assert [seat.muted for seat in pair.session.picture.seats] == [False, on]


def test_a_spectator_comes_back_by_watching_again() -> None:
    pair = Pair()
    pair.session.ask(Watch, code=CODE)
    pair.say(pair.hall.hello())
    pair.session.disconnected(1006)
    pair.reconnect()
    assert sum(isinstance(command, Watch) for command in pair.hall.commands) == 2
    assert pair.session.picture is not None


def test_a_seat_that_cannot_be_resumed_ends_the_session_and_says_why() -> None:
    pair = Pair()
    pair.sit_down()
    pair.session.disconnected(1006)
    pair.hall.refuse_next = RefusedMessage(id=None, code=Refused.BAD_TOKEN)
    pair.reconnect()
    assert pair.session.ended == s.Ended(s.End.PLACE_LOST, {"code": Refused.BAD_TOKEN})


# What arrives ---------------------------------------------------------------------------------------------


def test_events_told_twice_happen_once() -> None:
    pair = Pair()
    pair.sit_down()
    news = pair.hall.happen(SeatAway(seat=0, grace_ms=1))
    pair.say(news)
    assert not pair.say(news)


def test_a_gap_asks_for_the_whole_table_and_shows_nothing_of_what_came_after_it() -> None:
    pair = Pair()
    pair.sit_down()
    pair.hall.happen(SeatAway(seat=0, grace_ms=1))  # lost on the way
    updates = pair.say(pair.hall.happen(SeatAway(seat=0, grace_ms=2)))
    assert updates[0] == s.Missed(expected=2, came=3)
    assert [type(update) for update in updates[1:]] == [s.Done, s.Refreshed]
    assert pair.session.picture is not None
    assert pair.session.picture.at == 3
    assert sum(isinstance(command, Look) for command in pair.hall.commands) == 1


def _unheard(updates: list[AnyUpdate]) -> list[list[str | None]]:
    return [[line.text for line in update.chat] for update in updates if isinstance(update, s.Refreshed)]


def test_what_was_said_before_comes_with_the_whole_table_once_and_in_order() -> None:
    pair = Pair()
    pair.hall.events += [Said(seat=0, by=1, text="one"), Said(seat=0, by=1, text="two")]
    pair.sit_down()
    assert _unheard(pair.updates) == [["one", "two"]]

    pair.say(pair.hall.happen(Said(seat=0, by=1, text="three")))
    pair.hall.happen(Said(seat=0, by=1, text="four"))  # lost on the way
    again = pair.say(pair.hall.happen(Said(seat=0, by=1, text="five")))
    assert _unheard(again) == [["four", "five"]]

    pair.session.ask(Look)
    assert _unheard(pair.flush()) == [[]]


def test_what_another_said_under_a_number_that_the_store_lost_is_heard() -> None:
    pair = Pair()
    pair.sit_down()
    pair.say(pair.hall.happen(Said(seat=0, by=1, text="lost")))
    pair.hall.events[-1] = Said(seat=0, by=2, text="new")
    pair.session.ask(Look)
    assert _unheard(pair.flush()) == [["new"]]


def test_an_event_of_a_later_server_is_counted_and_skipped() -> None:
    pair = Pair()
    pair.sit_down()
    (update,) = pair.say(pair.hall.happen(msgspec.Raw(b'{"e":"fireworks","colour":"red"}')))
    assert isinstance(update, s.Happened)
    assert update.event is None
    assert update.after.at == update.before.at + 1


def test_a_message_of_a_later_server_is_skipped() -> None:
    assert Session("r" * 20, bytes).feed(None) == []


def test_a_known_event_with_impossible_fields_is_no_event() -> None:
    pair = Pair()
    pair.sit_down()
    with pytest.raises(msgspec.ValidationError):
        pair.session.feed(Events(first=2, events=(msgspec.Raw(b'{"e":"seat-back","seat":"x"}'),)))


def test_a_refused_move_leaves_the_decision_open() -> None:
    pair = Pair()
    pair.start()
    turn = pair.session.turn
    pair.session.act("03r*12p")
    updates = pair.flush()
    assert isinstance(updates[0], s.NotDone)
    assert pair.session.turn == turn
    assert pair.session.answering is None


def test_a_move_on_its_way_is_known_as_such_until_it_is_answered() -> None:
    pair = Pair()
    pair.start()
    assert pair.session.turn is not None
    move = pair.session.act(pair.session.turn.legal[0])
    assert pair.session.answering == move
    pair.flush()
    assert pair.session.answering is None


def test_a_sealed_answer_closes_the_decision_although_nothing_has_happened() -> None:
    session = Session("r" * 20, bytes)
    pair = Pair(MERI)
    pair.start()
    session = pair.session
    assert session.turn is not None
    assert session.turn.sealed
    move = session.act("pass")
    session.to_send()
    assert session.feed(Accepted(id=move.id)) == [s.Done(move, Accepted(id=move.id))]
    assert session.turn is None


def test_a_default_action_taken_for_us_closes_the_decision() -> None:
    pair = Pair()
    pair.start()
    assert pair.session.turn is not None
    assert pair.hall.turn() is not None
    twin = Act(id="y" * 20 + ".1", action=pair.session.turn.legal[0], at=pair.session.turn.at)
    said = [message for message in pair.hall.receive(twin) if isinstance(message, Events)]
    pair.say(list(said))
    assert pair.session.turn is None


def test_a_room_event_leaves_the_decision_open() -> None:
    pair = Pair()
    pair.start()
    pair.say(pair.hall.happen(SeatAway(seat=1, grace_ms=1)))
    assert pair.session.turn is not None


@pytest.mark.parametrize("code", [Refused.STORE_UNAVAILABLE, Refused.TOO_FAST, Refused.DRAINING])
def test_what_cannot_be_done_now_is_sent_again_under_the_same_id(code: Refused) -> None:
    pair = Pair()
    pair.start()
    assert pair.session.turn is not None
    move = pair.session.act(pair.session.turn.legal[0])
    pair.hall.refuse_next = RefusedMessage(id=None, code=code, params={"retry_ms": 70})
    updates = pair.flush()
    assert updates == [s.Delayed(move, code, 70)]
    pair.session.again(move.id)
    pair.flush()
    assert pair.of(s.Done)[-1].command == move


def test_a_store_that_lost_its_newest_entries_is_noticed() -> None:
    pair = Pair()
    pair.start()
    assert pair.session.picture is not None
    had = pair.session.picture.at
    snapshot = msgspec.structs.replace(pair.hall.snapshot(), at=had - 2)
    assert s.TurnedBack(had=had, has=had - 2) in pair.say([snapshot])


def test_a_room_of_an_unknown_game_ends_the_session() -> None:
    pair = Pair()
    snapshot = msgspec.structs.replace(pair.hall.snapshot(), game="bridge")
    assert pair.say([snapshot]) == [s.Ended(s.End.UNKNOWN_GAME, {"game": "bridge"})]


# Ends -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "end"),
    [
        (Close.SUPERSEDED, s.End.SUPERSEDED),
        (Close.REMOVED, s.End.REMOVED),
        (Close.ROOM_CLOSED, s.End.ROOM_CLOSED),
        (Close.TOO_MANY_STRIKES, s.End.TOO_MANY_STRIKES),
    ],
)
def test_named_close_codes_end_the_session(code: Close, end: s.End) -> None:
    pair = Pair()
    pair.sit_down()
    assert pair.session.disconnected(code) == [s.Ended(end)]


@pytest.mark.parametrize("code", [None, 1001, Close.SERVICE_RESTART, 1013, Close.IDLE])
def test_all_other_closes_are_a_lost_connection(code: int | None) -> None:
    pair = Pair()
    pair.sit_down()
    assert pair.session.disconnected(code) == []
    assert pair.session.ended is None


def test_superseded_is_told_and_ends_the_session_once() -> None:
    pair = Pair()
    pair.sit_down()
    updates = pair.say(notice(Notified.SUPERSEDED))
    assert updates == [s.Told(Notified.SUPERSEDED, {}), s.Ended(s.End.SUPERSEDED)]
    assert pair.session.disconnected(Close.SUPERSEDED) == []


def test_a_closed_room_ends_the_session() -> None:
    pair = Pair()
    pair.sit_down()
    pair.say(pair.hall.happen(RoomClosed(why=WhyClosed.IDLE)))
    assert pair.session.ended == s.Ended(s.End.ROOM_CLOSED)


def test_leaving_ends_the_session_when_it_is_accepted() -> None:
    pair = Pair()
    pair.sit_down()
    pair.session.ask(Leave)
    assert pair.session.ended is None
    pair.flush()
    assert pair.session.ended == s.Ended(s.End.LEFT)


# The shuffle ----------------------------------------------------------------------------------------------


def findings(pair: Pair) -> set[Finding]:
    return {update.found.finding for update in pair.of(s.Checked)}


@pytest.mark.parametrize("name", GAMES)
def test_a_deck_that_is_not_the_committed_one_is_found_out(name: str) -> None:
    pair = Pair(GAMES[name], deals=1)
    pair.hall.swap_cards = True
    pair.start()
    play_on(pair)
    assert findings(pair) == {Finding.DECK_DIFFERS}


def test_a_seed_that_is_not_the_committed_one_is_found_out() -> None:
    pair = Pair()
    pair.hall.lie_about_seed = True
    pair.start()
    play_on(pair)
    assert findings(pair) == {Finding.COMMITMENT_BROKEN}


def test_commitments_that_change_are_found_out() -> None:
    pair = Pair(deals=3)
    pair.start()
    pair.hall.seeds[3] = bytes(32)
    pair.session.ask(Look)
    pair.flush()
    assert findings(pair) == {Finding.COMMITMENT_CHANGED}


@pytest.mark.parametrize(
    ("mixed_in", "finding"),
    [("ab" * 32, Finding.CONTRIBUTION_CHANGED), (NO_CONTRIBUTION.hex(), Finding.CONTRIBUTION_MISSED)],
)
def test_a_contribution_that_was_not_mixed_in_is_found_out(mixed_in: str, finding: Finding) -> None:
    pair = Pair()
    pair.sit_down()
    pair.session.ask(Start)
    for command in pair.session.to_send():
        for message in pair.hall.receive(command):
            pair.session.feed(message)
    (given,) = pair.session.to_send()
    assert isinstance(given, Contribute)
    pair.say(pair.hall.receive(msgspec.structs.replace(given, value=mixed_in)))
    assert findings(pair) == {finding}


@pytest.mark.parametrize("name", GAMES)
def test_a_first_beginner_who_was_not_drawn_is_found_out(name: str) -> None:
    pair = Pair(GAMES[name], deals=1)
    pair.hall.shift_beginner = True
    pair.start()
    play_on(pair)
    assert findings(pair) == {Finding.BEGINNER_DIFFERS}


def test_a_beginner_whose_turn_it_is_not_is_found_out_in_later_deals_too() -> None:
    pair = Pair(MERI)
    pair.start()
    pair.hall.shift_beginner = True
    play_on(pair)
    found = [update.found.finding for update in pair.of(s.Checked)]
    assert found[0] is Finding.FAIR
    assert set(found[1:]) == {Finding.BEGINNER_DIFFERS}


def test_a_deal_with_too_many_explanations_is_vouched_for_as_far_as_its_opening(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fairness, "SEARCH_LIMIT", 1)
    pair = Pair(deals=1)
    pair.start()
    play_on(pair)
    assert findings(pair) == {Finding.OPENING_ONLY}


def test_a_deal_that_was_not_seen_from_its_start_is_not_vouched_for() -> None:
    pair = Pair()
    pair.start()
    pair.session.ask(Look)
    pair.flush()
    play_on(pair)
    assert findings(pair) == {Finding.UNSEEN}


def test_the_stock_is_checked_too_not_the_opening_alone() -> None:
    """A server that deals honestly and then chooses which stock card turns up."""
    pair = Pair()
    pair.start()
    match = pair.hall.match
    assert match is not None
    stock = match.state.stock
    cheated = msgspec.structs.replace(match.state, stock=(*stock[1:], stock[0]))
    pair.hall.match = msgspec.structs.replace(match, state=cheated)
    play_on(pair)
    assert findings(pair) == {Finding.DECK_DIFFERS}
