"""Records of deals that were played on a server of our own: asked of it while it runs, kept for ``fudaza replay``.

Belongs here: asking, and where they are kept. What a record is, ``engine.record`` and ``docs/records.md`` say.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Final

from clients.cli.places import state_dir
from clients.cli.words import _
from wording.languages import environment_for_children

if TYPE_CHECKING:
    from pathlib import Path

    from clients.cli.local import LocalServer

PATIENCE_SECONDS: Final = 20.0
"""A server that has not told its records by then will not."""


class CannotKeep(Exception):
    """The records cannot be had or kept; the message says why."""


async def keep_records(server: LocalServer, game: str) -> Path | None:
    """Keep the records of all deals that ``server``, which runs, has seen the end of; those of ``game`` it plays.

    Returns the file: one JSON object a line, written anew each time; None where no deal was finished.

    Raises:
        CannotKeep: the server is gone or does not answer, or they cannot be written.
    """
    command = (sys.executable, "-P", "-m", "server.admin", "--data", str(server.directory / "data"), "export")
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=environment_for_children()
    )
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            records, words = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise CannotKeep(_("the server does not answer")) from None
    if process.returncode != 0:
        raise CannotKeep(words.decode(errors="replace").strip().rpartition("\n")[2])
    if not records:
        return None
    directory = state_dir() / "records"
    file = directory / f"{game}-{server.directory.name}.jsonl"
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
        file.write_bytes(records)
    except OSError as problem:
        raise CannotKeep(str(problem)) from problem
    return file
