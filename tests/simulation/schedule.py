"""A match, what goes wrong meanwhile, and what must hold afterwards: all of it by a seed."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Final

from clients.cli import picture as pictures
from engine.game import AnyGame, Seat
from engine.registry import GAMES
from protocol.codec import encode
from protocol.messages import ChosenSettings, Create, Join, Start
from server import room as rooms
from server.entries import Freed, decode_entry
from server.room import Phase
from tests.faults.invariants import check_answers, check_shown, story_of
from tests.simulation.people import Guest
from tests.simulation.world import World
from tests.toy import DUEL

ALL: Final[Mapping[str, AnyGame]] = {**GAMES, DUEL.name: DUEL}
PATIENCE_SECONDS: Final = 150.0
"""After the last fault a match is over, and everything that was missed made good, in this time at the latest."""
FAULTS: Final = (
    *("kill", "kill", "stall", "stall", "long-stall", "cut", "lossy", "slow", "deaf", "vanish", "vanish"),
    *("black-hole", "store-down", "set-back", "set-back-and-kill-all"),
)


class Schedule:
    """A match and what happens meanwhile. ``faults``: how many at most; None draws them by the seed as well."""

    def __init__(self, seed: int, *, game: str = DUEL.name, faults: int | None = None) -> None:
        self.seed = seed
        self.world = World(f"{game}/{seed}", ALL)
        self.game = game
        self.rng = Random(f"simulation/{seed}")
        self._faults = self.rng.randint(2, 8) if faults is None else faults
        several = [deals for deals in ALL[game].options["deals"] if isinstance(deals, int) and deals > 1]
        self._deals = min(several)
        self.guests = [Guest(self.world, name) for name in ("Ann", "Bob")]
        self.began = asyncio.Event()
        """The match is open: from now on things go wrong."""
        self.lost: set[str] = set()
        """Commands that the store has forgotten."""
        self.story: list[str] = []
        self._healed_at = 0.0
        self._kept = 0
        """The version from which on entries may be lost: before it nobody plays."""

    def run(self) -> None:
        """Play it to the end.

        Raises:
            AssertionError, TimeoutError: something that must hold does not; what was done is told beside.
        """
        loop = self.world.loop
        try:
            loop.run(self._live())
            self._check()
        except BaseException as problem:
            problem.add_note(f"seed {self.seed} of {self.game}, whole again at {self._healed_at:.3f} s: {self.story}")
            raise
        finally:
            loop.bury()

    def digest(self) -> str:
        """Of everything that was written and shown."""
        told = [stored.data for stored in self.world.memory.entries[self._room]]
        told += [encode([guest.events, guest.number, guest.accepted, guest.refused]) for guest in self.guests]
        return hashlib.sha256(b"\n".join([*told, encode(self.story)])).hexdigest()

    @property
    def _room(self) -> str:
        place = self.guests[0].place
        assert place is not None
        return place.room

    async def _live(self) -> None:
        """The whole story."""
        self.world.start()
        async with asyncio.timeout(PATIENCE_SECONDS):
            living = await self._sit_down()
        playing = asyncio.gather(*(guest.until("finished") for guest in self.guests))
        faults = [asyncio.create_task(self._strike(number)) for number in range(self._faults)]
        await asyncio.gather(*faults)
        self._healed_at = self.world.loop.time()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await playing
            while not self._in_step():  # noqa: ASYNC110 - a state of all together, and time costs nothing here
                await asyncio.sleep(0.5)
        for task in living:
            task.cancel()
        for result in await asyncio.gather(*living, return_exceptions=True):
            if isinstance(result, Exception):
                raise result

    async def _sit_down(self) -> list[asyncio.Task[None]]:
        """Everybody is here, and the match is open; what lets them play."""
        ann, *others = self.guests
        living = [asyncio.create_task(guest.play()) for guest in self.guests]
        settings = ChosenSettings(turn_limit=self.rng.choice((0, 10)))
        ann.core.ask(Create, game=self.game, name=ann.name, options={"deals": self._deals}, settings=settings)
        await ann.until("lobby")
        assert ann.place is not None
        for guest in others:
            guest.core.ask(Join, code=ann.place.code, name=guest.name)
            await guest.until("lobby")
        ann.core.ask(Start, level="easy")
        await ann.until("shuffling")
        self._kept = len(self.world.memory.entries[self._room])
        self.began.set()
        return living

    async def _strike(self, number: int) -> None:
        """One fault, at its time."""
        rng, world = Random(f"simulation/{self.seed}/{number}"), self.world
        await asyncio.sleep(rng.uniform(0, 12))
        if all(guest.is_finished for guest in self.guests):
            return
        what, place, seconds = rng.choice(FAULTS), rng.randrange(len(world.nodes)), rng.choice((0.1, 1.0, 4.0, 8.0))
        node = world.nodes[place]
        self.story.append(f"{world.loop.time():.3f} {what} {node.name} {seconds}")
        match what:
            case "kill":
                await self.kill([place], seconds)
            case "stall" | "long-stall":
                await world.stall(place, seconds * (8 if what == "long-stall" else 1))
            case "cut":
                node.cut = True
                await asyncio.sleep(seconds)
                node.cut = False
            case "lossy":
                node.lossy = 0.3
                await asyncio.sleep(seconds)
                node.lossy = 0.0
            case "slow":
                node.slow = 1.0
                await asyncio.sleep(seconds)
                node.slow = 0.0
            case "deaf":
                node.deaf = True
                await asyncio.sleep(seconds)
                node.deaf = False
                if rng.random() < 0.5:
                    world.wake_all(node)
            case "vanish" | "black-hole":
                link = world.links[rng.choice(self.guests).name]
                late = (0.0, 0.0) if what == "vanish" else (rng.uniform(0, 10), rng.uniform(0, 10))
                link.lose(*late)
            case "store-down":
                world.store_down = True
                await asyncio.sleep(seconds)
                world.store_down = False
            case "set-back":
                self._set_back(rng.randint(1, 6))
            case "set-back-and-kill-all":
                self._set_back(rng.randint(1, 6))
                await self.kill(list(range(len(world.nodes))), seconds)
            case _:
                raise AssertionError(what)

    async def kill(self, places: list[int], seconds: float) -> None:
        """SIGKILL, and new nodes after so many seconds."""
        places = [place for place in places if self.world.nodes[place] not in self.world.buried]
        for place in places:
            self.world.kill(place)
        await asyncio.sleep(seconds)
        for place in places:
            self.world.restart(place)

    def _set_back(self, entries: int) -> None:
        """The store loses its last entries."""
        log = self.world.memory.entries[self._room]
        keep = max(self._kept, len(log) - entries)
        self.lost |= {command for stored in log[keep:] if (command := decode_entry(stored.data).command) is not None}
        self.world.memory.roll_back(self._room, keep)

    def _in_step(self) -> bool:
        """Everybody has heard everything, and all nodes are where the log is."""
        log = self.world.memory.entries[self._room]
        hosts = [node.hall.hosts.get(self._room) for node in self.world.nodes]
        room = story_of(log, games=ALL).room
        return (
            room.phase is Phase.FINISHED
            and all(host is None or host.head == log[-1].head for host in hosts)
            and all(
                guest.over is not None or (guest.number == room.number and guest.online and not guest.session.busy)
                for guest in self.guests
            )
        )

    def _check(self) -> None:
        world = self.world
        assert not world.loop.faults, world.loop.faults
        story = story_of(world.memory.entries[self._room], games=ALL)
        assert story.room.phase is Phase.FINISHED
        freed = Counter(entry.body.seat for entry in story.entries if isinstance(entry.body, Freed))
        lost = self.lost - {entry.command for entry in story.entries}  # what was sent again has been done again
        check_answers(story, self.guests, lost=lost)
        for guest in self.guests:
            assert guest.place is not None
            assert guest.place.seat is not None
            if guest.over is not None and freed[Seat(guest.place.seat)]:
                continue  # they came back to a match that was over too late to find their seat
            assert guest.over is None, guest.over
            check_shown(story, [guest], games=ALL)
            snapshot = rooms.snapshot(story.room, Seat(guest.place.seat), games=ALL)
            assert guest.session.picture == pictures.from_snapshot(snapshot), f"{guest.name} sees another table"
            assert not guest.session.busy
        for node in (*world.nodes, *world.buried):
            assert node.metrics.internal_errors._value.get() == 0, f"a fault in {node.name}"
        for node in world.nodes:
            host = node.hall.hosts.get(self._room)
            assert host is None or host.room == story.room, f"{node.name} holds another room"
