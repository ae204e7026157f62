"""Fixtures of the client's tests."""

from __future__ import annotations

from tests.cli.screen import private_state

__all__ = ["private_state"]
