"""Ids, codes and tokens, drawn from bytes that the caller brings.

A token is a seat's secret. The log learns its SHA-256 and nothing else, comparing takes the same time whatever is
shown, and codes and ids find a room but open nothing.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b32encode, urlsafe_b64encode
from collections.abc import Callable
from typing import Final, TypeAlias

from server.room.state import Person

Entropy: TypeAlias = Callable[[int], bytes]
"""Draws that many random bytes: ``secrets.token_bytes``."""

TOKEN_BYTES: Final = 32
CODE_LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""32, so that a byte draws one without bias; none that is easily taken for another."""
_CODE_LENGTH: Final = 6
_ID_BYTES: Final = 16
_ROOM_ID: Final = b"fudaza/room/1\0"
_NO_TOKEN: Final = bytes(32)
"""No token has this hash."""


def room_id_of(command_id: str) -> str:
    """The id (26 characters) of the room that the create command with this id opens: sent to two nodes, it opens one
    room. It does not tell the command's id.
    """
    return _letters(hashlib.sha256(_ROOM_ID + command_id.encode()).digest()[:_ID_BYTES])


def new_id(entropy: Entropy) -> str:
    """A match's id: 128 bits in 26 characters."""
    return _letters(entropy(_ID_BYTES))


def new_code(entropy: Entropy) -> str:
    """A room's short code. Others may have it already."""
    return "".join(CODE_LETTERS[byte % len(CODE_LETTERS)] for byte in entropy(_CODE_LENGTH))


def new_token(entropy: Entropy) -> tuple[str, bytes]:
    """A token of 256 bits as 43 characters, and its hash."""
    token = urlsafe_b64encode(entropy(TOKEN_BYTES)).decode().rstrip("=")
    return token, hashed_token(token)


def hashed_token(token: str) -> bytes:
    """What the log knows of ``token``: 32 bytes."""
    return hashlib.sha256(token.encode()).digest()


def shows_token(person: Person, hashed: bytes) -> bool:
    """Whether ``hashed`` is of a token that is valid for ``person``: the newest, or one it has not yet replaced."""
    newest = hmac.compare_digest(person.token, hashed)
    kept = hmac.compare_digest(person.kept or _NO_TOKEN, hashed)
    spare = hmac.compare_digest(person.spare or _NO_TOKEN, hashed)
    return newest or kept or spare


def _letters(value: bytes) -> str:
    """16 bytes as 26 letters and digits (RFC 4648 base32, small, without padding)."""
    return b32encode(value).decode().rstrip("=").lower()
