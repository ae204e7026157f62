"""AI in its own processes: real ones, also ones that crash, hang, and talk nonsense."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import textwrap
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from engine.game import Seat
from engine.registry import GAMES
from engine.shuffle import Draw, deck_of
from server import thinkers, worker
from server.main import _loop_factory
from server.metrics import Metrics
from server.thinkers import COMMAND, Missed, NoAnswer, Thinkers
from server.worker import Answer, Question

ANSWERING = """
    import os, sys, time
    from server.worker import Answer, Question, packed, LENGTH_BYTES
    import msgspec
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    def say(answer):
        sink.write(packed(answer)); sink.flush()
    say(Answer(0))
    while len(head := source.read(LENGTH_BYTES)) == LENGTH_BYTES:
        question = msgspec.msgpack.decode(source.read(int.from_bytes(head, "big")), type=Question)
        {do}
"""


def opening(game_name: str) -> Question:
    """The first decision of a deal that is not over at once, as its first awaited seat sees it."""
    game = GAMES[game_name]
    for seed in range(100):
        draw = Draw("m", 1, 1, seed.to_bytes(32, "big"), ())
        state = game.deal(game.complete_options({}), deck_of(draw, game.cards), Seat(0)).state
        for seat in sorted(game.awaiting(state)):
            view = game.view(state, seat)
            legal = tuple(map(game.text, game.legal(view)))
            return Question(0, game_name, msgspec.json.encode(view), legal, "medium", b"seed")
    raise AssertionError(f"{game_name} never asks anything")


@asynccontextmanager
async def thinking(
    command: tuple[str, ...] = COMMAND, *, processes: int = 1, deadline: float = 20.0, tasks: int = 1_000
) -> AsyncIterator[tuple[Thinkers, Metrics]]:
    metrics = Metrics()
    thinkers = Thinkers(
        processes=processes, deadline_seconds=deadline, tasks_per_process=tasks, metrics=metrics, command=command
    )
    thinkers.start()
    try:
        yield thinkers, metrics
    finally:
        await thinkers.stop()


@pytest.fixture
def acting(tmp_path: Path) -> Callable[[str], tuple[str, ...]]:
    """A process that does the given lines for every question."""

    def make(do: str) -> tuple[str, ...]:
        script = tmp_path / "acting.py"
        body = textwrap.dedent(ANSWERING).replace("{do}", textwrap.indent(textwrap.dedent(do), "    ").strip())
        script.write_text(body)
        return (sys.executable, str(script))

    return make


def starts(metrics: Metrics) -> float:
    return metrics.registry.get_sample_value("fudaza_ai_worker_starts_total") or 0.0


async def missed(thinking_about: Coroutine[None, None, Answer]) -> Missed:
    with pytest.raises(NoAnswer) as caught:
        await thinking_about
    return caught.value.why


@pytest.mark.parametrize("game", sorted(GAMES))
async def test_a_real_process_plays_every_game_as_the_game_itself_would(game: str) -> None:
    question = opening(game)
    async with thinking() as (thinkers, _):
        answers = await asyncio.gather(*(thinkers.think(question) for _ in range(5)))

    expected = worker.answer(question)
    assert expected.problem is None
    assert expected.action in question.legal
    assert {answer.action for answer in answers} == {expected.action}
    assert [answer.number for answer in answers] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("game", sorted(GAMES))
def test_the_same_question_has_the_same_answer_and_every_level_answers(game: str) -> None:
    for level in GAMES[game].levels:
        question = msgspec.structs.replace(opening(game), level=level.value)
        answers = {worker.answer(question).action for _ in range(3)}
        assert len(answers) == 1
        assert answers <= set(question.legal)


async def test_a_fault_of_a_game_is_reported_by_kind_and_place_and_not_by_its_text() -> None:
    broken = msgspec.structs.replace(opening("koi-koi"), view=b'{"secret":"03b"}')

    answer = worker.answer(broken)

    assert answer.action is None
    assert answer.problem is not None
    assert answer.problem.startswith("ValidationError at ")
    assert "03b" not in answer.problem
    async with thinking() as (thinkers, metrics):
        assert await missed(thinkers.think(broken)) is Missed.FAULTY
        assert (await thinkers.think(opening("koi-koi"))).action is not None
        assert starts(metrics) == 1, "a fault of a game is no reason to replace the process"


async def test_a_process_that_dies_is_replaced_and_the_question_is_asked_again() -> None:
    async with thinking() as (thinkers, metrics):
        await thinkers.think(opening("koi-koi"))
        os.kill(pid_of(thinkers), signal.SIGKILL)

        answer = await thinkers.think(opening("koi-koi"))

        assert answer.action is not None
        assert starts(metrics) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="there is no uvloop")
def test_a_process_that_dies_while_nobody_asks_is_replaced_in_the_loop_that_servers_run_in() -> None:
    async def asked_after_a_death() -> tuple[Answer, float]:
        async with thinking() as (thinkers, metrics):
            await thinkers.think(opening("koi-koi"))
            (process,) = thinkers._up
            process._process.kill()
            await process._process.wait()
            while not process._to.is_closing():  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0)
            await asyncio.sleep(0)
            return await thinkers.think(opening("koi-koi")), starts(metrics)

    loop_factory = _loop_factory()
    assert loop_factory is not None
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        answer, started = runner.run(asked_after_a_death())

    assert answer.action is not None
    assert started == 2


def pid_of(thinkers: Thinkers) -> int:
    (pid,) = thinkers.pids
    return pid


async def test_a_question_that_kills_its_process_twice_gets_no_third(acting: Callable[[str], tuple[str, ...]]) -> None:
    command = acting("""
        if question.level == "expert":
            os._exit(1)
        say(Answer(question.number, question.legal[0]))
    """)
    deadly = msgspec.structs.replace(opening("koi-koi"), level="expert")
    async with thinking(command) as (thinkers, metrics):
        assert await missed(thinkers.think(deadly)) is Missed.CRASHED
        assert (await thinkers.think(opening("koi-koi"))).action is not None
        assert starts(metrics) == 3


async def test_a_process_that_does_not_answer_in_time_is_replaced_and_nobody_waits_longer(
    acting: Callable[[str], tuple[str, ...]],
) -> None:
    command = acting("""
        if question.level == "expert":
            time.sleep(3600)
        say(Answer(question.number, question.legal[0]))
    """)
    slow = msgspec.structs.replace(opening("koi-koi"), level="expert")
    async with thinking(command, deadline=1.0) as (thinkers, metrics):
        assert await missed(thinkers.think(slow)) is Missed.LATE
        while True:  # the next process may need longer than this deadline to come up
            try:
                assert (await thinkers.think(opening("koi-koi"))).action is not None
                break
            except NoAnswer:
                continue
        assert starts(metrics) == 2


@pytest.mark.parametrize(
    "nonsense",
    [
        'sink.write(b"\\xff" * 64); sink.flush()',
        "say(Answer(question.number + 1, question.legal[0]))",
        'sink.write((5).to_bytes(4, "big") + b"hello"); sink.flush()',
    ],
)
async def test_a_process_that_talks_nonsense_is_replaced(
    acting: Callable[[str], tuple[str, ...]], nonsense: str
) -> None:
    async with thinking(acting(nonsense)) as (thinkers, metrics):
        assert await missed(thinkers.think(opening("koi-koi"))) is Missed.CRASHED
        assert starts(metrics) == 2


async def test_processes_are_replaced_after_their_share_of_work_and_nothing_is_lost() -> None:
    async with thinking(tasks=3) as (thinkers, metrics):
        answers = [await thinkers.think(opening("koi-koi")) for _ in range(8)]

        assert all(answer.action for answer in answers)
        assert starts(metrics) == 3


async def test_a_process_that_cannot_be_started_leaves_everybody_without_an_answer_in_time() -> None:
    async with thinking(("/nowhere/python",), deadline=0.2) as (thinkers, metrics):
        assert await missed(thinkers.think(opening("koi-koi"))) is Missed.LATE
        assert starts(metrics) == 0


async def test_whoever_waits_when_thinking_stops_is_told(acting: Callable[[str], tuple[str, ...]]) -> None:
    async with thinking(acting("time.sleep(3600)")) as (thinkers, _):
        waiting = [asyncio.create_task(missed(thinkers.think(opening("koi-koi")))) for _ in range(3)]
        await asyncio.sleep(0)

    assert await asyncio.gather(*waiting) == [Missed.CRASHED] * 3


async def test_a_full_queue_says_so_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.thinkers._QUEUE", 2)
    thinkers = Thinkers(processes=1, deadline_seconds=20, tasks_per_process=1, metrics=Metrics())
    waiting = [asyncio.create_task(missed(thinkers.think(opening("koi-koi")))) for _ in range(2)]
    await asyncio.sleep(0)

    assert await missed(thinkers.think(opening("koi-koi"))) is Missed.BUSY

    await thinkers.stop()
    assert await asyncio.gather(*waiting) == [Missed.CRASHED] * 2


async def test_the_process_ends_when_its_input_ends() -> None:
    process = await asyncio.create_subprocess_exec(
        *COMMAND, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.close()

    assert await asyncio.wait_for(process.wait(), 20) == 0


async def test_a_fault_of_ours_in_asking_is_logged_and_ends_no_keeper(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = thinkers._Process.ask
    faults = iter((RuntimeError("closed"),))

    async def fail_once(process: thinkers._Process, question: Question, deadline: float) -> Answer:
        for fault in faults:
            raise fault
        return await ask(process, question, deadline)

    monkeypatch.setattr(thinkers._Process, "ask", fail_once)
    async with thinking() as (minds, metrics):
        with capture_logs() as lines:
            with pytest.raises(NoAnswer) as missed:
                await minds.think(opening("koi-koi"))
            assert (await minds.think(opening("koi-koi"))).action is not None

    assert missed.value.why is Missed.CRASHED
    assert "ai-keeper-failed" in [line["event"] for line in lines]
    assert metrics.registry.get_sample_value("fudaza_internal_errors_total") == 1
