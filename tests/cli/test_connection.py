from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from clients.cli.connection import CannotConnect, Dropped, Trouble, _explained, dial, server_url
from protocol.limits import SUBPROTOCOL


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("localhost", "ws://localhost:8750"),
        ("localhost:99", "ws://localhost:99"),
        ("ws://10.0.0.1:8750/", "ws://10.0.0.1:8750"),
        ("wss://cards.example", "wss://cards.example"),
        ("wss://cards.example/fudaza", "wss://cards.example/fudaza"),
        ("[::1]:99", "ws://[::1]:99"),
        ("  host:1 ", "ws://host:1"),
    ],
)
def test_addresses_as_people_type_them(typed: str, meant: str) -> None:
    assert server_url(typed) == meant


@pytest.mark.parametrize(
    "typed",
    [*("", "http://host", "ws://", "host:port", "ws://u:p@host", "a b", "ws://host:99999"), "a..b", "x" * 64 + ".org"],
)
def test_what_is_no_address_is_refused_with_an_example(typed: str) -> None:
    with pytest.raises(ValueError, match=r"ws://HOST:PORT"):
        server_url(typed)


@asynccontextmanager
async def listening(**kwargs: object) -> AsyncIterator[str]:
    async def echo(connection: ServerConnection) -> None:
        async for frame in connection:
            await connection.send(frame)

    options = {"subprotocols": [Subprotocol(SUBPROTOCOL)], **kwargs}
    server: Server
    async with serve(echo, "127.0.0.1", 0, **options) as server:  # type: ignore[arg-type]
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def trouble_at(url: str) -> Trouble:
    with pytest.raises(CannotConnect) as caught:
        await dial(url)
    return caught.value.trouble


async def test_frames_go_as_text_and_come_as_bytes() -> None:
    async with listening() as url:
        wire = await dial(url)
        await wire.send(b'{"t":"x"}')
        assert await wire.receive() == b'{"t":"x"}'
        await wire.close()


async def test_a_connection_that_ended_says_so_with_its_code() -> None:
    async def leave(connection: ServerConnection) -> None:
        await connection.close(4001)

    async with serve(leave, "127.0.0.1", 0, subprotocols=[Subprotocol(SUBPROTOCOL)]) as server:
        wire = await dial(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        with pytest.raises(Dropped) as caught:
            await wire.receive()
        assert caught.value.code == 4001
        with pytest.raises(Dropped):
            await wire.send(b"{}")
        await wire.close()


async def test_nobody_listens_there() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        assert await trouble_at(f"ws://127.0.0.1:{unused.getsockname()[1]}") is Trouble.NOBODY_THERE


async def test_a_server_of_something_else_is_no_fudaza() -> None:
    async with listening(subprotocols=[Subprotocol("chat")]) as url:
        assert await trouble_at(url) is Trouble.NO_FUDAZA


async def test_a_web_server_is_no_fudaza() -> None:
    def page(connection: ServerConnection, request: Request) -> Response:
        return connection.respond(HTTPStatus.OK, "hello\n")

    async with listening(process_request=page) as url:
        assert await trouble_at(url) is Trouble.NO_FUDAZA


async def test_a_full_server_is_busy() -> None:
    def full(connection: ServerConnection, request: Request) -> Response:
        return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "full\n")

    async with listening(process_request=full) as url:
        assert await trouble_at(url) is Trouble.BUSY


def test_a_certificate_that_is_not_trusted_is_told_apart() -> None:
    problem = ssl.SSLCertVerificationError(1, "certificate verify failed")
    problem.verify_message = "certificate has expired"
    assert _explained(problem) == (Trouble.NO_TRUST, "certificate has expired")
