from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from clients.cli.reading import LineReader, is_screen
from tests.cli.screen import Screen


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    for descriptor in (read, write):
        with contextlib.suppress(OSError):  # a test closed it to end the input
            os.close(descriptor)


async def test_lines_come_one_by_one_then_the_end(pipe: tuple[int, int]) -> None:
    read, write = pipe
    os.write(write, "one\r\ntwo\n\nfür\n".encode())
    os.close(write)
    reader = LineReader(read)
    assert [await reader.line() for _ in range(6)] == ["one", "two", "", "für", None, None]


async def test_a_last_line_without_an_end_counts(pipe: tuple[int, int]) -> None:
    read, write = pipe
    os.write(write, b"stop")
    os.close(write)
    reader = LineReader(read)
    assert [await reader.line(), await reader.line()] == ["stop", None]


async def test_a_file_is_read_like_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "moves"
    path.write_text("1\n2\n")
    with path.open("rb") as file:
        reader = LineReader(file.fileno())
        assert not reader.interactive
        assert [await reader.line() for _ in range(3)] == ["1", "2", None]


async def test_a_closed_standard_input_is_an_empty_one_and_no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)  # what Python makes of it: `fudaza play koi-koi <&-`
    reader = LineReader()
    assert not reader.interactive
    assert await reader.line() is None
    assert not is_screen()


async def test_a_line_that_was_no_longer_wanted_is_kept_for_the_next_question(pipe: tuple[int, int]) -> None:
    read, write = pipe
    reader = LineReader(read)
    waiting = asyncio.create_task(reader.line())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    os.write(write, b"late\n")
    assert await reader.line() == "late"


async def test_an_endless_line_does_not_fill_the_memory(pipe: tuple[int, int]) -> None:
    read, write = pipe
    reader = LineReader(read)
    asking = asyncio.create_task(reader.line())
    await asyncio.to_thread(os.write, write, b"x" * 60_000)
    await asyncio.to_thread(os.write, write, b"x" * 60_000)
    line = await asking
    assert line is not None
    assert 65_536 <= len(line) <= 131_072


async def test_bytes_that_are_no_text_do_not_stop_the_reading(pipe: tuple[int, int]) -> None:
    read, write = pipe
    os.write(write, b"\xff\xfe\nnext\n")
    reader = LineReader(read)
    await reader.line()
    assert await reader.line() == "next"


async def test_a_client_whose_input_was_not_read_to_its_end_leaves_no_thread() -> None:
    screen = Screen()
    screen.type("one")
    assert await screen.reader.line() == "one"
    screen.type("two", "three")
    screen.close()
    assert screen.reader._thread is not None
    assert not screen.reader._thread.is_alive()
