from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.local.apiserver.calls import call
from tidegate.local.apiserver.delete_options import options_of
from tidegate.local.apiserver.list_options import list_options
from tidegate.local.apiserver.options import check_options, check_patch_options, whole_number
from tidegate.local.errors import ApiError


def causes(error: ApiError) -> list[str]:
    assert error.details is not None
    return [f"{cause['field']} {cause['reason']}" for cause in error.details["causes"]]


@given(st.text(max_size=6).filter(lambda text: text != "All" and "\0" not in text))
def test_a_dry_run_is_of_all_or_refused(asked: str) -> None:
    with pytest.raises(ApiError) as refused:
        check_options(call("create", {"dryRun": asked}), "CreateOptions")
    assert (refused.value.code, causes(refused.value)) == (422, ["dryRun FieldValueNotSupported"])
    check_options(call("create", {"dryRun": "All"}), "CreateOptions")


@given(st.text(min_size=1, max_size=6))
def test_unknown_validation_is_refused(asked: str) -> None:
    if asked.split("\0", maxsplit=1)[0] in ("", "Ignore", "Warn", "Strict"):
        return
    with pytest.raises(ApiError) as refused:
        check_options(call("update", {"fieldValidation": asked}), "UpdateOptions")
    assert causes(refused.value) == ["fieldValidation FieldValueNotSupported"]


def test_a_manager_has_a_name_one_can_read() -> None:
    with pytest.raises(ApiError) as refused:
        check_options(call("create", {"fieldManager": "a\n" + "x" * 128}), "CreateOptions")
    assert causes(refused.value) == ["fieldManager FieldValueTooLong", "fieldManager FieldValueInvalid"]


def test_only_an_apply_may_force_and_must_say_who() -> None:
    with pytest.raises(ApiError) as refused:
        check_patch_options(call("patch", {"force": "false"}), applying=False)
    assert causes(refused.value) == ["force FieldValueForbidden"]
    with pytest.raises(ApiError) as refused:
        check_patch_options(call("patch"), applying=True)
    assert causes(refused.value) == ["fieldManager FieldValueRequired"]


@given(st.integers(-(2**63), 2**63 - 1))
def test_whole_numbers_are_read(number: int) -> None:
    assert whole_number(str(number)) == number


@given(st.text(max_size=8))
def test_other_texts_are_no_numbers(text: str) -> None:
    if text.isascii() and text.lstrip("+-").isdigit() and len(text) - len(text.lstrip("+-")) < 2:
        return
    with pytest.raises(ApiError) as refused:
        whole_number(text)
    assert refused.value.code == 400


@given(st.integers(0, 2**40), st.booleans(), st.sampled_from(["Foreground", "Background", "Orphan"]))
def test_a_delete_is_understood_from_body_and_query_alike(seconds: int, dry: bool, policy: str) -> None:
    body = {"gracePeriodSeconds": seconds, "propagationPolicy": policy} | ({"dryRun": ["All"]} if dry else {})
    query = {"gracePeriodSeconds": str(seconds), "propagationPolicy": policy} | ({"dryRun": "All"} if dry else {})
    said = options_of(call("delete", body=msgspec.json.encode(body)))
    assert said == options_of(call("delete", query))
    assert (said.grace_period_s, said.policy, said.dry_run) == (seconds, policy, dry)


def test_a_body_silences_the_query() -> None:
    assert not options_of(call("delete", {"dryRun": "All"}, body=b"{}")).dry_run


def test_a_body_of_another_kind_is_refused() -> None:
    with pytest.raises(ApiError) as refused:
        options_of(call("delete", body=b'{"kind":"Pod","apiVersion":"v1"}'))
    assert refused.value.code == 400


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ({"resourceVersionMatch": "Exact"}, ["resourceVersionMatch FieldValueForbidden"]),
        ({"resourceVersion": "0", "resourceVersionMatch": "Exact"}, ["resourceVersionMatch FieldValueForbidden"]),
        ({"resourceVersion": "1", "resourceVersionMatch": "No"}, ["resourceVersionMatch FieldValueNotSupported"]),
        ({"sendInitialEvents": "true"}, ["sendInitialEvents FieldValueForbidden"]),
        ({"watch": "1", "sendInitialEvents": "true"}, ["resourceVersionMatch FieldValueForbidden"]),
    ],
)
def test_lists_and_watches_with_contradictions_are_refused(query: dict[str, str], wrong: list[str]) -> None:
    with pytest.raises(ApiError) as refused:
        list_options(call("watch" if "watch" in query else "list", query))
    assert (refused.value.code, causes(refused.value)) == (422, wrong)
