"""``greedy``, the yardstick. That it is frozen is held with those of the other games (``tests/conformance``)."""

from __future__ import annotations

from engine.koi_koi import KOI_KOI
from engine.koi_koi.types import State
from engine.koi_koi.yardstick import greedy
from tests.engine.koi_koi.scenes import act, position


def choice(state: State) -> str:
    seat = state.table.turn
    return KOI_KOI.text(greedy(KOI_KOI.view(state, seat), KOI_KOI.legal_at(state, seat)))


def test_greedy_takes_points_before_cards_and_never_calls_koi() -> None:
    state = position(("01b 06a 11p", "12q"), "06p 01p 05a", "12s 10p", ("07a 10a", ""))
    assert choice(state) == "06a"
    assert choice(act(state, "06a").state) == "stop"


def test_greedy_denies_a_yaku_before_it_takes_a_better_card() -> None:
    assert choice(position(("08p 12b 11p", "12q"), "08b 12p", "12s 10p", ("", "01b 03b"))) == "08p"
    assert choice(position(("08q 12b 11p", "12q"), "08p 12p", "12s 10p")) == "12b"


def test_greedy_lays_down_what_counts_least() -> None:
    assert choice(position(("01b 06a 11p", "12q"), "02p", "12s 10p")) == "11p"


def test_it_stands_in_the_games_list() -> None:
    assert KOI_KOI.yardsticks["greedy"] is greedy
