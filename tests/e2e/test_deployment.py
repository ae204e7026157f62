"""compose.yaml, Dockerfile and HAProxy's file: their form, and every command, port and variable against the code.

There is no container engine to rely on here, so the form is checked; HAProxy's file is used where HAProxy is installed.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from server.settings import Settings, load, unknown_in
from tests.e2e.client import Player
from tests.e2e.serverprocess import QUICK, ServerProcess
from tests.stores import VALKEY, StoreServer, free_port

ROOT: Final = Path(__file__).resolve().parents[2]
HAPROXY: Final = shutil.which("haproxy")
SERVICE_KEYS: Final = {
    *("image", "build", "command", "environment", "volumes", "ports", "depends_on", "healthcheck"),
    *("networks", "restart", "stop_grace_period"),
}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return parsed


@pytest.fixture(scope="module")
def dockerfile() -> list[tuple[str, str]]:
    """Instructions and their arguments."""
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines) if word and word != "#"]


def environment_in(dockerfile: list[tuple[str, str]]) -> dict[str, str]:
    return dict(pair.split("=", 1) for word, rest in dockerfile if word == "ENV" for pair in rest.split())


def test_compose_has_the_form_of_a_compose_file(compose: dict[str, Any]) -> None:
    assert compose.keys() <= {"name", "services", "networks", "volumes", "x-node"}
    for name, service in compose["services"].items():
        assert service.keys() <= SERVICE_KEYS, name
        assert ("image" in service) != ("build" in service), name
        for needed in service.get("depends_on", ()):
            assert needed in compose["services"], needed
        for network in service["networks"]:
            assert network in compose["networks"], network
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert (ROOT / source).exists() if source.startswith(".") else source in compose["volumes"], volume


def test_compose_starts_two_nodes_that_the_code_accepts(
    compose: dict[str, Any], dockerfile: list[tuple[str, str]]
) -> None:
    nodes = {name: each for name, each in compose["services"].items() if "build" in each}
    assert len(nodes) == 2
    for node in nodes.values():
        given = {name: re.sub(r"\$\{\w+:-(.*)\}", r"\1", value) for name, value in node["environment"].items()}
        environment = environment_in(dockerfile) | given
        settings = load([], environment)
        assert unknown_in(environment) == ()
        assert settings.redis is not None
        assert settings.redis.startswith("redis://store:")
        assert settings.host == "0.0.0.0"  # noqa: S104 - inside the container
        balancer = compose["services"]["balancer"]["networks"]["inside"]["ipv4_address"]
        assert settings.proxies == (balancer,)


def test_the_image_runs_the_server_on_the_port_that_everything_else_names(
    compose: dict[str, Any], dockerfile: list[tuple[str, str]]
) -> None:
    port = str(Settings().port)
    balancer = compose["services"]["balancer"]
    said = dict(dockerfile)
    assert said["ENTRYPOINT"] == '["python", "-m", "server"]'
    assert said["EXPOSE"] == port
    assert environment_in(dockerfile)["FUDAZA_PORT"] == port
    assert balancer["environment"]["FUDAZA_LISTEN"] == f"*:{port}"
    assert balancer["ports"] == [f"{port}:{port}"]
    nodes = {name for name, each in compose["services"].items() if "build" in each}
    assert {balancer["environment"][f"FUDAZA_NODE_{n}"] for n in (1, 2)} == {f"{node}:{port}" for node in nodes}
    for node in nodes:
        assert f":{port}/healthz" in compose["services"][node]["healthcheck"]["test"][-1]


def test_the_image_copies_what_the_build_needs(dockerfile: list[tuple[str, str]]) -> None:
    copied = {source for word, rest in dockerfile if word == "COPY" for source in rest.split()[:-1]}
    for source in copied - {"--from=build", "/wheels"}:
        assert (ROOT / source).exists(), source
    project = (ROOT / "pyproject.toml").read_text()
    packages = re.search(r"^packages = \[(.*)\]$", project, re.MULTILINE)
    assert packages is not None
    assert set(re.findall(r'"(\w+)"', packages[1])) <= copied
    assert {"pyproject.toml", "README.md", "LICENSE", "hatch_build.py", "requirements.lock"} <= copied


def test_the_store_of_the_compose_file_keeps_what_it_accepts(compose: dict[str, Any]) -> None:
    program, *options = compose["services"]["store"]["command"]
    assert program == "valkey-server"
    store = StoreServer(VALKEY, *options)
    try:
        store.start()
        assert b"yes" in store.ask("CONFIG", "GET", "appendonly")
        assert b"noeviction" in store.ask("CONFIG", "GET", "maxmemory-policy")
    finally:
        store.close()


def test_the_lock_names_every_dependency_with_hashes_and_no_address() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    project = (ROOT / "pyproject.toml").read_text()
    dependencies = re.search(r"^dependencies = \[\n(.*?)^\]", project, re.MULTILINE | re.DOTALL)
    assert dependencies is not None
    wanted = {name.lower() for name in re.findall(r'^\s+"([A-Za-z0-9-]+)', dependencies[1], re.MULTILINE)}
    locked = {name.lower() for name in re.findall(r"^([A-Za-z0-9._-]+)==", lock, re.MULTILINE)}
    assert wanted <= locked
    assert "://" not in lock
    for entry in re.split(r"^(?=[A-Za-z0-9._-]+==)", lock, flags=re.MULTILINE):
        assert not entry.strip() or "--hash=sha256:" in entry or entry.startswith("#"), entry


# HAProxy --------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def balancer(first: int, second: int, log: Path) -> AsyncIterator[int]:
    """HAProxy with the file of the examples in front of two nodes; its port, where clients may have to try again."""
    assert HAPROXY is not None
    port = free_port()
    addresses = {"LISTEN": port, "NODE_1": first, "NODE_2": second}
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *(HAPROXY, "-db", "-f", str(ROOT / "examples" / "haproxy.cfg")),
            env=os.environ | {f"FUDAZA_{name}": f"127.0.0.1:{number}" for name, number in addresses.items()},
            stdin=DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        yield port
        assert process.returncode is None, "HAProxy ended; its words are in the log"
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@pytest.mark.skipif(HAPROXY is None, reason="HAProxy is not installed")
async def test_clients_behind_haproxy_play_on_when_a_node_drains(tmp_path: Path, valkey: StoreServer) -> None:
    nodes = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        nodes.append(ServerProcess(tmp_path / name, *QUICK, "--redis", valkey.tcp_url, "--proxies", "127.0.0.1"))
        await nodes[-1].start()
    try:
        async with balancer(nodes[0].port, nodes[1].port, tmp_path / "haproxy") as port:
            ann, bob = Player(lambda: port, "Ann", seed=1), Player(lambda: port, "Bob", seed=2)
            await bob.join(await ann.sit("hachinin-meri", deals=4), seat=1)
            await ann.start()
            playing = asyncio.gather(ann.play(), bob.play())
            await ann.until(lambda: ann.number > 40)
            nodes[0].signal(signal.SIGTERM)
            assert await nodes[0].ended() == 0
            await playing
    finally:
        for node in nodes:
            await node.close()

    assert ann.result is not None
    assert ann.result == bob.result
    assert ann.resumed + bob.resumed >= 1, "leastconn put one of the two on the node that drained"
    for player in (ann, bob):
        assert sorted(player.events) == list(range(player.first, player.number + 1))
