"""A node dies, or stands still, at a named point of one move. Whatever the point: accepted, and then there once for
everybody; or not accepted, and then nowhere, until the client's second try.

The points are made outside the node, by the proxy between it and the store: nothing in the server knows of them. The
store appends and wakes in one step, so "after append, before wake-up" is a store that refuses to publish.
"""

from __future__ import annotations

import asyncio
import itertools
import signal
from collections.abc import Callable
from enum import StrEnum
from typing import Final

import pytest

from protocol.messages import Act, AnyCommand
from tests.faults.installation import Installation, Node, during
from tests.faults.invariants import check, check_nodes, story_of
from tests.faults.people import SILENCE_SECONDS, Guest
from tests.proxy import Proxy

pytestmark = pytest.mark.asyncio(loop_scope="session")
PATIENCE: Final = 60.0
_ACTS_BEFORE: Final = 4
_STALL_SECONDS: Final = 4.5
"""Longer than a node counts as alive, an exchange with the store may take, and all nodes compare rooms with logs."""


class Point(StrEnum):
    BEFORE_APPEND = "before the append"
    BEFORE_WAKE_UP = "after the append, before the wake-up"
    BEFORE_FIRST_SEND = "after the wake-up, before the first send"
    BETWEEN_SENDS = "between two seats' sends"


class Trap:
    """Stops a node's doings at ``point`` of the move that Ann gives as her fifth."""

    def __init__(self, nodes: Installation, point: Point, node: Node, bobs: Proxy) -> None:
        self.command = ""
        self.sprung = asyncio.Event()
        self._nodes = nodes
        self._point = point
        self._node = node
        self._bobs = bobs
        self._acts = 0

    def until_sprung(self, port: int) -> Callable[[], int]:
        """``port``, and once the trap has sprung the other nodes in turn: nobody wanders off before."""
        elsewhere = itertools.cycle(self._nodes.ports_from(1))
        return lambda: next(elsewhere) if self.sprung.is_set() else port

    def given(self, command: AnyCommand) -> None:
        """Ann is about to send ``command``."""
        if not isinstance(command, Act):
            return
        self._acts += 1
        if self._acts == _ACTS_BEFORE + 1:
            self.command = command.id
            self._node.line.up.at(f'"command":"{command.id}"'.encode(), self._spring)

    def _spring(self) -> None:
        """The append has come to the proxy before the store."""
        line = self._node.line
        match self._point:
            case Point.BEFORE_APPEND:
                line.up.hold()
            case Point.BEFORE_WAKE_UP:
                self._nodes.store.ask("ACL", "SETUSER", "default", "resetchannels")
                line.down.hold()
            case Point.BEFORE_FIRST_SEND:
                line.down.hold()
            case Point.BETWEEN_SENDS:
                self._bobs.down.hold()
        self.sprung.set()

    async def reached(self, ann: Guest, eve: Guest) -> None:
        """Wait until everything before the point is done."""
        async with asyncio.timeout(PATIENCE):
            await self.sprung.wait()
            if self._point is Point.BEFORE_APPEND:
                return
            await self._nodes.until_logged(ann.room, self.command)
            if self._point is Point.BEFORE_FIRST_SEND:
                moved = story_of(await self._nodes.log(ann.room)).room.number
                await eve.until(lambda: eve.number >= moved)  # her node has been woken; Ann's has sent nothing
                assert ann.number < moved
            if self._point is Point.BETWEEN_SENDS:
                await ann.until(lambda: self.command in ann.accepted)

    def release(self) -> None:
        self._nodes.store.ask("ACL", "SETUSER", "default", "allchannels")
        self._bobs.down.flow()
        self._node.line.up.flow()
        self._node.line.down.flow()


async def table(
    nodes: Installation,
    ann_at: Callable[[], int],
    bob_at: Callable[[], int],
    ann_waits: float = SILENCE_SECONDS,
) -> tuple[Guest, ...]:
    """Ann plays through ``ann_at``, Bob through ``bob_at``; Eve watches through the third node."""
    ann = Guest(ann_at, "Ann", seed=1, silence_seconds=ann_waits)
    bob = Guest(bob_at, "Bob", seed=2)
    eve = Guest(nodes.ports_from(2), "Eve")
    code = await ann.sit("koi-koi", deals=6)
    await bob.join(code)
    await eve.watch(code)
    return ann, bob, eve


CASES: Final = [
    pytest.param(
        point,
        end,
        id=f"{point.name}-{end.name}",
        # standing still takes its time; the gate makes one node of four do so
        marks=[pytest.mark.long] if end is signal.SIGSTOP and point is not Point.BEFORE_FIRST_SEND else [],
    )
    for point in Point
    for end in (signal.SIGKILL, signal.SIGSTOP)
]


@pytest.mark.parametrize(("point", "end"), CASES)
async def test_a_move_at_whose_crash_point_a_node_ends_is_there_once_for_all_or_nowhere(
    nodes: Installation, point: Point, end: signal.Signals
) -> None:
    home = nodes.nodes[0]
    async with Proxy.to_port(home.port) as bobs:
        trap = Trap(nodes, point, home, bobs)
        bobs_home = bobs.port if point is Point.BETWEEN_SENDS else nodes.ports[1]
        ann, bob, eve = await table(nodes, trap.until_sprung(home.port), trap.until_sprung(bobs_home))
        ann.before_giving = trap.given
        await ann.start()
        playing = asyncio.gather(ann.play(), bob.play(), eve.play())
        try:
            await during(playing, trap.reached(ann, eve))
            logged = [entry for entry in await nodes.log(ann.room) if trap.command.encode() in entry.data]
            assert len(logged) == (0 if point is Point.BEFORE_APPEND else 1)
            if end is signal.SIGKILL:
                await home.kill()
                bobs.cut()
                trap.release()
            else:
                home.stall()
                await asyncio.sleep(_STALL_SECONDS)  # the stall itself is what is tested
                trap.release()
                home.go_on()
        finally:
            trap.release()
        await playing

    await nodes.whole()
    story = check(await nodes.log(ann.room), [ann, bob, eve])
    assert [entry.command for entry in story.entries].count(trap.command) == 1
    assert trap.command in ann.accepted
    assert ann.place is not None
    await check_nodes(nodes.log, story, ann.place.code, nodes.ports, [ann, bob])
