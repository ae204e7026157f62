"""Two worlds that differ only in what a viewer cannot know: they are sent the same bytes, are asked and refused alike,
and the server schedules the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final, NamedTuple

import msgspec
import pytest
from msgspec.structs import replace

from engine.game import AnyGame, Card, Seat, Viewer
from engine.registry import GAMES
from protocol import codec
from protocol.events import SeatReady, Signal, WhyFreed
from protocol.messages import Act
from server import room as rooms
from server.audience import SPECTATOR, Audience
from server.audience import Viewer as Watcher
from server.entries import (
    Acted,
    Actor,
    Answered,
    AnyBody,
    Dropped,
    Entry,
    Freed,
    Joined,
    Locked,
    Muted,
    Published,
    Readied,
    Refunded,
    Returned,
    Said,
    StoodIn,
    Winked,
)
from server.metrics import Metrics
from server.room import Phase, Refuse, Room, playing, seating, talking
from server.room.state import Legal
from server.room.work import Work
from tests.server.hallkit import Remembering
from tests.server.roomkit import Dice, Hall

MATCHES: Final = 4
WORLDS: Final = 3
"""Pairs of worlds at each decision and for each viewer that is looked through."""
DRAWS: Final = 400
"""Worlds drawn until one has the same next card as the real one."""


class Present(NamedTuple):
    """Everything that a viewer is, or could be, sent now, and when something will happen."""

    snapshot: bytes
    turn: bytes
    frames: tuple[bytes, ...]
    due: int | None
    ai: tuple[Any, ...]


def present(room: Room, viewer: Viewer, now: int, frames: tuple[bytes, ...] = ()) -> Present:
    turn = None if viewer is None else rooms.turn(room, viewer, now)
    moves = tuple((move.seat, move.at, move.since, move.sealed) for move in rooms.ai_moves(room))
    snapshot = codec.encode(rooms.snapshot(room, viewer))
    return Present(snapshot, msgspec.json.encode(turn), frames, rooms.next_due(room), moves)


def frames_of(before: Room, entry: Entry, viewer: Viewer) -> tuple[Room, tuple[bytes, ...]]:
    """What ``entry`` makes of the room, and every byte that ``viewer`` is sent for it."""
    folded = rooms.fold(before, entry)
    audience, outbox = Audience(GAMES, Metrics()), Remembering()
    person = rooms.person_at(before, viewer)
    watcher = Watcher(outbox, viewer, SPECTATOR if person is None else person.epoch)
    decision = before.table.decision if before.table is not None else None
    watcher.asked = decision.at if decision is not None and viewer in decision.seats else None
    audience.viewers.add(watcher)
    audience.happened(folded.room, entry, folded.events, entry.at)
    return folded.room, tuple(each.payload for each in outbox.sent)


def with_state(room: Room, state: Any) -> Room:
    """The room in another world; nothing that was worked out in this one is taken along."""
    assert room.table is not None
    decision = room.table.decision
    assert decision is not None
    there = replace(decision, legal=Legal())
    return replace(room, table=replace(room.table, match=replace(room.table.match, state=state), decision=there))


def state_of(room: Room) -> Any:
    assert room.table is not None
    return room.table.match.state


def decisions(game: AnyGame, seed: int) -> Iterator[Hall]:
    """A match of persons in all seats, stopped at every decision."""
    rng = Random(seed)
    options = {name: rng.choice(values) for name, values in game.options.items()}
    hall = Hall(game, options=options | {"deals": min(map(int, game.options["deals"]))}, seed=f"worlds {seed}")
    for seat in range(1, game.seats):
        hall.join(f"P{seat}", seat)
    hall.start("easy")
    while hall.phase() is not Phase.FINISHED:
        if hall.phase() is not Phase.PLAYING:
            hall.later((rooms.next_due(hall.room) or hall.now) - hall.now)
            continue
        yield hall
        for seat in hall.decision.seats:
            hall.act(seat, rng.choice(rooms.question(hall.room, seat).legal))
        if hall.phase() is Phase.PLAYING and hall.decision.sealed:
            hall.publish()


def next_card(state: Any) -> Any:
    """The card that a move would turn up: what happens then is public."""
    return state.stock[:1] if hasattr(state, "stock") else None


def drawn(game: AnyGame, room: Room, viewer: Viewer, rng: Random) -> Iterator[Room]:
    """Other worlds that fit what the viewer knows, with the same card on top of the stock."""
    state = state_of(room)
    view = game.view(state, viewer)
    found = 0
    for _ in range(DRAWS):
        world = game.resample(view, rng)
        if next_card(world) == next_card(state):
            yield with_state(room, world)
            found += 1
            if found == WORLDS:
                return


def refusals(room: Room, seat: Seat, game: AnyGame, now: int) -> list[tuple[str, Any]]:
    """What the room says to every way of naming a card."""
    assert room.table is not None
    decision = room.table.decision
    assert decision is not None
    told = []
    for form in ("{}", "-{}", "*{}", "{0}*{0}"):
        for card in game.cards:
            decided = rooms.decide(
                room, Act(id="q83Jxk0v_yP2sE1d.1", action=form.format(card), at=decision.at), seat, now, Dice()
            )
            told.append((decided.code, decided.params) if isinstance(decided, Refuse) else ("", {}))
    return told


def compare_views(game: AnyGame) -> int:
    """Compare what a viewer is shown, is refused and could time, in worlds that fit their view; how often it was done.

    Raises:
        AssertionError: they can tell two worlds apart.
    """
    compared = 0
    for seed in range(MATCHES):
        rng = Random(seed)
        for hall in decisions(game, seed):
            viewer: Viewer = rng.choice([None, *map(Seat, range(game.seats))])
            here = present(hall.room, viewer, hall.now)
            for other in drawn(game, hall.room, viewer, rng):
                compared += 1
                assert present(other, viewer, hall.now) == here
                if viewer is not None and viewer in hall.decision.seats and rng.random() < 0.2:
                    assert refusals(other, viewer, game, hall.now) == refusals(hall.room, viewer, game, hall.now)
    return compared


def compare_moves(game: AnyGame) -> int:
    """Compare the bytes that a viewer is sent for a move that looks alike in worlds that fit their view: it is the
    same, or hidden in both (a sealed answer, a discard, a trump laid face down). Moves that turn up what was hidden are
    left out: there worlds part in public. How often it was done.

    Raises:
        AssertionError: the viewer can tell two worlds apart.
    """
    compared = 0
    for seed in range(MATCHES):
        rng = Random(seed)
        for hall in decisions(game, seed):
            mover = rng.choice(hall.decision.seats)
            viewer: Viewer = rng.choice([None, *map(Seat, range(game.seats))])
            action = rng.choice(rooms.question(hall.room, mover).legal)
            if turns_up(state_of(hall.room)):
                continue
            real, frames = frames_of(hall.room, moved(hall, mover, action), viewer)
            for other in drawn(game, hall.room, viewer, rng):
                legal = set(rooms.question(other, mover).legal)
                hidden = mover != viewer and is_hidden(state_of(hall.room), action)
                like = {each for each in legal if is_hidden(state_of(other), each)} if hidden else legal & {action}
                if like:
                    compared += 1
                    made, sent = frames_of(other, moved(hall, mover, rng.choice(sorted(like))), viewer)
                    assert present(made, viewer, hall.now, sent) == present(real, viewer, hall.now, frames)
    return compared


def beside_the_game(room: Room, game: AnyGame, rng: Random) -> list[AnyBody]:
    """Something that happens and is no move, one thing after the other."""
    seat, other = rng.sample(rooms.persons(room), 2)
    happenings: list[list[AnyBody]] = [
        [
            Freed(seat=seat, why=rng.choice((WhyFreed.LEFT, WhyFreed.REMOVED))),
            Joined(seat=seat, name="Zoe", token=b"z" * 32),
        ],
        [
            Dropped(seat=seat),
            StoodIn(seat=seat),
            Returned(seat=seat, token=b"n" * 32, kept=b"k" * 32, by_token=True),
        ],
        [
            Said(seat=seat, text="Hello"),
            Muted(seat=other, other=seat, on=True),
            Muted(seat=other, other=seat, on=True, everyone=True),
            Said(seat=other, text="Well"),
        ],
        [Locked(on=True), Refunded(ms=700)],
    ]
    if game.sides < game.seats:
        happenings.append([Winked(seat=seat, signal=Signal.LEFT_EYE)])
    return rng.choice(happenings)


def compare_the_rest(game: AnyGame) -> Counter[str]:
    """Compare what a viewer is sent, could be sent and could time when something happens that is no move, and when the
    clock's time has come, in worlds that fit their view. How often, by the kind of the entry. Where the clock plays
    another card, or turns up what was hidden, worlds part in public.

    Raises:
        AssertionError: the viewer can tell two worlds apart.
    """
    compared: Counter[str] = Counter()
    for seed in range(MATCHES):
        rng = Random(seed)
        for hall in decisions(game, seed):
            viewer: Viewer = rng.choice([None, *map(Seat, range(game.seats))])
            bodies = beside_the_game(hall.room, game, rng)
            worlds = [hall.room, *drawn(game, hall.room, viewer, rng)]
            for body in bodies:
                told = [frames_of(world, Entry(at=hall.now, body=body), viewer) for world in worlds]
                looks = [present(room, viewer, hall.now, frames) for room, frames in told]
                assert all(look == looks[0] for look in looks), type(body).__name__
                worlds = [room for room, _ in told]
                compared[type(body).__name__] += len(worlds) - 1
            for _ in range(2):  # first an AI stands in for whoever does nothing, then the clock moves
                due = rooms.next_due(worlds[0])
                assert due is not None
                fired = [entry for world in worlds if (entry := rooms.fire(world, due)) is not None]
                assert [type(entry.body) for entry in fired] == [type(fired[0].body)] * len(worlds)
                if isinstance(fired[0].body, Acted) and turns_up(state_of(worlds[0])):
                    break
                worlds = [world for world, entry in zip(worlds, fired, strict=True) if entry == fired[0]]
                told = [frames_of(world, fired[0], viewer) for world in worlds]
                looks = [present(room, viewer, due, frames) for room, frames in told]
                assert all(look == looks[0] for look in looks), type(fired[0].body).__name__
                worlds = [room for room, _ in told]
                compared[type(fired[0].body).__name__] += len(worlds) - 1
                if not isinstance(fired[0].body, StoodIn):
                    break
    return compared


@pytest.mark.parametrize("name", sorted(GAMES))
def test_whatever_else_happens_sends_the_same_bytes_in_all_worlds(name: str) -> None:
    """Sitting down, leaving, losing a connection, standing in, talk, winks, mutes, the clock's moves, publication."""
    compared = compare_the_rest(GAMES[name])

    assert compared.total() > 300
    kinds = {"Freed", "Joined", "Dropped", "StoodIn", "Returned", "Said", "Muted", "Locked", "Refunded", "Acted"}
    assert set(compared) >= kinds | ({"Winked", "Published"} if name == "hachinin-meri" else set()), compared


@pytest.mark.parametrize("name", sorted(GAMES))
def test_worlds_that_fit_a_view_look_refuse_and_are_scheduled_alike(name: str) -> None:
    assert compare_views(GAMES[name]) > 50


@pytest.mark.parametrize("name", sorted(GAMES))
def test_moves_that_look_alike_send_the_same_bytes_in_all_worlds(name: str) -> None:
    """Whoever moves."""
    assert compare_moves(GAMES[name]) > 50


def moved(hall: Hall, seat: Seat, action: str) -> Entry:
    kind = Answered if hall.decision.sealed else Acted
    return Entry(at=hall.now, body=kind(seat=seat, action=action, actor=Actor.PERSON))


def is_hidden(state: Any, action: str) -> bool:
    """Whether others do not see what is done, only that something is (H10, H12, H17)."""
    if action in {"declare", "pass"} or action[0] == "-":
        return True
    trick = getattr(state.table, "trick", None)
    if trick is None or trick.meri:
        return False
    return action[0] == state.table.okie[0] or action == "Pro"


def turns_up(state: Any) -> bool:
    """Whether the next move shows cards that were hidden: the opening lead (H14), the eighth card (H17)."""
    if not hasattr(state.table, "tricks"):
        return False
    if state.table.trick is None:
        return not state.table.tricks and state.table.phase == "playing"
    return len(state.table.trick.cards) == 7


# Deals -----------------------------------------------------------------------------------------------------------


def seen_places(game: AnyGame, viewer: Viewer) -> set[int]:
    """Places of the deck whose cards ``viewer`` sees dealt; seat 0 begins or deals (K1, G1, H8)."""
    if game.name == "hachinin-meri":
        mine = {place for place in range(72) if viewer is not None and (1 + place % 24 // 3) % 8 == viewer}
        return mine | {72}
    hand = 8 if game.name == "koi-koi" else 10
    return {*range(2 * hand, 2 * hand + 8), *(range(hand * viewer, hand * viewer + hand) if viewer is not None else ())}


@pytest.mark.parametrize("name", sorted(GAMES))
def test_deals_that_differ_in_what_a_viewer_does_not_see_send_the_same_bytes(name: str) -> None:
    """Unless the rules make something public at once (K2, G2)."""
    game, rng, compared = GAMES[name], Random(3), 0
    for _ in range(12):
        deck = rng.sample(game.cards, len(game.cards))
        viewer: Viewer = rng.choice([None, *map(Seat, range(game.seats))])
        hidden = sorted(set(range(len(deck))) - seen_places(game, viewer))
        other = list(deck)
        for place, taken in zip(hidden, rng.sample(hidden, len(hidden)), strict=True):
            other[place] = deck[taken]
        dealt = []
        for cards in (deck, other):
            hall = Hall(game, options={"deals": min(map(int, game.options["deals"]))}, seed="deals")
            for seat in range(1, game.seats):
                hall.join(f"P{seat}", seat)
            hall.start("easy")
            before = hall.room
            hall.deal_now(cards)
            if hall.phase() is Phase.PLAYING:
                room, frames = frames_of(before, hall.entries[-1], viewer)
                dealt.append(present(room, viewer, hall.now, frames))
        if len(dealt) == 2:
            compared += 1
            assert dealt[0] == dealt[1]

    assert compared > 6


@pytest.mark.parametrize(("name", "board"), [("koi-koi", 16), ("go-stop", 20)])
def test_while_a_deal_waits_to_be_dealt_again_hands_stay_hidden_and_whoever_is_ready_sends_the_same_bytes(
    name: str, board: int
) -> None:
    """K2, G1: four of a month lie open. What was dealt is not shown, for its seed deals again."""
    game, rng = GAMES[name], Random(4)
    for _ in range(12):
        month = rng.choice(game.cards)[:2]
        four = [card for card in game.cards if card[:2] == month]
        rest = rng.sample([card for card in game.cards if card not in four], len(game.cards) - 4)
        deck = [*rest[:board], *four, *rest[board:]]
        viewer: Viewer = rng.choice([None, *map(Seat, range(game.seats))])
        hidden = sorted(set(range(len(deck))) - seen_places(game, viewer))
        other = list(deck)
        for place, taken in zip(hidden, rng.sample(hidden, len(hidden)), strict=True):
            other[place] = deck[taken]
        told = []
        for cards in (deck, other):
            hall = Hall(game, options={"deals": min(map(int, game.options["deals"]))}, seed="again")
            hall.join("P1", 1)
            hall.start("easy")
            before = hall.room
            hall.deal_now(cards)
            assert hall.phase() is Phase.BETWEEN_DEALS
            room, frames = frames_of(before, hall.entries[-1], viewer)
            looks = [present(room, viewer, hall.now, frames)]
            for seat in (Seat(1), Seat(0)):
                room, frames = frames_of(room, Entry(at=hall.now, body=Readied(seat=seat)), viewer)
                looks.append(present(room, viewer, hall.now, frames))
            told.append(looks)
        assert told[0] == told[1]


# Who holds the Robai ---------------------------------------------------------------------------------------------

ROBAI: Final = Card("Kro")
PEOPLE: Final = (0, 3, 4, 6)
"""Seats of persons; AI hold the others. The dealer is seat 0."""


def asked(place: int, viewer: Viewer, order: list[int]) -> list[Any]:
    """A deal of Hachinin Meri with the Robai at a place of the deck, until just before the answers are published: all
    that ``viewer`` was sent on the way, and what was due when.
    """
    game = GAMES["hachinin-meri"]
    deck = list(game.cards)
    for at, card in ((72, Card("K5")), (73, ROBAI), (place, ROBAI)):  # the Okie makes Koppu trump (H9)
        other = deck.index(card)
        deck[at], deck[other] = deck[other], deck[at]
    hall = Hall(game, options={"deals": 1}, seed="robai")
    for seat in PEOPLE[1:]:
        hall.join(f"P{seat}", seat)
    hall.start("medium")
    before = hall.room
    hall.deal_now(deck)
    room, frames = frames_of(before, hall.entries[-1], viewer)
    told: list[Any] = [present(room, viewer, hall.now, frames)]
    for number, seat in enumerate(order):
        before = hall.room
        legal = rooms.question(before, Seat(seat)).legal
        hall.now += 40 + number
        actor = Actor.PERSON if seat in PEOPLE else Actor.AI
        hall.append(Entry(at=hall.now, body=Answered(seat=Seat(seat), action=legal[0], actor=actor)))
        room, frames = frames_of(before, hall.entries[-1], viewer)
        told.append(present(room, viewer, hall.now, frames))
    return told


def place_of(seat: int) -> int:
    """The deck's first card for ``seat`` (H8)."""
    return 3 * ((seat - 1) % 8)


@pytest.mark.parametrize("viewer", [None, *range(8)])
def test_H10_before_the_answers_are_published_nobody_can_tell_who_holds_the_robai_or_whether_anybody_does(
    viewer: int | None,
) -> None:
    """The Robai goes from hand to hand and to the side cards; whoever holds it declares."""
    order = Random(8).sample(range(8), 8)
    places = [place_of(seat) for seat in range(8) if seat != viewer] + [73, 74]

    worlds = [asked(place, None if viewer is None else Seat(viewer), order) for place in places]

    assert all(world == worlds[0] for world in worlds)
    if viewer is not None:
        assert asked(place_of(viewer), Seat(viewer), order) != worlds[0], "its holder knows"


# These tests find what they are for ------------------------------------------------------------------------------


def asks_only_who_has_a_choice(patch: pytest.MonkeyPatch) -> None:
    """A prompt that the hidden hand makes pointless is left out."""
    original = rooms.ai_moves
    patch.setattr(
        rooms,
        "ai_moves",
        lambda room: tuple(move for move in original(room) if len(rooms.question(room, move.seat).legal) > 1),
    )


def ends_the_wait_with_a_declaration(patch: pytest.MonkeyPatch) -> None:
    """The window closes once the Robai is declared."""
    original = rooms.next_due

    def next_due(room: Room) -> int | None:
        assert room.table is not None
        return room.at if any(each.action == "declare" for each in room.table.answers) else original(room)

    patch.setattr(rooms, "next_due", next_due)


def tells_of_answers(patch: pytest.MonkeyPatch) -> None:
    """A declaration makes an event."""
    original = playing.answer

    def answer(work: Work, body: Answered) -> None:
        original(work, body)
        if body.action == "declare":
            work.tell(SeatReady(seat=body.seat))

    patch.setattr(playing, "answer", answer)


@pytest.mark.parametrize("fault", [asks_only_who_has_a_choice, ends_the_wait_with_a_declaration, tells_of_answers])
def test_a_server_that_told_who_holds_the_robai_would_be_found_out(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    order = [5, 1, 2, 3, 4, 0, 6, 7]

    worlds = [asked(place, None, order) for place in (place_of(1), place_of(5), 73)]

    assert not all(world == worlds[0] for world in worlds)


Compare = Callable[[AnyGame], object]
Fault = Callable[[pytest.MonkeyPatch], None]


def odd(room: Room) -> bool:
    """Something that only who sees the first hand knows."""
    state = state_of(room)
    return state is not None and sum(map(GAMES[room.game].cards.index, state.hands[0])) % 2 == 1


def snapshots_longer(patch: pytest.MonkeyPatch) -> None:
    """A size that tells."""
    original = rooms.snapshot

    def snapshot(room: Room, viewer: Viewer, **rest: Any) -> Any:
        shown = original(room, viewer, **rest)
        return replace(shown, code=shown.code + " " * odd(room))

    patch.setattr(rooms, "snapshot", snapshot)


def windows_shorter(patch: pytest.MonkeyPatch) -> None:
    """A time that tells."""
    original = rooms.next_due

    def next_due(room: Room) -> int | None:
        due = original(room)
        return None if due is None else due - odd(room)

    patch.setattr(rooms, "next_due", next_due)


def turns_left_out(patch: pytest.MonkeyPatch) -> None:
    """Somebody who is not asked where their hand leaves no choice."""
    original = rooms.turn
    patch.setattr(rooms, "turn", lambda room, *rest, **named: None if odd(room) else original(room, *rest, **named))


def refusals_from_all_hands(patch: pytest.MonkeyPatch) -> None:
    """Why something is illegal, told from what the asker does not see."""
    original = rooms.decide

    def decide(room: Room, command: Any, seat: Seat, *rest: Any, **named: Any) -> Any:
        decided = original(room, command, seat, *rest, **named)
        held = any(command.action in hand for other, hand in enumerate(state_of(room).hands) if other != seat)
        return replace(decided, code="another-holds-it") if isinstance(decided, Refuse) and held else decided

    patch.setattr(rooms, "decide", decide)


def events_twice(patch: pytest.MonkeyPatch) -> None:
    """A count that tells."""
    original = rooms.distinct

    def distinct(room: Room, events: Any, viewers: Any, **rest: Any) -> Any:
        shown = original(room, events, viewers, **rest)
        return tuple(replace(each, events=each.events * (1 + odd(room))) for each in shown)

    patch.setattr(rooms, "distinct", distinct)


def seats_that_tell(patch: pytest.MonkeyPatch) -> None:
    """An event more when somebody sits down, leaves, or is stood in for."""
    original = seating.settled

    def settled(work: Work, seat: Seat, **rest: Any) -> None:
        original(work, seat, **rest)
        if work.room.table is not None and odd(work.room):
            work.tell(SeatReady(seat=seat))

    patch.setattr(seating, "settled", settled)


def lines_that_tell(patch: pytest.MonkeyPatch) -> None:
    """A line of chat a letter longer."""
    original = talking.say
    patch.setattr(
        talking, "say", lambda work, body: original(work, replace(body, text=body.text + "!" * odd(work.room)))
    )


def publications_that_tell(patch: pytest.MonkeyPatch) -> None:
    """An event more when sealed answers are published."""
    original = playing.publish

    def publish(work: Work, body: Published) -> None:
        telling = odd(work.room)
        original(work, body)
        if telling:
            work.tell(SeatReady(seat=0))

    patch.setattr(playing, "publish", publish)


def time_that_tells(patch: pytest.MonkeyPatch) -> None:
    """An AI that stands in has another limit."""
    original = playing.hand_over

    def hand_over(work: Work, seat: Seat, **rest: Any) -> None:
        original(work, seat, **rest)
        decision = work.room.table.decision if work.room.table is not None else None
        if decision is not None and odd(work.room):
            work.table(decision=replace(decision, exit_at=decision.exit_at - 1))

    patch.setattr(seating, "hand_over", hand_over)


@pytest.mark.parametrize(
    ("fault", "compare", "name"),
    [
        (snapshots_longer, compare_views, "koi-koi"),
        (windows_shorter, compare_views, "hachinin-meri"),
        (turns_left_out, compare_views, "go-stop"),
        (refusals_from_all_hands, compare_views, "hachinin-meri"),
        (events_twice, compare_moves, "koi-koi"),
        *((seats_that_tell, compare_the_rest, name) for name in sorted(GAMES)),
        (lines_that_tell, compare_the_rest, "go-stop"),
        (publications_that_tell, compare_the_rest, "hachinin-meri"),
        (time_that_tells, compare_the_rest, "koi-koi"),
    ],
)
def test_a_server_that_told_two_worlds_apart_would_be_found_out(
    fault: Fault, compare: Compare, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)

    with pytest.raises(AssertionError):
        compare(GAMES[name])
