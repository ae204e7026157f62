"""The store dies, comes back, forgets, is slow: what each level of durability promises, and what players see of it."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from server.entries import Dropped, decode_entry
from server.log import Stored
from server.room import Phase
from tests.clusters import replicated
from tests.faults.installation import Installation, during, installed
from tests.faults.invariants import check, check_nodes, story_of
from tests.faults.people import Guest
from tests.stores import VALKEY, StoreServer

pytestmark = pytest.mark.asyncio(loop_scope="session")
PATIENCE: Final = 60.0
TAIL_MS: Final = 2_000 + 300
"""What a store with ``everysec`` may lose when its process dies (docs/operations.md): two seconds, by its clock, which
it reads ten times a second; and what it has accepted was decided a moment before.
"""
AT_ONCE: Final = ("--repl-diskless-sync-delay", "0")


async def table(nodes: Installation, *, deals: int = 4) -> list[Guest]:
    """Three people, at different nodes; the match is starting."""
    guests = [Guest(nodes.ports_from(number), f"Guest {number}", seed=number) for number in range(3)]
    code = await guests[0].sit("hachinin-meri", deals=deals)
    for number, guest in enumerate(guests[1:], start=1):
        await guest.join(code, seat=number)
    await guests[0].start()
    return guests


async def progress(guests: list[Guest], events: int) -> None:
    """Wait until everybody has seen so many events more."""
    for guest in guests:
        goal = guest.number + events
        await guest.until(lambda guest=guest, goal=goal: guest.number >= goal)  # type: ignore[misc]


def commands_in(stored: list[Stored]) -> set[str]:
    return {entry.command for entry in story_of(stored).entries if entry.command is not None}


def lost(guests: list[Guest], stored: list[Stored]) -> set[str]:
    """Commands that were accepted and are not in the log."""
    return {command for guest in guests for command in guest.accepted} - commands_in(stored)


def assert_told(guests: list[Guest], had: list[Stored], stored: list[Stored]) -> None:
    """Who gave a command that stood in the log as it was, and stands there no more, was told that moves are lost."""
    for guest in guests:
        if guest.accepted.keys() & (commands_in(had) - commands_in(stored)):
            assert guest.rolled_back, f"{guest.name} was not told"


# A store that keeps what it said ---------------------------------------------------------------------------------


async def test_with_always_a_killed_store_has_everything_that_was_accepted(nodes: Installation) -> None:
    guests = await table(nodes)
    playing = asyncio.gather(*(guest.play() for guest in guests))

    for _ in range(3):
        await during(playing, progress(guests, 15))
        nodes.store.kill()
        await asyncio.to_thread(nodes.store.start)

    await playing
    story = check(await nodes.log(guests[0].room), guests)
    assert not any(guest.rolled_back for guest in guests)
    assert guests[0].place is not None
    await check_nodes(nodes.log, story, guests[0].place.code, nodes.ports, guests)


async def test_broken_half_closed_and_slow_lines_to_the_store_cost_no_move(nodes: Installation) -> None:
    guests = await table(nodes)
    playing = asyncio.gather(*(guest.play() for guest in guests))

    await during(playing, progress(guests, 10))
    for node in nodes.nodes:
        node.line.cut()
    await during(playing, progress(guests, 10))
    nodes.nodes[0].line.half_close()
    await during(playing, progress(guests, 10))
    nodes.nodes[1].line.up.delay = nodes.nodes[1].line.down.delay = 0.03
    await during(playing, progress(guests, 10))
    nodes.nodes[1].line.up.delay = nodes.nodes[1].line.down.delay = 0.0

    await playing
    story = check(await nodes.log(guests[0].room), guests)
    assert guests[0].place is not None
    await check_nodes(nodes.log, story, guests[0].place.code, nodes.ports, guests)


async def test_a_move_whose_answer_the_store_never_gave_is_done_once_however_often_it_is_sent(
    nodes: Installation,
) -> None:
    guests = await table(nodes)
    line = nodes.nodes[0].line
    playing = asyncio.gather(*(guest.play() for guest in guests))

    for _ in range(2):
        await during(playing, progress(guests, 12))
        line.down.drop()  # what is asked is done, and nobody hears of it
        await during(playing, line.down.arrived(200))
        line.cut()
        line.down.flow()

    await playing
    check(await nodes.log(guests[0].room), guests)


# A store that loses what it said ---------------------------------------------------------------------------------


@pytest.fixture
def primary() -> Iterator[StoreServer]:
    yield from _running(StoreServer(VALKEY, "--appendonly", "yes", "--appendfsync", "everysec"))


@pytest.fixture
def replica(primary: StoreServer) -> Iterator[StoreServer]:
    yield from _running(StoreServer(VALKEY, *AT_ONCE, "--replicaof", f"127.0.0.1 {primary.port}"))


def _running(server: StoreServer) -> Iterator[StoreServer]:
    server.start()
    try:
        yield server
    finally:
        server.close()


@pytest_asyncio.fixture(loop_scope="session")
async def frail(tmp_path: Path, primary: StoreServer) -> AsyncIterator[Installation]:
    """Nodes on a store that may lose its last entries."""
    async with installed(tmp_path, primary, count=2) as installation:
        yield installation


@pytest_asyncio.fixture(loop_scope="session")
async def impatient(tmp_path: Path, primary: StoreServer) -> AsyncIterator[Installation]:
    """The same, in whose rooms an AI sits in at once for who is gone."""
    timing = "pause_ms=0,redeal_ms=0,question_ms=100,contributions_ms=2000,grace_ms=200"
    async with installed(tmp_path, primary, "--timing", timing, count=2) as installation:
        yield installation


async def test_a_failover_that_loses_moves_ends_in_a_resync_that_everybody_sees(
    frail: Installation, primary: StoreServer, replica: StoreServer
) -> None:
    while b"master_link_status:up" not in replica.ask("INFO", "replication"):
        await asyncio.sleep(0.02)
    guests = await table(frail)
    playing = asyncio.gather(*(guest.play() for guest in guests))
    await during(playing, progress(guests, 20))
    await replicated(primary, replica)
    assert replica.ask("REPLICAOF", "NO", "ONE") == b"+OK\r\n"  # what comes now does not reach it
    await during(playing, progress(guests, 12))
    had = await frail.log(guests[0].room)

    primary.kill()
    await frail.move_to(replica)
    left = await frail.log(guests[0].room)
    assert commands_in(had) > commands_in(left)
    await playing

    assert all(guest.rolled_back for guest in guests)
    stored = await frail.log(guests[0].room)
    story = check(stored, guests, lost=lost(guests, stored))
    assert story.room.phase is Phase.FINISHED
    assert guests[0].place is not None
    await check_nodes(frail.log, story, guests[0].place.code, frail.ports, guests)


async def written(store: StoreServer) -> None:
    """Wait until the store has given the system all that it holds now: that is in its files."""
    while b"aof_buffer_length:0\r\n" not in store.ask("INFO", "persistence"):
        await asyncio.sleep(0.01)


async def test_a_store_set_back_by_a_second_loses_that_second_and_forks_nothing(
    frail: Installation, primary: StoreServer
) -> None:
    """What a crash of the machine does with ``everysec``: the file ends earlier than the server remembers."""
    guests = await table(frail)
    playing = asyncio.gather(*(guest.play() for guest in guests))
    await during(playing, progress(guests, 20))
    had = await frail.log(guests[0].room)
    await written(primary)
    files, copy = primary.directory / "appendonlydir", primary.directory / "copy"
    shutil.copytree(files, copy)
    await during(playing, progress(guests, 8))

    primary.kill()
    shutil.rmtree(files)
    copy.rename(files)
    await asyncio.to_thread(primary.start)
    await playing

    stored = await frail.log(guests[0].room)
    assert stored[: len(had)] == had
    assert any(guest.rolled_back for guest in guests)
    story = check(stored, guests, lost=lost(guests, stored))
    assert story.room.phase is Phase.FINISHED
    assert guests[0].place is not None
    await check_nodes(frail.log, story, guests[0].place.code, frail.ports, guests)


async def test_a_killed_store_with_everysec_has_everything_that_was_accepted_two_seconds_before(
    frail: Installation, primary: StoreServer, tell: Callable[..., None]
) -> None:
    guests = await table(frail, deals=8)
    for guest in guests:
        guest.pace_seconds = 0.05  # however fast the machine is, the match is longer than what the store may lose
    room = guests[0].room
    playing = asyncio.gather(*(guest.play() for guest in guests))

    async def played_for(ms: int) -> None:
        while True:
            began, *_, last = (decode_entry(each.data).at for each in await frail.log(room))
            if last - began >= ms:
                return
            await asyncio.sleep(0.1)

    await during(playing, played_for(TAIL_MS + 1_000))
    had = await frail.log(room)
    primary.kill()
    killed_at = time.time_ns() // 1_000_000
    await asyncio.to_thread(primary.start)
    await playing

    stored = await frail.log(room)
    old = [each for each in had if decode_entry(each.data).at <= killed_at - TAIL_MS]
    assert len(old) > 20, "too little was played"
    assert stored[: len(old)] == old
    assert_told(guests, had, stored)
    check(stored, guests, lost=lost(guests, stored))
    gone = len(commands_in(had) - commands_in(stored))
    tell(killed_everysec_store_had=len(had), of_which_older_than_its_tail=len(old), moves_lost=gone)


async def test_who_saw_a_lost_history_that_another_has_outgrown_is_told_and_shown_that_one_afresh(
    impatient: Installation, primary: StoreServer
) -> None:
    """The nodes die in the moment in which the store loses its end: nobody is left who could notice."""
    frail = impatient
    guests = await table(frail)
    playing = asyncio.gather(*(guest.play() for guest in guests))
    await during(playing, progress(guests, 20))
    files, copy = primary.directory / "appendonlydir", primary.directory / "copy"
    shutil.copytree(files, copy)
    await during(playing, progress(guests, 8))
    playing.cancel()
    await asyncio.gather(playing, return_exceptions=True)

    for node in frail.nodes:
        await node.kill()
    primary.kill()
    shutil.rmtree(files)
    copy.rename(files)
    await asyncio.to_thread(primary.start)
    ann, bob, eve = guests
    had, mark = bob.number, bob.mark
    await frail.whole()
    others = asyncio.gather(ann.play(), eve.play())
    async with asyncio.timeout(PATIENCE):
        while story_of(await frail.log(ann.room)).room.number <= had + 2:
            await asyncio.sleep(0.05)
    await asyncio.gather(bob.play(), others)

    assert mark is not None
    assert bob.rolled_back == 1
    stored = await frail.log(ann.room)
    story = check(stored, guests, lost=lost(guests, stored))
    assert story.room.phase is Phase.FINISHED


async def test_a_node_cut_off_while_the_others_failed_over_does_not_bring_the_lost_history_back(
    frail: Installation, primary: StoreServer, replica: StoreServer
) -> None:
    while b"master_link_status:up" not in replica.ask("INFO", "replication"):
        await asyncio.sleep(0.02)
    guests = await table(frail)
    playing = asyncio.gather(*(guest.play() for guest in guests))
    await during(playing, progress(guests, 20))
    await replicated(primary, replica)
    replica.ask("REPLICAOF", "NO", "ONE")
    await during(playing, progress(guests, 6))
    away = frail.nodes[0].line
    away.up.hold()

    primary.kill()
    await frail.move_to(replica)
    # the guest at the other node alone brings the new history beyond the version of the old one, or their AI does
    length = len(await frail.log(guests[0].room))
    async with asyncio.timeout(PATIENCE):
        while len(await frail.log(guests[0].room)) < length + 2:
            await asyncio.sleep(0.05)
    away.up.flow()
    away.cut()
    await playing

    stored = await frail.log(guests[0].room)
    story = check(stored, guests, lost=lost(guests, stored))
    assert guests[0].place is not None
    await check_nodes(frail.log, story, guests[0].place.code, frail.ports, guests)


async def test_rooms_whose_index_was_lost_go_on_after_a_restart_without_being_asked_for(
    frail: Installation, primary: StoreServer
) -> None:
    guests = await table(frail, deals=1)
    room = guests[0].room
    playing = asyncio.gather(*(guest.play() for guest in guests))
    await during(playing, progress(guests, 20))
    playing.cancel()
    for node in frail.nodes:
        await node.kill()
    for guest in guests:
        await guest.vanish()
    for key in [*(f"fudaza:{{due-{shard}}}" for shard in range(8)), "fudaza:{nodes}", "fudaza:{lobby}:rooms"]:
        primary.ask("DEL", key)
    length = len(await frail.log(room))

    await frail.whole()

    async with asyncio.timeout(PATIENCE):
        while Dropped not in {type(entry.body) for entry in story_of(await frail.log(room)).entries[length:]}:
            await asyncio.sleep(0.05)
