"""Logs carry no tokens, hands or seeds: they are planted wherever somebody could log them by mistake."""

from __future__ import annotations

import io
import json
import logging
import sys
import textwrap
from base64 import b64encode
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final, assert_never

import msgspec
import pytest
import structlog

from engine.game import Seat
from engine.registry import GAMES
from server.entries import encode_entry
from server.log import StoreUnavailable
from server.logs import scrubbed
from server.metrics import Metrics
from server.room.tokens import new_token
from server.thinkers import Thinkers
from server.worker import Question
from tests.security.matches import log_kept
from tests.server.roomkit import Client, Dice, Hall

SEED: Final = Dice("seed")(32)
TOKEN: Final = new_token(Dice("token"))[0]
HAND: Final = tuple(GAMES["hachinin-meri"].cards[3:12])

SECRETS: Final[dict[str, Any]] = {
    "token": TOKEN,
    "command id": Client("Ann").id(),
    "seed in hex": SEED.hex(),
    "seed in base64": b64encode(SEED).decode(),
    "seed as bytes": SEED,
    "card": "Kro",
    "hand": HAND,
    "set of cards": frozenset({"03r", "12q"}),
    "move": "03r*03p",
    "password": "redis://:Tr0ub4dor@db:6379",
}


def told(secret: Any) -> list[str]:
    """What of ``secret`` must not be read anywhere."""
    if isinstance(secret, bytes):
        return [repr(secret)[2:-1], secret.hex(), b64encode(secret).decode()]
    texts = secret if isinstance(secret, tuple | frozenset) else [secret]
    return [text.partition("//:")[2].partition("@")[0] or text for text in texts]


def in_a_value(secret: Any) -> None:
    structlog.get_logger().info("happened", note=secret)


def deep_inside(secret: Any) -> None:
    structlog.get_logger().info("happened", note={"of": [{"what": (1, secret)}]})


def in_the_words(secret: Any) -> None:
    structlog.get_logger().warning(f"refused {secret}")


def bound(secret: Any) -> None:
    structlog.get_logger().bind(of=secret).error("failed")


def in_an_exception(secret: Any) -> None:
    try:
        try:
            raise StoreUnavailable(f"said {secret}")  # noqa: TRY301 - an exception in another is meant
        except StoreUnavailable as problem:
            raise ValueError(secret) from problem
    except ValueError:
        structlog.get_logger().exception("failed")


def by_a_library(secret: Any) -> None:
    logging.getLogger("redis").error("cannot parse %r", secret)


def as_an_exception_object(secret: Any) -> None:
    structlog.get_logger().error("failed", problem=ValueError(secret))


@pytest.fixture(params=[False, True], ids=["json", "pretty"])
def log(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    with log_kept(pretty=request.param) as stream:
        yield stream


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize(
    "plant",
    [in_a_value, deep_inside, in_the_words, bound, in_an_exception, by_a_library, as_an_exception_object],
)
def test_a_secret_that_is_logged_by_mistake_is_not_written(
    name: str, plant: Callable[[Any], None], log: io.StringIO
) -> None:
    plant(SECRETS[name])

    written = log.getvalue()
    assert written, "the line itself is kept"
    assert not [part for part in told(SECRETS[name]) if part in written], written


def test_a_state_an_event_and_an_entry_are_not_written_whatever_fails_on_them(log: io.StringIO) -> None:
    """``assert_never`` and failed decodings put what they met into their message."""
    game = GAMES["hachinin-meri"]
    hall = Hall(game, options={"deals": 1})
    hall.start("easy")
    hall.deal_now()
    assert hall.room.table is not None
    for met in (hall.room.table.match.state, hall.events[-2], hall.entries[-1], encode_entry(hall.entries[-1])):
        try:
            assert_never(met)  # type: ignore[arg-type]  # it is met, though it never should be
        except AssertionError:
            structlog.get_logger().exception("failed")

    written = log.getvalue()
    assert written.count("AssertionError") >= 4
    assert not [card for card in game.cards if f"'{card}'" in written or f'"{card}"' in written]
    assert not any(seed.hex() in written or repr(seed)[2:-1] in written for seed in hall.room.table.seeds)


TALKATIVE: Final = """
    import sys
    from server import worker
    def answer(question):
        {what}
        return worker.Answer(question.number, question.legal[0])
    worker.answer = answer
    worker.main()
"""


async def said_by_the_ai(what: str, log: io.StringIO) -> list[dict[str, Any]]:
    """A process of the AI does ``what`` before it answers; the lines that this makes in the log."""
    question = Question(0, "koi-koi", b"{}", ("03r",), "easy", b"seed")
    thinkers = Thinkers(
        processes=1,
        deadline_seconds=20,
        tasks_per_process=100,
        metrics=Metrics(),
        command=(sys.executable, "-c", textwrap.dedent(TALKATIVE).format(what=what)),
    )
    thinkers.start()
    try:
        assert (await thinkers.think(question)).action == "03r"
        assert (await thinkers.think(question)).action == "03r"
    finally:
        await thinkers.stop()  # whose end waits for what the process said last
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    return [line for line in lines if line["event"].startswith("ai-process-said")]


@pytest.mark.parametrize("log", [False], indirect=True, ids=["json"])
@pytest.mark.parametrize("where", ["print(told)", "sys.stderr.write(told + '\\n')"])
async def test_a_secret_that_an_ai_process_says_is_not_written(
    where: str, log: io.StringIO, capfd: pytest.CaptureFixture[str]
) -> None:
    secrets = " ".join(map(str, SECRETS.values()))

    said = await said_by_the_ai(where.replace("told", repr(f"thinking of {secrets}")), log)

    assert [line["text"].split()[:2] for line in said] == [["thinking", "of"]] * 2
    assert [line["level"] for line in said] == ["warning"] * 2
    parts = [part for secret in SECRETS.values() for part in told(secret)]
    assert not [part for part in parts if part in log.getvalue()], log.getvalue()
    assert capfd.readouterr().err == "", "nothing goes past the log"


@pytest.mark.parametrize("log", [False], indirect=True, ids=["json"])
async def test_an_ai_process_that_says_too_much_is_read_to_the_end_and_fills_no_log(log: io.StringIO) -> None:
    """More than a pipe holds, in lines and without any."""
    what = f"print('x' * 300_000 + {TOKEN!r}); print('again\\n' * 50_000); print({TOKEN[:40]!r}, end='', flush=True)"

    said = await said_by_the_ai(what, log)

    assert len(said) == 51
    assert said[0]["text"] == "more than 2000 bytes"
    assert said[1]["text"] == "again"
    assert said[-1]["event"] == "ai-process-said-more"
    assert said[-1]["lines"] > 99_000
    assert TOKEN[:20] not in log.getvalue()


def test_what_an_operator_needs_is_left_as_it_is() -> None:
    hall = Hall()
    for text in (
        hall.room.id,
        "x" * 200,
        "command",
        "accepted",
        "203.0.113.7",
        "the store at unix:///run/fudaza/store.sock cannot be used: no answer for 3.0 s",
        "server/gateway.py:117",
        "hachinin-meri",
        "node 4f2a9c81d0e3b7a6",
        "2026-11-30T13:08:03.123456Z",
    ):
        assert scrubbed(text) == text


def test_scrubbing_finds_every_card_of_every_game() -> None:
    rng = Random(1)
    for game in GAMES.values():
        hand = rng.sample(game.cards, 9)
        assert not set(hand) & set(scrubbed(" ".join(hand)).split())
        dealt = msgspec.json.encode({"hands": [hand], "seat": Seat(0)}).decode()
        assert not any(f'"{card}"' in scrubbed(dealt) for card in hand)
