"""Every option with every value. (Unknown options and values are refused for all games alike.)"""

from __future__ import annotations

from random import Random

import pytest

from engine import match
from engine.game import IllegalAction, Message, Outcome, Seat
from engine.koi_koi import KOI_KOI
from engine.koi_koi.scoring import standing
from engine.koi_koi.types import Calls, Doubling, PointTable, Rules, Viewing, YakuMade
from tests.engine.koi_koi.scenes import FIRST, SECOND, act, cards, deal, deck, legal, only, outcome, position, shuffled

STOP_WON_BY = {FIRST: Outcome("stop", (6, 0)), SECOND: Outcome("stop", (0, 6))}
DRAW = Outcome("draw", (0, 0))


def points(pile: str, rules: Rules) -> dict[str, int]:
    return {made.yaku.value: made.points for made in standing(cards(pile), rules, 0).yaku}


def test_the_options_are_those_of_the_rules_with_the_defaults_first() -> None:
    assert {key: list(values) for key, values in KOI_KOI.options.items()} == {
        "deals": [1, 3, 6, 12],
        "next_first": ["alternating", "winner", "random"],
        "viewing": ["off", "on", "with-another"],
        "seven_doubles": ["off", "on"],
        "opponent_call_doubles": ["off", "on"],
        "calls": ["unlimited", "one"],
        "points": ["house", "nintendo"],
    }


def test_options_reach_the_deal() -> None:
    given = {
        "viewing": "with-another",
        "seven_doubles": "on",
        "opponent_call_doubles": "on",
        "calls": "one",
        "points": "nintendo",
    }
    rules = Rules(Viewing.WITH_ANOTHER, True, True, Calls.ONE, PointTable.NINTENDO)
    assert deal(deck(), options=given).state.table.rules == rules
    assert deal(deck()).state.table.rules == Rules()


# next_first and deals


@pytest.mark.parametrize("first", [FIRST, SECOND])
@pytest.mark.parametrize("ended", [*STOP_WON_BY.values(), DRAW])
def test_next_first_alternating_takes_turns_whoever_won(first: Seat, ended: Outcome) -> None:
    options = KOI_KOI.complete_options({})
    assert KOI_KOI.next_beginner(options, first, ended, first) == 1 - first


@pytest.mark.parametrize("first", [FIRST, SECOND])
@pytest.mark.parametrize("won_by", [FIRST, SECOND])
def test_next_first_winner_begins(first: Seat, won_by: Seat) -> None:
    options = KOI_KOI.complete_options({"next_first": "winner"})
    assert KOI_KOI.next_beginner(options, first, STOP_WON_BY[won_by], Seat(1 - won_by)) == won_by


@pytest.mark.parametrize("first", [FIRST, SECOND])
def test_next_first_winner_after_a_draw_is_the_same_player_again(first: Seat) -> None:
    options = KOI_KOI.complete_options({"next_first": "winner"})
    assert KOI_KOI.next_beginner(options, first, DRAW, Seat(1 - first)) == first


@pytest.mark.parametrize("first", [FIRST, SECOND])
@pytest.mark.parametrize("drawn", [FIRST, SECOND])
def test_next_first_random_is_the_drawn_seat(first: Seat, drawn: Seat) -> None:
    options = KOI_KOI.complete_options({"next_first": "random"})
    assert KOI_KOI.next_beginner(options, first, STOP_WON_BY[FIRST], drawn) == drawn


@pytest.mark.parametrize("next_first", ["alternating", "winner", "random"])
def test_next_first_holds_through_matches_with_stops_draws_and_redeals(next_first: str) -> None:
    seen = set()
    for seed in range(25):
        rng = Random(seed)
        played = match.begin(KOI_KOI, {"deals": 12, "next_first": next_first})
        while played.need is not match.Need.NOTHING:
            before, drawn = played, Seat(rng.randrange(2))
            played = match.deal(KOI_KOI, played, shuffled(rng), drawn).match
            if before.outcome is not None:
                seen.add(before.outcome.reason)
                scores, first = before.outcome.scores, before.beginner
                if before.outcome.reason == "redeal":
                    expected = first
                elif next_first == "random":
                    expected = drawn
                elif next_first == "alternating":
                    expected = Seat(1 - first)
                else:
                    expected = first if scores == (0, 0) else Seat(scores.index(max(scores)))
                assert played.beginner == played.state.table.first == expected
            while played.need is match.Need.ACTION:
                action = rng.choice(KOI_KOI.legal_at(played.state, played.state.table.turn))
                played = match.act(KOI_KOI, played, played.state.table.turn, action).match
    assert {"stop", "draw", "redeal"} <= seen


PAIRS = "02a 02r 03b 03r 04a 04r 05a 05r"
MIXED = "06a 07a 08b 09a 10a 11b 12b 08a"


@pytest.mark.parametrize("deals", [1, 3, 6, 12])
def test_deals_ends_the_match_after_so_many_and_compares_totals(deals: int) -> None:
    played = match.begin(KOI_KOI, {"deals": deals})
    while played.need is match.Need.DECK:
        played = match.deal(KOI_KOI, played, deck(lead=PAIRS, reply=MIXED), FIRST).match
    assert played.deal == deals
    ahead = (deals + 1) // 2
    assert played.totals == (6 * ahead, 6 * (deals - ahead)), "the first player of each deal holds four pairs"


def test_deals_level_totals_are_a_draw_of_the_match() -> None:
    played = match.begin(KOI_KOI, {"deals": 6})
    while played.need is match.Need.DECK:
        progress = match.deal(KOI_KOI, played, deck(lead=PAIRS, reply=MIXED), FIRST)
        played = progress.match
    assert only(match.MatchEnded, progress.events) == match.MatchEnded((18, 18), None)


# viewing


@pytest.mark.parametrize("pile", ["03b 09a", "08b 09a"])
def test_viewing_off_scores_nothing(pile: str) -> None:
    assert points(pile, Rules(viewing=Viewing.OFF)) == {}


def test_viewing_on_is_a_yaku_like_any_other() -> None:
    rules = Rules(viewing=Viewing.ON)
    assert points("03b 09a", rules) == {"flower-viewing": 5}
    assert points("08b 09a", rules) == {"moon-viewing": 5}
    assert points("03b 08b 09a", rules) == {"flower-viewing": 5, "moon-viewing": 5}
    assert points("03b 08b", rules) == {}


@pytest.mark.parametrize(
    ("pile", "expected"),
    [
        ("03b 09a", {}),
        ("08b 09a", {}),
        ("03b 08b 09a", {}),
        ("03b 09a 01r 02r 03r", {"poetry-ribbons": 6, "flower-viewing": 5}),
        ("03b 08b 01b 09a", {"three-brights": 6, "flower-viewing": 5, "moon-viewing": 5}),
        ("01r 02r 03r", {"poetry-ribbons": 6}),
    ],
)
def test_viewing_with_another_counts_only_beside_a_yaku_that_is_no_viewing(pile: str, expected: dict[str, int]) -> None:
    assert points(pile, Rules(viewing=Viewing.WITH_ANOTHER)) == expected


def test_viewing_with_another_opens_no_decision_alone_and_comes_in_with_the_other_yaku() -> None:
    rules = Rules(viewing=Viewing.WITH_ANOTHER)
    captured = ("03b 01r 02r", "")
    alone = act(position(("09a 12p", "12q"), "09p", "11p", captured, rules=rules), "09a")
    assert alone.state.table.turn == SECOND
    both = position(("03r 12p", "12q"), "03p", "11p", ("03b 09a 01r 02r", ""), rules=rules)
    event = only(YakuMade, act(both, "03r").events)
    assert [made.yaku.value for made in event.gained] == ["poetry-ribbons", "flower-viewing"]
    assert event.standing.total == 11


# seven_doubles and opponent_call_doubles


def stop_score(pile: str, rules: Rules, opponent_calls: int = 0) -> tuple[int, tuple[str, ...]]:
    found = standing(cards(pile), rules, opponent_calls)
    return found.score, found.doublings


SIX = "01b 03b 12b"
SEVEN = "01r 02r 03r 04r 05r"
ELEVEN = "01r 02r 03r 06a 07a 10a"


def test_seven_doubles_off_scores_the_total() -> None:
    assert stop_score(SEVEN, Rules()) == (7, ())


@pytest.mark.parametrize(
    ("pile", "score", "doublings"),
    [(SIX, 6, ()), (SEVEN, 14, (Doubling.SEVEN_OR_MORE,)), (ELEVEN, 22, (Doubling.SEVEN_OR_MORE,)), ("", 0, ())],
)
def test_seven_doubles_on_doubles_from_seven(pile: str, score: int, doublings: tuple[str, ...]) -> None:
    assert stop_score(pile, Rules(seven_doubles=True)) == (score, doublings)


def test_opponent_call_doubles_off_scores_the_total() -> None:
    assert stop_score(SIX, Rules(), opponent_calls=2) == (6, ())


@pytest.mark.parametrize(("calls", "score"), [(0, 6), (1, 12), (3, 12)])
def test_opponent_call_doubles_on_doubles_once_however_often_they_called(calls: int, score: int) -> None:
    assert stop_score(SIX, Rules(opponent_call_doubles=True), calls)[0] == score


def test_both_doublings_together_make_it_four_times() -> None:
    rules = Rules(seven_doubles=True, opponent_call_doubles=True)
    assert stop_score(SEVEN, rules, 1) == (28, (Doubling.SEVEN_OR_MORE, Doubling.OPPONENT_CALLED))
    assert stop_score(SIX, rules, 1) == (12, (Doubling.OPPONENT_CALLED,))


def test_opponent_call_doubles_counts_the_others_calls_and_not_ones_own() -> None:
    rules = Rules(opponent_call_doubles=True)
    captured = ("06a 07a", "01b 03b")
    state = position(("10a 11p", "12b 11r"), "10p 12p", "02p 05a", captured, rules=rules)
    called = act(state, "10a", "koi").state
    assert called.table.standings[FIRST].score == 5, "one's own call doubles nothing"
    replied = position(
        ("11p", "12b 11r"), "12p", "05a", ("06a 07a 10a", "01b 03b"), turn=SECOND, calls=(1, 0), rules=rules
    )
    won = act(replied, "12b", "stop").state
    assert outcome(won) == Outcome("stop", (0, 12))


def test_a_call_raises_what_the_other_players_standing_yaku_would_score() -> None:
    rules = Rules(opponent_call_doubles=True)
    before = position(("10a 11p", "12s 11r"), "10p", "02p", ("06a 07a", "01b 03b 12b"), rules=rules, calls=(0, 1))
    decided = act(before, "10a").state
    assert decided.table.standings[FIRST].score == 10
    assert decided.table.standings[SECOND].score == 6
    assert act(decided, "koi").state.table.standings[SECOND].score == 12


def test_the_score_of_an_opening_hand_is_not_doubled() -> None:
    options = {"seven_doubles": "on", "opponent_call_doubles": "on"}
    assert outcome(deal(deck(lead=PAIRS, reply=MIXED), options=options).state).scores == (6, 0)


def test_calls_of_one_deal_leave_no_trace_in_the_next() -> None:
    rng = Random(1)
    played = match.begin(KOI_KOI, {"opponent_call_doubles": "on", "deals": 12})
    called = 0
    while played.need is not match.Need.NOTHING:
        played = match.deal(KOI_KOI, played, shuffled(rng), FIRST).match
        assert played.state.table.calls == (0, 0)
        assert [standing.score for standing in played.state.table.standings] == [0, 0]
        while played.need is match.Need.ACTION:
            choices = legal(played.state)
            choice = "koi" if "koi" in choices else rng.choice(choices)
            played = match.act(KOI_KOI, played, played.state.table.turn, KOI_KOI.parse(choice)).match
        called += any(played.state.table.calls)
    assert called >= 6, "most of these deals had calls to be forgotten"


# calls


def test_calls_unlimited_asks_again_after_a_call() -> None:
    before = position(("11a 12p", "12q"), "11p", "02p", ("02a 04a 05a 06a 08a", ""), calls=(1, 0))
    assert legal(act(before, "11a").state) == ["koi", "stop"]


def test_calls_one_leaves_only_stop_after_ones_own_call() -> None:
    rules = Rules(calls=Calls.ONE)
    before = position(("11a 12p", "12q"), "11p", "02p", ("02a 04a 05a 06a 08a", ""), calls=(1, 0), rules=rules)
    step = act(before, "11a")
    assert only(YakuMade, step.events).only_stop == "one-call"
    assert legal(step.state) == ["stop"]
    with pytest.raises(IllegalAction) as refused:
        act(step.state, "koi")
    assert refused.value.refusal == Message("one-call")


def test_calls_one_is_counted_for_each_player() -> None:
    rules = Rules(calls=Calls.ONE)
    before = position(("11a 12p", "12q"), "11p", "02p", ("02a 04a 05a 06a 08a", ""), calls=(0, 1), rules=rules)
    assert legal(act(before, "11a").state) == ["koi", "stop"]


# points


def test_points_nintendo_differ_where_the_rules_say() -> None:
    rules = Rules(points=PointTable.NINTENDO)
    assert points("01b 03b 08b 11b 12b", rules) == {"five-brights": 10}
    assert points("01b 03b 08b 12b", rules) == {"four-brights": 8}
    assert points("01b 03b 08b 11b", rules) == {"rainy-four-brights": 7}
    assert points("01b 03b 08b", rules) == {"three-brights": 5}
    assert points("06a 07a 10a", rules) == {"boar-deer-butterfly": 5}
    assert points("01r 02r 03r", rules) == {"poetry-ribbons": 5}
    assert points("06r 09r 10r", rules) == {"blue-ribbons": 5}
    assert points("02a 04a 05a 08a 11a 06a", rules) == {"animals": 2}
    assert points("01r 02r 04r 05r 06r", rules) == {"ribbons": 1}
    assert points("01p 02p 03p 04p 05p 06p 07p 08p 10p 11p 12p", rules) == {"plains": 2}


def test_points_nintendo_leave_viewing_at_five() -> None:
    assert points("03b 09a", Rules(points=PointTable.NINTENDO, viewing=Viewing.ON)) == {"flower-viewing": 5}
