"""Words for everything that is no particular game's: the hall, the room, the match, the connection, the shuffle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from clients.cli.connection import Trouble
from clients.cli.fairness import ALARMS, Finding, Found
from clients.cli.picture import Picture
from clients.cli.session import End, Ended, Params
from clients.cli.words import GAP, N_, Lines, _, counted, filled, listed, plainly, sentences
from clients.cli.words.people import People
from engine.game import Seat
from engine.match import DealBegan, DealEnded, MatchEnded
from protocol import events as room
from protocol.codes import Notified, Refused
from protocol.messages import ChatLine
from wording.columns import padded, width

REFUSALS: Final[Mapping[str, str]] = {
    Refused.TOO_LARGE: N_("That is too long for the server, which takes {limit} bytes at most."),
    Refused.NOT_JSON: N_("The server could not read what was sent."),
    Refused.UNKNOWN_COMMAND: N_("This server does not know that command. It knows: {known}."),
    Refused.BAD_FIELD: N_("The server cannot take that: {path}: {problem}."),
    Refused.MALFORMED_ACTION: N_("{action} is not a move of this game."),
    Refused.UNKNOWN_GAME: N_("This server does not host {game}. It hosts: {known}."),
    Refused.UNKNOWN_ROOM: N_("There is no such room (any more). Check the code."),
    Refused.NOT_IN_A_ROOM: N_("You are not in a room."),
    Refused.ALREADY_IN_A_ROOM: N_("You are in a room already."),
    Refused.BAD_TOKEN: N_("The seat is not yours any more: it was given up, or the host freed it."),
    Refused.NO_SUCH_SEAT: N_("There is no such seat. The table has {seats}, numbered from 0."),
    Refused.SEAT_TAKEN: N_("That seat is taken by a person. Free seats: {free}."),
    Refused.SEAT_OPEN: N_("Nobody holds seat {seat}."),
    Refused.ROOM_FULL: N_("The table is full: every seat is held by a person."),
    Refused.SEAT_KEPT: N_("Its person was removed: AI keeps that seat until the deal is over. Free seats: {free}."),
    Refused.SPECTATORS_FULL: N_("No more than {limit} people can watch this room here. Try again later."),
    Refused.SPECTATORS_NOT_ALLOWED: N_("This room does not admit spectators."),
    Refused.SPECTATORS_ONLY_WATCH: N_("You are watching; only players can do that."),
    Refused.ONLY_THE_HOST: N_("Only the host (seat {host}) can do that."),
    Refused.NOT_NOW: N_("That cannot be done now (the room is: {phase})."),
    Refused.STALE: N_("Too late: that decision is no longer open."),
    Refused.BAD_NAME: N_("That is no name the server can show. It needs 1 to {limit} visible characters."),
    Refused.BAD_LINE: N_("That is nothing the server can show. A line has 1 to {limit} visible characters."),
    Refused.SWITCHED_OFF: N_("This room was opened without that ({setting})."),
    Refused.MUTED: N_("The host has muted you."),
    Refused.NO_PERSON: N_("No other person holds seat {seat}."),
    Refused.ROOM_LOCKED: N_("The host lets nobody new sit down."),
    Refused.TOO_FAST: N_("That was too fast; trying again in a moment."),
    Refused.HALL_FULL: N_("The server is full. Try again later."),
    Refused.STORE_UNAVAILABLE: N_(
        "The server cannot reach its store. Your command waits; it will be done once at most."
    ),
    Refused.STORE_FULL: N_("The server's store is full. Nothing was changed; tell its operator."),
    Refused.DRAINING: N_("This server is about to stop. Your command waits for the next one."),
    Refused.INTERNAL: N_("The server made a mistake; its log has the details."),
}
"""Refusals by code; those of the rules are worded by the game."""

PHASES: Final[Mapping[str, str]] = {
    "lobby": N_("before a match"),
    "shuffling": N_("shuffling"),
    "playing": N_("playing"),
    "between-deals": N_("between two deals"),
    "finished": N_("match over"),
    "closed": N_("closed"),
}

NOTICES: Final[Mapping[str, str]] = {
    Notified.SUPERSEDED: N_("Your seat is now played from another connection."),
    Notified.DRAINING: N_("The server is about to stop. Your room goes on; connecting again in a moment."),
    Notified.REMOVED: N_("The host removed you from the table."),
    Notified.ROOM_CLOSED: N_("The room is being closed."),
    Notified.ROLLED_BACK: N_("The server's store has lost the last moves. This is the table as it is now."),
    Notified.ANNOUNCEMENT: N_("The operator says: {text}"),
    Notified.TIME_RUNS_OUT: N_("Your time runs out in {seconds} s."),
}

ENDS: Final[Mapping[End, str]] = {
    End.LEFT: N_("You have left the table."),
    End.SUPERSEDED: N_("You continue somewhere else: another connection took over your seat. This one is closed."),
    End.REMOVED: N_("The host removed you from the table. The seat is no longer yours."),
    End.ROOM_CLOSED: N_("The room is closed."),
    End.PLACE_LOST: N_("Your place at the table is gone. {why}"),
    End.TOO_MANY_STRIKES: N_("The server closed the connection: too many commands that it could not take."),
    End.UNKNOWN_GAME: N_("The room plays {game}, which this version of fudaza does not know. Please update."),
}

TROUBLES: Final[Mapping[Trouble, str]] = {
    Trouble.NOBODY_THERE: N_("No server answers at {url}. Is the address right, and is the server running?"),
    Trouble.NO_SUCH_HOST: N_("The host in {url} cannot be found."),
    Trouble.TOO_SLOW: N_("The server at {url} does not answer in time."),
    Trouble.BUSY: N_("The server at {url} takes no more connections just now."),
    Trouble.NO_FUDAZA: N_("What answers at {url} is no Fudaza server, or speaks another version of the protocol."),
    Trouble.NO_TRUST: N_("The server at {url} could not prove who it is: {detail}"),
    Trouble.DROPPED: N_("The connection to {url} was lost."),
    Trouble.NOT_UNDERSTOOD: N_("The server said something that this version of fudaza cannot read: {detail}"),
    Trouble.LOCAL_SERVER_DIED: N_("The local server stopped. Its log is in {detail}."),
}

FINDINGS: Final[Mapping[Finding, str]] = {
    Finding.FAIR: N_("Shuffle of deal {deal} checked: fair."),
    Finding.UNSEEN: N_("Deal {deal}: the seed fits its commitment; the deck was not checked, its start was not seen."),
    Finding.OPENING_ONLY: N_("Shuffle of deal {deal} checked: seed and opening cards fit."),
    Finding.COMMITMENT_BROKEN: N_(
        "WARNING: the server did not keep its word about deal {deal}: the seed is not the one committed to."
    ),
    Finding.COMMITMENT_CHANGED: N_("WARNING: the server changed its commitments during the match."),
    Finding.DECK_DIFFERS: N_(
        "WARNING: the cards of deal {deal} do not come from the shuffle that was committed to (attempt {attempt})."
    ),
    Finding.BEGINNER_DIFFERS: N_("WARNING: in deal {deal} seat {seat} should have begun."),
    Finding.CONTRIBUTION_CHANGED: N_("WARNING: the server did not mix in what you contributed to the shuffle."),
    Finding.CONTRIBUTION_MISSED: N_("Your part in the shuffle came too late and was left out."),
}

LEVELS: Final[Mapping[str, str]] = {
    "easy": N_("easy"),
    "medium": N_("medium"),
    "hard": N_("hard"),
    "expert": N_("expert"),
}


def refusal(code: str, params: Params) -> str:
    """A refusal of the hall's or the room's. Those of the rules: ``GameWords.refusal``."""
    if code == Refused.NOT_NOW:
        params = {**params, "phase": phase(str(params.get("phase")))}
    template = REFUSALS.get(code)
    return plainly(code, params) if template is None else filled(template, params)


def phase(code: str) -> str:
    """What a room is doing."""
    return _(PHASES[code]) if code in PHASES else code


def notice(code: str, params: Params) -> str:
    """Something that the server tells unasked."""
    template = NOTICES.get(code)
    if template is None:
        return plainly(code, params)
    left_ms = params.get("left_ms")
    return filled(template, {**params, "seconds": left_ms // 1000 if isinstance(left_ms, int) else GAP})


def end(ended: Ended) -> str:
    """Why the session is over."""
    params = dict(ended.params)
    if "code" in params:
        params["why"] = refusal(str(params["code"]), {})
    return filled(ENDS[ended.end], params)


def trouble(kind: Trouble, url: str, detail: str) -> str:
    """What is wrong with the connection."""
    return filled(TROUBLES[kind], {"url": url, "detail": detail})


def finding(found: Found) -> str:
    """What a check of the shuffle found."""
    return filled(FINDINGS[found.finding], found.params)


def is_alarm(found: Found) -> bool:
    """Whether a finding must not be overlooked."""
    return found.finding in ALARMS


def level(name: str | None) -> str:
    """A level of the AI."""
    return _(LEVELS[name]) if name is not None and name in LEVELS else str(name)


# Events -------------------------------------------------------------------------------------------------------

_FREED: Final[Mapping[room.WhyFreed, tuple[str, str]]] = {
    room.WhyFreed.LEFT: (N_("You gave up seat {seat}."), N_("{who} left the table.")),
    room.WhyFreed.REMOVED: (N_("The host freed your seat {seat}."), N_("The host freed the seat of {who}.")),
    room.WhyFreed.MOVED: (N_("You leave seat {seat}."), N_("{who} leaves seat {seat}.")),
    room.WhyFreed.LOST: (
        N_("You were away too long; seat {seat} is free."),
        N_("{who} stayed away; the seat is free."),
    ),
}

_CLOSED: Final[Mapping[room.WhyClosed, str]] = {
    room.WhyClosed.NOBODY_LEFT: N_("The room closes: nobody is left."),
    room.WhyClosed.IDLE: N_("The room closes: nothing has happened for a long time."),
    room.WhyClosed.OPERATOR: N_("The operator closes the room."),
}


_SIGNALS: Final[Mapping[room.Signal, str]] = {
    room.Signal.LEFT_EYE: N_("the left eye closes"),
    room.Signal.RIGHT_EYE: N_("the right eye closes"),
    room.Signal.BOTH_EYES: N_("both eyes close"),
    room.Signal.EYEBROWS: N_("the eyebrows rise"),
}


def room_event(event: room.RoomEvent, before: People, now: People) -> Lines:
    """What happened in the room; ``before`` and ``now`` are the people at the table around the event."""
    match event:
        case room.SeatTaken(seat=seat):
            return (_seat_taken(seat, before, now),)
        case room.SeatNamed(seat=seat):
            return (now.say(seat, N_("Now everybody sees your name."), N_("In seat {seat} sits {who}.")),)
        case room.AiSeated(seat=seat, level=of):
            return (_("AI ({level}) takes seat {seat}.").format(level=level(of), seat=seat),)
        case room.SeatFreed(seat=seat, why=why, level=of):
            told = (before.say(seat, *_FREED[why]),)
            return told if of is None else (*told, _("AI ({level}) plays on there.").format(level=level(of)))
        case room.SeatAway(seat=seat, grace_ms=grace_ms):
            wait = N_("{who} lost the connection; AI sits in after {seconds} s.")
            return (now.say(seat, N_("You lost the connection."), wait, seconds=grace_ms // 1000),)
        case room.StandIn(seat=seat, level=of):
            you, other = N_("AI ({level}) plays for you."), N_("AI ({level}) plays for {who} until they return.")
            return (now.say(seat, you, other, level=level(of)),)
        case room.SeatBack(seat=seat):
            return (now.say(seat, N_("You are back in your seat."), N_("{who} is back.")),)
        case room.HostIs(seat=seat):
            return (now.say(seat, N_("You are the host now."), N_("{who} is the host now.")),)
        case room.MatchOpened(commitments=commitments, contributors=contributors):
            deals = counted(len(commitments), "A match of one deal begins.", "A match of {n} deals begins.")
            mixed = counted(len(contributors), "One client adds to the shuffle.", "{n} clients add to the shuffle.")
            return (sentences(deals, mixed),)
        case room.ContributionsFixed():
            return (_("The shuffle is fixed."),)
        case room.QuestionOpened(wait_ms=wait_ms):
            return (_("Everyone is asked; the answers are shown in {seconds} s.").format(seconds=wait_ms // 1000),)
        case room.SeatReady(seat=seat):
            return (now.say(seat, N_("You are ready."), N_("{who} is ready.")),)
        case room.Said(seat=seat, text=text):
            return () if text is None else (now.say(seat, N_("You: {text}"), N_("{who}: {text}"), text=text),)
        case room.Winked(seat=seat, signal=signal):
            if signal is None:
                return (now.say(seat, N_("You wink."), N_("{who} winks at a partner.")),)
            how = _(_SIGNALS[signal])
            return (now.say(seat, N_("You give a sign: {how}."), N_("{who} gives you a sign: {how}."), how=how),)
        case room.SeatMuted(seat=seat, on=True):
            return (now.say(seat, N_("The host mutes you."), N_("The host mutes {who}.")),)
        case room.SeatMuted(seat=seat):
            return (now.say(seat, N_("The host lets you speak again."), N_("The host lets {who} speak again.")),)
        case room.RoomLock(on=on):
            return (_("The host locks the room.") if on else _("The host opens the room."),)
        case room.Rematched():
            return (_("Once more: the table is as before the match."),)
        case room.SeedRevealed():
            return ()  # the check that follows says more
        case room.RoomClosed(why=why):
            return (_(_CLOSED[why]),)
        case _:
            return ()


def said_before(chat: tuple[ChatLine, ...]) -> Lines:
    """What was said before the reader came, or came back; not what is hidden from them."""
    lines = tuple(_("{who}: {text}").format(who=line.name, text=line.text) for line in chat if line.text is not None)
    return (_("Said before:"), *(f"  {line}" for line in lines)) if lines else ()


def _seat_taken(seat: int, before: People, now: People) -> str:
    if before.seats[seat].kind == "ai":
        other = N_("{who} takes over seat {seat} from the AI.")
        if now.seats[seat].name is None:
            other = N_("Somebody takes over seat {seat} from the AI. Who it is is told after the deal.")
        return now.say(seat, N_("You take over seat {seat} from the AI."), other)
    return now.say(seat, N_("You sit down in seat {seat}."), N_("{who} sits down in seat {seat}."))


def match_event(event: Any, picture: Picture, people: People, ending: str) -> Lines:
    """What happened between deals. ``picture``: after the event; ``ending``: the game's words for how a deal ended."""
    match event:
        case DealBegan(deal=deal, attempt=attempt):
            deals = picture.match.deals if picture.match is not None else deal
            head = _("Deal {deal} of {deals}") if attempt == 1 else _("Deal {deal} of {deals}, dealt again")
            return ("", f"── {head.format(deal=deal, deals=deals)} ──")
        case DealEnded(scores=scores, totals=totals, deal=deal):
            result = _("Deal {deal} ({ending}): {scores}.").format(
                deal=deal, ending=ending, scores=sides(scores, people)
            )
            many = picture.match is not None and picture.match.deals > 1
            return (result, *((_("Match so far: {totals}.").format(totals=sides(totals, people)),) if many else ()))
        case MatchEnded(totals=totals, winner=winner):
            return ("", f"══ {_match_won(winner, sides(totals, people), people)} ══")
        case _:
            return ()


def sides(scores: tuple[int, ...], people: People) -> str:
    """Scores with their owners: ``you: 6, Aki: 0``. A name may end with a number."""
    told = _("{who}: {points}")
    return listed(told.format(who=people.side(side), points=score) for side, score in enumerate(scores))


def _match_won(winner: int | None, totals: str, people: People) -> str:
    alone = people.game.sides == people.game.seats
    if winner is None:
        return _("The match is a draw. {totals}").format(totals=totals)
    if people.yours(winner):
        won = _("You win the match. {totals}") if alone else _("Your team wins the match. {totals}")
        return won.format(totals=totals)
    if alone:
        return _("{winner} wins the match. {totals}").format(winner=people.name(winner), totals=totals)
    return _("The {team} team wins the match. {totals}").format(team=people.side(winner), totals=totals)


def table_of_seats(picture: Picture, people: People) -> Lines:
    """Who sits where."""
    teams = max(map(width, map(people.side, range(people.game.sides))))
    rows = []
    for seat, info in enumerate(picture.seats):
        marks = []
        if seat == picture.you:
            marks.append(_("you"))
        if seat == picture.host:
            marks.append(_("host"))
        if info.stand_in:
            marks.append(_("AI sits in"))
        elif info.away:
            marks.append(_("away"))
        held = {"ai": _("AI ({level})").format(level=level(info.level)), "open": _("open")}.get(
            info.kind,
            info.name or people.name(seat),  # while nobody may talk a newcomer's name is not told
        )
        team = (
            ""
            if people.game.sides == people.game.seats
            else f"  {padded(people.side(people.game.side(Seat(seat))), teams)}"
        )
        rows.append(f"  {seat}{team}  {held}" + (f"  ({listed(marks)})" if marks else ""))
    return (_("Seats:"), *rows)
