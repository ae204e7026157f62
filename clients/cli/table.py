"""A place at a table, whatever face shows it: a core, and the file from which the seat can be resumed later.

Belongs here: what every face needs between the network and its own words. Must not be known here: words, input.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from typing import Any, Final

import click
from msgspec.structs import replace

from clients.cli.connection import Dial, dial
from clients.cli.core import Core, News, Unkept
from clients.cli.places import PlaceFile, SavedPlace, now
from clients.cli.session import Ended, Refreshed, Seated, Session
from protocol.messages import Command, Place

SESSION_BYTES: Final = 18
"""Of the random part of command ids: 144 bits."""


def new_session() -> Session:
    """A session with chance from the operating system."""
    return Session(secrets.token_urlsafe(SESSION_BYTES), secrets.token_bytes)


class Table:
    """Where one person or bot sits (or stands and watches)."""

    def __init__(self, core: Core, *, file: PlaceFile | None = None, local: str | None = None) -> None:
        self.core = core
        self.session = core.session
        self._file = file
        self._saved: SavedPlace | None = None
        self._local = local
        self._unkept = False
        """A problem with the file was told."""

    @classmethod
    def at(cls, url: str, kind: type[Command], *, local: str | None = None, dial: Dial = dial, **fields: Any) -> Table:
        """A table whose door is a command: ``Create``, ``Join`` or ``Watch``. ``local``: our own server's directory."""
        session = new_session()
        session.ask(kind, **fields)
        return cls(Core(url, session, dial=dial), local=local)

    @classmethod
    def back_at(cls, place: SavedPlace, file: PlaceFile, *, dial: Dial = dial) -> Table:
        """A seat that was held before."""
        session = new_session()
        session.place = Place(room=place.room, code=place.code, seat=place.seat, token=place.token)
        return cls(Core(place.url, session, dial=dial), file=file, local=place.local)

    async def news(self) -> AsyncGenerator[News, None]:
        """``Core.news``, with the seat's file kept up to date on the way."""
        try:
            async for item in self.core.news():
                try:
                    self._keep(item)
                except (OSError, click.ClickException) as problem:  # a full disk is no reason to leave a table
                    if not self._unkept:
                        self._unkept = True
                        yield Unkept(str(problem))
                yield item
        finally:
            if self._file is not None:
                self._file.close()

    def _keep(self, item: News) -> None:
        match item:
            case Seated(place=place):
                self._seated(place)
            case Refreshed() if self._saved is not None:
                self._save(self._saved)
            case Ended() if self._file is not None:
                self._file.forget()
            case _:
                pass

    def _seated(self, place: Place) -> None:
        if place.seat is None or place.token is None:
            return
        if self._file is not None and self._saved is not None and self._saved.seat != place.seat:
            self._file.forget()
            self._file.close()
            self._file = None
        self._save(
            SavedPlace(
                url=self.core.url,
                game="",
                room=place.room,
                code=place.code,
                seat=place.seat,
                token=place.token,
                saved_at=0.0,
                local=self._local,
            )
        )

    def _save(self, place: SavedPlace) -> None:
        picture = self.session.picture
        self._saved = replace(place, game=place.game if picture is None else picture.game.name, saved_at=now())
        if self._file is None:
            self._file = PlaceFile.new(place.room, place.seat)
        self._file.save(self._saved)
