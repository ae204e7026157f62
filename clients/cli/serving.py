"""``fudaza serve`` and ``fudaza admin``: become the server's own programs, whose flags and help these are."""

from __future__ import annotations

import os
import sys

import click

from wording.languages import environment_for_children


@click.command("serve", context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def serve(arguments: tuple[str, ...]) -> None:
    """Run a server."""
    _become("server", arguments)


@click.command("admin", context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def admin(arguments: tuple[str, ...]) -> None:
    """Look after a running server."""
    _become("server.admin", arguments)


def _become(module: str, arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-P", "-m", module, *arguments]
    os.execve(sys.executable, command, environment_for_children())  # noqa: S606 - our own program, in our place; no shell is wanted
