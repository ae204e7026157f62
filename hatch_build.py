"""Compiles the optional search kernels (``engine/*/_kernel.c``) when the project is built or installed.

Where there is a C compiler, each becomes an extension beside its source, built against Python's stable ABI so that one
wheel serves every Python from 3.11. Where there is none, or it fails, the project is complete without: a note is
printed, the build succeeds, and ``expert`` plays as ``hard``. By hand: ``python hatch_build.py`` (needs hatchling and
setuptools, which the extra ``test`` has).
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from setuptools import Distribution, Extension
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

OLDEST_PYTHON: Final = (3, 11)
_LIMITED_API: Final = f"0x{OLDEST_PYTHON[0]:02X}{OLDEST_PYTHON[1]:02X}0000"


class KernelHook(BuildHookInterface):
    """Hatchling's hook: for wheels (the extensions travel in them) and for editable installs (they lie in the tree)."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and put what came of it into the wheel."""
        if self.target_name != "wheel":
            return
        root = Path(self.root)
        built = list(compile_kernels(root, self.app.display_warning))
        if built and version == "standard":
            build_data["pure_python"] = False
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["tag"] = f"cp{OLDEST_PYTHON[0]}{OLDEST_PYTHON[1]}-abi3-{platform}"
            build_data["force_include"].update({str(path): path.relative_to(root).as_posix() for path in built})


def compile_kernels(root: Path, note: Callable[[str], None]) -> Iterable[Path]:
    """Compile every kernel under ``root`` in place; yields the extensions, tells ``note`` of those that failed."""
    for source in sorted(root.glob("engine/*/_kernel.c")):
        for stale in source.parent.glob("_kernel.*"):
            if stale.suffix in {".so", ".pyd"}:
                stale.unlink()  # it would answer for a source that it was not made from
        try:
            yield _compile(root, source)
        except (BaseError, CCompilerError, OSError) as problem:
            note(f"{source.parent.name} has no compiled kernel, expert plays as hard there: {problem}")


def _compile(root: Path, source: Path) -> Path:
    name = ".".join(source.relative_to(root).with_suffix("").parts)
    extension = Extension(name, [str(source)], define_macros=[("Py_LIMITED_API", _LIMITED_API)], py_limited_api=True)
    command = build_ext(Distribution({"name": "fudaza", "ext_modules": [extension]}))
    command.build_lib = str(root)
    with TemporaryDirectory() as scratch:
        command.build_temp = scratch
        command.ensure_finalized()
        command.run()
    return root / command.get_ext_filename(name)


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for built_path in compile_kernels(where.resolve(), lambda text: print(text, file=sys.stderr)):
        print(built_path)
