"""The worked vectors of ``docs/fairness.md``. ``python -m tests.fairness_vectors`` writes them there.

Every value is computed twice, by the engine and by the stand-alone verifier, which was written from that page.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Final

from engine.game import Seat
from engine.registry import GAMES
from engine.shuffle import NO_CONTRIBUTION, Contribution, Draw, beginner_of, commitment, deck_of

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "fairness.md"
BEGIN: Final = "<!-- vectors: written by python -m tests.fairness_vectors -->\n```text\n"
END: Final = "```\n<!-- end of vectors -->"

DRAW: Final = Draw(
    match="match-1",
    deal=2,
    attempt=1,
    seed=bytes(range(32)),
    contributions=(Contribution(Seat(0), bytes(range(32, 64))), Contribution(Seat(3), NO_CONTRIBUTION)),
)
SIX: Final = ("A", "B", "C", "D", "E", "F")


def stand_alone_verifier() -> ModuleType:
    """``examples/verify_deck.py`` as a module."""
    spec = importlib.util.spec_from_file_location("verify_deck", ROOT / "examples" / "verify_deck.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def vectors() -> Iterator[str]:
    """The lines of the vectors."""
    other = stand_alone_verifier()
    contributions = [(each.seat, each.value) for each in DRAW.contributions]
    yield f"match         = {DRAW.match}"
    yield f"deal          = {DRAW.deal}"
    yield f"attempt       = {DRAW.attempt}"
    yield f"seed          = {DRAW.seed.hex()}"
    for each in DRAW.contributions:
        yield f"contribution  = seat {each.seat}: {each.value.hex()}"
    yield ""
    committed = other.join(b"fudaza/commit/1", DRAW.match.encode(), other.number(DRAW.deal), DRAW.seed)
    found = commitment(DRAW.match, DRAW.deal, DRAW.seed)
    assert found == other.commitment(DRAW.match, DRAW.deal, DRAW.seed)
    yield f"committed to  = {committed.hex()}"
    yield f"commitment    = {found.hex()}"
    yield ""
    yield f"mix           = {other.mix(contributions).hex()}"
    start = other.head(b"fudaza/deck/1", DRAW.match, contributions, DRAW.deal, DRAW.attempt)
    yield f"head          = {start.hex()}"
    stream = list(islice(other.words(DRAW.seed, start), 16))
    for block in range(2):
        yield f"block {block}       = {' '.join(f'{word:08x}' for word in stream[8 * block : 8 * block + 8])}"
    yield ""
    yield f"six cards     = {' '.join(SIX)}"
    yield from _swaps(stream)
    yield f"shuffled      = {' '.join(deck_of(DRAW, SIX))}"
    yield ""
    start = other.head(b"fudaza/beginner/1", DRAW.match, contributions, DRAW.deal, 1)
    yield f"first word    = {next(other.words(DRAW.seed, start)):08x}  (of the beginner's stream)"
    for seats in (2, 8):
        beginner = beginner_of(DRAW, seats)
        assert beginner == other.drawn_seat(seats, DRAW.match, contributions, DRAW.deal, DRAW.seed)
        yield f"beginner      = {beginner}  (of {seats} seats)"
    for name, game in GAMES.items():
        deck = deck_of(DRAW, game.cards)
        start = other.head(b"fudaza/deck/1", DRAW.match, contributions, DRAW.deal, DRAW.attempt)
        assert list(deck) == other.shuffle(other.GAMES[name][0], other.words(DRAW.seed, start))
        yield ""
        yield f"deck of {name}"
        for place in range(0, len(deck), 15):
            yield f"  {' '.join(deck[place : place + 15])}"


def _swaps(stream: list[int]) -> Iterator[str]:
    """The six cards' shuffle, swap by swap."""
    deck = list(SIX)
    for last, word in zip(range(len(deck) - 1, 0, -1), stream, strict=False):
        chosen = word % (last + 1)
        deck[last], deck[chosen] = deck[chosen], deck[last]
        yield f"swap {last} and {chosen}  = {' '.join(deck)}  ({word:08x} mod {last + 1} = {chosen})"
    assert tuple(deck) == deck_of(DRAW, SIX), "a word was skipped, or a swap is wrong"


def page_with_vectors(page: str) -> str:
    """The page with its vectors computed anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "".join(f"{line}\n" for line in vectors()) + END + after


if __name__ == "__main__":
    PAGE.write_text(page_with_vectors(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
