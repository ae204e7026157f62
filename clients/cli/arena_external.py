"""A program that plays in the arena: it reads and writes the JSON lines of ``fudaza play --json``.

``docs/json-mode.md`` describes them. The arena sends ``table`` when a deal begins, ``event`` for everything that the
seat is shown, ``turn`` when it is to decide, ``done`` or ``error`` for its answer, and ``end``. A program
that plays at a table therefore plays here; nothing but what the seat may see crosses to it.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from random import Random
from threading import Timer
from typing import Any, Final

import msgspec

from clients.cli.arena_players import Hand
from clients.cli.json_lines import BAD_LINE, DoAct
from clients.cli.picture import PLAYING, MatchPicture
from clients.cli.words import _
from clients.cli.words.games import words_of
from engine.game import AnyGame, GameError, MalformedAction, Message, Options, Seat
from protocol.codes import Refused
from protocol.messages import SeatInfo

ANSWER_SECONDS: Final = 10.0
"""How long a program may take for one decision."""
_GOODBYE_SECONDS: Final = 2.0

_encoder: Final = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder(str | DoAct)


class BotFailed(GameError):
    """The program cannot be run, has ended, or says nothing: the contest cannot go on."""

    def __init__(self, command: tuple[str, ...], why: str) -> None:
        super().__init__(command, why)  # both, so that it can travel between processes
        self.command = command
        self.why = why


class ProgramHand(Hand):
    """A seat whose moves a program makes. One process for each seat, kept for several deals."""

    listens = True

    def __init__(self, game: AnyGame, command: tuple[str, ...], seconds: float) -> None:
        self._game = game
        self._command = command
        self._seconds = seconds
        self._number = 0
        self._silent = False
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - the user's own
        except OSError as problem:
            raise BotFailed(command, str(problem)) from problem
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout

    def clock(self) -> int:
        """Time that passes until it has answered: the program's processor time cannot be seen from here."""
        return time.perf_counter_ns()

    def begin(self, deal: int, seat: Seat, options: Options, beginner: Seat, seed: int) -> None:
        """The ``table`` line; ``seed`` is for the program's own dice, if it wants its choices to repeat."""
        self._number = 0
        sides = (0,) * self._game.sides
        match = MatchPicture(id="arena", deals=1, commitments=(), totals=sides, deal=deal, attempt=1, beginner=beginner)
        with self._limited():
            self._tell(
                "table",
                at=0,
                code="",
                game=self._game.name,
                options=options,
                phase=PLAYING,
                host=None,
                you=seat,
                seats=[SeatInfo(kind="ai")] * self._game.seats,
                match=match,
                view=None,
                seed=seed,
            )

    def hear(self, events: Sequence[Any]) -> None:
        """One ``event`` line each."""
        with self._limited():
            for event in events:
                self._number += 1
                self._tell("event", number=self._number, event=event)

    def choose(self, view: Any, legal: Sequence[Any], rng: Random, *, sealed: bool) -> Any:  # noqa: ARG002 - a program has dice of its own
        """What the program answers to a ``turn`` line. As at a table, the turn stays open after a refused answer."""
        texts = {self._game.text(action): action for action in legal}
        with self._limited():
            self._tell("turn", at=self._number, legal=list(texts), sealed=sealed, left_ms=None, view=view)
            while (text := self._answer(view, texts.keys())) is None:
                self.refused += 1
            self._tell("done", command="act", action=text, at=None if sealed else self._number)
        return texts[text]

    def _answer(self, view: Any, legal: Collection[str]) -> str | None:
        """The action that the next line names; None, and an ``error`` line, where it names none that is legal."""
        line = self._line()
        try:
            text = _action(line)
        except msgspec.MsgspecError as problem:
            self._tell("error", line=line, code=BAD_LINE, params={}, text=str(problem))
            return None
        if text in legal:
            return text
        refusal = self._refusal(view, text)
        told = words_of(self._game.name).refusal(refusal.code, refusal.params)
        self._tell("error", command="act", action=text, code=refusal.code, params=refusal.params, text=told)
        return None

    def close(self) -> None:
        """Say goodbye; who does not leave is shown out."""
        with suppress(OSError):
            self._tell("end", end="arena-over", params={}, text="")
        with suppress(OSError):
            self._to.close()
        self._status()
        self._from.close()

    def _status(self) -> int:
        """Its exit status, once it has left."""
        try:
            return self._process.wait(_GOODBYE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _refusal(self, view: Any, text: str) -> Message:
        try:
            said = self._game.why(view, self._game.parse(text))
        except MalformedAction:
            return Message(Refused.MALFORMED_ACTION, {"action": text})
        assert said is not None, "an action that is not legal is refused"
        return said

    def _tell(self, kind: str, **fields: Any) -> None:
        self._to.write(_encoder.encode({"t": kind, **fields}) + b"\n")
        self._to.flush()

    def _line(self) -> str:
        """The next line that is not empty."""
        while line := self._from.readline():
            if text := line.decode(errors="replace").strip():
                return text
        raise BrokenPipeError

    @contextmanager
    def _limited(self) -> Iterator[None]:
        """Ends a program that neither reads nor answers in time; raises BotFailed for it, or if it ends by itself."""
        timer = Timer(self._seconds, self._lose_patience)
        timer.start()
        try:
            yield
        except OSError:
            status = self._status()
            silent = _("no answer within {seconds} s").format(seconds=f"{self._seconds:g}")
            ended = _("it ended with status {status}").format(status=status)
            raise BotFailed(self._command, silent if self._silent else ended) from None
        finally:
            timer.cancel()

    def _lose_patience(self) -> None:
        self._silent = True
        self._process.kill()


def _action(line: str) -> str:
    """The text of the action that a line names, as in JSON mode: plain, as a JSON string, or ``{"do": "act"}``.

    Raises:
        msgspec.MsgspecError: it looks like JSON and is nothing of the kind.
    """
    if line[:1] not in {"{", '"'}:
        return line
    said = _decoder.decode(line)
    return said if isinstance(said, str) else said.action
