"""Peers are not ours: they are installed by name, in a folder of their own outside the repository, or done without."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

_INSTALL_SECONDS: Final = 300
_PROGRAMS: Final = Path(__file__).parent / "programs"

NODE: Final[dict[str, dict[str, str]]] = {
    "boardgame_io": {"boardgame.io": "0.50.2"},
    "colyseus": {
        "@colyseus/core": "0.18.17",
        "@colyseus/ws-transport": "0.18.4",
        "@colyseus/schema": "5.0.34",
        "@colyseus/sdk": "0.18.4",
    },
    "socketio": {"socket.io-client": "4.8.4"},
}
"""What each folder of Node packages has. ``socketio`` is the load of python-socketio."""
OVERRIDES: Final = {"koa-compose": "4.1.0"}
"""boardgame.io's lobby does not start with a later one."""
PYTHON: Final = ("python-socketio==5.18.1", "uvicorn[standard]==0.54.0", "redis[hiredis]==8.1.0")


class CannotHave(Exception):
    """A peer cannot be installed here; the message says why, in a few words."""


def needed(tool: str) -> str:
    """The path of a program.

    Raises:
        CannotHave: there is none.
    """
    found = shutil.which(tool)
    if found is None:
        raise CannotHave(f"{tool} is not installed")
    return found


def node_kit(scratch: Path, name: str) -> Path:
    """The folder of a peer's Node packages and of our programs for it.

    Raises:
        CannotHave: Node.js or npm is missing, or the packages cannot be had.
    """
    npm, _ = needed("npm"), needed("node")
    folder = scratch / name
    folder.mkdir(parents=True, exist_ok=True)
    manifest = json.dumps({"private": True, "dependencies": NODE[name], "overrides": OVERRIDES})
    wanted, done = folder / "package.json", folder / "installed"
    if not done.exists() or done.read_text("utf-8") != manifest:
        wanted.write_text(manifest, "utf-8")
        _install([npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"], folder)
        done.write_text(manifest, "utf-8")
    for program in _PROGRAMS.iterdir():
        if program.suffix == ".mjs":
            shutil.copy(program, folder)  # Node.js looks for packages beside the program
    return folder


def python_kit(scratch: Path) -> Path:
    """The Python that has python-socketio.

    Raises:
        CannotHave: it cannot be installed.
    """
    folder = scratch / "python"
    python, done = folder / "bin" / "python", folder / "installed"
    if not done.exists() or done.read_text("utf-8") != "\n".join(PYTHON):
        _install([sys.executable, "-m", "venv", str(folder)], scratch)
        _install([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PYTHON], scratch)
        done.write_text("\n".join(PYTHON), "utf-8")
    return python


def program(name: str) -> str:
    """The path of one of our programs that needs no packages beside it."""
    return str(_PROGRAMS / name)


def _install(command: list[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=_INSTALL_SECONDS)
    except subprocess.CalledProcessError as failed:
        said = [line for line in (failed.stderr or failed.stdout).splitlines() if line.strip()]
        raise CannotHave(f"{Path(command[0]).name} failed: {said[-1].strip() if said else failed.returncode}") from None
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise CannotHave(f"{Path(command[0]).name} failed: {problem}") from None
