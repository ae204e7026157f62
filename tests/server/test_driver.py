"""Who moves what nobody else moves, and what is repaired."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.game import Seat
from server.admin import Store, close
from server.driver import driver_of, ranking
from server.entries import Acted, Actor, Answered, Dropped, Entry, UnreadableEntry, decode_entry, encode_entry
from server.index import Outage
from server.log import Head, Stored, StoreUnavailable, successor
from server.presence import BEAT_SECONDS, BEAT_TTL_MS
from server.room import Phase, Room, ai_moves
from server.thinkers import Missed, NoAnswer
from server.worker import Question
from tests.server.hallkit import TIMING, House, Person, silence, until


async def all_ai(house: House, *, deals: int = 1) -> Person:
    """Ann opens a room, starts a match against an AI, and her connection goes: an AI will stand in for her."""
    ann = house.person("Ann")
    await ann.create(deals=deals)
    await ann.start()
    await ann.contribute()
    return ann


async def run_clock(house: House, room_id: str, *, until_phase: Phase) -> Room:
    """Let time pass, from one due time to the next, until the room is in ``until_phase``."""
    running = asyncio.create_task(house.driver.run())
    try:
        async with asyncio.timeout(20):
            host = await house.hall.room(room_id)
            while host.room.phase is not until_phase:
                seen = host.room.version
                for _ in range(60):  # whoever can move without the clock does so first
                    await asyncio.sleep(0)
                if host.room.version == seen and not ai_moves(host.room):
                    house.clock.now += 250
                    await house.driver.beat()  # or the time would be given back as an outage
                    house.driver._sooner.set()  # its sleep is one of the real clock
        return host.room
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


# Which node ------------------------------------------------------------------------------------------------------


@given(st.sets(st.text("ab", min_size=1, max_size=6), min_size=2, max_size=6), st.lists(st.text("xyz"), max_size=30))
def test_when_a_node_goes_only_its_own_rooms_change_hands(names: set[str], rooms: list[str]) -> None:
    nodes = tuple(sorted(names))
    gone, *staying = nodes

    for room in rooms:
        before = driver_of(room, nodes)
        after = driver_of(room, tuple(staying))
        assert before in {after, gone}


def test_without_nodes_nobody_drives() -> None:
    assert driver_of("room", ()) is None


def test_a_dead_driver_is_noticed_within_two_seconds() -> None:
    assert BEAT_TTL_MS / 1000 + BEAT_SECONDS < 2


# Clocks and AI ---------------------------------------------------------------------------------------------------


async def test_a_room_of_ai_plays_to_the_end_with_nobody_connected(house: House) -> None:
    ann = await all_ai(house, deals=3)
    await ann.vanish()

    room = await run_clock(house, ann.room.id, until_phase=Phase.FINISHED)

    assert room.table is not None
    assert room.table.match.over
    assert house.counted("fudaza_ai_moves_total") > 0
    assert house.counted("fudaza_internal_errors_total") == 0


async def test_a_room_whose_driver_is_gone_is_played_to_the_end_by_another_node(house: House) -> None:
    ann = await all_ai(house, deals=3)
    await ann.vanish()
    await house.keeper.flush()
    heir = House("heir", beside=house)
    house.clock.now += BEAT_TTL_MS + 1  # the first node is never heard of again
    await heir.driver.beat()

    assert heir.node.presence.nodes == ("heir",)
    await until(lambda: ann.room.id in heir.hall.hosts)
    room = await run_clock(heir, ann.room.id, until_phase=Phase.FINISHED)

    assert room.table is not None
    assert room.table.match.over
    await heir.close()


async def test_people_whose_node_died_are_away_for_whoever_takes_over(house: House) -> None:
    ann = await all_ai(house)
    await house.keeper.flush()
    heir = House("heir", beside=house)
    house.clock.now += BEAT_TTL_MS + 1
    await heir.driver.beat()
    await until(lambda: ann.room.id in heir.hall.hosts)
    host = await heir.hall.room(ann.room.id)
    assert not any(getattr(seat, "away", False) for seat in host.room.seats), "perhaps it only stood still"

    await silence(heir)

    await until(lambda: any(getattr(seat, "away", False) for seat in host.room.seats))

    await heir.close()


async def test_a_node_drives_only_its_own_rooms(house: House) -> None:
    house.node.presence.nodes = ("somebody-else",)

    ann = await all_ai(house)
    assert ann.host is not None
    await ann.host.fire()

    assert ai_moves(ann.room)
    assert not house.thinker.asked


async def ask_the_ai(house: House) -> tuple[Person, list[object]]:
    """Bob's AI is asked once, sealed; what was appended for it."""
    ann = await all_ai(house)
    assert ann.host is not None
    await ann.host.fire()
    await until(lambda: not ai_moves(ann.room))
    bodies = [decode_entry(stored.data).body for stored in house.memory.entries[ann.room.id]]
    return ann, [body for body in bodies if isinstance(body, Answered | Acted)]


async def test_an_ai_is_given_its_view_and_the_legal_actions_and_answers_for_its_seat(house: House) -> None:
    ann, (answer,) = await ask_the_ai(house)

    assert isinstance(answer, Answered)
    assert (answer.seat, answer.actor) == (1, Actor.AI)
    (question,) = house.thinker.asked
    assert b'"seat":1' in question.view
    assert set(Question.__struct_fields__) == {"number", "game", "view", "legal", "level", "seed"}
    state = ann.room.table and ann.room.table.match.state
    assert state
    for hidden in (*state.hands[0], state.unseen):
        assert hidden.encode() not in question.view


async def test_an_illegal_answer_becomes_the_default_action_and_is_counted(house: House) -> None:
    house.thinker.answer = lambda _: "d1"

    _, (answer,) = await ask_the_ai(house)

    assert isinstance(answer, Answered)
    assert (answer.action, answer.actor) == ("single", Actor.CLOCK)
    assert house.counted("fudaza_ai_fallbacks_total", why="illegal") == 1


@pytest.mark.parametrize("why", list(Missed))
async def test_without_an_answer_the_default_action_is_taken_and_counted(house: House, why: Missed) -> None:
    def refuse(_: Question) -> str:
        raise NoAnswer(why)

    house.thinker.answer = refuse

    _, (answer,) = await ask_the_ai(house)

    assert isinstance(answer, Answered)
    assert (answer.action, answer.actor) == ("single", Actor.CLOCK)
    assert house.counted("fudaza_ai_fallbacks_total", why=why.value) == 1


async def test_a_decision_is_thought_about_once_however_often_the_room_changes(house: House) -> None:
    ann = await all_ai(house)
    assert ann.host is not None
    await ann.host.fire()
    for _ in range(5):
        house.hall.changed(ann.host)
    await until(lambda: not ai_moves(ann.room))

    assert len(house.thinker.asked) == 1


async def test_an_ais_generator_depends_on_room_seat_and_decision_and_not_on_the_cards(house: House) -> None:
    ann = await all_ai(house, deals=3)
    await ann.vanish()
    await run_clock(house, ann.room.id, until_phase=Phase.FINISHED)

    seeds = [question.seed for question in house.thinker.asked]
    assert len(seeds) == len(set(seeds)) > 4
    seed = (ann.room.table and ann.room.table.seeds[0]) or b""
    assert all(seed not in each for each in seeds)


async def test_what_is_due_while_the_store_is_away_is_done_when_it_is_back(house: House) -> None:
    ann = await all_ai(house)
    await house.keeper.flush()
    running = asyncio.create_task(house.driver.run())
    house.memory.available = False
    for _ in range(200):
        await asyncio.sleep(0)
    assert ann.room.phase is Phase.SHUFFLING

    house.memory.available = True
    house.clock.now += 500
    assert ann.host is not None
    house.driver.changed(ann.host)
    await until(lambda: ann.room.phase is Phase.PLAYING)

    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


# Repair ----------------------------------------------------------------------------------------------------------


async def test_a_due_room_that_is_not_in_memory_is_loaded_and_driven(house: House) -> None:
    ann = await all_ai(house)
    await house.keeper.flush()
    fresh = House("fresh", beside=house)
    house.clock.now += BEAT_TTL_MS + 1
    await fresh.driver.beat()
    await until(lambda: ann.room.id in fresh.hall.hosts)
    await fresh.driver.stop()
    fresh.hall.hosts.clear()

    house.clock.now += 60_000
    await fresh.driver.heal()

    assert ann.room.id in fresh.hall.hosts
    await fresh.close()


async def test_an_announced_room_that_was_never_opened_is_forgotten(house: House) -> None:
    await house.index.set_due("a" * 26, house.clock.now)

    await house.driver.heal()

    assert await house.index.all_live() == (None, [])


async def test_who_drives_a_room_is_found_out_once_as_long_as_the_nodes_are_the_same(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []

    def counted(room: str, nodes: tuple[str, ...]) -> str | None:
        found.append(room)
        return driver_of(room, nodes)

    monkeypatch.setattr("server.driver.driver_of", counted)
    ann = house.person("Ann")
    await ann.create()
    for _ in range(3):
        await house.driver.beat()
        await house.driver.heal()
        assert house.driver.drives(ann.room.id)
    assert found == [ann.room.id]

    other = next(name for name in ("a", "b", "c", "d", "e", "f") if ranking(ann.room.id, (name, "n1"))[0] == name)
    house.node.presence.nodes = (other, "n1")
    assert not house.driver.drives(ann.room.id)
    assert not house.driver.drives(ann.room.id)
    assert found == [ann.room.id] * 2


async def test_a_round_of_repair_asks_about_few_rooms_at_a_time_and_finds_what_is_behind_in_each(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.driver._COMPARED_AT_ONCE", 2)
    people = [house.person(f"Ann {number}") for number in range(5)]
    hosts = []
    for person in people:
        await person.create()
        assert person.host is not None
        hosts.append(person.host)
        dropped = Entry(at=house.clock.now, body=Dropped(seat=Seat(0)))
        # behind the host's back: its wake-up is lost
        after = successor(person.host.head, encode_entry(dropped))
        house.memory.entries[person.room.id].append(Stored(after.version, after.hash, encode_entry(dropped)))
    asked: list[int] = []
    heads = house.memory.heads

    async def counted(rooms: Sequence[str]) -> dict[str, Head]:
        asked.append(len(rooms))
        return await heads(rooms)

    monkeypatch.setattr(house.memory, "heads", counted)

    await house.driver.heal()

    assert asked[:3] == [2, 2, 1]
    assert [host.room.version for host in hosts] == [2] * 5


async def test_a_room_that_only_a_newer_server_can_read_is_not_forgotten(house: House) -> None:
    ann = await all_ai(house)
    await house.keeper.flush()
    assert ann.host is not None
    data = b'{"schema":999,"at":1,"command":null,"body":{"b":"new-thing"}}'
    await house.memory.append(ann.room.id, ann.host.head, data)
    await until(lambda: ann.outbox.closed is not None)
    house.clock.now += 60_000

    await house.driver.heal()
    await house.driver.heal()

    assert not house.hall.hosts
    assert await house.index.all_live() == (None, [ann.room.id])


def second_of(house: House, room: str) -> House:
    """Another node, which would drive ``room`` if ``house`` could not; both live."""
    names = (f"second {number}" for number in range(99))
    second = House(next(name for name in names if ranking(room, (name, "n1"))[0] == "n1"), beside=house)
    house.node.presence.nodes = second.node.presence.nodes = (second.node.name, "n1")
    return second


async def test_a_room_whose_driver_cannot_read_it_is_driven_by_one_that_can(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As while an upgrade rolls through: ``house`` is the older server."""
    ann = await all_ai(house)
    await ann.vanish()
    await house.keeper.flush()
    newer = second_of(house, ann.room.id)
    house.hall.hosts.clear()
    house.driver._schedule.set(ann.room.id, None)

    def unreadable(data: bytes) -> Entry:
        raise UnreadableEntry("of a newer server", 999)

    house.clock.now += 60_000
    with monkeypatch.context() as patch:
        patch.setattr("server.reading.decode_entry", unreadable)
        await house.driver.heal()
    assert not house.hall.hosts
    await newer.driver.heal()

    assert newer.driver.drives(ann.room.id)
    assert (await run_clock(newer, ann.room.id, until_phase=Phase.FINISHED)).table is not None
    await newer.close()


async def test_a_room_whose_driver_lives_but_does_nothing_is_driven_by_the_next(house: House) -> None:
    ann = await all_ai(house)
    second = second_of(house, ann.room.id)
    await house.index.set_due(ann.room.id, house.clock.now)

    house.clock.now += 14_999
    await second.driver.heal()
    assert not second.driver.drives(ann.room.id)
    house.clock.now += 1
    await second.driver.heal()

    assert second.driver.drives(ann.room.id)
    assert ann.room.id in second.hall.hosts
    await second.close()


async def test_time_of_an_outage_is_held_against_no_driver(house: House) -> None:
    ann = await all_ai(house)
    second = second_of(house, ann.room.id)
    await house.index.set_due(ann.room.id, house.clock.now)
    house.node.presence.outages = second.node.presence.outages = (Outage(house.clock.now, house.clock.now + 60_000),)

    house.clock.now += 60_000
    await second.driver.heal()

    assert not second.driver.drives(ann.room.id)
    await second.close()


async def test_a_room_that_the_index_has_lost_is_driven_again_after_a_sweep(house: House) -> None:
    ann = await all_ai(house)
    over = house.person("Bob")
    await over.create()
    await house.keeper.flush()
    await house.memory.forget(over.room.id, 60)
    for person in (ann, over):
        await house.index.set_due(person.room.id, None)

    fresh = House("fresh", beside=house)
    house.clock.now += BEAT_TTL_MS + 1
    await fresh.driver.beat()
    await fresh.driver.sweep()
    await fresh.driver.heal()

    assert ann.room.id in fresh.hall.hosts
    assert over.room.id not in fresh.hall.hosts
    await fresh.close()


async def test_a_node_that_stops_is_gone_for_the_others_at_once(house: House) -> None:
    second = House("n2", beside=house)
    await second.driver.beat()
    assert await house.index.nodes() == ["n1", "n2"]

    await second.close()

    assert await house.index.nodes() == ["n1"]


async def test_work_that_was_not_begun_when_a_node_stops_is_not_lost_sight_of(house: House) -> None:
    """Python warns of a coroutine that nobody ran, at some later time."""
    house.driver._start(house.driver._take_over(), "take-over-failed")

    await house.driver.stop()

    gc.collect()  # a warning would be an error, of this test


async def test_a_driver_that_has_stopped_lets_no_ai_think_about_what_is_found_out_later(house: House) -> None:
    """Its move could end a deal after the node's last words, and the record would be missed."""
    ann = house.person("Ann")
    await ann.create()
    await ann.start()
    await ann.contribute()
    await house.driver.stop()

    assert ann.host is not None
    await ann.host.fire()

    assert ai_moves(ann.room)
    assert not house.driver._thinking


async def test_a_room_without_viewers_leaves_memory_when_nothing_is_due_soon(house: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    assert ann.host is not None
    room_id = ann.room.id
    ann.host.used_at -= 3_600
    await house.driver.heal()
    assert room_id in house.hall.hosts, "somebody watches"

    await ann.vanish()
    ann.host.used_at -= 3_600
    await house.driver.heal()
    assert room_id in house.hall.hosts, "her grace ends soon"

    house.clock.now += 30_000
    await ann.host.fire()
    await house.keeper.flush()
    ann.host.used_at -= 3_600
    await house.driver.heal()
    assert room_id not in house.hall.hosts


async def driven_beside(house: House) -> tuple[Person, House]:
    """Ann's match against an AI, and it is her turn to play; another node drives it."""
    ann = await all_ai(house)
    names = (f"second {number}" for number in range(99))
    second = House(next(name for name in names if ranking(ann.room.id, (name, "n1"))[0] == name), beside=house)
    await second.driver.beat()
    await house.driver.beat()
    await until(lambda: ann.room.id in second.hall.hosts)
    host = second.hall.hosts[ann.room.id]
    await host.fire()
    await until(lambda: bool(ann.turns) and not ai_moves(ann.room))  # the AI has given its sealed answer
    house.clock.now += TIMING.question_ms
    await host.fire()
    await until(lambda: not ann.turns[-1].sealed)
    return ann, second


async def test_the_driver_of_a_room_stays_in_step_while_its_ai_waits_for_somebody_at_another_node(house: House) -> None:
    ann, second = await driven_beside(house)

    second.hall.hosts[ann.room.id].used_at -= 3_600
    await second.driver.heal()
    assert ann.room.id in second.hall.hosts
    await ann.act()

    await until(lambda: not ai_moves(ann.room))
    await second.close()


async def test_a_room_that_its_driver_has_let_go_is_driven_as_soon_as_somebody_plays_there_again(house: House) -> None:
    ann, second = await driven_beside(house)
    second.hall.let_go(second.hall.hosts[ann.room.id])
    await ann.act()
    await house.keeper.flush()
    assert ai_moves(ann.room)

    await second.driver.heal()

    await until(lambda: not ai_moves(ann.room))
    await second.close()


async def test_a_room_that_an_operator_closes_leaves_the_lobby_also_where_it_was_in_nobodys_memory(
    house: House,
) -> None:
    ann = house.person("Ann")
    await ann.create()
    await house.keeper.flush()
    assert ann.host is not None
    assert ann.viewer is not None
    ann.host.audience.leave(ann.viewer)
    house.hall.let_go(ann.host)
    assert not house.hall.hosts

    await close(Store(house.memory, house.index, house.clock, house.node.games), ann.room.id, 2.0)
    await house.driver.heal()
    await house.keeper.flush()

    assert await house.hall.listed(None) == ()
    assert not await house.index.has_due(ann.room.id)
    assert ann.room.id in house.memory.forgotten


async def test_a_closed_room_leaves_memory_at_once(house: House) -> None:
    ann = house.person("Ann")
    await ann.create()
    house.clock.now += 24 * 3_600_000
    assert ann.host is not None
    await ann.host.fire()
    await house.keeper.flush()

    await house.driver.heal()

    assert not house.hall.hosts


async def test_a_store_that_does_not_answer_ends_neither_heart_nor_repair(house: House) -> None:
    house.index.available = False
    running = asyncio.create_task(house.driver.run())
    for _ in range(20):
        await asyncio.sleep(0)
    with pytest.raises(StoreUnavailable):
        await house.driver.heal()

    assert not running.done()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
