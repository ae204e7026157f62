"""Due times: the earliest first, one for each room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from server.schedule import Schedule


def test_rooms_come_when_their_time_has_come_the_earliest_first() -> None:
    schedule = Schedule()
    for room, at in (("b", 20), ("a", 10), ("c", 30)):
        schedule.set(room, at)

    assert schedule.next() == 10
    assert schedule.pop(20) == ["a", "b"]
    assert schedule.next() == 30
    assert schedule.pop(29) == []


def test_a_later_time_replaces_an_earlier_one_and_none_removes_it() -> None:
    schedule = Schedule()
    schedule.set("a", 10)
    schedule.set("a", 50)
    schedule.set("b", 20)
    schedule.set("b", None)

    assert schedule.pop(49) == []
    assert "b" not in schedule
    assert schedule.pop(50) == ["a"]
    assert len(schedule) == 0
    assert schedule.next() is None


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.none() | st.integers(0, 50)), max_size=60), st.integers(0, 50))
def test_the_heap_agrees_with_a_dictionary(changes: list[tuple[str, int | None]], now: int) -> None:
    schedule, model = Schedule(), dict[str, int]()
    for room, at in changes:
        schedule.set(room, at)
        if at is None:
            model.pop(room, None)
        else:
            model[room] = at

    assert schedule.next() == min(model.values(), default=None)
    popped = schedule.pop(now)
    assert popped == sorted((room for room in model if model[room] <= now), key=lambda room: (model[room], room))
    assert len(schedule) == len(model) - len(popped)


def test_times_that_are_put_off_again_and_again_leave_nothing_behind() -> None:
    schedule = Schedule()
    for at in range(10_000):
        schedule.set("a", at)
        schedule.set("b", at + 5)

    assert len(schedule._heap) == 2
    assert schedule.pop(10_010) == ["a", "b"]
    assert not schedule._heap
    assert not schedule._queued
