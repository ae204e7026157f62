"""What every game promises (``engine.game``), as functions that fail where a game breaks a promise.

They know no game: they play matches at random and look at every step. ``test_laws`` runs them on the registry, and
on games broken on purpose, to show that each of them can fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Any

import msgspec

from engine.codec import codec_of
from engine.game import (
    AnyGame,
    Budget,
    Card,
    IllegalAction,
    MalformedAction,
    Message,
    OptionValue,
    Seat,
    Step,
    Viewer,
    Why,
)
from engine.match import REDEAL, DealBegan, DealEnded, Match, MatchEnded, MatchEvent, Need, Progress, act, begin, deal

ROLLOUTS = 4
"""Enough to see whether a searching level keeps the laws; how well it plays is measured elsewhere."""
ACTIONS_TRIED = 30
"""Texts tried at each step, drawn from all that were ever legal and from mutations of them."""


def encoded(value: Any) -> bytes:
    return msgspec.json.encode(value)


def random_options(game: AnyGame, rng: Random) -> dict[str, OptionValue]:
    return {key: rng.choice(values) for key, values in game.options.items()}


def shortest(game: AnyGame, options: dict[str, OptionValue]) -> dict[str, OptionValue]:
    """The same options for the shortest match there is."""
    return options | {"deals": min(game.options["deals"])}


def random_deck(game: AnyGame, rng: Random) -> tuple[Card, ...]:
    return tuple(rng.sample(game.cards, len(game.cards)))


def random_match(game: AnyGame, options: dict[str, OptionValue], rng: Random) -> Iterator[Progress]:
    """A match of uniformly random legal moves: what every step leads to, the deals' beginnings included."""
    match = begin(game, options)
    while match.need is not Need.NOTHING:
        if match.need is Need.DECK:
            progress = deal(game, match, random_deck(game, rng), Seat(rng.randrange(game.seats)))
        else:
            seat = rng.choice(sorted(game.awaiting(match.state)))
            progress = act(game, match, seat, rng.choice(game.legal_at(match.state, seat)))
        match = progress.match
        yield progress


class Witness:
    """Everybody who looks at a match, and what they were shown in this deal. ``see`` holds the laws of sight."""

    def __init__(self, game: AnyGame) -> None:
        self.game = game
        self.viewers: tuple[Viewer, ...] = (None, *map(Seat, range(game.seats)))
        self.views: dict[Viewer, Any] = {}
        self.cards: dict[Viewer, frozenset[str]] = {}
        """Cards that the viewer was ever shown in this deal."""

    def see(self, progress: Progress) -> None:
        """Show a step's events to everybody."""
        if any(isinstance(event, DealBegan) for event in progress.events):
            self.views = dict.fromkeys(self.viewers)
            self.cards = dict.fromkeys(self.viewers, frozenset())
        events = [event for event in progress.events if not isinstance(event, MatchEvent)]
        state = progress.match.state
        for event in progress.events:
            codec_holds(self.game, event)
        for viewer in self.viewers:
            for event in events:
                shown = redaction_holds(self.game, event, viewer)
                self.views[viewer] = self.game.observe(self.views[viewer], shown, viewer)
                self.cards[viewer] |= self.cards_in(shown)
            view = self.game.view(state, viewer)
            assert encoded(self.views[viewer]) == encoded(view), f"viewer {viewer}: view is not what was shown"
            self.cards[viewer] |= self.cards_in(view)
            assert codec_of(self.game).view(encoded(view)) == view, "a view does not survive its encoding"
        assert codec_of(self.game).state(encoded(state)) == state, "a state does not survive its encoding"
        assert self.cards_in(state) == set(self.game.cards), "a card was lost"
        self.secrets_are_kept()
        if len(progress.events) > 1 and isinstance(progress.events[0], DealBegan) and progress.match.outcome is None:
            self.hands_are_secret()
            worlds_differ(self.game, self.views)

    def cards_in(self, value: Any) -> frozenset[str]:
        """Cards that stand anywhere in ``value``, keys included."""
        strings = {found.decode() for found in re.findall(rb'"([^"\\]*)"', encoded(value))}
        return frozenset(strings & set(self.game.cards))

    def secrets_are_kept(self) -> None:
        """What a spectator may see everybody may; what a spectator may not see at most one seat may."""
        public = self.cards[None]
        told: set[str] = set()
        for viewer in self.viewers[1:]:
            assert public <= self.cards[viewer], f"seat {viewer} was not shown what is public"
            private = self.cards[viewer] - public
            assert not private & told, f"seat {viewer} was shown secrets of another: {private & told}"
            told |= private

    def hands_are_secret(self) -> None:
        """A deal that begins leaves every seat with as many cards that only it knows, and some that nobody knows."""
        secret = {len(self.cards[viewer] - self.cards[None]) for viewer in self.viewers[1:]}
        assert len(secret) == 1, "one hand was shown more than another"
        assert 0 not in secret, "hands were shown to everybody"
        assert frozenset().union(*self.cards.values()) < set(self.game.cards), "what nobody may know was shown"


def codec_holds(game: AnyGame, event: Any) -> None:
    """An event survives its encoding, and stays what it is among the game's and the match's events."""
    decoded = codec_of(game).event(encoded(event))
    assert decoded == event, "an event does not survive its encoding"
    assert type(decoded) is type(event)


def redaction_holds(game: AnyGame, event: Any, viewer: Viewer) -> Any:
    """Redaction hides fields and no more, changes nothing twice, and copies nothing that it need not copy."""
    shown = game.redact(event, viewer)
    assert type(shown) is type(event), "redaction made another event of it"
    assert _hides_only(msgspec.to_builtins(event), msgspec.to_builtins(shown)), "redaction altered what it shows"
    assert shown is event or shown != event, "redaction copied what it did not change"
    assert game.redact(shown, viewer) == shown, "what was redacted is redacted again"
    return shown


def _hides_only(whole: Any, shown: Any) -> bool:
    """Whether ``shown`` is ``whole`` with None in some places."""
    if shown is None or shown == whole:
        return True
    if isinstance(whole, dict) and isinstance(shown, dict):
        return whole.keys() == shown.keys() and all(_hides_only(whole[key], shown[key]) for key in whole)
    if isinstance(whole, list | tuple) and isinstance(shown, list | tuple):
        return len(whole) == len(shown) and all(map(_hides_only, whole, shown))
    return False


def oracle_holds(game: AnyGame, match: Match, texts: Iterable[str]) -> None:
    """Law 1: accepted, legal and not refused by ``why`` are one and the same, for every seat and every text."""
    state = match.state
    before = encoded(state)
    awaited = game.awaiting(state)
    assert bool(awaited) == (game.outcome(state) is None), "somebody is awaited exactly while the deal is on"
    assert game.legal(game.view(state, None)) == (), "a spectator has nothing to decide"
    tried = tuple(texts)
    for seat in map(Seat, range(game.seats)):
        view = game.view(state, seat)
        legal = game.legal_at(state, seat)
        if seat in awaited:
            legal_holds(game, view, legal)
        else:
            assert legal == (), f"seat {seat} is not awaited and has something to do"
        for text in sorted({*tried, *map(game.text, legal)}):
            _acceptance_holds(game, state, seat, view, text)
    assert encoded(state) == before, "a state was changed in place"


def legal_holds(game: AnyGame, view: Any, legal: tuple[Any, ...]) -> None:
    """What an awaited seat may do is found from its view, sorted, without repetition, and has a default in it."""
    assert legal, "an awaited seat has nothing it may do"
    assert legal == game.legal(view), "legal_at and legal differ"
    texts = [game.text(action) for action in legal]
    assert texts == sorted(set(texts)), "legal actions are not sorted by their text, each once"
    assert game.default_action(view) in legal, "the default action is not legal"


def _acceptance_holds(game: AnyGame, state: Any, seat: Seat, view: Any, text: str) -> None:
    try:
        action = game.parse(text)
    except MalformedAction:
        return
    assert game.text(action) == text, f"{text} is read as {game.text(action)}"
    awaited = game.awaiting(state)
    said = game.why(view, action)
    step = _applied(game, state, seat, action)
    if seat in awaited and action in game.legal_at(state, seat):
        assert said is None, f"{text} is legal and forbidden: {said}"
        assert isinstance(step, Step), f"{text} is legal and refused: {step}"
        assert encoded(step) == encoded(game.apply(state, seat, action)), "the same action came out otherwise"
        if len(awaited) > 1:
            sealing_holds(game, state, seat, step)
    else:
        assert isinstance(step, Message), f"{text} by seat {seat} was accepted and is not legal"
        if awaited and seat not in awaited and game.legal(view):
            assert step.code == Why.ALREADY_ANSWERED, "a seat that has something to do is awaited, or has answered"
        else:
            assert said is not None, f"{text} is refused to seat {seat} without a reason"
            assert step == said, f"the refusal is not what why says: {step}, {said}"


def _applied(game: AnyGame, state: Any, seat: Seat, action: Any) -> Step[Any, Any] | Message:
    """What follows from the action, or why it was refused."""
    try:
        return game.apply(state, seat, action)
    except IllegalAction as problem:
        return problem.refusal


def sealing_holds(game: AnyGame, state: Any, seat: Seat, step: Any) -> None:
    """A sealed answer that is not the last makes no event and no trace in any view, not even its giver's."""
    assert step.events == (), "a sealed answer made an event"
    assert game.awaiting(step.state) == game.awaiting(state) - {seat}
    for viewer in (None, *map(Seat, range(game.seats))):
        assert encoded(game.view(step.state, viewer)) == encoded(game.view(state, viewer)), "a sealed answer shows"


def resample_holds(game: AnyGame, view: Any, viewer: Viewer, rng: Random) -> None:
    """Law 3: a world drawn from a view looks like that view, and can be played on from it."""
    world = game.resample(view, rng)
    again = game.view(world, viewer)
    assert encoded(again) == encoded(view), f"viewer {viewer} sees the drawn world otherwise"
    for seat in game.awaiting(world):
        assert game.legal_at(world, seat), "somebody has nothing to do in a drawn world"
    for seat in map(Seat, range(game.seats)):
        resampled = game.view(world, seat)
        assert codec_of(game).view(encoded(resampled)) == resampled, "a drawn world's view cannot be encoded"


def worlds_differ(game: AnyGame, views: Mapping[Viewer, Any]) -> None:
    """Before the first move much is open to everybody: worlds drawn from one view are not all the same."""
    for view in views.values():
        worlds = {encoded(game.resample(view, Random(seed))) for seed in range(8)}
        assert len(worlds) > 1, "every drawn world is the same"


def choice_holds(game: AnyGame, state: Any, seat: Seat, seed: int) -> None:
    """Every level chooses something legal, repeats itself for a seed, and cannot see what its view does not show:
    in a world drawn from the view it does the same, finds it worth the same, and draws as much from its generator.
    """
    view = game.view(state, seat)
    legal = game.legal_at(state, seat)
    worlds = [game.resample(view, Random(seed + drawn)) for drawn in range(2)]
    for level in game.levels:
        budget = Budget(level, ROLLOUTS)
        rng = Random(seed)
        thought = game.think(view, legal, rng, budget)
        assert thought.action in legal, f"{level} chose something that is not legal"
        assert thought.values.keys() <= set(map(game.text, legal)), f"{level} valued something that is not legal"
        assert game.choose(view, legal, Random(seed), budget) == thought.action, f"{level} does not repeat itself"
        for world in worlds:
            other_rng = Random(seed)
            other = game.think(game.view(world, seat), game.legal_at(world, seat), other_rng, budget)
            assert other == thought, f"{level} knows more than its view"
            assert other_rng.getstate() == rng.getstate(), f"{level} draws otherwise for cards it cannot see"


class Bookkeeper:
    """The laws of a match, held over its events."""

    def __init__(self, game: AnyGame, options: dict[str, OptionValue]) -> None:
        self.game = game
        self.options = options
        self.totals = [0] * game.sides
        self.deals = 0
        self.last: DealEnded | None = None
        self.began: DealBegan | None = None
        self.ended = False

    def enter(self, progress: Progress) -> None:
        """Book a step's events."""
        for event in progress.events:
            assert not self.ended, "something happened after the match had ended"
            match event:
                case DealBegan():
                    self._deal_began(event)
                case DealEnded():
                    self._deal_ended(event, progress.match)
                case MatchEnded(totals, winner):
                    self.ended = True
                    assert totals == tuple(self.totals)
                    leaders = [side for side, total in enumerate(totals) if total == max(totals)]
                    assert winner == (leaders[0] if len(leaders) == 1 else None)
                case _:
                    assert self.began is not None, "a deal must begin before anything happens in it"

    def _deal_began(self, event: DealBegan) -> None:
        again = self.last is not None and self.last.reason == REDEAL
        if self.began is None:
            assert (event.deal, event.attempt, event.carry) == (1, 1, 0)
        elif again:
            assert (event.deal, event.attempt) == (self.began.deal, self.began.attempt + 1)
            assert (event.beginner, event.carry) == (self.began.beginner, self.began.carry), "a redeal changes nothing"
        else:
            assert (event.deal, event.attempt) == (self.began.deal + 1, 1)
        self.began = event

    def _deal_ended(self, event: DealEnded, match: Match) -> None:
        assert len(event.scores) == self.game.sides
        assert match.outcome is not None
        assert (event.reason, event.scores) == (match.outcome.reason, match.outcome.scores)
        assert event.reason != REDEAL or not any(event.scores), "a redeal scores nothing"
        self.totals = [total + score for total, score in zip(self.totals, event.scores, strict=True)]
        assert event.totals == tuple(self.totals)
        self.deals += event.reason != REDEAL
        self.last = event

    def close(self) -> None:
        """The match is over: with as many deals as were agreed."""
        assert self.ended, "the match has no end"
        assert self.deals == self.options["deals"]


def mutations(text: str, rng: Random) -> Iterator[str]:
    """Texts like ``text`` that mostly mean nothing: cut, doubled, swapped, in the wrong case, with something added."""
    yield text[:-1]
    yield text[1:]
    yield text + text[-1:]
    yield text.swapcase()
    yield text[::-1]
    yield "*".join(reversed(text.split("*")))
    yield text + rng.choice((" ", "\n", "\0", "*", "é", "0"))
    yield rng.choice(("", "*", "-", "-" + text, "*" + text, text + "*" + text))


def hold_all(game: AnyGame, options: dict[str, OptionValue], rng: Random, texts: set[str]) -> None:
    """Play a match at random and hold every law at every step. ``texts`` collects what was ever legal."""
    witness = Witness(game)
    books = Bookkeeper(game, options)
    for progress in random_match(game, options, rng):
        witness.see(progress)
        books.enter(progress)
        match = progress.match
        awaited = sorted(game.awaiting(match.state))
        for seat in awaited:
            texts.update(map(game.text, game.legal_at(match.state, seat)))
        tried = rng.sample(sorted(texts), min(ACTIONS_TRIED, len(texts)))
        oracle_holds(game, match, {*tried, *(mutated for text in tried[:2] for mutated in mutations(text, rng))})
        viewer = rng.choice(witness.viewers)
        resample_holds(game, witness.views[viewer], viewer, rng)
        for seat in awaited[:1]:
            choice_holds(game, match.state, seat, rng.randrange(1 << 30))
    books.close()
