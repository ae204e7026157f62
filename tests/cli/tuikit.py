"""The full-screen face in memory: a hall, an application without a terminal, and what is on its screen as text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from clients.cli.core import Core
from clients.cli.picture import Picture
from clients.cli.session import Session
from clients.cli.table import Table
from clients.cli.tui.app import TableApp
from clients.cli.tui.sitting import Sitting
from clients.cli.words import Lines
from engine.game import AnyGame
from protocol.messages import Act, Command, Create, ListRooms
from tests.cli.hall import Hall, Network

SIZES = {"small": (80, 24), "usual": (110, 34), "large": (160, 50)}


def screen_text(app: App[Any]) -> str:
    """What is on the screen, without styles. Textual has no public way to ask; this is the one place that knows how."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)


class Client:
    """An application at a hall, and a person at its keys."""

    def __init__(self, app: TableApp, pilot: Pilot[int], hall: Hall, network: Network) -> None:
        self.app = app
        self.pilot = pilot
        self.hall = hall
        self.network = network

    @property
    def sitting(self) -> Sitting:
        return self.app.sitting

    @property
    def text(self) -> str:
        return screen_text(self.app)

    @property
    def moves(self) -> list[str]:
        return [command.action for command in self.hall.commands if isinstance(command, Act)]

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def until(self, true: Callable[[], bool], what: str = "") -> None:
        """Wait until something is so; each round lets everything that waits for the event loop have its turn."""
        try:
            async with asyncio.timeout(60):
                while not true():  # noqa: ASYNC110 - what is waited for has no event to set
                    await asyncio.sleep(0)
        except TimeoutError:
            raise AssertionError(f"{what or true} never came about; on the screen:\n{self.text}") from None

    async def sees(self, wanted: str) -> str:
        await self.until(lambda: wanted in self.text, repr(wanted))
        return self.text

    async def my_turn(self) -> None:
        await self.until(lambda: self.sitting.choice is not None, "a decision")


@asynccontextmanager
async def at_table(
    game: AnyGame,
    *,
    size: tuple[int, int] = SIZES["small"],
    start: bool = True,
    hall: Hall | None = None,
    door: type[Command] = Create,
    lobby: bool = False,
    clock: Callable[[], float] = lambda: 0.0,
    down: int = 0,
    invitation: Callable[[Picture], Lines] = lambda _picture: (),
    **fields: Any,
) -> AsyncIterator[Client]:
    """A client whose person opened a room (or came in by ``door``) and, with ``start``, began a match.

    With ``lobby`` it stands before the door.
    """
    hall = hall or Hall(game, seed=5)
    network = Network(hall)
    network.down = down
    made: list[int] = []

    def sit_down() -> Sitting:
        made.append(1)
        session = Session(chr(ord("f") + len(made)) * 20, bytes)
        if lobby:
            session.ask(ListRooms)
        else:
            session.ask(door, **(fields or {"game": game.name, "name": "Aki"}))
        core = Core("ws://hall", session, dial=network.dial, sleep=network.sleep)
        return Sitting(Table(core), start=start and not lobby, clock=clock, invitation=invitation)

    app = TableApp(sit_down, lobby="Aki" if lobby else None)
    async with app.run_test(size=size) as pilot:
        yield Client(app, pilot, hall, network)
    await asyncio.sleep(0)
