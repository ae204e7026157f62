from __future__ import annotations

import stat
from errno import ENOSPC
from pathlib import Path

import click
import pytest

from clients.cli import places
from clients.cli.places import PlaceFile, SavedPlace, saved
from engine.registry import GAMES
from tests.cli.screen import seated

URL = "ws://127.0.0.1:8750"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "fudaza"


def place(code: str = "K7M2QX", seat: int = 0, saved_at: float = 1.0) -> SavedPlace:
    return SavedPlace(url=URL, game="koi-koi", room="a" * 26, code=code, seat=seat, token="t" * 43, saved_at=saved_at)


def test_a_seat_is_found_again_by_the_next_client() -> None:
    file = PlaceFile.new("a" * 26, 0)
    file.save(place())
    file.close()
    ((again, found),) = saved(URL, "k7m2qx")
    again.close()
    assert found == place()


def test_nobody_else_can_read_the_token(state: Path) -> None:
    PlaceFile.new("a" * 26, 0).save(place())
    (path,) = (state / "seats").glob("*.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_seat_that_is_played_from_elsewhere_is_not_offered() -> None:
    file = PlaceFile.new("a" * 26, 0)
    file.save(place())
    assert saved() == []
    file.close()
    assert len(saved()) == 1


def test_a_seat_that_a_client_which_stood_still_has_lost_is_kept_in_a_file_of_its_own() -> None:
    stopped = PlaceFile.new("a" * 26, 0)
    stopped.save(place(saved_at=1.0))
    playing = PlaceFile.new("a" * 26, 0)
    playing.save(place(saved_at=2.0))
    playing.close()
    ((again, found),) = saved()
    assert found.saved_at == 2.0
    stopped.forget()
    again.close()
    stopped.close()
    assert len(saved()) == 1


def test_a_seat_that_cannot_be_locked_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    file = PlaceFile.new("a" * 26, 0)
    file.save(place())
    file.close()
    monkeypatch.setattr(PlaceFile, "open", full)
    assert saved() == []


def full(*_arguments: object) -> None:
    raise OSError(ENOSPC, "No space left on device")


@pytest.mark.parametrize("step", ["new", "save"])
async def test_a_full_disk_is_told_once_and_ends_no_match(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlaceFile, step, full)
    async with seated(GAMES["koi-koi"]) as seat:
        await seat.screen.until("could not be written down here ([Errno 28] No space left on device).")
        await seat.screen.until(">\n")
        turn = seat.hall.turn()
        assert turn is not None
        seat.network.wires[-1].say([seat.hall.snapshot(), turn])
        seat.screen.type(*["1"] * 500)
        assert await seat.status() == 0
        assert seat.screen.text.count("No space left") == 1
    async with seated(GAMES["koi-koi"], as_json=True) as seat:
        await seat.screen.until('{"t":"unkept","problem":"[Errno 28] No space left on device"}\n')
        await seat.screen.until('"t":"turn"')


def test_a_state_directory_that_cannot_be_made_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(click.ClickException, match="Not a directory"):
        saved()


def test_the_newest_comes_first_and_others_are_left_out() -> None:
    for seat, (code, when) in enumerate((("AAAAAA", 1.0), ("BBBBBB", 3.0), ("AAAAAA", 2.0))):
        file = PlaceFile.new("a" * 26, seat)
        file.save(place(code, seat, when))
        file.close()
    found = saved()
    assert [each.code for _file, each in found] == ["BBBBBB", "AAAAAA", "AAAAAA"]
    for file, _place in found:
        file.close()
    assert [each.seat for _file, each in saved(code="AAAAAA")] == [2, 0]
    assert saved("ws://elsewhere") == []


def test_a_forgotten_seat_leaves_nothing_behind(state: Path) -> None:
    file = PlaceFile.new("a" * 26, 0)
    file.save(place())
    file.forget()
    file.close()
    assert list((state / "seats").iterdir()) == []


def test_a_damaged_file_is_left_out(state: Path) -> None:
    (state / "seats").mkdir(parents=True)
    (state / "seats" / "x.json").write_text("{")
    assert places.saved() == []
