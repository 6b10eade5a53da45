from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.local.apiserver.calls import call
from tidegate.local.apiserver.bodies import decoded_body
from tidegate.local.apiserver.front import MOST_BODY
from tidegate.local.apiserver.patch import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, patcher
from tidegate.local.errors import ApiError, shown, too_long, too_many

YAML = {"content-type": "application/yaml"}
KEYS = st.from_regex(r"key[a-z]{1,5}", fullmatch=True)  # Not `n`, which in Kubernetes' YAML is false.
DATA = st.dictionaries(KEYS, st.text(alphabet="abc:'\" \n", max_size=9), max_size=3)


@given(DATA)
def test_json_and_yaml_say_the_same(data: dict[str, str]) -> None:
    import yaml

    obj = {"metadata": {"name": "a"}, "data": data}
    one = decoded_body(call("create", body=msgspec.json.encode(obj)))
    other = decoded_body(call("create", body=yaml.safe_dump(obj).encode(), headers=YAML))
    assert one == other
    assert (one["kind"], one["apiVersion"]) == ("ConfigMap", "v1")


@given(st.binary(max_size=30))
def test_any_body_is_an_object_or_refused(body: bytes) -> None:
    for headers in ({}, YAML):
        code = 201
        try:
            decoded_body(call("create", body=body, headers=headers))
        except ApiError as error:
            code = error.code
        assert code in (201, 400)


@pytest.mark.parametrize(("headers", "twice"), [({}, b'{"data":{"a":"b","a":"c"}}'), (YAML, b"data: {a: b, a: c}")])
def test_a_key_said_twice_is_told_or_refused(headers: dict[str, str], twice: bytes) -> None:
    warned = call("create", body=twice, headers=headers)
    decoded_body(warned)
    assert len(warned.warnings) == 1
    with pytest.raises(ApiError) as refused:
        decoded_body(call("create", {"fieldValidation": "Strict"}, body=twice, headers=headers))
    assert "strict decoding error" in refused.value.message
    silent = call("create", {"fieldValidation": "Ignore"}, body=twice, headers=headers)
    decoded_body(silent)
    assert not silent.warnings


def test_other_formats_and_other_kinds_are_refused() -> None:
    codes = []
    for body, headers in (
        (b"{}", {"content-type": "text/html"}),
        (b'{"kind":"Secret"}', {}),
        (b'{"apiVersion":"apps/v1","kind":"ConfigMap"}', {}),
        (b"{}", {"x-too-large": str(MOST_BODY + 1)}),
    ):
        with pytest.raises(ApiError) as refused:
            decoded_body(call("create", body=body, headers=headers))
        codes.append(refused.value.code)
    assert codes == [415, 400, 400, 413]


@pytest.mark.parametrize(
    ("media", "patch"),
    [
        (MERGE_PATCH, {"data": [1]}),
        (MERGE_PATCH, {"kind": "Secret"}),
        (STRATEGIC_PATCH, {"data": {"a": 5}}),
        (JSON_PATCH, [{"op": "add", "path": "/data", "value": 5}]),
    ],
)
def test_a_patch_whose_outcome_is_no_such_object_is_refused(media: str, patch: object) -> None:
    live = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "x"}, "data": {"a": "b"}}
    with pytest.raises(ApiError) as refused:
        patcher(call("patch", body=msgspec.json.encode(patch)), media)(live)
    error = refused.value
    assert error.details is not None
    assert (error.code, [cause["field"] for cause in error.details["causes"]]) == (422, ["patch"])


def test_a_strategic_patch_cannot_change_the_kind() -> None:
    live = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "x"}}
    assert patcher(call("patch", body=b'{"kind":"Secret"}'), STRATEGIC_PATCH)(dict(live)) == live


def test_values_are_shown_as_go_writes_them() -> None:
    assert shown({"b": 1.0, "a": ["<&>"]}) == '{"a":["\\u003c\\u0026\\u003e"],"b":1}'
    assert shown("<a>") == '"<a>"'
    assert (too_long("f", 1).message, too_long("f", 2).message) == (
        "f: Too long: may not be more than 1 byte",
        "f: Too long: may not be more than 2 bytes",
    )
    assert too_many("f", 3, 1).message == "f: Too many: 3: must have at most 1 item"
