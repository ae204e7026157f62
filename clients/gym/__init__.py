"""The three games as PettingZoo environments (extra ``pettingzoo``): ``koi_koi_v0``, ``go_stop_v0``,
``hachinin_meri_v0``. ``docs/ai.md`` describes them.

``encoding`` and a module per game turn views into numbers and actions into indices, without any dependency;
``environment`` is the environment of any game; ``baselines`` has the house's levels to play against. This is a client
like any other: it sees the rule book (``engine``), and neither the wire nor a server.
"""

from __future__ import annotations

from typing import Final

NAMESPACE: Final = "fudaza"
ENVIRONMENTS: Final = ("koi_koi_v0", "go_stop_v0", "hachinin_meri_v0")


def register() -> None:
    """Make the environments known to ``pettingzoo.make("aec", "fudaza/koi_koi-v0")``.

    Raises:
        ImportError: the extra ``pettingzoo`` is not installed.
    """
    from pettingzoo import register as make_known

    for name in ENVIRONMENTS:
        make_known("aec", f"{NAMESPACE}/{name.replace('_v', '-v')}", entry_point=f"{__name__}.{name}:env")
