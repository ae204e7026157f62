"""The taint test finds what it is for: with any single rule of secrecy switched off, it reports a leak."""

from __future__ import annotations

import io
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

import pytest
import structlog
from msgspec.structs import fields, replace

from engine import match as matches
from engine.game import AnyGame, Seat, Viewer
from engine.match import Need
from engine.registry import GAMES
from protocol.events import Said, WhyFreed, Winked
from protocol.messages import Accepted, Act, Notice
from server import admin, logs
from server import room as rooms
from server.audience import Audience
from server.entries import Created, Entry, Freed
from server.host import RoomHost
from server.keeper import Keeper
from server.outbox import SocketOutbox
from server.room import FinishedDeal, Room, playing, showing, talking
from server.room.records import players
from server.room.state import PlayedDeal
from server.room.work import Work
from server.store import StoredLog, wakeups
from server.store.keys import Keys
from tests.security.matches import Place, log_kept, mixed_options, play, some_dealt_twice
from tests.security.nodes import nodes
from tests.stores import StoreServer, fresh_prefix

MOST_MATCHES: Final = 150
"""Most are found in the first; one in ten shows the rarest."""

Switch = Callable[[pytest.MonkeyPatch], None]

HIDDEN_IN_EVENTS: Final = {
    "koi-koi": {("Dealt", "hands")},
    "go-stop": {("Dealt", "hands")},
    "hachinin-meri": {("Dealt", "hands"), ("Dealt", "side"), ("Discarded", "card"), ("CardPlayed", "card")},
}
"""What each game's redaction hides: type and field of event."""
HIDDEN_IN_VIEWS: Final = {
    "koi-koi": {"hand"},
    "go-stop": {"hand"},
    "hachinin-meri": {"hand", "discard", "side", "trick"},
}
"""What each game's view hides of the state: the hands of others, and fields of the table."""


def shown_field(name: str, kind: str, field: str) -> Switch:
    """The redaction of one field of one event is switched off."""

    def switch(patch: pytest.MonkeyPatch) -> None:
        game = type(GAMES[name])
        original = game.redact

        def redact(self: AnyGame, event: Any, viewer: Viewer) -> Any:
            redacted = original(self, event, viewer)
            return replace(redacted, **{field: getattr(event, field)}) if type(event).__name__ == kind else redacted

        patch.setattr(game, "redact", redact)

    return switch


def shown_in_view(name: str, field: str) -> Switch:
    """One thing that a view hides is shown."""

    def switch(patch: pytest.MonkeyPatch) -> None:
        game = type(GAMES[name])
        original = game.view

        def view(self: AnyGame, state: Any, viewer: Viewer) -> Any:
            seen = original(self, state, viewer)
            if field == "hand":
                return replace(seen, hand=state.hands[0]) if viewer is None else seen
            return replace(seen, table=replace(seen.table, **{field: getattr(state.table, field)}))

        patch.setattr(game, "view", view)

    return switch


def turns_for_all(patch: pytest.MonkeyPatch) -> None:
    """``turn`` is for the seat that is asked."""
    original = rooms.turn

    def turn(room: Any, seat: Seat, now: int, **games: Any) -> Any:
        asked = room.table.decision.seats if room.table is not None and room.table.decision is not None else (seat,)
        return original(room, seat, now, **games) or original(room, asked[0], now, **games)

    patch.setattr(rooms, "turn", turn)


def snapshots_of_the_first_seat(patch: pytest.MonkeyPatch) -> None:
    """A snapshot is its viewer's."""
    original = rooms.snapshot
    patch.setattr(rooms, "snapshot", lambda room, _viewer, **games: original(room, Seat(0), **games))


def live_events_whole(patch: pytest.MonkeyPatch) -> None:
    """Live events are redacted."""
    patch.setattr(rooms, "distinct", lambda _room, events, viewers, **_: (rooms.Shown(events, tuple(viewers)),))


def missed_events_whole(patch: pytest.MonkeyPatch) -> None:
    """So are those that a returning connection missed."""
    original = rooms.missed

    def missed(room: Any, after: int, viewer: Viewer, **games: Any) -> Any:
        found = original(room, after, viewer, **games)
        return None if found is None else replace(found, events=room.history[len(room.history) - len(found.events) :])

    patch.setattr(rooms, "missed", missed)


def seeds_before_their_deal_is_over(patch: pytest.MonkeyPatch) -> None:
    """A seed is revealed after its deal."""
    patch.setattr(showing, "_deals_revealed", lambda table: table.match.deal)


def contributions_as_they_come(patch: pytest.MonkeyPatch) -> None:
    """Contributions are published together."""
    original = showing._match_info
    patch.setattr(showing, "_match_info", lambda room, table: original(room, replace(table, fixed=True)))


def tokens_for_all(patch: pytest.MonkeyPatch) -> None:
    """A token is told to whoever sat down, alone."""
    original = RoomHost._seated

    def seated(self: RoomHost, *arguments: Any) -> Any:
        outcome = original(self, *arguments)
        assert outcome.answer is not None
        for viewer in self.audience.viewers:
            viewer.outbox.send(outcome.answer)
        return outcome

    patch.setattr(RoomHost, "_seated", seated)


def commands_for_all(patch: pytest.MonkeyPatch) -> None:
    """A command's id is its sender's: who repeats it may get the seat's token."""
    original = Audience.happened

    def happened(self: Audience, room: Any, entry: Any, *rest: Any) -> None:
        original(self, room, entry, *rest)
        if entry.command is not None:
            for viewer in self.viewers:
                viewer.outbox.send(self.encoded(Accepted(id=entry.command)))

    patch.setattr(Audience, "happened", happened)


def own_mutes_forgotten(patch: pytest.MonkeyPatch) -> None:
    """What somebody whom one has muted says is hidden from oneself."""
    patch.setattr(talking, "is_muted", lambda room, speaker, _viewer: speaker in room.silenced)


def mutes_for_everyone_forgotten(patch: pytest.MonkeyPatch) -> None:
    """What somebody whom the host has muted for everyone says, and said, is hidden from all."""

    def is_muted(room: Room, speaker: int, viewer: Viewer) -> bool:
        reader = rooms.person_at(room, viewer)
        return reader is not None and speaker in reader.muted

    patch.setattr(talking, "is_muted", is_muted)


def muted_lines_in_snapshots(patch: pytest.MonkeyPatch) -> None:
    """So it is in the lines that a snapshot tells of."""
    original = talking.lines

    def lines(room: Room, viewer: Viewer) -> Any:
        return tuple(
            replace(told, text=line.text) for told, line in zip(original(room, viewer), room.chat, strict=True)
        )

    patch.setattr(talking, "lines", lines)


def muted_lines_in_events(patch: pytest.MonkeyPatch) -> None:
    """And in events, live or missed."""
    original = talking.heard

    def heard(room: Room, event: Any, viewer: Viewer, game: AnyGame) -> Any:
        return event if isinstance(event, Said) else original(room, event, viewer, game)

    patch.setattr(talking, "heard", heard)


def winks_for_all(patch: pytest.MonkeyPatch) -> None:
    """A wink is for partners."""
    original = talking.heard

    def heard(room: Room, event: Any, viewer: Viewer, game: AnyGame) -> Any:
        return event if isinstance(event, Winked) else original(room, event, viewer, game)

    patch.setattr(talking, "heard", heard)


def partners_served_together(patch: pytest.MonkeyPatch) -> None:
    """Events are encoded once for those alone who are shown the same."""

    def distinct(room: Room, events: Any, viewers: Any, **_: Any) -> Any:
        sides: dict[Any, list[Viewer]] = {}
        for viewer in viewers:
            sides.setdefault(None if viewer is None else GAMES[room.game].side(viewer), []).append(viewer)
        return tuple(rooms.Shown(rooms.shown(room, events, each[0]), tuple(each)) for each in sides.values())

    patch.setattr(rooms, "distinct", distinct)


def seats_left_go_on_being_shown(patch: pytest.MonkeyPatch) -> None:
    """A connection that has left its seat is shown nothing of it any more."""
    original = Audience._part
    gone: list[Any] = []

    def part(self: Audience, viewer: Any, entry: Entry) -> None:
        if isinstance(entry.body, Freed) and entry.body.why is WhyFreed.LEFT:
            gone.append(viewer)
        if viewer not in gone:
            original(self, viewer, entry)

    patch.setattr(Audience, "_part", part)


def own_views_for_spectators(patch: pytest.MonkeyPatch) -> None:
    """Who watches is nobody's partner."""
    original = RoomHost._watch

    def watch(self: RoomHost, command: Any, outbox: Any) -> Any:
        outcome = original(self, command, outbox)
        if outcome.viewer is not None:
            outcome.viewer.seat = Seat(0)
        return outcome

    patch.setattr(RoomHost, "_watch", watch)


def salts_shown(patch: pytest.MonkeyPatch) -> None:
    """The log's salt stays in the log: with it guesses could be tried on marks."""
    original = rooms.snapshot
    salts: dict[str, bytes] = {}
    fold = rooms.fold

    def folded(room: Any, entry: Any, **games: Any) -> Any:
        if isinstance(entry.body, Created):
            salts[entry.body.room] = entry.body.salt
        return fold(room, entry, **games)

    def snapshot(room: Room, *rest: Any, **named: Any) -> Any:
        shown = original(room, *rest, **named)
        return replace(shown, options=shown.options | {"salt": b64encode(salts[room.id]).decode()})

    patch.setattr(rooms, "fold", folded)
    patch.setattr(rooms, "snapshot", snapshot)


def refusals_that_tell_of_others(patch: pytest.MonkeyPatch) -> None:
    """A refusal tells of nothing but what its asker knows."""
    original = rooms.decide

    def decide(room: Room, *rest: Any, **named: Any) -> Any:
        decided = original(room, *rest, **named)
        state = room.table.match.state if room.table is not None else None
        if isinstance(decided, rooms.Refuse) and state is not None and all(state.hands):
            return replace(decided, params={"cards": tuple(hand[0] for hand in state.hands)})
        return decided

    patch.setattr(rooms, "decide", decide)


def wakeups_with_entries(patch: pytest.MonkeyPatch) -> None:
    """A wake-up is a version."""
    original = StoredLog.append

    async def append(self: StoredLog, room: str, head: Any, data: bytes) -> Any:
        after = await original(self, room, head, data)
        channel = self._keys.wake(room)
        await self._store.call(channel, "SPUBLISH", channel, data)
        return after

    patch.setattr(StoredLog, "append", append)
    patch.setattr(wakeups, "int", lambda text: int(text) if text.isdigit() else 0, raising=False)


def metrics_by_action(patch: pytest.MonkeyPatch) -> None:
    """A label is of a finite list of public words."""
    original = RoomHost.move

    async def move(self: RoomHost, asked: Any, action: str, actor: Any) -> bool:
        self._node.metrics.command("ai", action)
        return await original(self, asked, action, actor)

    patch.setattr(RoomHost, "move", move)


def rooms_listed_with_cards(patch: pytest.MonkeyPatch) -> None:
    """The lobby tells who plays, not what."""
    original = rooms.summary

    def summary(room: Room) -> Any:
        state = room.table.match.state if room.table is not None else None
        host = str(state.hands) if state is not None else ""
        return replace(original(room), host=host)

    patch.setattr(rooms, "summary", summary)


def private_rooms_listed(patch: pytest.MonkeyPatch) -> None:
    """A private room is found by its code alone."""
    original = Keeper._tell

    async def tell(self: Keeper, told: Any) -> None:
        room = told.room
        told.room = shown = replace(room, settings=replace(room.settings, private=False))
        try:
            await original(self, told)
        finally:
            if told.room is shown:
                told.room = room

    patch.setattr(Keeper, "_tell", tell)


def operators_see_cards(patch: pytest.MonkeyPatch) -> None:
    """An operator sees everything but cards and secrets."""
    original = admin.inspected

    def inspected(room: Room, *rest: Any) -> dict[str, Any]:
        return original(room, *rest) | {"view": rooms.snapshot(room, Seat(0)).view}

    patch.setattr(admin, "inspected", inspected)


def redealt_deals_kept_at_once(patch: pytest.MonkeyPatch) -> None:
    """The record of a deal that is dealt again has the seed of the deal that comes."""
    original = playing._progress

    def progress(work: Work, made: Any) -> None:
        original(work, made)
        table = work.room.table
        assert table is not None
        if table.redealt:
            work.finished = tuple(FinishedDeal(work.game, table, each) for each in table.redealt)

    patch.setattr(playing, "_progress", progress)


def records_read_too_early(patch: pytest.MonkeyPatch) -> None:
    """Nobody keeps a record before its deal is over: here each deal's is kept as soon as somebody has played."""
    original = Keeper.changed

    def changed(self: Keeper, host: RoomHost) -> None:
        original(self, host)
        table = host.room.table
        if table is not None and table.moves and host.room.phase is rooms.Phase.PLAYING:
            played = PlayedDeal(table.match, table.deck, table.moves, players(host.room.seats))
            self.finished(host, _Begun(GAMES[host.room.game], table, played))

    patch.setattr(Keeper, "changed", changed)


class _Begun(FinishedDeal):
    """A deal that is not over, kept under a number of its own."""

    @property
    def record(self) -> bytes:
        return b'{"seed":"' + self._table.seeds[self.deal - 1].hex().encode() + b'"}'


def notices_of_hands(patch: pytest.MonkeyPatch) -> None:
    """A notice tells nothing of a game."""
    original = Audience.rolled_back

    def rolled_back(self: Audience, room: Room, viewer: Any, now: int) -> None:
        state = room.table.match.state if room.table is not None else None
        if state is not None:
            cards = tuple(str(card) for hand in state.hands for card in hand)
            viewer.outbox.send(self.encoded(Notice(code="rolled-back", params={"cards": cards})))
        original(self, room, viewer, now)

    patch.setattr(Audience, "rolled_back", rolled_back)


def closes_that_tell(patch: pytest.MonkeyPatch) -> None:
    """Why a connection is closed is said by a code."""
    original = SocketOutbox._close

    async def close(self: SocketOutbox, code: Any) -> None:
        self._write()
        await self._connection.close(code, "you held 03r")
        await original(self, code)

    patch.setattr(SocketOutbox, "_close", close)


def refusals_of_earlier_actions(patch: pytest.MonkeyPatch) -> None:
    """A refusal repeats no action but the one that it refuses."""
    original = rooms.decide
    tried: dict[Any, str] = {}

    def decide(room: Room, command: Any, seat: Any, *rest: Any, **named: Any) -> Any:
        decided = original(room, command, seat, *rest, **named)
        before = tried.get((room.id, seat))
        if isinstance(command, Act):
            tried[room.id, seat] = command.action
        if isinstance(decided, rooms.Refuse) and before is not None:
            return replace(decided, params={"action": before})
        return decided

    patch.setattr(rooms, "decide", decide)


def logs_of_actions(patch: pytest.MonkeyPatch) -> None:
    """No line of the log has a card: nobody writes one, and what looks like one is struck out."""
    original = RoomHost.move

    async def move(self: RoomHost, asked: Any, action: str, actor: Any) -> bool:
        structlog.get_logger().info("ai-moves", how=action)
        return await original(self, asked, action, actor)

    patch.setattr(RoomHost, "move", move)
    patch.setattr(logs, "_clean", lambda _key, value: value)
    structlog.configure(processors=[*structlog.get_config()["processors"]])


SWITCHES: Final[dict[str, tuple[str, Switch]]] = {
    **{
        f"{name}: event {kind}.{field}": (name, shown_field(name, kind, field))
        for name, hidden in HIDDEN_IN_EVENTS.items()
        for kind, field in sorted(hidden)
    },
    **{
        f"{name}: view's {field}": (name, shown_in_view(name, field))
        for name, hidden in HIDDEN_IN_VIEWS.items()
        for field in sorted(hidden)
    },
    "turn": ("koi-koi", turns_for_all),
    "snapshot": ("go-stop", snapshots_of_the_first_seat),
    "live events": ("koi-koi", live_events_whole),
    "missed events": ("hachinin-meri", missed_events_whole),
    "seeds": ("go-stop", seeds_before_their_deal_is_over),
    "contributions": ("koi-koi", contributions_as_they_come),
    "tokens": ("koi-koi", tokens_for_all),
    "command ids": ("koi-koi", commands_for_all),
    "own mutes": ("koi-koi", own_mutes_forgotten),
    "mutes for everyone": ("koi-koi", mutes_for_everyone_forgotten),
    "muted lines in snapshots": ("koi-koi", muted_lines_in_snapshots),
    "muted lines in events": ("koi-koi", muted_lines_in_events),
    "winks": ("hachinin-meri", winks_for_all),
    "who is served together": ("hachinin-meri", partners_served_together),
    "seats that were left": ("hachinin-meri", seats_left_go_on_being_shown),
    "spectators": ("go-stop", own_views_for_spectators),
    "salts": ("koi-koi", salts_shown),
    "refusals": ("koi-koi", refusals_that_tell_of_others),
    "wake-ups": ("koi-koi", wakeups_with_entries),
    "metrics": ("koi-koi", metrics_by_action),
    "lobby": ("koi-koi", rooms_listed_with_cards),
    "private rooms": ("koi-koi", private_rooms_listed),
    "operators": ("go-stop", operators_see_cards),
    "records of what is dealt again": ("koi-koi", redealt_deals_kept_at_once),
    "the archive": ("go-stop", records_read_too_early),
    "notices": ("koi-koi", notices_of_hands),
    "closes": ("koi-koi", closes_that_tell),
    "refusals of others": ("hachinin-meri", refusals_of_earlier_actions),
    "logs": ("koi-koi", logs_of_actions),
}


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    with log_kept() as stream:
        yield stream


@pytest.mark.parametrize("rule", SWITCHES)
async def test_with_a_rule_switched_off_the_taint_test_finds_a_leak(
    rule: str, shared_valkey: StoreServer, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, switch = SWITCHES[rule]
    switch(monkeypatch)
    prefix = fresh_prefix()
    async with nodes(shared_valkey.url, prefix) as opened:
        place = Place(opened, Keys(prefix), lambda _: shared_valkey.url, log, set())
        for seed in range(MOST_MATCHES):
            with some_dealt_twice():
                leaks = (await play(GAMES[name], place, seed)).leaks
            if leaks:
                sys.stdout.write(f"{rule}: match {seed}: {leaks[0].what} in {leaks[0].where}\n")
                return
    pytest.fail(f"{MOST_MATCHES} matches without a leak")


@pytest.mark.parametrize("name", sorted(GAMES))
def test_every_rule_that_a_game_has_is_switched_off_once(name: str) -> None:
    """What redaction and view really hide in random deals is what is listed above."""
    game, rng = GAMES[name], Random(5)
    in_events, in_views = set(), set()
    for _ in range(8):
        match = matches.begin(game, mixed_options(game, rng) | {"deals": min(map(int, game.options["deals"]))})
        while match.need is not Need.NOTHING:
            if match.need is Need.DECK:
                progress = matches.deal(game, match, rng.sample(game.cards, len(game.cards)), Seat(0))
            else:
                seat = min(game.awaiting(match.state))
                progress = matches.act(game, match, seat, rng.choice(game.legal_at(match.state, seat)))
            match = progress.match
            for viewer in (None, *map(Seat, range(game.seats))):
                for event in progress.events:
                    if isinstance(event, game.event_types):
                        in_events |= {(type(event).__name__, each) for each in _differing(event, game, viewer)}
                seen = game.view(match.state, viewer)
                table = match.state.table
                in_views |= {
                    each.name for each in fields(table) if getattr(seen.table, each.name) != getattr(table, each.name)
                }

    assert in_events == HIDDEN_IN_EVENTS[name]
    assert in_views | {"hand"} == HIDDEN_IN_VIEWS[name]


def _differing(event: Any, game: AnyGame, viewer: Viewer) -> set[str]:
    redacted = game.redact(event, viewer)
    return {each.name for each in fields(event) if getattr(redacted, each.name) != getattr(event, each.name)}
