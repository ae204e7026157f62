"""A server of a version that plays koi-koi by other rules: ``python -m tests.faults.other_rules``."""

from __future__ import annotations

import sys

from engine.koi_koi import KoiKoi
from server.main import main

if __name__ == "__main__":
    KoiKoi.rules_version += 1
    sys.exit(main())
