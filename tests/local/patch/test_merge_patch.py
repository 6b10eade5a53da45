"""Merge patches: what they say is so afterwards, and saying it twice changes nothing."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.local.errors import ApiError
from tidegate.local.patch import merge_patch

keys = st.sampled_from("abc")
leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.text("xy", max_size=2)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=8
)
patches = st.dictionaries(keys, values, max_size=3)
full = st.recursive(
    st.integers(-3, 3) | st.text("xy", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(keys, full, max_size=3)


def difference(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The merge patch from `old` to `new`, objects without nulls."""
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(key), dict):
            patch[key] = difference(old[key], value)
        elif key not in old or old[key] != value:
            patch[key] = value
    return patch


@given(objects, objects)
def test_a_difference_gives_the_target(old: dict[str, Any], new: dict[str, Any]) -> None:
    before = deepcopy(old)
    assert merge_patch(old, difference(old, new)) == new
    assert old == before


@given(objects, patches)
def test_a_patch_said_twice_is_said_once(obj: dict[str, Any], patch: dict[str, Any]) -> None:
    once = merge_patch(obj, patch)
    assert merge_patch(once, patch) == once


def test_null_takes_away_and_does_not_stay() -> None:
    patched = merge_patch({"a": {"b": 1, "c": 2}}, {"a": {"b": None}, "new": {"x": None, "y": 1}, "list": [None]})
    assert patched == {"a": {"c": 2}, "new": {"y": 1}, "list": [None]}


def test_what_the_patch_does_not_name_is_shared() -> None:
    obj = {"spec": {"a": 1}, "status": {}}
    assert merge_patch(obj, {"status": {"b": 1}})["spec"] is obj["spec"]


@pytest.mark.parametrize("patch", [None, [], "x", 1, True])
def test_what_is_no_object_is_a_bad_request(patch: Any) -> None:
    with pytest.raises(ApiError) as refusal:
        merge_patch({}, patch)
    assert refusal.value.code == 400
