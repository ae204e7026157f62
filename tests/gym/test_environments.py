"""The PettingZoo environments: PettingZoo's own tests, and ours. Needs the extra ``pettingzoo``."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec
import pytest

pettingzoo = pytest.importorskip("pettingzoo", reason="the extra 'pettingzoo' is not installed")

import numpy as np  # noqa: E402 - comes with the extra
from pettingzoo.test import api_test, seed_test  # noqa: E402

from clients.gym import ENVIRONMENTS, go_stop_v0, hachinin_meri_v0, koi_koi_v0, register  # noqa: E402
from clients.gym.baselines import Baseline  # noqa: E402
from clients.gym.environment import CardEnv, IllegalMove  # noqa: E402
from engine.game import BadDeck, BadOption, Seat  # noqa: E402

MODULES: Final[dict[str, Any]] = {
    "koi_koi_v0": koi_koi_v0,
    "go_stop_v0": go_stop_v0,
    "hachinin_meri_v0": hachinin_meri_v0,
}


@pytest.fixture(params=MODULES)
def module(request: pytest.FixtureRequest) -> Any:
    return MODULES[request.param]


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(np.array_equal(one[key], other[key]) for key in ("observation", "action_mask"))


def play(env: Any, dice: Random) -> list[tuple[str, str]]:
    """Play a deal at random; who did what."""
    moves = []
    raw: CardEnv = env.unwrapped
    while raw.agents and not raw.terminations[raw.agent_selection]:
        action = dice.choice(np.flatnonzero(raw.infos[raw.agent_selection]["action_mask"]).tolist())
        moves.append((raw.agent_selection, raw.encoding.actions[action]))
        env.step(action)
    return moves


# PettingZoo warns of what it does itself in its own card games: observations with a mask, masks of who does not act.
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning")
@pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros:UserWarning")
def test_pettingzoo_accepts_it(module: Any) -> None:
    api_test(module.env(), num_cycles=300)


def test_a_seed_determines_everything(module: Any) -> None:
    seed_test(module.env, num_cycles=200)
    first, again, other = module.env(), module.env(), module.env()
    first.reset(seed=5), again.reset(seed=5), other.reset(seed=6)
    assert play(first, Random(1)) == play(again, Random(1)) != play(other, Random(1))
    first.reset(), again.reset()  # the next deal follows from the first one's seed
    assert play(first, Random(1)) == play(again, Random(1))


def test_illegal_actions_are_refused_and_change_nothing(module: Any) -> None:
    env, dice = module.env(), Random(2)
    raw: CardEnv = env.unwrapped
    for seed in range(3):
        env.reset(seed=seed)
        while not raw.terminations[raw.agent_selection]:
            agent = raw.agent_selection
            mask = raw.infos[agent]["action_mask"]
            before, state = env.observe(agent), msgspec.json.encode(raw._state)
            for action in dice.sample(np.flatnonzero(mask == 0).tolist(), 5):
                with pytest.raises(IllegalMove):
                    env.step(action)
            with pytest.raises(IllegalMove):
                raw.step(None)
            assert (raw.agent_selection, msgspec.json.encode(raw._state)) == (agent, state)
            assert same(env.observe(agent), before)
            assert np.array_equal(raw.infos[agent]["action_mask"], mask)
            env.step(dice.choice(np.flatnonzero(mask).tolist()))


def test_the_mask_is_what_is_legal_and_forced_moves_are_folded_away(module: Any) -> None:
    env, dice = module.env(), Random(3)
    raw: CardEnv = env.unwrapped
    env.reset(seed=1)
    while not raw.terminations[raw.agent_selection]:
        for agent in raw.agents:
            observed = env.observe(agent)
            texts = {raw.encoding.actions[index] for index in np.flatnonzero(observed["action_mask"])}
            assert texts == {raw.game.text(action) for action in raw.legal(agent)}
            assert bool(texts) == (agent == raw.agent_selection)
            assert len(texts) != 1
            assert np.array_equal(raw.infos[agent]["action_mask"], observed["action_mask"])
            assert env.observation_space(agent).contains(observed)
        env.step(dice.choice(np.flatnonzero(raw.infos[raw.agent_selection]["action_mask"]).tolist()))


def test_an_observation_knows_nothing_but_the_view(module: Any) -> None:
    env, dice = module.env(), Random(4)
    raw: CardEnv = env.unwrapped
    env.reset(seed=2)
    while not raw.terminations[raw.agent_selection]:
        for seat, agent in enumerate(raw.possible_agents):
            before, truth = env.observe(agent), raw._state
            raw._state = raw.game.resample(raw.view(agent), dice)
            assert raw.game.view(raw._state, Seat(seat)) == raw.game.view(truth, Seat(seat))
            assert np.array_equal(env.observe(agent)["observation"], before["observation"])
            raw._state = truth
        env.step(dice.choice(np.flatnonzero(raw.infos[raw.agent_selection]["action_mask"]).tolist()))


def test_rewards_come_at_the_end_and_sum_to_zero(module: Any) -> None:
    env, dice = module.env(), Random(5)
    raw: CardEnv = env.unwrapped
    for seed in range(10):
        env.reset(seed=seed)
        while not raw.terminations[raw.agent_selection]:
            assert not any(raw.rewards.values())
            env.step(dice.choice(np.flatnonzero(raw.infos[raw.agent_selection]["action_mask"]).tolist()))
        outcome = raw.game.outcome(raw._state)
        assert outcome is not None
        for agent, seat in raw._seats.items():
            own = outcome.scores[raw.game.side(seat)]
            expected = own - 4.5 if raw.game.seats == 8 else 2 * own - sum(outcome.scores)
            assert raw.rewards[agent] == expected
        assert sum(raw.rewards.values()) == 0


def test_a_given_deal_is_the_deal_that_is_dealt(module: Any) -> None:
    env = module.env()
    raw: CardEnv = env.unwrapped
    env.reset(seed=7)
    game, dice = raw.game, Random(7)
    deck = dice.sample(game.cards, len(game.cards))
    env.reset(options={"deal": deck, "beginner": 1})
    dealt = game.deal(raw.game_options, deck, Seat(1)).state
    agent = raw.agent_selection
    assert game.view(raw._state, raw._seats[agent]).hand == game.view(dealt, raw._seats[agent]).hand
    for bad in (deck[1:], []):
        with pytest.raises(BadDeck):
            env.reset(options={"deal": bad})


def test_a_beginner_that_is_no_seat_is_refused(module: Any) -> None:
    env = module.env()
    for bad in (-1, env.unwrapped.game.seats, "0"):
        with pytest.raises(ValueError, match="is no seat: they are 0 to"):
            env.reset(options={"beginner": bad})


def test_a_given_deal_without_decisions_is_refused() -> None:
    env = koi_koi_v0.env()
    months = [card for card in env.unwrapped.game.cards if card.startswith("01")]
    deck = [*months, *(card for card in env.unwrapped.game.cards if card not in months)]
    with pytest.raises(ValueError, match="ends before"):
        env.reset(options={"deal": deck, "beginner": 0})


def test_options_are_the_games(module: Any) -> None:
    name, values = next((key, values) for key, values in module.raw_env().game.options.items() if len(values) > 1)
    assert module.raw_env({name: values[1]}).game_options[name] == values[1]
    with pytest.raises(BadOption):
        module.env({"no-such-option": 1})


def test_it_is_shown_as_text(module: Any) -> None:
    env = module.env(render_mode="ansi")
    env.reset(seed=1)
    shown = env.render()
    raw: CardEnv = env.unwrapped
    assert shown.startswith(raw.agent_selection)
    assert all(card in shown for card in raw.view(raw.agent_selection).hand)


def test_it_travels_between_processes(module: Any) -> None:
    env = pickle.loads(pickle.dumps(module.raw_env()))  # noqa: S301 - we wrote it
    env.reset(seed=1)
    assert env.metadata["name"] in ENVIRONMENTS


def test_it_can_be_made_by_its_name() -> None:
    register()
    env = pettingzoo.make("aec", "fudaza/koi_koi-v0", options={"deals": 3})
    assert env.unwrapped.game_options["deals"] == 3


@pytest.mark.parametrize("name", ["random", "easy", "medium"])
def test_the_houses_levels_play_as_baselines_and_repeat_themselves(module: Any, name: str) -> None:
    def play_alone(seed: int) -> dict[str, float]:
        env = module.env()
        raw: CardEnv = env.unwrapped
        policy = Baseline(name, seed=seed)
        env.reset(seed=3)
        while not raw.terminations[raw.agent_selection]:
            env.step(policy(env))
        return dict(raw.rewards)

    assert play_alone(1) == play_alone(1)
    with pytest.raises(ValueError, match="nobody"):
        Baseline("nobody", seed=1)(_started(module))


def test_the_example_in_the_documentation_runs() -> None:
    text = (Path(__file__).parents[2] / "docs" / "ai.md").read_text()
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "clients.gym" in block]
    after: dict[str, Any] = {}
    exec(code, after)  # noqa: S102 - we wrote it
    assert not after["env"].unwrapped.agents, "the deal was not played to its end"


def test_every_yardstick_of_a_game_is_a_baseline(module: Any) -> None:
    env = _started(module)
    for name in env.unwrapped.game.yardsticks:
        assert env.unwrapped.infos[env.unwrapped.agent_selection]["action_mask"][Baseline(name, seed=1)(env)] == 1


def _started(module: Any) -> Any:
    env = module.env()
    env.reset(seed=1)
    return env
