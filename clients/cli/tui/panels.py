"""The panel of each game, loaded when the game is met."""

from __future__ import annotations

from importlib import import_module

from clients.cli.tui.panel import Panel


def panel_of(game: str) -> Panel:
    """The panel of a registered game, by its name."""
    panel = import_module(f"clients.cli.tui.{game.replace('-', '_')}").PANEL
    assert isinstance(panel, Panel)
    return panel
