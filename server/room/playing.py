"""Folding what happens in a match: opening, contributions, dealing, moves, sealed answers, the end of deals.

Sealed answers and contributions are kept without an event; everybody learns them together when an entry publishes
them (H10). All rooms share the few texts that cards and actions have, whoever read them (``sys.intern``).
"""

from __future__ import annotations

import sys
from typing import Any, Final

from msgspec.structs import replace

from engine import match as engine_match
from engine.game import Card, Seat
from engine.match import REDEAL, Need, Progress
from engine.record import Move as RecordedMove
from protocol.events import (
    AiSeated,
    ContributionsFixed,
    MatchOpened,
    QuestionOpened,
    SeatAway,
    SeatBack,
    SeatContribution,
    SeatNamed,
    SeatReady,
    SeedRevealed,
)
from protocol.events import Rematched as RematchedEvent
from server.entries import (
    Acted,
    Actor,
    Answered,
    Contributed,
    Dealt,
    Opened,
    Published,
    Readied,
    Refunded,
    Rematched,
)
from server.room.records import FinishedDeal, all_contributed, commitments, players
from server.room.state import (
    Ai,
    Decision,
    Open,
    Person,
    Phase,
    PlayedDeal,
    SealedAnswer,
    SeatBytes,
    Table,
    mover_is_ai,
    persons,
    table_of,
)
from server.room.work import Work

SECOND_MS: Final = 1000


class OtherRules(Exception):
    """The match was opened under another version of its game's rules; this version must not go on with it."""

    def __init__(self, game: str, logged: int, ours: int) -> None:
        super().__init__(f"a match of {game} under rules version {logged}; this version has {ours}")
        self.game = game
        self.logged = logged
        self.ours = ours


# The match -------------------------------------------------------------------------------------------------------


def open_match(work: Work, body: Opened) -> None:
    """AI take the open seats; the commitments are published and contributions awaited."""
    room, game = work.room, work.game
    if body.rules != game.rules_version:
        raise OtherRules(game.name, body.rules, game.rules_version)
    for number, holder in enumerate(room.seats):
        if isinstance(holder, Open):
            work.seat(Seat(number), Ai(body.level))
            work.tell(AiSeated(seat=number, level=body.level))
    wait_ms = room.timing.contributions_ms
    table = Table(
        id=body.match,
        rules=body.rules,
        level=body.level,
        seeds=body.seeds,
        contributors=persons(room),
        wait_until=work.at + wait_ms,
        match=engine_match.begin(game, room.options),
    )
    work.change(table=table)
    work.enter(Phase.SHUFFLING)
    work.tell(
        MatchOpened(
            match=table.id,
            rules=table.rules,
            commitments=commitments(table),
            contributors=table.contributors,
            wait_ms=wait_ms,
        )
    )


def contribute(work: Work, body: Contributed) -> None:
    """A contribution came. Nobody is told before all are."""
    given = table_of(work.room).contributed
    work.table(contributed=tuple(sorted((*given, SeatBytes(body.seat, body.value)), key=lambda each: each.seat)))


def deal(work: Work, body: Dealt) -> None:
    """The next deck is dealt; before the first, the contributions are fixed and published."""
    table = table_of(work.room)
    if not table.fixed:
        table = work.table(contributed=all_contributed(table), fixed=True)
        contributions = tuple(SeatContribution(seat=each.seat, value=each.value.hex()) for each in table.contributed)
        work.tell(ContributionsFixed(contributions=contributions))
    deck = tuple([Card(sys.intern(card)) for card in body.deck])
    work.table(deck=deck, moves=(), ready=())
    _progress(work, engine_match.deal(work.game, table.match, deck, body.drawn))


def act(work: Work, body: Acted) -> None:
    """An action of one seat."""
    table = table_of(work.room)
    moves = (*table.moves, RecordedMove(body.seat, sys.intern(body.action), body.actor))
    progress = engine_match.act(work.game, table.match, body.seat, work.game.parse(body.action))
    assert progress.events, f"{body.action} of {work.game.name} made no event: the next decision would have its number"
    work.table(moves=moves)
    _progress(work, progress)


def answer(work: Work, body: Answered) -> None:
    """A sealed answer came. It is final, and nobody is told."""
    work.table(answers=(*table_of(work.room).answers, SealedAnswer(body.seat, body.action, body.actor)))


def publish(work: Work, body: Published) -> None:
    """All answers take effect, from the beginner's left whatever order they came in."""
    table, game = table_of(work.room), work.game
    match = table.match
    silent = (SealedAnswer(each.seat, each.action, Actor.CLOCK) for each in body.silent)
    answers = sorted((*table.answers, *silent), key=lambda each: (each.seat - match.beginner - 1) % game.seats)
    events: list[Any] = []
    for each in answers:
        progress = engine_match.act(game, match, each.seat, game.parse(each.action))
        match = progress.match
        events += progress.events
    moves = tuple(RecordedMove(each.seat, each.action, each.actor) for each in answers)
    work.table(moves=table.moves + moves)
    _progress(work, Progress(match, tuple(events)))


def be_ready(work: Work, body: Readied) -> None:
    """A person wants the next deal."""
    work.table(ready=tuple(sorted({*table_of(work.room).ready, body.seat})))
    work.tell(SeatReady(seat=body.seat))


def rematch(work: Work, _: Rematched) -> None:
    """Back to the lobby. AI that stood in are dismissed; who is away has a new grace period."""
    work.tell(RematchedEvent())
    work.change(table=None)
    work.enter(Phase.LOBBY)
    for seat in persons(work.room):
        person = work.room.seats[seat]
        assert isinstance(person, Person), "persons() names seats of persons"
        if person.away:
            grace_ms = work.room.timing.grace_ms
            work.seat(seat, replace(person, stand_in=False, grace_until=work.at + grace_ms))
            work.tell(SeatAway(seat=seat, grace_ms=grace_ms))
        elif person.stand_in:
            work.seat(seat, replace(person, stand_in=False))
            work.tell(SeatBack(seat=seat))


def _progress(work: Work, progress: Progress) -> None:
    """The match after a step: the next decision, the pause before the next deal, or the end."""
    table = work.table(match=progress.match, decision=None, answers=())
    work.tell(*progress.events)
    if progress.match.need is Need.ACTION:
        work.enter(Phase.PLAYING)
        _open_decision(work)
        return
    outcome = progress.match.outcome
    assert outcome is not None, "a deal that needs no action is over"
    _reveal_seats(work)
    played = (*table.redealt, PlayedDeal(table.match, table.deck, table.moves, players(work.room.seats)))
    if outcome.reason == REDEAL:
        # The next attempt comes from the same seed: no record with it may be seen before that is over.
        work.table(redealt=played, wait_until=work.at + work.room.timing.redeal_ms)
        work.enter(Phase.BETWEEN_DEALS)
        return
    work.finished = tuple(FinishedDeal(work.game, table, each) for each in played)
    work.table(redealt=(), wait_until=work.at + work.room.timing.pause_ms)
    work.tell(SeedRevealed(deal=table.match.deal, seed=table.seeds[table.match.deal - 1].hex()))
    if progress.match.over:
        work.change(active_at=work.at)
        work.enter(Phase.FINISHED)
    else:
        work.enter(Phase.BETWEEN_DEALS)


def _reveal_seats(work: Work) -> None:
    """A deal is over: who sat down in silence is called by their name, and no AI's hand is worth looking into."""
    for number, holder in enumerate(work.room.seats):
        match holder:
            case Person(unnamed=True):
                work.seat(Seat(number), replace(holder, unnamed=False))
                work.tell(SeatNamed(seat=number, name=holder.name))
            case Ai(kept=True):
                work.seat(Seat(number), replace(holder, kept=False))
            case _:
                pass


# The decision ----------------------------------------------------------------------------------------------------


def _open_decision(work: Work) -> None:
    timing = work.room.timing
    seats = tuple(sorted(work.game.awaiting(table_of(work.room).match.state)))
    assert seats, "a deal that is not over awaits somebody"
    if len(seats) > 1:
        work.tell(QuestionOpened(wait_ms=timing.question_ms))
        publish_at = work.at + timing.question_ms
        decision = Decision(at=work.number, seats=seats, since=work.at, publish_at=publish_at, exit_at=publish_at)
        work.table(decision=decision)
        return
    work.table(decision=Decision(at=work.number, seats=seats, since=work.at, exit_at=work.at))
    hand_over(work, seats[0])


def hand_over(work: Work, seat: Seat, *, forget_deadline: bool = False) -> None:
    """Give the mover of ``seat`` their time, if the match waits for that seat alone.

    A person's deadline survives an AI that stands in and is not moved by coming back, so nobody gains time by
    dropping out; ``forget_deadline`` when the next person in this seat will be another one.
    """
    decision = work.room.table.decision if work.room.table is not None else None
    if decision is None or decision.sealed or seat not in decision.seats:
        return
    timing, limit_ms = work.room.timing, work.room.settings.turn_limit * SECOND_MS
    by_ai = mover_is_ai(work.room, seat)
    deadline = None if forget_deadline else decision.deadline
    if deadline is None and limit_ms and not by_ai:
        deadline = work.at + limit_ms
    exit_at = work.at + (timing.ai_limit_ms if by_ai else timing.person_idle_ms)
    work.table(decision=replace(decision, deadline=deadline, exit_at=exit_at))


# Time ------------------------------------------------------------------------------------------------------------


def refund(work: Work, body: Refunded) -> None:
    """Time that nobody could use is given back."""
    shift(work, body.ms)


def shift(work: Work, ms: int) -> None:
    """Everything that the room waits for happens ``ms`` later."""
    room = work.room
    seats = tuple(
        replace(holder, grace_until=holder.grace_until + ms)
        if isinstance(holder, Person) and holder.grace_until is not None
        else holder
        for holder in room.seats
    )
    work.change(seats=seats, active_at=room.active_at + ms)
    if room.abandoned_at is not None:
        work.change(abandoned_at=room.abandoned_at + ms)
    if room.table is not None:
        table = work.table(wait_until=room.table.wait_until + ms)
        if table.decision is not None:
            work.table(decision=_shifted(table.decision, ms))


def _shifted(decision: Decision, ms: int) -> Decision:
    return replace(
        decision,
        publish_at=None if decision.publish_at is None else decision.publish_at + ms,
        deadline=None if decision.deadline is None else decision.deadline + ms,
        exit_at=decision.exit_at + ms,
    )
