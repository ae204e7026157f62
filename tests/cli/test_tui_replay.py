"""The replay viewer and the film behind it."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from clients.cli import hints
from clients.cli.deck import deck_of
from clients.cli.main import main
from clients.cli.records import why_unplayable
from clients.cli.tui.canvas import Canvas
from clients.cli.tui.film import film_of, looking_at, sentences
from clients.cli.tui.hachinin_meri import open_hand, sorted_hand
from clients.cli.tui.panels import panel_of
from clients.cli.tui.replay import Reel, Viewer
from engine.game import Card, Seat
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


def prompt(viewer: Viewer) -> list[str]:
    """The drawn prompt: three rows."""
    rows = screen_text(viewer).splitlines()
    top = next(number for number, row in enumerate(rows) if row.startswith(("» ", "  Nothing is told yet.")))
    return [row.strip() for row in rows[top : top + 3]]


@pytest.mark.parametrize("name", GAMES)
async def test_from_a_seats_eyes_the_prompt_tells_what_that_seat_does_next_and_of_others_only_who(name: str) -> None:
    ((game, record),) = reels(name)[:1]
    eyes = Seat(1)
    viewer = Viewer([(game, record)], why_unplayable, eyes=eyes)
    async with viewer.run_test(size=SIZES["small"]) as pilot:
        who = viewer.film.people(None).name if viewer.film is not None else str
        for step in record.steps:
            told = f": {step.action}" if step.seat == eyes else ""
            assert prompt(viewer)[1] == f"next: {who(step.seat)}{told}"
            await pilot.press("right")


async def test_the_ai_is_not_asked_for_a_seat_whose_cards_these_eyes_do_not_see() -> None:
    """Its choice would name a card of that hand."""
    ((game, record),) = reels("hachinin-meri")[:1]
    viewer = Viewer([(game, record)], why_unplayable, eyes=Seat(1))
    play = next(number for number, step in enumerate(record.steps) if step.action[0].isupper() and step.seat != 1)
    async with viewer.run_test(size=SIZES["small"]) as pilot:
        viewer.action_to(play)
        await pilot.press("h")
        await viewer.workers.wait_for_complete()
        await pilot.pause()
        assert prompt(viewer)[2] == "Another seat decides: e chooses its eyes, or open cards."
        while viewer.eyes is not None:
            await pilot.press("e")
        await pilot.press("h")
        await viewer.workers.wait_for_complete()
        await pilot.pause()
        assert "would: " in prompt(viewer)[0], "with open cards it answers"
        await pilot.press("e")
        assert "would: " not in screen_text(viewer), "other eyes are not told what these were told"


@pytest.mark.parametrize("name", GAMES)
def test_the_chosen_move_comes_first_and_values_are_told_only_where_worlds_were_searched(name: str) -> None:
    game = GAMES[name]
    counted = kept = silent = 0
    for _game, record in reels(name):
        for place, frame in enumerate(film_of(game, record).frames[:-1]):
            assert frame.upcoming is not None
            view = game.view(frame.state, frame.upcoming[0])
            thought = hints.thought_of(game, view, seed=place)
            told = hints.values_in_words(game, thought)
            if not thought.searched:
                silent += 1
                assert told == ""
                continue
            counted += 1
            chosen, *others = (part.rsplit(" ", 1) for part in told.split(" · "))
            assert chosen[0] == game.text(thought.action)
            assert len({action for action, _ in [chosen, *others]}) == len(others) + 1 <= len(thought.values)
            assert [thought.values[action] for action, _ in others] == sorted(
                (thought.values[action] for action, _ in others), reverse=True
            )
            kept += any(float(value) > float(chosen[1]) for _, value in others)
    assert counted
    assert silent
    if name == "go-stop":
        assert kept, "somewhere the first guess is kept although another move has a higher value"


@pytest.mark.parametrize("name", GAMES)
async def test_at_the_end_it_is_said_whose_the_points_are(name: str) -> None:
    ((game, record),) = reels(name)[:1]
    viewer = Viewer([(game, record)], why_unplayable)
    async with viewer.run_test(size=SIZES["small"]) as pilot:
        await pilot.press("end")
        assert record.result is not None
        for side, score in enumerate(record.result.scores):
            who = ("even", "odd")[side] if name == "hachinin-meri" else film_of(game, record).people(None).name(side)
            assert f"{who}: {score}" in prompt(viewer)[1]


async def test_seats_that_nobody_is_known_of_are_named_once_and_begin_sentences_with_a_capital() -> None:
    ((game, record),) = reels("hachinin-meri")[:1]
    extras = {name: value for name, value in record.extras.items() if name != "players"}
    viewer = Viewer([(game, replace(record, extras=extras))], why_unplayable)
    async with viewer.run_test(size=SIZES["small"]):
        assert prompt(viewer)[0].startswith(f"» Seat {record.beginner} deals.")
        ring = screen_text(viewer)
        for seat in range(8):
            assert f"seat {seat} {('even', 'odd')[seat % 2]}" in ring
            assert f"{seat} seat {seat}" not in ring


async def test_where_there_is_room_the_log_stands_beside_the_table_as_in_play() -> None:
    viewer = Viewer(reels("koi-koi"), why_unplayable)
    async with viewer.run_test(size=(140, 34)) as pilot:
        await pilot.press("right")
        log, stage = (viewer.query_one(name).region for name in ("#log", "#stage"))
        assert log.x >= stage.right
        assert log.height == stage.height
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        log, stage = (viewer.query_one(name).region for name in ("#log", "#stage"))
        assert log.y >= stage.bottom


@pytest.mark.parametrize("seed", range(6))
def test_with_open_cards_no_hand_is_cut_at_eighty_columns(seed: int) -> None:
    """Every hand can be read off the ring at every step, in whichever way it is written."""
    game, record = reels("hachinin-meri", seed=seed)[0]
    film, panel = film_of(game, record), panel_of("hachinin-meri")
    for frame in film.frames:
        canvas = Canvas(80, 17)
        panel.draw(canvas, looking_at(film, frame, panel, None, symbols=True))
        drawn = canvas.text()
        trump = frame.state.table.trump
        for hand in frame.state.hands:
            shown = "".join(text for text, _ in open_hand(sorted_hand(hand, trump), 25))
            assert shown in drawn
            assert sorted(cards_written(shown)) == sorted(hand)


def cards_written(shown: str) -> list[str]:
    """The cards of a hand that was written suit by suit."""
    return [
        suit + rank
        for suit, ranks in re.findall(r"([PIKOG])([a-z0-9 ]*)", shown)
        for rank in re.findall(r"[a-z]{2}|[0-9]", ranks)
    ]


def test_the_worst_hand_of_ten_goes_into_twenty_five_columns() -> None:
    hand = tuple(Card(suit + rank) for suit in "PIKOG" for rank in ("su", "un"))
    assert "".join(text for text, _ in open_hand(hand, 25)) == "PsuunIsuunKsuunOsuunGsuun"


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


async def test_a_terminal_that_is_too_small_for_a_record_is_told_so() -> None:
    viewer = Viewer(reels("koi-koi"), why_unplayable)
    async with viewer.run_test(size=(80, 20)) as pilot:
        assert "needs 80×24, here 80×20" in screen_text(viewer)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert "step 0 of" in screen_text(viewer)


async def test_keys_of_a_page_over_the_replay_are_not_those_of_the_replay() -> None:
    viewer = Viewer(reels("koi-koi"), why_unplayable)
    async with viewer.run_test(size=SIZES["usual"]) as pilot:
        await pilot.press("question_mark", "e", "tab", "right")
        assert (len(viewer.screen_stack), viewer.eyes, viewer.place) == (2, None, 0)
        await pilot.press("q")
        assert (len(viewer.screen_stack), viewer.is_running) == (1, True)
        await pilot.press("tab")
        assert viewer.eyes == 0
        await pilot.press("q")
    assert viewer.return_value == 0
