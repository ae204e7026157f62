"""The AI's own process: reads questions, thinks, writes answers. ``python -m server.worker``, started by ``thinkers``.

It is given a seat's view and the legal actions, as bytes, and nothing else: no state, no deck, no way to the store.
Standard input and output carry MessagePack, each message behind its length (4 bytes, big-endian); the end of the
input ends the process, so it never outlives its parent. What a game prints goes to standard error, which the server
reads into its own log.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from typing import BinaryIO, Final

import msgspec
from msgspec import Struct

from engine.codec import codec_of
from engine.game import Budget, Level
from engine.registry import game_named

LENGTH_BYTES: Final = 4
MAX_MESSAGE_BYTES: Final = 1 << 20
_NICENESS: Final = 5
"""Moves of people go before thoughts of AI when both want the same core."""


class Question(Struct, frozen=True):
    """What a seat should do now."""

    number: int
    """Echoed in the answer."""
    game: str
    view: bytes
    """The seat's view as JSON: all that the AI knows."""
    legal: tuple[str, ...]
    """What the seat may do, as texts."""
    level: str
    seed: bytes
    """Of the AI's own generator; has nothing to do with any deck."""


class Answer(Struct, frozen=True):
    """What the AI would do, or why it cannot say."""

    number: int
    action: str | None = None
    problem: str | None = None
    """The kind of exception and where it was raised; never its text, which could name cards."""


def answer(question: Question) -> Answer:
    """Think. A fault of the game becomes an answer with ``problem``; it must not take the other seats' AI with it."""
    try:
        game = game_named(question.game)
        view = codec_of(game).view(question.view)
        legal = [game.parse(text) for text in question.legal]
        chosen = game.choose(view, legal, random.Random(question.seed), Budget(Level(question.level)))
        action, problem = game.text(chosen), None
    except Exception as fault:  # noqa: BLE001 - the process serves every game; the fault is reported, not hidden
        action, problem = None, _where(fault)
    return Answer(question.number, action, problem)


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer every question of ``source`` until it ends. Begins with an answer numbered 0: everything is loaded."""
    decoder = msgspec.msgpack.Decoder(Question)
    _write(sink, Answer(0))
    while len(head := source.read(LENGTH_BYTES)) == LENGTH_BYTES:
        _write(sink, answer(decoder.decode(source.read(int.from_bytes(head, "big")))))


def packed(message: Struct) -> bytes:
    """A message with its length before it."""
    body = msgspec.msgpack.encode(message)
    assert len(body) <= MAX_MESSAGE_BYTES, "a question or answer has grown beyond reason"
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def _write(sink: BinaryIO, message: Answer) -> None:
    sink.write(packed(message))
    sink.flush()


def _where(fault: Exception) -> str:
    trace = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else ""
    return f"{type(fault).__name__}{place}"


def main() -> None:
    """Run as a child of the server."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when it ends
    os.nice(_NICENESS)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    try:
        serve(source, sink)
    except BrokenPipeError:
        os._exit(0)  # the parent has died; nobody wants the answer, and the interpreter must not try to flush it


if __name__ == "__main__":
    main()
