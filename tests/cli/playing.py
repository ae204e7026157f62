"""Playing at the full-screen table by keys, up to a decision of a certain kind."""

from __future__ import annotations

import msgspec

from clients.cli.tui.result import Result
from engine.game import AnyGame
from engine.registry import GAMES
from protocol.messages import (
    Ready,
    Settings,
    Snapshot,
)
from tests.cli.hall import Hall
from tests.cli.tuikit import Client

KOI_KOI = GAMES["koi-koi"]
MERI = GAMES["hachinin-meri"]


async def play_on(client: Client, until: str = "over") -> None:
    """Play the first possible card each time, until the deal is over or a decision of the phase ``until`` is open."""
    for _move in range(200):
        await client.until(lambda: client.sitting.choice is not None or isinstance(client.app.screen, Result))
        picture = client.sitting.picture
        assert picture is not None
        if isinstance(client.app.screen, Result) or picture.view.table.phase == until:
            return
        await client.press("right", "enter")
    raise AssertionError(f"never came to {until}")


def phases(game: AnyGame) -> list[str]:
    return ["declaring", "discarding", "playing"] if game is MERI else ["play", "choose", "decide"]


PROMPTS = [(name, phase) for name in GAMES for phase in phases(GAMES[name])]
SEEDS = {("koi-koi", "choose"): 24, ("koi-koi", "decide"): 54, ("go-stop", "decide"): 18}
"""Seeds of halls in which the phase soon comes to our seat; 5 does for all others."""


def hall_for(name: str, phase: str) -> Hall:
    """A hall in which our seat comes to decide in that phase, when it always plays the first possible card."""
    return Hall(GAMES[name], seed=SEEDS.get((name, phase), 5), options={"deals": max(GAMES[name].options["deals"])})


async def come_to(client: Client, phase: str) -> None:
    """Play until a decision of that phase is open, over as many deals as it takes."""
    for _deal in range(12):
        await play_on(client, phase)
        if not isinstance(client.app.screen, Result):
            return
        await go_on(client)
    raise AssertionError(f"never came to {phase}")


async def go_on(client: Client) -> None:
    """From a deal's result to the next deal, which may be over at once (dealt again)."""
    await client.press("enter")
    await client.until(lambda: not client.sitting.session.asked(Ready) and client.sitting.core.idle())
    await client.pilot.pause()


class Permissive(Hall):
    """A hall whose rooms allow hints and winks."""

    def snapshot(self) -> Snapshot:
        """With other settings."""
        return msgspec.structs.replace(super().snapshot(), settings=Settings(hints=True, winks=True))
