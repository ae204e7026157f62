"""A gateway on a real port, on a log in memory, and a client that speaks raw frames."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Final, Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from protocol.limits import SUBPROTOCOL
from server.gateway import Gateway
from server.settings import Settings
from tests.server.hallkit import House
from tests.server.roomkit import Client

PATIENCE_SECONDS: Final = 20.0


class Wire:
    """One connection. Messages are read as they come; ``until`` skips to the one that is wanted."""

    def __init__(self, port: int, name: str = "wire") -> None:
        self._connect = connect(
            f"ws://127.0.0.1:{port}", subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None, close_timeout=1
        )
        self.client = Client(name)
        self.socket: ClientConnection
        self.heard: list[dict[str, Any]] = []
        self.place: dict[str, Any] = {}

    async def __aenter__(self) -> Self:
        self.socket = await self._connect.__aenter__()
        assert (await self.hear())["t"] == "welcome"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._connect.__aexit__(kind, error, trace)

    async def hear(self) -> dict[str, Any]:
        """The next message."""
        message: dict[str, Any] = json.loads(await asyncio.wait_for(self.socket.recv(), PATIENCE_SECONDS))
        self.heard.append(message)
        if message["t"] == "accepted" and "place" in message:
            self.place = message["place"]
        return message

    async def until(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The next message of ``kind`` with these fields."""
        while True:
            message = await self.hear()
            if message["t"] == kind and all(message.get(name) == value for name, value in fields.items()):
                return message

    async def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        command_id = fields.pop("id", None) or self.client.id()
        await self.socket.send(json.dumps({"t": command, "id": command_id, **fields}))
        answer = await self.answer()
        assert answer["id"] == command_id
        return answer

    async def answer(self) -> dict[str, Any]:
        """The next answer to a command."""
        while True:
            message = await self.hear()
            if message["t"] in {"accepted", "refused"}:
                return message

    async def raw(self, frame: str | bytes) -> dict[str, Any]:
        """Send a frame as it is and hear the refusal."""
        await self.socket.send(frame)
        return await self.until("refused")

    async def closed(self) -> int | None:
        """Wait for the close; its code."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            try:
                async for frame in self.socket:
                    self.heard.append(json.loads(frame))
            except ConnectionClosed:
                pass  # the code says how
            return self.socket.close_code


class Gate:
    """A gateway that listens."""

    def __init__(self, house: House, gateway: Gateway, port: int) -> None:
        self.house = house
        self.gateway = gateway
        self.port = port
        self.seconds = 0.0
        """The clock of the limits."""
        self.slept: list[float] = []
        """How long frames were held back, each time."""
        self.hold = self.note
        """What holding a frame back does."""

    async def note(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)

    def wire(self, name: str = "wire") -> Wire:
        return Wire(self.port, name)


@asynccontextmanager
async def gate(settings: Settings | None = None, *, house: House | None = None) -> AsyncIterator[Gate]:
    house = house or House()
    await house.driver.beat()
    opened: list[Gate] = []

    gateway = Gateway(
        house.hall,
        house.health,
        settings or Settings(data=""),
        version="9.9",
        clock=lambda: opened[0].seconds,
        sleep=lambda seconds: opened[0].hold(seconds),  # noqa: PLW0108 - there is none yet
    )
    opened.append(Gate(house, gateway, await gateway.listen("127.0.0.1", 0)))
    try:
        yield opened[0]
    finally:
        await gateway.drain()
        await house.close()
