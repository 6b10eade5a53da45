"""Patches that are wrong in one way each: the library refuses as a real API server does, word for word where it can."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.harness import Cluster
from tests.local.patch.worlds import WIDGET_CRD, World, worlds
from tidegate.local.errors import ApiError
from tidegate.local.patch import Applier, json_patch, merge_patch, server_side_apply, strategic_patch

pytestmark = pytest.mark.kube

WORLDS = worlds()
Object = dict[str, Any]

APPLIES: dict[str, tuple[str, Object]] = {
    "unknown field": ("deployment", {"spec": {"nonsense": 1}}),
    "unknown nested field": ("pod", {"spec": {"containers": [{"name": "a", "image": "i", "nonsense": 1}]}}),
    "text for a number": ("deployment", {"spec": {"replicas": "three"}}),
    "number for a text": ("configmap", {"data": {"a": 1}}),
    "object for a text": ("configmap", {"data": {"a": {}}}),
    "list for an object": ("configmap", {"data": []}),
    "text for an object": ("configmap", {"data": "x"}),
    "object for a list": ("pod", {"spec": {"containers": {}}}),
    "text for a truth value": ("deployment", {"spec": {"paused": "yes"}}),
    "duplicate items by key": ("pod", {"spec": {"containers": [{"name": "a"}, {"name": "a"}]}}),
    "duplicate items in a set": ("widget", {"spec": {"tags": ["x", "x"]}}),
    "duplicate by a defaulted key": ("widget", {"spec": {"items": [{"name": "a"}, {"name": "a", "zone": "here"}]}}),
    "item without its keys": ("widget", {"spec": {"items": [{"size": 1}], "nonsense": 1}}),
    "null item": ("pod", {"spec": {"containers": [None]}}),
    "text item": ("pod", {"spec": {"containers": ["x"]}}),
    "object in a set": ("widget", {"spec": {"tags": [{}]}}),
    "null in a set": ("widget", {"spec": {"tags": [None]}}),
    "unknown field of a custom kind": ("widget", {"spec": {"nonsense": 1}}),
    "unknown field at the top": ("widget", {"nonsense": 1}),
    "text for a custom number": ("widget", {"spec": {"size": "big"}}),
    "managedFields": ("configmap", {"metadata": {"name": "x", "managedFields": []}}),
    "managedFields of a custom kind": ("widget", {"metadata": {"name": "x", "managedFields": [{}]}}),
    "another kind": ("configmap", {"kind": "Secret"}),
    "another version": ("deployment", {"apiVersion": "apps/v2"}),
    "no kind": ("configmap", {"kind": None}),
}


def untold(status: Object) -> Object:
    """What a refusal says; empty details say nothing."""
    return {key: status.get(key) or None for key in ("code", "reason", "message", "details")}


@pytest.fixture(scope="module")
def stage(quiet_cluster: Cluster) -> Cluster:
    quiet_cluster.http("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WIDGET_CRD)
    quiet_cluster.eventually("/apis/patch.test/v1/namespaces/default/widgets", lambda reply: reply.status == 200)
    return quiet_cluster


def applier(world: World, manager: str = "ann") -> Applier:
    return Applier(
        manager=manager,
        force=False,
        now="2026-01-01T00:00:00Z",
        schema=world.schema,
        api_version=world.api_version,
        kind=world.kind,
    )


@pytest.mark.parametrize("case", APPLIES)
def test_a_wrong_configuration_is_refused_alike(stage: Cluster, case: str) -> None:
    name, wrong = APPLIES[case]
    world = WORLDS[name]
    config = {"apiVersion": world.api_version, "kind": world.kind, "metadata": {"name": "x"}} | wrong
    config = {key: value for key, value in config.items() if value is not None}
    path = f"{world.path('x')}?fieldManager=ann"
    reply = stage.http("PATCH", path, json.dumps(config), {"Content-Type": "application/apply-patch+yaml"})
    with pytest.raises(ApiError) as refusal:
        server_side_apply(None, config, applier(world))
    assert untold(reply.json) == untold(refusal.value.status())


PATCHES: dict[str, tuple[str, Any]] = {
    "json: not a list": ("json", {"op": "add"}),
    "json: a text": ("json", "x"),
    "json: null": ("json", None),
    "json: empty": ("json", []),
    "json: operation is a text": ("json", ["x"]),
    "json: operation is null": ("json", [None]),
    "json: op is a number": ("json", [{"op": 1, "path": "/data"}]),
    "json: path is a list": ("json", [{"op": "add", "path": []}]),
    "json: no path": ("json", [{"op": "add", "value": 1}]),
    "json: no op": ("json", [{"path": "/data"}]),
    "json: unknown op": ("json", [{"op": "grow", "path": "/data"}]),
    "json: remove what is not there": ("json", [{"op": "remove", "path": "/data/zz"}]),
    "json: replace what is not there": ("json", [{"op": "replace", "path": "/data/zz", "value": "1"}]),
    "json: replace below what is not there": ("json", [{"op": "replace", "path": "/nope/zz", "value": "1"}]),
    "json: add below what is not there": ("json", [{"op": "add", "path": "/nope/zz", "value": "1"}]),
    "json: add below a text": ("json", [{"op": "add", "path": "/data/a/b", "value": "1"}]),
    "json: test of another value": ("json", [{"op": "test", "path": "/data/a", "value": "2"}]),
    "json: test of the same value": ("json", [{"op": "test", "path": "/data/a", "value": "1"}]),
    "json: test of nothing": ("json", [{"op": "test", "path": "/data/zz"}]),
    "json: test of nothing against something": ("json", [{"op": "test", "path": "/data/zz", "value": "1"}]),
    "json: test of something against nothing": ("json", [{"op": "test", "path": "/data/a"}]),
    "json: test of an object": ("json", [{"op": "test", "path": "/data", "value": {"a": "1", "b": "2"}}]),
    "json: move what is not there": ("json", [{"op": "move", "from": "/data/zz", "path": "/data/a"}]),
    "json: move": ("json", [{"op": "move", "from": "/data/a", "path": "/data/c"}]),
    "json: copy what is not there": ("json", [{"op": "copy", "from": "/data/zz", "path": "/metadata/labels"}]),
    "json: copy": ("json", [{"op": "copy", "from": "/data/a", "path": "/data/c"}]),
    "json: copy without from": ("json", [{"op": "copy", "path": "/data/c"}]),
    "json: add a list item at the end": ("json", [{"op": "add", "path": "/metadata/finalizers/-", "value": "x.io/z"}]),
    "json: add before the first": ("json", [{"op": "add", "path": "/metadata/finalizers/0", "value": "x.io/z"}]),
    "json: add at a negative index": ("json", [{"op": "add", "path": "/metadata/finalizers/-1", "value": "x.io/z"}]),
    "json: add at a far negative index": (
        "json",
        [{"op": "add", "path": "/metadata/finalizers/-9", "value": "x.io/z"}],
    ),
    "json: add beyond the end": ("json", [{"op": "add", "path": "/metadata/finalizers/5", "value": "x.io/z"}]),
    "json: add at a word": ("json", [{"op": "add", "path": "/metadata/finalizers/one", "value": "x.io/z"}]),
    "json: add at a signed index": ("json", [{"op": "add", "path": "/metadata/finalizers/+1", "value": "x.io/z"}]),
    "json: remove the last by -1": ("json", [{"op": "remove", "path": "/metadata/finalizers/-1"}]),
    "json: remove the dash": ("json", [{"op": "remove", "path": "/metadata/finalizers/-"}]),
    "json: replace beyond the end": ("json", [{"op": "replace", "path": "/metadata/finalizers/5", "value": "x.io/z"}]),
    "json: escaped key": ("json", [{"op": "add", "path": "/metadata/annotations/a.io~1b", "value": "~"}]),
    "json: path without a slash": ("json", [{"op": "remove", "path": "data"}]),
    "json: what stands before the first slash": ("json", [{"op": "add", "path": "x/data/c", "value": "1"}]),
    "json: remove everything": ("json", [{"op": "remove", "path": ""}]),
    "json: replace everything by a text": ("json", [{"op": "replace", "path": "", "value": "x"}]),
    "json: add null": ("json", [{"op": "add", "path": "/data", "value": None}]),
    "json: an operation after a failed test": (
        "json",
        [{"op": "test", "path": "/data/a", "value": "2"}, {"op": "remove", "path": "/data/a"}],
    ),
    "json: too many": ("json", [{"op": "test", "path": "/data/a", "value": "1"}] * 10_001),
    "merge: a list": ("merge", []),
    "merge: a text": ("merge", "x"),
    "merge: a number": ("merge", 1),
    "merge: a truth value": ("merge", True),
    "merge: null": ("merge", None),
    "merge: empty": ("merge", {}),
    "merge: nested nulls": ("merge", {"metadata": {"annotations": {"n.io/a": None, "n.io/b": "1"}}, "data": None}),
    "strategic: a list": ("strategic", []),
    "strategic: null": ("strategic", None),
    "strategic: empty": ("strategic", {}),
    "strategic: unknown directive": ("strategic", {"data": {"$patch": "grow"}}),
    "strategic: delete": ("strategic", {"data": {"$patch": "delete"}}),
    "strategic: replace": ("strategic", {"data": {"$patch": "replace", "c": "3"}}),
    "strategic: retainKeys": ("strategic", {"data": {"$retainKeys": ["a", "c"], "c": "3"}}),
    "strategic: retainKeys without a key of the patch": ("strategic", {"data": {"$retainKeys": ["a"], "c": "3"}}),
    "strategic: retainKeys is a text": ("strategic", {"data": {"$retainKeys": "a"}}),
    "strategic: delete from a list": ("strategic", {"metadata": {"$deleteFromPrimitiveList/finalizers": ["x.io/a"]}}),
    "strategic: delete from no list": ("strategic", {"metadata": {"$deleteFromPrimitiveList": ["x.io/a"]}}),
    "strategic: merge a list of texts": ("strategic", {"metadata": {"finalizers": ["x.io/c", "x.io/a"]}}),
    "strategic: order of texts": (
        "strategic",
        {"metadata": {"$setElementOrder/finalizers": ["x.io/b", "x.io/c"], "finalizers": ["x.io/c"]}},
    ),
    "strategic: order that lacks an item": (
        "strategic",
        {"metadata": {"$setElementOrder/finalizers": ["x.io/b"], "finalizers": ["x.io/c"]}},
    ),
    "strategic: order is a text": ("strategic", {"metadata": {"$setElementOrder/finalizers": "x"}}),
    "strategic: order of nothing": ("strategic", {"metadata": {"$setElementOrder": []}}),
    "strategic: mixed items": ("strategic", {"metadata": {"finalizers": [1]}}),
    "strategic: item without its key": ("strategic", {"metadata": {"ownerReferences": [{"name": "x"}]}}),
    "strategic: list of lists": ("strategic", {"metadata": {"ownerReferences": [[]]}}),
    "strategic: merge directive in a list": (
        "strategic",
        {"metadata": {"ownerReferences": [{"uid": "u", "$patch": "merge"}]}},
    ),
    "strategic: delete from a list of objects": (
        "strategic",
        {"metadata": {"ownerReferences": [{"uid": "u", "$patch": "delete"}]}},
    ),
    "strategic: replace a list of objects": (
        "strategic",
        {
            "metadata": {
                "ownerReferences": [
                    {"$patch": "replace"},
                    {"apiVersion": "v1", "kind": "ConfigMap", "name": "n", "uid": "w"},
                ]
            }
        },
    ),
}
CONTENT = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}
START: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {
        "name": "start",
        "annotations": {"n.io/z": "z"},
        "finalizers": ["x.io/a", "x.io/b"],
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"},
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "p", "uid": "v"},
        ],
    },
    "data": {"a": "1", "b": "2"},
}


def lasting(obj: Object) -> Object:
    metadata = {k: v for k, v in obj["metadata"].items() if v and k not in ("managedFields", "resourceVersion")}
    return {key: value for key, value in obj.items() if value} | {"metadata": metadata}


def outcome(sort: str, live: Object, patch: Any) -> Object | ApiError:
    try:
        if sort == "json":
            return json_patch(live, patch)
        return merge_patch(live, patch) if sort == "merge" else strategic_patch(live, patch, WORLDS["configmap"].schema)
    except ApiError as refusal:
        return refusal


@pytest.mark.parametrize("case", PATCHES)
def test_a_patch_of_a_config_map_does_or_is_refused_alike(stage: Cluster, case: str) -> None:
    sort, patch = PATCHES[case]
    path = WORLDS["configmap"].path("start")
    reply = stage.http("GET", path)
    live = reply.json if reply.status == 200 else stage.create(WORLDS["configmap"].path(), START)
    # Dry, so that every case begins with the same object.
    reply = stage.http("PATCH", f"{path}?dryRun=All", json.dumps(patch), {"Content-Type": CONTENT[sort]})
    ours = outcome(sort, live, patch)
    if isinstance(ours, ApiError):
        assert untold(reply.json) == untold(ours.status())
    else:
        assert reply.status == 200, reply.body
        assert lasting(reply.json) == lasting(ours)
