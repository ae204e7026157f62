"""What every test relies on."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# A busy machine must not fail a property (no deadline); the gate draws the same examples every time, while a person's
# run explores new ones. A failing example is printed with the blob that reproduces it.
settings.register_profile("person", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("gate", settings.get_profile("person"), derandomize=True)
settings.load_profile("gate" if os.environ.get("CI") else "person")

# Tests read English, whatever the developer speaks.
os.environ["FUDAZA_LANG"] = "en"

pytest_plugins = ["tests.stores", "tests.clusters"]
