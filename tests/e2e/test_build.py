"""Building and installing with and without a C compiler: the search kernels are there, or they are not missed."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
NO_COMPILER: Final = {"CC": "/bin/false"}
KERNEL: Final = """
#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *ignored) { return PyLong_FromLong(42); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernel", NULL, -1, methods};
PyMODINIT_FUNC PyInit__kernel(void) { return PyModule_Create(&module); }
"""


def compiles() -> bool:
    """Whether there is a C compiler, as the build would choose it, and Python's headers."""
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    command = [*shlex.split(compiler), "-fsyntax-only", "-xc", f"-I{sysconfig.get_path('include')}", "-"]
    try:
        return subprocess.run(command, input=b"#include <Python.h>", capture_output=True, check=False).returncode == 0
    except OSError:
        return False


needs_compiler = pytest.mark.skipif(not compiles(), reason="there is no C compiler that finds Python's headers")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """This project with two small packages in place of its own: one with a kernel, one without."""
    project = tmp_path / "project"
    for package in ("engine", "engine/toy", "engine/plain", "protocol", "server", "clients", "wording"):
        (project / package).mkdir(parents=True)
        (project / package / "__init__.py").touch()
    (project / "engine/toy/_kernel.c").write_text(KERNEL)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, project)
    return project


def run(project: Path, *arguments: str, environment: Mapping[str, str] = {}) -> subprocess.CompletedProcess[str]:
    ran = subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran


def build(project: Path, hook: str, environment: Mapping[str, str] = {}) -> tuple[str, list[str], str]:
    """Build a wheel as pip does; its name, its files, and what was said."""
    code = f"from hatchling.build import {hook}; print({hook}('dist'))"
    ran = run(project, "-c", code, environment=environment)
    name = ran.stdout.split()[-1]
    return name, zipfile.ZipFile(project / "dist" / name).namelist(), ran.stdout + ran.stderr


def kernels(project: Path) -> list[str]:
    return [path.relative_to(project).as_posix() for path in project.glob("engine/*/_kernel.*") if path.suffix != ".c"]


def answer(project: Path) -> str:
    return run(project, "-c", "from engine.toy._kernel import answer; print(answer())").stdout.strip()


@needs_compiler
def test_with_a_compiler_a_wheel_carries_the_kernel_for_every_python_of_this_platform(project: Path) -> None:
    name, files, _ = build(project, "build_wheel")
    (kernel,) = kernels(project)
    assert kernel in files
    assert name.startswith("fudaza-")
    assert "-cp311-abi3-" in name
    assert "any" not in name
    assert answer(project) == "42"


@needs_compiler
def test_with_a_compiler_an_editable_install_finds_the_kernel_beside_its_source(project: Path) -> None:
    name, files, _ = build(project, "build_editable")
    assert not [file for file in files if "_kernel" in file]
    assert len(kernels(project)) == 1
    assert answer(project) == "42"
    assert name.endswith("py3-none-any.whl")


@pytest.mark.parametrize("hook", ["build_wheel", "build_editable"])
def test_without_a_compiler_the_build_succeeds_and_says_what_is_missing(hook: str, project: Path) -> None:
    name, files, said = build(project, hook, NO_COMPILER)
    assert name.endswith("py3-none-any.whl")
    assert "toy has no compiled kernel, expert plays as hard there" in said
    assert kernels(project) == []
    assert not [file for file in files if file.endswith((".so", ".pyd"))]


@needs_compiler
def test_a_kernel_that_does_not_compile_leaves_no_older_one_behind_and_harms_no_other(project: Path) -> None:
    build(project, "build_editable")
    shutil.copytree(project / "engine/toy", project / "engine/other")
    (project / "engine/toy/_kernel.c").write_text("this is no C")
    _, _, said = build(project, "build_editable")
    assert "toy has no compiled kernel" in said
    assert [Path(path).parent.name for path in kernels(project)] == ["other"]


@needs_compiler
def test_kernels_can_be_compiled_by_hand(project: Path) -> None:
    ran = run(project, "hatch_build.py")
    assert ran.stdout.split() == [str(project / path) for path in kernels(project)]
    assert answer(project) == "42"


def test_a_source_distribution_has_all_that_a_build_needs(project: Path) -> None:
    ran = run(project, "-c", "from hatchling.build import build_sdist; print(build_sdist('dist'))")
    listed = run(project, "-m", "tarfile", "-l", f"dist/{ran.stdout.split()[-1]}").stdout.split()
    assert {"hatch_build.py", "_kernel.c"} <= {Path(file).name for file in listed}
