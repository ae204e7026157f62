"""The store's login as the manual writes it: enough to play, and good for nothing else."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from redis.crc import key_slot
from redis.exceptions import ResponseError

from engine.registry import GAMES
from server.log import EMPTY, StoreUnavailable
from server.store import CannotOpen, StoredLog, open_store
from server.store.keys import Keys
from tests.clusters import ClusterServers, identity, reply
from tests.security.matches import Place, log_kept, play
from tests.security.nodes import nodes, wall_ms
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


def in_a_cluster() -> str:
    """What the manual adds to it for a cluster."""
    return MANUAL.partition("In a cluster add `")[2].partition("`")[0]


def url_of(store: StoreServer) -> str:
    return f"unix://fudaza:{PASSWORD}@{store.socket}"


async def test_the_login_of_the_manual_is_enough_to_play_and_for_nothing_else(
    guarded: StoreServer, log: io.StringIO
) -> None:
    async with nodes(url_of(guarded), "fudaza:") as opened:
        place = Place(opened, Keys("fudaza:"), lambda _: guarded.url, log, set())
        played = await play(GAMES["koi-koi"], place, seed=1)
        assert not played.leaks
        assert played.wakeups, "nodes can wake each other"
        index = opened[0].index
        await index.all_live()
        await index.unlist("room")
        await index.archive("room", "match", 1, b"{}")
        assert [each.deal async for each in index.archived(room="room")] == [1]
        await index.set_due("room", wall_ms() + 600_000)
        assert await index.count_live() >= 1
        await index.outages()
        assert [room async for room in opened[0].log.rooms()]

    await allows_nothing_else(url_of(guarded))


async def allows_nothing_else(url: str, *more: tuple[str, ...]) -> None:
    """The login at ``url`` is refused everything that only others need."""
    store = await open_store(url)
    try:
        with pytest.raises((ResponseError, StoreUnavailable), match="permission"):
            await store.call("other", "SET", "other", "x")
        for command in (
            ("KEYS", "*"),
            ("FLUSHALL",),
            ("CONFIG", "GET", "*"),
            ("EVAL", "return 1", "0"),
            ("ACL", "LIST"),
            *more,
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


async def test_in_a_cluster_the_login_needs_what_the_manual_adds_and_plays_with_it_also_while_slots_move(
    cluster: ClusterServers, log: io.StringIO
) -> None:
    url = cluster.url.replace("://", f"://fudaza:{PASSWORD}@")
    for server in cluster.servers:
        assert server.ask(*acl().split()) == b"+OK\r\n"
    with pytest.raises(CannotOpen, match="permission"):
        await open_store(url)
    for server in cluster.servers:
        assert server.ask("ACL", "SETUSER", "fudaza", *in_a_cluster().split()) == b"+OK\r\n"

    async with nodes(url, "fudaza:") as opened:
        place = Place(opened, Keys("fudaza:"), lambda channel: cluster.owner(channel).tcp_url, log, set())
        for seed in range(3):
            played = await play(GAMES["koi-koi"], place, seed)
            assert not played.leaks
            assert played.wakeups, "nodes can wake each other"
        head = await opened[0].log.append("room", EMPTY, b"before")
        source = cluster.owner("{room}")
        target = next(server for server in cluster.servers if server is not source)
        slot = str(key_slot(b"room"))
        reply(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", identity(source))
        reply(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", identity(target))
        reply(source, "MIGRATE", "127.0.0.1", str(target.port), "fudaza:{room}:log", "0", "5000")
        await opened[0].log.append("room", head, b"the room has moved, its slot has not")
        assert len(await opened[1].log.read("room")) == 2

    await allows_nothing_else(url, ("CLUSTER", "NODES"), ("CLUSTER", "RESET"), ("CLUSTER", "SETSLOT", "1", "STABLE"))


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
    for setting in {each for each in re.findall(r"`([a-z]+(?:_[a-z]+)+)`", limits) if not each.startswith("test_")}:
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
