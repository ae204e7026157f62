"""Settings: where they come from, which wins, and what is said about a wrong one."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from server.entries import Timing
from server.metrics import Metrics
from server.settings import SECRETS, BadSetting, Settings, load, unknown_in


def test_flags_win_over_the_environment_over_the_file_over_defaults(tmp_path: Path) -> None:
    file = tmp_path / "fudaza.toml"
    file.write_text("port = 1\nai_workers = 2\nai_pause_ms = 3\n")
    environment = {"FUDAZA_PORT": "10", "FUDAZA_AI_WORKERS": "20", "FUDAZA_CONFIG": str(file)}

    settings = load(["--port", "100"], environment)

    assert (settings.port, settings.ai_workers, settings.ai_pause_ms) == (100, 20, 3)
    assert settings.host == Settings().host
    assert load(["--config", str(file)], {}).port == 1


def test_every_setting_but_secrets_has_a_flag_with_a_help_text(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        load(["--help"], {})

    assert ended.value.code == 0
    told = capsys.readouterr().out
    for name in Settings.__struct_fields__:
        assert ("--" + name.replace("_", "-") in told) == (name not in SECRETS), name


@pytest.mark.parametrize(
    ("arguments", "environment", "told"),
    [
        (["--port", "70000"], {}, "the command line: wrong value for port: '70000'"),
        (["--port", "many"], {}, "the command line: wrong value for port: 'many'"),
        (["--prot", "1"], {}, "unrecognized arguments: --prot 1"),
        (["--po", "1"], {}, "unrecognized arguments: --po 1"),
        ([], {"FUDAZA_DURABILITY": "often"}, "the environment: wrong value for durability: 'often'"),
        ([], {"FUDAZA_LOG_LEVEL": "loud"}, "the environment: wrong value for log_level: 'loud'"),
        (["--timing", "nap_ms=5"], {}, "the command line: there is no timing nap_ms"),
        (["--timing", "pause_ms=-5"], {}, "wrong value for the timing pause_ms: '-5'"),
        (["--timing", "pause_ms"], {}, "wrong value for the timing pause_ms: ''"),
        (["--timing", "pause_ms=99999999999999999999"], {}, "wrong value for timing pause_ms: '99999999999999999999'"),
        (["--host", ""], {}, "the command line: wrong value for host: ''"),
        ([], {"FUDAZA_DATA": ""}, "the environment: wrong value for data: ''"),
        ([], {"FUDAZA_REDIS": ""}, "the environment: wrong value for redis: ''"),
        (["--proxies", "127.0.0.1,balancer"], {}, "wrong value for proxies: 'balancer'"),
        ([], {"FUDAZA_PROXIES": "10.0.0.0/8"}, "the environment: wrong value for proxies: '10.0.0.0/8'"),
        (["--origins", "play.example"], {}, "wrong value for origins: 'play.example'"),
        (["--origins", "https://play.example/"], {}, "wrong value for origins: 'https://play.example/'"),
        (["--origins", "https://Play.example"], {}, "wrong value for origins: 'https://Play.example'"),
        (["--forget-hours", "0.00001"], {}, "wrong value for forget_hours: '0.00001'"),
        (["--forget-hours", "inf"], {}, "wrong value for forget_hours: 'inf'"),
        (["--ping-seconds", "inf"], {}, "wrong value for ping_seconds: 'inf'"),
        (["--talk-per-minute", "1e300"], {}, "wrong value for talk_per_minute: '1e300'"),
        (["--exit-when-empty", "inf"], {}, "wrong value for exit_when_empty: 'inf'"),
        (["--config", "/nowhere/at/all"], {}, "the file /nowhere/at/all cannot be read: No such file"),
    ],
)
def test_a_wrong_setting_is_one_sentence_that_names_its_source(
    arguments: list[str], environment: dict[str, str], told: str
) -> None:
    with pytest.raises(BadSetting) as caught:
        load(arguments, environment)

    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("prot = 1", "there is no setting prot"),
        ("port = [", "is not TOML"),
        ("port = true", "wrong value for port: True"),
        ("timing = 5", "wrong value for timing: 5"),
        ("[timing]\npause_ms = 1.5", "wrong value for the timing pause_ms: 1.5"),
    ],
)
def test_a_wrong_file_is_one_sentence_that_names_it(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "fudaza.toml"
    file.write_text(content)

    with pytest.raises(BadSetting) as caught:
        load(["--config", str(file)], {})

    assert str(file) in str(caught.value)
    assert told in str(caught.value)


def test_a_password_is_not_taken_from_the_command_line_and_never_shown() -> None:
    with pytest.raises(BadSetting) as caught:
        load(["--redis", "redis://:hunter2@db"], {})
    assert "hunter2" not in str(caught.value)
    with pytest.raises(BadSetting):
        load(["--redis-password", "hunter2"], {})

    assert load([], {"FUDAZA_REDIS": "redis://:hunter2@db"}).redis == "redis://:hunter2@db"
    environment = {"FUDAZA_REDIS_PASSWORD": "hunter2"}
    assert load([], environment).redis_password == environment["FUDAZA_REDIS_PASSWORD"]


def test_timing_and_lists_have_a_short_form(tmp_path: Path) -> None:
    file = tmp_path / "fudaza.toml"
    file.write_text('origins = ["https://a.example"]\n[timing]\npause_ms = 1\n')

    from_file = load(["--config", str(file)], {})
    from_flags = load(["--timing", "pause_ms=1, grace_ms=2", "--origins", "https://a.example,https://b.example"], {})

    assert from_file.timing == Timing(pause_ms=1)
    assert from_file.origins == ("https://a.example",)
    assert from_flags.timing == Timing(pause_ms=1, grace_ms=2)
    assert from_flags.origins == ("https://a.example", "https://b.example")


def test_proxies_are_compared_as_sockets_write_addresses() -> None:
    assert load(["--proxies", "2001:DB8:0::1, 10.0.0.1"], {}).proxies == ("2001:db8::1", "10.0.0.1")


def test_a_misspelt_name_in_the_environment_is_noticed() -> None:
    environment = {"FUDAZA_PROT": "1", "FUDAZA_PORT": "1", "FUDAZA_SERVER": "ws://x", "HOME": "/"}

    assert unknown_in(environment) == ("FUDAZA_PROT",)


def test_every_setting_and_metric_is_in_the_operators_manual_with_its_default() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
    for field in msgspec.structs.fields(Settings):
        (row,) = (line for line in manual.splitlines() if line.startswith(f"| `{field.name}` |"))
        if isinstance(field.default, int | float | str) and not isinstance(field.default, bool):
            assert f"| `{field.default}` |" in row
    for name, value in msgspec.structs.asdict(Timing()).items():
        assert f"| `{name}` | `{value}` |" in manual
    for family in Metrics().registry.collect():
        assert f"`{family.name}" in manual, family.name
