"""What the panels draw: every kind of decision at three sizes, and that nothing is missing at the smallest."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from clients.cli.tui import home, play, replay
from clients.cli.tui.canvas import Canvas, Piece
from clients.cli.tui.panel import Looking
from clients.cli.tui.panels import panel_of
from clients.cli.tui.widgets import KeyBar
from clients.cli.words import _, speaking
from clients.cli.words.games import words_of
from clients.cli.words.people import team_name
from engine.game import Level, Seat
from engine.registry import GAMES
from protocol.messages import SeatInfo
from tests.cli.scenes import ALL, ME, check_snapshot, looking, position, states
from wording.columns import width as columns_of
from wording.languages import LANGUAGES

SIZES = {"small": (80, 17), "usual": (110, 27), "large": (118, 45)}
"""Of the table itself."""


def drawn(name: str, look: object, size: tuple[int, int] = SIZES["small"]) -> Canvas:
    canvas = Canvas(*size)
    panel_of(name).draw(canvas, look)  # type: ignore[arg-type]
    return canvas


def clickable(canvas: Canvas) -> set[str]:
    return {key for y in range(canvas.height) for x in range(canvas.width) if (key := canvas.at(x, y)) is not None}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("name", "kind"), ALL)
def test_every_kind_of_decision_looks_as_it_did(name: str, kind: str, size: str) -> None:
    look = position(name, kind)
    pointing = look if look.choice is None else replace(look, choice=look.choice.step(1))
    check_snapshot(f"{name}-{kind}-{size}", drawn(name, pointing, SIZES[size]).text())


@pytest.mark.parametrize("name", ["koi-koi", "go-stop"])
def test_on_the_smallest_table_every_card_of_hand_and_middle_is_there_to_be_clicked(name: str) -> None:
    game = GAMES[name]
    for seed in range(40):
        for state in states(game, seed):
            look = looking(game, state)
            middle = look.view.table.board if name == "koi-koi" else look.view.table.layout
            assert clickable(drawn(name, look)) >= {*look.view.hand, *middle}


def test_on_the_smallest_table_of_hachinin_meri_every_seat_and_hand_card_is_there() -> None:
    game = GAMES["hachinin-meri"]
    for seed in range(10):
        for state in states(game, seed):
            look = looking(game, state)
            canvas = drawn(game.name, look)
            assert clickable(canvas) == set(look.view.hand)
            text = canvas.text()
            for seat in range(8):
                assert re.search(rf"[ ▶](AI )?{seat} ", text)


def test_the_next_to_play_sits_at_the_left() -> None:
    game = GAMES["hachinin-meri"]
    look = looking(game, next(states(game, 1)), Seat(5))
    rows = drawn(game.name, look).text().splitlines()
    last = next(row for row in rows if "5 you" in row)
    assert last.index("AI 6") < last.index("5 you") < last.index("AI 4")


def test_H17_a_face_down_trump_is_a_back_for_all_but_its_player() -> None:
    look = position("hachinin-meri", "face-down")
    hidden = [card for card in look.view.table.trick.cards if card is None]
    assert drawn("hachinin-meri", look).text().count("▒▒ a trump") == len(hidden)


def test_kinds_and_suits_are_told_by_letters_where_symbols_are_off() -> None:
    for name, kind in ALL:
        text = drawn(name, replace(position(name, kind), symbols=False)).text()
        assert not set(text) & set("★◆▮○♣♠♥♦@")


def test_possible_cards_and_others_are_told_apart_without_colour() -> None:
    look = position("hachinin-meri", "monchi")
    assert look.choice is not None
    text = drawn("hachinin-meri", look).text()
    for index, pick in enumerate(look.choice.picks, 1):
        assert (f"[{index}]" in text) == bool(pick.actions)


@pytest.mark.parametrize("name", GAMES)
def test_a_spectator_sees_backs_and_no_hand(name: str) -> None:
    game = GAMES[name]
    look = looking(game, next(states(game, 4)), None)
    canvas = drawn(name, look)
    hands = {card for hand in next(states(game, 4)).hands for card in hand}
    assert not clickable(canvas) & hands
    assert canvas.text().count("▒") >= game.seats * 8


class Strict(Canvas):
    """A canvas on which nothing may be lost."""

    def put(self, x: int, y: int, text: str, inks: str = "") -> int:
        assert not text.strip() or (x + columns_of(text) <= self.width and y < self.height), text
        return super().put(x, y, text, inks)

    def line(self, x: int, y: int, pieces: Iterable[Piece], width: int | None = None) -> int:
        pieces = tuple(pieces)
        end = self.width if width is None else x + width
        wanted = "".join(text for text, _inks in pieces)
        assert x + columns_of(wanted.rstrip()) <= end, wanted
        return super().line(x, y, pieces, width)


def with_ai(look: Looking, level: str) -> Looking:
    seats = tuple(replace(info, level=level) if info.kind == "ai" else info for info in look.people.seats)
    return replace(look, people=replace(look.people, seats=seats))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "kind"), ALL)
def test_on_the_smallest_table_no_word_of_any_language_is_cut(name: str, kind: str, language: str) -> None:
    with speaking(language):
        for level in Level:
            panel_of(name).draw(Strict(*SIZES["small"]), with_ai(position(name, kind), level))


BARS = {"play": play.BAR, "room": play.ROOM_BAR, "home": home.BAR, "replay": replay.BAR}


@pytest.mark.parametrize("bar", BARS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_row_of_keys_fits_the_narrowest_screen(language: str, bar: str) -> None:
    with speaking(language):
        KeyBar(BARS[bar], id="keys").paint(Strict(80, 1))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_of_help_fits_the_narrowest_screen(language: str) -> None:
    pages = [play.KEYS, home.HELP, replay.HELP, *(panel_of(name).legend for name in GAMES)]
    with speaking(language):
        assert max(columns_of(line) for page in pages for line in _(page).splitlines()) <= 80


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "kind"), ALL)
def test_every_question_can_be_read_on_the_narrowest_screen(name: str, kind: str, language: str) -> None:
    look = position(name, kind)
    if look.choice is None:
        return
    with speaking(language):
        words = words_of(name)
        question = words.question(look.view)
        # What is asked comes first; behind it the combinations are told, which the table shows as well.
        asked = re.split("[:：]", question)[0] if (name, kind) == ("go-stop", "decide") else question
        assert columns_of(asked) <= 78, question
        for action in (action for pick in look.choice.picks for action in pick.actions):
            assert columns_of(words.move(action, look.view)) <= 66


@cache
def notable_events(name: str) -> tuple[Any, ...]:
    """What is announced to seat 0 in deals played at random."""
    game = GAMES[name]
    found: list[Any] = []
    for seed in range(60):
        rng = random.Random(seed)
        deck = list(game.cards)
        rng.shuffle(deck)
        step = game.deal(game.complete_options({}), deck, Seat(seed % game.seats))
        found += step.events
        while game.awaiting(step.state):
            seat = rng.choice(sorted(game.awaiting(step.state)))
            step = game.apply(step.state, seat, rng.choice(game.legal_at(step.state, seat)))
            found += step.events
    return tuple(game.redact(event, ME) for event in found if isinstance(event, panel_of(name).notable))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", GAMES)
def test_what_is_announced_can_be_read_on_the_narrowest_screen(name: str, language: str) -> None:
    panel, people = panel_of(name), position(name, "over").people
    events = notable_events(name)
    assert {type(event) for event in events} == {*panel.notable}
    with speaking(language):
        for event in events:
            told = panel.headline(event, words_of(name).event(event, people), people)
            assert columns_of(told) <= 78, told


def test_of_a_combination_its_pair_and_what_it_moves_are_announced_and_of_a_meri_that_it_is_one() -> None:
    panel, people = panel_of("hachinin-meri"), position("hachinin-meri", "over").people
    told = [
        panel.headline(event, words_of("hachinin-meri").event(event, people), people)
        for event in notable_events("hachinin-meri")
    ]
    assert any(re.fullmatch(r"COMBINATION for (even|odd): [\w ]+; [25] points move\.", line) for line in told)
    assert "MERI! A trump is led: who holds a trump must play one, face up." in told


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_long_name_gives_way_to_team_and_to_who_sits_in(language: str) -> None:
    look = position("hachinin-meri", "lead")
    seat = SeatInfo(kind="person", name="Bartholomew the Second", stand_in=True, level="expert")
    look = replace(look, people=replace(look.people, seats=(seat,) * 8))
    with speaking(language):
        text = drawn("hachinin-meri", look).text()
        assert text.count(f"{team_name(1)} [{_('AI')}]") == 4
    assert text.count("…") >= 7
    assert "Barthol" in text


def test_what_does_not_fit_is_left_out_from_the_end_of_what_cannot_be_made_any_more() -> None:
    look = position("go-stop", "over")
    wide, narrow = (drawn("go-stop", look, (width, 17)).text() for width in (120, 80))
    (whole,) = re.findall(r"× godori.*", wide)
    (part,) = re.findall(r"× godori.*", narrow.partition("you")[2])
    assert "poetry" in whole or "poetry" in wide
    assert whole.startswith(part)


@pytest.mark.parametrize("size", [(40, 8), (1, 1), (200, 70)])
@pytest.mark.parametrize(("name", "kind"), ALL)
def test_a_table_of_any_size_is_drawn_without_failing(name: str, kind: str, size: tuple[int, int]) -> None:
    drawn(name, position(name, kind), size)


@pytest.mark.parametrize("name", GAMES)
def test_every_legal_action_can_be_chosen_and_nothing_else(name: str) -> None:
    game = GAMES[name]
    for seed in range(8):
        for state in states(game, seed):
            for seat in game.awaiting(state):
                view = game.view(state, seat)
                legal = tuple(map(game.text, game.legal(view)))
                picks = panel_of(name).picks(view, legal)
                assert sorted(action for pick in picks for action in pick.actions) == sorted(legal)
