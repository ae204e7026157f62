"""Moves what nobody else moves: clocks and AI seats of the rooms that this node drives, and heals what was missed.

Belongs here: which node drives a room (rendezvous hashing over the live nodes), one sleeper for all due times, asking
AI, rounds of repair. Must not be known here: what is due (``server.room``), sockets. Driving is no right: when two
nodes drive a room, the log takes the entry of one.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any, Final, Protocol

import structlog

from engine.game import GameError
from server import room as rooms
from server.entries import Actor
from server.hall import Hall
from server.host import RoomHost
from server.index import LONG_AGO, Due, Index, Outage
from server.keeper import due_at, lay_aside
from server.log import Head, StoreFull, StoreUnavailable
from server.presence import BEAT_SECONDS
from server.reading import NoSuchRoom, RoomElsewhere, RoomGone, RoomOutlived
from server.room import AiMove, FinishedDeal, Phase, Room
from server.schedule import Schedule
from server.shut import Shut
from server.thinkers import NoAnswer
from server.worker import Answer, Question

HEAL_SECONDS: Final = 2.0
"""How often rooms are compared with their logs, connections with what rooms say of them, and due times looked up."""
SWEEP_SECONDS: Final = 600.0
"""How often all logs are compared with the index."""
_RETRY_SECONDS: Final = 0.5
_DUE_AT_ONCE: Final = 500
_ADOPTED_AT_ONCE: Final = 8
"""Rooms that are read at the same time when many have to be looked after: the store's answers are waited for together,
and no more than so many pieces of work (``reading.FOLDS_PER_TURN`` entries each) come between two of anybody else's.
"""
_COMPARED_AT_ONCE: Final = 100
"""Rooms that a round of repair asks the store about in one breath. Moves wait for no more than these; all at once would
hold them up for as long as thousands of rooms take, and be more than may wait for the store.
"""
_IDLE_SECONDS: Final = 10.0
"""So long after somebody asked for it a room stays in memory without a viewer: longer than it takes until the people of
a dead node are known to be gone.
"""
_PATIENCE_MS: Final = 15_000
"""A room that is overdue for so long in the index, which the keeper tells every five seconds, is not being driven; and
when ``LONG_AGO`` has been answered by nobody for so long, nobody can read it.
"""
_SWEEPER: Final = "sweep"
"""What stands in for a room when a node is picked to look after the index."""
_SOON_MS: Final = 60_000
"""A room in which something is due within this time stays in memory."""

_log = structlog.get_logger()


class Thinker(Protocol):
    """Who answers for AI seats, off the event loop's thread: ``server.thinkers``."""

    async def think(self, question: Question) -> Answer:
        """The action of the answer is never None.

        Raises:
            NoAnswer: there is none, or not in time.
        """
        ...


def ranking(room_id: str, nodes: tuple[str, ...]) -> list[str]:
    """Who drives the room, and who would if those before could not: by the hash of node and room together, so that
    when a node comes or goes only its own rooms change hands.
    """
    return sorted(nodes, key=lambda node: hashlib.blake2b(f"{node}\0{room_id}".encode()).digest(), reverse=True)


def driver_of(room_id: str, nodes: tuple[str, ...]) -> str | None:
    """The node that drives the room; None without nodes."""
    return next(iter(ranking(room_id, nodes)), None)


class Driver:
    """Drives rooms. ``run`` it beside the server; everything else is called by it or by the hall."""

    def __init__(
        self,
        hall: Hall,
        index: Index,
        thinker: Thinker,
        *,
        secret: bytes,
        pause_ms: int,
        forget_seconds: int = 86_400,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._hall = hall
        self._index = index
        self._thinker = thinker
        self._secret = secret
        """Of this server: from it the AI's own generators are seeded."""
        self._pause_ms = pause_ms
        """How long an AI seems to think, on average; drawn without a look at the cards."""
        self._pauses = Random(secret)
        self._forget_seconds = forget_seconds
        """How long the log of a room stays that is over."""
        self._sleep = sleep
        self._node = hall.node
        self._presence = hall.node.presence
        self._acted_on: tuple[tuple[str, ...], tuple[Outage, ...]] = (), ()
        """Nodes and outages when rooms were last taken over."""
        self._ranked_for: tuple[str, ...] = ()
        self._drivers: dict[str, str | None] = {}
        """Who drives which room among those nodes: asked at every move, and the more nodes the longer it takes."""
        self._standing_in: set[str] = set()
        """Rooms that this node drives because the node that should does not."""
        self._shut = Shut()
        """Rooms that this node cannot look after."""
        self._schedule = Schedule()
        self._sooner = asyncio.Event()
        """Set when something is due before ``_asleep_until``."""
        self._asleep_until: float = -math.inf
        """When the clock is looked at next, whatever happens."""
        self._thinking: dict[tuple[str, int, int], asyncio.Task[None]] = {}
        self._firing: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopped = False

    # Observer

    def changed(self, host: RoomHost) -> None:
        """Note when the room wants to be looked after, and let its AI think."""
        room = host.room
        if self._stopped or not self.drives(room.id):
            self._schedule.set(room.id, None)
            return
        self._plan(room.id, rooms.next_due(room))
        for move in rooms.ai_moves(room):
            key = room.id, move.seat, move.at
            if key not in self._thinking:
                task = self._start(self._move(room, move), "ai-move-failed", room.id)
                self._thinking[key] = task
                task.add_done_callback(partial(self._thought, key))

    def finished(self, host: RoomHost, deal: FinishedDeal) -> None:
        """Records are the keeper's business."""

    def drives(self, room_id: str) -> bool:
        """Whether this node drives the room, and can."""
        return self._is_driver(room_id) and room_id not in self._shut

    def _is_driver(self, room_id: str) -> bool:
        """Whether the room is this node's to drive."""
        if self._presence.nodes is not self._ranked_for:
            self._ranked_for = self._presence.nodes
            self._drivers.clear()
        driver = self._drivers.get(room_id)
        if driver is None:
            driver = self._drivers[room_id] = driver_of(room_id, self._ranked_for)
        return driver == self._node.name or room_id in self._standing_in

    async def run(self) -> None:
        """Beat, fire and heal until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._beat_always())
            group.create_task(self._fire_always())
            group.create_task(self._always(self.heal, HEAL_SECONDS, "heal-failed"))
            group.create_task(self._always(self.sweep, SWEEP_SECONDS, "sweep-failed"))

    async def stop(self) -> None:
        """Give up what is being thought or fired, and say so: whoever drives next does it at once."""
        self._stopped = True  # what is found out from now on must not start anything anew
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(StoreUnavailable, StoreFull):  # then the others notice it by themselves
            await self._presence.end()

    # Which rooms ----------------------------------------------------------------------------------------------

    async def beat(self) -> None:
        """Say that this node lives; take over rooms when nodes have come or gone, or nobody was there for a while.

        Raises:
            StoreUnavailable, StoreFull: the store does not take it.
        """
        presence = self._presence
        await presence.beat()
        if (presence.nodes, presence.outages) != self._acted_on:
            _log.info(
                "nodes",
                node=self._node.name,
                nodes=len(presence.nodes),
                before=len(self._acted_on[0]),
                outages=len(presence.outages),
            )
            self._acted_on = presence.nodes, presence.outages
            self._standing_in.clear()
            self._start(self._take_over(), "take-over-failed")

    async def _beat_always(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            with suppress(StoreUnavailable, StoreFull):  # ``server.health`` asks the store too, and tells
                await self.beat()
            slept_at = loop.time()  # how long the store took says nothing about the loop
            await asyncio.sleep(BEAT_SECONDS)
            self._node.metrics.loop_lag.set(max(0.0, loop.time() - slept_at - BEAT_SECONDS))

    async def _take_over(self) -> None:
        """``_look_after_all``, as soon as the store allows it."""
        while True:
            try:
                await self._look_after_all()
            except (StoreUnavailable, StoreFull):
                await self._sleep(_RETRY_SECONDS)
            else:
                return

    async def _look_after_all(self) -> None:
        """Look after every live room that is this node's now, whatever the index says about its time; first after those
        in which something is due as far as it knows, for they are the ones that stand still.

        Raises:
            StoreUnavailable, StoreFull: not all are looked after.
        """
        most = _DUE_AT_ONCE * len(self._presence.nodes) + len(self._shut)
        live = {due.room: None for due in await self._index.due(self._node.clock(), most)}
        await self._adopt_all((room_id, None) for room_id in live if self._is_driver(room_id))
        cursor: str | None = None
        while True:
            cursor, page = await self._index.all_live(cursor)
            new = [room_id for room_id in page if room_id not in live]
            live.update(dict.fromkeys(new))
            await self._adopt_all((room_id, None) for room_id in new if self._is_driver(room_id))
            if cursor is None:
                break
        self._shut.keep(live)

    async def _adopt_all(self, wanted: Iterable[tuple[str, int | None]]) -> None:
        """Look after these rooms, a few at a time and the first ones first, each with its time in the index if that is
        known. What is wrong with one of them keeps none of the others waiting.

        Raises:
            StoreUnavailable, StoreFull: not all are looked after.
        """
        waiting = iter(tuple(wanted))

        async def some() -> None:
            for room_id, told_ms in waiting:
                try:
                    await self._adopt(room_id, told_ms)
                except (StoreUnavailable, StoreFull):
                    raise
                except Exception:  # noqa: BLE001 - one room's fault must not end the care of all others
                    self._fault("adoption-failed", room_id)
                    self._shut.put_off(room_id, self._node.clock())

        for problem in await asyncio.gather(*(some() for _ in range(_ADOPTED_AT_ONCE)), return_exceptions=True):
            if problem is not None:
                raise problem

    async def _adopt(self, room_id: str, told_ms: int | None) -> None:
        asked_at = self._shut.asked_at(room_id)
        if asked_at is not None:
            if told_ms != LONG_AGO:
                await self._ask_who_can(room_id)  # somebody could; now it is due again, or nodes have come or gone
                return
            if self._overdue(asked_at) < _PATIENCE_MS:
                return
        try:
            host = await self._hall.room(room_id)
            await host.reconcile()
        except NoSuchRoom:
            await self._index.set_due(room_id, None)  # it was announced and never opened, or its time to live is over
            self._shut.open(room_id)
        except RoomOutlived as problem:
            if asked_at is None:
                await self._ask_who_can(room_id)
            else:
                _log.warning("room-outlived", room=room_id, problem=str(problem))
                await lay_aside(self._index, self._node.log, room_id, self._forget_seconds)
        except RoomElsewhere:
            await self._ask_who_can(room_id)
        except RoomGone as problem:  # damaged: not ours to forget
            _log.error("room-damaged", room=room_id, problem=str(problem))
            self._shut.put_off(room_id, self._node.clock())
        else:
            self._shut.open(room_id)
            self._hall.changed(host)
            if told_ms == LONG_AGO and host.room.phase is not Phase.CLOSED:
                await self._index.set_due(room_id, due_at(host.room))

    async def _ask_who_can(self, room_id: str) -> None:
        """This version cannot read the room: leave it to whoever can."""
        self._shut.ask(room_id, self._node.clock())
        await self._index.set_due(room_id, LONG_AGO)

    def _overdue(self, since_ms: int) -> int:
        """How many milliseconds it has been, but for time in which nobody could have done anything."""
        return self._node.clock() - since_ms - self._presence.missed_since(since_ms)

    # Clocks ---------------------------------------------------------------------------------------------------

    def _plan(self, room_id: str, at: int | None) -> None:
        """Look after the room at that time."""
        self._schedule.set(room_id, at)
        if at is not None and at < self._asleep_until:
            self._sooner.set()

    async def _fire_always(self) -> None:
        while True:
            self._sooner.clear()
            now = self._node.clock()
            for room_id in self._schedule.pop(now):
                self._start_firing(room_id)
            due = self._schedule.next()
            self._asleep_until = math.inf if due is None else due
            try:
                async with asyncio.timeout(None if due is None else (due - now) / 1000):
                    await self._sooner.wait()
            except TimeoutError:
                continue

    def _start_firing(self, room_id: str) -> None:
        if room_id not in self._firing and self.drives(room_id):
            self._firing.add(room_id)
            self._start(self._fire(room_id), "fire-failed", room_id).add_done_callback(
                lambda _: self._firing.discard(room_id)
            )

    async def _fire(self, room_id: str) -> None:
        try:
            host = await self._hall.room(room_id)
            await host.fire()
        except RoomGone:
            return
        except (StoreUnavailable, StoreFull):
            self._plan(room_id, self._node.clock() + int(_RETRY_SECONDS * 1000))
            return
        except Exception:  # noqa: BLE001 - it stays due: without being put off it would be tried at every round of repair
            self._fault("fire-failed", room_id)
            self._shut.put_off(room_id, self._node.clock())
            return
        self.changed(host)

    # AI -------------------------------------------------------------------------------------------------------

    async def _move(self, room: Room, move: AiMove) -> None:
        """Let the AI of ``move`` decide what it sees in ``room``, and do it."""
        action, actor = await self._choose(room, move)
        if not move.sealed:  # a sealed answer is not seen before all are published at a fixed time
            pause = self._pauses.uniform(0.5, 1.5) * self._pause_ms
            left = move.since + pause - self._node.clock()
            if left > 0:
                await self._sleep(left / 1000)
        while True:
            try:
                host = await self._hall.room(room.id)
                if await host.move(move, action, actor) and actor is Actor.AI:
                    self._node.metrics.ai_moves.inc()
            except GameError:
                assert actor is Actor.AI, f"the default action {action} is illegal"
                _log.error("ai-illegal", room=room.id, game=room.game, level=move.level)
                action, actor = self._default(room, move, "illegal")
            except (StoreUnavailable, StoreFull):
                await self._sleep(_RETRY_SECONDS)
            except RoomGone:
                return
            else:
                return

    def _thought(self, key: tuple[str, int, int], _task: asyncio.Task[None]) -> None:
        del self._thinking[key]

    async def _choose(self, room: Room, move: AiMove) -> tuple[str, Actor]:
        asked = rooms.question(room, move.seat, games=self._node.games)
        loop = asyncio.get_running_loop()
        began = loop.time()
        question = Question(
            number=0,
            game=room.game,
            view=asked.view,
            legal=asked.legal,
            level=move.level,
            seed=hmac.digest(self._secret, f"{room.id}/{move.seat}/{move.at}".encode(), "sha256"),
        )
        try:
            answer = await self._thinker.think(question)
        except NoAnswer as missed:
            return self._default(room, move, missed.why.value)
        finally:
            self._node.metrics.ai_seconds.observe(loop.time() - began)
        assert answer.action is not None
        return answer.action, Actor.AI

    def _default(self, room: Room, move: AiMove, why: str) -> tuple[str, Actor]:
        self._node.metrics.ai_fallback(why)
        return rooms.default_action(room, move.seat, games=self._node.games), Actor.CLOCK

    # Repair ---------------------------------------------------------------------------------------------------

    async def heal(self) -> None:
        """One round: rooms against logs, connections against rooms, due times, and what need not stay in memory.

        Raises:
            StoreUnavailable, StoreFull: the next round does the rest.
        """
        if not self._presence.nodes:
            return  # who is alive is not known before the first beat
        hosts = self._hall.hosts
        here = tuple(hosts)
        seats: Counter[str] = Counter()
        for start in range(0, len(here), _COMPARED_AT_ONCE):
            await self._compare(here[start : start + _COMPARED_AT_ONCE], seats)
        self._node.metrics.tasks.set(len(asyncio.all_tasks()))
        for holder in rooms.HOLDERS:
            self._node.metrics.seats.labels(holder).set(seats[holder])
        for room_id in self._drivers.keys() - hosts.keys():
            del self._drivers[room_id]
        self._node.metrics.driven.set(sum(map(self.drives, hosts)))
        self._standing_in &= hosts.keys()
        most = _DUE_AT_ONCE + len(self._shut)
        overdue = await self._index.due(self._node.clock(), most)
        if len(overdue) == most:
            self._node.metrics.due_put_off.inc()
        await self._adopt_all((due.room, due.at_ms) for due in overdue if self._is_ours_to_do(due))

    async def _compare(self, here: Sequence[str], seats: Counter[str]) -> None:
        """These rooms against their logs, and their connections against the nodes that live; counts their ``seats``."""
        for room_id, head in (await self._node.log.heads(here)).items():
            host = self._hall.hosts.get(room_id)
            if host is None:
                continue
            if not self._shut.is_put_off(room_id, self._node.clock()):
                await self._repair(host, head)
            if self.drives(room_id):
                seats.update(map(rooms.holder_of, host.room.seats))
            self._let_go_if_idle(host)

    async def _repair(self, host: RoomHost, head: Head) -> None:
        """The room against its log, which ends at ``head``, and its connections against the nodes that live."""
        try:
            if head != host.head:
                await host.check()
            await host.reconcile()
            if host.room.id in self._shut:
                self._shut.open(host.room.id)
                self._hall.changed(host)
        except RoomGone:
            return
        except (StoreUnavailable, StoreFull):
            raise
        except Exception:  # noqa: BLE001 - one room's fault must not end the repair of all others
            self._fault("repair-failed", host.room.id)
            self._shut.put_off(host.room.id, self._node.clock())

    def _is_ours_to_do(self, due: Due) -> bool:
        """Whether this node has to look after a room in which something is due. What it plans for a room that it no
        longer holds does not count: others have gone on there since.
        """
        planned = due.room in self._schedule and due.room in self._hall.hosts and due.at_ms != LONG_AGO
        if planned or self._shut.is_put_off(due.room, self._node.clock()):
            return False
        if self._must_stand_in(due):
            self._standing_in.add(due.room)
        return self._is_driver(due.room)

    def _must_stand_in(self, due: Due) -> bool:
        """Whether a room is overdue for so long that its driver, though alive, must be unable to drive it: too old to
        read it, or stuck. The longer it is, the more nodes try; the log takes one entry.
        """
        place = ranking(due.room, self._presence.nodes).index(self._node.name)
        return self._shut.asked_at(due.room) is None and 0 < place * _PATIENCE_MS <= self._overdue(due.at_ms)

    async def sweep(self) -> None:
        """Give rooms that the index has lost their due times back, so that somebody drives them.

        Raises:
            StoreUnavailable, StoreFull: the next round does the rest.
        """
        if driver_of(_SWEEPER, self._presence.nodes) != self._node.name:
            return
        async for room_id in self._node.log.rooms():
            if not await self._index.has_due(room_id) and not await self._node.log.is_forgotten(room_id):
                _log.warning("room-lost-to-index", room=room_id)
                await self._index.set_due(room_id, self._node.clock())

    async def _always(self, work: Callable[[], Awaitable[None]], seconds: float, failure: str) -> None:
        """``work`` every so many seconds, whatever comes of it."""
        while True:
            try:
                await work()
            except (StoreUnavailable, StoreFull) as problem:
                _log.info("repair-put-off", problem=str(problem))  # the next round does the rest
            except Exception:  # noqa: BLE001 - the next round shall be tried all the same
                self._fault(failure, None)
            await asyncio.sleep(seconds)

    def _let_go_if_idle(self, host: RoomHost) -> None:
        room = host.room
        closed = host.gone or room.phase is Phase.CLOSED
        idle = asyncio.get_running_loop().time() - host.used_at > _IDLE_SECONDS
        if closed or (idle and not (self.drives(room.id) and self._wanted_soon(room))):
            self._hall.let_go(host)

    def _wanted_soon(self, room: Room) -> bool:
        """Whether the driver should hear at once of what happens in the room at other nodes: because something is due
        soon, or because people are there with whom an AI plays or whose company the lobby tells of.
        """
        due = rooms.next_due(room)
        if rooms.ai_moves(room) or (due is not None and due - self._node.clock() < _SOON_MS):
            return True
        holders = set(map(rooms.holder_of, room.seats))
        return "person" in holders and (holders != {"person"} or room.phase is Phase.LOBBY)

    # Tasks ----------------------------------------------------------------------------------------------------

    def _start(self, work: Coroutine[Any, Any, None], failure: str, room_id: str | None = None) -> asyncio.Task[None]:
        """Do ``work`` beside everything else; a fault in it is logged and counted, and ends nothing else."""
        task = asyncio.get_running_loop().create_task(self._guarded(work, failure, room_id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # where it was cancelled before it began
        return task

    async def _guarded(self, work: Coroutine[Any, Any, None], failure: str, room_id: str | None) -> None:
        try:
            await work
        except Exception:  # noqa: BLE001 - what ends here would otherwise end in a task nobody looks at
            self._fault(failure, room_id)

    def _fault(self, failure: str, room_id: str | None) -> None:
        """Count and log what is being handled."""
        self._node.metrics.internal_errors.inc()
        _log.exception(failure, room=room_id)
