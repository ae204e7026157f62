"""What processes have used, from the kernel's accounts (Linux: ``/proc``). Elsewhere nothing is known of others."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import Final

from msgspec import Struct

KNOWN: Final = sys.platform == "linux"
"""Whether other processes can be measured here."""
_NANO: Final = 1e9


class Used(Struct, frozen=True):
    """What a process has used since it began."""

    cpu: float
    """Seconds, of all its threads."""
    resident: int
    """Bytes of memory that it holds now."""
    written: int = 0
    """Bytes that it has sent to disks; 0 where that is not known."""


def used(pid: int) -> Used | None:
    """What process ``pid`` has used; None where that cannot be known, or it has ended."""
    if not KNOWN:
        return None
    try:
        # proc(5): after the name in parentheses, utime and stime are the 12th and 13th field, rss the 22nd
        fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    except OSError:
        return None
    ticks = int(fields[11]) + int(fields[12])
    return Used(ticks / os.sysconf("SC_CLK_TCK"), int(fields[21]) * os.sysconf("SC_PAGE_SIZE"), _written(pid))


def _written(pid: int) -> int:
    try:
        rows = Path(f"/proc/{pid}/io").read_text("ascii").splitlines()
    except OSError:
        return 0
    return next((int(row.partition(": ")[2]) for row in rows if row.startswith("write_bytes: ")), 0)


def children(pid: int) -> list[int]:
    """The processes that ``pid`` has started and that still run."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, task.read_text("ascii").split())
    return found


class OwnTime(Struct, frozen=True):
    """Where this process's time has gone, in seconds."""

    ran: float
    waited: float
    """For a processor, while it could have run; 0 where that is not known."""

    def since(self, before: OwnTime) -> float:
        """Seconds run or waited for a processor since ``before``."""
        return self.ran + self.waited - before.ran - before.waited


def own_time() -> OwnTime:
    """The account of this process's only busy thread."""
    try:
        ran, waited, _slices = Path("/proc/self/schedstat").read_text("ascii").split()
    except (OSError, ValueError):
        return OwnTime(time.process_time(), 0.0)
    return OwnTime(int(ran) / _NANO, int(waited) / _NANO)


def cores() -> list[int]:
    """The processors this process may use; empty where that cannot be chosen."""
    return sorted(os.sched_getaffinity(0)) if KNOWN else []


def pin(pid: int, core: int) -> None:
    """Let process ``pid`` (0: this one), all its threads included, run on ``core`` alone."""
    for task in Path(f"/proc/{pid or 'self'}/task").iterdir():
        os.sched_setaffinity(int(task.name), {core})
