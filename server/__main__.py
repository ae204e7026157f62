"""``python -m server``: what ``fudaza serve`` becomes."""

from __future__ import annotations

import sys

from server.main import main

if __name__ == "__main__":
    sys.exit(main())
