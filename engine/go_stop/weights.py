"""What one-turn sense reckons with: what captured cards promise, and what a go risks.

Judgement, not rules: tried against each other with ``tests/engine/go_stop/strength.py``. The one-turn levels (``bot``)
and the quick player of rollouts (``playout``) share it; ``medium`` is frozen, so a change here is a change of the
yardsticks that levels are measured with. In whole numbers: hundredths of a point and thousandths of a chance.
"""

from __future__ import annotations

from typing import Final

# What captured cards promise, beyond the points that they make.
SET_PROGRESS: Final = (0, 10, 40, 0)
"""Hundredths of a set's points, by how many of its three cards are there; none once the other player has one. A whole
set counts as points.
"""
BRIGHT_PROGRESS: Final = (0, 60, 160, 120, 200, 0)
"""By number of brights, as long as three can still be had."""
ANY_BRIGHT: Final = 40
"""One bright protects from paying double for want of one (G18)."""
EACH_ANIMAL: Final = 25
EACH_RIBBON: Final = 25
EACH_JUNK_UNIT: Final = 30
CUP_CHOICE: Final = 30
"""The cup can be either (G14)."""

# Stop or go.
RISE: Final = 2
"""By how many points a score usually rises until the next decision."""
LOST: Final = 9
"""What is usually paid to a player who stops after the other one called go."""
RISK: Final = (750, 600, 480, 300, 140, 100, 70, 50, 30)
"""Thousandths: the chance that the other player stops first, by the points that two captures from the layout leave them
short of their aim: from -3 and less up to 5 and more. Counted in 5,000 deals between greedy players.
"""
RISK_OFFSET: Final = 3
