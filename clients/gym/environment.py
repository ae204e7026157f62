"""One deal of any of the games as a PettingZoo AEC environment.

Belongs here: PettingZoo's contract. The rules are the engine's; what an agent observes is its seat's view, encoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import EzPickle
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from clients.gym.encoding import LARGEST, Encoding
from engine.game import Card, OptionValue, Seat


class IllegalMove(ValueError):
    """The rules forbid this action here; nothing has changed. ``info["action_mask"]`` says what is legal."""


class CardEnv(AECEnv[str, dict[str, NDArray[Any]], int | None], EzPickle):
    """A deal. Agents are ``player_0`` …, by seat; sealed answers are asked for one after the other.

    A decision with a single legal action is made by the environment itself; deals that end before anybody can decide
    anything are dealt again. The reward comes with the end of the deal and sums to zero: by how much a player is ahead,
    or how far the team is above half of the points.
    """

    def __init__(
        self,
        encoding: Encoding,
        name: str,
        options: Mapping[str, OptionValue] | None = None,
        render_mode: str | None = None,
    ) -> None:
        """``options``: of the game; the defaults for what is left out.

        Raises:
            engine.game.BadOption: an option that the game does not have, or a value that it does not take.
        """
        EzPickle.__init__(self, encoding, name, options, render_mode)
        super().__init__()
        self.encoding = encoding
        self.game = encoding.game
        self.game_options = self.game.complete_options(options or {})
        self.render_mode = render_mode
        self.metadata = {"name": name, "render_modes": ["ansi"], "is_parallelizable": False}
        self.possible_agents = [f"player_{seat}" for seat in range(self.game.seats)]
        self._seats = {agent: Seat(seat) for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: gymnasium.spaces.Discrete(len(encoding.actions)) for agent in self.possible_agents}
        self._dice = Random()
        self._state: Any = None

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """The same for every agent: ``observation`` and ``action_mask``."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """An index into ``encoding.actions``."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal. Without a ``seed`` the environment's generator goes on where it was.

        ``options``: ``deal``, a whole deck as card codes in the deck order of the rules; ``beginner``, the seat of the
        first player or dealer. Both are drawn if they are not given; others are ignored, as PettingZoo's tests demand.

        Raises:
            engine.game.BadDeck: ``deal`` is no permutation of the game's cards.
            ValueError: ``beginner`` is no seat; the given deal ends before anybody can decide anything.
        """
        given = options or {}
        beginner = given.get("beginner")
        if beginner is not None and beginner not in range(self.game.seats):
            raise ValueError(f"beginner {beginner!r} is no seat: they are 0 to {self.game.seats - 1}")
        if seed is not None:
            self._dice = Random(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._state = self._dealt(given.get("deal"), beginner)
        self._turn_to_next()

    def step(self, action: int | None) -> None:
        """The selected agent's move.

        Raises:
            IllegalMove: it is not legal; nothing has changed.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        seat = self._seats[agent]
        legal = {self.encoding.index[self.game.text(each)]: each for each in self.game.legal_at(self._state, seat)}
        if action not in legal:
            known = [self.encoding.actions[index] for index in legal]
            raise IllegalMove(f"{agent} has no move {action} here; there are {known}")
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._state = self._settled(self.game.apply(self._state, seat, legal[action]).state)
        self._turn_to_next()
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """What ``agent`` knows, and what it may do (nothing, if it is not its turn)."""
        view = self.view(agent)
        observation = np.zeros(self.encoding.size, dtype=np.float32)
        observation[list(self.encoding.ones(view))] = 1
        tail = self.encoding.tail(view)
        observation[len(observation) - len(tail) :] = tail
        return {"observation": observation, "action_mask": self._mask(agent)}

    def view(self, agent: str) -> Any:
        """The engine's view of ``agent``'s seat, for the house's levels (``baselines``)."""
        return self.game.view(self._state, self._seats[agent])

    def legal(self, agent: str) -> Sequence[Any]:
        """The engine's actions that are legal for ``agent`` now; none, if it is not its turn."""
        if agent != self.agent_selection or self.terminations.get(agent, True):
            return ()
        return self.game.legal_at(self._state, self._seats[agent])

    def render(self) -> str | None:
        """What the selected agent knows, as text."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() does nothing without a render_mode; there is 'ansi'")
            return None
        return f"{self.agent_selection}\n{self.encoding.described(self.view(self.agent_selection))}"

    def close(self) -> None:
        """There is nothing to close."""

    def _observation_space(self) -> gymnasium.spaces.Dict:
        planes = self.encoding.size - len(self.encoding.number_names)
        high = np.full(self.encoding.size, LARGEST, dtype=np.float32)
        high[:planes] = 1
        low = -high
        low[:planes] = 0
        mask = (len(self.encoding.actions),)
        return gymnasium.spaces.Dict(
            {
                "observation": gymnasium.spaces.Box(low, high, dtype=np.float32),
                "action_mask": gymnasium.spaces.Box(0, 1, mask, dtype=np.int8),
            }
        )

    def _dealt(self, deck: Sequence[Card] | None, beginner: int | None) -> Any:
        """A deal in which there is something to decide."""
        while True:
            drawn = Seat(self._dice.randrange(self.game.seats)) if beginner is None else Seat(beginner)
            cards = self._dice.sample(self.game.cards, len(self.game.cards)) if deck is None else deck
            first = self.game.first_beginner(self.game_options, drawn)
            state = self._settled(self.game.deal(self.game_options, cards, first).state)
            if self.game.awaiting(state):
                return state
            if deck is not None:
                raise ValueError("this deal ends before anybody can decide anything")

    def _settled(self, state: Any) -> Any:
        """The state once everything that leaves no choice is done."""
        while True:
            forced = [
                (seat, legal[0])
                for seat in sorted(self.game.awaiting(state))
                if len(legal := self.game.legal_at(state, seat)) == 1
            ]
            if not forced:
                return state
            state = self.game.apply(state, *forced[0]).state

    def _turn_to_next(self) -> None:
        awaited = self.game.awaiting(self._state)
        if awaited:
            self.agent_selection = self.possible_agents[min(awaited)]
        else:
            outcome = self.game.outcome(self._state)
            assert outcome is not None, "nobody is awaited only when the deal is over"
            half = sum(outcome.scores) / 2 if self.game.sides < self.game.seats else None
            for agent, seat in self._seats.items():
                own = outcome.scores[self.game.side(seat)]
                self.rewards[agent] = own - half if half is not None else float(2 * own - sum(outcome.scores))
            self.terminations = dict.fromkeys(self.agents, True)
        self.infos = {agent: {"action_mask": self._mask(agent)} for agent in self.agents}

    def _mask(self, agent: str) -> NDArray[Any]:
        mask = np.zeros(len(self.encoding.actions), dtype=np.int8)
        mask[[self.encoding.index[self.game.text(action)] for action in self.legal(agent)]] = 1
        return mask


def wrapped(env: CardEnv) -> Any:
    """``env`` with PettingZoo's checks: actions out of bounds, calls out of order."""
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))
