"""Assertions in the laws show their values, like those in tests."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.conformance.laws")
