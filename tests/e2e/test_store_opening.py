"""Opening a store: URLs, logins, and servers that cannot be used."""

from __future__ import annotations

import signal

import pytest

from server.log import EMPTY, StoreFull
from server.store import BadAddress, CannotOpen, StoredLog, open_store
from server.store.address import Address, Kind
from server.store.client import _check_version
from tests.stores import StoreServer, free_port


async def test_a_store_that_nobody_runs_cannot_be_opened_and_the_message_says_where() -> None:
    port = free_port()

    with pytest.raises(CannotOpen, match=f"127.0.0.1:{port}"):
        await open_store(f"redis://127.0.0.1:{port}")


async def test_a_login_is_taken_from_the_url_or_beside_it_and_a_wrong_one_is_refused(valkey: StoreServer) -> None:
    valkey.ask("CONFIG", "SET", "requirepass", "the secret")

    await (await open_store(f"redis://:the%20secret@127.0.0.1:{valkey.port}")).aclose()
    await (await open_store(valkey.tcp_url, password="the secret")).aclose()  # noqa: S106 - of this test
    for url in (valkey.tcp_url, f"redis://:wrong-secret@127.0.0.1:{valkey.port}"):
        with pytest.raises(CannotOpen) as refused:
            await open_store(url)
        assert "wrong-secret" not in str(refused.value)


async def test_a_full_store_can_only_be_opened_to_be_read(valkey: StoreServer) -> None:
    first = await open_store(valkey.url)  # it has our Functions now
    await StoredLog(first).append("room", EMPTY, b"entry")
    valkey.ask("CONFIG", "SET", "maxmemory", "1")

    with pytest.raises(CannotOpen, match="full"):
        await open_store(valkey.url)
    second = await open_store(valkey.url, even_full=True)
    assert [stored.data for stored in await StoredLog(second).read("room")] == [b"entry"]
    assert abs(second.now_ms() - first.now_ms()) < 1000
    with pytest.raises(StoreFull):
        await StoredLog(second).append("other", EMPTY, b"entry")
    await first.aclose()
    await second.aclose()


async def test_a_server_that_answers_nothing_cannot_be_opened(valkey: StoreServer) -> None:
    valkey.signal(signal.SIGSTOP)

    with pytest.raises(CannotOpen, match="did not answer"):
        await open_store(valkey.url, exchange_seconds=0.3)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://host", "is no store URL"),
        ("redis+raft://host", "is no store URL"),
        ("redis://host:port/0", "is no store URL"),
        ("redis+sentinel://host", "does not name the service"),
        ("redis+cluster://host/3", "only one"),
        ("redis://host/main", "can be read"),
        ("redis+sentinel://host/main/two", "can be read"),
        ("redis://host?nosuch=hush", r"host\?nosuch=… is no store URL"),
        ("redis://host?socket_timeout=5&db=1", r"host\?socket_timeout=…&db=… is no store URL"),
        ("rediss://host?ssl_cert_reqs=hush", r"host\?ssl_cert_reqs=… is no store URL"),
        ("", "is no store URL"),
    ],
)
def test_a_bad_url_is_refused_with_the_reason_and_without_its_password(url: str, why: str) -> None:
    secret = url.replace("://", "://user:hush@")

    for each in (url, secret):
        with pytest.raises(BadAddress, match=why) as refused:
            Address(each)
        assert "hush" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "kind", "nodes"),
    [
        ("redis://host", Kind.SINGLE, (("host", 6379),)),
        ("rediss://user:hush@host:1/2", Kind.SINGLE, (("host", 1),)),
        ("redis+cluster://user:hush@a:1,b,[::1]:3", Kind.CLUSTER, (("a", 1), ("b", 6379), ("::1", 3))),
        ("redis+sentinel://:hush@a:1,b/main/2", Kind.SENTINEL, (("a", 1), ("b", 26379))),
    ],
)
def test_urls_name_hosts_and_show_no_password(url: str, kind: Kind, nodes: tuple[tuple[str, int], ...]) -> None:
    address = Address(url)

    assert (address.kind, address.nodes) == (kind, nodes)
    assert "hush" not in repr(address) + address.shown
    assert address.connection(nodes[0], connect_timeout=1.0).password == ("hush" if "hush" in url else None)


@pytest.mark.parametrize(
    "info", ["redis_version:6.2.14\r\n", "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:7.1.9\r\n"]
)
def test_a_server_that_is_too_old_is_refused(info: str) -> None:
    with pytest.raises(CannotOpen, match="or newer is needed"):
        _check_version(info, "redis://host")


@pytest.mark.parametrize("info", ["redis_version:7.0.0\r\n", "redis_version:7.2.4\r\nvalkey_version:7.2.5\r\n"])
def test_a_server_that_is_new_enough_is_taken(info: str) -> None:
    _check_version(info, "redis://host")


async def test_a_prefix_keeps_installations_in_one_store_apart(valkey: StoreServer) -> None:
    one, other = await open_store(valkey.url, prefix="one:"), await open_store(valkey.url, prefix="other:")
    await StoredLog(one).append("room", EMPTY, b"one")

    assert await StoredLog(other).read("room") == []
    assert [room async for room in StoredLog(other).rooms()] == []
    with pytest.raises(CannotOpen, match="prefix"):
        await open_store(valkey.url, prefix="{bad}")
    await one.aclose()
    await other.aclose()
