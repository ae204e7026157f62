"""``greedy`` is frozen: what it once chose it chooses for ever, so that figures against it keep their meaning."""

from __future__ import annotations

from pathlib import Path
from random import Random

import msgspec

from engine.koi_koi import KOI_KOI
from engine.koi_koi.yardstick import greedy
from tests.engine.koi_koi.scenes import FIRST, act, deal, position, shuffled

GOLDEN = Path(__file__).parent / "yardstick.json"
DEALS = 40


def played(seed: int) -> list[str]:
    """A deal between two of them."""
    state = deal(shuffled(Random(seed)), FIRST).state
    actions: list[str] = []
    while KOI_KOI.outcome(state) is None:
        seat = state.table.turn
        actions.append(KOI_KOI.text(greedy(KOI_KOI.view(state, seat), KOI_KOI.legal_at(state, seat))))
        state = act(state, actions[-1]).state
    return actions


def test_greedy_plays_as_it_always_did() -> None:
    assert [played(seed) for seed in range(DEALS)] == msgspec.json.decode(GOLDEN.read_bytes())


def test_greedy_takes_points_before_cards_and_never_calls_koi() -> None:
    state = position(("01b 06a 11p", "12q"), "06p 01p 05a", "12s 10p", ("07a 10a", ""))
    view, legal = KOI_KOI.view(state, FIRST), KOI_KOI.legal_at(state, FIRST)
    assert KOI_KOI.text(greedy(view, legal)) == "06a"
    decided = act(state, "06a").state
    assert KOI_KOI.text(greedy(KOI_KOI.view(decided, FIRST), KOI_KOI.legal_at(decided, FIRST))) == "stop"


def test_it_stands_in_the_games_list() -> None:
    assert KOI_KOI.yardsticks["greedy"] is greedy
