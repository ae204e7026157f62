"""Talk at the table: lines, winks, mutes and the lock, and who may read what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from engine.game import Seat, Viewer
from engine.registry import GAMES
from protocol.codes import Refused
from protocol.events import RoomLock, Said, SeatMuted, SeatNamed, SeatTaken, Signal, Winked
from protocol.limits import MAX_LINE
from protocol.messages import Chat, ChosenSettings, ClearSeat, Join, Leave, Lock, Move, Mute, SeatAi, Wink
from server.room import Append, Phase, Refuse, Repeat, missed, open_room, shown, snapshot, summary
from server.room.measure import HOUSEKEEPING, TALK
from server.room.state import HISTORY
from server.room.talking import LINES_KEPT
from tests.server.roomkit import Hall, happened, refused

MERI = GAMES["hachinin-meri"]


def say(hall: Hall, seat: int, text: str) -> Any:
    return hall.do(Chat(id=hall.id_at(seat), text=text), seat)


def mute(hall: Hall, seat: int, other: int, *, on: bool = True, everyone: bool = False) -> Any:
    return hall.do(Mute(id=hall.id_at(seat), seat=other, on=on, everyone=everyone), seat)


def read(hall: Hall, viewer: int | None) -> list[str | None]:
    """What ``viewer`` reads of all that was said: live and of a missed stretch alike, and in the snapshot."""
    at = None if viewer is None else Seat(viewer)
    events = happened(shown(hall.room, tuple(hall.events), at, games=hall.games), Said)
    texts = [event.text for event in events]
    lines = [line.text for line in snapshot(hall.room, at, games=hall.games).chat]
    assert lines == texts[-LINES_KEPT:]
    return texts


@pytest.fixture
def table() -> Hall:
    """Ann (host), Bob, and nobody else, before a match."""
    hall = Hall()
    hall.join("Bob", 1)
    return hall


# Lines -----------------------------------------------------------------------------------------------------------


def test_a_line_is_a_numbered_event_for_everybody_and_names_its_speaker(table: Hall) -> None:
    decided = say(table, 1, "  Hello\u202e  there ")

    assert isinstance(decided, Append)
    (event,) = happened(table.events, Said)
    taken = [number for number, each in enumerate(table.events, 1) if isinstance(each, SeatTaken) and each.seat == 1]
    assert event == Said(seat=1, by=taken[0], text="Hello there")
    assert read(table, 0) == read(table, 1) == read(table, None) == ["Hello there"]
    (line,) = snapshot(table.room, None, games=table.games).chat
    assert (line.at, line.seat, line.by, line.name) == (table.room.number, 1, event.by, "Bob")


@pytest.mark.parametrize("text", ["\u200b", "\u202e\u2066", "x" * (MAX_LINE + 1)])
def test_a_line_of_nothing_or_too_much_is_refused(table: Hall, text: str) -> None:
    assert say(table, 0, text) == Refuse(Refused.BAD_LINE, {"limit": MAX_LINE})


def test_a_room_opened_without_chat_has_none() -> None:
    hall = Hall(settings=ChosenSettings(chat=False))

    assert say(hall, 0, "Hello") == Refuse(Refused.SWITCHED_OFF, {"setting": "chat"})


def test_a_person_says_only_so_much_at_a_time_whatever_connection_it_comes_over(table: Hall) -> None:
    for number in range(TALK.burst):
        table.now += 1
        assert isinstance(say(table, 1, str(number)), Append)
    table.drop(1)
    table.resume(1)

    assert say(table, 1, "more") == Refuse(Refused.TOO_FAST, {"retry_ms": TALK.window_ms - TALK.burst + 1})
    assert isinstance(say(table, 0, "I may"), Append)
    table.now += TALK.window_ms - TALK.burst
    assert refused(say(table, 1, "more")) == Refused.TOO_FAST
    table.now += 1
    assert isinstance(say(table, 1, "more"), Append)


def test_of_much_talk_the_last_lines_are_kept(table: Hall) -> None:
    for number in range(HISTORY):
        table.now += TALK.window_ms
        say(table, number % 2, str(number))

    assert read(table, 0) == [str(number) for number in range(HISTORY)]
    assert len(table.room.chat) == LINES_KEPT


def test_no_record_of_a_deal_has_what_was_said() -> None:
    hall = Hall()
    say(hall, 0, "remember this")
    hall.start()
    hall.play_on()

    assert hall.finished
    assert not any(b"remember this" in deal.record for deal in hall.finished)


def test_hachinin_meri_is_played_in_silence_but_between_deals_all_may_talk() -> None:
    hall = Hall(MERI, options={"deals": 2})
    assert isinstance(say(hall, 0, "before"), Append)
    hall.start("easy")
    hall.deal_now()
    assert say(hall, 0, "hush") == Refuse(Refused.NOT_NOW, {"phase": "playing"})
    while hall.phase() is Phase.PLAYING:
        if not hall.ai():
            hall.act(0) if not hall.decision.sealed else hall.publish()
        if hall.phase() is Phase.PLAYING:
            assert refused(say(hall, 0, "hush")) == Refused.NOT_NOW
    hall.now += TALK.window_ms

    assert hall.phase() is Phase.BETWEEN_DEALS
    assert isinstance(say(hall, 0, "well played"), Append)


def test_other_games_allow_talk_while_a_deal_is_played(table: Hall) -> None:
    table.start()
    table.deal_now()

    assert isinstance(say(table, 1, "hm"), Append)


# Names -----------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["a silent game", "a room without chat"])
def silent(request: pytest.FixtureRequest) -> Hall:
    """Ann, and AI; a deal is played in which nobody may say anything."""
    if request.param == "a silent game":
        hall = Hall(MERI, options={"deals": 2})
    else:
        hall = Hall(settings=ChosenSettings(chat=False), options={"deals": 3})
    hall.start("easy")
    hall.deal_now()
    return hall


def end_deal(hall: Hall) -> None:
    while hall.phase() is Phase.PLAYING:
        if not hall.ai():
            if hall.decision.sealed:
                hall.publish()
            else:
                (seat,) = hall.decision.seats
                hall.act(seat)


def names(hall: Hall, viewer: int | None) -> list[str | None]:
    """What ``viewer`` reads at the seats of persons."""
    at = None if viewer is None else Seat(viewer)
    return [info.name for info in snapshot(hall.room, at, games=hall.games).seats if info.kind == "person"]


def test_no_name_is_told_while_nobody_may_say_anything_and_it_is_when_the_deal_is_over(silent: Hall) -> None:
    message = "I hold Kro, lead K"
    seat = silent.join(message, 1)

    for viewer in (None, 0, 1):
        at = None if viewer is None else Seat(viewer)
        told = shown(silent.room, tuple(silent.events), at, games=silent.games)
        assert happened(told, SeatTaken)[-1] == SeatTaken(seat=1, name=None)
        assert names(silent, viewer) == ["Ann", None]
    assert not any(message in repr(event) for event in silent.events)
    silent.must(Leave(id=silent.id_at(0)), 0)
    assert (silent.room.host, summary(silent.room).host) == (1, "")
    silent.join("Ann", 0)
    assert not happened(silent.events, SeatNamed)

    end_deal(silent)

    assert happened(silent.events, SeatNamed) == [SeatNamed(seat=0, name="Ann"), SeatNamed(seat=seat, name=message)]
    assert names(silent, None) == ["Ann", message]
    assert summary(silent.room).host == message
    assert silent.replayed() == silent.room


def test_the_record_of_a_deal_names_who_sat_down_in_silence(silent: Hall) -> None:
    silent.join("Bob", 1)
    end_deal(silent)
    while not silent.finished:  # a deal that is dealt again has no record yet
        silent.deal_now()
        end_deal(silent)

    players = msgspec.json.decode(silent.finished[0].record)["players"]
    assert [each.get("name") for each in players][:2] == ["Ann", "Bob"]


def test_who_leaves_before_the_deal_is_over_is_never_named(silent: Hall) -> None:
    silent.join("I hold Kro", 1)
    silent.must(Leave(id=silent.id_at(1)), 1)

    end_deal(silent)

    assert not any("Kro" in repr(event) for event in silent.events if isinstance(event, SeatTaken | SeatNamed))


def test_where_people_may_talk_a_name_is_told_at_once(table: Hall) -> None:
    table.must(Leave(id=table.id_at(1)), 1)
    table.start()
    table.deal_now()

    table.join("Cid", 1)

    assert happened(table.events, SeatTaken)[-1] == SeatTaken(seat=1, name="Cid")


# The measure of changes ------------------------------------------------------------------------------------------


def test_nobody_changes_the_room_without_end() -> None:
    """What moves nothing in the match, or a room's log would grow as fast as a connection may send."""
    hall = Hall(MERI)
    for seat in range(1, 8):
        hall.must(SeatAi(id=hall.id_at(0), seat=seat), 0)
    done = 7
    commands: list[Callable[[int], Any]] = [
        lambda turn: Lock(id=hall.id_at(0), on=turn % 2 == 0),
        lambda turn: SeatAi(id=hall.id_at(0), seat=1, level=("easy", "hard")[turn % 2]),
    ]
    hall.must(ClearSeat(id=hall.id_at(0), seat=7), 0)
    hall.join("Bob", 7)
    commands.append(lambda turn: Mute(id=hall.id_at(0), seat=7, on=turn % 2 == 0))
    for turn in range(2_000):
        hall.now += 1
        done += sum(isinstance(hall.do(make(turn), 0), Append) for make in commands)

    assert done == HOUSEKEEPING.burst
    assert isinstance(mute(hall, 7, 0), Append), "another person has a measure of their own"
    assert isinstance(hall.ask(Move(id=hall.id_at(7), seat=6), 7), Append)
    assert isinstance(hall.ask(ClearSeat(id=hall.id_at(0), seat=7), 0), Append), "nobody is kept from removing a person"
    hall.now += HOUSEKEEPING.window_ms
    assert isinstance(hall.do(Lock(id=hall.id_at(0), on=not hall.room.locked), 0), Append)


def test_who_moves_from_seat_to_seat_takes_their_measure_along() -> None:
    hall = Hall(MERI)
    seat = 0
    for turn in range(HOUSEKEEPING.burst):
        hall.now += 1
        hall.must(Move(id=hall.id_at(seat), seat=turn % 7 + 1), seat)
        seat = turn % 7 + 1

    decided = hall.ask(Move(id=hall.id_at(seat), seat=0), seat)

    assert decided == Refuse(Refused.TOO_FAST, {"retry_ms": HOUSEKEEPING.window_ms - HOUSEKEEPING.burst + 1})


# Mutes -----------------------------------------------------------------------------------------------------------


def test_a_mute_hides_what_was_said_and_will_be_said_from_its_asker_alone(table: Hall) -> None:
    say(table, 1, "one")
    say(table, 0, "mine")
    before = table.room.number

    decided = mute(table, 0, 1)
    say(table, 1, "two")

    assert isinstance(decided, Append)
    assert table.room.number == before + 1, "a mute is nobody else's business: no event, no number"
    assert read(table, 0) == [None, "mine", None]
    assert read(table, 1) == read(table, None) == ["one", "mine", "two"]
    assert [seat.muted for seat in snapshot(table.room, Seat(0), games=table.games).seats] == [False, True]
    assert not any(seat.muted for seat in snapshot(table.room, Seat(1), games=table.games).seats)


def test_a_mute_hides_also_after_a_reconnection(table: Hall) -> None:
    mute(table, 0, 1)
    table.drop(0)
    after = table.room.number
    say(table, 1, "while you were away")
    table.resume(0)

    found = missed(table.room, after, Seat(0), games=table.games)

    assert found is not None
    assert [event.text for event in happened(found.events, Said)] == [None]
    assert read(table, 0) == [None]


def test_a_mute_can_be_lifted_and_shows_what_was_hidden(table: Hall) -> None:
    mute(table, 0, 1)
    say(table, 1, "sorry")
    mute(table, 0, 1, on=False)

    assert read(table, 0) == ["sorry"]


def test_a_mute_follows_its_person_to_another_seat_and_spares_who_comes_after() -> None:
    hall = Hall(MERI)
    hall.join("Bob", 1)
    mute(hall, 0, 1)
    hall.must(Move(id=hall.id_at(1), seat=2), 1)
    hall.join("Eve", 1)

    say(hall, 2, "it is me")
    say(hall, 1, "I am new")

    assert read(hall, 0) == [None, "I am new"]


def test_what_the_host_mutes_for_everyone_is_hidden_from_all_and_refused_from_then_on(table: Hall) -> None:
    say(table, 1, "rude")
    mute(table, 0, 1, everyone=True)

    assert happened(table.events, SeatMuted) == [SeatMuted(seat=1, on=True)]
    assert read(table, 0) == read(table, 1) == read(table, None) == [None]
    assert say(table, 1, "ruder") == Refuse(Refused.MUTED)
    mute(table, 0, 1, on=False, everyone=True)
    assert isinstance(say(table, 1, "sorry"), Append)


def test_who_comes_again_is_still_muted_for_everyone_and_can_be_heard_again_after_that(table: Hall) -> None:
    say(table, 1, "rude")
    mute(table, 0, 1, everyone=True)
    for seat in (1, 0):  # whoever of them was away meanwhile
        table.drop(seat)
        table.resume(seat)

        assert say(table, 1, "ruder") == Refuse(Refused.MUTED)
        assert read(table, 0) == read(table, None) == [None]

    mute(table, 0, 1, on=False, everyone=True)

    assert isinstance(say(table, 1, "sorry"), Append)
    assert read(table, 0) == read(table, None) == ["rude", "sorry"]


def test_a_mute_can_be_lifted_after_a_reconnection(table: Hall) -> None:
    mute(table, 0, 1)
    say(table, 1, "one")
    table.drop(0)
    table.resume(0)

    mute(table, 0, 1, on=False)

    assert read(table, 0) == ["one"]


def test_only_the_host_mutes_for_everyone_and_nobody_mutes_themselves_an_ai_or_nobody(table: Hall) -> None:
    assert mute(table, 1, 0, everyone=True) == Refuse(Refused.ONLY_THE_HOST, {"host": 0})
    assert mute(table, 0, 0) == Refuse(Refused.NO_PERSON, {"seat": 0})
    assert mute(table, 0, 2) == Refuse(Refused.NO_SUCH_SEAT, {"seats": 2})
    table.do(ClearSeat(id=table.id_at(0), seat=1), 0)
    assert mute(table, 0, 1) == Refuse(Refused.NO_PERSON, {"seat": 1})


def test_a_mute_that_is_set_already_changes_nothing(table: Hall) -> None:
    mute(table, 0, 1)

    assert mute(table, 0, 1) == Repeat()
    assert mute(table, 1, 0, on=False) == Repeat()


# Winks -----------------------------------------------------------------------------------------------------------


def meri_table(*, winks: bool = True) -> Hall:
    """Ann 0, Bob 2 (her partner), Eve 1; asked for the Robai."""
    hall = Hall(MERI, options={"deals": 1}, settings=ChosenSettings(winks=winks))
    hall.join("Bob", 2)
    hall.join("Eve", 1)
    hall.start("easy")
    hall.deal_now()
    return hall


def wink(hall: Hall, seat: int) -> Any:
    return hall.do(Wink(id=hall.id_at(seat), signal=Signal.LEFT_EYE), seat)


def test_everybody_sees_a_wink_and_only_partners_see_how() -> None:
    hall = meri_table()
    hall.publish()

    assert isinstance(wink(hall, 0), Append)

    viewers: list[Viewer] = [*map(Seat, range(8)), None]
    seen = {viewer: shown(hall.room, tuple(hall.events), viewer, games=hall.games)[-1] for viewer in viewers}
    assert all(seen[viewer].signal is Signal.LEFT_EYE for viewer in viewers if viewer is not None and viewer % 2 == 0)
    others: list[Viewer] = [*map(Seat, (1, 3, 5, 7)), None]
    assert all(seen[viewer] == Winked(seat=0, signal=None) for viewer in others)


def test_winks_are_off_unless_the_room_was_opened_with_them() -> None:
    hall = meri_table(winks=False)
    hall.publish()

    assert wink(hall, 0) == Refuse(Refused.SWITCHED_OFF, {"setting": "winks"})


def test_H10_nobody_winks_while_answers_are_sealed() -> None:
    assert refused(wink(meri_table(), 0)) == Refused.NOT_NOW


def test_winks_and_lines_share_one_measure() -> None:
    hall = meri_table()
    hall.publish()
    for _ in range(TALK.burst):
        assert isinstance(wink(hall, 0), Append)

    assert refused(wink(hall, 0)) == Refused.TOO_FAST


@pytest.mark.parametrize("name", ["koi-koi", "go-stop"])
def test_a_game_without_partners_has_no_winks(name: str) -> None:
    hall = Hall()
    command = type(hall.create)(id=hall.create.id, game=name, name="Ann", settings=ChosenSettings(winks=True))

    refusal = open_room(command, 0, hall.entropy, games=GAMES)

    assert isinstance(refusal, Refuse)
    assert (refusal.code, refusal.params["path"]) == (Refused.BAD_FIELD, "$.settings.winks")


# The lock --------------------------------------------------------------------------------------------------------


def test_nobody_new_sits_down_in_a_locked_room_and_whoever_sits_there_comes_back(table: Hall) -> None:
    table.do(ClearSeat(id=table.id_at(0), seat=1), 0)
    table.must(Lock(id=table.id_at(0)), 0)
    command = Join(id=table.client("Bob").id(), code=table.room.code, name="Bob")

    assert table.do(command) == Refuse(Refused.ROOM_LOCKED)
    assert summary(table.room).open == ()
    assert snapshot(table.room, None, games=table.games).locked
    table.drop(0)
    assert isinstance(table.resume(0), Append)
    table.must(Lock(id=table.id_at(0), on=False), 0)
    assert isinstance(table.do(command), Append)
    assert happened(table.events, RoomLock) == [RoomLock(on=True), RoomLock(on=False)]


def test_a_lock_goes_with_its_host_only_if_nobody_can_open_it(table: Hall) -> None:
    table.must(Lock(id=table.id_at(0)), 0)
    table.must(Leave(id=table.id_at(0)), 0)

    assert table.room.host == 1, "the next host can open it"
    table.must(Lock(id=table.id_at(1), on=False), 1)
    assert not table.room.locked
