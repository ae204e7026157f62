"""Which server has a key: the only one, the one that sentinels name, or the owner of a hash slot.

A route knows servers and lines to them. It knows no Function and no key of ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, Final, Protocol

from redis.asyncio.connection import AbstractConnection
from redis.crc import key_slot
from redis.exceptions import AskError, ClusterDownError, MovedError, RedisError, TryAgainError

from server.log import StoreUnavailable
from server.store.address import Address, Kind, Node
from server.store.line import Argument, Line, hang_up

_REDIRECTS: Final = 16
_TRY_AGAIN_SECONDS: Final = 0.05


class Route(Protocol):
    """Every method may raise ``StoreUnavailable``."""

    def call(self, key: str, *command: Argument) -> Awaitable[Any]:
        """The reply to a command on ``key`` (and keys with the same tag).

        Raises:
            redis.exceptions.ResponseError: refused, other than by "ask elsewhere".
        """
        ...

    def together(self, keys: Iterable[str]) -> list[list[str]]:
        """``keys`` in groups; all keys of a group may stand in one command, routed by the first of them."""
        ...

    async def primaries(self) -> list[Node]:
        """All servers that have keys."""
        ...

    def at(self, node: Node, *command: Argument) -> Awaitable[Any]:
        """The reply of one of the ``primaries`` to a command without a key; errors as in ``call``."""
        ...

    async def owner(self, key: str) -> Node:
        """The server that has ``key`` now."""
        ...

    async def connect(self, node: Node) -> AbstractConnection:
        """An open connection of one's own to ``node``, an answer of ``owner``."""
        ...

    def doubt(self) -> None:
        """Look again who owns what before the next use: something pointed to a change."""
        ...

    async def aclose(self) -> None:
        """Close all lines."""
        ...


def route_to(address: Address, *, timeout: float) -> Route:
    """The route for a URL's kind. ``timeout`` is how many seconds an exchange with a server may take."""
    return Cluster(address, timeout=timeout) if address.kind is Kind.CLUSTER else Single(address, timeout=timeout)


async def _opened(connection: AbstractConnection) -> AbstractConnection:
    """``connection``, connected and logged in within its time for connecting."""
    try:
        # redis-py limits only the connecting; a server that is stopped still lets the kernel accept
        async with asyncio.timeout(connection.socket_connect_timeout):
            await connection.connect()  # type: ignore[no-untyped-call]
    except BaseException:
        await hang_up(connection)
        raise
    return connection


async def _ask(connection: AbstractConnection, *command: Argument) -> Any:
    """One question on a connection that is opened for it."""
    await _opened(connection)
    try:
        await connection.send_command(*command)
        return await connection.read_response()
    finally:
        await hang_up(connection)


class Single:
    """One server, named or found through sentinels."""

    _NODE: Final[Node] = ("", 0)

    def __init__(self, address: Address, *, timeout: float) -> None:
        self._address = address
        self._connect_timeout = timeout / 2
        self._line = Line(partial(self.connect, self._NODE), timeout=timeout)

    def call(self, key: str, *command: Argument) -> Awaitable[Any]:  # noqa: ARG002 - one server has all keys
        """See ``Route``."""
        return self._line.call(*command)

    def together(self, keys: Iterable[str]) -> list[list[str]]:
        """See ``Route``."""
        group = list(keys)
        return [group] if group else []

    async def primaries(self) -> list[Node]:
        """See ``Route``."""
        return [self._NODE]

    def at(self, node: Node, *command: Argument) -> Awaitable[Any]:  # noqa: ARG002 - likewise
        """See ``Route``."""
        return self._line.call(*command)

    async def owner(self, key: str) -> Node:  # noqa: ARG002 - likewise
        """See ``Route``."""
        return self._NODE

    async def connect(self, node: Node) -> AbstractConnection:  # noqa: ARG002 - likewise
        """See ``Route``."""
        if self._address.kind is Kind.SENTINEL:
            return await self._primary()
        return await _opened(self._address.connection(connect_timeout=self._connect_timeout))

    async def _primary(self) -> AbstractConnection:
        """As the guidelines for clients of Sentinel say: believe no sentinel, only the server's own ROLE. All of them
        are asked at the same time, for the silence of some must not use up the time in which another would have
        answered.
        """
        asked = [asyncio.create_task(self._named_by(sentinel)) for sentinel in self._address.nodes]
        tried: set[Node] = set()
        problems = []
        try:
            for answer in asyncio.as_completed(asked):
                try:
                    node = await answer
                    if node not in tried:
                        tried.add(node)
                        return await self._primary_at(node)
                except (RedisError, OSError, StoreUnavailable) as error:
                    problems.append(str(error) or "a server did not answer")
        finally:
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        raise StoreUnavailable("; ".join(problems))

    async def _named_by(self, sentinel: Node) -> Node:
        """The primary as ``sentinel`` knows it."""
        service = self._address.service
        asked = self._address.sentinel(sentinel, connect_timeout=self._connect_timeout)
        async with asyncio.timeout(self._connect_timeout):
            found = await _ask(asked, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", service)
        if found is None:
            raise StoreUnavailable(f"the sentinel {sentinel[0]}:{sentinel[1]} knows no {service}")
        return found[0].decode(), int(found[1])

    async def _primary_at(self, node: Node) -> AbstractConnection:
        primary = await _opened(self._address.connection(node, connect_timeout=self._connect_timeout))
        try:
            async with asyncio.timeout(self._connect_timeout):
                await primary.send_command("ROLE")
                role = (await primary.read_response())[0]
        except BaseException:
            await hang_up(primary)
            raise
        if role != b"master":
            await hang_up(primary)
            raise StoreUnavailable(f"{node[0]}:{node[1]} is no primary yet")
        return primary

    def doubt(self) -> None:
        """Nothing to look up: a new connection finds the primary anew."""

    async def aclose(self) -> None:
        """See ``Route``."""
        await self._line.aclose()


class Cluster:
    """Hash slots on several primaries, and redirections while slots move (the Redis Cluster specification)."""

    def __init__(self, address: Address, *, timeout: float) -> None:
        self._address = address
        self._timeout = timeout
        self._lines: dict[Node, Line] = {}
        self._slots: dict[int, Node] = {}
        self._doubted = True
        self._looking = asyncio.Lock()

    async def call(self, key: str, *command: Argument) -> Any:
        """See ``Route``."""
        slot = key_slot(key.encode())
        node = await self.owner(key)
        ask: Callable[..., Awaitable[Any]] = self._line(node).call
        for _ in range(_REDIRECTS):
            try:
                return await ask(*command)
            except MovedError as moved:
                node = moved.host or node[0], moved.port
                self._slots[slot] = node
                self.doubt()
                ask = self._line(node).call
            except AskError as asking:
                ask = self._line((asking.host or node[0], asking.port)).call_asking
            except TryAgainError:
                await asyncio.sleep(_TRY_AGAIN_SECONDS)
            except ClusterDownError as down:
                self.doubt()
                raise StoreUnavailable(str(down)) from down
            except StoreUnavailable:
                self.doubt()
                raise
        self.doubt()
        raise StoreUnavailable(f"the cluster sent a command for slot {slot} from node to node")

    def together(self, keys: Iterable[str]) -> list[list[str]]:
        """See ``Route``: what shares a slot. Those of one server do not, for the cluster."""
        groups: dict[int, list[str]] = {}
        for key in keys:
            groups.setdefault(key_slot(key.encode()), []).append(key)
        return list(groups.values())

    async def primaries(self) -> list[Node]:
        """See ``Route``."""
        await self._look()
        # also a server to which the first slot is just moving
        return sorted({*self._slots.values(), *self._lines})

    async def at(self, node: Node, *command: Argument) -> Any:
        """See ``Route``."""
        try:
            return await self._line(node).call(*command)
        except StoreUnavailable:
            self.doubt()
            raise

    async def owner(self, key: str) -> Node:
        """See ``Route``."""
        slot = key_slot(key.encode())
        if self._doubted or slot not in self._slots:
            await self._look()
        if slot not in self._slots:
            self.doubt()
            raise StoreUnavailable(f"no node of the cluster has slot {slot}")
        return self._slots[slot]

    async def connect(self, node: Node) -> AbstractConnection:
        """See ``Route``."""
        return await _opened(self._address.connection(node, connect_timeout=self._timeout / 2))

    def doubt(self) -> None:
        """See ``Route``."""
        self._doubted = True

    def _line(self, node: Node) -> Line:
        line = self._lines.get(node)
        if line is None:
            line = self._lines[node] = Line(partial(self.connect, node), timeout=self._timeout)
        return line

    async def _look(self) -> None:
        """Ask all nodes who owns what and believe the first that answers, unless somebody just did.

        A redirection corrects an answer that is out of date.
        """
        async with self._looking:
            if not self._doubted:
                return
            nodes = dict.fromkeys((*self._slots.values(), *self._address.nodes))
            asked = [asyncio.create_task(self._owners_by(node)) for node in nodes]
            problems = []
            try:
                for answer in asyncio.as_completed(asked):
                    try:
                        self._slots = await answer
                    except (RedisError, OSError) as error:
                        problems.append(str(error) or "a node did not answer")
                    else:
                        self._doubted = False
                        break
                else:
                    raise StoreUnavailable("; ".join(problems))
            finally:
                for task in asked:
                    task.cancel()
                await asyncio.gather(*asked, return_exceptions=True)
            for node in self._lines.keys() - set(self._slots.values()):
                await self._lines.pop(node).retire()

    async def _owners_by(self, node: Node) -> dict[int, Node]:
        connect_timeout = self._timeout / 2
        async with asyncio.timeout(connect_timeout):
            connection = self._address.connection(node, connect_timeout=connect_timeout)
            return dict(_owners(await _ask(connection, "CLUSTER", "SLOTS"), node[0]))

    async def aclose(self) -> None:
        """See ``Route``."""
        for line in tuple(self._lines.values()):  # who still asks meanwhile may be sent to another server
            await line.aclose()


def _owners(ranges: Iterable[Any], asked: str) -> Iterable[tuple[int, Node]]:
    """Each slot and its primary, from CLUSTER SLOTS; an empty host means the one that was asked."""
    for first, last, primary, *_ in ranges:
        node = (primary[0] or b"").decode() or asked, int(primary[1])
        for slot in range(first, last + 1):
            yield slot, node
