"""One room on this node, in step with its log: log -> fold -> audience.

Belongs here: appending what commands and drivers want, following what others appended, whatever the store does. Must
not be known here: what a command means (``server.room``), who sees what (``server.audience``), sockets, who drives.

The rules of this module:

* nothing is shown before the log has it, and an answer is sent after what it answers was shown;
* what is shown is shown without waiting: between a fold and the last write of its events there is no ``await``;
* whatever may have happened to an append, the log is asked, never guessed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol, TypeAlias

import structlog

from engine.game import Seat
from protocol.codes import Close, Refused
from protocol.messages import Accepted, AnyCommand, Create, Leave, Look, Move, Place, RefusedMessage, Resume, Watch
from server import room as rooms
from server.audience import SPECTATOR, Audience, Viewer, follow_seat
from server.entries import Actor, Entry, encode_entry
from server.index import OUTAGE_MS
from server.log import EMPTY, Conflict, Forked, Head, RoomLog, StoreUnavailable
from server.metrics import Metrics
from server.outbox import Encoded, Outbox
from server.presence import Presence
from server.reading import FOLDS_PER_TURN, RoomGone, fold_stored, read_on, read_whole
from server.room import AiMove, Append, FinishedDeal, Folded, Games, Refuse, Repeat, Room, RoomCommand
from server.warning import Later, TurnWarning, on_the_loop

_ATTEMPTS: Final = 100
"""Each lost race means that another writer got ahead, so this many in a row happen only when something is broken."""
_NOBODY_THERE: Final = Refuse(Refused.NOT_IN_A_ROOM)
"""What is answered to a connection that went while its command waited: seated now, it would push out the one with which
its person has come again."""

_log = structlog.get_logger()

_Decision: TypeAlias = Append | Repeat | Refuse | None


class Node(NamedTuple):
    """What every room on this node works with."""

    name: str
    """Of this node, unique for each start of a process."""
    log: RoomLog
    games: Games
    clock: Callable[[], int]
    """Milliseconds since the epoch."""
    entropy: Callable[[int], bytes]
    """So many unpredictable bytes."""
    metrics: Metrics
    presence: Presence
    later: Later = on_the_loop
    """How time passes."""
    spectators: int = 100
    """How many may watch one room here."""


class Observer(Protocol):
    """Who is told what happens to a room. Called while the room is locked: must neither wait nor raise."""

    def changed(self, host: RoomHost) -> None:
        """The room is another than before."""
        ...

    def finished(self, host: RoomHost, deal: FinishedDeal) -> None:
        """A deal is over and its seed revealed. May come again for the same deal."""
        ...


class Outcome(NamedTuple):
    """What became of a command that has been answered."""

    code: str
    """``accepted``, or the refusal's code."""
    viewer: Viewer | None
    """Who the connection is in this room now; None if it is not in it."""
    answer: Encoded | None = None
    """What the connection was told when it was brought into the room, in case it asks twice."""


class RoomHost:
    """A room as this node holds it. Obtain one through ``server.hall``."""

    def __init__(self, node: Node, room: Room, head: Head, observer: Observer) -> None:
        self.room = room
        """As of ``head``. Replaced, never changed; reading it needs no lock."""
        self.head = head
        self.audience = Audience(node.games, node.metrics)
        self._warning = TurnWarning(node.later, node.clock, self.audience.warn)
        self._loop = asyncio.get_running_loop()
        self.used_at = self._loop.time()
        """When somebody last asked for the room (the event loop's clock)."""
        self.gone = False
        """Nothing more can be done with this object; ask the hall for the room again."""
        self._node = node
        self._observer = observer
        self._lock = asyncio.Lock()
        self._pull: asyncio.Task[None] | None = None
        self._appending = False
        self._told = 0
        """The latest version that a wake-up during an append told of."""
        self._silent_since: int | None = None
        """Since when the store has not answered about this room, as far as was tried here."""
        self._stop_watching: Callable[[], None] = lambda: None

    @classmethod
    async def load(cls, node: Node, room_id: str, observer: Observer) -> RoomHost:
        """Read and fold the room's log, and listen for what other nodes append.

        Raises:
            NoSuchRoom: there is no log of it.
            RoomElsewhere: only another version can read it.
            RoomGone: it cannot be read.
            StoreUnavailable: the store does not answer.
        """
        room, head, marks, finished = await read_whole(node.log, room_id, node.games)
        host = cls(node, room, head, observer)
        host.audience.marks = marks
        # Listening begins with a wake-up, so nothing appended since the read is missed.
        host._stop_watching = node.log.watch(room_id, host.wake)
        for deal in finished:  # whoever appended its end may have died before keeping the record
            observer.finished(host, deal)
        return host

    @classmethod
    async def open(
        cls, node: Node, command: Create, first: Append, outbox: Outbox, observer: Observer
    ) -> tuple[RoomHost, Outcome]:
        """Append a room's ``first`` entry, which ``command`` asked for, and answer that at ``outbox``.

        Raises:
            Conflict: the room exists.
            StoreUnavailable: the outcome is unknown.
            StoreFull: nothing was done.
        """
        assert first.seat is not None, "whoever opens a room sits down in it"
        assert first.token is not None
        folded = rooms.fold(None, first.entry, games=node.games)
        head = await node.log.append(folded.room.id, EMPTY, encode_entry(first.entry))
        node.metrics.entries.inc()
        host = cls(node, folded.room, head, observer)
        host.audience.marks.note(host.room.number, head.hash)
        host._stop_watching = node.log.watch(folded.room.id, host.wake)
        outcome = host._seated(command, host.room.number, host._place(first.seat, first.token), outbox)
        observer.changed(host)
        return host, outcome

    def retire(self) -> bool:
        """Be forgotten, if nobody watches and nothing is under way here; whether it was done.

        Who still has this object and asks something of it meets ``RoomGone``, and asks the hall again.
        """
        if self.audience.viewers or self._lock.locked() or self._pull is not None:
            return False
        self.gone = True
        self._stop_watching()
        self._warning.stop()
        return True

    async def close(self) -> None:
        """Do nothing more, after what is under way."""
        self._stop_watching()
        self._warning.stop()
        async with self._lock:
            self.gone = True
        if self._pull is not None:
            await self._pull

    # What sessions do -----------------------------------------------------------------------------------------

    async def submit(self, command: RoomCommand | Watch | Look, viewer: Viewer | None, outbox: Outbox) -> Outcome:
        """Do ``command`` for the connection of ``outbox``, which is ``viewer`` in this room, and answer it there.

        Raises:
            StoreUnavailable: the outcome is unknown; nothing was answered.
            StoreFull: nothing was done, nor answered.
            RoomGone: the room has gone, likewise.
        """
        async with self._lock:
            self._expect_here()
            self.used_at = self._loop.time()
            if isinstance(command, Watch):
                return self._watch(command, outbox)
            if isinstance(command, Look):
                assert viewer is not None, "only who is in the room can look"
                if viewer not in self.audience.viewers:  # sent away while the command waited: the seat is another's
                    return self._refuse(outbox, command, _NOBODY_THERE, None)
                self._accept(outbox, command)
                self.audience.show_all(self.room, viewer, self._now())
                return Outcome("accepted", viewer)
            if viewer is not None and viewer.seat is None and isinstance(command, Leave):
                self.audience.leave(viewer)
                self._accept(outbox, command)
                return Outcome("accepted", None)
            decision, made = await self._append(
                lambda room: (
                    _NOBODY_THERE
                    if viewer is None and outbox.gone
                    else rooms.decide(
                        room,
                        command,
                        viewer.seat if viewer is not None else None,
                        self._now(),
                        self._node.entropy,
                        epoch=viewer.epoch if viewer is not None else None,
                        node=self._node.name,
                        games=self._node.games,
                    )
                )
            )
            return self._answer(command, decision, made, viewer, outbox)

    async def lost(self, viewer: Viewer) -> None:
        """The connection of ``viewer`` is gone.

        Raises:
            StoreUnavailable, StoreFull: the room could not be told; ``reconcile`` does it later.
            RoomGone: the room has gone.
        """
        if viewer not in self.audience.viewers:
            return  # it was sent away, and its epoch may mean somebody else by now
        self.audience.leave(viewer)
        seat = viewer.seat
        if seat is None:
            return
        async with self._lock:
            if not self.gone:
                await self._append_entry(lambda room: rooms.drop(room, seat, viewer.epoch, self._now()))

    # What drivers do ------------------------------------------------------------------------------------------

    async def fire(self) -> None:
        """Do everything that is due now.

        Raises:
            StoreUnavailable, StoreFull: it will have to be done later.
            RoomGone: the room has gone.
        """
        async with self._lock:
            self._expect_here()
            while await self._append_entry(lambda room: rooms.fire(room, self._now(), games=self._node.games)):
                pass

    async def move(self, move: AiMove, action: str, actor: Actor) -> bool:
        """Perform ``action`` for the seat of ``move``; False if that decision is no longer the seat's AI's.

        Raises:
            GameError: the action is none, or the rules forbid it; nothing was done.
            StoreUnavailable, StoreFull, RoomGone: as for ``fire``.
        """
        async with self._lock:
            self._expect_here()
            return await self._append_entry(
                lambda room: rooms.move_for(room, move, action, actor, self._now(), games=self._node.games)
            )

    async def reconcile(self) -> None:
        """Report connections as gone that no node holds: theirs died, or could not say so.

        Raises:
            StoreUnavailable, StoreFull, RoomGone: as for ``fire``.
        """
        if not self.gone and self._refund() is None and self._drop_one_gone(self.room) is None:
            return  # as in nearly every room of every round
        async with self._lock:
            self._expect_here()
            while await self._append_entry(self._drop_one_gone):
                pass

    # In step with the log -------------------------------------------------------------------------------------

    def wake(self, version: int) -> None:
        """The log may have grown to ``version`` (0: nobody knows how far); read it soon."""
        if self.gone or self._pull is not None or 0 < version <= self.head.version:
            return
        if self._appending and version:  # about just that, in all likelihood
            self._told = max(self._told, version)
        else:
            self._pull = self._loop.create_task(self._pull_soon())

    async def check(self) -> None:
        """Compare with the log: finds what a lost wake-up hid, and what a store took back.

        Raises:
            StoreUnavailable: the store does not answer.
            RoomGone: the room has gone; its viewers have been told.
        """
        async with self._lock:
            if self.gone:
                return
            await self._is_current()

    async def _is_current(self) -> bool:
        """Whether this is the room as the log has it; if not, it is now."""
        if (await self._node.log.heads([self.room.id]))[self.room.id] == self.head:
            return True
        await self._catch_up()
        return False

    async def _pull_soon(self) -> None:
        async with self._lock:
            self._pull = None  # a wake-up from now on is about something that this read may miss
            if self.gone:
                return
            try:
                await self._catch_up()
            except (StoreUnavailable, RoomGone):
                return  # the healing round reads it when the store is back; viewers of a gone room have been told
            except Exception:  # noqa: BLE001 - a fault of ours must not end in a task nobody looks at
                self._node.metrics.internal_errors.inc()
                _log.exception("room-not-followed", room=self.room.id)

    async def _catch_up(self) -> None:
        """Fold and show what others appended."""
        try:
            stored = await read_on(self._node.log, self.room.id, self.head)
        except Forked:
            await self._read_anew()
            return
        for count, each in enumerate(stored, start=1):
            try:
                entry, folded = fold_stored(self.room, self.room.id, each, self._node.games)
            except RoomGone as problem:
                self._abandon(problem)
                raise
            self._adopt(entry, folded, each.head)
            if count % FOLDS_PER_TURN == 0:
                await asyncio.sleep(0)

    async def _read_anew(self) -> None:
        """The log is no longer what was read here (a failover lost its end): begin again, and show it afresh."""
        seated = {viewer: rooms.token_of(self.room, viewer.epoch) for viewer in self.audience.viewers}
        self._node.metrics.reloads.inc()
        _log.warning("room-rolled-back", room=self.room.id, version=self.head.version)
        try:
            self.room, self.head, self.audience.marks, _ = await read_whole(
                self._node.log, self.room.id, self._node.games
            )
        except RoomGone as problem:
            self._abandon(problem)
            raise
        for viewer in tuple(self.audience.viewers):
            # In another history the same version can have brought somebody else: their seat is not this viewer's.
            if rooms.token_of(self.room, viewer.epoch) == seated[viewer] and follow_seat(self.room, viewer):
                self.audience.rolled_back(self.room, viewer, self._now())
            else:  # its coming was lost with the rest
                self.audience.send_away(viewer, Close.SERVICE_RESTART)
        self._warning.follow(self.room)
        self._observer.changed(self)

    def _abandon(self, problem: Exception) -> None:
        """This node cannot serve the room any more; perhaps another can."""
        _log.error("room-gone", room=self.room.id, problem=str(problem))
        self.gone = True
        self._stop_watching()
        self._warning.stop()
        for viewer in tuple(self.audience.viewers):
            self.audience.send_away(viewer, Close.SERVICE_RESTART)

    async def _append(self, make: Callable[[Room], _Decision]) -> tuple[_Decision, Folded | None]:
        """Append what ``make`` wants of the room as it then is; with what came of it, if anything was appended. Before
        that everybody gets back the time that an outage of ours took.
        """
        await self._node.presence.refresh()
        for _ in range(_ATTEMPTS):
            refund = self._refund()
            decision = make(self.room) if refund is None else Append(refund, None)
            if not isinstance(decision, Append):
                # What is done is checked by the append. A refusal must not rest on a past that this node took for now:
                # a token it has not read of yet would seem to be none.
                if isinstance(decision, Refuse) and not await self._is_current():
                    continue
                return decision, None
            # Folded before it is appended: what cannot be folded must never stand in a log.
            folded = rooms.fold(self.room, decision.entry, games=self._node.games)
            began, began_at = time.perf_counter(), self._now()
            try:
                head = await self._write(encode_entry(decision.entry))
            except Conflict:
                self._node.metrics.conflicts.inc()
                await self._catch_up()
            except StoreUnavailable:
                self._silent_since = self._silent_since or began_at
                self._node.metrics.unknown_outcomes.inc()
                before = self.head
                await self._catch_up()
                if self.head == before:
                    # Not there, but perhaps still on its way. Of it and whatever is appended next only one can win.
                    raise
            else:
                self._node.metrics.append_seconds.observe(time.perf_counter() - began)
                self._node.metrics.entries.inc()
                self._silent_since = None
                self._adopt(decision.entry, folded, head)
                if refund is None:
                    return decision, folded
        raise StoreUnavailable(f"{_ATTEMPTS} appends in a row were overtaken")

    async def _write(self, data: bytes) -> Head:
        """Append ``data``; errors as in ``RoomLog``. Wake-ups meanwhile are looked at afterwards: who appends is woken
        by it like all others, and need not read what it has written.
        """
        self._appending = True
        try:
            return await self._node.log.append(self.room.id, self.head, data)
        finally:
            self._appending = False
            told, self._told = self._told, 0
            if told > self.head.version + 1:
                self._loop.call_soon(self.wake, told)

    def _refund(self) -> Entry | None:
        """Time is given back for outages since the room's last entry, which nobody can have used; not before the store
        works again, and once: the entry itself is the room's last one then.
        """
        now, at = self._now(), self.room.at
        ms = self._node.presence.missed_since(at)
        if self._silent_since is not None:
            silent = now - max(self._silent_since, at)
            ms = max(ms, silent if silent > OUTAGE_MS else 0)
        return rooms.refund(self.room, ms, now) if ms else None

    async def _append_entry(self, make: Callable[[Room], Entry | None]) -> bool:
        """``_append`` for entries that answer no command; whether one was appended."""

        def decide(room: Room) -> Append | None:
            entry = make(room)
            return None if entry is None else Append(entry, None)

        decision, _ = await self._append(decide)
        return decision is not None

    def _adopt(self, entry: Entry, folded: Folded, head: Head) -> None:
        """The log has accepted ``entry``: be there, show it, and tell who drives and keeps."""
        self.room, self.head = folded.room, head
        if folded.events:
            self.audience.marks.note(self.room.number, head.hash)
        self.audience.happened(self.room, entry, folded.events, self._now())
        self._warning.follow(self.room)
        self._observer.changed(self)
        for deal in folded.finished:
            self._observer.finished(self, deal)

    def _drop_one_gone(self, room: Room) -> Entry | None:
        """The entry that reports the first person whose connection nobody holds."""
        here = {(viewer.seat, viewer.epoch) for viewer in self.audience.viewers}
        for seat in rooms.persons(room):
            person = rooms.person_at(room, seat)
            if person is None or person.away:
                continue
            if person.node == self._node.name:
                gone = (seat, person.epoch) not in here
            else:
                gone = self._node.presence.is_gone(person.node)
            if gone:
                return rooms.drop(room, seat, person.epoch, self._now())
        return None

    # Answers --------------------------------------------------------------------------------------------------

    def _watch(self, command: Watch, outbox: Outbox) -> Outcome:
        refusal = rooms.may_watch(self.room)
        limit = self._node.spectators
        if refusal is None and self.audience.spectators >= limit:
            refusal = Refuse(Refused.SPECTATORS_FULL, {"limit": limit})
        if refusal is not None:
            return self._refuse(outbox, command, refusal, None)
        viewer = Viewer(outbox, None, SPECTATOR)
        answer = self._accept(outbox, command, place=self._place(None))
        self.audience.come(self.room, viewer, self._now())
        return Outcome("accepted", viewer, answer)

    def _answer(
        self, command: AnyCommand, decision: _Decision, made: Folded | None, viewer: Viewer | None, outbox: Outbox
    ) -> Outcome:
        """Answer after the effect was shown; whoever has come is then shown what they have not seen."""
        match decision:
            case Refuse():
                return self._refuse(outbox, command, decision, viewer)
            case Repeat(at=at):
                self._accept(outbox, command, at=at)
            case Append(seat=seat, token=token):
                assert made is not None, "an entry was appended and came to nothing"
                at = self.room.number if made.events else None
                if seat is not None and token is not None:
                    return self._seated(command, at, self._place(seat, token), outbox)
                self._accept(outbox, command, at=at, place=self._place(seat) if isinstance(command, Move) else None)
            case None:
                raise AssertionError("a command was left without a decision")
        return Outcome("accepted", self._still_here(viewer))

    def _seated(self, command: AnyCommand, at: int | None, place: Place, outbox: Outbox) -> Outcome:
        """A connection has got a seat: tell it where it is, and what it has not seen."""
        assert place.seat is not None
        person = rooms.person_at(self.room, Seat(place.seat))
        assert person is not None, "the entry that seated a person left the seat without one"
        viewer = Viewer(outbox, Seat(place.seat), person.epoch)
        answer = self._accept(outbox, command, at=at, place=place)
        after, mark = (command.after, command.mark) if isinstance(command, Resume) else (0, None)
        self.audience.come(self.room, viewer, self._now(), after=after, mark=mark)
        self._warning.follow(self.room)
        return Outcome("accepted", viewer, answer)

    def _still_here(self, viewer: Viewer | None) -> Viewer | None:
        return viewer if viewer in self.audience.viewers else None

    def _place(self, seat: Seat | None, token: str | None = None) -> Place:
        return Place(room=self.room.id, code=self.room.code, seat=seat, token=token)

    def _accept(
        self, outbox: Outbox, command: AnyCommand, *, at: int | None = None, place: Place | None = None
    ) -> Encoded:
        answer = self.audience.encoded(Accepted(id=command.id, at=at, place=place))
        outbox.send(answer)
        return answer

    def _refuse(self, outbox: Outbox, command: AnyCommand, refusal: Refuse, viewer: Viewer | None) -> Outcome:
        message = RefusedMessage(id=command.id, code=refusal.code, params=refusal.params)
        outbox.send(self.audience.encoded(message))
        return Outcome(refusal.code, self._still_here(viewer))

    def _expect_here(self) -> None:
        if self.gone:
            raise RoomGone(self.room.id)

    def _now(self) -> int:
        """The time for the next entry: a log's times never go back, whatever a node's clock does."""
        return max(self._node.clock(), self.room.at)
