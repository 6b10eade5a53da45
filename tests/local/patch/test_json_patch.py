"""JSON Patch: any change can be written as one, and Kubernetes' liberties are kept."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.local.errors import ApiError
from tidegate.local.patch import json_patch

keys = st.text("ab/~", max_size=3)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("xy", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(keys, values, max_size=4)


def steps(old: Any, new: Any, path: str = "") -> list[dict[str, Any]]:
    """Operations that turn `old` into `new`."""
    if isinstance(old, dict) and isinstance(new, dict):
        made = [{"op": "remove", "path": f"{path}/{escaped(key)}"} for key in old if key not in new]
        for key, value in new.items():
            below = f"{path}/{escaped(key)}"
            made += steps(old[key], value, below) if key in old else [{"op": "add", "path": below, "value": value}]
        return made
    if isinstance(old, list) and isinstance(new, list):
        made = [{"op": "remove", "path": f"{path}/0"} for _ in old]
        return made + [{"op": "add", "path": f"{path}/-", "value": value} for value in new]
    return [{"op": "replace", "path": path, "value": new}]


def escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


@given(objects, objects)
def test_a_difference_written_as_operations_gives_the_target(old: dict[str, Any], new: dict[str, Any]) -> None:
    before = deepcopy(old)
    assert json_patch(old, steps(old, new)) == new
    assert old == before


@given(objects, objects)
def test_a_test_of_what_is_there_holds(obj: dict[str, Any], other: dict[str, Any]) -> None:
    assert json_patch(obj, [{"op": "test", "path": "", "value": deepcopy(obj)}]) is obj


@given(objects, values)
def test_copies_share_nothing_that_a_later_step_changes(obj: dict[str, Any], value: Any) -> None:
    operations = [
        {"op": "add", "path": "/from", "value": {"in": value}},
        {"op": "copy", "from": "/from", "path": "/to"},
        {"op": "add", "path": "/from/more", "value": 1},
    ]
    result = json_patch(obj, operations)
    assert result["to"] == {"in": value}
    assert result["from"] == {"in": value, "more": 1}
    assert operations[0]["value"] == {"in": value}


def test_what_no_step_touches_is_shared() -> None:
    obj = {"spec": {"a": 1}, "status": {"b": 2}}
    assert json_patch(obj, [{"op": "add", "path": "/status/c", "value": 3}])["spec"] is obj["spec"]


def test_replace_of_a_missing_key_adds_it() -> None:
    """KubeRay's autoscaler relies on it."""
    patch = [{"op": "replace", "path": "/spec/groups/0/scaleStrategy", "value": {"x": []}}]
    patched = json_patch({"spec": {"groups": [{"name": "g"}]}}, patch)
    assert patched["spec"]["groups"] == [{"name": "g", "scaleStrategy": {"x": []}}]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/-", ["a", "b", "x"]),
        ("/0", ["x", "a", "b"]),
        ("/2", ["a", "b", "x"]),
        ("/-1", ["a", "b", "x"]),
        ("/-3", ["x", "a", "b"]),
        ("/+1", ["a", "x", "b"]),
    ],
)
def test_places_in_lists_count_from_either_end(path: str, expected: list[str]) -> None:
    patch = [{"op": "add", "path": f"/list{path}", "value": "x"}]
    assert json_patch({"list": ["a", "b"]}, patch) == {"list": expected}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/nope"},
        {"op": "replace", "path": "/nope/deeper", "value": 1},
        {"op": "test", "path": "/one", "value": True},
        {"op": "test", "path": "/one", "value": 1.0},
        {"op": "add", "path": "/list/3", "value": 1},
        {"op": "add", "path": "/list/x", "value": 1},
        {"op": "remove", "path": ""},
        {"op": "move", "from": "/nope", "path": "/a"},
        {"op": "replace", "path": "", "value": []},
        {"op": "wish", "path": "/a"},
        {"path": "/a"},
    ],
)
def test_what_does_not_fit_the_object_is_unprocessable(operation: dict[str, Any]) -> None:
    with pytest.raises(ApiError) as refusal:
        json_patch({"one": 1, "list": [1]}, [operation])
    assert (refusal.value.code, refusal.value.reason) == (422, "Invalid")


@pytest.mark.parametrize("operations", [{}, "x", ["x"], [{"op": 1}], [{"op": "add", "path": 1}]])
def test_what_is_no_patch_is_a_bad_request(operations: Any) -> None:
    with pytest.raises(ApiError) as refusal:
        json_patch({}, operations)
    assert refusal.value.code == 400


def test_ten_thousand_operations_are_enough() -> None:
    operation = {"op": "test", "path": "/a", "value": 1}
    assert json_patch({"a": 1}, [operation] * 10_000) == {"a": 1}
    with pytest.raises(ApiError) as refusal:
        json_patch({"a": 1}, [operation] * 10_001)
    assert refusal.value.code == 413


def test_copies_may_not_blow_an_object_up() -> None:
    doubling = [{"op": "copy", "from": "/a", "path": "/a/-"}] * 40
    with pytest.raises(ApiError) as refusal:
        json_patch({"a": ["x" * 1000]}, doubling)
    assert refusal.value.code == 422
