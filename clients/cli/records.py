"""``fudaza replay`` and ``fudaza verify``: deal records from a file, one after the other, whatever the file's size.

Belongs here: lines, sentences, exit status. What is right is for ``engine.record`` and ``engine.verify`` to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import IO, Final, TypeAlias

import click

from clients.cli.reading import is_screen
from clients.cli.words import N_, _, filled, listed
from clients.cli.words.game import SHARED_WHY
from clients.cli.words.games import words_of
from engine.game import AnyGame, Message, Seat, Why
from engine.record import (
    DealRecord,
    Difference,
    Fault,
    MalformedRecord,
    Unplayable,
    check,
    read_record,
    replay,
    write_record,
)
from engine.registry import GAMES
from engine.verify import Misfit, misfits

MAX_LINE: Final = 1 << 20
"""Bytes. A record has some six thousand, with the legal moves of every step written out."""

TOO_LONG: Final = "too-long"
"""The fault of a line that no record has. ``limit``: bytes."""
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

FAULTS: Final[Mapping[str, str]] = {
    Why.NOT_YOUR_TURN: N_("It is another seat's turn."),
    Why.ALREADY_ANSWERED: N_("The seat has answered already."),
    Why.DEAL_OVER: N_("The deal is over."),
    Why.NOT_IN_HAND: N_("The seat does not hold {card}."),
    Why.UNKNOWN_OPTION: SHARED_WHY[Why.UNKNOWN_OPTION],
    Why.BAD_OPTION_VALUE: SHARED_WHY[Why.BAD_OPTION_VALUE],
    TOO_LONG: N_("No record has more than {limit} bytes."),
    Fault.NOT_JSON: N_("This is no JSON: {problem}."),
    Fault.BAD_FIELD: N_("This is no deal record: {path}: {problem}."),
    Fault.UNKNOWN_GAME: N_("There is no game {game}. There are: {known}."),
    Fault.NO_BEGINNER: N_('The record does not say who begins: "{field}" is missing.'),
    Fault.NO_SUCH_SEAT: N_("{path}: there is no seat {seat}; the table has {seats}, numbered from 0."),
    Fault.BAD_DECK: N_("The deck is not the game's: missing [{missing}], too many [{surplus}]."),
    Fault.NO_ACTION: N_("That is no move of this game."),
    Fault.UNFINISHED: N_("The record ends before the deal does."),
    Fault.NO_FAIRNESS: N_("The record does not say where its deck came from; missing: {missing}."),
    Misfit.COMMITMENT: N_("The seed is not the one committed to: it would have been {found}, the record has {said}."),
    Misfit.DECK: N_("The deck is another one: card {place} should be {found}, the record has {said}."),
    Misfit.BEGINNER: N_("The seat drawn to begin is {found}, the record has {said}."),
}
"""What can be wrong with a record, in sentences. A game's own refusals have its own words."""


Judge: TypeAlias = Callable[[AnyGame, DealRecord], str | None]
"""Looks at one record; a sentence if something is wrong."""


@click.command("replay")
@click.argument("file", type=click.File("rb"))
@click.option("--check", "checking", is_flag=True, help="Compare with what the records say, and print what differs.")
@click.option("--watch", "watching", is_flag=True, help="Step through the records at the table, on the full screen.")
@click.option("--seat", type=click.IntRange(min=0), help="With --watch: from the eyes of this seat; otherwise open.")
@click.pass_context
def replay_command(
    context: click.Context, file: IO[bytes], *, checking: bool, watching: bool, seat: int | None
) -> None:
    """Replay the deal records in FILE (one JSON object a line; - for standard input).

    Prints each record with what was legal at every step and with the result, as the rules have it and whatever the
    record said. Stops at a record that cannot be played. With --check it prints the first difference of each instead.
    Exit status 1 if anything is wrong.

    fudaza play keeps the records of its deals, and says at the end in which file. Of other servers whoever runs them
    has the records: fudaza admin export.
    """
    if watching:
        context.exit(_watch(file, seat))
    if checking:
        number, right = _judge_all(file, _compare)
        _summarise(context, number, right, N_("{right} of {number} records agree."))
    else:
        number, right = _judge_all(file, _fill_in, stop=True)
        _summarise(context, number, right, N_("{right} of {number} records replayed."))


@click.command("verify")
@click.argument("file", type=click.File("rb"))
@click.pass_context
def verify_command(context: click.Context, file: IO[bytes]) -> None:
    """Verify where the decks of the deal records in FILE came from (one JSON object a line; - for standard input).

    Recomputes commitment, deck and, where it was drawn, the seat that began, from the seed and the contributions in
    each record. Says yes, or what does not fit. Exit status 1 if anything does not. That the commitment is the one
    published before the match, and the contribution your own, is for you to compare.

    fudaza play keeps the records of its deals, and says at the end in which file. Of other servers whoever runs them
    has the records: fudaza admin export.
    """
    number, right = _judge_all(file, _verify, yes=True)
    _summarise(context, number, right, N_("{right} of {number} records verified."))


def _watch(file: IO[bytes], seat: int | None) -> int:
    """Show the records at the table; returns the exit status."""
    if not is_screen():
        raise click.ClickException(_("Watching needs a terminal to draw on."))
    from clients.cli.tui.replay import Viewer

    reels = []
    for place, line in _lines(file):
        try:
            reels.append(_read(line))
        except MalformedRecord as problem:
            told = filled(N_("Line {line}: {complaint}"), {"line": place, "complaint": _sentence(problem.fault)})
            raise click.ClickException(told) from problem
    if not reels:
        raise click.ClickException(_("There is no record in this file."))
    status = Viewer(reels, why_unplayable, eyes=None if seat is None else Seat(seat)).run()
    return 1 if status is None else status


def _judge_all(file: IO[bytes], judge: Judge, *, yes: bool = False, stop: bool = False) -> tuple[int, int]:
    """Judge every record, or (``stop``) those up to the first wrong one; say which are wrong (``yes``: and which are
    right). Returns how many were read and how many of them are right.
    """
    number = right = 0
    for place, line in _lines(file):
        number += 1
        try:
            game, record = _read(line)
            complaint = judge(game, record)
        except MalformedRecord as problem:
            complaint = _sentence(problem.fault)
        except Unplayable as problem:
            complaint = why_unplayable(game, problem)
        if complaint is None:
            right += 1
            if yes:
                click.echo(filled(N_("Line {line}: yes."), {"line": place}))
        else:
            click.echo(filled(N_("Line {line}: {complaint}"), {"line": place, "complaint": complaint}), err=stop)
            if stop:
                break
    return number, right


def _summarise(context: click.Context, number: int, right: int, template: str) -> None:
    """The last line, and the exit status."""
    if number == 0:
        click.echo(_("There is no record in this file."), err=True)
    else:
        click.echo(filled(template, {"right": right, "number": number}), err=True)
    context.exit(0 if 0 < number == right else 1)


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, with their numbers from 1, none longer than ``MAX_LINE`` and a byte."""
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        rest = line
        while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
            rest = file.readline(MAX_LINE + 1)
        line = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
        if not line.isspace():
            yield number, line


def _read(line: bytes) -> tuple[AnyGame, DealRecord]:
    if len(line) > MAX_LINE:
        raise MalformedRecord(Message(TOO_LONG, {"limit": MAX_LINE}))
    record = read_record(line, GAMES)
    return GAMES[record.game], record


def _fill_in(game: AnyGame, record: DealRecord) -> None:
    click.echo(write_record(game, replay(game, record)))


def _compare(game: AnyGame, record: DealRecord) -> str | None:
    difference = check(game, record)
    return None if difference is None else _differs(record, difference)


def _verify(game: AnyGame, record: DealRecord) -> str | None:
    return " ".join(map(_sentence, misfits(game, record))) or None


# Sentences ------------------------------------------------------------------------------------------------------


def _sentence(fault: Message) -> str:
    return filled(FAULTS[fault.code], fault.params)


def why_unplayable(game: AnyGame, problem: Unplayable) -> str:
    """A record that the rules forbid, in a sentence."""
    fault = problem.fault
    why = _sentence(fault) if fault.code in FAULTS else words_of(game.name).refusal(fault.code, fault.params)
    offers = [f"{_('seat')} {seat}: {listed(texts)}" for seat, texts in problem.legal.items()]
    about = {
        "step": problem.step,
        "seat": problem.seat,
        "action": problem.action,
        "why": why,
        "legal": "; ".join(offers) or _("nothing"),
    }
    if problem.action is None:
        return filled(N_("step {step} is missing. {why} Legal there: {legal}."), about)
    return filled(N_("step {step}: seat {seat} cannot do {action}. {why} Legal there: {legal}."), about)


def _differs(record: DealRecord, difference: Difference) -> str:
    about = {"step": difference.step, "said": difference.said, "found": difference.found}
    if difference.step is None:
        template = N_("{field}: the record says {said}, the rules {found}.")
        return filled(template, about | {"field": difference.field})
    step = record.steps[difference.step - 1]
    template = N_("step {step}, seat {seat}, {action}: the record calls legal {said}; legal there: {found}.")
    return filled(template, about | {"seat": step.seat, "action": step.action})
