"""Logging: one JSON line per event on standard error, pretty on a terminal, and never a secret.

Lines carry what an operator needs (room, seat, command, outcome, milliseconds). What would help a cheat or a thief
(tokens, seeds, hands, decks, passwords) is dropped here, whoever passes it by mistake.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any, Final, TextIO

import msgspec
import structlog

HIDDEN: Final = "[hidden]"
SECRET_KEYS: Final = frozenset(
    {
        "actions",
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
_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def drop_secrets(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A structlog processor: a secret key's value becomes ``[hidden]``, user and password in a URL ``***``."""
    for key, value in event.items():
        event[key] = _clean(key, value)
    return event


def _clean(key: str, value: Any) -> Any:
    if key.lower() in SECRET_KEYS:
        return HIDDEN
    if isinstance(value, str):
        return _URL_PASSWORD.sub(r"\g<scheme>***@", value)
    if isinstance(value, dict):
        return {inner: _clean(str(inner), each) for inner, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clean("", each) for each in value]
    if isinstance(value, msgspec.Struct):
        return type(value).__name__  # a Struct may hold anything: only its kind is told
    return value


def configure(level: str, *, pretty: bool, stream: TextIO = sys.stderr) -> None:
    """Set structlog up for this process and lead the standard library's loggers into it."""
    renderer: structlog.typing.Processor
    if pretty:
        renderer = structlog.dev.ConsoleRenderer(colors=stream.isatty())
    else:
        renderer = structlog.processors.JSONRenderer(serializer=_to_json)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            drop_secrets,
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
