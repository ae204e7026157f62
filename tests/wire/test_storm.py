"""Many sockets at once: what the kernel keeps until we take them."""

from __future__ import annotations

import errno
import select
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from tests.wire.gatekit import gate

STORM: Final = 400
SOMAXCONN: Final = Path("/proc/sys/net/core/somaxconn")
"""Linux keeps no more than this for anybody."""


@pytest.mark.skipif(
    not SOMAXCONN.exists() or int(SOMAXCONN.read_text()) < STORM, reason="the kernel does not keep so many"
)
async def test_a_busy_node_lets_nobody_of_a_storm_be_dropped_before_the_door() -> None:
    async with gate() as opened:
        with ExitStack() as stack:
            coming = [stack.enter_context(socket.socket()) for _ in range(STORM)]
            # without an await: the node takes nobody meanwhile, and the kernel alone answers
            for each in coming:
                each.setblocking(False)
                assert each.connect_ex(("127.0.0.1", opened.port)) in (0, errno.EINPROGRESS)
            waiting = select.poll()
            for each in coming:
                waiting.register(each, select.POLLOUT)
            connected = {file for file, event in waiting.poll(500) if event & select.POLLOUT}
            assert connected == {each.fileno() for each in coming}
