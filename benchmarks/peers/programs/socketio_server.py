"""python-socketio as its documentation has it: AsyncServer, ASGI on uvicorn, each seat sent its own view.

Arguments: port, and the URL of a Redis for AsyncRedisManager, or nothing for one process in memory. Runs under the
scratch folder's Python. The rules are those of rules.mjs.
"""

import json
import random
import sys
from typing import Any

import socketio  # type: ignore[import-not-found]
import uvicorn  # type: ignore[import-not-found]

HAND = 8
CARDS = [f"{month:02}{kind}" for month in range(1, 13) for kind in "abcd"]


class Table:
    """One room, and who sits in it."""

    def __init__(self) -> None:
        self.seats: list[str] = []
        self.moves = 0
        self.turn = 0
        self.last: dict[str, Any] | None = None
        self.deal()

    def deal(self) -> None:
        """Shuffle and deal."""
        deck = random.sample(CARDS, len(CARDS))
        self.hands = [deck[:HAND], deck[HAND : 2 * HAND]]
        self.board = deck[2 * HAND : 3 * HAND]
        self.stock = deck[3 * HAND :]
        self.captured: list[list[str]] = [[], []]

    def play(self, seat: int, card: str) -> bool:
        """Play ``card``; False, and nothing changed, where that cannot be."""
        if seat != self.turn or card not in self.hands[seat]:
            return False
        self.hands[seat].remove(card)
        drawn = self.stock.pop(0)
        taken = [*self.lay(card), *self.lay(drawn)]
        self.captured[seat] += taken
        self.last = {"seat": seat, "card": card, "drawn": drawn, "taken": taken}
        self.moves += 1
        self.turn = 1 - seat
        if not any(self.hands):
            self.deal()
        return True

    def lay(self, card: str) -> list[str]:
        """Lay ``card`` on the board; what it takes."""
        pairs = [other for other in self.board if other[:2] == card[:2]]
        if not pairs:
            self.board.append(card)
            return []
        taken = pairs[:1] if len(pairs) == 2 else pairs
        self.board = [other for other in self.board if other not in taken]
        return [card, *taken]

    def view(self, seat: int) -> dict[str, Any]:
        """What ``seat`` may know."""
        return {
            "hand": self.hands[seat],
            "board": self.board,
            "captured": self.captured,
            "stock": len(self.stock),
            "turn": self.turn,
            "moves": self.moves,
            "last": self.last,
        }


def main(port: int, redis: str | None) -> None:
    """Serve until ended."""
    # redis-py's pool has 100 connections by default, which as many rooms at once exhaust; a publication that finds none
    # is tried again a second later.
    manager = socketio.AsyncRedisManager(redis, redis_options={"max_connections": 1000}) if redis else None
    server = socketio.AsyncServer(async_mode="asgi", client_manager=manager)
    tables: dict[str, Table] = {}
    places: dict[str, tuple[Table, int]] = {}

    async def show(table: Table) -> None:
        for seat, player in enumerate(table.seats):
            await server.emit("state", table.view(seat), to=player)

    @server.event  # type: ignore[untyped-decorator]  # not installed here
    async def join(player: str, name: str) -> None:
        table = tables.setdefault(name, Table())
        places[player] = table, len(table.seats)
        table.seats.append(player)
        await server.enter_room(player, name)
        if len(table.seats) == 2:
            await show(table)

    @server.event  # type: ignore[untyped-decorator]  # not installed here
    async def play(player: str, card: str) -> None:
        table, seat = places[player]
        if table.play(seat, card):
            await show(table)

    class Announced(uvicorn.Server):  # type: ignore[misc]
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            sys.stdout.write(json.dumps({"ready": True}) + "\n")
            sys.stdout.flush()

    app = socketio.ASGIApp(server)
    Announced(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning", ws_per_message_deflate=False)).run()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
