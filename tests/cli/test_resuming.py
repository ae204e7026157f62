"""What a session brings along when it comes back, should the server's store have lost its last moments meanwhile."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from clients.cli.session import End
from protocol.codes import Refused
from protocol.events import SeatAway
from protocol.messages import Command, Events, RefusedMessage, Resume, Snapshot, Watch
from tests.cli.hall import CODE
from tests.cli.test_session import Pair


def marked(messages: list[Any], mark: str) -> list[Any]:
    return [replace(each, mark=mark) if isinstance(each, Events | Snapshot) else each for each in messages]


def resumes(pair: Pair) -> list[Resume]:
    return [command for command in pair.hall.commands if isinstance(command, Resume)]


def unknown() -> RefusedMessage:
    return RefusedMessage(id=None, code=Refused.BAD_TOKEN)


def test_a_resume_names_the_mark_that_came_with_the_last_event() -> None:
    pair = Pair()
    pair.sit_down()
    pair.say(marked([pair.hall.snapshot()], "000001"))
    pair.reconnect()
    old = pair.hall.happen(SeatAway(seat=0, grace_ms=1))
    pair.say(marked(old, "000002"))
    pair.say(marked(pair.hall.happen(SeatAway(seat=0, grace_ms=1)), "000003"))
    pair.say(marked(old, "000002"))  # sent twice, and known
    pair.reconnect()

    assert [resume.mark for resume in resumes(pair)] == ["000001", "000003"]


def test_events_that_wait_for_a_snapshot_leave_the_mark_alone() -> None:
    pair = Pair()
    pair.sit_down()
    pair.say(marked([pair.hall.snapshot()], "000001"))
    pair.hall.happen(SeatAway(seat=0, grace_ms=1))  # lost on the way
    gap = marked(pair.hall.happen(SeatAway(seat=0, grace_ms=1)), "000003")
    pair.session.feed(gap[0])
    pair.reconnect()

    assert [resume.mark for resume in resumes(pair)] == ["000001"]


def test_where_the_newest_token_is_unknown_the_one_before_it_is_shown() -> None:
    pair = Pair()
    pair.sit_down()
    first = pair.session.place
    pair.reconnect()
    assert first is not None
    second = pair.session.place
    pair.hall.refuse_next = unknown()
    pair.reconnect()

    assert second is not None
    assert [resume.token for resume in resumes(pair)][1:] == [second.token, first.token]
    assert pair.session.ended is None


def test_where_neither_token_is_known_the_place_is_lost() -> None:
    pair = Pair()
    pair.sit_down()
    pair.reconnect()
    pair.session.disconnected(None)
    (welcome,) = pair.hall.hello()
    pair.session.feed(welcome)
    for _ in range(2):
        assert pair.session.ended is None
        (resume,) = pair.session.to_send()
        pair.session.feed(replace(unknown(), id=resume.id))

    assert pair.session.ended is not None
    assert pair.session.ended.end is End.PLACE_LOST


def busy(command: Command) -> RefusedMessage:
    return RefusedMessage(id=command.id, code=Refused.STORE_UNAVAILABLE)


def test_a_resume_that_was_put_off_is_not_sent_again_on_another_connection() -> None:
    """The server would do it and take the one that belongs to that connection for a second."""
    pair = Pair()
    pair.sit_down()
    (welcome,) = pair.hall.hello()
    pair.session.disconnected(None)
    pair.session.feed(welcome)
    (resume,) = pair.session.to_send()
    pair.session.feed(busy(resume))
    pair.session.disconnected(None)

    pair.session.again(resume.id)

    assert pair.session.to_send() == ()
    pair.session.feed(welcome)
    (another,) = pair.session.to_send()
    assert isinstance(another, Resume)
    assert another.id != resume.id


def test_a_spectators_way_back_that_was_put_off_is_tried_again() -> None:
    pair = Pair()
    pair.hall.you = None
    pair.session.ask(Watch, code=CODE)
    pair.say(pair.hall.hello())
    (welcome,) = pair.hall.hello()
    pair.session.disconnected(None)
    pair.session.feed(welcome)
    (watch,) = pair.session.to_send()
    pair.session.feed(busy(watch))

    pair.session.again(watch.id)

    assert pair.session.to_send() == (watch,)
