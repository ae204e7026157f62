"""What the screens ask of the application that they stand in."""

from __future__ import annotations

from typing import Protocol

from clients.cli.tui.look import Inks
from clients.cli.tui.preferences import Preferences
from clients.cli.tui.sitting import Sitting


class Hosting(Protocol):
    """The application, as its screens know it."""

    preferences: Preferences
    inks: Inks
    """Of the theme in use."""
    sitting: Sitting
    """The one that is listened to."""

    def go(self) -> None:
        """Leave this table for now: to the lobby, or end the client."""
