"""Whatever bytes the kernel is given, it neither reads nor writes out of bounds, nor fails to end."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.koi_koi.kernel_fuzz import build

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


def run(tmp_path: Path, rounds: int) -> int:
    built = build(tmp_path)
    runtimes = [
        subprocess.run(["cc", f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    if not all(Path(runtime).is_absolute() for runtime in runtimes):
        pytest.skip("the compiler has no sanitizers")
    environment = os.environ | {"LD_PRELOAD": " ".join(runtimes), "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.koi_koi.kernel_fuzz", str(built), "1", str(rounds)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_sanitizers_find_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, 60) > 2_000


@pytest.mark.long
def test_sanitizers_find_nothing_in_many_rounds(tmp_path: Path) -> None:
    assert run(tmp_path, 20_000) > 600_000
