"""The optional compiled search of a game (``engine/*/_kernel.c``), where it is installed and fits this machine."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def load_kernel(package: str) -> ModuleType | None:
    """The extension of the game in ``package``; None where it was not compiled, or for another machine."""
    try:
        return import_module(f"{package}._kernel")
    except ImportError:
        return None
