"""A server of the next version: it writes entries of the next schema, which this version cannot read, and reads both.

``python -m tests.faults.successor`` takes the place of ``python -m server`` in the rolling upgrade's test.
"""

from __future__ import annotations

import sys
from typing import Final

from msgspec.structs import replace

from server import entries, host
from server.entries import Entry, encode_entry
from server.main import main

NEXT: Final = entries.SCHEMA + 1


def encode_next(entry: Entry) -> bytes:
    return encode_entry(replace(entry, schema=NEXT))


def become_the_next_version() -> None:
    """From now on this process is of the next version."""
    entries.SCHEMA = NEXT  # type: ignore[misc]
    setattr(host, "encode_entry", encode_next)  # noqa: B010 - the module does not offer the name to others


if __name__ == "__main__":
    become_the_next_version()
    sys.exit(main())
