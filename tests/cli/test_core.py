from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from clients.cli.connection import CannotConnect, Trouble
from clients.cli.core import Core, GaveUp, News, Offline, Online
from clients.cli.session import Asked, Delayed, Done, End, Ended, NotDone, Session
from engine.registry import GAMES
from protocol.codec import encode
from protocol.codes import Close, Refused
from protocol.events import ContributionsFixed, RoomEvent, SeatContribution, SeedRevealed
from protocol.limits import MAX_COMMAND_BYTES
from protocol.messages import Act, Create, RefusedMessage, Start
from tests.cli.hall import Hall, HallWire, Lose, Network


def make(network: Network, *, patience: float = 100.0) -> Core:
    session = Session("c" * 20, bytes)
    session.ask(Create, game="koi-koi", name="Aki")
    session.ask(Start)
    return Core("ws://hall", session, dial=network.dial, sleep=network.sleep, chance=lambda: 1.0, patience=patience)


async def until(news: AsyncIterator[News], wanted: Callable[[News], bool]) -> list[News]:
    """Everything up to and including the first piece of news that is wanted."""
    heard = []
    async for item in news:
        heard.append(item)
        if wanted(item):
            return heard
    raise AssertionError(f"it never came; heard {heard}")


def asked(item: News) -> bool:
    return isinstance(item, Asked)


@pytest.fixture
def network() -> Network:
    return Network(Hall(GAMES["koi-koi"], seed=5))


@pytest.mark.parametrize("lose", Lose)
async def test_a_move_survives_the_loss_of_itself_and_of_its_answer(network: Network, lose: Lose) -> None:
    async with make(network) as core:
        news = core.news()
        await until(news, asked)
        turn = core.session.turn
        assert turn is not None
        network.hall.lose_next = lose
        move = core.act(turn.legal[0])
        heard = await until(news, lambda item: isinstance(item, Done) and item.command == move)
        assert [type(item) for item in heard if isinstance(item, Online | Offline)] == [Offline, Online]
        performed = [command for command in network.hall.commands if isinstance(command, Act)]
        assert {command.id for command in performed} == {move.id}
        assert network.hall.match is not None
        assert core.session.picture is not None
        assert core.session.picture.view == network.hall.game.view(network.hall.match.state, network.hall.you)


async def test_attempts_to_come_back_wait_longer_and_longer_up_to_a_bound(network: Network) -> None:
    async with make(network) as core:
        news = core.news()
        await until(news, asked)
        network.down = 8
        network.wires[-1].drop()
        await until(news, asked)
        assert network.slept == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0]


async def test_half_of_a_delay_is_chance(network: Network) -> None:
    core = make(network)
    core._chance = lambda: 0.0
    async with core:
        news = core.news()
        await until(news, asked)
        network.wires[-1].drop()
        await until(news, asked)
        assert network.slept == [0.125]


async def test_a_connection_that_leads_nowhere_does_not_start_the_delays_anew(network: Network) -> None:
    async with make(network) as core:
        news = core.news()
        await until(news, asked)

        async def useless(url: str) -> HallWire:
            wire = HallWire(network.hall)
            wire.drop()
            network.wires.append(wire)
            return wire

        core._dial = useless
        network.wires[-1].drop()
        heard = await until(news, lambda item: isinstance(item, Offline) and item.retry_in > 1)
        assert [item.retry_in for item in heard if isinstance(item, Offline)] == [0.25, 0.5, 1.0, 2.0]


async def test_a_server_that_never_answered_is_given_up_at_once(network: Network) -> None:
    network.down = 1
    async with make(network) as core:
        assert [item async for item in core.news()] == [GaveUp(Trouble.NOBODY_THERE, "")]


async def test_a_lost_server_is_given_up_when_patience_ends(network: Network) -> None:
    async with make(network, patience=1.0) as core:
        news = core.news()
        await until(news, asked)
        network.down = 100
        network.wires[-1].drop()
        heard = [item async for item in news]
        assert heard[-1] == GaveUp(Trouble.NOBODY_THERE, "")
        assert sum(network.slept) >= 1.0


async def test_what_lasts_is_not_tried_again(network: Network) -> None:
    async with make(network) as core:
        news = core.news()
        await until(news, asked)

        async def distrusted(url: str) -> HallWire:
            raise CannotConnect(Trouble.NO_TRUST, "expired")

        core._dial = distrusted
        network.wires[-1].drop()
        assert [item async for item in news][-1] == GaveUp(Trouble.NO_TRUST, "expired")


async def test_superseded_ends_without_another_attempt(network: Network) -> None:
    async with make(network) as core:
        news = core.news()
        await until(news, asked)
        network.wires[-1].drop(Close.SUPERSEDED)
        assert [item async for item in news] == [Ended(End.SUPERSEDED)]
        assert len(network.wires) == 1


async def test_a_command_that_no_server_takes_is_refused_here_and_costs_no_connection(network: Network) -> None:
    async with make(network) as core:
        news = core.news()
        await until(news, asked)
        move = core.act("x" * MAX_COMMAND_BYTES)
        *_before, refused = await until(news, lambda item: isinstance(item, NotDone | Offline))
        assert refused == NotDone(move, Refused.TOO_LARGE, {"limit": MAX_COMMAND_BYTES})
        assert core.session.turn is not None
        legal = core.act(core.session.turn.legal[0])
        await until(news, lambda item: isinstance(item, Done) and item.command == legal)
        assert [command for command in network.hall.commands if isinstance(command, Act)] == [legal]


async def test_a_delayed_command_is_sent_again_after_the_time_the_server_named(network: Network) -> None:
    async with make(network) as core:
        news = core.news()
        await until(news, asked)
        turn = core.session.turn
        assert turn is not None
        network.hall.refuse_next = RefusedMessage(id=None, code=Refused.TOO_FAST, params={"retry_ms": 1500})
        move = core.act(turn.legal[0])
        heard = await until(news, lambda item: isinstance(item, Done) and item.command == move)
        assert Delayed(move, Refused.TOO_FAST, 1500) in heard
        assert network.slept == [1.5]


async def test_a_frame_that_is_no_message_ends_the_talk_with_a_reason(network: Network) -> None:
    async with make(network) as core:
        news = core.news()
        await until(news, asked)
        network.wires[-1]._frames.put_nowait(b'{"t":"turn","at":"soon"}')
        last = [item async for item in news][-1]
        assert isinstance(last, GaveUp)
        assert last.trouble is Trouble.NOT_UNDERSTOOD


@pytest.mark.parametrize(
    "event",
    [
        SeedRevealed(deal=1, seed="no seed"),
        SeedRevealed(deal=1, seed="0g" * 32),
        SeedRevealed(deal=1, seed=" " * 64),
        ContributionsFixed(contributions=(SeatContribution(seat=0, value="00"),)),
        ContributionsFixed(contributions=(SeatContribution(seat=-1, value="00" * 32),)),
    ],
)
async def test_what_is_no_seed_or_contribution_ends_the_talk_with_a_reason(network: Network, event: RoomEvent) -> None:
    async with make(network) as core:
        news = core.news()
        await until(news, asked)
        network.wires[-1].say(network.hall.happen(event))
        last = [item async for item in news][-1]
        assert isinstance(last, GaveUp)
        assert last.trouble is Trouble.NOT_UNDERSTOOD


async def test_a_message_of_a_later_server_does_not_disturb(network: Network) -> None:
    async with make(network) as core:
        news = core.news()
        await until(news, asked)
        network.wires[-1]._frames.put_nowait(b'{"t":"weather","sun":true}')
        turn = core.session.turn
        assert turn is not None
        move = core.act(turn.legal[0])
        await until(news, lambda item: isinstance(item, Done) and item.command == move)
        assert len(network.wires) == 1


async def test_a_fault_in_the_client_is_raised_where_the_news_are_read(network: Network) -> None:
    async with make(network) as core:
        news = core.news()
        await until(news, asked)
        core.session.feed = lambda message: 1 / 0  # type: ignore[method-assign,assignment,return-value]
        network.wires[-1]._frames.put_nowait(encode(network.hall.hello()[0]))
        with pytest.raises(ZeroDivisionError):
            await until(news, lambda _item: False)


async def test_leaving_the_block_leaves_no_task_behind(network: Network) -> None:
    before = asyncio.all_tasks()
    async with make(network) as core:
        await until(core.news(), asked)
    assert asyncio.all_tasks() == before
    assert not network.wires[-1].open
