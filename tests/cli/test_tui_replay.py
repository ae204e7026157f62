"""The replay viewer and the film behind it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from click.testing import CliRunner

from clients.cli.deck import deck_of
from clients.cli.main import main
from clients.cli.records import why_unplayable
from clients.cli.tui.film import film_of, looking_at, sentences
from clients.cli.tui.panels import panel_of
from clients.cli.tui.replay import Reel, Viewer
from engine.game import Seat
from engine.record import write_record
from engine.registry import GAMES
from tests.cli.tuikit import SIZES, screen_text
from tests.played import played_match

pytestmark = pytest.mark.usefixtures("private_state")


def reels(name: str, deals: int = 2, seed: int = 3) -> list[Reel]:
    game = GAMES[name]
    options = {"deals": min(value for value in game.options["deals"] if int(value) >= deals)}
    return [(game, record) for record in played_match(game, options, random.Random(seed))]


@pytest.mark.parametrize("name", GAMES)
def test_a_film_ends_with_the_result_of_the_record(name: str) -> None:
    game, record = reels(name)[0]
    film = film_of(game, record)
    assert len(film.frames) == len(record.steps) + 1
    assert game.outcome(film.frames[-1].state) == record.result


@pytest.mark.parametrize("name", GAMES)
def test_from_a_seats_eyes_a_film_shows_what_that_seat_saw_and_no_more(name: str) -> None:
    game, record = reels(name)[0]
    film = film_of(game, record)
    panel = panel_of(name)
    for frame in film.frames:
        looking = looking_at(film, frame, panel, Seat(1), symbols=True)
        assert looking.view == game.view(frame.state, Seat(1))
        assert looking.hands is None


@pytest.mark.parametrize("name", GAMES)
def test_with_open_cards_every_hand_is_there(name: str) -> None:
    game, record = reels(name)[0]
    film = film_of(game, record)
    looking = looking_at(film, film.frames[0], panel_of(name), None, symbols=True)
    assert looking.hands == film.frames[0].state.hands


@pytest.mark.parametrize("name", GAMES)
def test_what_is_played_next_is_pointed_at(name: str) -> None:
    game, record = reels(name)[0]
    film = film_of(game, record)
    panel = panel_of(name)
    for frame in film.frames[:-1]:
        assert frame.upcoming is not None
        seat, action = frame.upcoming
        choice = looking_at(film, frame, panel, seat, symbols=True).choice
        assert choice is not None
        assert choice.pick is not None
        assert action in choice.pick.actions


def test_what_lies_face_down_is_told_to_nobody_else() -> None:
    game, record = reels("hachinin-meri")[0]
    film = film_of(game, record)
    told = [line for frame in film.frames for line in sentences(film, frame, Seat(0))]
    assert any("a trump, face down" in line for line in told)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", GAMES)
async def test_one_steps_forward_and_back_and_from_deal_to_deal(name: str, size: str) -> None:
    viewer = Viewer(reels(name), why_unplayable)
    async with viewer.run_test(size=SIZES[size]) as pilot:
        assert "step 0 of" in screen_text(viewer)
        assert "all cards open" in screen_text(viewer)
        assert ("Trump" if name == "hachinin-meri" else "On the table") in screen_text(viewer)
        first = screen_text(viewer)
        await pilot.press("right", "right", "left", "left")
        assert screen_text(viewer) == first
        await pilot.press("end")
        assert "The deal is over (" in screen_text(viewer)
        await pilot.press("right")
        assert "record 2 of" in screen_text(viewer)
        assert "step 0 of" in screen_text(viewer)
        await pilot.press("[")
        assert screen_text(viewer) == first
        await pilot.press("e")
        assert "the eyes of Ada" in screen_text(viewer)
        await pilot.press("q")
    assert viewer.return_value == 0


async def test_the_ai_says_what_it_would_have_done_and_why() -> None:
    viewer = Viewer(reels("koi-koi"), why_unplayable, eyes=Seat(0))
    async with viewer.run_test(size=SIZES["usual"]) as pilot:
        await pilot.press("h")
        await viewer.workers.wait_for_complete()
        await pilot.pause()
        assert "would: " in screen_text(viewer)
        await pilot.press("right")
        assert "would: " not in screen_text(viewer)


async def test_a_record_that_cannot_be_played_says_so_and_the_others_can_be_watched() -> None:
    good = reels("koi-koi")
    game, record = good[0]
    broken = (game, type(record)(**{**{f: getattr(record, f) for f in record.__struct_fields__}, "steps": ()}))
    viewer = Viewer([broken, good[1]], why_unplayable)
    async with viewer.run_test(size=SIZES["small"]) as pilot:
        assert "is missing" in screen_text(viewer)
        await pilot.press("right")
        assert "step 0 of" in screen_text(viewer)


def test_watching_without_a_terminal_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    game, record = reels("koi-koi")[0]
    file = tmp_path / "deals"
    file.write_bytes(write_record(game, record) + b"\n")
    result = CliRunner().invoke(main, ["replay", str(file), "--watch"])
    assert result.exit_code == 1
    assert "terminal" in result.output


@pytest.mark.parametrize("name", GAMES)
def test_the_deck_is_listed_whole_and_in_columns(name: str) -> None:
    head, *rows = deck_of(name)
    assert head.split()[1:] == ["English", "日本語", "한국어"]
    assert [row.split()[0] for row in rows] == list(GAMES[name].cards)
