"""What an operator can choose. Defaults < configuration file (TOML) < environment ``FUDAZA_*`` < flags.

Belongs here: names, bounds, sources and what is wrong with a value, in one sentence. Must not be known here: what a
setting is used for. A password never stands on a command line, where every process of the machine can read it.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn, get_args, get_type_hints
from urllib.parse import urlsplit

import msgspec
import platformdirs
from msgspec import Meta, Struct

from server.entries import Timing
from server.usage import WideHelp
from wording import N_, _, listed

ENVIRONMENT_PREFIX: Final = "FUDAZA_"
_FOREIGN: Final = frozenset({"FUDAZA_SERVER", "FUDAZA_NAME", "FUDAZA_STORE_BINARY", "FUDAZA_CONFIG", "FUDAZA_LANG"})
"""Names in the environment with our prefix that are no settings of the server."""

Port = Annotated[int, Meta(ge=0, le=65535)]
Milliseconds = Annotated[int, Meta(ge=0, le=3_600_000)]
Seconds = Annotated[float, Meta(gt=0, le=31_536_000)]
"""Up to a year: without a bound, "inf" and what no timer can hold would only fail in the midst of play."""
Rate = Annotated[float, Meta(gt=0, le=1_000_000_000)]
NotEmpty = Annotated[str, Meta(min_length=1)]
"""A variable that is set to nothing is a mistake: nothing as a host is every address, and as a path the current one."""
Origin = Annotated[str, Meta(pattern=r"^([a-z][a-z0-9+.-]*://[^/\sA-Z]+|null)$")]
"""As browsers write it (RFC 6454 6.2): small letters, no path, not even a last slash."""
_LONGEST_TIMING_MS: Final = 31_536_000_000
"""A year."""


class BadSetting(Exception):
    """A setting that cannot be used; the message is one sentence for the operator."""


class Settings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Everything that can be set. Each field is also a flag (``--ai-workers``) unless it is a secret."""

    host: Annotated[NotEmpty, Meta(description=N_("Address to listen on; 0.0.0.0 for other machines"))] = "127.0.0.1"
    port: Annotated[Port, Meta(description=N_("Port to listen on; 0 for any free one"))] = 8750
    redis: Annotated[
        NotEmpty | None,
        Meta(description=N_("Redis or Valkey to use (redis://, rediss://, unix://, …) instead of the embedded store")),
    ] = None
    redis_password: str | None = None
    data: Annotated[NotEmpty, Meta(description=N_("Directory of the embedded store"))] = msgspec.field(
        default_factory=lambda: platformdirs.user_data_dir("fudaza", appauthor=False)
    )
    durability: Annotated[
        str,
        Meta(
            pattern="^(everysec|always)$",
            description=N_("How often the embedded store syncs to disk: everysec or always"),
        ),
    ] = "everysec"
    origins: Annotated[
        tuple[Origin, ...],
        Meta(description=N_("Web origins that may connect, comma-separated; clients that are no browsers always may")),
    ] = ()
    proxies: Annotated[
        tuple[str, ...],
        Meta(description=N_("Addresses of proxies whose X-Forwarded-For is believed, comma-separated")),
    ] = ()
    max_connections: Annotated[int, Meta(ge=1, description=N_("Connections taken at the same time"))] = 10_000
    connections_per_address: Annotated[
        int, Meta(ge=1, description=N_("Connections of one address at the same time; proxies are exempt"))
    ] = 1_000
    connections_per_second: Annotated[
        Rate, Meta(description=N_("Connections that one address may open in the long run"))
    ] = 50.0
    connection_burst: Annotated[int, Meta(ge=1, description=N_("Connections that one address may open at once"))] = (
        1_000
    )
    idle_seconds: Annotated[
        Seconds, Meta(description=N_("Seconds without a command after which who is in no room is disconnected"))
    ] = 300.0
    handshake_seconds: Annotated[Seconds, Meta(description=N_("Seconds that a client has to finish its handshake"))] = (
        10.0
    )
    ping_seconds: Annotated[
        Seconds, Meta(description=N_("Seconds between pings, and how long a client may take to answer one"))
    ] = 15.0
    commands_per_second: Annotated[
        Rate, Meta(description=N_("Commands that one connection may send in the long run"))
    ] = 20.0
    command_burst: Annotated[int, Meta(ge=1, description=N_("Commands that one connection may send at once"))] = 60
    commands_per_address: Annotated[
        int, Meta(ge=1, description=N_("Connections' worth of commands that one address may send; more wait"))
    ] = 10
    talk_per_minute: Annotated[
        Rate, Meta(description=N_("Lines, winks and newcomers from one address in the long run; half at once"))
    ] = 60.0
    rooms_per_minute: Annotated[Rate, Meta(description=N_("Rooms that one address may open in the long run"))] = 30.0
    spectators_per_room: Annotated[
        int, Meta(ge=0, description=N_("People who may watch one room through this node"))
    ] = 100
    max_rooms: Annotated[int, Meta(ge=1, description=N_("Rooms that may be open at the same time, on all nodes"))] = (
        20_000
    )
    write_buffer: Annotated[
        int, Meta(ge=16_384, description=N_("Bytes waiting for a reader at which it is disconnected"))
    ] = 262_144
    ai_workers: Annotated[int, Meta(ge=1, le=256, description=N_("Processes that think for AI seats"))] = 1
    ai_deadline_ms: Annotated[
        int, Meta(ge=10, le=600_000, description=N_("Time after which an AI's default action is taken"))
    ] = 8_000
    ai_pause_ms: Annotated[
        Milliseconds, Meta(description=N_("How long an AI seems to think, on average; 0 for not at all"))
    ] = 900
    ai_tasks_per_process: Annotated[
        int, Meta(ge=1, description=N_("Decisions after which an AI process is replaced"))
    ] = 20_000
    timing: Annotated[
        Timing, Meta(description=N_("How long rooms wait for what, in milliseconds: pause_ms=5000,grace_ms=60000,…"))
    ] = Timing()
    forget_hours: Annotated[
        float, Meta(ge=0.0003, le=87_600, description=N_("How long the log of a closed room is kept"))
    ] = 24.0
    log_level: Annotated[
        str, Meta(pattern="^(debug|info|warning|error)$", description=N_("debug, info, warning or error"))
    ] = "info"
    log_format: Annotated[
        str, Meta(pattern="^(auto|json|pretty)$", description=N_("json, pretty, or auto: pretty on a terminal"))
    ] = "auto"
    metrics_port: Annotated[
        Port | None, Meta(description=N_("Port for Prometheus on the loopback interface; none unless set"))
    ] = None
    ready_json: Annotated[
        bool, Meta(description=N_("Write one JSON line to standard output when clients can connect"))
    ] = False
    exit_when_empty: (
        Annotated[
            float, Meta(ge=0, le=31_536_000, description=N_("Stop when nobody has been connected for so many seconds"))
        ]
        | None
    ) = None


SECRETS: Final = frozenset({"redis_password"})
"""Settings that are taken from the file and the environment alone."""
_LISTS: Final = frozenset({"origins", "proxies"})


def load(arguments: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """The settings of a server started with these flags in this environment.

    Raises:
        BadSetting: a value, a name or the file is wrong; says which, and where it came from.
        SystemExit: ``--help`` was asked for (status 0).
    """
    flags = vars(_parser().parse_args(arguments))
    path = flags.pop("config") or environment.get("FUDAZA_CONFIG")
    given: dict[str, Any] = {}
    if path:
        given |= _checked(_read(Path(path)), _("the file {path}").format(path=path))
    given |= _checked(_from_environment(environment), _("the environment"))
    if flags.get("redis") and urlsplit(str(flags["redis"])).password:
        raise BadSetting(_("a password must not stand on the command line: use FUDAZA_REDIS or a configuration file"))
    given |= _checked({name: value for name, value in flags.items() if value is not None}, _("the command line"))
    return msgspec.convert(given, Settings, strict=False)


def unknown_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Names with our prefix that nobody reads: a misspelt setting, most likely."""
    known = {ENVIRONMENT_PREFIX + name.upper() for name in Settings.__struct_fields__} | _FOREIGN
    return tuple(sorted(name for name in environment if name.startswith(ENVIRONMENT_PREFIX) and name not in known))


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    given = {}
    for name in Settings.__struct_fields__:
        value = environment.get(ENVIRONMENT_PREFIX + name.upper())
        if value is not None:
            given[name] = value
    return given


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise BadSetting(
            _("the file {path} cannot be read: {cause}").format(path=path, cause=problem.strerror)
        ) from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise BadSetting(_("the file {path} is not TOML: {cause}").format(path=path, cause=problem)) from problem


def _checked(given: dict[str, Any], source: str) -> dict[str, Any]:
    """``given`` if each of its settings is right by itself; comma-separated lists become lists."""
    checked = dict(given)
    for name, value in given.items():
        if name in _LISTS and isinstance(value, str):
            checked[name] = [part.strip() for part in value.split(",") if part.strip()]
        if name == "timing":
            checked[name] = _timing(value, source)
        try:
            msgspec.convert({name: checked[name]}, Settings, strict=False)
        except msgspec.ValidationError as problem:
            if name not in Settings.__struct_fields__:
                told = _("{source}: there is no setting {name}")
                raise BadSetting(told.format(source=source, name=name)) from problem
            shown = "" if name in SECRETS else f" {value!r}"
            reason = str(problem).partition(" - at `")[0]
            told = _("{source}: wrong value for {name}:{shown} ({reason})")
            raise BadSetting(told.format(source=source, name=name, shown=shown, reason=reason)) from problem
        if name == "proxies":
            checked[name] = [_address(each, source) for each in checked[name]]
    return checked


def _address(proxy: str, source: str) -> str:
    """The address of a proxy as sockets write it; a name or a network would never be found among them."""
    try:
        return str(ip_address(proxy))
    except ValueError as problem:
        told = _("{source}: wrong value for {name}:{shown} ({reason})")
        raise BadSetting(told.format(source=source, name="proxies", shown=f" {proxy!r}", reason=problem)) from problem


def _timing(value: Any, source: str) -> dict[str, Any]:
    """A table, or its short form in one text."""
    if isinstance(value, str):
        value = {name.strip(): ms.strip() for part in value.split(",") for name, _sign, ms in [part.partition("=")]}
    if not isinstance(value, dict):
        told = _("{source}: wrong value for timing: {value!r} (it is a table, or pause_ms=5000,…)")
        raise BadSetting(told.format(source=source, value=value))
    for name, ms in value.items():
        if name not in Timing.__struct_fields__:
            told = _("{source}: there is no timing {name}; there are {known}")
            raise BadSetting(told.format(source=source, name=name, known=listed(Timing.__struct_fields__)))
        if not str(ms).isdecimal():
            told = _("{source}: wrong value for the timing {name}: {value!r} (milliseconds)")
            raise BadSetting(told.format(source=source, name=name, value=ms))
        if int(ms) > _LONGEST_TIMING_MS:
            told = _("{source}: wrong value for {name}:{shown} ({reason})")
            reason = f"Expected `int` <= {_LONGEST_TIMING_MS}"
            raise BadSetting(told.format(source=source, name=f"timing {name}", shown=f" {ms!r}", reason=reason))
    return dict(value)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadSetting(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="fudaza serve",
        description=_("Host rooms for people and AI."),
        epilog=_(
            "Every option can also be set in the environment (FUDAZA_PORT=8750) and in the configuration file "
            "(port = 8750). Flags win over the environment, the environment over the file."
        ),
        formatter_class=WideHelp,
        allow_abbrev=False,
    )
    parser.add_argument("--config", metavar="FILE", help=_("Configuration file (TOML)"))
    texts, types = _descriptions(), get_type_hints(Settings)
    for field in msgspec.structs.fields(Settings):
        if field.name in SECRETS:
            continue
        flag = "--" + field.name.replace("_", "-")
        if types[field.name] is bool:
            parser.add_argument(flag, action="store_const", const=True, help=_(texts[field.name]))
        else:
            parser.add_argument(flag, metavar="VALUE", help=_(texts[field.name]))
    return parser


def _descriptions() -> dict[str, str]:
    """The ``description`` in each field's annotation; for one that may be absent it stands one level deeper."""
    texts = {}
    for name, hint in get_type_hints(Settings, include_extras=True).items():
        for part in (hint, *get_args(hint)):
            for meta in getattr(part, "__metadata__", ()):
                if isinstance(meta, Meta) and meta.description:
                    texts[name] = meta.description
    return texts
