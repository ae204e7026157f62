"""Attacks on a real server: it stays up, other rooms go on, memory comes back. How much slower others became is
printed beside a quiet run (``-s``), not judged: the machine has other things to do.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import statistics
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
import pytest_asyncio

from engine.registry import GAMES
from tests.e2e.serverprocess import ServerProcess
from tests.security.attacks import ATTACKS, Attack
from tests.security.guests import Guest, Line
from tests.stores import free_port

FLAGS: Final = (
    *("--ai-pause-ms", "0", "--timing", "pause_ms=0,redeal_ms=0,question_ms=20,contributions_ms=500"),
    *("--handshake-seconds", "1.5", "--ping-seconds", "1.5", "--write-buffer", "65536"),
    *("--commands-per-second", "100", "--command-burst", "200", "--log-format", "json"),
)
QUIET_SECONDS: Final = 0.5
RISE_MB: Final = 10
"""How much the server's memory may rise, at most, while it is attacked: 1 or 2 are usual, without bounds it would be
hundreds."""
LEFT_MB: Final = 5
"""How much of that may stay: an allocator does not give everything back."""
LEFT_IN_ALL_MB: Final = 12
"""How much may stay of all attacks together, 5 are usual: a little that stays of each would be found here."""

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Bystander(Guest):
    """Somebody at another table, who plays on and on against AI and measures how long each answer takes."""

    def __init__(self, port: int) -> None:
        super().__init__("Ann", GAMES["koi-koi"], [port], Random(1))
        self.answers: list[float] = []
        """Milliseconds from a move to its answer."""
        self._playing: asyncio.Task[None] | None = None

    async def sit_down(self) -> None:
        await self.connect()
        created = await self.ask("create", game="koi-koi", name="Ann", options={"deals": 12})
        assert created["t"] == "accepted", created
        await self.ask("start", level="easy")

    async def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        began = time.perf_counter()
        answer = await super().ask(command, **fields)
        self.answers.append((time.perf_counter() - began) * 1000)
        return answer

    def _react(self, line: Line, message: dict[str, Any]) -> None:
        super()._react(line, message)
        if any(event["e"] == "match-ended" for event in message.get("events", ())):
            self._do(self._again)

    async def _act(self, turn: dict[str, Any]) -> None:
        await asyncio.sleep(0.015)  # a player who keeps below the measure of commands
        await super()._act(turn)

    async def _again(self) -> None:
        assert (await self.ask("rematch"))["t"] == "accepted"
        assert (await self.ask("start", level="easy"))["t"] == "accepted"

    async def measured(self, seconds: float) -> list[float]:
        """The next answers, of so long a time."""
        before = len(self.answers)
        await asyncio.sleep(seconds)  # a stretch of time is what is measured
        return self.answers[before:]


class Target:
    """The attacked server and what can be seen of it from outside."""

    def __init__(self, server: ServerProcess, metrics_port: int, bystander: Bystander) -> None:
        self.server = server
        self.bystander = bystander
        self.at_first_mb: float | None = None
        """Its memory before the first attack."""
        self._metrics_port = metrics_port
        self._pid = server.lines("serving")[0]["pid"]

    def memory_mb(self) -> float:
        status = Path(f"/proc/{self._pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    async def counted(self, name: str) -> float:
        def fetch() -> str:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._metrics_port}/metrics", timeout=20) as page:
                return str(page.read().decode())

        page = await asyncio.to_thread(fetch)
        return float(next(line for line in page.splitlines() if line.startswith(f"{name} ")).split()[1])

    async def settled(self) -> None:
        """Wait until only the bystander is connected."""
        for _ in range(600):
            if await self.counted("fudaza_connections") <= 1:
                return
            await asyncio.sleep(0.05)  # another process tells nothing by itself
        raise AssertionError("attackers are still connected")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def target(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Target]:
    metrics_port = free_port()
    server = ServerProcess(tmp_path_factory.mktemp("attacked"), *FLAGS, "--metrics-port", str(metrics_port))
    await server.start()
    bystander = Bystander(server.port)
    try:
        await bystander.sit_down()
        yield Target(server, metrics_port, bystander)
        await bystander.leave()
    finally:
        await server.close()


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
async def test_an_attack_disturbs_nobody_else_and_leaves_nothing_behind(target: Target, attack: Attack) -> None:
    count, expected = ATTACKS[attack]
    quiet = await target.bystander.measured(QUIET_SECONDS)
    before = peak = target.memory_mb()
    if target.at_first_mb is None:
        target.at_first_mb = before
    seed = secrets.randbits(32)
    played = len(target.bystander.answers)
    attackers = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.security.attacks", attack.__name__, str(target.server.port), str(seed)),
        stdout=asyncio.subprocess.PIPE,
    )
    attacking = asyncio.create_task(attackers.communicate())
    while not attacking.done():
        peak = max(peak, target.memory_mb())
        await asyncio.wait([attacking], timeout=0.05)
    codes = set(json.loads((await attacking)[0]))
    during = target.bystander.answers[played:] or await target.bystander.measured(QUIET_SECONDS)
    await target.settled()
    after = target.memory_mb()

    report(attack.__name__, count, seed, {"quiet": quiet, "attacked": during}, [before, peak, after])
    assert codes <= expected
    assert await target.bystander.measured(QUIET_SECONDS), "the other table goes on"
    assert await target.counted("fudaza_internal_errors_total") == 0
    assert peak - before < RISE_MB
    assert after - before < LEFT_MB
    assert after - target.at_first_mb < LEFT_IN_ALL_MB


def report(attack: str, count: int, seed: int, answers: dict[str, list[float]], memory_mb: list[float]) -> None:
    """Print what was measured, and the seed with which the same bytes are sent again."""
    told: dict[str, Any] = {"attack": attack, "attackers": count, "seed": seed}
    for when, values in answers.items():
        cuts = statistics.quantiles(values, n=100) if len(values) > 1 else [0.0] * 99
        told[when] = {"answers": len(values), "p50_ms": round(cuts[49], 2), "p99_ms": round(cuts[98], 2)}
    told["memory_mb"] = dict(zip(("before", "peak", "after"), map(round, memory_mb), strict=True))
    sys.stdout.write(json.dumps(told) + "\n")


async def test_the_log_of_an_attacked_server_stays_short_and_tells_of_no_fault(target: Target) -> None:
    """A client's bad behaviour is no error of ours, and must not fill a disk."""
    lines = [json.loads(line) for line in target.server.errors().splitlines() if line.startswith("{")]

    assert [line for line in lines if line["level"] in {"error", "critical"}] == []
    assert not any("exception" in line for line in lines)
    others = Counter(line["event"] for line in lines if line["event"] != "command")
    assert others.total() < 200, others
