"""Verify where the decks of Fudaza's deal records came from. One file, no dependencies, nothing of Fudaza in it.

    python verify_deck.py FILE        one JSON record a line, - for standard input

Written from docs/fairness.md alone, as a second opinion and as a model for other languages. Prints "yes" for each
record, or what does not fit; exit status 1 if anything does not.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

Contributions = list[tuple[int, bytes]]
"""Seat and 32 bytes of each, in ascending order of seat."""


def flower_deck(november: str, december: str) -> list[str]:
    months = ["brpq", "arpq", "brpq", "arpq", "arpq", "arpq", "arpq", "bapq", "arpq", "arpq", november, december]
    return [f"{number:02}{kind}" for number, kinds in enumerate(months, 1) for kind in kinds]


RANKS = ["su", "un", "so", "ro", "re", "ka", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
GAMES = {
    # name: cards in card-id order, seats, what the record calls the seat that begins
    "koi-koi": (flower_deck("barp", "bpqs"), 2, "first"),
    "go-stop": (flower_deck("bpqs", "barp"), 2, "first"),
    "hachinin-meri": ([suit + rank for suit in "PIKOG" for rank in RANKS], 8, "dealer"),
}


# The scheme, as docs/fairness.md has it --------------------------------------------------------------------------


def number(value: int) -> bytes:
    """Four bytes, big-endian."""
    return value.to_bytes(4, "big")


def join(*parts: bytes) -> bytes:
    """Every part with its length before it."""
    return b"".join(number(len(part)) + part for part in parts)


def commitment(match: str, deal: int, seed: bytes) -> bytes:
    return hashlib.sha256(join(b"fudaza/commit/1", match.encode(), number(deal), seed)).digest()


def mix(contributions: Contributions) -> bytes:
    given = b"".join(number(seat) + value for seat, value in contributions)
    return hashlib.sha256(join(b"fudaza/contributions/1", given)).digest()


def head(purpose: bytes, match: str, contributions: Contributions, deal: int, attempt: int) -> bytes:
    """What every block of a stream begins with."""
    return join(purpose, match.encode(), mix(contributions), number(deal), number(attempt))


def words(seed: bytes, start: bytes) -> Iterator[int]:
    """The stream: blocks of eight 32-bit words."""
    block = 0
    while True:
        digest = hmac.new(seed, start + number(block), "sha256").digest()
        yield from (int.from_bytes(digest[place : place + 4], "big") for place in range(0, 32, 4))
        block += 1


def below(bound: int, stream: Iterator[int]) -> int:
    """The next word of the stream that is fair to every number below bound."""
    while True:
        word = next(stream)
        if word < 2**32 // bound * bound:
            return word % bound


def shuffle(cards: list[str], stream: Iterator[int]) -> list[str]:
    deck = list(cards)
    for last in range(len(deck) - 1, 0, -1):
        chosen = below(last + 1, stream)
        deck[last], deck[chosen] = deck[chosen], deck[last]
    return deck


def drawn_seat(seats: int, match: str, contributions: Contributions, deal: int, seed: bytes) -> int:
    """The seat drawn to begin; a redeal has the one of its first attempt."""
    return below(seats, words(seed, head(b"fudaza/beginner/1", match, contributions, deal, 1)))


# A record --------------------------------------------------------------------------------------------------------


class NotVerifiable(Exception):
    """The record lacks something, or has it in another form."""


def field(record: dict[str, Any], key: str, kind: type) -> Any:
    value = record.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise NotVerifiable(f"{key} is missing, or is no {kind.__name__}")
    return value


def field_number(record: dict[str, Any], key: str, least: int) -> int:
    value: int = field(record, key, int)
    if not least <= value < 2**32:
        raise NotVerifiable(f"{key} is out of range")
    return value


def field_bytes(record: dict[str, Any], key: str) -> bytes:
    value: str = field(record, key, str)
    if not re.fullmatch(r"[0-9a-f]{64}", value):
        raise NotVerifiable(f"{key} is not 64 hexadecimal digits")
    return bytes.fromhex(value)


def field_contributions(fairness: dict[str, Any]) -> Contributions:
    given = field(fairness, "contributions", list)
    if not all(isinstance(each, dict) for each in given):
        raise NotVerifiable("a contribution is no object")
    found = [(field_number(each, "seat", 0), field_bytes(each, "value")) for each in given]
    seats = [seat for seat, _ in found]
    if seats != sorted(set(seats)):
        raise NotVerifiable("contributions are not in ascending order of seat")
    return found


def ruled_beginner(game: str, options: dict[str, Any], deal: int, drawn: int) -> int | None:
    """Who must have begun, as far as one record can tell."""
    if game == "hachinin-meri":
        if deal > 1:
            return None
        fixed = str(options.get("first_dealer", "random"))
        return drawn if fixed == "random" else int(fixed)
    return drawn if deal == 1 or options.get("next_first") == "random" else None


def misfits(record: Any) -> list[str]:
    """What does not fit in a record; empty if all does.

    Raises:
        NotVerifiable: there is not enough in it to say.
    """
    if not isinstance(record, dict):
        raise NotVerifiable("the record is no object")
    game = field(record, "game", str)
    if game not in GAMES:
        raise NotVerifiable(f"the game is none of {', '.join(GAMES)}")
    cards, seats, beginner_key = GAMES[game]
    beginner = field_number(record, beginner_key, 0)
    options = field({"options": {}} | record, "options", dict)
    match = field(record, "match", str)
    deal = field_number(record, "deal", 1)
    fairness = {"attempt": 1} | field(record, "fairness", dict)
    attempt = field_number(fairness, "attempt", 1)
    seed = field_bytes(fairness, "seed")
    contributions = field_contributions(fairness)
    found = []
    if field_bytes(fairness, "commitment") != commitment(match, deal, seed):
        found.append("the seed is not the one that was committed to")
    if record.get("deck") != shuffle(cards, words(seed, head(b"fudaza/deck/1", match, contributions, deal, attempt))):
        found.append("seed and contributions shuffle another deck")
    expected = ruled_beginner(game, options, deal, drawn_seat(seats, match, contributions, deal, seed))
    if expected is not None and expected != beginner:
        found.append(f"seat {expected} was drawn to begin, not {beginner}")
    return found


def verify(file: IO[bytes]) -> bool:
    """Say yes or no to each line; whether every one got a yes."""
    all_fit = True
    for place, line in enumerate(file, 1):
        if line.strip():
            try:
                found = misfits(json.loads(line))
            except (NotVerifiable, ValueError, RecursionError) as problem:
                found = [str(problem)]
            print(f"line {place}: {'no: ' + '; '.join(found) if found else 'yes'}")
            all_fit = all_fit and not found
    return all_fit


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    if arguments == ["-"]:
        return 0 if verify(sys.stdin.buffer) else 1
    try:
        with Path(arguments[0]).open("rb") as file:
            return 0 if verify(file) else 1
    except OSError as problem:
        print(problem, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
