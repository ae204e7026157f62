"""Locks on files that end with the process that holds them."""

from __future__ import annotations

import sys

if sys.platform == "win32":  # pragma: no cover - where two clients of one user share their seats' files unguarded

    def take_lock(descriptor: int) -> bool:
        """Lock the open file for this process and those that inherit it; False if another process holds it."""
        return descriptor >= 0

else:
    import fcntl

    def take_lock(descriptor: int) -> bool:
        """Lock the open file for this process and those that inherit it; False if another process holds it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
