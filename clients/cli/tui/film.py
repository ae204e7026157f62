"""A deal record as a film: what stood on the table before and after every step.

Belongs here: playing a record step by step, and whose eyes see what. Must not be known here: widgets, keys. Pure.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct

from clients.cli.tui.choosing import Choice
from clients.cli.tui.panel import Looking, Panel
from clients.cli.words import Lines
from clients.cli.words.games import words_of
from clients.cli.words.people import People
from engine.game import AnyGame, Seat
from engine.record import DealRecord, Player, replay
from protocol.messages import SeatInfo


class Frame(Struct, frozen=True):
    """The table between two steps."""

    state: Any
    events: tuple[Any, ...]
    """What happened since the frame before."""
    upcoming: tuple[Seat, str] | None
    """Who acts next, and how; None at the end."""


class Film(Struct, frozen=True):
    """A deal."""

    game: AnyGame
    record: DealRecord
    frames: tuple[Frame, ...]
    seats: tuple[SeatInfo, ...]
    """Who sat there, as far as the record says."""

    def people(self, eyes: Seat | None) -> People:
        """Who sat where, told to whoever sat in ``eyes``; with open cards nobody is "you"."""
        return People(self.game, self.seats, eyes)


def film_of(game: AnyGame, record: DealRecord) -> Film:
    """The film of a record.

    Raises:
        engine.record.Unplayable: it cannot be played to the deal's end.
    """
    replay(game, record)
    steps = [(step.seat, step.action) for step in record.steps]
    step = game.deal(game.complete_options(record.options), record.deck, record.beginner, record.carry)
    frames = []
    for upcoming in [*steps, None]:
        frames.append(Frame(step.state, step.events, upcoming))
        if upcoming is not None:
            seat, action = upcoming
            step = game.apply(step.state, seat, game.parse(action))
    return Film(game, record, tuple(frames), _seats(game, record))


def _seats(game: AnyGame, record: DealRecord) -> tuple[SeatInfo, ...]:
    raw = record.extras.get("players")
    known: dict[int, Player] = {}
    if raw is not None:
        with suppress(msgspec.MsgspecError):  # a record may call something else by this name; then nobody is known
            known = {player.seat: player for player in msgspec.json.decode(raw, type=tuple[Player, ...])}
    seats = []
    for seat in range(game.seats):
        player = known.get(seat)
        if player is None:
            seats.append(SeatInfo(kind="open"))
        elif player.level is not None:
            seats.append(SeatInfo(kind="ai", level=player.level))
        else:
            seats.append(SeatInfo(kind="person", name=player.name))
    return tuple(seats)


def looking_at(film: Film, frame: Frame, panel: Panel, eyes: Seat | None, *, symbols: bool) -> Looking:
    """What is to be drawn of a frame: from a seat's eyes, or (None) with all cards open."""
    game, state = film.game, frame.state
    view = panel.eyes(state, Seat(0)) if eyes is None else game.view(state, eyes)
    choice = None
    if frame.upcoming is not None and frame.upcoming[0] == (Seat(0) if eyes is None else eyes):
        choice = _played(panel, view, tuple(map(game.text, game.legal_at(state, frame.upcoming[0]))), frame.upcoming[1])
    hands = panel.hands(state) if eyes is None else None
    return Looking(view, film.people(eyes), choice, symbols, hands, still=True)


def _played(panel: Panel, view: Any, legal: tuple[str, ...], action: str) -> Choice:
    """The decision that was made, pointing at what was chosen."""
    choice = Choice(0, panel.picks(view, legal))
    return next((choice.point(index) for index, pick in enumerate(choice.picks) if action in pick.actions), choice)


def headline(film: Film, frame: Frame, panel: Panel, eyes: Seat | None) -> str:
    """What happened since the frame before, in one line: what is notable of it, or else the first thing."""
    words, people, first = words_of(film.game.name), film.people(eyes), ""
    for event in reversed(_shown(film, frame, eyes)):
        said = words.event(event, people)
        told = panel.headline(event, said, people) if isinstance(event, panel.notable) else ""
        if told:
            return told
        first = said[0].strip() if said else first
    return first


def _shown(film: Film, frame: Frame, eyes: Seat | None) -> tuple[Any, ...]:
    return frame.events if eyes is None else tuple(film.game.redact(event, eyes) for event in frame.events)


def sentences(film: Film, frame: Frame, eyes: Seat | None) -> Lines:
    """What happened since the frame before, as it was told to ``eyes``; with open cards everything."""
    words, people = words_of(film.game.name), film.people(eyes)
    return tuple(line for event in _shown(film, frame, eyes) for line in words.event(event, people))
