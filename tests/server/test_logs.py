"""Logs: one line an event, and never a secret."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import msgspec
import pytest
import structlog

from server import logs
from server.logs import HIDDEN, SECRET_KEYS, CommandLine, drop_secrets
from server.settings import Settings


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    logs.configure("info", pretty=False, stream=stream)
    yield stream
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [msgspec.json.decode(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_one_json_object_with_event_level_and_time(stream: io.StringIO) -> None:
    structlog.get_logger().info("command", room="r", ms=1.5)

    (line,) = lines(stream)
    assert (line["event"], line["level"], line["room"], line["ms"]) == ("command", "info", "r", 1.5)
    assert str(line["timestamp"]).endswith("Z")


LINE = CommandLine(session="0a1b2c3d", command="act", outcome="accepted", ms=1.5, room="r", seat=0)


def test_a_commands_line_has_the_form_of_all_others(stream: io.StringIO) -> None:
    logs.note_command(LINE)
    structlog.get_logger().info("command", session="0a1b2c3d", command="act", outcome="accepted", ms=1.5)

    straight, processed = lines(stream)
    assert straight.keys() - processed.keys() == {"room", "seat"}
    assert processed.keys() <= straight.keys()
    assert {key: straight[key] for key in processed if key != "timestamp"} | {"timestamp": 0} == processed | {
        "timestamp": 0
    }
    assert str(straight["timestamp"]).endswith("Z")


def test_a_commands_line_obeys_level_and_form(stream: io.StringIO) -> None:
    logs.configure("warning", pretty=False, stream=stream)
    logs.note_command(LINE)
    assert stream.getvalue() == ""

    logs.configure("info", pretty=True, stream=stream)
    logs.note_command(LINE)
    assert "outcome=accepted" in stream.getvalue()


@pytest.mark.parametrize("key", sorted(SECRET_KEYS))
def test_what_stands_under_a_secrets_name_is_hidden_at_any_depth(key: str) -> None:
    event = {key: "x", "deep": {"list": [{key.upper(): "x"}]}}

    assert drop_secrets(None, "", event) == {key: HIDDEN, "deep": {"list": [{key.upper(): HIDDEN}]}}


def test_users_and_passwords_in_urls_are_hidden_also_inside_texts() -> None:
    event = {"problem": "cannot reach redis://me:hunter2@db:6379/0 or rediss://:pw@x", "url": "unix:///run/s"}

    cleaned = drop_secrets(None, "", event)

    assert cleaned["problem"] == "cannot reach redis://***@db:6379/0 or rediss://***@x"
    assert cleaned["url"] == "unix:///run/s"


def test_of_a_struct_only_the_kind_is_told() -> None:
    assert drop_secrets(None, "", {"settings": Settings(host="db.example")}) == {"settings": "Settings"}


def test_an_exception_is_logged_with_its_trace_and_without_secrets(stream: io.StringIO) -> None:
    try:
        int("redis://:hunter2@db")
    except ValueError:
        structlog.get_logger().exception("failed")

    (line,) = lines(stream)
    assert "ValueError" in str(line["exception"])
    assert "hunter2" not in stream.getvalue()


def test_what_libraries_log_comes_in_the_same_form(stream: io.StringIO) -> None:
    logging.getLogger("websockets.server").error("opening handshake failed")
    logging.getLogger("websockets.server").info("connection open")

    (line,) = lines(stream)
    assert (line["event"], line["logger"], line["text"]) == (
        "library",
        "websockets.server",
        "opening handshake failed",
    )


def test_lines_below_the_level_are_not_written(stream: io.StringIO) -> None:
    structlog.get_logger().debug("room-loaded")

    assert stream.getvalue() == ""
