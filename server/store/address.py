"""Where a store is, from its URL. Knows no connection that is open."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from redis.asyncio.connection import AbstractConnection, Connection, parse_url
from redis.exceptions import RedisError

from wording import _

_PORT: Final = 6379
_SENTINEL_PORT: Final = 26379
FORMS: Final = (
    "redis://HOST:PORT/DB, rediss:// (TLS), unix:///PATH, redis+cluster://HOST:PORT,HOST:PORT "
    "or redis+sentinel://HOST:PORT,HOST:PORT/SERVICE"
)


class CannotOpen(Exception):
    """The store cannot be used. The message is one sentence for whoever starts the server; it holds no password."""


class BadAddress(CannotOpen):
    """The URL itself cannot be right, whatever runs there."""


class Kind(StrEnum):
    """How the servers behind a URL divide the work."""

    SINGLE = "single"
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


Node = tuple[str, int]
"""Host and port."""


class Address:
    """A parsed URL. Printing it shows no password.

    ``rediss+cluster://`` and ``rediss+sentinel://`` are the forms with TLS. Query parameters are those of redis-py
    (``ssl_ca_certs``, ``db`` …); for a sentinel also ``sentinel_username`` and ``sentinel_password``.
    """

    def __init__(self, url: str, *, username: str | None = None, password: str | None = None) -> None:
        """``username`` and ``password``, where given, replace those in the URL.

        Raises:
            BadAddress: the URL is of no known form, or asks for what nobody knows.
        """
        parts = urlsplit(url)
        scheme, _plus, variant = parts.scheme.partition("+")
        if scheme not in ("redis", "rediss", "unix") or variant not in ("", "cluster", "sentinel"):
            raise BadAddress(_("{url} is no store URL; write {forms}").format(url=_shown(parts), forms=FORMS))
        self.kind = Kind(variant or "single")
        self.shown = _shown(parts)
        """The URL without anything secret."""
        self.service = ""
        """The name under which sentinels know the primary."""
        hosts = parts.netloc.rpartition("@")[2]
        try:
            self.nodes = _nodes(hosts, _SENTINEL_PORT if self.kind is Kind.SENTINEL else _PORT)
            """The hosts named: of the server, of sentinels, or of any nodes of a cluster."""
            path = parts.path
            if self.kind is Kind.SENTINEL:
                self.service, _slash, database = path.strip("/").partition("/")
                path = f"/{database}"
            if scheme != "unix":
                int(path.strip("/") or 0)  # redis-py takes what is no number for database 0
            # redis-py wants one host: which one is replaced at each connection of a cluster or sentinel
            login = parts.netloc.rpartition("@")[0]
            netloc = f"{login}@{hosts.partition(',')[0]}" if login else hosts.partition(",")[0]
            options: dict[str, Any] = dict(parse_url(SplitResult(scheme, netloc, path, parts.query, "").geturl()))
        except (ValueError, TypeError):
            # without the cause: it quotes the URL
            told = _("{url} is no store URL that can be read; write {forms}")
            raise BadAddress(told.format(url=self.shown, forms=FORMS)) from None
        if self.kind is Kind.SENTINEL and not self.service:
            told = _("{url} does not name the service; write redis+sentinel://HOST:PORT/SERVICE")
            raise BadAddress(told.format(url=self.shown))
        if self.kind is Kind.CLUSTER and options.get("db"):
            raise BadAddress(_("{url} names a database, but a cluster has only one").format(url=self.shown))
        self._sentinel_login = {
            name: options.pop(f"sentinel_{name}") for name in ("username", "password") if f"sentinel_{name}" in options
        }
        options |= {key: value for key, value in (("username", username), ("password", password)) if value}
        self._class: Callable[..., AbstractConnection] = options.pop("connection_class", Connection)
        self._options = options
        try:
            self.connection(connect_timeout=0)
        except (TypeError, RedisError):  # a parameter that no connection takes: its name may be told, its value not
            names = "&".join(f"{name}=…" for name in parse_qs(parts.query, keep_blank_values=True))
            told = _("{url} is no store URL that can be read; write {forms}")
            raise BadAddress(told.format(url=f"{self.shown}?{names}", forms=FORMS)) from None

    def __repr__(self) -> str:
        return f"Address({self.shown})"

    def connection(self, node: Node | None = None, *, connect_timeout: float) -> AbstractConnection:
        """A connection, not yet open, to ``node`` or to the one host named. Its reads and writes have no time limit."""
        options = dict(self._options)
        if node is not None:
            options["host"], options["port"] = node
        return self._class(**options, **_raw(connect_timeout))

    def sentinel(self, node: Node, *, connect_timeout: float) -> AbstractConnection:
        """A connection, not yet open, to the sentinel at ``node``."""
        tls = {key: value for key, value in self._options.items() if key.startswith("ssl_")}
        host, port = node
        return self._class(host=host, port=port, **tls, **self._sentinel_login, **_raw(connect_timeout))


def _raw(connect_timeout: float) -> dict[str, Any]:
    # whoever uses the connection limits the time of a whole exchange, which costs less than a limit on each read;
    # RESP3 gives wake-ups and replies different types
    return {"socket_timeout": None, "socket_connect_timeout": connect_timeout, "protocol": 3, "driver_info": None}


def _nodes(hosts: str, port: int) -> tuple[Node, ...]:
    found = []
    for host in hosts.split(","):
        parts = urlsplit(f"//{host}")
        found.append((unquote(parts.hostname or "localhost"), parts.port or port))
    return tuple(found)


def _shown(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
