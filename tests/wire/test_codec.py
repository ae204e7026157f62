"""What travels: commands and messages survive the trip, and everything else is refused with a reason."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.codec import Malformed, decode_command, decode_message, encode
from protocol.codes import Refused
from protocol.limits import MAX_COMMAND_BYTES
from protocol.messages import COMMANDS, Accepted, Act, Create, Events, MatchInfo, Settings, Snapshot, Welcome

ID = "q83Jxk0v_yP2sE1d.17"


def refusal(frame: bytes) -> Malformed:
    with pytest.raises(Malformed) as caught:
        decode_command(frame)
    return caught.value


def test_a_command_decodes_to_its_type_with_defaults() -> None:
    frame = b'{"t":"create","id":"q83Jxk0v_yP2sE1d.17","game":"koi-koi","name":"Aki"}'

    command = decode_command(frame)

    assert isinstance(command, Create)
    assert command.options == {}
    assert command.seat is None


def test_the_tag_may_stand_anywhere_in_the_object() -> None:
    command = decode_command(b'{"at":3,"id":"q83Jxk0v_yP2sE1d.17","action":"K7","t":"act"}')

    assert command == Act(id=ID, action="K7", at=3)


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"", Refused.NOT_JSON),
        (b"{", Refused.NOT_JSON),
        (b"\xff\xfe", Refused.NOT_JSON),
        (b"[" * 3000, Refused.NOT_JSON),
        (b"[]", Refused.NOT_JSON),
        (b"null", Refused.NOT_JSON),
        (b"{}", Refused.UNKNOWN_COMMAND),
        (b'{"t":"dance","id":"q83Jxk0v_yP2sE1d.17"}', Refused.UNKNOWN_COMMAND),
        (b'{"t":["act"],"id":"q83Jxk0v_yP2sE1d.17"}', Refused.UNKNOWN_COMMAND),
        (b'{"t":"look"}', Refused.BAD_FIELD),
        (b'{"t":"look","id":"short.1"}', Refused.BAD_FIELD),
        (b'{"t":"look","id":"q83Jxk0v_yP2sE1d.17\\n"}', Refused.BAD_FIELD),
        (b'{"t":"look","id":"q83Jxk0v_yP2sE1d.17","extra":1}', Refused.BAD_FIELD),
        (b'{"t":"act","id":"q83Jxk0v_yP2sE1d.17","action":"K7","at":-1}', Refused.BAD_FIELD),
        (b'{"t":"act","id":"q83Jxk0v_yP2sE1d.17","action":"K7","at":9007199254740993}', Refused.BAD_FIELD),
        (b'{"t":"act","id":"q83Jxk0v_yP2sE1d.17","action":"K7","at":1.5}', Refused.BAD_FIELD),
        (b'{"t":"act","id":"q83Jxk0v_yP2sE1d.17","action":"","at":1}', Refused.BAD_FIELD),
        (b'{"t":"join","id":"q83Jxk0v_yP2sE1d.17","code":"ABC12\\n","name":"a"}', Refused.BAD_FIELD),
        (b'{"t":"contribute","id":"q83Jxk0v_yP2sE1d.17","value":"ABCD"}', Refused.BAD_FIELD),
        (b" " * (MAX_COMMAND_BYTES + 1), Refused.TOO_LARGE),
    ],
)
def test_what_is_no_command_is_malformed_and_says_why(frame: bytes, code: Refused) -> None:
    assert refusal(frame).code is code


def test_of_a_key_that_comes_twice_the_last_counts() -> None:
    """One reader reads it, so nobody can be told another thing than somebody else."""
    command = decode_command(b'{"t":"act","id":"q83Jxk0v_yP2sE1d.17","action":"K7","action":"K8","at":3}')

    assert command == Act(id=ID, action="K8", at=3)
    assert refusal(b'{"t":"look","t":"leave","id":"q83Jxk0v_yP2sE1d.17"}').code is Refused.BAD_FIELD


def test_a_malformed_command_is_answered_by_its_id_when_that_can_be_read() -> None:
    assert refusal(b'{"t":"act","id":"q83Jxk0v_yP2sE1d.17"}').command_id == ID
    assert refusal(b'{"t":"dance","id":"q83Jxk0v_yP2sE1d.17"}').command_id == ID
    assert refusal(b'{"t":"act","id":17}').command_id is None
    assert refusal(b'{"t":"act","id":"' + b"x" * 500 + b'"}').command_id is None


def test_a_bad_field_names_its_place() -> None:
    params = refusal(b'{"t":"act","id":"q83Jxk0v_yP2sE1d.17","action":"K7","at":"7"}').params

    assert params["path"] == "$.at"
    assert "int" in str(params["problem"])


def test_misspelt_settings_are_refused_in_a_command_and_skipped_in_a_snapshot() -> None:
    command = b'{"t":"create","id":"q83Jxk0v_yP2sE1d.17","game":"koi-koi","name":"A","settings":{"privat":true}}'
    snapshot = encode(
        Snapshot(
            at=0,
            room="r",
            code="c",
            game="koi-koi",
            options={},
            settings=Settings(),
            phase="lobby",
            host=0,
            seats=(),
            you=0,
        )
    ).replace(b'"private":false', b'"private":false,"colour":"red"')

    assert refusal(command).code is Refused.BAD_FIELD
    assert isinstance(decode_message(snapshot), Snapshot)


def test_messages_of_a_later_server_are_none_and_new_fields_are_skipped() -> None:
    assert decode_message(b'{"t":"fireworks","colour":"red"}') is None
    assert decode_message(b'{"t":"accepted","id":"x.1","mood":"good"}') == Accepted(id="x.1")
    with pytest.raises(msgspec.ValidationError):
        decode_message(b'{"t":"accepted"}')
    with pytest.raises(msgspec.DecodeError):
        decode_message(b"{")


def test_events_pass_through_raw() -> None:
    frame = encode(Events(first=3, events=(msgspec.Raw(b'{"e":"dealt"}'),)))

    assert frame == b'{"t":"events","first":3,"events":[{"e":"dealt"}]}'


def test_an_answer_without_a_number_carries_none() -> None:
    assert encode(Accepted(id=ID)) == b'{"t":"accepted","id":"q83Jxk0v_yP2sE1d.17"}'


def test_every_command_needs_an_id_and_forbids_unknown_fields() -> None:
    for command in COMMANDS:
        assert command.__struct_config__.forbid_unknown_fields, command
        assert "id" in command.__struct_fields__, command


def test_what_the_hall_says_leaves_room_for_new_fields() -> None:
    frame = b'{"t":"welcome","server":"9.9","protocol":1,"games":[],"motto":"x"}'

    assert decode_message(frame) == Welcome(server="9.9", protocol=1, games=())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = sorted({field for command in COMMANDS for field in command.__struct_encode_fields__} | {"t"})
TAGS = [str(command.__struct_config__.tag) for command in COMMANDS]


@given(st.binary(max_size=200))
def test_any_bytes_are_a_command_or_malformed(frame: bytes) -> None:
    try:
        decode_command(frame)
    except Malformed as problem:
        assert problem.code in Refused  # noqa: PT017 - either way is right; anything else escapes


@given(st.sampled_from(TAGS), st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6))
def test_any_object_with_our_fields_is_a_command_or_malformed(tag: str, fields: dict[str, Any]) -> None:
    frame = json.dumps({**fields, "t": tag}).encode()
    try:
        command = decode_command(frame)
    except Malformed as problem:
        assert problem.code in Refused  # noqa: PT017
    else:
        assert decode_command(encode(command)) == command


@pytest.mark.parametrize("view", [b'{"hand":["01r"]}', b"null"])
def test_a_snapshot_carries_a_raw_view_or_none(view: bytes) -> None:
    match = MatchInfo(
        id="m", deal=0, deals=1, attempt=0, beginner=0, carry=0, totals=(0, 0), commitments=(), contributions=None
    )
    told = Snapshot(
        at=1,
        room="r",
        code="K7M2QX",
        game="koi-koi",
        options={},
        settings=Settings(),
        phase="lobby",
        host=0,
        seats=(),
        you=0,
        match=match,
        view=None if view == b"null" else msgspec.Raw(view),
    )

    read = decode_message(encode(told))

    assert isinstance(read, Snapshot)
    assert (b"null" if read.view is None else bytes(read.view)) == view
    assert read.match == match
