"""How long an AI seems to think tells nothing of any hand: in worlds that differ in what a viewer cannot know, the same
pauses are drawn, for as many decisions, to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final, cast

import pytest
from msgspec.structs import replace

from engine.game import AnyGame, GameError, Seat, Viewer
from engine.registry import GAMES
from server import room as rooms
from server.driver import Driver
from server.entries import Actor
from server.hall import Hall
from server.host import Node, RoomHost
from server.metrics import Metrics
from server.presence import Presence
from server.room import AiMove, Phase, Room
from server.room.state import Legal
from server.worker import Answer, Question
from tests.server.hallkit import Clock, Steady, Timers, until
from tests.server.memory import MemoryIndex, MemoryLog
from tests.server.roomkit import TIMING, Dice
from tests.server.roomkit import Hall as OneRoom

PAUSE_MS: Final = 1_000
MATCHES: Final = {"koi-koi": 12, "go-stop": 12, "hachinin-meri": 4}
"""Eight seats decide often."""
WORLDS: Final = 2
"""Besides the one that is played."""


class AtRandom:
    """Any legal action, at once."""

    async def think(self, question: Question) -> Answer:
        return Answer(question.number, Random(question.seed).choice(question.legal))


class World:
    """A driver of its own, that is shown a room and asked for its AI's moves, and how long it slept before each. What
    it decides is checked and then forgotten: the next room shown is the next that is played.
    """

    def __init__(self, pause_ms: int = PAUSE_MS) -> None:
        self.clock = Clock()
        self.room: Room
        self.slept: list[float] = []
        self.moved: list[AiMove] = []
        index, metrics = MemoryIndex(self.clock), Metrics()
        node = Node("n1", MemoryLog(), GAMES, self.clock, Dice(), metrics, Presence(index, "n1", Steady()))
        self._hall = Hall(node._replace(later=Timers(self.clock).later), index, TIMING)
        self.driver = Driver(self._hall, index, AtRandom(), secret=b"s" * 32, pause_ms=pause_ms, sleep=self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def move(self, move: AiMove, action: str, actor: Actor) -> bool:
        """What a host does, but for the log."""
        try:
            entry = rooms.move_for(self.room, move, action, actor, self.clock.now)
        except GameError as problem:
            raise AssertionError("a legal action was refused") from problem
        self.moved.append(move)
        return entry is not None

    @property
    def gone(self) -> bool:
        """As of a host."""
        return False

    async def shown(self, room: Room, now: int) -> None:
        """The room is as it is now; its AI move."""
        self.room, self.clock.now = room, now
        host = self._hall.hosts[room.id] = cast("RoomHost", self)
        asked = len(self.moved) + len(rooms.ai_moves(room))
        self.driver.changed(host)
        await until(lambda: len(self.moved) == asked and not self.driver._thinking)


def decisions(game: AnyGame, seed: int) -> Iterator[OneRoom]:
    """A match of one person, who watches, against AI in all other seats, stopped at every decision that AI have."""
    rng = Random(seed)
    options = {name: rng.choice(values) for name, values in game.options.items()}
    hall = OneRoom(game, options=options | {"deals": min(map(int, game.options["deals"]))}, seed=f"pauses {seed}")
    hall.start("easy")
    while hall.phase() is not Phase.FINISHED:
        if hall.phase() is not Phase.PLAYING:
            hall.later((rooms.next_due(hall.room) or hall.now) - hall.now)
            continue
        if rooms.ai_moves(hall.room):
            yield hall
            hall.ai(rng.randrange(48))
        elif hall.decision.seats == (0,) or hall.decision.sealed:
            legal = rooms.question(hall.room, Seat(0)).legal
            if not any(each.seat == 0 for each in hall.room.table.answers):  # type: ignore[union-attr]  # a deal is on
                hall.act(0, rng.choice(legal))
        if hall.phase() is Phase.PLAYING and hall.decision.sealed and not rooms.ai_moves(hall.room):
            hall.publish()


def elsewhere(game: AnyGame, room: Room, viewer: Viewer, rng: Random) -> Room:
    """The room in another world that fits what ``viewer`` knows."""
    table = room.table
    assert table is not None
    assert table.decision is not None
    state = game.resample(game.view(table.match.state, viewer), rng)
    there = replace(table.decision, legal=Legal())
    return replace(room, table=replace(table, match=replace(table.match, state=state), decision=there))


async def pauses(game: AnyGame) -> tuple[list[list[float]], int]:
    """What each world slept before its AI moved, and how often a hand left another number of choices elsewhere."""
    worlds = [World() for _ in range(1 + WORLDS)]
    for world in worlds:
        await world.driver.beat()
    differing = 0
    for seed in range(MATCHES[game.name]):
        rng = Random(seed)
        for hall in decisions(game, seed):
            viewer: Viewer = rng.choice([None, Seat(0)])
            shown = [hall.room, *(elsewhere(game, hall.room, viewer, rng) for _ in range(WORLDS))]
            differing += len({_choices(room) for room in shown}) > 1
            for world, room in zip(worlds, shown, strict=True):
                await world.shown(room, hall.now)
    assert len({len(world.moved) for world in worlds}) == 1
    for world in worlds:
        await world.driver.stop()
    return [world.slept for world in worlds], differing


def _choices(room: Room) -> tuple[int, ...]:
    return tuple(len(rooms.question(room, move.seat).legal) for move in rooms.ai_moves(room))


@pytest.mark.parametrize("name", sorted(GAMES))
async def test_the_pause_before_an_ai_moves_is_drawn_without_a_look_at_the_cards(name: str) -> None:
    slept, differing = await pauses(GAMES[name])

    assert differing > 5, "hands that leave different choices are among those compared"
    assert len(slept[0]) > 10
    assert all(each == slept[0] for each in slept)
    assert all(0.5 <= pause <= 1.5 for pause in slept[0])
    assert len(set(slept[0])) == len(slept[0]), "it is drawn anew each time"


async def test_where_no_pause_is_set_and_before_sealed_answers_none_is_made() -> None:
    """Sealed answers are seen at a fixed time (H10)."""
    quick, slow = World(pause_ms=0), World()
    for world in (quick, slow):
        await world.driver.beat()
    sealed = 0
    for hall in decisions(GAMES["hachinin-meri"], 1):
        await quick.shown(hall.room, hall.now)
        if hall.decision.sealed:
            sealed += 1
            await slow.shown(hall.room, hall.now)

    assert quick.slept == slow.slept == []
    assert len(quick.moved) > len(slow.moved) >= 7 * sealed > 0
    for world in (quick, slow):
        await world.driver.stop()


# This test finds what it is for ----------------------------------------------------------------------------------

Fault = Callable[[Driver, int], None]


def shorter_without_a_choice(driver: Driver, choices: int) -> None:
    """Who has one legal action needs not think."""
    driver._pause_ms = PAUSE_MS // 2 if choices == 1 else PAUSE_MS


def longer_with_many_choices(driver: Driver, choices: int) -> None:
    driver._pause_ms = PAUSE_MS + choices


def drawn_for_who_has_a_choice(driver: Driver, choices: int) -> None:
    """The pauses that come after tell how often a number was drawn."""
    if choices > 1:
        driver._pauses.random()


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (shorter_without_a_choice, "hachinin-meri"),  # in the other games only the last card leaves none: all see that
        (drawn_for_who_has_a_choice, "hachinin-meri"),
        *((longer_with_many_choices, name) for name in sorted(GAMES)),
    ],
)
async def test_an_ai_that_paused_by_its_cards_would_be_found_out(
    fault: Fault, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Driver._move

    async def move(self: Driver, room: Room, asked: AiMove) -> Any:
        fault(self, len(rooms.question(room, asked.seat).legal))
        return await original(self, room, asked)

    monkeypatch.setattr(Driver, "_move", move)

    slept, _ = await pauses(GAMES[name])

    assert not all(each == slept[0] for each in slept)
