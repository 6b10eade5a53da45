"""The same objects as a real API server and the library draw them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.harness import Cluster
from tests.local.tables.samples import THEN, samples
from tidegate.kube.wire import Resource
from tidegate.local.tables import Column, custom_columns, table

pytestmark = pytest.mark.kube

Object = dict[str, Any]
AS_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
GADGET_COLUMNS = [
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "description": "How big"},
    {"name": "Weight", "type": "number", "jsonPath": ".spec.weight", "format": "double"},
    {"name": "On", "type": "boolean", "jsonPath": ".spec.on"},
    {"name": "Text", "type": "string", "jsonPath": ".spec.text", "priority": 1},
    {"name": "Size as text", "type": "string", "jsonPath": ".spec.size"},
    {"name": "Any", "type": "string", "jsonPath": ".spec.any"},
    {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'},
    {"name": "First", "type": "string", "jsonPath": ".status.conditions[0].type"},
    {"name": "Since", "type": "date", "jsonPath": ".spec.since"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]
GADGET = Resource("tables.test", "v1", "gadgets", "Gadget")
_ANY = {"x-kubernetes-preserve-unknown-fields": True}
GADGET_CRD: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.tables.test"},
    "spec": {
        "group": "tables.test",
        "names": {"plural": "gadgets", "kind": "Gadget"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "additionalPrinterColumns": GADGET_COLUMNS,
                "schema": {"openAPIV3Schema": {"type": "object", **_ANY}},
            }
        ],
    },
}
GADGETS: list[Object] = [
    {},
    {"spec": {"size": 3, "weight": 1.5, "on": True, "text": "x", "any": {"a": [1, "b"]}, "since": THEN}},
    {"spec": {"size": 2.7, "weight": 2, "on": False, "text": "", "since": "never"}},
    {"spec": {"size": "big", "weight": "heavy", "on": "yes", "text": 5, "any": [1, 2], "since": 5}},
    {"spec": {"any": 1.5}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}},
    {"spec": {"any": True}, "status": {"conditions": [{"type": "A", "status": "x"}, {"type": "Ready", "status": "y"}]}},
]


@pytest.fixture(scope="module")
def stage(quiet_cluster: Cluster) -> Iterator[Cluster]:
    resources = {(item.api_version, item.kind): item for item in _resources(quiet_cluster)}
    for obj in samples():
        _create(quiet_cluster, resources[obj["apiVersion"], obj["kind"]], obj)
    quiet_cluster.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", GADGET_CRD)
    path = GADGET.path("default")
    quiet_cluster.eventually(path, lambda reply: reply.status == 200)
    for number, obj in enumerate(GADGETS):
        made = {"apiVersion": "tables.test/v1", "kind": "Gadget", "metadata": {"name": f"g{number}"}}
        quiet_cluster.create(path, made | obj)
    return quiet_cluster


def _create(cluster: Cluster, resource: Resource[Any], obj: Object) -> None:
    path = resource.path("default")
    made = cluster.create(path, {key: value for key, value in obj.items() if key != "status"})
    if obj.get("status"):
        changed = json.dumps(made | {"status": obj["status"]})
        reply = cluster.http(
            "PUT", f"{path}/{obj['metadata']['name']}/status", changed, {"Content-Type": "application/json"}
        )
        assert reply.status == 200, reply.body


def _resources(cluster: Cluster) -> list[Resource[Any]]:
    """Everything the server can list."""
    versions = [("", "v1")]
    for group in cluster.get("/apis")["groups"]:
        versions += [(group["name"], version["version"]) for version in group["versions"]]
    found = []
    for group, version in versions:
        served = cluster.get(f"/apis/{group}/{version}" if group else "/api/v1")["resources"]
        found += [
            Resource(group, version, item["name"], item["kind"], namespaced=item["namespaced"])
            for item in served
            if "list" in item["verbs"]
        ]
    return found


def _text(row: Object) -> str:
    """A row to compare. One annotation the server makes up when it writes the object, and not for tables."""
    metadata = row["object"]["metadata"]
    annotations = dict(metadata.get("annotations") or {})
    annotations.pop("deprecated.daemonset.template.generation", None)
    shown = {**row, "object": {**row["object"], "metadata": {**metadata, "annotations": annotations}}}
    return json.dumps(shown, sort_keys=True)


def _expect_same_table(cluster: Cluster, resource: Resource[Any], columns: tuple[Column, ...] | None = None) -> int:
    """Compares the drawn lists; the number of rows. Seconds pass between the two, so either second will do."""
    path = resource.path()
    listed = cluster.get(path)
    before = datetime.now(UTC)
    theirs = cluster.http("GET", path, headers={"Accept": AS_TABLE}).json
    after = datetime.now(UTC)
    drawn = [
        table(resource, listed["items"], now=now, columns=columns, metadata=listed["metadata"])
        for now in (before, after)
    ]
    for ours in drawn:
        for definition in [*ours["columnDefinitions"], *theirs["columnDefinitions"]]:
            definition.pop("description", None)
    assert theirs["columnDefinitions"] == drawn[0]["columnDefinitions"], resource
    ours, later = drawn
    for at, row in enumerate(theirs["rows"] or []):
        if _text(row) != _text(ours["rows"][at]):
            assert _text(row) == _text(later["rows"][at]), resource
    assert len(theirs["rows"] or []) == len(ours["rows"] or [])
    assert (theirs["rows"] is None) == (ours["rows"] is None)
    return len(listed["items"])


def test_every_kind_the_server_lists_is_drawn_alike(stage: Cluster) -> None:
    skipped = {"ComponentStatus", "Gadget", "Widget"}
    rows = 0
    for resource in _resources(stage):
        # Version 1 of autoscaling hides most of an autoscaler in annotations.
        if resource.kind not in skipped and resource.api_version != "autoscaling/v1":
            rows += _expect_same_table(stage, resource)
    assert rows > 150


def test_printer_columns_of_a_crd_are_drawn_alike(stage: Cluster) -> None:
    assert _expect_same_table(stage, GADGET, custom_columns(GADGET_COLUMNS)) == len(GADGETS)


def test_a_pod_that_is_going_says_so(stage: Cluster) -> None:
    for name in ("running", "completed", "node-lost"):
        path = f"/api/v1/namespaces/default/pods/{name}"
        held = stage.get(path)
        held["metadata"]["finalizers"] = ["a.example.com/hold"]
        stage.http("PUT", path, json.dumps(held), {"Content-Type": "application/json"})
        stage.http("DELETE", path)
    assert _expect_same_table(stage, Resource("", "v1", "pods", "Pod"))


@pytest.mark.parametrize("include", ["None", "Metadata", "Object"])
def test_rows_carry_as_much_of_the_object_as_asked_for(stage: Cluster, include: Any) -> None:
    resource = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
    path = f"{resource.path()}/default?includeObject={include}"
    theirs = stage.http("GET", path, headers={"Accept": AS_TABLE}).json
    live = stage.get(f"{resource.path()}/default")
    ours = table(resource, [live], now=datetime.now(UTC), include_object=include, metadata=live["metadata"])
    for drawn in (theirs, ours):
        drawn.pop("columnDefinitions")
        drawn["rows"][0].pop("cells")
    assert theirs == ours
