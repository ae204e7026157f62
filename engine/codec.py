"""Bytes of events, views and states to values, for readers who know the game only by name.

Belongs here: decoders made from what a game says of itself, each built once. Must not be known here: any particular
game, envelopes, rooms. The other direction needs no help: ``msgspec.json.encode`` writes every one of these values.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, Union

import msgspec

from engine.game import AnyGame
from engine.match import MATCH_EVENTS


class _Tagged(msgspec.Struct):
    e: Any = None


_tagged_decoder: Final = msgspec.json.Decoder(_Tagged)


class Codec:
    """The decoders of one game. Obtain one by ``codec_of``."""

    def __init__(self, game: AnyGame, also: tuple[type[msgspec.Struct], ...]) -> None:
        kinds: tuple[type[msgspec.Struct], ...] = (*game.event_types, *MATCH_EVENTS, *also)
        self._tags = frozenset(str(kind.__struct_config__.tag) for kind in kinds)
        self._event: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Union[kinds])  # noqa: UP007 - made at run time
        self._view: msgspec.json.Decoder[Any] = msgspec.json.Decoder(game.view_type)
        self._state: msgspec.json.Decoder[Any] = msgspec.json.Decoder(game.state_type)

    def event(self, raw: bytes | msgspec.Raw) -> Any | None:
        """The event, or None for one with a tag unknown here: a later server may tell more than we can word.

        Raises:
            msgspec.MsgspecError: no event at all, or a known one with fields that it cannot have.
        """
        try:
            return self._event.decode(raw)
        except msgspec.ValidationError:
            tag = _tagged_decoder.decode(raw).e
            if isinstance(tag, str) and tag not in self._tags:
                return None
            raise

    def view(self, raw: bytes | msgspec.Raw) -> Any:
        """A view of this game.

        Raises:
            msgspec.MsgspecError: it is none.
        """
        return self._view.decode(raw)

    def state(self, raw: bytes | msgspec.Raw) -> Any:
        """A state of this game: the whole truth, from inside the trust boundary.

        Raises:
            msgspec.MsgspecError: it is none.
        """
        return self._state.decode(raw)


@cache
def codec_of(game: AnyGame, also: tuple[type[msgspec.Struct], ...] = ()) -> Codec:
    """The decoders of ``game``: its events and the match's, and ``also`` those of other speakers (tag field ``e``)."""
    return Codec(game, also)
