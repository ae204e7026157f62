"""Bytes to commands, messages to bytes. Encoder and decoders are built once.

Three kinds of failure are kept apart in the whole project; this module makes the first, *malformed*.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from protocol.codes import Refused
from protocol.limits import MAX_COMMAND_BYTES, MAX_COMMAND_ID
from protocol.messages import COMMANDS, AnyCommand, AnyServerMessage, ServerMessage

_encoder: Final = msgspec.json.Encoder()
_command_decoder: Final = msgspec.json.Decoder(AnyCommand)
_message_decoder: Final = msgspec.json.Decoder(AnyServerMessage)
_KNOWN: Final = tuple(str(command.__struct_config__.tag) for command in COMMANDS)


class Malformed(Exception):
    """The frame is no command: not JSON, no known command, or a field out of bounds."""

    def __init__(self, code: Refused, params: dict[str, str | int | tuple[str, ...]], command_id: str | None) -> None:
        super().__init__(f"{code} {params}")
        self.code = code
        self.params = params
        self.command_id = command_id
        """The id, where the frame was whole enough to have one: it is answered."""


class _Envelope(msgspec.Struct):
    t: Any = None
    id: Any = None


_envelope_decoder: Final = msgspec.json.Decoder(_Envelope)


def decode_command(frame: bytes) -> AnyCommand:
    """The command in a text frame.

    Raises:
        Malformed: there is none; says what is wrong and, if it can be read, which command id it was.
    """
    if len(frame) > MAX_COMMAND_BYTES:
        raise Malformed(Refused.TOO_LARGE, {"limit": MAX_COMMAND_BYTES}, None)
    try:
        return _command_decoder.decode(frame)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as problem:
        raise _explain(frame, problem) from problem


def decode_message(frame: bytes) -> AnyServerMessage | None:
    """What the hall says in a text frame; None for a message of a later server that this client does not know.

    Raises:
        msgspec.MsgspecError: the frame is not a message at all.
    """
    try:
        return _message_decoder.decode(frame)
    except msgspec.ValidationError:
        envelope = _envelope_decoder.decode(frame)
        known = {str(message.__struct_config__.tag) for message in AnyServerMessage.__args__}
        if isinstance(envelope.t, str) and envelope.t not in known:
            return None
        raise


def encode(message: ServerMessage | Any) -> bytes:
    """The bytes of a text frame."""
    return _encoder.encode(message)


def _explain(frame: bytes, problem: Exception) -> Malformed:
    try:
        envelope = _envelope_decoder.decode(frame)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return Malformed(Refused.NOT_JSON, {}, None)
    command_id = envelope.id if isinstance(envelope.id, str) and len(envelope.id) <= MAX_COMMAND_ID else None
    if envelope.t not in _KNOWN:
        return Malformed(Refused.UNKNOWN_COMMAND, {"known": _KNOWN}, command_id)
    reason, _, path = str(problem).partition(" - at `")
    return Malformed(Refused.BAD_FIELD, {"path": path.rstrip("`") or "$", "problem": reason}, command_id)
