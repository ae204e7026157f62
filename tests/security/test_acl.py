"""The store's login as the manual writes it: enough to play, and good for nothing else."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from redis.exceptions import ResponseError

from engine.registry import GAMES
from server.log import EMPTY, StoreUnavailable
from server.store import StoredLog, open_store
from server.store.keys import Keys
from tests.security.matches import Place, log_kept, play
from tests.security.nodes import nodes
from tests.stores import StoreServer

MANUAL: Final = (Path(__file__).parents[2] / "docs" / "security.md").read_text()
PASSWORD: Final = "CHOOSE-A-LONG-PASSWORD"  # noqa: S105 - the manual's


def acl() -> str:
    """The manual's command."""
    return MANUAL.partition("<!-- acl")[2].partition("```text\n")[2].partition("```")[0]


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    with log_kept() as stream:
        yield stream


@pytest.fixture
def guarded(valkey: StoreServer) -> StoreServer:
    """A store with the manual's login, and none without."""
    assert valkey.ask(*acl().split()) == b"+OK\r\n"
    return valkey


def url_of(store: StoreServer) -> str:
    return f"unix://fudaza:{PASSWORD}@{store.socket}"


async def test_the_login_of_the_manual_is_enough_to_play_and_for_nothing_else(
    guarded: StoreServer, log: io.StringIO
) -> None:
    async with nodes(url_of(guarded), "fudaza:") as opened:
        place = Place(opened, Keys("fudaza:"), guarded.url, log)
        played = await play(GAMES["koi-koi"], place, seed=1)
        assert not played.leaks
        assert played.wakeups, "nodes can wake each other"
        index = opened[0].index
        await index.all_live()
        await index.unlist("room")
        await index.archive("room", "match", 1, b"{}")
        assert [each.deal async for each in index.archived(room="room")] == [1]
        assert await index.count_live() >= 1
        await index.outages()
        assert [room async for room in opened[0].log.rooms()]

    store = await open_store(url_of(guarded))
    try:
        with pytest.raises((ResponseError, StoreUnavailable), match="permission"):
            await store.call("other", "SET", "other", "x")
        for command in (
            ("KEYS", "*"),
            ("FLUSHALL",),
            ("CONFIG", "GET", "*"),
            ("EVAL", "return 1", "0"),
            ("ACL", "LIST"),
        ):
            for node in await store.route.primaries():
                with pytest.raises((ResponseError, StoreUnavailable), match="permission"):
                    await store.at(node, *command)
        stranger = StoredLog(store)
        stranger._keys = Keys("other:")
        with pytest.raises((ResponseError, StoreUnavailable), match="permission"):
            await stranger.append("room", EMPTY, b"x")
        await stranger.aclose()
    finally:
        await store.aclose()


def test_every_test_that_the_manual_names_exists() -> None:
    sources = "\n".join(path.read_text() for path in Path(__file__).parents[1].rglob("test_*.py"))

    named = set(re.findall(r"`(test_\w+)`", MANUAL))

    assert len(named) > 40
    assert [name for name in sorted(named) if f"def {name}(" not in sources] == []


def test_every_setting_and_file_that_the_manual_names_exists() -> None:
    root = Path(__file__).parents[2]
    operations = (root / "docs" / "operations.md").read_text()
    for path in set(re.findall(r"`((?:tests|examples)/[\w/.]+)`", MANUAL)):
        assert (root / path).exists(), path
    limits = MANUAL.partition("## Limits")[2].partition("\nClose codes")[0]
    for setting in set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", limits)):
        assert f"| `{setting}` |" in operations, setting


def test_the_login_of_the_manual_has_every_command_that_the_server_uses() -> None:
    root = Path(__file__).parents[2] / "server"
    python = "\n".join(path.read_text() for path in root.rglob("*.py"))
    lua = "\n".join(path.read_text() for path in root.rglob("*.lua"))
    used = set(re.findall(r"\.(?:call|at)\(\s*[\w.()]+,\s*\"([A-Z]+)\"", python))
    used |= set(re.findall(r"redis\.p?call\('([A-Z]+)'", lua))

    allowed = {command.partition("|")[0] for command in re.findall(r"\+([a-z_|]+)", acl())}
    assert {"XADD", "XRANGE", "GET"} <= used, "the commands were found"
    assert sorted(command for command in used if command.lower() not in allowed) == []
