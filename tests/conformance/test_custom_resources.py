"""Custom resources: a definition is all it takes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.objects import CRDS, MERGE, TABLE, definition
from tests.harness import Cluster

Json = Any

SPEC = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 10},
        "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
        "fixed": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "is fixed"}]},
        "low": {"type": "integer"},
        "high": {"type": "integer"},
        "replicas": {"type": "integer"},
    },
    "x-kubernetes-validations": [
        {"rule": "!has(self.low) || !has(self.high) || self.low <= self.high", "message": "low above high"}
    ],
}
STATUS = {"type": "object", "properties": {"replicas": {"type": "integer"}, "phase": {"type": "string"}}}
SCALE = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}


@pytest.fixture
def widgets(cluster: Cluster, namespace: str) -> Any:
    """The path of a collection of a kind just defined."""
    group = f"{namespace}.example.com"
    made = definition(
        group,
        schema={"type": "object", "properties": {"spec": SPEC, "status": STATUS}},
        subresources={"status": {}, "scale": SCALE},
        additionalPrinterColumns=[{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
    )
    cluster.create(CRDS, made)
    path = f"/apis/{group}/v1/namespaces/{namespace}/widgets"
    cluster.eventually(path, lambda reply: reply.status == 200)
    yield path
    cluster.http("DELETE", f"{CRDS}/widgets.{group}")


def widget(path: str, name: str = "w", **spec: Json) -> Json:
    group = path.split("/")[2]
    return {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec}


def test_objects_are_defaulted_and_pruned(cluster: Cluster, widgets: str) -> None:
    made = cluster.create(widgets, widget(widgets, size=3, unknown="x"))
    assert made["spec"] == {"size": 3, "colour": "red"}
    assert made["metadata"]["generation"] == 1


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"size": 0}, "spec.size"),
        ({"size": "3"}, "spec.size"),
        ({"size": 1, "colour": "mauve"}, "spec.colour"),
        ({}, "spec.size"),
        ({"size": 1, "low": 2, "high": 1}, "spec"),
    ],
)
def test_what_breaks_the_schema_is_refused_with_its_field(
    cluster: Cluster, widgets: str, spec: Json, field: str
) -> None:
    reply = cluster.http("POST", widgets, widget(widgets, **spec))
    assert (reply.status, reply.reason) == (422, "Invalid")
    assert field in [cause["field"] for cause in reply.json["details"]["causes"]]


def test_transition_rules_compare_with_the_old_value(cluster: Cluster, widgets: str) -> None:
    cluster.create(widgets, widget(widgets, size=1, fixed="a"))
    reply = cluster.http("PATCH", f"{widgets}/w", {"spec": {"fixed": "b"}}, MERGE)
    assert reply.status == 422
    assert "is fixed" in reply.json["message"]
    assert cluster.http("PATCH", f"{widgets}/w", {"spec": {"size": 2}}, MERGE).status == 200


def test_status_is_a_room_of_its_own(cluster: Cluster, widgets: str) -> None:
    made = cluster.create(widgets, widget(widgets, size=1) | {"status": {"phase": "ignored"}})
    assert "status" not in made
    body = {"status": {"phase": "Ready"}, "spec": {"size": 9}}
    seen = cluster.http("PATCH", f"{widgets}/w/status", body, MERGE).json
    assert (seen["status"], seen["spec"]["size"]) == ({"phase": "Ready"}, 1)
    assert seen["metadata"]["generation"] == 1
    seen = cluster.http("PATCH", f"{widgets}/w", {"spec": {"size": 2}, "status": {"phase": "Lost"}}, MERGE).json
    assert (seen["status"]["phase"], seen["metadata"]["generation"]) == ("Ready", 2)


def test_scale_reads_and_writes_replicas(cluster: Cluster, widgets: str) -> None:
    cluster.create(widgets, widget(widgets, size=1, replicas=2))
    scale = cluster.get(f"{widgets}/w/scale")
    assert (scale["kind"], scale["spec"]) == ("Scale", {"replicas": 2})
    cluster.http("PATCH", f"{widgets}/w/scale", {"spec": {"replicas": 5}}, MERGE)
    assert cluster.get(f"{widgets}/w")["spec"]["replicas"] == 5


def test_printer_columns_show_in_tables(cluster: Cluster, widgets: str) -> None:
    cluster.create(widgets, widget(widgets, size=7))
    table = cluster.http("GET", widgets, headers=TABLE).json
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Size"]
    assert table["rows"][0]["cells"] == ["w", 7]


def test_a_changed_definition_is_in_force_within_seconds(cluster: Cluster, widgets: str) -> None:
    group = widgets.split("/")[2]
    made = cluster.get(f"{CRDS}/widgets.{group}")
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["size"]["maximum"] = 5
    assert cluster.http("PUT", f"{CRDS}/widgets.{group}", made).status == 200

    def tighter(_: object) -> bool:
        return cluster.http("POST", f"{widgets}?dryRun=All", widget(widgets, size=6)).status == 422

    cluster.eventually(widgets, tighter)


def test_a_second_version_shows_the_same_objects(cluster: Cluster, widgets: str) -> None:
    cluster.create(widgets, widget(widgets, size=1))
    group = widgets.split("/")[2]
    made = cluster.get(f"{CRDS}/widgets.{group}")
    made["spec"]["versions"].append(made["spec"]["versions"][0] | {"name": "v2", "storage": False})
    cluster.http("PUT", f"{CRDS}/widgets.{group}", made)
    other = widgets.replace("/v1/", "/v2/")
    cluster.eventually(f"{other}/w", lambda reply: reply.status == 200)
    assert cluster.get(f"{other}/w")["apiVersion"] == f"{group}/v2"
    assert cluster.get(f"{widgets}/w")["apiVersion"] == f"{group}/v1"


def test_a_deleted_definition_takes_its_objects_with_it(cluster: Cluster, widgets: str) -> None:
    cluster.create(widgets, widget(widgets, size=1))
    group = widgets.split("/")[2]
    made = cluster.get(f"{CRDS}/widgets.{group}")
    cluster.http("DELETE", f"{CRDS}/widgets.{group}")
    cluster.eventually(f"{CRDS}/widgets.{group}", lambda reply: reply.status == 404)
    cluster.eventually(widgets, lambda reply: reply.status == 404)
    again = {key: made[key] for key in ("apiVersion", "kind", "spec")} | {"metadata": {"name": f"widgets.{group}"}}
    cluster.create(CRDS, again)
    back = cluster.eventually(widgets, lambda reply: reply.status == 200)
    assert back.json["items"] == []


def test_a_definition_says_how_it_is(cluster: Cluster, widgets: str) -> None:
    group = widgets.split("/")[2]
    made = cluster.get(f"{CRDS}/widgets.{group}")
    conditions = {condition["type"]: condition["status"] for condition in made["status"]["conditions"]}
    assert conditions == {"NamesAccepted": "True", "Established": "True"}
    assert made["status"]["storedVersions"] == ["v1"]
