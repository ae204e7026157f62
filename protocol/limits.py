"""Sizes that both sides rely on. An operator may tighten, never widen, what a server accepts."""

from __future__ import annotations

from typing import Final

SUBPROTOCOL: Final = "fudaza.1"
"""The WebSocket subprotocol. A client that does not offer it is refused at the handshake."""
VERSION: Final = 1

MAX_COMMAND_BYTES: Final = 4096
"""The largest frame a client may send; a larger one closes the connection with 1009."""
MAX_COMMAND_ID: Final = 56
"""Characters of a command's id."""
MAX_NAME: Final = 24
"""Characters of a person's name."""
MAX_LINE: Final = 200
"""Characters of a chat line, once the hall has normalised it."""
LEAST_TURN_LIMIT: Final = 10
"""Seconds; a shorter turn limit would be a trap. 0 is none."""
MAX_ACTION: Final = 16
"""Characters of an action's text; the longest there is has 7 (``03r*03p``)."""
MAX_SAFE_INTEGER: Final = 2**53 - 1
"""The largest integer that every JSON reader keeps exactly (RFC 8259 section 6)."""
