"""News in sentences: what every face that talks to people says of what it hears.

Belongs here: which words belong to which news. Must not be known here: how a face shows them, what it does besides.
"""

from __future__ import annotations

from typing import Any

from clients.cli.core import GaveUp, News, Offline, Online, Unkept
from clients.cli.session import (
    Asked,
    Checked,
    Delayed,
    Done,
    Ended,
    Happened,
    Missed,
    NotDone,
    OtherRules,
    Refreshed,
    Rooms,
    Seated,
    Session,
    Told,
    TurnedBack,
    Welcomed,
)
from clients.cli.words import Lines, _, common
from clients.cli.words.games import refusal, words_of
from clients.cli.words.people import people_of
from engine.match import DealBegan, DealEnded, MatchEnded
from protocol.events import RoomEvent
from protocol.messages import Accepted, Act, Contribute, Mute


def told(item: News, session: Session, url: str) -> Lines:
    """What is to be said of ``item``; nothing where the picture says it. ``url``: the server's."""
    match item:
        case Happened():
            return happened(item)
        case NotDone(command=Contribute()):
            return ()  # if it matters, the check of the shuffle says so
        case NotDone(code=code, params=params):
            return (refusal(session.picture, code, params),)
        case Done(command=Act(), answer=Accepted(at=None)):
            return (_("Your answer is in; it is shown together with all the others."),)
        case Done(command=Mute(everyone=False, seat=seat, on=on)) if session.picture is not None:
            who = people_of(session.picture).name(seat)
            return ((_("What {who} says is hidden from you.") if on else _("You read {who} again.")).format(who=who),)
        case Delayed(code=code):
            return (common.refusal(code, {}),)
        case Told(code=code, params=params):
            return (common.notice(code, params),)
        case Checked(found=found):
            text = common.finding(found)
            return ("", f"!!! {text}", "") if common.is_alarm(found) else (text,)
        case Missed():
            return (_("Some news was lost on the way; asking for the whole table."),)
        case TurnedBack():
            return (_("The server's store has lost its newest moves. The table is as it was before them:"),)
        case OtherRules():
            return (_("This server plays another version of the rules; what is shown here may be wrong. Update."),)
        case Online(again=again):
            return (_("Connected again."),) if again else ()
        case Offline(trouble=trouble, detail=detail):
            return (common.trouble(trouble, url, detail), _("Trying to come back …"))
        case GaveUp(trouble=trouble, detail=detail):
            return (common.trouble(trouble, url, detail), *way_back(session))
        case Ended():
            return (common.end(item),)
        case Unkept(problem=problem):
            text = _(
                "How to come back to your seat could not be written down here ({problem}). If you go now it is lost."
            )
            return (text.format(problem=problem),)
        case Refreshed(chat=chat):
            return common.said_before(chat)
        case Welcomed() | Seated() | Asked() | Done() | Rooms():
            return ()


def happened(item: Happened) -> Lines:
    """What happened in the room, between deals, or in the deal."""
    event, picture = item.event, item.after
    before, people = people_of(item.before), people_of(picture)
    words = words_of(picture.game.name)
    match event:
        case None:
            return ()
        case RoomEvent():
            return common.room_event(event, before, people)
        case DealBegan() | DealEnded() | MatchEnded():
            ending = words.ending(event.reason) if isinstance(event, DealEnded) else ""
            return common.match_event(event, picture, people, ending)
        case _:
            return words.event(event, people)


def way_back(session: Session) -> Lines:
    """How a person who goes now gets their seat back."""
    place = session.place
    if place is None or place.token is None:
        return (_("Goodbye."),)
    return (_("Your seat stays yours for now: fudaza rejoin {code} brings you back.").format(code=place.code),)


def interrupted(session: Session) -> Lines:
    """What somebody is told who ends the client at once: whether they had a seat is known."""
    place = session.place
    seated = place is not None and place.token is not None
    return (_("Interrupted."), *(way_back(session) if seated else ()))


def cut_off(session: Session) -> str:
    """What somebody is told who wants to do something while there is no connection."""
    place = session.place
    if place is None or place.token is None:
        return _("Trying to come back …")
    return _("No connection. Your seat stays yours; trying to come back …")


def on_its_way(move: Act) -> str:
    """A move that the server has not confirmed yet."""
    return _("{action} is on its way; the server has not confirmed it yet.").format(action=move.action)


def why_not(session: Session, action: Any) -> str:
    """Why an action of the game on the table, which the server did not offer, cannot be done now; None: a number, where
    none was asked for.
    """
    picture = session.picture
    if session.answering is not None:
        return on_its_way(session.answering)
    if session.turn is None or picture is None or picture.view is None or action is None:
        return _("It is not your turn.")
    why = picture.game.why(picture.view, action)
    if why is None:  # the server's word counts, and it did not offer this
        return _("That is not possible now.")
    return words_of(picture.game.name).refusal(why.code, why.params)
