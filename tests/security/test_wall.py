"""The wall in front of the AI: what crosses the pipe to its process is the seat's own view, and nothing else does."""

from __future__ import annotations

import asyncio
import hmac
import os
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec
import pytest

from engine.game import Seat
from engine.registry import GAMES
from server import room as rooms
from server.metrics import Metrics
from server.room import Phase, Room
from server.thinkers import COMMAND, Thinkers
from server.worker import LENGTH_BYTES, Question
from tests.security.guests import PATIENCE_SECONDS, Guest
from tests.security.judge import card_pattern, strings
from tests.security.nodes import SECRET, nodes
from tests.security.oracle import Truth
from tests.server.roomkit import Hall
from tests.stores import StoreServer, fresh_prefix

TAP: Final = """
    import os, subprocess, sys
    tap = open(sys.argv[1], "wb")
    worker = subprocess.Popen([sys.executable, "-m", "server.worker"], stdin=subprocess.PIPE)
    while part := os.read(0, 65536):
        tap.write(part)
        tap.flush()
        worker.stdin.write(part)
        worker.stdin.flush()
    worker.stdin.close()
    sys.exit(worker.wait())
"""
"""Stands between the server and the AI's process, and keeps every byte that is said to it."""


def questions_in(tape: bytes) -> Iterator[tuple[Question, dict[str, Any]]]:
    """Each question on the tape, and the message as it stood there."""
    while tape:
        length = int.from_bytes(tape[:LENGTH_BYTES], "big")
        message, tape = tape[LENGTH_BYTES : LENGTH_BYTES + length], tape[LENGTH_BYTES + length :]
        yield msgspec.msgpack.decode(message, type=Question), msgspec.msgpack.decode(message)


async def taped(name: str, store: StoreServer, tap: Path) -> tuple[Truth, str, list[tuple[Question, dict[str, Any]]]]:
    """A match of one person and AI, and every question that was asked."""
    command = (sys.executable, "-c", textwrap.dedent(TAP), str(tap))
    thinkers = Thinkers(
        processes=1, deadline_seconds=20.0, tasks_per_process=100_000, metrics=Metrics(), command=command
    )
    thinkers.start()
    try:
        async with nodes(store.url, fresh_prefix(), count=1, thinker=thinkers) as (node,):
            game = GAMES[name]
            ann = Guest("Ann", game, [node.port], Random(4))
            await ann.connect()
            deals = sorted(map(int, game.options["deals"]))[1]
            created = await ann.ask("create", game=name, name="Ann", options={"deals": deals})
            room = created["place"]["room"]
            await ann.ask("start", level="medium")
            async with asyncio.timeout(PATIENCE_SECONDS):
                await ann.over.wait()
            await ann.leave()
            entries = await node.entries(room)
    finally:
        await thinkers.stop()
    return Truth(entries), room, list(questions_in(await asyncio.to_thread(tap.read_bytes)))


@pytest.mark.parametrize("name", sorted(GAMES))
async def test_the_ai_process_is_told_the_seats_view_and_no_card_more(
    name: str, shared_valkey: StoreServer, tmp_path: Path
) -> None:
    truth, room, questions = await taped(name, shared_valkey, tmp_path / "tape")
    # The seed of a question names the seat and the decision that it is about, for who knows the server's secret.
    asked = {
        hmac.digest(SECRET, f"{room}/{seat}/{at}".encode(), "sha256"): (Seat(seat), at)
        for seat in range(GAMES[name].seats)
        for at in range(truth.last + 1)
    }
    cards = card_pattern(GAMES[name])

    assert questions
    for question, message in questions:
        seat, at = asked[question.seed]
        assert set(message) == {"number", "game", "view", "legal", "level", "seed"}
        view = msgspec.json.decode(question.view)
        assert seat in (view.get("viewer"), view.get("seat"))
        told = {found[0] for _, text in strings([view, *question.legal]) for found in cards.finditer(text)}
        assert told <= truth.known(seat, at), f"seat {seat} at {at}"
        assert not any(secret.encode() in question.view for secret in truth.secrets)


async def test_the_ai_process_inherits_no_setting_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Least of all the store's password."""
    monkeypatch.setenv("FUDAZA_REDIS_PASSWORD", "hunter2")
    monkeypatch.setenv("FUDAZA_REDIS", "redis://:hunter2@db")
    note = tmp_path / "environment"
    telling = (
        f"import os; open({str(note)!r}, 'w').write(repr(dict(os.environ))); os.execv({COMMAND[0]!r}, {COMMAND!r})"
    )
    thinkers = Thinkers(
        processes=1,
        deadline_seconds=20.0,
        tasks_per_process=10,
        metrics=Metrics(),
        command=(sys.executable, "-c", telling),
    )
    thinkers.start()
    try:
        for _ in range(3_000):
            if thinkers.pids:
                break
            await asyncio.sleep(0.01)  # a process comes up by itself
    finally:
        await thinkers.stop()

    told = note.read_text()
    assert "hunter2" not in told
    assert "FUDAZA_REDIS" not in told
    assert os.environ["PATH"] in told


async def test_the_ai_process_has_nothing_loaded_that_could_reach_the_store_or_a_client() -> None:
    asking = "import sys, server.worker; print(*sorted({name.partition('.')[0] for name in sys.modules}), *sys.modules)"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", asking, stdout=asyncio.subprocess.PIPE)
    loaded = set((await process.communicate())[0].decode().split())

    assert "engine" in loaded
    assert not loaded & {"redis", "websockets", "asyncio", "protocol", "server.room", "server.store", "server.entries"}


def test_a_question_of_another_seats_view_would_be_found_out() -> None:
    """What the first test relies on: a view that is not the seat's names cards that the seat may not know."""
    game = GAMES["koi-koi"]
    hall = Hall(game, options={"deals": 1})
    hall.start("easy")
    hall.deal_now()
    while hall.phase() is not Phase.PLAYING:
        hall.later((rooms.next_due(hall.room) or hall.now) - hall.now)
    truth = Truth(hall.entries)
    room: Room = hall.room
    own, other = (rooms.question(room, Seat(seat)).view.decode() for seat in (0, 1))

    cards = card_pattern(game)
    assert set(cards.findall(own)) <= truth.known(Seat(0), room.number)
    assert not set(cards.findall(other)) <= truth.known(Seat(0), room.number)
