"""Nothing hidden reaches anybody: everything that is sent, logged, counted and published is read and judged."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator

import pytest

from engine.registry import GAMES
from server.store.keys import Keys
from tests.security.matches import Place, Played, log_kept, play
from tests.security.nodes import nodes
from tests.stores import StoreServer, fresh_prefix

MATCHES = 20


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    with log_kept() as stream:
        yield stream


async def overheard(name: str, count: int, store: StoreServer, log: io.StringIO) -> list[Played]:
    """``count`` matches; stops at the first that leaks. New nodes now and then, so that finished rooms do not pile up
    in front of those that are played.
    """
    played: list[Played] = []
    while len(played) < count and not (played and played[-1].leaks):
        prefix = fresh_prefix()
        async with nodes(store.url, prefix) as opened:
            place = Place(opened, Keys(prefix), store.url, log)
            for _ in range(min(MATCHES, count - len(played))):
                played.append(await play(GAMES[name], place, len(played)))
                if played[-1].leaks:
                    break
    return played


@pytest.mark.parametrize("name", sorted(GAMES))
async def test_nobody_is_ever_sent_what_they_may_not_know(
    name: str, shared_valkey: StoreServer, log: io.StringIO
) -> None:
    played = await overheard(name, MATCHES, shared_valkey, log)

    assert [match.leaks for match in played if match.leaks] == []
    frames = [frame for match in played for frame in match.frames]
    kinds = Counter(frame.text.partition('"t":"')[2].partition('"')[0] for frame in frames)
    assert set(kinds) == {"welcome", "accepted", "refused", "events", "turn", "snapshot"}, "all kinds were read"
    assert {frame.viewer is None for frame in frames} == {True, False}
    assert all(match.wakeups for match in played)
    assert log.getvalue().count('"event":"command"') > len(played)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(GAMES))
async def test_nobody_is_ever_sent_what_they_may_not_know_in_a_thousand_matches(
    name: str, shared_valkey: StoreServer, log: io.StringIO
) -> None:
    played = await overheard(name, 1_000, shared_valkey, log)

    assert [match.leaks for match in played if match.leaks] == []
    assert len(played) == 1_000
