"""Logging: one JSON line per event on standard error, pretty on a terminal, and never a secret.

Lines carry what an operator needs (room, seat, command, outcome, milliseconds). What would help a cheat or a thief
(tokens, seeds, hands, decks, passwords) is dropped here, whoever passes it by mistake: by the name it comes under and
by how it looks, wherever it stands, also in the message of an exception.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, TextIO

import msgspec
import structlog
from msgspec import Struct

from engine.registry import GAMES

HIDDEN: Final = "[hidden]"
SECRET_KEYS: Final = frozenset(
    {
        "action",
        "actions",
        "card",
        "cards",
        "contribution",
        "contributions",
        "deck",
        "entry",
        "hand",
        "hands",
        "legal",
        "password",
        "redis_password",
        "secret",
        "seed",
        "seeds",
        "state",
        "stock",
        "token",
        "tokens",
        "value",
        "values",
        "view",
    }
)
"""Keys whose values no line may hold, at any depth."""

_URL_PASSWORD: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*://)[^/@\s]*@", re.IGNORECASE)
_CARDS: Final = "|".join(sorted({card for game in GAMES.values() for card in game.cards}))
_SECRET: Final = re.compile(
    rf"""
      (?<![A-Za-z0-9]) (?:{_CARDS}) (?![A-Za-z0-9])                     # a card
    | (?<![A-Za-z0-9_-]) [A-Za-z0-9_-]{{16,40}} [.][0-9]{{1,15}} (?![A-Za-z0-9_.-]) # a command's id: may renew a token
    | (?<![A-Za-z0-9_-]) [A-Za-z0-9_-]{{43}} =? (?![A-Za-z0-9_-])       # a token
    | (?<![A-Za-z0-9+/]) [A-Za-z0-9+/]{{43}} =                          # 32 bytes in base64, as logs of rooms have them
    | (?<![0-9A-Za-z]) [0-9a-f]{{64}} (?![0-9A-Za-z])                   # 32 bytes in hex: a seed, a contribution
    | b'(?:[^'\\]|\\.){{16,}}' | b"(?:[^"\\]|\\.){{16,}}"               # bytes as Python writes them
    """,
    re.VERBOSE,
)
_SHORT: Final = 64
_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def drop_secrets(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A structlog processor: what a secret key holds and what looks like a secret becomes ``[hidden]``, user and
    password in a URL ``***``.
    """
    for key, value in event.items():
        event[key] = _clean(key, value)
    return event


def _clean(key: str, value: Any) -> Any:
    if key.lower() in SECRET_KEYS:
        return HIDDEN
    if isinstance(value, str):
        return _scrubbed_short(value) if len(value) <= _SHORT else scrubbed(value)
    if isinstance(value, dict):
        return {inner: _clean(str(inner), each) for inner, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clean("", each) for each in value]
    if isinstance(value, Struct):
        return type(value).__name__  # a Struct may hold anything: only its kind is told
    return value if value is None or isinstance(value, bool | int | float) else scrubbed(repr(value))


def scrubbed(text: str) -> str:
    """``text`` without what looks like a secret."""
    return _SECRET.sub(HIDDEN, _URL_PASSWORD.sub(r"\g<scheme>***@", text))


@lru_cache(maxsize=4096)
def _scrubbed_short(text: str) -> str:
    """Names, codes and ids come again and again; looking at each costs more than the rest of the line."""
    return scrubbed(text)


def _now() -> datetime:
    return datetime.now(UTC)


class CommandLine(Struct, frozen=True, kw_only=True):
    """The one line that every command leaves. No field can hold a secret: ids, codes and numbers of our own making."""

    session: str
    command: str
    """Its tag."""
    outcome: str
    """``accepted``, or the refusal's code."""
    ms: float
    room: str | None
    seat: int | None
    event: str = "command"
    level: str = "info"
    timestamp: datetime = msgspec.field(default_factory=_now)


_straight_to: TextIO | None = None
"""Where command lines go without the processors, which take five times as long as the line; None: they do not."""
_encoder: Final = msgspec.json.Encoder()


def note_command(line: CommandLine) -> None:
    """Write ``line``, in the same form as all others."""
    if _straight_to is not None:
        _straight_to.write(_encoder.encode(line).decode() + "\n")
        _straight_to.flush()
        return
    fields = msgspec.structs.asdict(line)
    del fields["level"], fields["timestamp"]  # the processors' business
    structlog.get_logger().info(**fields)


def configure(level: str, *, pretty: bool, stream: TextIO = sys.stderr) -> None:
    """Set structlog up for this process and lead the standard library's loggers into it."""
    global _straight_to  # noqa: PLW0603 - structlog's own configuration is as global
    _straight_to = stream if not pretty and _LEVELS[level] <= _LEVELS["info"] else None
    renderer: structlog.typing.Processor
    if pretty:
        renderer = structlog.dev.ConsoleRenderer(colors=stream.isatty())
    else:
        renderer = structlog.processors.JSONRenderer(serializer=_to_json)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            drop_secrets,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=structlog.WriteLoggerFactory(stream),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(handlers=[_Bridge()], level=max(_LEVELS[level], logging.WARNING), force=True)


def _to_json(event: Any, **_: Any) -> str:
    return msgspec.json.encode(event, enc_hook=repr).decode()


class _Bridge(logging.Handler):
    """What libraries log, in our form."""

    def emit(self, record: logging.LogRecord) -> None:
        log = structlog.get_logger()
        log.log(record.levelno, "library", logger=record.name, text=record.getMessage(), exc_info=record.exc_info)
