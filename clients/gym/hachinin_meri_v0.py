"""``hachinin_meri_v0`` for PettingZoo. The number rises when the rules or the encoding change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clients.gym.environment import CardEnv, wrapped
from clients.gym.hachinin_meri import MERI_ENCODING
from engine.game import OptionValue


def raw_env(options: Mapping[str, OptionValue] | None = None, render_mode: str | None = None) -> CardEnv:
    """The environment without PettingZoo's checks. ``options``: of the game."""
    return CardEnv(MERI_ENCODING, "hachinin_meri_v0", options, render_mode)


def env(options: Mapping[str, OptionValue] | None = None, render_mode: str | None = None) -> Any:
    """The environment. ``options``: of the game."""
    return wrapped(raw_env(options, render_mode))
