"""The published schema is current, whole, and says what the codec does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from engine.match import MATCH_EVENTS
from engine.registry import GAMES
from protocol.codec import encode
from protocol.codes import Close, Notified, Refused
from protocol.events import ROOM_EVENTS
from protocol.messages import COMMANDS, SERVER_MESSAGES, Accepted, Act, RefusedMessage, Turn
from server.schema import FOLDER, asyncapi, documents, json_schema

ROOT = Path(__file__).resolve().parents[2]


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for inner in node.values():
            yield from references(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from references(inner)


def resolve(document: Any, reference: str) -> Any:
    assert reference.startswith("#/"), reference
    for part in reference[2:].split("/"):
        document = document[part]
    return document


@pytest.mark.parametrize("name", sorted(documents()))
def test_the_committed_document_is_current(name: str) -> None:
    assert (FOLDER / name).read_bytes() == documents()[name], "run: python -m server.schema"


@pytest.mark.parametrize("make", [json_schema, asyncapi])
def test_every_reference_resolves(make: Any) -> None:
    document = make(GAMES)

    targets = set(references(document))

    assert targets
    for reference in targets:
        assert resolve(document, reference), reference


def test_the_json_schema_is_one_and_judges_as_the_codec_does() -> None:
    schema = json_schema(GAMES)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    act = json.loads(encode(Act(id="q83Jxk0v_yP2sE1d.17", action="K7", at=3)))

    assert validator.is_valid(act)
    assert not validator.is_valid({**act, "at": -1})
    assert not validator.is_valid({**act, "extra": 1})
    assert not validator.is_valid({**act, "id": "short.1"})
    for message in (Accepted(id="x.1"), Turn(at=1, legal=("K7",)), RefusedMessage(id=None, code="not-json")):
        assert validator.is_valid(json.loads(encode(message))), message


def test_asyncapi_has_what_version_3_demands() -> None:
    document = asyncapi(GAMES)

    assert document["asyncapi"] == "3.0.0"
    assert {"title", "version"} <= document["info"].keys()
    assert document["operations"]["command"]["action"] == "receive"
    assert document["operations"]["say"]["action"] == "send"
    messages = document["channels"]["table"]["messages"]
    assert len(messages) == len(COMMANDS) + len(SERVER_MESSAGES)
    for operation in document["operations"].values():
        for message in operation["messages"]:
            assert message["$ref"].startswith("#/channels/table/messages/")


def test_tags_of_room_match_and_game_events_never_collide() -> None:
    shared = [str(event.__struct_config__.tag) for event in (*ROOM_EVENTS, *MATCH_EVENTS)]
    for game in GAMES.values():
        tags = shared + [str(event.__struct_config__.tag) for event in game.event_types]
        assert len(tags) == len(set(tags)), game.name


def test_the_protocol_page_names_every_command_and_message() -> None:
    page = (ROOT / "docs" / "protocol.md").read_text()

    for kind in (*COMMANDS, *SERVER_MESSAGES):
        assert f"`{kind.__struct_config__.tag}`" in page, kind
    told = {int(number) for number in re.findall(r"^\| (\d{4}) ", page, re.MULTILINE)}
    assert set(Close) == told


def test_every_close_code_is_sent_somewhere_in_the_server() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "server").rglob("*.py"))
    sent = {code for code in Close if re.search(rf"\bClose\.{code.name}\b", sources)}

    assert set(Close) - sent == {Close.TOO_BIG}, "and that one by the library, as a test at the gateway says"


def test_codes_are_words_that_clients_can_key_on() -> None:
    for code in (*Refused, *Notified):
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code.value), code
