"""Did the decks fit what the server committed to, and what this client saw?

Belongs here: what a client remembers of a match to check the shuffle (``docs/fairness.md``), and the check itself, made
when a deal's seed is revealed. Must not be known here: connections, wording. No I/O, no randomness.

The whole deal is checked, not the opening cards alone: from the recomputed deck the engine must be able to tell
exactly the story that this client was shown, by some sequence of legal actions.
"""

from __future__ import annotations

from enum import StrEnum
from string import hexdigits
from typing import Any, Final

from msgspec import Struct, ValidationError

from engine.game import AnyGame, Options, Outcome, Param, Seat, Viewer
from engine.match import REDEAL, DealBegan, DealEnded, MatchEnded
from engine.shuffle import (
    CONTRIBUTION_BYTES,
    NO_CONTRIBUTION,
    SEED_BYTES,
    Contribution,
    Draw,
    beginner_of,
    commitment,
    deck_of,
)
from protocol.events import RoomEvent

SEARCH_LIMIT: Final = 20_000
"""Actions tried to explain a deal. Face-down cards leave some open until they turn up; this is never reached in an
honest deal (a few hundred are), and beyond it only the opening is vouched for."""


class Finding(StrEnum):
    """What a check found."""

    FAIR = "fair"
    """Commitment, deck and story agree. ``deal``."""
    UNSEEN = "unseen"
    """The commitment holds, but this client did not see the deal from its start. ``deal``."""
    OPENING_ONLY = "opening-only"
    """Commitment and opening agree; the rest could not be told apart within reason. ``deal``."""
    COMMITMENT_BROKEN = "commitment-broken"
    """The revealed seed is not the one committed to. ``deal``."""
    COMMITMENT_CHANGED = "commitment-changed"
    """The commitments of a running match changed."""
    DECK_DIFFERS = "deck-differs"
    """The cards shown do not come from the deck that seed and contributions determine. ``deal``, ``attempt``."""
    BEGINNER_DIFFERS = "beginner-differs"
    """Somebody else should have begun. ``deal``, ``seat``: who should have."""
    CONTRIBUTION_CHANGED = "contribution-changed"
    """What was mixed in for our seat is not what we sent."""
    CONTRIBUTION_MISSED = "contribution-missed"
    """Our contribution came too late and was replaced by zeros. Nothing is wrong with the server."""


ALARMS: Final = frozenset(
    {
        Finding.COMMITMENT_BROKEN,
        Finding.COMMITMENT_CHANGED,
        Finding.DECK_DIFFERS,
        Finding.BEGINNER_DIFFERS,
        Finding.CONTRIBUTION_CHANGED,
    }
)
"""Findings that no honest server causes."""


class Found(Struct, frozen=True):
    """One finding with its parameters."""

    finding: Finding
    params: dict[str, Param] = {}


class _Story(Struct):
    """One attempt of a deal, as shown to this client from its first event on."""

    began: DealBegan
    events: list[Any] = []
    outcome: Outcome | None = None
    """Of the deal, with its last attempt; None for a redeal."""


class Auditor:
    """Remembers one match as one viewer is shown it, and checks every deal whose seed is revealed."""

    def __init__(
        self, game: AnyGame, options: Options, viewer: Viewer, *, match: str, commitments: tuple[str, ...]
    ) -> None:
        self.match = match
        self._game = game
        self._options = options
        self._viewer = viewer
        self._commitments = commitments
        self._contributions: tuple[Contribution, ...] | None = None
        self._sent: bytes | None = None
        self._stories: list[_Story] = []
        self._before: tuple[Seat, Outcome] | None = None
        """Beginner and outcome of the last deal that counted, where they were seen."""

    def contributed(self, value: bytes | None) -> None:
        """This client sent its part in the shuffle (32 bytes); None: and it was refused."""
        self._sent = value

    def interrupted(self, commitments: tuple[str, ...]) -> list[Found]:
        """A snapshot came instead of events: what was shown of the running deal is no longer whole."""
        self._stories.clear()
        self._before = None
        return [] if commitments == self._commitments else [Found(Finding.COMMITMENT_CHANGED)]

    def fixed(self, contributions: tuple[tuple[int, str], ...]) -> list[Found]:
        """The contributions were published: seat and 64 hex digits of each.

        Raises:
            msgspec.ValidationError: they are none.
        """
        if not {seat for seat, _value in contributions} <= set(range(self._game.seats)):
            raise ValidationError("a contribution from no seat")
        self._contributions = tuple(
            Contribution(Seat(seat), _read(value, CONTRIBUTION_BYTES)) for seat, value in sorted(contributions)
        )
        if self._sent is None:
            return []
        mixed_in = [each.value for each in self._contributions if each.seat == self._viewer]
        if mixed_in == [self._sent]:
            return []
        missed = mixed_in == [NO_CONTRIBUTION]
        return [Found(Finding.CONTRIBUTION_MISSED if missed else Finding.CONTRIBUTION_CHANGED)]

    def see(self, event: Any) -> None:
        """The next event that the viewer was shown (None: one that this client does not know)."""
        match event:
            case DealBegan():
                self._stories.append(_Story(event))
            case DealEnded(reason=reason, scores=scores):
                if reason != REDEAL and self._stories:
                    self._stories[-1].outcome = Outcome(reason, scores)
            case MatchEnded() | RoomEvent() | None:
                pass
            case _:
                if self._stories:
                    self._stories[-1].events.append(event)

    def revealed(self, deal: int, seed: str) -> Found:
        """The secret of a deal that is over (64 hex digits). Returns what the check found.

        Raises:
            msgspec.ValidationError: it is none.
        """
        about: dict[str, Param] = {"deal": deal}
        secret = _read(seed, SEED_BYTES)
        if not 1 <= deal <= len(self._commitments) or (
            commitment(self.match, deal, secret).hex() != self._commitments[deal - 1]
        ):
            return Found(Finding.COMMITMENT_BROKEN, about)
        stories = [story for story in self._stories if story.began.deal == deal]
        self._stories.clear()
        if not stories or self._contributions is None:
            self._before = None
            return Found(Finding.UNSEEN, about)
        expected = self._expected_beginner(deal, secret)
        self._before = None if stories[-1].outcome is None else (stories[-1].began.beginner, stories[-1].outcome)
        for story in stories:
            if expected is not None and story.began.beginner != expected:
                return Found(Finding.BEGINNER_DIFFERS, {**about, "seat": expected})
            finding = self._explain(story, self._draw(deal, story.began.attempt, secret))
            if finding is not Finding.FAIR:
                return Found(finding, {**about, "attempt": story.began.attempt})
        return Found(Finding.FAIR, about)

    def _draw(self, deal: int, attempt: int, secret: bytes) -> Draw:
        assert self._contributions is not None
        return Draw(self.match, deal, attempt, secret, self._contributions)

    def _expected_beginner(self, deal: int, secret: bytes) -> Seat | None:
        drawn = beginner_of(self._draw(deal, 1, secret), self._game.seats)
        if deal == 1:
            return self._game.first_beginner(self._options, drawn)
        if self._before is None:
            return None
        beginner, outcome = self._before
        return self._game.next_beginner(self._options, beginner, outcome, drawn)

    def _explain(self, story: _Story, draw: Draw) -> Finding:
        """Search legal actions that make, from the recomputed deck, exactly the events that were shown."""
        deck = deck_of(draw, self._game.cards)
        step = self._game.deal(self._options, deck, story.began.beginner, story.began.carry)
        opening = self._shown(step.events)
        if story.events[: len(opening)] != opening:
            return Finding.DECK_DIFFERS
        open_ends = [(step.state, len(opening))]
        tried = 0
        while open_ends:
            state, told = open_ends.pop()
            if self._game.outcome(state) is not None:
                if told == len(story.events):
                    return Finding.FAIR
                continue
            seat = min(self._game.awaiting(state))
            for action in self._game.legal_at(state, seat):
                tried += 1
                step = self._game.apply(state, seat, action)
                shown = self._shown(step.events)
                if story.events[told : told + len(shown)] == shown:
                    open_ends.append((step.state, told + len(shown)))
            if tried > SEARCH_LIMIT:
                return Finding.OPENING_ONLY
        return Finding.DECK_DIFFERS

    def _shown(self, events: tuple[Any, ...]) -> list[Any]:
        return [self._game.redact(event, self._viewer) for event in events]


def _read(digits: str, size: int) -> bytes:
    """The ``size`` bytes that hex ``digits`` write.

    Raises:
        msgspec.ValidationError: they do not.
    """
    if len(digits) != 2 * size or not set(digits) <= set(hexdigits):
        raise ValidationError(f"{size} bytes are not written as {digits[:80]!r}")
    return bytes.fromhex(digits)
