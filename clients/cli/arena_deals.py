"""Playing for the arena: duplicate deals, one after another or spread over processes.

Every deck is dealt twice with the same beginner and the sides' players exchanged, so that each has the other's cards
once; in Hachinin Meri that turns the table by one seat. A pair of deals is one observation. Decks come from the
arena's seed through ``engine.shuffle``; each seat's generator from the same seed through another purpose, so that
neither tells anything of the other. A seat has the same dice in both deals of a pair: equal teams come out exactly
equal. Whatever is observed depends on the contest and the pair's number alone, not on who computes it.
"""

from __future__ import annotations

import hashlib
import shlex
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, closing
from multiprocessing import get_context
from random import Random
from typing import Any, Final, NamedTuple

from msgspec import Raw, Struct
from msgspec.json import encode

from clients.cli.arena_external import ANSWER_SECONDS, ProgramHand
from clients.cli.arena_players import RANDOM, Hand, HouseHand, Player, RandomHand, Team, YardstickHand
from engine import record
from engine.game import AnyGame, Budget, Card, OptionValue, Outcome, Seat
from engine.match import REDEAL, DealBegan
from engine.registry import GAMES
from engine.shuffle import Draw, deck_of

CHUNK: Final = 10
"""Pairs that a process plays at a time; with a program of somebody's, how many it plays before it is started anew."""

_DECKS: Final = b"fudaza/arena/decks/1"
_PLAYERS: Final = b"fudaza/arena/players/1"


class Contest(Struct, frozen=True):
    """Two teams, and what they play."""

    game: str
    options: dict[str, OptionValue]
    """Complete."""
    teams: tuple[Team, Team]
    seed: int
    recorded: bool = False
    """Whether the deals' records are wanted."""

    @property
    def rules(self) -> AnyGame:
        """The game."""
        return GAMES[self.game]


class Effort(Struct, frozen=True):
    """What a team's decisions cost in one pair of deals."""

    nanoseconds: tuple[int, ...]
    """One for each decision between at least two actions."""
    bad_answers: int
    """Answers that were no legal action."""


class Pair(Struct, frozen=True):
    """One observation: a deck dealt twice, sides exchanged."""

    scores: tuple[tuple[int, int], tuple[int, int]]
    """For each of the two deals: the first team's score and the second's."""
    reasons: tuple[str, str]
    """How the deals ended."""
    efforts: tuple[Effort, Effort]
    """By team."""
    records: tuple[bytes, ...] = ()
    """Of the two deals (``docs/records.md``), if they are wanted."""


def play_pairs(contest: Contest, pairs: range, jobs: int = 1) -> Iterator[Pair]:
    """The observations with these numbers, in their order, computed by ``jobs`` processes (1: by this one).

    Raises:
        BotFailed: a program cannot be run, has ended or does not answer.
    """
    chunks = [pairs[first : first + CHUNK] for first in range(0, len(pairs), CHUNK)]
    if jobs == 1:
        for chunk in chunks:
            yield from _play_chunk(contest, chunk)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_end_when_interrupted) as processes:
        try:
            for observed in processes.map(_play_chunk, [contest] * len(chunks), chunks):
                yield from observed
        finally:
            processes.shutdown(wait=False, cancel_futures=True)


def _end_when_interrupted() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # at once and without a word: the parent has the word


def _play_chunk(contest: Contest, chunk: range) -> list[Pair]:
    with ExitStack() as stack:
        teams = [
            [stack.enter_context(closing(_hand(contest.rules, player))) for player in team.players]
            for team in contest.teams
        ]
        return [_play_pair(contest, number, teams) for number in chunk]


def _hand(game: AnyGame, player: Player) -> Hand:
    if player.command:
        return ProgramHand(game, player.command, ANSWER_SECONDS)
    if player.yardstick:
        return YardstickHand(game.yardsticks[player.yardstick])
    return RandomHand() if player.level is None else HouseHand(game, Budget(player.level, player.rollouts))


def _play_pair(contest: Contest, number: int, teams: Sequence[Sequence[Hand]]) -> Pair:
    ledgers = (_Ledger(), _Ledger())
    there, back = (
        _play_deal(contest, number, _seated(contest, number, teams, ledgers, turned=turned)) for turned in (0, 1)
    )
    return Pair(
        scores=((there.outcome.scores[0], there.outcome.scores[1]), (back.outcome.scores[1], back.outcome.scores[0])),
        reasons=(there.outcome.reason, back.outcome.reason),
        efforts=(ledgers[0].effort(), ledgers[1].effort()),
        records=(there.written(), back.written()) if contest.recorded else (),
    )


class _Ledger:
    """What a team's decisions cost, while it is being counted."""

    def __init__(self) -> None:
        self.nanoseconds: list[int] = []
        self.bad_answers = 0

    def effort(self) -> Effort:
        return Effort(tuple(self.nanoseconds), self.bad_answers)


class _Place:
    """A seat in one deal: who plays it, with which dice, on whose account."""

    def __init__(self, game: AnyGame, told: record.Player, hand: Hand, dice: Random, ledger: _Ledger) -> None:
        self.game = game
        self.told = told
        """As records name it."""
        self.seat = told.seat
        self.hand = hand
        self.dice = dice
        self.ledger = ledger

    def decide(self, state: Any, *, sealed: bool) -> Any:
        view, legal = self.game.view(state, self.seat), self.game.legal_at(state, self.seat)
        began, refused = self.hand.clock(), self.hand.refused
        action = self.hand.choose(view, legal, self.dice, sealed=sealed)
        self.ledger.bad_answers += self.hand.refused - refused
        if len(legal) > 1:
            self.ledger.nanoseconds.append(self.hand.clock() - began)
        return action

    def hear(self, events: Sequence[Any]) -> None:
        if self.hand.listens:
            self.hand.hear([self._shown(event) for event in events])

    def _shown(self, event: Any) -> Any:
        return event if isinstance(event, DealBegan) else self.game.redact(event, self.seat)


def _seated(
    contest: Contest, number: int, teams: Sequence[Sequence[Hand]], ledgers: Sequence[_Ledger], *, turned: int
) -> list[_Place]:
    """The table. A mixed team moves up one place in every pair, so that nobody always follows the dealer."""
    game = contest.rules
    taken = [0] * game.sides
    places = []
    for seat in map(Seat, range(game.seats)):
        side = game.side(seat)
        team = (side + turned) % 2
        member = (taken[side] + number) % len(teams[team])
        told = _told(seat, contest.teams[team].players[member])
        dice = Random(_derived(_PLAYERS, contest.seed, number, seat))
        places.append(_Place(game, told, teams[team][member], dice, ledgers[team]))
        taken[side] += 1
    return places


def _told(seat: Seat, player: Player) -> record.Player:
    if player.level is not None:
        return record.Player(seat, level=player.level)
    return record.Player(seat, name=shlex.join(player.command) or player.yardstick or RANDOM)


class _Played(NamedTuple):
    """A deal that is over."""

    contest: Contest
    number: int
    beginner: Seat
    deck: tuple[Card, ...]
    steps: tuple[record.RecordStep, ...]
    outcome: Outcome
    places: Sequence[_Place]

    def written(self) -> bytes:
        """Its record: one line of JSON."""
        extras = {
            "match": "arena",
            "deal": self.number + 1,
            "rules": self.contest.rules.rules_version,
            "players": [place.told for place in self.places],
        }
        deal = record.DealRecord(
            game=self.contest.game,
            beginner=self.beginner,
            deck=self.deck,
            steps=self.steps,
            options=self.contest.options,
            result=self.outcome,
            extras={key: Raw(encode(value)) for key, value in extras.items()},
        )
        return record.write_record(self.contest.rules, deal)


def _play_deal(contest: Contest, number: int, places: Sequence[_Place]) -> _Played:
    """Deal number ``number`` of the contest, dealt again as often as the rules want (K3, G2)."""
    game = contest.rules
    beginner = game.first_beginner(contest.options, Seat(number % game.seats))
    attempt = 0
    while True:
        attempt += 1
        draw = Draw("arena", number + 1, attempt, _derived(_DECKS, contest.seed), ())
        deck = deck_of(draw, game.cards)
        step = game.deal(contest.options, deck, beginner)
        steps = []
        for place in places:
            place.hand.begin(number + 1, place.seat, contest.options, beginner, place.dice.getrandbits(32))
            place.hear((DealBegan(number + 1, attempt, beginner, 0), *step.events))
        while awaited := game.awaiting(step.state):
            seat = min(awaited)
            action = places[seat].decide(step.state, sealed=len(awaited) > 1)
            steps.append(record.RecordStep(seat, game.text(action)))
            step = game.apply(step.state, seat, action)
            for place in places:
                place.hear(step.events)
        outcome = game.outcome(step.state)
        assert outcome is not None, "nobody is awaited only when the deal is over"
        if outcome.reason != REDEAL:
            return _Played(contest, number, beginner, deck, tuple(steps), outcome, places)


def _derived(purpose: bytes, *numbers: int) -> bytes:
    """32 bytes from the arena's seed, different for every purpose and numbers."""
    text = " ".join(map(str, numbers)).encode()
    return hashlib.sha256(len(purpose).to_bytes(4, "big") + purpose + text).digest()
