"""A match in a room: the shuffle, decisions, sealed answers, deals, records."""

from __future__ import annotations

import msgspec
import pytest

from engine.game import Card, Seat, Why
from engine.match import DealBegan, DealEnded, MatchEnded
from engine.record import check, read_record
from engine.registry import GAMES as REAL_GAMES
from engine.shuffle import NO_CONTRIBUTION, Contribution, Draw, commitment, deck_of
from engine.verify import misfits
from protocol.codes import Refused
from protocol.events import (
    ContributionsFixed,
    MatchOpened,
    QuestionOpened,
    SeatContribution,
    SeatReady,
    SeedRevealed,
)
from protocol.messages import Act, Contribute, Ready, SeatAi
from server.entries import Actor, Answered, Dealt, Opened, Published
from server.room import (
    OtherRules,
    Phase,
    Refuse,
    Repeat,
    ai_moves,
    fold,
    snapshot,
    turn,
)
from tests.server.roomkit import GAMES, TIMING, Hall, accepted, bodies, happened, refused
from tests.server.test_room_commands import PLAIN_DECK, in_phase, play_deal, playing
from tests.server.test_room_limits import limited
from tests.toy import Answered as DuelAnswered

REDEAL_DECK = ("d2", "d4", "d3", "d5", "d6", "d1")
"""d6 turned up is dealt again."""


# The shuffle -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deals", [1, 3])
def test_a_match_opens_with_a_commitment_to_every_deal_and_names_who_contributes(deals: int) -> None:
    hall = Hall(options={"deals": deals})
    hall.join("Bob", 1)
    hall.start()

    (opened,) = bodies(hall, Opened)
    (event,) = happened(hall.events, MatchOpened)
    assert len(opened.seeds) == len(set(opened.seeds)) == deals
    assert event.commitments == tuple(
        commitment(opened.match, deal, seed).hex() for deal, seed in enumerate(opened.seeds, 1)
    )
    assert event.contributors == (0, 1)
    assert (event.rules, event.wait_ms) == (1, TIMING.contributions_ms)


def test_the_deal_comes_as_soon_as_every_person_here_has_contributed_and_says_nothing_before() -> None:
    hall = Hall()
    hall.join("Bob", 1)
    hall.start()
    number = hall.room.number
    assert hall.fire() == []

    first = hall.must(Contribute(id=hall.id_at(1), value="22" * 32), 1)
    assert hall.room.number == number
    assert hall.do(Contribute(id=first.entry.command or "", value="22" * 32), 1) == Repeat(None)
    hall.must(Contribute(id=hall.id_at(0), value="11" * 32), 0)
    hall.fire()

    contributions = (SeatContribution(seat=0, value="11" * 32), SeatContribution(seat=1, value="22" * 32))
    assert happened(hall.events, ContributionsFixed) == [ContributionsFixed(contributions=contributions)]


def test_a_missing_contribution_is_replaced_by_zeros_after_the_wait() -> None:
    hall = Hall()
    hall.join("Bob", 1)
    hall.start()
    hall.must(Contribute(id=hall.id_at(0), value="11" * 32), 0)

    hall.later(TIMING.contributions_ms - 1)
    assert hall.phase() is Phase.SHUFFLING
    hall.later(1)

    (fixed,) = happened(hall.events, ContributionsFixed)
    assert [each.value for each in fixed.contributions] == ["11" * 32, NO_CONTRIBUTION.hex()]


def test_who_is_away_is_waited_for_like_everybody_else() -> None:
    """Whom to wait for must not be the server's choice."""
    hall = Hall()
    hall.join("Bob", 1)
    hall.drop(1)
    hall.start()
    hall.must(Contribute(id=hall.id_at(0), value="11" * 32), 0)

    hall.later(TIMING.contributions_ms - 1)
    assert hall.phase() is Phase.SHUFFLING
    assert [type(entry.body) for entry in hall.later(1)] == [Dealt]


def test_the_logged_deck_is_the_one_that_seed_and_contributions_make() -> None:
    hall = Hall()
    hall.start()
    hall.must(Contribute(id=hall.id_at(0), value="11" * 32), 0)
    hall.fire()

    (opened,), (dealt,) = bodies(hall, Opened), bodies(hall, Dealt)
    draw = Draw(opened.match, 1, 1, opened.seeds[0], (Contribution(Seat(0), bytes.fromhex("11" * 32)),))
    assert dealt.deck == deck_of(draw, hall.game.cards)


def test_each_deck_is_made_from_the_seed_that_its_own_deal_was_committed_to() -> None:
    hall = Hall(options={"deals": 3})
    hall.start()
    hall.play_on()

    (opened,) = bodies(hall, Opened)
    nothing = (Contribution(Seat(0), NO_CONTRIBUTION),)
    began = happened(hall.events, DealBegan)
    draws = [Draw(opened.match, each.deal, each.attempt, opened.seeds[each.deal - 1], nothing) for each in began]
    assert [dealt.deck for dealt in bodies(hall, Dealt)] == [deck_of(draw, hall.game.cards) for draw in draws]
    assert {each.deal for each in began} == {1, 2, 3}


def test_the_fold_deals_the_logged_deck() -> None:
    hall = Hall()
    hall.start()
    hall.deal_now(PLAIN_DECK)

    assert hall.room.table is not None
    assert hall.room.table.match.state.hands == (("d2", "d4"), ("d3", "d5"))


# Sealed answers --------------------------------------------------------------------------------------------------


def test_sealed_answers_take_effect_from_the_beginners_left() -> None:
    hall = Hall(REAL_GAMES["hachinin-meri"], seed="beginner 1")
    hall.start()
    hall.deal_now()
    table = hall.room.table
    assert table is not None
    assert table.match.beginner not in {0, 4}, "from there the other way round would look alike"
    hall.publish()

    after = hall.room.table
    assert after is not None
    left = [(table.match.beginner + 1 + place) % 8 for place in range(8)]
    assert [move.seat for move in after.moves[:8]] == left


def two_persons() -> Hall:
    """Ann holds d2 and d4, Bob d3 and d5; both are asked."""
    hall = Hall()
    hall.join("Bob", 1)
    hall.start()
    hall.deal_now(PLAIN_DECK)
    return hall


def test_a_question_to_several_seats_is_announced_and_asks_each_with_its_own_legal_answers() -> None:
    hall = two_persons()

    assert hall.events[-1] == QuestionOpened(wait_ms=TIMING.question_ms)
    for seat in (0, 1):
        asked = turn(hall.room, Seat(seat), hall.now + 4_000, games=GAMES)
        assert asked is not None
        assert (asked.at, asked.legal, asked.sealed) == (hall.room.number, ("double", "single"), True)
        assert asked.left_ms == TIMING.question_ms - 4_000


def test_a_sealed_answer_is_accepted_without_a_number_and_makes_no_event() -> None:
    hall = two_persons()
    number = hall.room.number
    command = Act(id=hall.id_at(0), action="double", at=hall.decision.at)

    accepted(hall.do(command, 0))

    assert hall.room.number == number
    assert hall.do(command, 0) == Repeat(None)
    assert turn(hall.room, Seat(0), hall.now, games=GAMES) is None
    assert snapshot(hall.room, Seat(0), games=GAMES).answered
    assert not snapshot(hall.room, Seat(1), games=GAMES).answered


def test_the_first_sealed_answer_is_final() -> None:
    hall = two_persons()
    accepted(hall.act(0, "double"))

    assert refused(hall.act(0, "single")) == Why.ALREADY_ANSWERED


def test_who_has_answered_has_no_open_decision_any_more() -> None:
    hall = two_persons()
    accepted(hall.act(0, "double"))
    late = Act(id=hall.id_at(0), action="single", at=hall.decision.at - 1)

    assert hall.ask(late, 0) == Refuse(Refused.STALE, {"at": 0})


def test_the_order_in_which_sealed_answers_came_leaves_no_trace() -> None:
    tables = []
    for order in ((0, 1), (1, 0)):
        hall = two_persons()
        for seat in order:
            accepted(hall.act(seat, "double"))
        hall.publish()
        tables.append((hall.room.table, hall.events))

    assert tables[0] == tables[1]


def test_H10_sealed_answers_are_published_at_the_fixed_time_and_never_earlier() -> None:
    hall = two_persons()
    opened = hall.now
    accepted(hall.act(1, "double"))
    accepted(hall.act(0, "single"))

    hall.later(TIMING.question_ms - 1)
    assert happened(hall.events, DuelAnswered) == []
    hall.later(1)

    assert happened(hall.events, DuelAnswered) == [DuelAnswered((False, True))]
    assert hall.now == opened + TIMING.question_ms


def test_silence_is_the_default_answer() -> None:
    hall = two_persons()
    accepted(hall.act(1, "double"))

    hall.publish()

    (published,) = bodies(hall, Published)
    assert [(each.seat, each.action) for each in published.silent] == [(0, "single")]
    assert happened(hall.events, DuelAnswered) == [DuelAnswered((False, True))]


def test_an_answer_that_comes_before_the_publication_is_in_the_log_counts() -> None:
    hall = two_persons()
    hall.now += TIMING.question_ms + 1  # whoever publishes is late

    accepted(hall.act(0, "double"))
    hall.fire()

    assert happened(hall.events, DuelAnswered) == [DuelAnswered((True, False))]


def test_an_ai_answers_a_question_and_a_person_who_joins_then_cannot_answer_again() -> None:
    hall = in_phase(Phase.PLAYING)
    (move,) = hall.ai()
    assert move.sealed
    assert ai_moves(hall.room) == ()

    hall.join("Bob", 1)

    assert refused(hall.act(1, "single")) == Why.ALREADY_ANSWERED
    assert turn(hall.room, Seat(1), hall.now, games=GAMES) is None


def test_what_the_rules_forbid_as_an_answer_is_refused_to_its_giver() -> None:
    hall = two_persons()

    assert refused(hall.act(0, "d2")) == "not-in-this-phase"


# Deals -----------------------------------------------------------------------------------------------------------


def test_after_a_deal_its_seed_is_revealed_and_fits_the_commitment() -> None:
    hall = in_phase(Phase.BETWEEN_DEALS)

    (opened,) = happened(hall.events, MatchOpened)
    (revealed,) = happened(hall.events, SeedRevealed)
    assert hall.events[-2:] == [happened(hall.events, DealEnded)[0], revealed]
    assert commitment(opened.match, 1, bytes.fromhex(revealed.seed)).hex() == opened.commitments[0]
    info = snapshot(hall.room, None, games=GAMES).match
    assert info is not None
    assert info.seeds == {1: revealed.seed}


def test_the_next_deal_comes_after_the_pause() -> None:
    hall = in_phase(Phase.BETWEEN_DEALS)

    hall.later(TIMING.pause_ms - 1)
    assert hall.phase() is Phase.BETWEEN_DEALS
    hall.later(1)

    assert hall.phase() is Phase.PLAYING
    assert happened(hall.events, DealBegan)[-1].deal == 2


def test_the_next_deal_comes_when_all_persons_here_are_ready() -> None:
    hall = in_phase(Phase.BETWEEN_DEALS)
    hall.join("Bob", 1)
    hall.must(Ready(id=hall.id_at(0)), 0)
    assert hall.events[-1] == SeatReady(seat=0)
    assert [seat.ready for seat in snapshot(hall.room, None, games=GAMES).seats] == [True, False]
    assert hall.fire() == []

    hall.drop(1)
    hall.fire()

    assert hall.phase() is Phase.PLAYING
    assert [seat.ready for seat in snapshot(hall.room, None, games=GAMES).seats] == [False, False]


def test_with_nobody_here_the_next_deal_waits_for_the_whole_pause() -> None:
    hall = in_phase(Phase.BETWEEN_DEALS)
    hall.drop(0)

    hall.later(TIMING.pause_ms - 1)

    assert hall.phase() is Phase.BETWEEN_DEALS


def test_readiness_is_for_one_deal() -> None:
    hall = in_phase(Phase.BETWEEN_DEALS)
    hall.must(Ready(id=hall.id_at(0)), 0)
    hall.deal_now(PLAIN_DECK)
    hall.publish()
    play_deal(hall)

    assert hall.phase() is Phase.BETWEEN_DEALS
    assert hall.fire() == []
    hall.must(Ready(id=hall.id_at(0)), 0)
    assert [type(entry.body) for entry in hall.fire()] == [Dealt]


def test_a_redeal_comes_after_a_pause_of_its_own_and_keeps_the_seed_secret() -> None:
    hall = Hall()
    hall.start()
    hall.deal_now(REDEAL_DECK)

    assert hall.phase() is Phase.BETWEEN_DEALS
    assert happened(hall.events, DealEnded)[-1].reason == "redeal"
    assert happened(hall.events, SeedRevealed) == []
    assert hall.finished == []
    info = snapshot(hall.room, None, games=GAMES).match
    assert info is not None
    assert info.seeds == {}

    hall.later(TIMING.redeal_ms - 1)
    assert hall.phase() is Phase.BETWEEN_DEALS
    hall.deal_now(PLAIN_DECK)
    assert happened(hall.events, DealBegan)[-1] == DealBegan(1, 2, Seat(0), 0)
    hall.publish()
    play_deal(hall)
    assert [(deal.deal, deal.attempt) for deal in hall.finished] == [(1, 1), (1, 2)]
    assert len(happened(hall.events, SeedRevealed)) == 1


def test_every_deal_is_recorded_once_redeals_with_the_deal_that_they_led_to() -> None:
    hall = Hall(options={"deals": 3})
    hall.start()
    for deck in (PLAIN_DECK, REDEAL_DECK, REDEAL_DECK, PLAIN_DECK, PLAIN_DECK):
        hall.deal_now(deck)
        if hall.phase() is Phase.PLAYING:
            hall.publish()
            play_deal(hall)

    assert hall.phase() is Phase.FINISHED
    assert [(deal.deal, deal.attempt) for deal in hall.finished] == [(1, 1), (2, 1), (2, 2), (2, 3), (3, 1)]


def test_a_match_ends_with_its_last_deal() -> None:
    hall = in_phase(Phase.FINISHED)

    assert len(happened(hall.events, DealBegan)) == len(happened(hall.events, SeedRevealed)) == 3
    assert len(happened(hall.events, MatchEnded)) == 1
    assert turn(hall.room, Seat(0), hall.now, games=GAMES) is None
    info = snapshot(hall.room, None, games=GAMES).match
    assert info is not None
    assert sorted(info.seeds) == [1, 2, 3]


# Records ---------------------------------------------------------------------------------------------------------


def test_every_finished_deal_comes_out_as_a_record_that_replays_and_verifies() -> None:
    hall = Hall(options={"deals": 3, "next_first": "winner"}, seed="records")
    hall.start()
    hall.play_on()

    assert len(hall.finished) >= 3
    for deal in hall.finished:
        record = read_record(deal.record, GAMES)
        assert check(hall.game, record) is None
        assert not misfits(hall.game, record)
        assert record.extras["match"] == msgspec.Raw(f'"{deal.match}"'.encode())


def test_a_record_says_who_acted_at_each_step_and_who_sat_where() -> None:
    hall = limited()
    hall.later(20_000)  # Ann's time runs out
    hall.ai()

    (deal,) = hall.finished
    fields = msgspec.json.decode(deal.record)
    assert fields["acted"] == ["clock", "clock", "clock", "ai"]
    assert fields["players"] == [{"seat": 0, "name": "Ann"}, {"seat": 1, "level": "medium"}]


def test_a_record_lists_sealed_answers_alike_whoever_was_quicker() -> None:
    records = []
    for order in ((0, 1), (1, 0)):
        hall = two_persons()
        for seat in order:
            accepted(hall.act(seat, "double"))
        hall.publish()
        accepted(hall.act(0, "d2"))
        accepted(hall.act(1, "d5"))
        records.append(hall.finished[0].record)

    assert records[0] == records[1]


# The log ---------------------------------------------------------------------------------------------------------


def test_a_match_of_another_rules_version_is_not_gone_on_with() -> None:
    hall = Hall()
    hall.must(SeatAi(id=hall.id_at(0), seat=1), 0)
    opened = Opened(level="medium", match="m", rules=2, seeds=(bytes(32),))

    with pytest.raises(OtherRules) as caught:
        hall.body(opened)

    assert (caught.value.logged, caught.value.ours) == (2, 1)


def test_the_same_log_gives_the_same_bytes() -> None:
    hall = Hall(options={"deals": 3}, seed="bytes")
    hall.join("Bob", 1)
    hall.start()
    hall.play_on()

    assert msgspec.json.encode(hall.replayed()) == msgspec.json.encode(hall.room)
    assert hall.replayed() == hall.room


def test_folding_changes_nothing_in_the_room_before() -> None:
    hall = playing()
    room, before = hall.room, msgspec.json.encode(hall.room)

    accepted(hall.act(0, "d2"))

    assert msgspec.json.encode(room) == before
    assert fold(room, hall.entries[-1], games=GAMES).room == hall.room


def test_an_answer_entry_tells_who_answered_for_the_seat() -> None:
    hall = two_persons()
    hall.drop(1)
    hall.now += TIMING.question_ms - 1
    hall.must(Act(id=hall.id_at(0), action="single", at=hall.decision.at), 0)

    assert bodies(hall, Answered) == [Answered(seat=Seat(0), action="single", actor=Actor.PERSON)]


def test_a_deck_of_other_cards_is_a_bug_and_not_a_deal() -> None:
    hall = Hall()
    hall.start()

    with pytest.raises(Exception, match="dealt from all"):
        hall.body(Dealt(deck=(Card("d1"),), drawn=Seat(0)))
