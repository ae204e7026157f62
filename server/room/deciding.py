"""``decide``: what a command would do. The room has not changed before the log has the entry.

The order of the questions: was this command done already; does the phase allow it; is the asker (still) seated; is it
for the host alone; and then what the command itself asks.
"""

from __future__ import annotations

from typing import Final, TypeAlias, assert_never

import msgspec
from msgspec import Struct

from engine.game import AnyGame, BadOption, IllegalAction, MalformedAction, Message, Seat, Why
from engine.registry import GAMES
from engine.shuffle import SEED_BYTES
from protocol.codes import Refused
from protocol.events import WhyFreed
from protocol.limits import LEAST_TURN_LIMIT, MAX_NAME
from protocol.messages import (
    Act,
    Chat,
    ClearSeat,
    Contribute,
    Create,
    Join,
    Leave,
    Lock,
    Move,
    Mute,
    Ready,
    Rematch,
    Resume,
    SeatAi,
    Settings,
    Start,
    Wink,
)
from server.entries import (
    Acted,
    Actor,
    AiCleared,
    AiSat,
    Answered,
    AnyBody,
    Contributed,
    Created,
    Entry,
    Freed,
    Joined,
    Locked,
    Moved,
    Muted,
    Opened,
    Readied,
    Rematched,
    Returned,
    Timing,
)
from server.names import normalise
from server.room import talking
from server.room.answers import Append, Decided, Refuse, Repeat
from server.room.folding import parts_of
from server.room.measure import HOUSEKEEPING, RETURNS, too_fast
from server.room.state import (
    Ai,
    Done,
    Games,
    Open,
    Person,
    Phase,
    Room,
    person_at,
    persons,
    table_of,
)
from server.room.tokens import Entropy, hashed_token, new_code, new_id, new_token, room_id_of, shows_token

RoomCommand: TypeAlias = (
    Create
    | Join
    | Resume
    | Move
    | SeatAi
    | ClearSeat
    | Start
    | Contribute
    | Act
    | Ready
    | Rematch
    | Chat
    | Wink
    | Mute
    | Lock
    | Leave
)
"""The commands that a room decides about. ``list``, ``watch`` and ``look`` change no room."""

_ANY: Final = frozenset(Phase) - {Phase.CLOSED}
ALLOWED: Final[dict[type[RoomCommand], frozenset[Phase]]] = {
    Create: _ANY,
    Join: _ANY,
    Resume: _ANY,
    Move: frozenset({Phase.LOBBY}),
    SeatAi: frozenset({Phase.LOBBY}),
    ClearSeat: _ANY,  # an AI only in the lobby
    Start: frozenset({Phase.LOBBY}),
    Contribute: frozenset({Phase.SHUFFLING}),
    Act: frozenset({Phase.PLAYING}),
    Ready: frozenset({Phase.BETWEEN_DEALS}),
    Rematch: frozenset({Phase.FINISHED}),
    Chat: _ANY,  # in a silent game not while a deal is played
    Wink: frozenset({Phase.PLAYING}),
    Mute: _ANY,
    Lock: _ANY,
    Leave: _ANY,
}
"""The phases in which a command can do something."""
HOST_ONLY: Final[frozenset[type[RoomCommand]]] = frozenset({SeatAi, ClearSeat, Start, Rematch, Lock})

USUAL_TIMING: Final = Timing()

_SALT_BYTES: Final = 16


class _Asked(Struct, frozen=True):
    """What every command needs besides itself."""

    room: Room
    game: AnyGame
    now: int
    entropy: Entropy
    node: str

    def append(self, command: RoomCommand, body: AnyBody, seat: Seat | None, token: str | None = None) -> Append:
        return Append(entry(self.room, body, self.now, command.id), seat, token)


# Opening a room --------------------------------------------------------------------------------------------------


def open_room(
    command: Create, now: int, entropy: Entropy, *, timing: Timing = USUAL_TIMING, node: str = "", games: Games = GAMES
) -> Append | Refuse:
    """The first entry of the room that ``command`` opens. Its code is drawn: where that is taken, ask again.

    ``now`` in milliseconds since the epoch; ``node`` names the node that holds the asker's connection.
    """
    game = games.get(command.game)
    if game is None:
        return Refuse(Refused.UNKNOWN_GAME, {"game": command.game, "known": tuple(games)})
    try:
        options = game.complete_options(command.options)
    except BadOption as problem:
        return _refuse(problem.refusal)
    settings = Settings(**msgspec.structs.asdict(command.settings))
    if 0 < settings.turn_limit < LEAST_TURN_LIMIT:
        problem_text = f"Expected 0 or `int` >= {LEAST_TURN_LIMIT}"
        return Refuse(Refused.BAD_FIELD, {"path": "$.settings.turn_limit", "problem": problem_text})
    if settings.winks and game.sides == game.seats:
        return Refuse(Refused.BAD_FIELD, {"path": "$.settings.winks", "problem": "nobody has a partner in this game"})
    seat = Seat(command.seat or 0)
    if seat >= game.seats:
        return Refuse(Refused.NO_SUCH_SEAT, {"seats": game.seats})
    name = normalise(command.name)
    if name is None:
        return Refuse(Refused.BAD_NAME, {"limit": MAX_NAME})
    token, hashed = new_token(entropy)
    body = Created(
        room=room_id_of(command.id),
        code=new_code(entropy),
        game=game.name,
        options=options,
        settings=settings,
        timing=timing,
        seat=seat,
        name=name,
        token=hashed,
        node=node,
        salt=entropy(_SALT_BYTES),
    )
    return Append(Entry(at=now, command=command.id, body=body), seat, token)


# Commands to a room ----------------------------------------------------------------------------------------------


def decide(
    room: Room,
    command: RoomCommand,
    seat: Seat | None,
    now: int,
    entropy: Entropy,
    *,
    epoch: int | None = None,
    node: str = "",
    games: Games = GAMES,
) -> Decided:
    """What ``command`` does to ``room``, coming from a connection in ``seat`` (None: a spectator, or nobody yet).

    ``epoch`` is the epoch of that connection: if the seat has another one by now, the command comes from a connection
    or a person that has been replaced and is refused. None trusts ``seat`` as it is. ``now`` in milliseconds since
    the epoch.
    """
    asked = _Asked(room, games[room.game], now, entropy, node)
    done = _done(room, command)
    if done is not None:
        return _again(asked, command, done)
    if room.phase not in ALLOWED[type(command)]:
        return _not_now(room)
    asker = person_at(room, seat)
    if not isinstance(command, Create | Join | Resume):
        if seat is None:
            return Refuse(Refused.SPECTATORS_ONLY_WATCH)
        if asker is None or (epoch is not None and asker.epoch != epoch):
            return Refuse(Refused.NOT_IN_A_ROOM)
        if type(command) in HOST_ONLY and seat != room.host:
            assert room.host is not None, "where a person is, there is a host"
            return Refuse(Refused.ONLY_THE_HOST, {"host": room.host})
    match command:
        case Create():
            return Refuse(Refused.ALREADY_IN_A_ROOM)
        case Join():
            return Refuse(Refused.ALREADY_IN_A_ROOM) if seat is not None else _join(asked, command)
        case Resume():
            return _resume(asked, command)
        case _:
            assert seat is not None, "checked above"
            return _seated(asked, command, seat)


def _seated(
    asked: _Asked,
    command: Move | SeatAi | ClearSeat | Start | Contribute | Act | Ready | Rematch | Chat | Wink | Mute | Lock | Leave,
    seat: Seat,
) -> Decided:
    """What a seated person's command does, in a phase that allows it and with the right to give it."""
    room, game = asked.room, asked.game
    found: AnyBody | Repeat | Refuse
    after: Seat | None = seat
    match command:
        case Move():
            found = _move(room, command, seat)
            after = Seat(command.seat)
        case SeatAi():
            found = _seat_ai(room, command, game)
        case ClearSeat():
            found = _clear_seat(room, command)
            after = None if command.seat == seat else seat
        case Start():
            found = _start(asked, command)
        case Contribute():
            found = _contribute(room, command, seat)
        case Act():
            found = _act(room, command, seat, game)
        case Ready():
            found = Repeat() if seat in table_of(room).ready else Readied(seat=seat)
        case Rematch():
            found = Rematched()
        case Chat():
            found = talking.chat(room, command, seat, game, asked.now)
        case Wink():
            found = talking.wink(room, command, seat, asked.now)
        case Mute():
            found = talking.mute(room, command, seat)
        case Lock():
            found = talking.lock(room, command)
        case Leave():
            found = Freed(seat=seat, why=WhyFreed.LEFT)
            after = None
        case _:
            assert_never(command)
    if isinstance(found, Moved | AiSat | Muted | Locked):
        person = person_at(room, seat)
        assert person is not None, "checked above"
        found = too_fast(person.arranged, HOUSEKEEPING, asked.now) or found
    return found if isinstance(found, Repeat | Refuse) else asked.append(command, found, after)


def may_watch(room: Room) -> Refuse | None:
    """Why nobody may watch this room; None if they may."""
    if room.phase is Phase.CLOSED:
        return _not_now(room)
    return None if room.settings.spectators else Refuse(Refused.SPECTATORS_NOT_ALLOWED)


def entry(room: Room, body: AnyBody, now: int, command: str | None = None) -> Entry:
    """The room's next entry. Nodes' clocks differ; a room's time never goes back."""
    return Entry(at=max(now, room.at), command=command, body=body)


# Repeated commands -----------------------------------------------------------------------------------------------


def _done(room: Room, command: RoomCommand) -> Done | None:
    """The answer to a command that was done already. A resume proves itself by its token, as often as it is sent."""
    if isinstance(command, Resume):
        return None
    session, number = parts_of(command.id)
    return next((each for each in room.done.get(session, ()) if each.number == number), None)


def _again(asked: _Asked, command: RoomCommand, done: Done) -> Decided:
    """Answer as the first time. Whoever repeats what seated them has lost their token with the answer: they get a
    fresh one, as long as no token of that seat was ever shown.
    """
    if not isinstance(command, Create | Join) or done.seated is None:
        return Repeat(done.at)
    room = asked.room
    for seat in persons(room):
        person = person_at(room, seat)
        if person is not None and person.since == done.seated and not person.proved and room.phase is not Phase.CLOSED:
            token, hashed = new_token(asked.entropy)
            body = Returned(seat=seat, token=hashed, kept=person.token, by_token=False, node=asked.node)
            return asked.append(command, body, seat, token)
    return Refuse(Refused.NOT_IN_A_ROOM)


def _is_outrun(room: Room, command: Resume) -> bool:
    """Whether the same client has done something since: this return has waited at a node that was cut off, and its
    person has come again through another, whom it would push out.
    """
    session, number = parts_of(command.id)
    return any(each.number > number for each in room.done.get(session, ()))


# Each command ----------------------------------------------------------------------------------------------------


def _join(asked: _Asked, command: Join) -> Append | Refuse:
    name = normalise(command.name)
    if name is None:
        return Refuse(Refused.BAD_NAME, {"limit": MAX_NAME})
    if asked.room.locked:
        return Refuse(Refused.ROOM_LOCKED)
    chosen = _free_seat(asked.room, command, asked.game)
    if isinstance(chosen, Refuse):
        return chosen
    token, hashed = new_token(asked.entropy)
    unnamed = talking.is_silent(asked.room, asked.game)
    body = Joined(seat=chosen, name=name, token=hashed, node=asked.node, unnamed=unnamed)
    return asked.append(command, body, chosen, token)


def _free_seat(room: Room, command: Join, game: AnyGame) -> Seat | Refuse:
    """The seat asked for, or one of the side asked for: rather an open one than an AI's."""
    if command.seat is not None:
        return _check_free(room, command.seat) or Seat(command.seat)
    free = free_seats(room)
    wanted = [Seat(seat) for seat in range(game.seats) if command.side in (None, game.side(Seat(seat)))]
    chosen = min(
        (seat for seat in wanted if seat in free),
        key=lambda seat: (not isinstance(room.seats[seat], Open), seat),
        default=None,
    )
    if chosen is not None:
        return chosen
    kept = next((seat for seat in wanted if _is_kept(room, seat)), None)
    if kept is not None:
        return Refuse(Refused.SEAT_KEPT, {"seat": kept, "free": _texts(free)})
    return (
        Refuse(Refused.SEAT_TAKEN, {"side": command.side or 0, "free": _texts(free)})
        if free
        else Refuse(Refused.ROOM_FULL)
    )


def free_seats(room: Room) -> tuple[Seat, ...]:
    """The seats that a person can take, ascending: open ones and those of AI that does not keep them."""
    return tuple(
        Seat(seat)
        for seat, holder in enumerate(room.seats)
        if not isinstance(holder, Person) and not _is_kept(room, Seat(seat))
    )


def _is_kept(room: Room, seat: Seat) -> bool:
    holder = room.seats[seat]
    return isinstance(holder, Ai) and holder.kept


def _check_free(room: Room, seat: int) -> Refuse | None:
    if seat >= len(room.seats):
        return Refuse(Refused.NO_SUCH_SEAT, {"seats": len(room.seats)})
    free = free_seats(room)
    if seat in free:
        return None
    why = Refused.SEAT_KEPT if _is_kept(room, Seat(seat)) else Refused.SEAT_TAKEN
    return Refuse(why, {"seat": seat, "free": _texts(free)})


def _resume(asked: _Asked, command: Resume) -> Append | Refuse:
    """The token used stays valid until the new one is first used: whichever answer is lost, one of the two fits."""
    used = hashed_token(command.token)
    found: Seat | None = None
    for seat in persons(asked.room):  # all of them, so that time does not tell which seat was nearly hit
        person = person_at(asked.room, seat)
        assert person is not None, "persons() names seats of persons"
        found = seat if shows_token(person, used) else found
    if found is None:
        return Refuse(Refused.BAD_TOKEN)
    if _is_outrun(asked.room, command):
        return Refuse(Refused.NOT_IN_A_ROOM)
    person = person_at(asked.room, found)
    assert person is not None, "found in their seat"
    refusal = too_fast(person.returned, RETURNS, asked.now)
    if refusal is not None:
        return refusal
    token, hashed = new_token(asked.entropy)
    body = Returned(seat=found, token=hashed, kept=used, by_token=True, node=asked.node)
    return asked.append(command, body, found, token)


def _move(room: Room, command: Move, seat: Seat) -> Moved | Repeat | Refuse:
    if command.seat == seat:
        return Repeat()
    return _check_free(room, command.seat) or Moved(seat=seat, to=Seat(command.seat))


def _seat_ai(room: Room, command: SeatAi, game: AnyGame) -> AiSat | Refuse:
    return (
        _check_free(room, command.seat)
        or _check_level(game, command.level)
        or AiSat(seat=Seat(command.seat), level=command.level)
    )


def _clear_seat(room: Room, command: ClearSeat) -> AiCleared | Freed | Refuse:
    if command.seat >= len(room.seats):
        return Refuse(Refused.NO_SUCH_SEAT, {"seats": len(room.seats)})
    seat = Seat(command.seat)
    match room.seats[seat]:
        case Person():
            return Freed(seat=seat, why=WhyFreed.REMOVED)
        case Ai():
            return AiCleared(seat=seat) if room.phase is Phase.LOBBY else _not_now(room)
        case Open():
            return Refuse(Refused.SEAT_OPEN, {"seat": seat})
        case holder:
            assert_never(holder)


def _start(asked: _Asked, command: Start) -> Opened | Refuse:
    room, game, entropy = asked.room, asked.game, asked.entropy
    refusal = _check_level(game, command.level)
    if refusal is not None:
        return refusal
    deals = room.options["deals"]
    assert isinstance(deals, int), f"{game.name} counts its deals in {deals!r}"
    return Opened(
        level=command.level,
        match=new_id(entropy),
        rules=game.rules_version,
        seeds=tuple(entropy(SEED_BYTES) for _ in range(deals)),
    )


def _contribute(room: Room, command: Contribute, seat: Seat) -> Contributed | Refuse:
    table = table_of(room)
    if seat not in table.contributors:
        return _not_now(room)
    if any(each.seat == seat for each in table.contributed):
        return Refuse(Why.ALREADY_ANSWERED)
    return Contributed(seat=seat, value=bytes.fromhex(command.value))


def _act(room: Room, command: Act, seat: Seat, game: AnyGame) -> Acted | Answered | Refuse:
    table = table_of(room)
    decision = table.decision
    assert decision is not None, "while a deal is played, a decision is open"
    answered = any(each.seat == seat for each in table.answers)
    if command.at != decision.at:
        return Refuse(Refused.STALE, {"at": decision.at if seat in decision.seats and not answered else 0})
    if answered:
        return Refuse(Why.ALREADY_ANSWERED)
    if seat not in decision.seats:
        return Refuse(Why.NOT_YOUR_TURN)
    try:
        check_action(game, room, seat, command.action)
    except MalformedAction:
        return Refuse(Refused.MALFORMED_ACTION, {"action": command.action})
    except IllegalAction as problem:
        return _refuse(problem.refusal)
    kind = Answered if decision.sealed else Acted
    return kind(seat=seat, action=command.action, actor=Actor.PERSON)


def check_action(game: AnyGame, room: Room, seat: Seat, text: str) -> None:
    """Accept what an awaited seat may do.

    Raises:
        MalformedAction: ``text`` is no action of the game.
        IllegalAction: the rules forbid it; says why from what the seat knows.
    """
    if text in legal_for(game, room, seat):
        return
    refusal = game.why(game.view(table_of(room).match.state, seat), game.parse(text))
    assert refusal is not None, f"{game.name} does not say why {text} is illegal"
    raise IllegalAction(refusal)


def legal_for(game: AnyGame, room: Room, seat: Seat) -> tuple[str, ...]:
    """What the open decision allows ``seat``, one of those that it asks."""
    table = table_of(room)
    assert table.decision is not None, "what is legal is asked while a decision is open"
    return table.decision.legal.of(seat, game, table.match.state)


def _check_level(game: AnyGame, level: str) -> Refuse | None:
    if level in game.levels:
        return None
    return Refuse(Why.BAD_OPTION_VALUE, {"option": "level", "value": level, "allowed": tuple(map(str, game.levels))})


# Words -----------------------------------------------------------------------------------------------------------


def _refuse(refusal: Message) -> Refuse:
    return Refuse(refusal.code, refusal.params)


def _not_now(room: Room) -> Refuse:
    return Refuse(Refused.NOT_NOW, {"phase": room.phase.value})


def _texts(seats: tuple[Seat, ...]) -> tuple[str, ...]:
    return tuple(map(str, seats))
