"""The published schema: envelopes composed with the registered games' types.

``python -m server.schema`` writes ``docs/schema/``; a test says when that is out of date. This is the one place that
knows both what travels (``protocol``) and what it means (``engine``).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from engine.game import AnyGame
from engine.match import MATCH_EVENTS
from engine.registry import GAMES
from protocol.codes import Close
from protocol.events import ROOM_EVENTS
from protocol.limits import SUBPROTOCOL
from protocol.messages import COMMANDS, SERVER_MESSAGES

FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "schema"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


def json_schema(games: Mapping[str, AnyGame]) -> Schema:
    """One JSON Schema (2020-12) document: ``$defs`` of every type; the root is any message of either direction."""
    definitions = _definitions(games, "#/$defs/{name}")
    return {
        "$schema": DIALECT,
        "title": f"{SUBPROTOCOL}: every message between a client and the hall",
        "oneOf": [{"$ref": "#/$defs/Command"}, {"$ref": "#/$defs/ServerMessage"}],
        "$defs": definitions,
    }


def asyncapi(games: Mapping[str, AnyGame]) -> Schema:
    """The AsyncAPI 3.0 document: one WebSocket channel, what a client sends and what it receives."""
    schemas = _definitions(games, "#/components/schemas/{name}")
    sent, received = list(map(_name, COMMANDS)), list(map(_name, SERVER_MESSAGES))
    codes = "\n".join(f"- {code.value} {code.name.lower().replace('_', '-')}" for code in Close)
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Fudaza",
            "version": SUBPROTOCOL.rpartition(".")[2] + ".0.0",
            "description": f"Card rooms for people and AI. WebSocket subprotocol `{SUBPROTOCOL}`, JSON text frames. "
            f"`docs/protocol.md` has the flow in words.\n\nClose codes:\n\n{codes}",
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "servers": {"local": {"host": "127.0.0.1:8750", "protocol": "ws"}},
        "channels": {
            "table": {
                "address": "/",
                "title": "One connection: in one room at a time, in at most one seat of it",
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in sent + received},
                "bindings": {"ws": {"method": "GET", "bindingVersion": "0.1.0"}},
            }
        },
        "operations": {
            "command": _operation("receive", sent, "A client asks; each command has exactly one answer."),
            "say": _operation("send", received, "The hall answers, and tells what happened."),
        },
        "components": {
            "messages": {
                name: {
                    "name": schemas[name]["properties"]["t"]["enum"][0],
                    "title": name,
                    "summary": schemas[name]["description"].partition("\n")[0],
                    "payload": {"$ref": f"#/components/schemas/{name}"},
                }
                for name in sent + received
            },
            "schemas": schemas,
        },
    }


def documents() -> dict[str, bytes]:
    """File name in ``docs/schema`` → its bytes, for the registered games."""
    made = {"fudaza.1.schema.json": json_schema(GAMES), "fudaza.1.asyncapi.json": asyncapi(GAMES)}
    return {name: msgspec.json.format(msgspec.json.encode(made[name]), indent=2) + b"\n" for name in made}


def _operation(action: str, names: Iterable[str], summary: str) -> Schema:
    return {
        "action": action,
        "channel": {"$ref": "#/channels/table"},
        "summary": summary,
        "messages": [{"$ref": f"#/channels/table/messages/{name}"} for name in names],
    }


def _definitions(games: Mapping[str, AnyGame], reference: str) -> Schema:
    """Every type's schema by name, with the places that travel raw pointed at what stands there."""
    shared: tuple[type, ...] = (*COMMANDS, *SERVER_MESSAGES, *ROOM_EVENTS, *MATCH_EVENTS)
    definitions = _components(shared, reference)
    for name, game in games.items():
        prefix = _prefix(name)
        types = (*game.event_types, game.view_type)
        own = _components(types, reference.replace("{name}", prefix + "{name}"))
        definitions |= {prefix + inner: body for inner, body in own.items()}
        definitions[f"{prefix}Event"] = _any_of(reference, (prefix + _name(each) for each in game.event_types))
    definitions["Command"] = _any_of(reference, map(_name, COMMANDS))
    definitions["ServerMessage"] = _any_of(reference, map(_name, SERVER_MESSAGES))
    definitions["RoomEvent"] = _any_of(reference, map(_name, ROOM_EVENTS))
    definitions["MatchEvent"] = _any_of(reference, map(_name, MATCH_EVENTS))
    definitions["Events"]["properties"]["events"]["items"] = _any_of(
        reference, ("RoomEvent", "MatchEvent", *(f"{_prefix(name)}Event" for name in games))
    )
    views = [_prefix(name) + _name(game.view_type) for name, game in games.items()]
    definitions["Snapshot"]["properties"]["view"] = {
        "anyOf": [{"$ref": reference.format(name=view)} for view in views] + [{"type": "null"}],
        "default": None,
    }
    return definitions


def _components(types: Iterable[type], reference: str) -> Schema:
    return msgspec.json.schema_components(tuple(types), ref_template=reference)[1]


def _any_of(reference: str, names: Iterable[str]) -> Schema:
    return {"anyOf": [{"$ref": reference.format(name=name)} for name in names]}


def _name(kind: type) -> str:
    return kind.__name__


def _prefix(game: str) -> str:
    """``koi-koi`` → ``KoiKoi``: games may use the same type names."""
    return "".join(word.capitalize() for word in game.split("-"))


def main() -> None:
    """Write the documents."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in documents().items():
        (FOLDER / name).write_bytes(content)
        sys.stdout.write(f"docs/schema/{name}\n")


if __name__ == "__main__":
    main()
