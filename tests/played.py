"""Matches played with fair decks, as the records they leave: for tests of records, verifiers and commands."""

from __future__ import annotations

from random import Random

from engine.game import AnyGame, OptionValue, Seat
from engine.match import Need, act, begin, deal, upcoming
from engine.record import DealRecord, Move, Player, record_of
from engine.shuffle import NO_CONTRIBUTION, Contribution, Draw, beginner_of, deck_of
from engine.verify import fairness_of


def played_match(game: AnyGame, options: dict[str, OptionValue], rng: Random) -> list[DealRecord]:
    """A match of uniformly random legal moves with decks and beginners drawn as a hall draws them.

    Sealed answers come in any order. One seat is a person's, one a person's who never contributed, the rest are AI.
    """
    match = begin(game, options)
    match_id = f"match-{rng.randrange(1 << 40):010x}"
    contributions = (Contribution(Seat(0), rng.randbytes(32)), Contribution(Seat(1), NO_CONTRIBUTION))
    players = [Player(Seat(0), name="Ada"), Player(Seat(1), name="Björk")]
    players += [Player(Seat(seat), level="medium") for seat in range(2, game.seats)]
    seeds: dict[int, bytes] = {}
    records: list[DealRecord] = []
    while match.need is Need.DECK:
        number, attempt = upcoming(match)
        draw = Draw(match_id, number, attempt, seeds.setdefault(number, rng.randbytes(32)), contributions)
        deck = deck_of(draw, game.cards)
        match = deal(game, match, deck, beginner_of(draw, game.seats)).match
        moves = []
        while match.need is Need.ACTION:
            seat = rng.choice(sorted(game.awaiting(match.state)))
            action = rng.choice(game.legal_at(match.state, seat))
            moves.append(Move(seat, game.text(action), "person" if seat < 2 else "ai"))
            match = act(game, match, seat, action).match
        fairness = fairness_of(draw)
        records.append(record_of(game, match, deck, moves, match_id=match_id, fairness=fairness, players=players))
    return records
