"""Becomes the embedded store: ``python -I -S launcher.py PARENT PIDFILE BINARY ARGUMENT…``.

A process of its own, because between fork and exec of a process with threads no Python may run. It writes its process
id, which the store keeps, before the store can touch its data; and on Linux it asks to be ended with its parent. The
supervisor starts it from the thread of its event loop: the wish is tied to the thread, not to the process.
"""

from __future__ import annotations

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def main(parent: str, pidfile: str, binary: str, *arguments: str) -> None:
    """Does not return."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(parent):
        sys.exit("the server that started this store is gone")
    with open(pidfile, "w", encoding="ascii") as file:  # noqa: PTH123 - pathlib would double the time to start
        file.write(f"{os.getpid()}\n")
    os.execv(binary, [binary, *arguments])  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main(*sys.argv[1:])
