"""``fudaza serve``: becomes ``python -m server``, whose flags and help these are."""

from __future__ import annotations

import os
import sys

import click


@click.command("serve", context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def serve(arguments: tuple[str, ...]) -> None:
    """Run a server."""
    command = [sys.executable, "-P", "-m", "server", *arguments]
    os.execv(sys.executable, command)  # noqa: S606 - our own program, in our place; no shell is wanted
