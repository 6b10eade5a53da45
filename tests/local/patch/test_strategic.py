"""Strategic merge: lists merge by key, keep their order, and obey directives."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.local.errors import ApiError
from tidegate.local.patch import strategic_patch
from tidegate.local.schema.builtin import builtin_schema

POD = builtin_schema(("", "v1", "Pod"))
names = st.lists(st.sampled_from("abcd"), unique=True, max_size=4)
containers = names.flatmap(
    lambda drawn: st.tuples(
        *[st.fixed_dictionaries({"name": st.just(n), "image": st.sampled_from("xy")}) for n in drawn]
    )
)


def pod(*items: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"metadata": {}, "spec": {"containers": list(items), **spec}}


@given(containers, containers)
def test_items_merge_by_key_and_each_side_keeps_its_order(live: Any, patch: Any) -> None:
    obj = pod(*live)
    before = deepcopy(obj)
    merged = strategic_patch(obj, pod(*patch), POD)["spec"]["containers"]
    assert obj == before
    by_name = {item["name"]: item for item in [*live, *patch]}
    assert {item["name"]: item for item in merged} == by_name
    order = [item["name"] for item in merged]
    patched = [item["name"] for item in patch]
    assert [name for name in order if name in patched] == patched
    untouched = [item["name"] for item in live if item["name"] not in patched]
    assert [name for name in order if name in untouched] == untouched


@given(containers, containers)
def test_a_patch_said_twice_is_said_once(live: Any, patch: Any) -> None:
    once = strategic_patch(pod(*live), pod(*patch), POD)
    assert strategic_patch(once, pod(*patch), POD) == once


def test_directives_of_items() -> None:
    live = pod({"name": "a", "image": "x"}, {"name": "b", "image": "x"})
    gone = strategic_patch(live, pod({"name": "a", "$patch": "delete"}), POD)
    assert gone == pod({"name": "b", "image": "x"})
    replaced = strategic_patch(live, pod({"$patch": "replace"}, {"name": "c"}), POD)
    assert replaced == pod({"name": "c"})


def test_directives_of_objects() -> None:
    live = pod(securityContext={"runAsUser": 1, "fsGroup": 2})
    replace = strategic_patch(live, {"spec": {"securityContext": {"$patch": "replace", "fsGroup": 3}}}, POD)
    assert replace["spec"]["securityContext"] == {"fsGroup": 3}
    delete = strategic_patch(live, {"spec": {"securityContext": {"$patch": "delete"}}}, POD)
    assert delete["spec"]["securityContext"] == {}
    retain = {"spec": {"securityContext": {"$retainKeys": ["fsGroup"], "fsGroup": 4}}}
    assert strategic_patch(live, retain, POD)["spec"]["securityContext"] == {"fsGroup": 4}


def test_what_a_directive_speaks_of_need_not_be_there() -> None:
    patch = {
        "spec": {"volumes": [{"name": "v", "$patch": "delete"}, {"name": "w"}], "securityContext": {"$patch": "delete"}}
    }
    assert strategic_patch({"spec": {}}, patch, POD) == {"spec": {"volumes": [{"name": "w"}]}}


def test_an_order_is_obeyed() -> None:
    live = pod({"name": "a"}, {"name": "b"}, {"name": "c"})
    patch = {
        "spec": {
            "$setElementOrder/containers": [{"name": "c"}, {"name": "a"}],
            "containers": [{"name": "a", "tty": True}],
        }
    }
    merged = strategic_patch(live, patch, POD)["spec"]["containers"]
    assert merged == [{"name": "b"}, {"name": "c"}, {"name": "a", "tty": True}]


def test_lists_of_texts_merge_as_sets_and_can_lose_items() -> None:
    live = {"metadata": {"finalizers": ["a", "b"]}}
    added = strategic_patch(live, {"metadata": {"finalizers": ["c", "b"]}}, POD)
    assert added["metadata"]["finalizers"] == ["c", "a", "b"]
    removed = strategic_patch(live, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a", "x"]}}, POD)
    assert removed["metadata"]["finalizers"] == ["b"]


def test_lists_without_a_strategy_are_replaced() -> None:
    live = pod(tolerations=[{"key": "a"}])
    patched = strategic_patch(live, {"spec": {"tolerations": [{"key": "b"}]}}, POD)
    assert patched["spec"]["tolerations"] == [{"key": "b"}]


def test_an_order_directive_after_the_end_of_the_order_is_refused() -> None:
    """Kubernetes stops looking once the order is used up, even if only a directive is left."""
    patch = {
        "spec": {
            "containers": [{"name": "a"}, {"name": "b", "$patch": "replace"}],
            "$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
        }
    }
    with pytest.raises(ApiError) as refusal:
        strategic_patch(pod({"name": "a"}), patch, POD)
    assert refusal.value.code == 500


@pytest.mark.parametrize(
    ("patch", "code"),
    [
        ([], 400),
        ({"spec": {"$retainKeys": "x"}}, 400),
        ({"spec": {"$retainKeys": ["x"], "containers": []}}, 400),
        ({"spec": {"$setElementOrder": []}}, 400),
        ({"metadata": {"$deleteFromPrimitiveList": []}}, 400),
        ({"spec": {"$patch": "grow"}}, 500),
        ({"spec": {"containers": [{"image": "x"}]}}, 500),
        ({"spec": {"containers": [["a"]]}}, 500),
        ({"spec": {"containers": ["a"]}}, 500),
    ],
)
def test_what_makes_no_sense_is_refused(patch: Any, code: int) -> None:
    with pytest.raises(ApiError) as refusal:
        strategic_patch(pod({"name": "a"}), patch, POD)
    assert refusal.value.code == code
